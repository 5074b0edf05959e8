//! Decides whether a figure meets a limit: by its whole interval, not by its value.

use proofmark_model::{
    Better, Decision, FigureKind, Finding, Latency, Measurement, PERCENTILE_TRIALS, Severity,
    Verdict,
};

use super::Statistic;
use super::figure::number;
use crate::checks;
use crate::compare::effect;
use crate::words::{counted, why_no_result};

/// Fewest trials that decide without an interval, if all of them are on one side.
const LEAST_TRIALS: usize = 4;
/// Fewest trials that decide without an interval, if all of them are far from the limit.
const LEAST_FAR: usize = 3;
/// A limit is far if it is beyond the figure by more than this factor.
const FAR: f64 = 1.5;

/// A decision with the figure that it rests on.
pub(super) struct Decided {
    pub(super) decision: Decision,
    pub(super) value: Option<f64>,
    pub(super) ci95: Option<[f64; 2]>,
    /// The reason why it is undecided, if neither the interval nor a check gives it; of a decision
    /// without an interval, its basis.
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
    let Basis { range, ci95, if_decided, if_undecided } = match basis(statistic, m, imported, value)
    {
        Ok(basis) => basis,
        Err(why) => return undecided(Some(value), None, Some(why)),
    };
    let (met, missed) = (range.into_iter().all(&holds), !range.into_iter().any(&holds));
    let decision = match m.verdict {
        // An undisturbed figure would meet it, too.
        _ if met && only_slowed(m) && holds(best(statistic, m)) => Decision::Met,
        verdict if met && verdict.is_undoubted() => Decision::Met,
        // Without what others took it would miss it, too.
        verdict
            if missed
                && (verdict.is_undoubted() || only_slowed(m))
                && !holds(undisturbed(statistic, m, range)) =>
        {
            Decision::Missed
        }
        verdict => {
            let doubted = !verdict.is_undoubted() && (met || missed);
            let reason = match () {
                () if !verdict.is_undoubted() && m.findings.is_empty() => Some(why_no_result(m)),
                () if doubted => None,
                () if missed => Some(MAY_MEET.to_owned()),
                () => if_undecided,
            };
            return undecided(Some(value), ci95, reason);
        }
    };
    Decided { decision, value: Some(value), ci95, reason: if_decided }
}

/// The range that decides: a limit must be outside it.
struct Basis {
    range: [f64; 2],
    /// The range, if it is a 95 % interval.
    ci95: Option<[f64; 2]>,
    /// The reasons to give for a range that is no interval.
    if_decided: Option<String>,
    if_undecided: Option<String>,
}

impl Basis {
    fn interval(range: [f64; 2]) -> Self {
        Self { ci95: Some(range), ..Self::range(range) }
    }

    fn range(range: [f64; 2]) -> Self {
        Self { range, ci95: None, if_decided: None, if_undecided: None }
    }

    /// The figure as a tool printed it.
    fn printed(m: &Measurement, value: f64) -> Self {
        let trials = counted(m.trials.len(), "trial");
        let why = format!("as the tool printed it: {trials}, no interval");
        Self { if_decided: Some(why), ..Self::range([value; 2]) }
    }
}

/// Returns the range of a statistic that decides, or the reason why none does. The mean and the
/// maximum of all operations need no interval: they describe these operations alone.
fn basis(statistic: Statistic, m: &Measurement, tool: bool, value: f64) -> Result<Basis, String> {
    let found = match (percentile_share(statistic), kind_of(statistic, m)) {
        (Some(share), _) => percentile_basis((statistic, share), m, tool, value),
        (None, Some(kind)) => figure_basis(kind, m, value),
        (None, None) => Ok(Basis::range([value; 2])),
    };
    found.or_else(|why| if tool { Ok(Basis::printed(m, value)) } else { Err(why) })
}

/// Returns true if the only doubts are disturbances that made the machine slower.
fn only_slowed(m: &Measurement) -> bool {
    let slows = |id| checks::find(id).is_some_and(|c| c.class.only_slows());
    let doubts = || m.findings.iter().filter(|f| f.severity > Severity::Note);
    m.verdict == Verdict::Suspect && doubts().count() > 0 && doubts().all(|f| slows(&*f.check))
}

/// The reason of a figure that misses its limit, and is undecided all the same.
const MAY_MEET: &str = "without what others took from it, it may meet the limit";

/// Returns the best end of a range, with what others took from the figure given back; the upper bound
/// of its quality where the size of that is unknown.
fn undisturbed(statistic: Statistic, m: &Measurement, [low, high]: [f64; 2]) -> f64 {
    let has_taken = matches!(statistic, Statistic::Delivered | Statistic::Iops);
    let is_figure = kind_of(statistic, m).is_some();
    let cost = |f: &Finding| match effect::lost(f, m).filter(|e| e.is_bounded && is_figure) {
        Some(effect) => effect.log,
        // A note of unknown size is one of little.
        None if f.severity == Severity::Note => 0.0,
        None => f64::INFINITY,
    };
    let counts =
        |f: &&Finding| checks::is_by_others(&f.check) && (has_taken || f.severity > Severity::Note);
    let taken: f64 = m.findings.iter().filter(counts).map(cost).sum();
    match best(statistic, m) {
        best if taken.is_infinite() => best,
        best if best.is_infinite() => high * taken.exp(),
        _ => low / taken.exp(),
    }
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

/// The interval of a figure. Without one it is the range of all trials, wider by [`FAR`] if there
/// are few.
fn figure_basis(kind: FigureKind, m: &Measurement, value: f64) -> Result<Basis, String> {
    let figure = m.summary.as_ref().map(|s| s.figure(kind));
    let factor = figure.and_then(|f| f.value).map_or(f64::NAN, |of_kind| value / of_kind);
    let is_finite = |ends: &[f64; 2]| ends.iter().all(|v| v.is_finite());
    let ci95 = figure.and_then(|f| f.ci95).map(|ends| ends.map(|end| end * factor));
    if let Some(range) = ci95.filter(is_finite) {
        return Ok(Basis::interval(range));
    }
    let values = m.figure_values(kind);
    let what = if m.has_rounds() { "round" } else { "trial" };
    let n = counted(values.len(), what);
    let few = format!("{n}: too few without an interval, {LEAST_TRIALS} are needed");
    if values.len() < LEAST_FAR {
        return Err(few);
    }
    let range = values
        .iter()
        .fold([value; 2], |[low, high], v| [low.min(v * factor), high.max(v * factor)]);
    let range = Some(range).filter(is_finite).ok_or("no finite figure")?;
    if values.len() >= LEAST_TRIALS {
        let split = format!("its {what}s are on both sides of the limit");
        return Ok(Basis { if_undecided: Some(split), ..Basis::range(range) });
    }
    let far = format!("no interval; each of {n} is more than a factor of {FAR} from the limit");
    let (if_decided, if_undecided) = (Some(far), Some(few));
    Ok(Basis { if_decided, if_undecided, ..Basis::range(widened(range)) })
}

/// Returns the range in which a limit is near.
fn widened([low, high]: [f64; 2]) -> [f64; 2] {
    [low / FAR, high * FAR]
}

/// The interval of a percentile: from the differences between the trials, for a tool's output from
/// the ranks. Without one it is the percentile of all trials, wider by [`FAR`].
fn percentile_basis(
    (statistic, share): (Statistic, f64),
    m: &Measurement,
    tool: bool,
    value: f64,
) -> Result<Basis, String> {
    let latency = m.latency.as_ref().ok_or("no operation times")?;
    let ranks = || percentile_interval(latency, share, value).filter(|_| tool);
    if let Some(range) = stored_interval(statistic, latency).or_else(ranks) {
        return Ok(Basis::interval(range));
    }
    let n = counted(m.trials.len(), "trial");
    let no_interval = |why: &str| format!("no interval of {} from {n} ({why})", statistic.word());
    if tool || m.trials.len() < LEAST_FAR {
        return Err(no_interval("too few"));
    }
    let [low, high] = widened([value; 2]);
    let (high, why) = match m.trials.len() < PERCENTILE_TRIALS {
        true => (high, no_interval("too few")),
        false => (f64::INFINITY, no_interval("they differ too much for an upper end")),
    };
    let far = format!("{why}; it is more than a factor of {FAR} from the limit");
    let basis = Basis::range([low, high]);
    Ok(Basis { if_decided: Some(far), if_undecided: Some(why), ..basis })
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
    use proofmark_model::{LatencyBucket, PercentileIntervals, Trial, Unit, Width};

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
        assert_eq!(
            doubted(Verdict::Suspect, "throttled")[3],
            Missed,
            "a limit is the machine's own"
        );
        let findings = vec![Finding::new("other_cpu", Severity::Suspect, "", "")];
        let slowed = Measurement { verdict: Verdict::Suspect, findings, ..read() };
        let at_most = decide(&slowed, false, Statistic::Delivered, |v| v <= 103e6).decision;
        assert_eq!(at_most, Undecided, "a limit from above is not met because others slowed it");
    }

    #[test]
    fn what_others_took_misses_a_limit_only_if_it_is_too_little_to_meet_it() {
        use Decision::{Missed, Undecided};
        let taken = |severity, share: f64, limit: f64| {
            let finding = Finding::new("other_cpu", severity, "", "").with("share", share);
            let verdict = Verdict::from_findings(std::slice::from_ref(&finding));
            let m = Measurement { verdict, findings: vec![finding], ..read() };
            decided(&m, limit)
        };
        for severity in [Severity::Note, Severity::Suspect] {
            // The figure ends at 102 MB/s. A third of the CPU time costs reads a half: 204 MB/s.
            let decisions = [110e6, 200e6, 210e6].map(|limit| taken(severity, 0.3333, limit));
            assert_eq!(decisions, [Undecided, Undecided, Missed], "{severity:?}");
            assert_eq!(taken(severity, 0.01, 110e6), Missed, "{severity:?}");
        }
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
        let three = |least: f64| {
            let decided =
                decide(&result(&trials[..3]), false, Statistic::Delivered, |v| v >= least);
            (decided.decision, decided.reason.unwrap_or_default())
        };
        let why = "3 trials: too few without an interval, 4 are needed";
        for near in [90e6, 110e6, 151e6, 67e6] {
            assert_eq!(three(near), (Decision::Undecided, why.to_owned()), "{near}");
        }
        let why = "no interval; each of 3 trials is more than a factor of 1.5 from the limit";
        assert_eq!(three(152e6), (Decision::Missed, why.to_owned()));
        assert_eq!(three(65e6), (Decision::Met, why.to_owned()));
        let spread = [99e6, 100e6, 140e6];
        assert_eq!(decided(&result(&spread), 200e6), Decision::Undecided, "one of three is near");
        let two = decide(&result(&trials[..2]), false, Statistic::Delivered, |v| v >= 1e9);
        assert_eq!(two.decision, Decision::Undecided);
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
    fn a_percentile_of_trials_without_an_interval_decides_only_far_from_the_limit() {
        use Decision::{Met, Missed, Undecided};
        let mut m = read();
        m.trials = vec![Trial::new(Unit::BytePerSecond, 100e6, 1.0); 3];
        let latency = m.latency.as_mut().unwrap();
        latency.buckets = vec![LatencyBucket { upto: 2e-4, count: 1_000_000 }];
        (latency.p99, latency.ci95) = (Some(2e-4), PercentileIntervals::default());
        let p99 = |m: &Measurement, limit: f64| {
            let decided = decide(m, false, Statistic::P99, |v| v < limit);
            assert_eq!(decided.ci95, None, "there is none in the file");
            let reason = decided.reason.unwrap();
            assert!(reason.contains("no interval"), "{reason}");
            decided.decision
        };
        let limits = [4e-4, 2.9e-4, 2.1e-4, 1.9e-4, 1.4e-4, 1.3e-4];
        let all = |m: &Measurement| limits.map(|limit| p99(m, limit));
        assert_eq!(all(&m), [Met, Undecided, Undecided, Undecided, Undecided, Missed]);
        m.trials = vec![m.trials[0].clone(); PERCENTILE_TRIALS];
        let unbounded = [Undecided, Undecided, Undecided, Undecided, Undecided, Missed];
        assert_eq!(all(&m), unbounded, "the trials differ too much for an upper end");
        m.trials.truncate(2);
        assert_eq!(all(&m), [Undecided; 6], "two trials");
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
