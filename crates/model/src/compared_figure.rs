//! A figure of a result in two runs, and what its ratio shows.

use std::cmp::Ordering;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Comparability, FigureKind, Ratio, format_percent};

/// A figure of a result in both runs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ComparedFigure {
    /// B / A of the two figures, which reports print.
    pub value: f64,
    /// B / A: the median over all pairs of a round of A and one of B; without rounds, of trials.
    /// The 95 % interval is null for too few. It decides; if `value` is outside it and leads to
    /// another conclusion, the outcome is undecided.
    pub ratio: Ratio,
    /// Ratios from 1 - margin to 1 / (1 - margin) are no difference: two runs of one machine differ
    /// as much.
    pub margin: f64,
    /// Smallest detectable slowdown of B, as a share; null where it is not comparable.
    pub resolution: Option<f64>,
    /// The conclusion.
    pub outcome: Comparability,
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
        self.outcome == Comparability::Undecided || self.ratio.ci95.is_some_and(outside)
    }

    /// Returns the interval, where no difference is shown.
    fn open_interval(&self) -> Option<[f64; 2]> {
        self.ratio.ci95.filter(|_| self.outcome == Comparability::NoDifferenceShown)
    }

    /// Returns true if the whole interval is within the margin, so that the two are alike.
    pub fn is_within_margin(&self) -> bool {
        self.open_interval().is_some_and(|ends| is_within(ends, self.margin))
    }

    /// Returns the side of 1 on which the whole interval is, where no difference is shown: B is
    /// lower or higher, but not beyond what two runs of one machine differ by.
    pub fn leans(&self) -> Option<Ordering> {
        self.open_interval().and_then(side_of_1)
    }
}

impl PerPrice {
    /// Returns the side of 1 on which the whole interval is, where no difference is shown.
    pub fn leans(&self) -> Option<Ordering> {
        self.ci95.filter(|_| !self.outcome.differs()).and_then(side_of_1)
    }

    /// Returns true if the interval decides: it is beyond the margin, within it, or on one side of
    /// 1.
    pub fn is_decided(&self) -> bool {
        let decides = |ends| is_within(ends, self.margin) || side_of_1(ends).is_some();
        self.outcome.differs() || self.ci95.is_some_and(decides)
    }
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

/// Returns why an interval shows no difference.
pub fn why_none_shown(ends: [f64; 2], margin: f64) -> String {
    let of = format_percent(margin);
    let side = match side_of_1(ends) {
        Some(Ordering::Less) => "below 1",
        _ => "above 1",
    };
    match (side_of_1(ends).is_some(), is_within(ends, margin)) {
        (false, true) => format!("the interval contains 1 and is within the margin of {of}"),
        (false, false) => format!(
            "the interval contains 1 and reaches beyond the margin of {of}: a difference is possible"
        ),
        (true, true) => format!(
            "the whole interval is {side}, but within the margin of {of}: two runs of one machine \
             differ as much"
        ),
        (true, false) => format!(
            "the whole interval is {side}, but not beyond the margin of {of}: a difference is \
             possible"
        ),
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
    /// B / A of the two.
    pub value: f64,
    /// The 95 % interval of B / A; null where the figures have none.
    pub ci95: Option<[f64; 2]>,
    /// The margin of the figure.
    pub margin: f64,
    /// The conclusion from the ratios per unit of money.
    pub outcome: Comparability,
}
