//! Figures of a configuration from its trials and rounds, or from values alone.

use super::looks::LOOKS;
use super::shared::{SEEN_ROUNDS, widest};
use super::{Cut, Figure, FigureKind, Summary, too_few};
use crate::delivered::{Done, Fixed};
use crate::statistics::{MIN_VALUES, median};
use crate::{Round, Statistics, Trial, Unit, agree, counted, delivered_under_quota, summarise};

/// Minimum seconds of clean windows, on the core with the fewest.
pub const CLEAN_S: f64 = 0.02;

/// Share of the highest state of a bus from which on a round has seen it too.
const SAME_STATE: f64 = 0.9;

/// Returns statistics of trials; `None` without a trial, or if a value is not finite.
/// `stopped_by_interval`: the interval decided the number of rounds ([`LOOKS`]).
pub fn summarise_trials(
    cut: Cut,
    unit: Unit,
    trials: &[Trial],
    stopped_by_interval: bool,
) -> Option<Summary> {
    let values: Vec<f64> = trials.iter().map(|t| t.value).collect();
    let statistics = summarise(&values)?;
    let rounds: Vec<&Round> = trials.iter().flat_map(|t| &t.rounds).collect();
    let done: Vec<Done> =
        trials.iter().map(|t| Done { work: t.work, seconds: t.seconds }).collect();
    let least = if stopped_by_interval { LOOKS[0] } else { MIN_VALUES };
    let delivered = Figure::delivered(unit, Fixed::Work, &done, least);
    Some(match cut {
        Cut::Core | Cut::Bus if !rounds.is_empty() => {
            let delivered = delivered_of_rounds(unit, trials, &rounds, least);
            summarise_rounds((cut, unit), (delivered, statistics), &rounds, stopped_by_interval)
        }
        Cut::Whole => {
            let median = Figure::from_rounds(&values, values.len(), stopped_by_interval);
            summarise_solves(unit, [median, delivered], statistics)
        }
        Cut::Single => delivered_alone(
            "single operations: a pause may be the device's own",
            delivered,
            statistics,
        ),
        _ => delivered_alone("the trials were not cut into windows", delivered, statistics),
    })
}

/// Returns all work over all time of the rounds; under a CPU quota, of those that show it.
fn delivered_of_rounds(unit: Unit, trials: &[Trial], rounds: &[&Round], least: usize) -> Figure {
    if !unit.is_work() {
        return Figure::none(
            "a clock counts no work: it also runs while other processes use the core",
        );
    }
    let figure = |done: &[Done]| Figure::delivered(unit, Fixed::Time, done, least);
    let done = |(value, seconds): (f64, f64)| Done { work: seconds * unit.rate(value), seconds };
    match delivered_under_quota(unit, trials) {
        Some(limited) => {
            let rounds: Vec<Done> = limited.rounds.into_iter().map(done).collect();
            Figure { derived: limited.derived, ..figure(&rounds) }
        }
        None if trials.iter().any(|t| t.quota.is_some_and(|q| q.is_limited())) => Figure::none(
            "no round shows the CPU quota's share: each is shorter than two periods, or was not \
                 timed past the second refill",
        ),
        None => {
            let rounds = rounds.iter().map(|r| done((r.delivered, r.seconds)));
            figure(&rounds.collect::<Vec<_>>())
        }
    }
}

fn summarise_rounds(
    (cut, unit): (Cut, Unit),
    (delivered, trials): (Figure, Statistics),
    rounds: &[&Round],
    stopped_by_interval: bool,
) -> Summary {
    let figures = |figure: fn(&Round) -> Option<f64>| -> Vec<f64> {
        rounds.iter().filter_map(|r| figure(r)).collect()
    };
    let all_in = |figure: fn(&Round) -> Option<f64>| {
        Figure::from_rounds(&figures(figure), rounds.len(), stopped_by_interval)
    };
    let clean_s: f64 = rounds.iter().map(|r| r.clean_s).sum();
    let unseen = || {
        Figure::none(format!(
            "undisturbed time was too short: {:.1} ms of clean windows; {:.0} ms are needed",
            1e3 * clean_s,
            1e3 * CLEAN_S
        ))
    };
    let (attainable, typical) = match cut {
        _ if clean_s < CLEAN_S => (unseen(), unseen()),
        Cut::Core => (attainable_of_cores(rounds, stopped_by_interval), all_in(|r| r.typical)),
        _ => (upper_state(unit, &figures(|r| r.attainable)), all_in(|r| r.typical)),
    };
    Summary { headline: cut.headline(), attainable, typical, delivered, trials }
}

impl Summary {
    /// Returns the summary of values without rounds, such as those of a tool, an import or pairs:
    /// delivered alone.
    pub fn from_values(values: &[f64]) -> Option<Self> {
        summarise(values).map(Self::from_statistics)
    }

    /// Returns the summary of statistics of such values. No interval decided their number, so the
    /// interval of a single look is valid, from 6 values on.
    pub fn from_statistics(values: Statistics) -> Self {
        let few = || too_few(values.n as usize, "value", MIN_VALUES);
        let delivered = Figure {
            value: Some(values.median),
            ci95: values.ci95,
            missing: values.ci95.is_none().then(few),
            ..Figure::default()
        };
        delivered_alone("the values have no rounds", delivered, values)
    }
}

/// Returns the attainable figure of the rounds with unshared cores. If they are too few for an
/// interval, it is that of all rounds, widened to hold the value.
fn attainable_of_cores(rounds: &[&Round], stopped_by_interval: bool) -> Figure {
    let widest = widest(rounds.iter().filter_map(|r| r.issue_width));
    let figures = |counts: &dyn Fn(&Round) -> bool| -> Vec<f64> {
        rounds.iter().filter(|r| counts(r)).filter_map(|r| r.attainable).collect()
    };
    let of = |values: &[f64]| Figure::from_rounds(values, rounds.len(), stopped_by_interval);
    let alone = of(&figures(&|r| r.alone(widest)));
    match alone.value {
        Some(value) if alone.ci95.is_none() => of(&figures(&|_| true)).with_value(value),
        _ => alone,
    }
}

/// Returns the median of the rounds that saw the highest state.
fn upper_state(unit: Unit, values: &[f64]) -> Figure {
    let mut rates: Vec<f64> = values.iter().map(|v| unit.rate(*v)).collect();
    rates.sort_by(|a, b| b.total_cmp(a));
    let Some(upper) = rates.get(SEEN_ROUNDS - 1) else {
        let rounds = counted(rates.len() as u64, "round");
        let are = agree(rates.len() as u64, ["is", "are"]);
        return Figure::none(format!("{rounds} {are} too few to identify a state"));
    };
    let seen: Vec<f64> =
        values.iter().copied().filter(|v| unit.rate(*v) >= SAME_STATE * upper).collect();
    let of = format!("{} of {} rounds", seen.len(), values.len());
    let why = format!("{of} saw the highest state: chosen by their values, they have no interval");
    median(&seen).map_or_else(|| Figure::none("no round has one"), |v| Figure::alone(v, why))
}

/// Returns the summary of complete solves: the best, the median, and all work over all time.
fn summarise_solves(unit: Unit, [typical, delivered]: [Figure; 2], trials: Statistics) -> Summary {
    let best = if unit == Unit::Second { trials.min } else { trials.max };
    let why = "each trial is one complete problem: its best has no interval";
    let attainable = Figure::alone(best, why);
    Summary { headline: Cut::Whole.headline(), attainable, typical, delivered, trials }
}

/// Returns a summary with the delivered figure alone, for that reason.
fn delivered_alone(why: &str, delivered: Figure, trials: Statistics) -> Summary {
    Summary {
        headline: FigureKind::Delivered,
        attainable: Figure::none(why),
        typical: Figure::none(why),
        delivered,
        trials,
    }
}
