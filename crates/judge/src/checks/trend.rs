//! `trend`: the trials rise or fall from first to last.

use proofmark_model::{Finding, Measurement, Series, format_seconds};

use super::{Check, Class, percent};
use crate::Context;
use crate::statistics::{kendall_score, median, theil_sen};

/// Fewer trials than this are in order by chance too often: 6 of 6 in 1 of 360.
const LEAST_TRIALS: usize = 8;
/// Two-sided 1 % of the normal distribution.
const SCORE: f64 = 2.576;

/// The same of a series, by the line that was found through it; one that has several levels
/// is described by those.
fn over_time(ctx: &Context, m: &Measurement, series: &Series) -> Option<Finding> {
    let (line, [level]) = (series.trend.as_ref()?, series.levels.as_slice()) else {
        return None;
    };
    let [low, high] = line.ci95?;
    let drift = line.slope * level.until_s / level.median;
    let target = ctx.policy.target_for(m.subsystem);
    if !drift.is_finite() || drift.abs() <= target || (low <= 0.0 && high >= 0.0) {
        return None;
    }
    let way = if drift > 0.0 { "rise" } else { "fall" };
    let message = format!(
        "the samples {way} by {} over {}",
        percent(drift.abs()),
        format_seconds(level.until_s)
    );
    let advice = "compare with clock, temperature and other load over the same time; sample until \
                  the value is steady";
    let finding = CHECK.suspect(message, advice).with("drift", drift).with("slope", line.slope);
    Some(finding.with("slope_low", low).with("slope_high", high).with("target", target))
}

pub(super) static CHECK: Check = Check {
    id: "trend",
    class: Class::Disturbance,
    title: "Trend over the trials",
    about: "Whether the trials rise or fall in order: Kendall's test at the 1 % level and the \
         Theil-Sen slope, from 8 trials on. A significant trend that changes the value from first \
         to last by more than the target precision is suspect: the machine was warming up, \
         throttling or getting busier, and the median describes no steady state. For series the \
         check uses the line through all samples, at the 5 % level, if they have one level. Warm \
         up longer, or let the machine cool down.",
    examine,
    examine_reference: None,
};

fn examine(ctx: &Context, m: &Measurement) -> Option<Finding> {
    if let Some(series) = &m.series {
        return over_time(ctx, m, series);
    }
    let values: Vec<f64> = m.trials.iter().map(|t| t.value).filter(|v| v.is_finite()).collect();
    if values.len() < LEAST_TRIALS {
        return None;
    }
    let score = kendall_score(&values)?;
    let drift = theil_sen(&values)? * (values.len() - 1) as f64 / median(&values)?;
    if !drift.is_finite()
        || score.abs() < SCORE
        || drift.abs() <= ctx.policy.target_for(m.subsystem)
    {
        return None;
    }
    // The slope may take a trial that collapsed below nothing; its quarters cannot.
    let quarter = values.len() / 4;
    let first = median(&values[..quarter])?;
    let last = median(&values[values.len() - quarter..])?;
    let (way, side) = if drift > 0.0 { ("rise", "above") } else { ("fall", "below") };
    let change = percent((last / first - 1.0).abs());
    let message =
        format!("the trials {way}: the last quarter's median is {change} {side} the first's");
    let advice = "warm up longer, let the machine cool down, or check what else began or ended";
    let finding = CHECK.suspect(message, advice).with("drift", drift).with("first", first);
    let finding = finding.with("last", last);
    Some(finding.with("target", ctx.policy.target_for(m.subsystem)).with("kendall_score", score))
}

#[cfg(test)]
mod tests {
    use proofmark_model::Policy;

    use super::*;
    use crate::testing::*;

    fn drifting(total: f64) -> Measurement {
        let values: Vec<f64> = around(60e9)
            .iter()
            .enumerate()
            .map(|(i, v)| v * (1.0 + total * i as f64 / 9.0))
            .collect();
        with_values(flops(1), &values)
    }

    #[test]
    fn a_drift_is_suspect() {
        let falls = (0..12).map(|i| if i < 5 { 60e9 } else { 2e9 - f64::from(i) });
        let falls: Vec<f64> = falls.collect();
        let most =
            suspect("^the trials fall: the last quarter's median is 96.7 % below the first's$");
        let mut few = drifting(-0.2);
        few.trials.truncate(7);
        let mut wild = around(60e9);
        wild[9] *= 0.5;
        CHECK.expect([
            ("it falls", drifting(-0.04), SUSPECT),
            ("it rises", drifting(0.04), SUSPECT),
            ("by no more than all of it", with_values(flops(1), &falls), most),
            ("by little", drifting(0.018), SILENT),
            ("few trials", few, SILENT),
            ("an outlier", with_values(flops(1), &wild), SILENT),
        ]);
    }

    #[test]
    fn the_target_is_the_policys() {
        let (host, spec) = (host(), spec("cpu.flops"));
        let at = |target: f64| {
            let policy = Policy { target, ..policy() };
            examine(&context(&host, &spec, &policy, &[]), &drifting(-0.04)).is_some()
        };
        assert!(at(0.03) && !at(0.05));
    }

    #[test]
    fn noise_is_seldom_taken_for_a_trend() {
        // So much noise that almost every slope is a large one.
        let mut random = crate::testing::xorshift();
        let host = host();
        let ctx = context_on(&host);
        for n in [8, 12, 30] {
            let wrong = (0..2000)
                .filter(|_| {
                    let values: Vec<f64> = (0..n).map(|_| 60e9 * (1.0 + random())).collect();
                    examine(&ctx, &with_values(flops(1), &values)).is_some()
                })
                .count();
            assert!(wrong <= 40, "{wrong} of 2000 samples of {n}");
        }
    }
}
