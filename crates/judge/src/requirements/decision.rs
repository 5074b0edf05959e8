//! Decides whether a figure meets a limit: by its whole interval, not by its value.

use proofmark_model::{
    Better, Decision, FigureKind, Latency, Measurement, PERCENTILE_TRIALS, Severity, Verdict,
};

use super::Statistic;
use super::figure::number;
use crate::checks;
use crate::words::{counted, why_no_result};

/// Fewest trials that decide without an interval, if all of them are on one side.
const LEAST_TRIALS: usize = 4;

/// A decision with the figure that it rests on.
pub(super) struct Decided {
    pub(super) decision: Decision,
    pub(super) value: Option<f64>,
    pub(super) ci95: Option<[f64; 2]>,
    /// The reason why it is undecided, if neither the interval nor a check gives it; for an import,
    /// the basis of the decision.
    pub(super) reason: Option<String>,
}

/// Compares a figure of a result with a limit. For an import with too few trials, the figure
/// decides as the tool printed it.
pub(super) fn decide(
    m: &Measurement,
    imported: bool,
    statistic: Statistic,
    holds: impl Fn(f64) -> bool,
) -> Decided {
    let undecided = |value, ci95, reason| {
        let decision = Decision::Undecided;
        Decided { decision, value, ci95, reason }
    };
    let value = match number(statistic, m) {
        Ok(value) => value,
        Err(why) if m.verdict.is_usable() => return undecided(None, None, Some(why)),
        Err(_) => return undecided(None, None, Some(why_no_result(m))),
    };
    let ci95 = interval(statistic, m, imported, value);
    let without = range_without(statistic, m, value);
    let as_printed = imported && ci95.is_none() && without.is_err();
    let range = match ci95.map_or(without, Ok) {
        Ok(range) => range,
        Err(_) if as_printed => [value; 2],
        Err(why) => return undecided(Some(value), None, Some(why)),
    };
    let (met, missed) = (range.into_iter().all(&holds), !range.into_iter().any(&holds));
    let decision = match m.verdict {
        // An undisturbed figure would meet it, too.
        _ if met && only_slowed(m) && holds(best(statistic, m)) => Decision::Met,
        verdict if met && verdict.is_undoubted() => Decision::Met,
        verdict if missed && verdict.is_undoubted() => Decision::Missed,
        verdict => {
            let no_check = !verdict.is_undoubted() && m.findings.is_empty();
            let split = verdict.is_undoubted() && ci95.is_none();
            let reason = match () {
                () if no_check => Some(why_no_result(m)),
                () if split => Some("its trials are on both sides of the limit".to_owned()),
                () => None,
            };
            return undecided(Some(value), ci95, reason);
        }
    };
    let reason = as_printed.then(|| {
        format!("as the tool printed it: {}, no interval", counted(m.trials.len(), "trial"))
    });
    Decided { decision, value: Some(value), ci95, reason }
}

/// Returns true if the only doubts are disturbances that made the machine slower.
fn only_slowed(m: &Measurement) -> bool {
    let slows = |id| checks::find(id).is_some_and(|c| c.class.only_slows());
    let doubts = || m.findings.iter().filter(|f| f.severity > Severity::Note);
    m.verdict == Verdict::Suspect && doubts().count() > 0 && doubts().all(|f| slows(&*f.check))
}

/// Upper bound of a statistic's quality.
fn best(statistic: Statistic, m: &Measurement) -> f64 {
    match kind_of(statistic, m) {
        Some(_) if statistic == Statistic::Efficiency || m.better == Better::Higher => {
            f64::INFINITY
        }
        _ => 0.0,
    }
}

/// The figure of a statistic; percentiles have none.
fn kind_of(statistic: Statistic, m: &Measurement) -> Option<FigureKind> {
    match statistic {
        Statistic::Delivered | Statistic::Iops => Some(FigureKind::Delivered),
        Statistic::Attainable => Some(FigureKind::Attainable),
        Statistic::Typical => Some(FigureKind::Typical),
        Statistic::Efficiency => m.summary.as_ref().map(|s| s.headline),
        _ => None,
    }
}

/// The 95 % interval of a statistic with that value, if there is one. The ranks of a percentile stand
/// for a tool's operations alone: those of one trial share its disturbances.
fn interval(statistic: Statistic, m: &Measurement, imported: bool, value: f64) -> Option<[f64; 2]> {
    if let Some(share) = percentile_share(statistic) {
        let latency = m.latency.as_ref()?;
        let by_ranks = || percentile_interval(latency, share, value).filter(|_| imported);
        return stored_interval(statistic, latency).or_else(by_ranks);
    }
    let figure = m.summary.as_ref()?.figure(kind_of(statistic, m)?);
    let factor = value / figure.value?;
    Some(figure.ci95?.map(|end| end * factor)).filter(|ends| ends.iter().all(|v| v.is_finite()))
}

/// The range that decides without an interval: that of all trials, if they are enough. The mean and
/// the maximum of all operations need no interval: they describe these operations alone.
fn range_without(statistic: Statistic, m: &Measurement, value: f64) -> Result<[f64; 2], String> {
    if percentile_share(statistic).is_some() {
        return Err(match m.trials.len() {
            n if n < PERCENTILE_TRIALS => format!(
                "{}: too few for the interval of a percentile, {PERCENTILE_TRIALS} are needed",
                counted(n, "trial")
            ),
            _ => "its trials differ too much for an interval of the percentile".to_owned(),
        });
    }
    let Some(kind) = kind_of(statistic, m) else { return Ok([value; 2]) };
    let figure = m.summary.as_ref().and_then(|s| s.figure(kind).value);
    let factor = figure.map_or(f64::NAN, |figure| value / figure);
    let values = m.figure_values(kind);
    if values.len() < LEAST_TRIALS {
        let what = if m.has_rounds() { "round" } else { "trial" };
        let n = counted(values.len(), what);
        return Err(format!("{n}: too few without an interval, {LEAST_TRIALS} are needed"));
    }
    let ends = values
        .iter()
        .fold([value; 2], |[low, high], v| [low.min(v * factor), high.max(v * factor)]);
    Some(ends).filter(|e| e.iter().all(|v| v.is_finite())).ok_or_else(|| "no finite figure".into())
}

/// The share of operations below a percentile.
fn percentile_share(statistic: Statistic) -> Option<f64> {
    match statistic {
        Statistic::P50 => Some(0.5),
        Statistic::P90 => Some(0.9),
        Statistic::P99 => Some(0.99),
        Statistic::P999 => Some(0.999),
        _ => None,
    }
}

/// The interval of a percentile from the differences between the trials.
fn stored_interval(statistic: Statistic, latency: &Latency) -> Option<[f64; 2]> {
    let all = &latency.ci95;
    let ends = match statistic {
        Statistic::P50 => all.p50,
        Statistic::P90 => all.p90,
        Statistic::P99 => all.p99,
        Statistic::P999 => all.p999,
        _ => None,
    };
    ends.filter(|ends| ends.iter().all(|end| end.is_finite()))
}

/// Standard deviations of a 95 % interval.
const NORMAL_95: f64 = 1.96;

/// The interval of a percentile by the ranks that contain it with 95 %, from the buckets of the
/// distribution; `None` without them. It is for distributions without trials, such as a tool's.
fn percentile_interval(latency: &Latency, share: f64, value: f64) -> Option<[f64; 2]> {
    let count: u64 = latency.buckets.iter().map(|b| b.count).sum();
    let n = count as f64;
    let half = NORMAL_95 * (n * share * (1.0 - share)).sqrt();
    let at = |rank: f64| {
        let mut below = 0.0;
        let bucket = latency.buckets.iter().find(|b| {
            below += b.count as f64;
            below >= rank
        });
        bucket.or(latency.buckets.last()).map(|b| b.upto)
    };
    let (low, high) = (at((n * share - half).max(1.0))?, at((n * share + half).ceil())?);
    Some([low.min(value), high.max(value)])
}

#[cfg(test)]
mod tests {
    use proofmark_model::{Finding, LatencyBucket, Trial, Unit, Width};

    use super::*;
    use crate::testing::*;

    fn decided(m: &Measurement, least: f64) -> Decision {
        decide(m, false, Statistic::Delivered, |v| v >= least).decision
    }

    /// A result between 98 and 102 MB/s.
    fn read() -> Measurement {
        let mut m = judged(&usual_host(&rand_read(1)), rand_read(1), &[]);
        let s = m.summary.as_mut().unwrap();
        (s.delivered.value, s.delivered.ci95) = (Some(100e6), Some([98e6, 102e6]));
        m.verdict = Verdict::Valid;
        m
    }

    #[test]
    fn the_whole_interval_decides() {
        use Decision::{Met, Missed, Undecided};
        let decide_all =
            |m: &Measurement| [97e6, 99e6, 101e6, 103e6].map(|limit| decided(m, limit));
        for width in [Width::Narrow, Width::Coarse, Width::NoInterval] {
            let m = Measurement { verdict: Verdict::Valid.with_width(width), ..read() };
            assert_eq!(decide_all(&m), [Met, Undecided, Undecided, Missed], "{width:?}");
        }
        let doubted = |verdict, check: &'static str| {
            let findings = vec![Finding::new(check, Severity::Suspect, "", "")];
            decide_all(&Measurement { verdict, findings, ..read() })
        };
        let disturbed = doubted(Verdict::Suspect, "other_cpu");
        assert_eq!(disturbed, [Met, Undecided, Undecided, Undecided], "it would be faster alone");
        assert_eq!(doubted(Verdict::Suspect, "falling_rate"), [Undecided; 4], "a burst is no rate");
        assert_eq!(doubted(Verdict::Suspect, "small_file"), [Undecided; 4], "a claim in doubt");
        assert_eq!(doubted(Verdict::Invalid, "page_cache"), [Undecided; 4]);
        let findings = vec![Finding::new("other_cpu", Severity::Suspect, "", "")];
        let slowed = Measurement { verdict: Verdict::Suspect, findings, ..read() };
        let at_most = decide(&slowed, false, Statistic::Delivered, |v| v <= 103e6).decision;
        assert_eq!(at_most, Undecided, "a limit from above is not met because others slowed it");
    }

    #[test]
    fn without_an_interval_all_of_four_trials_decide() {
        let result = |values: &[f64]| {
            let mut m = read();
            m.summary.as_mut().unwrap().delivered.ci95 = None;
            m.trials = values.iter().map(|v| Trial::new(Unit::BytePerSecond, *v, 1.0)).collect();
            m
        };
        let trials = [99e6, 100e6, 101e6, 103e6];
        assert_eq!(decided(&result(&trials), 98e6), Decision::Met);
        assert_eq!(decided(&result(&trials), 104e6), Decision::Missed);
        let split = decide(&result(&trials), false, Statistic::Delivered, |v| v >= 102e6);
        assert_eq!(split.decision, Decision::Undecided);
        assert_eq!(split.reason.as_deref(), Some("its trials are on both sides of the limit"));
        let few = decide(&result(&trials[..3]), false, Statistic::Delivered, |v| v >= 1e6);
        assert_eq!(few.decision, Decision::Undecided);
        let why = "3 trials: too few without an interval, 4 are needed";
        assert_eq!(few.reason.as_deref(), Some(why));
        let printed = decide(&result(&trials[..1]), true, Statistic::Delivered, |v| v >= 1e6);
        assert_eq!(printed.decision, Decision::Met);
        assert_eq!(printed.reason.as_deref(), Some("as the tool printed it: 1 trial, no interval"));
    }

    #[test]
    fn a_percentile_of_trials_that_differ_decides_by_their_interval() {
        let mut m = read();
        let bucket = |upto: f64, count: u64| LatencyBucket { upto, count };
        let latency = m.latency.as_mut().unwrap();
        // By its ranks alone, p99 would be exact.
        latency.buckets = vec![bucket(1e-4, 980_000), bucket(2e-4, 20_000)];
        (latency.p50, latency.p99) = (1e-4, Some(2e-4));
        latency.ci95.p99 = Some([1.2e-4, 9e-4]);
        let p99 = |limit: f64| decide(&m, false, Statistic::P99, |v| v < limit);
        use Decision::{Met, Missed, Undecided};
        let decisions = [1e-3, 5e-4, 1.5e-4, 1.1e-4].map(|limit| p99(limit).decision);
        assert_eq!(decisions, [Met, Undecided, Undecided, Missed]);
        assert_eq!(p99(1e-3).ci95, Some([1.2e-4, 9e-4]));
    }

    #[test]
    fn a_percentile_of_few_trials_decides_nothing() {
        let mut m = read();
        let bucket = |upto: f64, count: u64| LatencyBucket { upto, count };
        let latency = m.latency.as_mut().unwrap();
        latency.buckets = vec![bucket(1e-4, 980_000), bucket(2e-4, 20_000)];
        (latency.p99, latency.ci95) = (Some(2e-4), Default::default());
        let trials = m.trials.clone();
        m.trials.truncate(3);
        let few = decide(&m, false, Statistic::P99, |v| v < 1.0);
        assert_eq!((few.decision, few.value, few.ci95), (Decision::Undecided, Some(2e-4), None));
        let why = "3 trials: too few for the interval of a percentile, 6 are needed";
        assert_eq!(few.reason.as_deref(), Some(why));
        m.trials = trials;
        let none = decide(&m, false, Statistic::P99, |v| v < 1.0);
        assert_eq!(none.decision, Decision::Undecided);
        assert_eq!(
            none.reason.as_deref(),
            Some("its trials differ too much for an interval of the percentile")
        );
        // A tool's output has no trials to compare: the ranks decide, or the number that it printed.
        let by_ranks = decide(&m, true, Statistic::P99, |v| v < 1.0);
        assert_eq!((by_ranks.decision, by_ranks.reason), (Decision::Met, None));
        m.latency.as_mut().unwrap().buckets.clear();
        m.trials.truncate(1);
        let printed = decide(&m, true, Statistic::P99, |v| v < 1.0);
        assert_eq!(printed.decision, Decision::Met);
        assert_eq!(printed.reason.as_deref(), Some("as the tool printed it: 1 trial, no interval"));
    }

    #[test]
    fn a_percentile_is_between_the_ranks_that_hold_it() {
        let mut m = read();
        let bucket = |i: u32| LatencyBucket { upto: f64::from(i) * 1e-6, count: 1 };
        let latency = m.latency.as_mut().unwrap();
        latency.buckets = (1..=10_000).map(bucket).collect();
        latency.p50 = 5e-3;
        // Of 10 000 operations 98 to each side: 1.96 x sqrt(10 000 / 4).
        let [low, high] = percentile_interval(latency, 0.5, 5e-3).unwrap();
        assert!((low - 4.902e-3).abs() < 2e-6 && (high - 5.098e-3).abs() < 2e-6, "{low} {high}");
        let p50 = |limit: f64| decide(&m, true, Statistic::P50, |v| v < limit).decision;
        assert_eq!(
            [5.2e-3, 5.05e-3, 4.8e-3].map(p50),
            [Decision::Met, Decision::Undecided, Decision::Missed]
        );
        assert_eq!(
            percentile_interval(m.latency.as_ref().unwrap(), 0.99, 20e-3).unwrap()[1],
            20e-3
        );
    }
}
