//! A figure of a result in two runs, and what its ratio shows.

use std::cmp::Ordering;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Better, Comparability, FigureKind, Ratio, format_factor, format_percent};

/// A figure of a result in both runs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ComparedFigure {
    /// B / A of the two figures, which reports print.
    pub value: f64,
    /// B / A: the median over all pairs of a round of A and one of B; without rounds, of trials.
    /// The 95 % interval is null for too few. Of several runs it is the ratio of their geometric
    /// means. Where the variation between runs is known, the interval has it, for all figures of the
    /// comparison together. It decides; if `value` is outside it and leads to
    /// another conclusion, the outcome is undecided.
    pub ratio: Ratio,
    /// Ratios from 1 - margin to 1 / (1 - margin) are no difference.
    pub margin: f64,
    /// True if the user gave the margin. Else two runs of one machine differ as much.
    #[serde(default)]
    pub margin_given: bool,
    /// How it varies between runs, which is part of the interval; left out where that is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub between_runs: Option<ComparedRuns>,
    /// Smallest detectable slowdown of B, as a share; null where it is not comparable.
    pub resolution: Option<f64>,
    /// The conclusion.
    pub outcome: Comparability,
}

/// How a figure varies between runs of the two machines.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ComparedRuns {
    /// Number of runs of A and of B that have the figure.
    pub runs: [u64; 2],
    /// Number of earlier runs of A and of B that the history had before the first of these.
    pub earlier: [u64; 2],
    /// Standard deviation of one run about the level of its time, as a share: the larger of both.
    pub deviation: f64,
    /// Number of runs of each, alternating, that would show a difference as large as this one; null where
    /// one is shown, or it is within the margin.
    pub needs: Option<u64>,
}

impl ComparedRuns {
    /// Returns the number of runs that would show the difference, in words; `None` where it is shown,
    /// or too small to count.
    pub fn needed(&self) -> Option<String> {
        let n = self.needs?;
        Some(format!("about {n} alternating runs of each would show a difference of this size"))
    }
}

/// A ratio contradicts an interval only if it lies outside by more than this share: reports print
/// three digits.
const PRINTED: f64 = 0.005;

/// Returns true if a ratio of two figures contradicts the interval of the ratios of their rounds.
pub fn contradicts(value: f64, [low, high]: [f64; 2]) -> bool {
    value < low * (1.0 - PRINTED) || value > high * (1.0 + PRINTED)
}

/// Returns the smallest and the largest ratio within the margin: a speed lower by the margin, and
/// the same for the other side.
pub fn margin_bounds(margin: f64) -> [f64; 2] {
    [1.0 - margin, 1.0 / (1.0 - margin)]
}

impl ComparedFigure {
    /// Returns true if the ratio of the figures is outside the interval of their rounds, or of so
    /// few rounds that there is none.
    pub fn is_contradicted(&self) -> bool {
        let outside = |ends| contradicts(self.value, ends);
        let is_open = self.outcome == Comparability::Undecided && !self.has_too_few_runs();
        is_open || self.ratio.ci95.is_some_and(outside)
    }

    /// Returns true if it is undecided since there are too few runs.
    pub fn has_too_few_runs(&self) -> bool {
        let several = |r: &ComparedRuns| r.runs.iter().any(|n| *n > 1);
        self.outcome == Comparability::Undecided && self.between_runs.as_ref().is_some_and(several)
    }

    /// Returns the margin with its source.
    pub fn margin(&self) -> Margin {
        Margin::new(self.margin, self.margin_given, self.between_runs.is_some())
    }

    /// Returns what the interval says, where no difference is shown; `None` elsewhere.
    pub fn leaning(&self, better: Better) -> Option<Leaning> {
        let is_open = self.outcome == Comparability::NoDifferenceShown;
        is_open.then(|| Leaning::read(better, self.ratio.ci95, self.margin))
    }

    /// Returns true if it is not comparable since there are too few rounds or trials.
    pub fn has_too_few(&self) -> bool {
        self.outcome == Comparability::NotComparable && self.ratio.ci95.is_none()
    }
}

impl PerPrice {
    /// Returns what the interval says, where no difference is shown; `None` elsewhere. More work for
    /// the money is better.
    pub fn leaning(&self) -> Option<Leaning> {
        self.compared.leaning(Better::Higher)
    }
}

/// The side to which B differs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Toward {
    /// B is worse than A.
    Slower,
    /// B is better than A.
    Faster,
}

impl Toward {
    /// Returns the word that reports print.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Slower => Comparability::Slower.as_str(),
            Self::Faster => Comparability::Faster.as_str(),
        }
    }
}

/// What the interval of B / A says where no difference is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Leaning {
    /// All of it is on one side of 1, and within the margin: too little to count.
    WithinMargin(Toward),
    /// All of it is on one side of 1, and it reaches beyond the margin: B is perhaps slower or
    /// faster.
    Perhaps(Toward),
    /// It contains 1 and is within the margin.
    Alike,
    /// It contains 1 and reaches beyond the margin: a difference is possible.
    Possible,
    /// There is no interval.
    TooFew,
}

impl Leaning {
    /// Reads an interval of ratios.
    pub fn read(better: Better, ci95: Option<[f64; 2]>, margin: f64) -> Self {
        let Some(ends) = ci95 else { return Self::TooFew };
        let toward = side_of_1(ends).map(|side| match side.is_gt() == (better == Better::Higher) {
            true => Toward::Faster,
            false => Toward::Slower,
        });
        match (toward, is_within(ends, margin)) {
            (Some(toward), true) => Self::WithinMargin(toward),
            (Some(toward), false) => Self::Perhaps(toward),
            (None, true) => Self::Alike,
            (None, false) => Self::Possible,
        }
    }

    /// Returns true if the whole interval is within the margin, so that the two are alike.
    pub fn is_within_margin(self) -> bool {
        matches!(self, Self::WithinMargin(_) | Self::Alike)
    }

    /// Returns the side of 1 on which the whole interval is; `None` if it contains 1.
    pub fn toward(self) -> Option<Toward> {
        match self {
            Self::WithinMargin(toward) | Self::Perhaps(toward) => Some(toward),
            Self::Alike | Self::Possible | Self::TooFew => None,
        }
    }

    /// Returns why no difference is shown.
    pub fn why(self, better: Better, margin: Margin) -> String {
        let of = format_percent(margin.share);
        // A speed lower by a third is a ratio of 0.667, or of 1.50 for a time.
        let [least, most] = margin_bounds(margin.share);
        let (side, bound) = match self.toward() {
            Some(toward) if (toward == Toward::Faster) == (better == Better::Higher) => {
                ("above 1", most)
            }
            _ => ("below 1", least),
        };
        let bound = format!("the margin of {of} (a ratio of {})", format_factor(bound));
        match self {
            Self::TooFew => "too few trials for an interval".to_owned(),
            Self::Alike => format!("the interval contains 1 and is within the margin of {of}"),
            Self::Possible => format!(
                "the interval contains 1 and reaches beyond the margin of {of}: a difference is \
                 possible"
            ),
            Self::WithinMargin(_) => {
                let why = match margin.source {
                    MarginSource::Given => " that was given",
                    MarginSource::Least => ": too little to count",
                    MarginSource::Runs => ": two runs of one machine differ as much",
                };
                format!("the whole interval is {side}, but within {bound}{why}")
            }
            Self::Perhaps(toward) => format!(
                "the whole interval is {side}, but not beyond {bound}: perhaps {}",
                toward.as_str()
            ),
        }
    }
}

/// A margin, and its source.
#[derive(Debug, Clone, Copy)]
pub struct Margin {
    /// The margin as a share.
    pub share: f64,
    /// Where it is from.
    pub source: MarginSource,
}

/// Margin where the interval has the variation between runs: less is too little to count.
pub const LEAST_MARGIN: f64 = 0.02;

impl Margin {
    /// Returns a margin; `has_runs` if the interval has the variation between runs.
    pub fn new(share: f64, is_given: bool, has_runs: bool) -> Self {
        let source = match () {
            () if is_given => MarginSource::Given,
            () if has_runs && share <= LEAST_MARGIN => MarginSource::Least,
            () => MarginSource::Runs,
        };
        Self { share, source }
    }
}

/// Where a margin is from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MarginSource {
    /// The user gave it (`--margin`).
    Given,
    /// It is [`LEAST_MARGIN`].
    Least,
    /// What is known of the variation between runs of any machine.
    Runs,
}

fn is_within([low, high]: [f64; 2], margin: f64) -> bool {
    let [least, most] = margin_bounds(margin);
    least <= low && high <= most
}

/// Returns the side of 1 on which a whole interval is; `None` if it contains 1.
fn side_of_1([low, high]: [f64; 2]) -> Option<Ordering> {
    match () {
        () if high < 1.0 => Some(Ordering::Less),
        () if low > 1.0 => Some(Ordering::Greater),
        () => None,
    }
}

/// A rate divided by the price of the machine for an hour.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PerPrice {
    /// Kind of the figure: delivered where both have it.
    pub figure: FigureKind,
    /// The figure of A per unit of money.
    pub a: f64,
    /// The figure of B per unit of money.
    pub b: f64,
    /// B / A of the two, judged as a figure is.
    #[serde(flatten)]
    pub compared: ComparedFigure,
}
