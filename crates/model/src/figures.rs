//! The three figures of a configuration, from its rounds: attainable, typical and delivered
//! (defined at [`FigureKind`]). The first two are the median of the rounds' figures, with intervals
//! by order statistics over the rounds. The third is a ratio of sums (`delivered`).
//!
//! The number of rounds depends on the interval, so the ranks at 12 rounds are wider than those of
//! a single look. The interval misses the median at any of the three looks with at most
//! 0.8 % + 0.6 % + 4.1 %, for exchangeable rounds of any distribution.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::delivered::{Done, Fixed, delivered, interval};
use crate::statistics::{MIN_VALUES, median};
use crate::{
    Better, Measurement, Round, Statistics, Trial, Unit, agree, counted, delivered_under_quota,
    summarise,
};
pub use looks::LOOKS;
use looks::{interval_of_rounds, least_of_rounds};
pub use shared::{is_alone, widest};

mod looks;
mod shared;

/// The kind of a figure.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum FigureKind {
    /// The rate of the hardware when it is left alone.
    Attainable,
    /// The rate with the gaps taken out.
    Typical,
    /// All work divided by all time.
    #[default]
    Delivered,
}

impl FigureKind {
    /// Returns the word that reports print.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Attainable => "attainable",
            Self::Typical => "typical",
            Self::Delivered => "delivered",
        }
    }

    /// Returns the name of the figure: `attainable`, or for a time, where less is better, `attainable
    /// latency`.
    pub fn name(self, better: Better) -> &'static str {
        match (better, self) {
            (Better::Higher, kind) => kind.as_str(),
            (Better::Lower, Self::Attainable) => "attainable latency",
            (Better::Lower, Self::Typical) => "typical latency",
            (Better::Lower, Self::Delivered) => "delivered latency",
        }
    }
}

/// One figure, in the measurement's unit.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Figure {
    /// Median of the rounds' figures, or all work over all time (delivered); null where it does not
    /// apply or was not seen.
    pub value: Option<f64>,
    /// Interval that holds the true value with at least 95 % confidence. It also holds `value`.
    pub ci95: Option<[f64; 2]>,
    /// Reason why the value or the interval is null.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub missing: Option<String>,
    /// Derivation of the value from other figures, where it was not measured as such.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub derived: Option<String>,
}

impl Figure {
    /// Returns a figure without a value, for that reason.
    pub fn none(why: impl Into<String>) -> Self {
        Self { missing: Some(why.into()), ..Self::default() }
    }

    /// Returns a value without an interval, for that reason.
    pub fn alone(value: f64, why: impl Into<String>) -> Self {
        Self { value: Some(value), missing: Some(why.into()), ..Self::default() }
    }

    /// Returns the median of the figures of some of `rounds` rounds. A trial that cannot be cut is
    /// one round.
    pub fn from_rounds(values: &[f64], rounds: usize, stopped_by_interval: bool) -> Self {
        let Some(value) = median(values) else { return Self::none("no round has one") };
        match interval_of_rounds(values, rounds, stopped_by_interval) {
            Some(ci95) => Self { value: Some(value), ci95: Some(ci95), ..Self::default() },
            None => {
                let least = least_of_rounds(rounds, stopped_by_interval);
                Self::alone(value, too_few(values.len(), "round", least))
            }
        }
    }

    /// Returns all work over all time of these rounds, with an interval if they are at least
    /// `least`.
    fn delivered(unit: Unit, fixed: Fixed, rounds: &[Done], least: usize) -> Self {
        let value = delivered(unit, rounds);
        if !value.is_finite() {
            return Self::none("the rounds have no time or no work");
        }
        match interval(unit, fixed, rounds).filter(|_| rounds.len() >= least) {
            Some(ci95) => Self { value: Some(value), ci95: Some(ci95), ..Self::default() },
            None => Self::alone(value, too_few(rounds.len(), "round", least)),
        }
    }

    /// Replaces the median by this value, and widens the interval to hold it.
    fn with_value(self, value: f64) -> Self {
        if !value.is_finite() {
            return self;
        }
        let ci95 = self.ci95.map(|[low, high]| [low.min(value), high.max(value)]);
        Self { value: Some(value), ci95, ..self }
    }

    /// Returns half the interval's width as a share of the value.
    pub fn half_width(&self) -> Option<f64> {
        let [low, high] = self.ci95?;
        let share = (high - low) / 2.0 / self.value?.abs();
        share.is_finite().then_some(share)
    }
}

/// Says how many values an interval needs, and why: fewer of a fixed number than of one that the
/// interval itself decides.
fn too_few(n: usize, what: &str, least: usize) -> String {
    let are = agree(n as u64, ["is", "are"]);
    let why = match least {
        MIN_VALUES => " of a fixed number",
        least if least == LOOKS[0] => " where it decides when trials end",
        _ => "",
    };
    format!("{} {are} too few for a 95 % interval, which needs {least}{why}", counted(n, what))
}

/// Statistics of a configuration.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Summary {
    /// The kind of the figure that is put first.
    pub headline: FigureKind,
    /// The rate of the hardware when it is left alone.
    pub attainable: Figure,
    /// The rate with the gaps taken out.
    pub typical: Figure,
    /// All work divided by all time.
    pub delivered: Figure,
    /// Statistics over the trials, as published tables print them.
    pub trials: Statistics,
}

impl Summary {
    /// Returns the figure of that kind.
    pub fn figure(&self, kind: FigureKind) -> &Figure {
        match kind {
            FigureKind::Attainable => &self.attainable,
            FigureKind::Typical => &self.typical,
            FigureKind::Delivered => &self.delivered,
        }
    }

    /// Returns the headline's value; not a number where there is none.
    pub fn value(&self) -> f64 {
        self.figure(self.headline).value.unwrap_or(f64::NAN)
    }

    /// Returns the headline's interval.
    pub fn ci95(&self) -> Option<[f64; 2]> {
        self.figure(self.headline).ci95
    }

    /// Returns half the width of the headline's interval as a share of its value.
    pub fn half_width(&self) -> Option<f64> {
        self.figure(self.headline).half_width()
    }
}

impl Round {
    /// Returns the figure of that kind.
    pub fn figure(&self, kind: FigureKind) -> Option<f64> {
        match kind {
            FigureKind::Attainable => self.attainable,
            FigureKind::Typical => self.typical,
            FigureKind::Delivered => Some(self.delivered),
        }
    }
}

impl Measurement {
    /// Returns the rounds of all trials, in order.
    pub fn all_rounds(&self) -> impl Iterator<Item = &Round> {
        self.trials.iter().flat_map(|t| &t.rounds)
    }

    /// Returns true if a trial was cut into rounds.
    pub fn has_rounds(&self) -> bool {
        self.all_rounds().next().is_some()
    }

    /// Returns a predicate that is true for rounds in the headline: attainable excludes shared
    /// rounds.
    pub fn in_headline(&self) -> impl Fn(&Round) -> bool + use<> {
        let attainable =
            self.summary.as_ref().is_some_and(|s| s.headline == FigureKind::Attainable);
        let widest = widest(self.all_rounds().filter_map(|r| r.issue_width));
        move |round| !attainable || round.alone(widest)
    }
}

/// The way in which a workload's work can be cut. It decides its figures.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cut {
    /// Slices on cores, which share nothing.
    Core,
    /// Slices of threads that share caches, memory and the paths to them.
    Bus,
    /// No cut: each trial is one complete solve.
    Whole,
    /// Single operations that wait for a device. A pause may be the device's own.
    Single,
}

impl Cut {
    /// Returns the kind of the figure that is put first.
    pub fn headline(self) -> FigureKind {
        match self {
            Self::Core => FigureKind::Attainable,
            Self::Bus | Self::Whole => FigureKind::Typical,
            Self::Single => FigureKind::Delivered,
        }
    }

    /// Returns true if a trial is cut into slices.
    pub fn has_slices(self) -> bool {
        matches!(self, Self::Core | Self::Bus)
    }
}

/// Minimum seconds of clean windows, on the core with the fewest.
pub const CLEAN_S: f64 = 0.02;

/// Minimum rounds that must have seen the widest core, or the upper state of a bus to within a
/// share of it.
const SEEN_ROUNDS: usize = 3;
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

#[cfg(test)]
mod tests;
