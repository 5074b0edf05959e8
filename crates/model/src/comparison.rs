//! Two runs side by side.

use std::borrow::Cow;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Better, FigureKind, Params, Ratio, Subsystem, Summary, Timestamp, Unit, Verdict};

/// Version of a comparison's shape.
pub const COMPARISON_SCHEMA: &str = "proofmark.comparison/3";

/// What two runs measured, point by point.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Comparison {
    /// Always [`COMPARISON_SCHEMA`].
    pub schema: Cow<'static, str>,
    /// The baseline.
    pub a: Side,
    /// The run that is compared with it.
    pub b: Side,
    /// What differs between the two machines, programs and plans, as far as it may matter.
    pub differences: Vec<Difference>,
    /// What the points of each subsystem add up to, for those that either run measured.
    pub subsystems: Vec<ComparedSubsystem>,
    /// Every point of both runs, in the order of A, then what only B has.
    pub points: Vec<ComparedPoint>,
}

/// One of the two runs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Side {
    /// Where it was read.
    pub name: String,
    /// When it began.
    pub started: Timestamp,
    /// Version of the program that made it.
    pub version: String,
    /// The machine in a few words.
    pub machine: String,
    /// Name of its profile.
    pub profile: String,
}

/// A fact that the two runs do not share.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Difference {
    /// What it is, such as `CPU` or `workload`.
    pub what: String,
    /// In A.
    pub a: String,
    /// In B.
    pub b: String,
}

/// What the points of a subsystem add up to.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ComparedSubsystem {
    /// Part of the machine.
    pub subsystem: Subsystem,
    /// How fast B is as a multiple of A: the median of the points' ratios, those of times turned
    /// over, with its interval over the points (null for fewer than 6); null where no point has one.
    pub speed: Option<Ratio>,
    /// Margin that every point of it has at the least.
    pub margin: f64,
    /// What could have been seen: by so great a share B had to be slower for the point in the
    /// middle to show it; null where no point could be judged.
    pub resolution: Option<f64>,
    /// Points in which B is faster.
    pub faster: u64,
    /// Points in which B is slower.
    pub slower: u64,
    /// Points without a difference that is shown.
    pub no_difference_shown: u64,
    /// Points whose figures and whose rounds say different things.
    pub undecided: u64,
    /// Points that cannot be compared, those that are gone left out.
    pub not_comparable: u64,
    /// Points for which A has a number that counts and B has none.
    pub gone: u64,
}

/// One point in both runs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ComparedPoint {
    /// Workload id.
    pub workload: String,
    /// Parameters that distinguish it from the other points of its workload, in words; empty for
    /// an only point.
    pub name: String,
    /// Its row on A's first screen; left out where it has no declared row.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub row: Option<ComparedRow>,
    /// Part of the machine.
    pub subsystem: Subsystem,
    /// Every parameter.
    pub params: Params,
    /// Base unit.
    pub unit: Unit,
    /// Whether its order is random: reports count such I/O of a disk in operations per second.
    #[serde(default)]
    pub random: bool,
    /// Which direction is good.
    pub better: Better,
    /// In A; null where A has no number for it.
    pub a: Option<Number>,
    /// In B; null where B has no number for it.
    pub b: Option<Number>,
    /// Which figure `headline` is: the headline of both where their rounds have it. Null where there
    /// is no ratio.
    pub figure: Option<FigureKind>,
    /// B / A of that figure; null where there is no ratio.
    pub headline: Option<ComparedFigure>,
    /// The delivered figure, which also shows what others took; null where `figure` is delivered,
    /// and without rounds.
    pub delivered: Option<ComparedFigure>,
    /// Why, in a sentence: the cause of a difference as far as the findings know it, or what
    /// keeps the two from being compared.
    pub reason: String,
}

/// A row of A's first screen.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ComparedRow {
    /// Its place among all rows, from 0.
    pub place: usize,
    /// `FP peak, 2 CPUs, avx2`.
    pub title: String,
}

/// A figure of a point in both runs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ComparedFigure {
    /// B / A of the two figures themselves, which reports print.
    pub value: f64,
    /// B / A: the median over all pairs of a round (without rounds, a trial) of A and one of B,
    /// with its 95 % interval, null for too few. The interval decides; where it does not hold `value`,
    /// the outcome is undecided.
    pub ratio: Ratio,
    /// Ratios from 1 - margin to 1 / (1 - margin) say nothing: two runs of one machine differ as
    /// much.
    pub margin: f64,
    /// Smallest slowdown of B, as a share, that it can show; null where it shows nothing.
    pub resolution: Option<f64>,
    /// What follows.
    pub outcome: Comparability,
}

/// A ratio that lies outside an interval by no more than this share does not contradict it: reports
/// print three digits.
const PRINTED: f64 = 0.005;

/// Whether a ratio of two figures contradicts the interval of the ratio of what they were made of.
pub fn contradicts(value: f64, [low, high]: [f64; 2]) -> bool {
    value < low * (1.0 - PRINTED) || value > high * (1.0 + PRINTED)
}

impl ComparedPoint {
    /// What follows of the headline.
    pub fn outcome(&self) -> Comparability {
        self.headline.as_ref().map_or(Comparability::NotComparable, |h| h.outcome)
    }

    /// Slower if the headline or the delivered figure is, else faster if one of them is.
    pub fn change(&self) -> Comparability {
        let delivered = self.delivered.as_ref().map(|d| d.outcome);
        let headline = self.outcome();
        let either = |outcome| headline == outcome || delivered == Some(outcome);
        [Comparability::Slower, Comparability::Faster]
            .into_iter()
            .find(|outcome| either(*outcome))
            .unwrap_or(headline)
    }

    /// Whether A has a number that counts.
    pub fn in_base(&self) -> bool {
        counts(self.a.as_ref())
    }

    /// Whether A has a number that counts and B has none.
    pub fn gone(&self) -> bool {
        self.in_base() && !counts(self.b.as_ref())
    }

    /// Whether the comparison says that B is faster, slower, or neither.
    pub fn judged(&self) -> bool {
        !matches!(self.change(), Comparability::NotComparable | Comparability::Undecided)
    }

    /// Whether the figures and the rounds of the two contradict each other.
    pub fn undecided(&self) -> bool {
        self.change() == Comparability::Undecided
    }

    /// Whether the two cannot be compared, those that are gone left out.
    pub fn not_comparable(&self) -> bool {
        self.change() == Comparability::NotComparable && !self.gone()
    }

    /// Whether it fails a check against A: B is slower, or its number is gone.
    pub fn fails(&self) -> bool {
        self.change() == Comparability::Slower || self.gone()
    }
}

fn counts(number: Option<&Number>) -> bool {
    number.is_some_and(|n| n.verdict.is_usable())
}

impl Comparison {
    /// Why a check has too little to go by, whatever was judged: A has no usable result, or
    /// less than half of those that it has could be judged. `None` where there is enough.
    pub fn too_little(&self) -> Option<String> {
        let base: Vec<&ComparedPoint> = self.points.iter().filter(|p| p.in_base()).collect();
        let judged = base.iter().filter(|p| p.judged()).count();
        if base.is_empty() {
            return Some(
                "the baseline has no usable result (all are invalid or missing)".to_owned(),
            );
        }
        (2 * judged < base.len()).then(|| {
            format!(
                "only {judged} of {} results of the baseline could be judged, less than half",
                base.len()
            )
        })
    }

    /// Whether it fails a check of B against A.
    pub fn fails(&self) -> bool {
        self.too_little().is_some() || self.points.iter().any(ComparedPoint::fails)
    }
}

/// The JSON schema of a comparison.
pub fn comparison_schema() -> schemars::Schema {
    schemars::schema_for!(Comparison)
}

/// A measurement as far as a comparison needs it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Number {
    /// Statistics over the trials.
    pub summary: Summary,
    /// What its checks made of it.
    pub verdict: Verdict,
}

/// What a comparison says of a point.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Comparability {
    /// B is better than A by more than chance and the margin explain.
    Faster,
    /// B is worse than A by more than chance and the margin explain.
    Slower,
    /// Chance or the margin may explain it.
    NoDifferenceShown,
    /// The ratio of the two figures lies outside the interval of the ratios of their rounds.
    Undecided,
    /// The two results cannot be compared.
    NotComparable,
}

impl Comparability {
    /// Whether a difference is shown.
    pub fn differs(self) -> bool {
        matches!(self, Self::Faster | Self::Slower)
    }

    /// The words that are printed.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Faster => "faster",
            Self::Slower => "slower",
            Self::NoDifferenceShown => "no difference shown",
            Self::Undecided => "undecided",
            Self::NotComparable => "not comparable",
        }
    }
}
