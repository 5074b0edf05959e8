//! Checks `level_change` and `burst_credits`: a series changed its level, or was fast until an
//! allowance was used up.

use proofmark_model::{Better, Change, Finding, Measurement, Series, Severity, format_seconds};

use super::{Check, Class, Examine, percent};
use crate::execution::Execution;
use crate::series::{shares, trials_of};
use crate::{Context, from_windows};

/// Number of changes that the message lists; it counts the others.
const MOST_SHOWN: usize = 4;

/// Describes a change: `at 200 s to 50.1 % of the previous level (throttled by ...)`.
fn describe(change: &Change) -> String {
    let why = change.cause.as_ref().map_or(String::new(), |cause| format!(" ({cause})"));
    format!(
        "at {} to {} of the previous level{why}",
        format_seconds(change.at_s),
        percent(change.ratio)
    )
}

pub(super) static LEVEL_CHANGE: Check = Check {
    id: "level_change",
    class: Class::CHANGE,
    title: "Level changed over time",
    about: "Series only. Detects several levels of the samples, one after another. The check \
         compares the ranks of the samples in intervals of all lengths (seeded binary \
         segmentation). Levels count if they differ by at least 1 %. In noise, with one outlier or \
         a slow drift, it finds a false level in less than one of twenty series. A step needs five \
         samples on either side if it is far above the noise, else more. Levels that differ by \
         more than the target are a note: the rate varies. Each change lists what else \
         changed at that time: CPU quota, steal, other processes, clock, temperature, other \
         traffic. With such a cause it is suspect, since the median describes none of the levels. \
         Quote the levels with their times.",
    examine: Examine::Ours(level_change),
};

fn level_change(ctx: &Context, m: &Measurement) -> Option<Finding> {
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
        ctx.quantity(m).with_label(series.levels.first()?.median),
        all.join("; ")
    );
    let named = series.changes.iter().any(|c| c.cause.is_some());
    let advice = match named {
        true => "quote the levels with their times, or remove the cause and measure again",
        false => {
            "quote the levels with their times, and check what began or ended on the machine then"
        }
    };
    let seconds: Vec<f64> = series.changes.iter().map(|c| c.at_s).collect();
    let ratios: Vec<f64> = series.changes.iter().map(|c| c.ratio).collect();
    // The interval of a figure from windows spans the levels, which differ by more than their
    // noise.
    let disturbed = named && !from_windows(m);
    let severity = if disturbed { Severity::Suspect } else { Severity::Note };
    let finding = LEVEL_CHANGE
        .finding(severity, message, advice)
        .with("levels", medians().collect::<Vec<_>>());
    Some(finding.with("at_s", seconds).with("ratios", ratios).with("trials", m.trials.len()))
}

/// Smallest fall that an allowance which ran out explains.
const LEAST_FALL: f64 = 0.1;
/// Largest distance between the levels after the fall, as a share of the first level.
const SAME: f64 = 0.05;
/// Fewest trials of the level that stays.
const LEAST_TRIALS: u64 = 10;
/// Smallest increase of steal that explains the fall, as a share of the fall.
const OF_FALL: f64 = 0.5;

/// First rate, last rate and fall (as a share) if the rate fell and then stayed steady.
fn falls(m: &Measurement, series: &Series) -> Option<(f64, f64, f64)> {
    let rate = |v: f64| if m.better == Better::Lower { 1.0 / v } else { v };
    let rates: Vec<f64> = series.levels.iter().map(|l| rate(l.median)).collect();
    let (first, rest) = rates.split_first()?;
    let last = rest.last()?;
    let fell = 1.0 - last / first;
    let steady = rest.iter().all(|r| (r - last).abs() <= SAME * first);
    let stays: u64 = series.levels.iter().skip(1).map(|l| l.trials).sum();
    (fell >= LEAST_FALL && steady && stays >= LEAST_TRIALS).then_some((*first, *last, fell))
}

/// The evidence that this machine did not cause the fall; `None` if something else explains it.
fn evidence(ctx: &Context, m: &Measurement, series: &Series, fell: f64) -> Option<String> {
    let early = shares(ctx.host, m, trials_of(m, series, 0));
    let late = shares(ctx.host, m, trials_of(m, series, series.levels.len() - 1));
    let more = |before: Option<f64>, after: Option<f64>| Some(after? - before?);
    // A quota of our own is reported by `throttled`.
    if more(early.throttled, late.throttled).is_some_and(|t| t >= LEAST_FALL * fell) {
        return None;
    }
    if Execution::derive(ctx, m).waits() {
        let other = series.changes.iter().filter_map(|c| c.cause.as_deref());
        let what = match m.subsystem.info().has_server {
            true => "no recorded change at either end explains it",
            false => "no recorded change of the device explains it",
        };
        return other.into_iter().next().is_none().then(|| what.to_owned());
    }
    let stolen = more(early.steal, late.steal).filter(|s| *s >= OF_FALL * fell)?;
    Some(format!("from then on the hypervisor took {} more of the CPU time", percent(stolen)))
}

pub(super) static BURST_CREDITS: Check = Check {
    id: "burst_credits",
    class: Class::CHANGE,
    title: "Burst credits used up",
    about: "Series only. Detects the shape of a burst allowance that runs out. The last level must \
         be at least 10 % below the first, steady, and last to the end. For CPU and memory the \
         check reports it if steal explains at least half of the fall, as on burstable instances \
         without CPU credits. For disks and networks it reports it if no recorded change explains \
         the fall, as on volumes with I/O credits. Suspect: the first rate does not last, and the \
         median may be neither. A CPU quota of this system is reported as throttled instead. Quote \
         the sustained rate, and the burst only with its duration.",
    examine: Examine::Ours(burst_credits),
};

fn burst_credits(ctx: &Context, m: &Measurement) -> Option<Finding> {
    let series = m.series.as_ref()?;
    let (first, last, fell) = falls(m, series)?;
    let evidence = evidence(ctx, m, series, fell)?;
    let (burst, sustained) = (series.levels.first()?, series.levels.last()?);
    let quantity = ctx.quantity(m);
    let [from, to] = [burst, sustained].map(|level| quantity.with_label(level.median));
    let lasted = format_seconds(burst.until_s);
    let message = format!(
        "{from} for {lasted}, then {to} to the end, as when burst credits are used up: {evidence}"
    );
    let advice = "quote the sustained rate; the burst returns when credits have accumulated";
    let finding = BURST_CREDITS.suspect(message, advice).with("burst", burst.median);
    let finding = finding.with("sustained", sustained.median);
    Some(finding.with("after_s", burst.until_s).with("ratio", last / first))
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
        LEVEL_CHANGE.expect([
            ("a quota set and lifted", quota, suspect(cause)),
            ("no recorded cause", stepped(0.95), note("once ... check what began")),
            ("one level", over_time(flops(1), 300, |_| 1.0), SILENT),
            ("within the target", stepped(0.996), SILENT),
        ]);
    }

    #[test]
    fn a_change_explained_by_levels_is_reported_once() {
        let m = judged(&host(), stepped(0.85), &[]);
        let all: Vec<&str> = m.findings.iter().map(|f| f.check.as_ref()).collect();
        assert_eq!(all, ["level_change"], "{:?}", m.findings);
    }

    fn fallen(m: Measurement) -> Measurement {
        over_time(m, 300, |i| if i < 100 { 1.0 } else { 0.2 })
    }

    #[test]
    fn cpu_credits_that_are_spent_show_as_steal() {
        let late = |i: usize, after: f64| Some(if i < 100 { 0.0 } else { after });
        let stolen = |s| each_condition(fallen(flops(1)), move |i, c| c.steal_s = late(i, s));
        let quota = each_condition(fallen(flops(1)), |i, c| c.throttled_s = late(i, 0.8));
        BURST_CREDITS.expect([
            ("stolen", stolen(0.8), suspect("for 1 min 40 s, then ... 80.0 % more")),
            ("no process took it", fallen(flops(1)), SILENT),
            ("a quota of our own", quota, SILENT),
            ("too little to explain it", stolen(0.05), SILENT),
        ]);
    }

    #[test]
    fn a_volume_without_credits_is_slow_without_other_users() {
        let shared = each_device(fallen(rand_read(1)), |i, d| {
            d.read_bytes *= if i >= 100 { 9 } else { 1 };
        });
        let shares = |share: fn(usize) -> f64| over_time(rand_read(1), 300, share);
        BURST_CREDITS.expect([
            // Both in the unit of the figure.
            (
                "spent",
                fallen(rand_read(1)),
                suspect("IOPS for ... IOPS to the end ... of the device"),
            ),
            ("another program used it", shared, SILENT),
            ("it recovers", shares(|i| if (100..200).contains(&i) { 0.2 } else { 1.0 }), SILENT),
            ("it rises", shares(|i| if i < 100 { 0.2 } else { 1.0 }), SILENT),
            ("it wanders", shares(|i| 1.0 - 0.2 * (i / 100) as f64), SILENT),
            ("it stays", shares(|_| 1.0), SILENT),
        ]);
    }
}
