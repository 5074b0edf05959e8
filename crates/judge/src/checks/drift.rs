//! Checks `trend`, `drift` and `falling_rate`: trials or samples rise or fall, or a disk or network
//! was faster at first.

use proofmark_model::{
    Finding, Measurement, Severity, Trial, Unit, check_id, format_percent, format_quantity,
    format_seconds,
};

use super::weight::Weight;
use super::{Check, Class, Examine, percent, value_word};
use crate::disk::{Way, asked};
use crate::execution::Execution;
use crate::network::over_loopback;
use crate::series::cause_of_trend;
use crate::statistics::{kendall_score, median, theil_sen};
use crate::words::counted;
use crate::{Context, from_windows};

/// Fewest trials for a trend: with fewer, order by chance is too frequent (6 of 6 in 1 of 360).
const LEAST_IN_ORDER: usize = 8;
/// Quantile of the normal distribution for a two-sided 1 % level.
const TWO_SIDED: f64 = 2.576;

pub(super) static DRIFT: Check = Check {
    id: check_id::DRIFT,
    class: Class::CHANGE,
    title: "Trend over time",
    about: "Series of one level only. Detects that the robust line through all samples rises or falls \
         at the 5 % level, by more than the target from start to end. The finding lists what else \
         changed from the first third of the samples to the last: CPU quota, steal, other processes, \
         clock, temperature, other traffic. With such a cause and a change beyond the tolerance it is \
         suspect, since the figure describes no part of the time. A change within the tolerance is a \
         note, and so is every trend of a figure made of windows: its interval spans the change. \
         Quote the figure with its time, or sample until the value is steady.",
    examine: Examine::Ours(drift),
};

fn drift(ctx: &Context, m: &Measurement) -> Option<Finding> {
    // Several levels describe a series better than a line.
    let one_level = m.series.as_ref().is_some_and(|series| series.levels.len() == 1);
    let drift = m.drift().filter(|d| d.is_shown() && one_level)?;
    let target = ctx.policy.target_for(m.subsystem);
    if drift.share.abs() <= target {
        return None;
    }
    let quantity = ctx.quantity(m);
    let [from, to] = drift.ends.map(|value| quantity.with_label(value));
    let cause = cause_of_trend(ctx, m, 1.0 + drift.share);
    let [low, high] = drift.ci95?;
    let message = format!(
        "the {} {} by {} over {}, from about {from} to about {to} (95 % interval of the change {} to \
         {}){}",
        value_word(m),
        if drift.share > 0.0 { "rose" } else { "fell" },
        percent(drift.share.abs()),
        format_seconds(drift.seconds),
        signed(low),
        signed(high),
        cause.as_ref().map_or(String::new(), |cause| format!(": {cause}")),
    );
    let advice = match &cause {
        Some(_) => "quote the figure with its time, or remove the cause and measure again",
        None => {
            "quote the figure with its time; compare with clock, temperature and other load over the \
             same time, and sample until the value is steady"
        }
    };
    // The interval of a figure from windows spans the fall, which exceeds its noise.
    let disturbed = cause.is_some() && !from_windows(m);
    let severity =
        if disturbed { Weight::derive(m).change(drift.share.abs()) } else { Severity::Note };
    let finding = DRIFT.finding(severity, message, advice).with("drift", drift.share);
    let finding = finding.with("drift_low", low).with("drift_high", high);
    let finding = match cause {
        Some(cause) => finding.with("cause", cause),
        None => finding,
    };
    Some(finding.with("seconds", drift.seconds).with("target", target))
}

/// Formats a change with its sign: `+6.5 %`.
fn signed(share: f64) -> String {
    let sign = if share > 0.0 { "+" } else { "" };
    format!("{sign}{}", format_percent(share))
}

pub(super) static TREND: Check = Check {
    id: check_id::TREND,
    class: Class::Context,
    title: "Trend over the trials",
    about: "Detects trials that rise or fall in order: Kendall's test at the 1 % level and the \
         Theil-Sen slope, from 8 trials on. A significant trend that changes the value from first \
         to last by more than the target is a note: the machine may have been warming up, \
         throttling or getting busier. A cause that is known (clock, heat, others' CPU time) is \
         reported by its own check. A series is judged by drift and level_change. Warm up longer, or \
         let the machine cool down.",
    examine: Examine::Ours(trend),
};

fn trend(ctx: &Context, m: &Measurement) -> Option<Finding> {
    let values: Vec<f64> = m.trials.iter().map(|t| t.value).filter(|v| v.is_finite()).collect();
    if values.len() < LEAST_IN_ORDER || m.series.is_some() {
        return None;
    }
    let score = kendall_score(&values)?;
    let drift = theil_sen(&values)? * (values.len() - 1) as f64 / median(&values)?;
    if !drift.is_finite()
        || score.abs() < TWO_SIDED
        || drift.abs() <= ctx.policy.target_for(m.subsystem)
    {
        return None;
    }
    // The slope may extrapolate below 0 after a collapse; the medians of the quarters cannot.
    let quarter = values.len() / 4;
    let first = median(&values[..quarter])?;
    let last = median(&values[values.len() - quarter..])?;
    let (way, side) = if drift > 0.0 { ("rise", "above") } else { ("fall", "below") };
    let change = percent((last / first - 1.0).abs());
    let message = format!(
        "the {} varies: the trials {way}, and the last quarter's median is {change} {side} the \
         first's",
        value_word(m)
    );
    let advice = "warm up longer, let the machine cool down, or check what else began or ended";
    let finding = TREND.note(message, advice).with("drift", drift).with("first", first);
    let finding = finding.with("last", last);
    Some(finding.with("target", ctx.policy.target_for(m.subsystem)).with("kendall_score", score))
}

/// Fewest trials for a fall: fewer are in order by chance.
const LEAST_TRIALS: usize = 6;
/// Fewest trials on either side of the step: one alone is an outlier.
const LEAST_SIDE: usize = 2;
/// Smallest fall that is more than the usual variation of a disk.
const VARIATION: f64 = 0.15;
/// Smallest step in mean distances of a trial from its own side's rate. Noise alone, cut where it
/// looks most like a step, stays below it in 99 of 100 series (see the tests).
const OVER_NOISE: f64 = 6.0;
/// Kendall score of a slow fall, which has no step: 0.5 % on this side.
const DOWN: f64 = -2.576;

/// The rates before and after a step, the number of trials before it, and the rate of the last
/// quarter.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Step {
    burst: f64,
    sustained: f64,
    at: usize,
    end: f64,
}

impl Step {
    /// Returns the step that divides the values best, if the rate falls there and stays low.
    fn find(values: &[f64]) -> Option<Self> {
        let cuts = LEAST_SIDE..(values.len() + 1).checked_sub(LEAST_SIDE)?;
        let off = |side: &[f64], rate: f64| side.iter().map(|v| (v - rate).abs()).sum::<f64>();
        let quarter = LEAST_SIDE.max(values.len() / 4);
        let end = median(&values[values.len().checked_sub(quarter)?..])?;
        let step = |at: usize| {
            let (early, late) = values.split_at(at);
            let (burst, sustained) = (median(early)?, median(late)?);
            Some((off(early, burst) + off(late, sustained), Self { burst, sustained, at, end }))
        };
        let (distance, best) = cuts.filter_map(step).min_by(|a, b| a.0.total_cmp(&b.0))?;
        let noise = distance / values.len() as f64;
        let fall = best.burst - best.sustained;
        let falls = fall >= VARIATION * best.burst;
        let sure = fall >= OVER_NOISE * noise || kendall_score(values)? <= DOWN;
        // The last trials are still slow.
        let stays = best.burst - end >= VARIATION * best.burst;
        (falls && sure && stays).then_some(best)
    }
}

/// Bytes that a trial requested from its disk, or that its receivers got.
fn moved(t: &Trial) -> f64 {
    let received = t.network.as_ref().map_or(0.0, |n| n.received_bytes as f64);
    Way::BOTH.iter().map(|way| asked(t, *way)).sum::<f64>() + received
}

pub(super) static FALLING_RATE: Check = Check {
    id: check_id::FALLING_RATE,
    class: Class::CHANGE,
    title: "Rate that did not last",
    about: "Detects disk or network results whose first trials were faster than all later ones. \
         The check splits the trials where both parts scatter least around their medians. A fall \
         of at least 15 % to the end is a note if it is six times the noise, or steady by \
         Kendall's test. The result is suspect if the figure is above the last quarter's rate by \
         more than the tolerance (25 %): an allowance was used up. Loopback has none, and is not \
         examined. The finding gives the burst, the sustained rate and the work in between. \
         Causes: burst credits of a volume or a network, the fast cache of a drive, or a limit set \
         during the run. Needs 6 trials; trend and clusters may note the same. Quote the sustained \
         rate of a longer run.",
    examine: Examine::Ours(falling_rate),
};

fn falling_rate(ctx: &Context, m: &Measurement) -> Option<Finding> {
    let values: Vec<f64> = m.trials.iter().map(|t| t.value).collect();
    // A series is judged by its levels (`level_change`, `burst_credits`).
    if m.series.is_some()
        || over_loopback(m)
        || !Execution::derive(ctx, m).waits()
        || values.len() < LEAST_TRIALS
        || !values.iter().all(|v| v.is_finite() && *v > 0.0)
    {
        return None;
    }
    let step = Step::find(&values)?;
    let before = &m.trials[..step.at];
    let seconds: f64 = before.iter().map(|t| t.seconds).sum();
    let bytes: f64 = before.iter().map(moved).sum();
    if !seconds.is_finite() || !step.burst.is_finite() {
        return None;
    }
    let fall = 1.0 - step.sustained / step.burst;
    let quantity = ctx.quantity(m);
    let [from, to] = [step.burst, step.sustained].map(|rate| quantity.with_label(rate));
    let (trials, lasted) = (counted(step.at, "trial"), format_seconds(seconds));
    let moved = format_quantity(bytes, Unit::BytePerSecond);
    let message = format!(
        "the rate fell by {}, from {from} to {to}, after {trials} ({lasted}, {})",
        percent(fall),
        moved.trim_end_matches("/s")
    );
    let advice = "quote the rate after burst credits and caches are used up: run longer";
    let figure = m.unit.rate(m.summary.as_ref()?.value());
    let severity = Weight::derive(m).change(figure / step.end - 1.0);
    let finding = FALLING_RATE.finding(severity, message, advice).with("burst", step.burst);
    let finding = finding.with("sustained", step.sustained).with("after_trials", step.at);
    Some(finding.with("after_seconds", seconds).with("after_bytes", bytes))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proofmark_model::{Cut, FigureKind, Policy, summarise_trials};

    use super::*;
    use crate::series::tests::over_time as sampled;
    use crate::testing::*;

    fn drifting(total: f64) -> Measurement {
        let values: Vec<f64> = around(60e9)
            .iter()
            .enumerate()
            .map(|(i, v)| v * (1.0 + total * i as f64 / 9.0))
            .collect();
        with_values(flops(1), &values)
    }

    /// A latency whose trials change by that share from first to last.
    fn later(share: f64) -> Measurement {
        let values: Vec<f64> =
            (0..12).map(|i| 1e-7 * (1.0 + share * f64::from(i) / 11.0)).collect();
        with_values(latency(1 << 30, 1e-7), &values)
    }

    #[test]
    fn a_drift_is_noted() {
        let falls = (0..12).map(|i| if i < 5 { 60e9 } else { 2e9 - f64::from(i) });
        let falls: Vec<f64> = falls.collect();
        let most = note(
            "^the rate varies: the trials fall, and the last quarter's median is 96.7 % below",
        );
        let mut few = drifting(-0.2);
        few.trials.truncate(7);
        let mut wild = around(60e9);
        wild[9] *= 0.5;
        TREND.expect([
            ("it falls", drifting(-0.04), NOTE),
            ("times that fall", later(-0.04), note("^the time varies: the trials fall")),
            ("it rises", drifting(0.04), NOTE),
            ("by no more than all of it", with_values(flops(1), &falls), most),
            ("by little", drifting(0.0045), SILENT),
            ("few trials", few, SILENT),
            ("an outlier", with_values(flops(1), &wild), SILENT),
        ]);
    }

    #[test]
    fn a_series_that_drifts_is_suspect_where_its_cause_is_recorded() {
        // From all of the rate to a share of it, in a straight line.
        let falling =
            |m, last: f64| sampled(m, 300, move |i| 1.0 - (1.0 - last) * i as f64 / 300.0);
        let busier = |last: f64| {
            each_condition(falling(rand_read(1), last), move |i, c| {
                c.steal_s = Some((1.0 - last) * i as f64 / 300.0);
            })
        };
        let stolen = each_condition(falling(flops(1), 0.4), |i, c| {
            c.steal_s = Some(0.6 * i as f64 / 300.0);
        });
        let windows = headed(in_windows(stolen.clone()), FigureKind::Attainable, 0.001);
        DRIFT.expect([
            ("it falls", falling(rand_read(1), 0.4), note("^the rate fell by 59.7")),
            ("and the hypervisor took it", busier(0.4), suspect("fell by 59 ... stolen by the")),
            ("of flops without windows", stolen, suspect("fell by 59 ... stolen by the")),
            ("in windows", windows, note("fell by 59 ... stolen by the")),
            ("within the tolerance", busier(0.85), note("fell by 15 ... stolen by the")),
            (
                "it rises",
                sampled(rand_read(1), 300, |i| 1.0 + i as f64 / 300.0),
                note("rose by 99"),
            ),
            ("it stays", sampled(rand_read(1), 300, |_| 1.0), SILENT),
        ]);
    }

    /// Reports read the cause from the evidence.
    #[test]
    fn the_evidence_has_the_cause() {
        let falling = sampled(flops(1), 300, |i| 1.0 - 0.6 * i as f64 / 300.0);
        let stolen =
            each_condition(falling.clone(), |i, c| c.steal_s = Some(0.6 * i as f64 / 300.0));
        let cause = |m: Measurement| {
            let m = judged(&host(), m, &[]);
            let found = m.findings.into_iter().find(|f| f.check == "drift").unwrap();
            found.evidence.get("cause").cloned()
        };
        assert_eq!(cause(falling), None);
        assert!(cause(stolen).unwrap().as_str().unwrap().contains("stolen by the hypervisor"));
    }

    #[test]
    fn the_target_is_the_policys() {
        let (host, spec) = (host(), spec("cpu.flops"));
        let at = |target: f64| {
            let policy = Policy { target, target_of: BTreeMap::new(), ..policy() };
            trend(&context(&host, &spec, &policy, &[]), &drifting(-0.04)).is_some()
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
                    trend(&ctx, &with_values(flops(1), &values)).is_some()
                })
                .count();
            assert!(wrong <= 40, "{wrong} of 2000 samples of {n}");
        }
    }

    /// The result with rates that are these shares of its usual rate.
    fn with_rates(mut m: Measurement, rates: &[f64]) -> Measurement {
        let usual = m.trials[0].clone();
        let at = |rate: &f64| Trial {
            value: usual.value * rate,
            seconds: usual.seconds / rate,
            ..usual.clone()
        };
        m.trials = rates.iter().map(at).collect();
        m.summary = summarise_trials(Cut::Single, m.unit, &m.trials, false);
        m
    }

    /// Random reads at these rates, with the number of trials at each.
    fn reads(rates: &[(f64, usize)]) -> Measurement {
        let all: Vec<f64> = rates.iter().flat_map(|(rate, n)| vec![*rate; *n]).collect();
        with_rates(rand_read(1), &all)
    }

    /// Values of mean 1 with that standard deviation.
    fn noise(n: usize, sd: f64, random: &mut impl FnMut() -> f64) -> Vec<f64> {
        (0..n).map(|_| (1.0 + sd * normal(random)).max(0.01)).collect()
    }

    #[test]
    fn a_device_capped_halfway_has_two_rates() {
        let mut random = xorshift();
        for n in [6, 8, 30] {
            let mut rates = noise(n, 0.02, &mut random);
            rates[n / 2..].iter_mut().for_each(|rate| *rate *= 0.4);
            for m in [rand_read(1), disk("seq_write", 1 << 20, "none"), fsync(1), tcp(1, "peer")] {
                let usual = m.trials[0].value;
                let finding = FALLING_RATE.found(with_rates(m, &rates)).unwrap();
                assert_eq!(finding.severity, Severity::Suspect);
                let number = |name: &str| finding.evidence[name].as_f64().unwrap();
                assert!((number("burst") / usual - 1.0).abs() < 0.05, "{}", finding.message);
                assert!((number("sustained") / usual - 0.4).abs() < 0.05, "{}", finding.message);
                assert_eq!(number("after_trials"), (n / 2) as f64);
                assert!(number("after_bytes") > 1e6 && number("after_seconds") > 0.1);
            }
        }
    }

    #[test]
    fn a_fall_that_stays_is_suspect() {
        let decay: Vec<f64> = (0..20).map(|i| 1.0 - 0.03 * f64::from(i)).collect();
        let falling = [vec![1.0; 6], vec![0.4; 6]].concat();
        let warm = with_rates(disk("seq_read", 4096, "warm"), &falling);
        FALLING_RATE.expect([
            ("a short burst", reads(&[(1.0, 1), (0.98, 1), (0.5, 28)]), NOTE),
            ("half of the time", reads(&[(1.0, 10), (0.5, 10)]), SUSPECT),
            ("to a little less", reads(&[(1.0, 10), (0.75, 10)]), NOTE),
            ("a slow decay", with_rates(rand_read(1), &decay), SUSPECT),
            ("one slow early", reads(&[(1.0, 3), (0.4, 1), (1.0, 2), (0.4, 6)]), SUSPECT),
            ("it recovers", reads(&[(1.0, 4), (0.4, 5), (1.0, 3)]), SILENT),
            ("nearly", reads(&[(1.0, 6), (0.4, 8), (0.9, 3)]), SILENT),
            ("a tenth", reads(&[(1.0, 6), (0.9, 4), (0.8, 2)]), SILENT),
            ("it rises", reads(&[(0.4, 6), (1.0, 6)]), SILENT),
            ("loopback", with_rates(tcp(1, "loopback"), &falling), SILENT),
            ("too few", with_rates(rand_read(1), &falling[3..8]), SILENT),
            ("a warm cache", warm, SILENT),
            ("no disk", with_rates(stream("read", 1), &falling), SILENT),
        ]);
    }

    #[test]
    fn noise_is_seldom_taken_for_a_fall() {
        let mut random = xorshift();
        for (sd, n) in [(0.05, 6), (0.05, 8), (0.05, 30), (0.1, 8), (0.2, 8), (0.2, 30)] {
            let series = |random: &mut _| noise(n, sd, random);
            let wrong = (0..2000).filter(|_| Step::find(&series(&mut random)).is_some()).count();
            assert!(wrong <= 20, "{wrong} of 2000 series of {n} with sd {sd}");
        }
        let series = |i| (i, with_rates(rand_read(1), &noise(12, 0.05, &mut random)), SILENT);
        FALLING_RATE.expect((0..30).map(series));
    }
}
