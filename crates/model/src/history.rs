//! What is kept of past runs: as much as lists, charts and comparisons over time need. The run
//! file itself stays where it is.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Better, FigureKind, Params, Timestamp, Unit, Verdict, VerdictCounts};

/// A past run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PastRun {
    /// Number in the store.
    pub id: i64,
    /// When it began.
    pub started: Timestamp,
    /// When it ended; null if it never did.
    pub ended: Option<Timestamp>,
    /// The machine's own name; null for a run that was added from its file, which does not have it.
    pub host: Option<String>,
    /// The machine in a few words, such as its CPU.
    pub machine: String,
    /// Name of the profile.
    pub profile: String,
    /// Version of the program.
    pub version: String,
    /// Folder or file of the run, as it was then.
    pub path: String,
    /// How many results have each verdict.
    pub verdicts: VerdictCounts,
}

/// One measurement of a past run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PastPoint {
    /// The run's number in the store.
    pub run: i64,
    /// When the run began.
    pub started: Timestamp,
    /// The machine's own name; null for a run that was added from its file, which does not have it.
    pub host: Option<String>,
    /// The machine in a few words, such as its CPU.
    pub machine: String,
    /// Workload id.
    pub workload: String,
    /// The workload's method: figures of different methods are not comparable.
    pub method: u32,
    /// Every parameter.
    pub params: Params,
    /// Base unit.
    pub unit: Unit,
    /// Which direction is good.
    pub better: Better,
    /// Whether it was sampled over time, which is another measurement than trials of the same
    /// point: a sample is a mean over its second, with all that held it up.
    pub over_time: bool,
    /// Number of trials, or of samples.
    pub n: u64,
    /// Which of the figures is the headline.
    pub headline: FigureKind,
    /// The headline figure.
    pub value: f64,
    /// Its 95 % interval; null where there is none, and where the value had several levels.
    pub ci95: Option<[f64; 2]>,
    /// What the hardware does when it is left alone; null where that was not seen.
    pub attainable: Option<PastFigure>,
    /// What the run got; null where that is not known.
    pub delivered: Option<PastFigure>,
    /// Levels that the value had while it was sampled over time; null for trials.
    pub levels: Option<u64>,
    /// Measured / ceiling; null without a ceiling.
    pub efficiency: Option<f64>,
    /// What the checks made of it.
    pub verdict: Verdict,
}

/// One figure of a past measurement.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PastFigure {
    /// In the measurement's unit.
    pub value: f64,
    /// Its 95 % interval; null where there is none, and where the value had several levels.
    pub ci95: Option<[f64; 2]>,
}
