//! A comparison of two runs.

use std::borrow::Cow;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    Better, ComparedFigure, Decision, FigureKind, Leaning, Params, PerPrice, Subsystem, Summary,
    Timestamp, Toward, Unit, Verdict,
};

/// Version of a comparison's shape.
pub const COMPARISON_SCHEMA: &str = "proofmark.comparison/3";

/// The results of two runs, configuration by configuration.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Comparison {
    /// Always [`COMPARISON_SCHEMA`].
    pub schema: Cow<'static, str>,
    /// The baseline.
    pub a: Side,
    /// The run that is compared with it.
    pub b: Side,
    /// The comparison in one sentence: for each subsystem what B delivers of A's main results.
    pub sentence: String,
    /// What the intervals say of the variation between runs, and how often they mislead.
    #[serde(default)]
    pub between_runs: String,
    /// Differences of the machines, programs and plans, as far as they may matter.
    pub differences: Vec<Difference>,
    /// The outcomes of each subsystem that either run measured.
    pub subsystems: Vec<ComparedSubsystem>,
    /// Every result of both runs, in the order of A, then those of B alone. Of instruction sets that
    /// one machine lacks, only the best of each. Then the mean of each subsystem, where the variation
    /// between runs is known.
    pub points: Vec<ComparedPoint>,
}

/// One of the two runs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Side {
    /// The letter by which texts name the run: A for the baseline.
    pub letter: char,
    /// Path of the run.
    pub name: String,
    /// Start time.
    pub started: Timestamp,
    /// Several runs that were taken as one; left out for one run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub group: Option<RunsSpan>,
    /// Version of the program that made the run.
    pub version: String,
    /// The user's name for the machine or the run (`--label`); left out without one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    /// The machine in a few words.
    pub machine: String,
    /// Name of the profile.
    pub profile: String,
    /// Price of the machine; left out where none was given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub price: Option<Price>,
}

/// The runs of one side.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RunsSpan {
    /// Number of runs.
    pub runs: u64,
    /// Start of the first one.
    pub first: Timestamp,
    /// Start of the last one.
    pub last: Timestamp,
}

/// The price of a machine.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Price {
    /// Amount per hour; above 0.
    pub per_hour: f64,
    /// Sign or code of the currency; empty where none was given.
    pub currency: String,
}

impl Price {
    /// Returns the unit that the amount is in: `1 $/h`, or `1/h` without a currency.
    pub fn unit(&self) -> String {
        match self.currency.as_str() {
            "" => "1/h".to_owned(),
            currency => format!("1 {currency}/h"),
        }
    }
}

/// A fact that the two runs do not share.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Difference {
    /// The name of the fact, such as `CPU` or `workload`.
    pub what: String,
    /// The value in A.
    pub a: String,
    /// The value in B.
    pub b: String,
}

/// The outcomes of a subsystem's results.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ComparedSubsystem {
    /// Part of the machine.
    pub subsystem: Subsystem,
    /// The margin that each of its results has at least.
    pub margin: f64,
    /// Smallest detectable slowdown of B's headline figures, as a share: the median over the results
    /// that could be judged. Null where none could.
    pub resolution: Option<f64>,
    /// The same of their delivered figures; null where no headline has another beside it.
    pub delivered_resolution: Option<f64>,
    /// Number of results in which B is faster.
    pub faster: u64,
    /// Number of results in which B is slower.
    pub slower: u64,
    /// Number of results without a difference that is shown.
    pub no_difference_shown: u64,
    /// Number of results of which a figure is undecided, and none slower.
    pub undecided: u64,
    /// Number of results that cannot be compared, apart from those that are gone or not measured.
    pub not_comparable: u64,
    /// Number of results that are usable in A and left out in B for its time limit.
    #[serde(default)]
    pub not_measured: u64,
    /// Number of other results that are usable in A and not in B.
    pub gone: u64,
}

/// One result in both runs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ComparedPoint {
    /// Workload id.
    pub workload: String,
    /// Parameters that distinguish it from the other results of its workload, in words; empty for
    /// an only result.
    pub name: String,
    /// Its title with what A and B share, such as `FP peak, 2 CPUs, avx2`: that of the row on A's first
    /// screen, else that of the workload.
    pub title: String,
    /// The row of A's first screen that it fills, from 0; left out where it fills none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub main_row: Option<usize>,
    /// Part of the machine.
    pub subsystem: Subsystem,
    /// Every parameter.
    pub params: Params,
    /// Base unit.
    pub unit: Unit,
    /// True if the order is random: reports count such disk I/O in operations per second.
    #[serde(default)]
    pub random: bool,
    /// The better direction.
    pub better: Better,
    /// The figure in A; null where A has none.
    pub a: Option<Number>,
    /// The figure in B; null where B has none.
    pub b: Option<Number>,
    /// The kind of `headline`: the headline of both where their rounds have it. Null where there is
    /// no ratio.
    pub figure: Option<FigureKind>,
    /// B / A of that figure; null where there is no ratio.
    pub headline: Option<ComparedFigure>,
    /// The delivered figure, which includes the time that other processes or the hypervisor took;
    /// null where `figure` is delivered, and without rounds.
    pub delivered: Option<ComparedFigure>,
    /// Number of results whose geometric mean this is, each run being one value; left out for a single
    /// result. The workload is then the subsystem, rates count as they are, and times inverted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mean_of: Option<u64>,
    /// The best instruction set of A and that of B, where the machines have different ones. Left
    /// out where both used the same.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub best_of_each: Option<[String; 2]>,
    /// The numbers of usable CPUs of A and of B, where they differ and the results are on all of each.
    /// Left out elsewhere.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub all_cpus: Option<[u64; 2]>,
    /// Percentiles of the times of single operations, where both runs have them. They are not
    /// judged.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub percentiles: Vec<ComparedPercentile>,
    /// The figures per unit of money, where both machines have a price and the result is a rate.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub per_price: Option<PerPrice>,
    /// When B's time limit left out a result that A has; left out of the file where it did not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub left_out: Option<LeftOut>,
    /// The checks that found what others did to B, such as `other_cpu`, where that alone is known to have
    /// made it slower. Such a result fails no check, and passes none. Left out where it is empty.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub disturbances: Vec<String>,
    /// The reason, in a sentence: the cause of a difference as far as findings name it, or why the
    /// two cannot be compared.
    pub reason: String,
}

/// When the time limit of a run left a result out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum LeftOut {
    /// Before the run: its plan did not fit into the time.
    Plan,
    /// During the run: it was planned, and no time was left. It may be the result that became slow.
    Run,
}

/// A percentile of the times of single operations in both runs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ComparedPercentile {
    /// `p50` or `p99`.
    pub percentile: String,
    /// The time in A, in seconds.
    pub a: f64,
    /// The time in B, in seconds.
    pub b: f64,
    /// B / A of the two.
    pub value: f64,
}

impl ComparedPoint {
    /// Returns true if it is on A's first screen.
    pub fn is_main(&self) -> bool {
        self.main_row.is_some()
    }

    /// Returns the figure that decides, with its kind. It is delivered if that alone has the outcome
    /// of both, or if both differ; else the headline. `None` without a ratio.
    pub fn deciding(&self) -> Option<(FigureKind, &ComparedFigure)> {
        let change = self.change();
        let is_alone = change.differs() || self.outcome() != change;
        match self.delivered.as_ref().filter(|d| d.outcome == change && is_alone) {
            Some(figure) => Some((FigureKind::Delivered, figure)),
            None => Some((self.figure?, self.headline.as_ref()?)),
        }
    }

    /// Returns the outcome of the headline.
    pub fn outcome(&self) -> Comparability {
        self.headline.as_ref().map_or(Comparability::NotComparable, |h| h.outcome)
    }

    /// Returns the outcome of the headline and the delivered figure together: the first of
    /// [`Comparability::BY_WEIGHT`] that one of them has.
    pub fn change(&self) -> Comparability {
        let delivered = self.delivered.as_ref().map(|d| d.outcome);
        let headline = self.outcome();
        let either = |outcome: &Comparability| headline == *outcome || delivered == Some(*outcome);
        Comparability::BY_WEIGHT.into_iter().find(either).unwrap_or(headline)
    }

    /// Returns that it is perhaps slower, or else perhaps faster, without a shown difference.
    pub fn perhaps(&self) -> Option<Toward> {
        let figures = || self.headline.iter().chain(&self.delivered);
        let is = |toward: &Toward| {
            figures().any(|f| f.leaning(self.better) == Some(Leaning::Perhaps(*toward)))
        };
        let is_open = self.change() == Comparability::NoDifferenceShown;
        [Toward::Slower, Toward::Faster].into_iter().filter(|_| is_open).find(is)
    }

    /// Returns true if A has a usable result.
    pub fn in_base(&self) -> bool {
        counts(self.a.as_ref())
    }

    /// Returns true if A has a usable result and B has none, other than for its time limit.
    pub fn gone(&self) -> bool {
        self.in_base() && !counts(self.b.as_ref()) && self.left_out.is_none()
    }

    /// Returns true if A has a usable result that B's time limit left out.
    pub fn is_left_out(&self) -> bool {
        self.in_base() && self.left_out.is_some()
    }

    /// Returns true if the comparison found B faster, slower or not different, by both figures.
    pub fn judged(&self) -> bool {
        !matches!(self.change(), Comparability::NotComparable | Comparability::Undecided)
    }

    /// Returns true if a figure of the two is undecided, and none slower.
    pub fn undecided(&self) -> bool {
        self.change() == Comparability::Undecided
    }

    /// Returns true if the two cannot be compared, apart from a result that is gone or left out.
    pub fn not_comparable(&self) -> bool {
        self.change() == Comparability::NotComparable && !self.gone() && !self.is_left_out()
    }

    /// Returns true if B is slower, and a disturbance by others is why: the machine may be as fast.
    pub fn disturbed(&self) -> bool {
        self.change() == Comparability::Slower && !self.disturbances.is_empty()
    }

    /// Returns true if a check cannot pass without it: a figure is undecided, others disturbed it, or
    /// the run had no time left for it.
    pub fn leaves_open(&self) -> bool {
        let no_time = self.is_left_out() && self.left_out == Some(LeftOut::Run);
        self.undecided() || self.disturbed() || no_time
    }

    /// Returns true if B is slower, whatever the reason, or its result is gone.
    pub fn is_worse(&self) -> bool {
        self.change() == Comparability::Slower || self.gone()
    }

    /// Returns true if it fails a check against A: B is slower, not only by a disturbance, or its
    /// result is gone.
    pub fn fails(&self) -> bool {
        self.is_worse() && !self.disturbed()
    }
}

fn counts(number: Option<&Number>) -> bool {
    number.is_some_and(|n| n.verdict.is_usable())
}

impl Comparison {
    /// Returns why a check has too few results to decide: A has no usable result, or less than half
    /// of them could be judged. `None` if there are enough.
    pub fn too_little(&self) -> Option<String> {
        let base: Vec<&ComparedPoint> = self.points.iter().filter(|p| p.in_base()).collect();
        let judged = base.iter().filter(|p| p.judged()).count();
        if base.is_empty() {
            return Some(
                "the baseline has no usable result (all are invalid or missing)".to_owned(),
            );
        }
        let left_out = base.iter().filter(|p| p.is_left_out()).count();
        let by_time = match left_out {
            0 => String::new(),
            n => format!("; the time limit of {} left out {n}", self.b.letter),
        };
        (2 * judged < base.len()).then(|| {
            let all = base.len();
            format!(
                "only {judged} of {all} results of the baseline could be judged, less than half{by_time}"
            )
        })
    }

    /// Returns the conclusion of a check of B against A. It is missed if a result is slower or gone;
    /// else undecided if a result is, if others made one slower, if the run had no time left for one,
    /// or if too few could be judged. What its plan left out beforehand is not judged.
    pub fn decision(&self) -> Decision {
        match () {
            () if self.points.iter().any(ComparedPoint::fails) => Decision::Missed,
            () if self.too_little().is_some() => Decision::Undecided,
            () if self.points.iter().any(ComparedPoint::leaves_open) => Decision::Undecided,
            () => Decision::Met,
        }
    }
}

/// Returns the JSON schema of a comparison.
pub fn comparison_schema() -> schemars::Schema {
    schemars::schema_for!(Comparison)
}

/// The part of a measurement that a comparison needs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Number {
    /// Statistics over the trials.
    pub summary: Summary,
    /// The verdict of its checks.
    pub verdict: Verdict,
}

/// The outcome of a comparison of two results.
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
    /// The ratio of the two figures and the interval of the ratios of their rounds lead to different
    /// conclusions.
    Undecided,
    /// The two results cannot be compared.
    NotComparable,
}

impl Comparability {
    /// The outcomes by their weight for a result of two figures: what fails a check, what is not
    /// known and so may be slower, what is better, and what is alike.
    pub const BY_WEIGHT: [Self; 5] =
        [Self::Slower, Self::Undecided, Self::NotComparable, Self::Faster, Self::NoDifferenceShown];

    /// Returns true if a difference is shown.
    pub fn differs(self) -> bool {
        matches!(self, Self::Faster | Self::Slower)
    }

    /// Returns the words that reports print.
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
