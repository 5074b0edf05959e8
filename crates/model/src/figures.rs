//! The three figures of a configuration, from its rounds: attainable, typical and delivered
//! (defined at [`FigureKind`]). The first two are the median of the rounds' figures, with intervals
//! by order statistics over the rounds. The third is a ratio of sums (`delivered`).
//!
//! The number of rounds depends on the interval, so the ranks at 12 rounds are wider than those of
//! a single look. The interval misses the median at any of the three looks with at most
//! 0.8 % + 0.6 % + 4.1 %, for exchangeable rounds of any distribution.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::delivered::{Done, Fixed, delivered, interval, slow_end_of_equal};
use crate::statistics::{MIN_VALUES, median};
use crate::{Better, Measurement, Round, Statistics, Unit, agree, counted};
pub use looks::LOOKS;
use looks::{interval_of_rounds, least_of_rounds};
pub use shared::{is_alone, widest};
pub use summarise::{CLEAN_S, summarise_trials};

mod looks;
mod shared;
mod summarise;

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
                let few = match values.len() {
                    n if n == rounds => too_few(n, "round", least),
                    n => too_few_have_it(n, rounds, least),
                };
                Self::alone(value, few)
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

/// Says how many values an interval needs: fewer of a fixed number than of one that the interval
/// itself decides.
fn too_few(n: usize, what: &str, least: usize) -> String {
    let is = agree(n as u64, ["is", "are"]);
    format!("{} {is} too few {}", counted(n as u64, what), for_interval(least))
}

/// [`too_few`] where only `n` of `rounds` rounds have the figure.
fn too_few_have_it(n: usize, rounds: usize, least: usize) -> String {
    let (all, has) = (counted(rounds as u64, "round"), agree(n as u64, ["has", "have"]));
    format!("{n} of {all} {has} this figure, too few {}", for_interval(least))
}

fn for_interval(least: usize) -> String {
    let fixed = if least == MIN_VALUES { " of a fixed number" } else { "" };
    format!("for a 95 % interval, which needs {least}{fixed}")
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

    /// Returns delivered as a share of the figure of that kind, below 1 if it is slower; `None`
    /// where either is missing.
    pub fn delivered_share(&self, kind: FigureKind, better: Better) -> Option<f64> {
        let share = self.delivered.value? / self.figure(kind).value?;
        // A delivered time is longer than the attainable one.
        let share = if better == Better::Lower { share.recip() } else { share };
        Some(share).filter(|share| share.is_finite() && *share >= 0.0)
    }

    /// Returns that share where it is so small that a reader must see it.
    pub fn small_delivered_share(&self, kind: FigureKind, better: Better) -> Option<f64> {
        self.delivered_share(kind, better).filter(|share| *share < NEARLY_ALL)
    }
}

/// Share of a figure from which on delivered is nearly all of it.
const NEARLY_ALL: f64 = 0.95;

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
            Self::Bus => FigureKind::Typical,
            // A complete solve cannot leave out time that was taken from its threads.
            Self::Whole | Self::Single => FigureKind::Delivered,
        }
    }

    /// Returns half the width of the headline's interval, as a share of its value, if so many trials
    /// are all equal.
    pub fn half_width_of_equal(self, trials: usize) -> f64 {
        if self.has_slices() { 0.0 } else { (1.0 - slow_end_of_equal(trials)) / 2.0 }
    }

    /// Returns the smallest number of trials whose result is not coarse if they are all equal: the ends
    /// of the interval differ from the figure by at most `coarse_from`.
    pub fn trials_for_precision(self, coarse_from: f64) -> usize {
        let precise = |n: &usize| 1.0 / slow_end_of_equal(*n) - 1.0 <= coarse_from;
        match self {
            Self::Single => (MIN_VALUES..MOST_TRIALS).find(precise).unwrap_or(MOST_TRIALS),
            // Medians of slices agree, and the range of complete solves counts.
            Self::Core | Self::Bus | Self::Whole => MIN_VALUES,
        }
    }

    /// Returns true if a trial is cut into slices.
    pub fn has_slices(self) -> bool {
        matches!(self, Self::Core | Self::Bus)
    }
}

/// Number of trials beyond which none is looked for.
const MOST_TRIALS: usize = 1000;

#[cfg(test)]
mod tests;
