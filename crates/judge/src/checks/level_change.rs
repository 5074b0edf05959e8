//! `level_change`: a point that was sampled over time did not stay as fast as it was.

use proofmark_model::{Change, Finding, Measurement, format_quantity, format_seconds};

use super::{Check, Class, percent};
use crate::Context;

/// Changes that are reported one by one; the others by their number.
const MOST_SHOWN: usize = 4;

/// `at 200 s to 50.1 % (throttled by ...)`.
fn describe(change: &Change) -> String {
    let why = change.cause.as_ref().map_or(String::new(), |cause| format!(" ({cause})"));
    format!(
        "at {} to {} of the previous level{why}",
        format_seconds(change.at_s),
        percent(change.ratio)
    )
}

pub(super) static CHECK: Check = Check {
    id: "level_change",
    class: Class::Disturbance,
    title: "Level changed over time",
    about: "For series: whether the samples have several levels, one after another. The check \
         compares the ranks of the samples in intervals of all lengths (seeded binary \
         segmentation). Levels count if they differ by at least 1 %. In noise, with one outlier or \
         a slow drift, it finds a false level in less than one of twenty series. A step needs five \
         samples on either side if it is far above the noise, else more. Levels that differ by \
         more than the target precision are suspect: the median describes none of them. Each \
         change lists what else changed at that time: CPU quota, steal, other processes, clock, \
         temperature, other traffic. Quote the levels with their times.",
    examine,
    examine_reference: None,
};

fn examine(ctx: &Context, m: &Measurement) -> Option<Finding> {
    let series = m.series.as_ref()?;
    let target = ctx.policy.target_for(m.subsystem);
    let medians = || series.levels.iter().map(|l| l.median);
    let (low, high) = (medians().reduce(f64::min)?, medians().reduce(f64::max)?);
    let apart = high / low - 1.0;
    if series.changes.is_empty() || !apart.is_finite() || apart <= target {
        return None;
    }
    let mut all: Vec<String> = series.changes.iter().take(MOST_SHOWN).map(describe).collect();
    if let Some(more @ 1..) = series.changes.len().checked_sub(MOST_SHOWN) {
        all.push(format!("and {more} more"));
    }
    let message = format!(
        "the level changed {}, from {} at first: {}",
        match series.changes.len() {
            1 => "once".to_owned(),
            n => format!("{n} times"),
        },
        format_quantity(series.levels.first()?.median, m.unit),
        all.join("; ")
    );
    let advice = match series.changes.iter().any(|c| c.cause.is_some()) {
        true => "quote the levels with their times, or remove the cause and measure again",
        false => {
            "quote the levels with their times, and check what began or ended on the machine then"
        }
    };
    let seconds: Vec<f64> = series.changes.iter().map(|c| c.at_s).collect();
    let ratios: Vec<f64> = series.changes.iter().map(|c| c.ratio).collect();
    let finding = CHECK.suspect(message, advice).with("levels", medians().collect::<Vec<_>>());
    Some(finding.with("at_s", seconds).with("ratios", ratios).with("trials", m.trials.len()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::series::tests::{over_time, stepped};
    use crate::testing::*;

    #[test]
    fn levels_are_reported_with_their_times_and_causes() {
        let middle = |i: usize| (200..400).contains(&i);
        let quota = over_time(flops(1), 600, |i| if middle(i) { 0.5 } else { 1.0 });
        let quota =
            each_condition(quota, |i, c| c.throttled_s = Some(if middle(i) { 0.5 } else { 0.0 }));
        let cause =
            "2 times ... 3 min 20 s ... throttled by a CPU quota: 0.0 % of the time before, 50";
        CHECK.expect([
            ("a quota set and lifted", quota, suspect(cause)),
            ("no recorded cause", stepped(0.95), suspect("once ... check what began")),
            ("one level", over_time(flops(1), 300, |_| 1.0), SILENT),
            ("within 2 %", stepped(0.985), SILENT),
        ]);
    }

    #[test]
    fn what_levels_explain_no_other_check_tells() {
        let m = judged(&host(), stepped(0.5), &[]);
        let all: Vec<&str> = m.findings.iter().map(|f| f.check.as_ref()).collect();
        assert_eq!(all, ["level_change"], "{:?}", m.findings);
    }
}
