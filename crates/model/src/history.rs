//! The record of past runs, as lists, charts and comparisons over time need it. The run file itself
//! stays where it is.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    Better, Difference, FigureKind, Params, Reliance, Timestamp, Unit, Verdict, VerdictCounts,
};

/// Version of the shape of a history's JSON.
pub const HISTORY_SCHEMA: &str = "proofmark.history/2";

/// Past runs for programs, with one of the two lists.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct History<'a> {
    /// Always [`HISTORY_SCHEMA`].
    pub schema: &'static str,
    /// The workload of `points`; left out with `runs`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub workload: Option<&'a str>,
    /// The runs, the oldest first; left out with `points`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub runs: Option<&'a [PastRun]>,
    /// The results of the workload; left out with `runs`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub points: Option<&'a [PastPoint]>,
    /// The changes of level of these results, over all runs of the history that the filters select;
    /// left out with `runs`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub changes: Option<&'a [LevelChange]>,
}

/// A change of the level of one result from one run to the next.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LevelChange {
    /// Host name; null if it is not known.
    pub host: Option<String>,
    /// The machine in a few words.
    pub machine: String,
    /// Every parameter of the result.
    pub params: Params,
    /// True if it was sampled over time.
    pub over_time: bool,
    /// The kind of the figure whose level changed: delivered where runs have it and the unit counts
    /// work, else the headline.
    pub figure: FigureKind,
    /// Number of the last run before the change, and of the first one after it.
    pub between: [i64; 2],
    /// Start of the first run after it.
    pub started: Timestamp,
    /// Medians of the level before and of the one after, in the result's unit.
    pub medians: [f64; 2],
    /// Number of runs of the level before and of the one after.
    pub runs: [u64; 2],
    /// The facts in which the two runs differ; A is the run before.
    pub differences: Vec<Difference>,
    /// Reason why the differences are not known: the file of one of the runs is gone. Null where they
    /// are.
    pub missing: Option<String>,
}

/// Returns the JSON schema of a history.
pub fn history_schema() -> schemars::Schema {
    schemars::schema_for!(History)
}

/// A past run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PastRun {
    /// Number in the store.
    pub id: i64,
    /// Start time, which identifies the run in every format.
    pub started: Timestamp,
    /// End time; null if it never ended.
    pub ended: Option<Timestamp>,
    /// Host name; null if it is not known, see `missing`.
    pub host: Option<String>,
    /// The user's name for the run (`--label`); null without one, or if it is not known.
    #[serde(default)]
    pub label: Option<String>,
    /// The machine in a few words, such as its CPU.
    pub machine: String,
    /// Version of the kernel of its system; null if it is not known.
    #[serde(default)]
    pub kernel: Option<String>,
    /// Name of the profile.
    pub profile: String,
    /// Version of the program.
    pub version: String,
    /// Folder or file of the run at that time.
    pub path: String,
    /// Number of results by verdict.
    pub verdicts: VerdictCounts,
    /// Reasons why fields are null, by their name; left out without any.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub missing: BTreeMap<String, String>,
}

/// One measurement of a past run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PastPoint {
    /// The run's number in the store.
    pub run: i64,
    /// Start time of the run, which identifies it in every format.
    pub started: Timestamp,
    /// Host name; null if it is not known, see `missing`.
    pub host: Option<String>,
    /// The user's name for the run (`--label`); null without one, or if it is not known.
    pub label: Option<String>,
    /// The machine in a few words, such as its CPU.
    pub machine: String,
    /// Workload id.
    pub workload: String,
    /// Version of the workload's method: figures of different versions are not comparable.
    pub method_version: u32,
    /// Every parameter.
    pub params: Params,
    /// Base unit.
    pub unit: Unit,
    /// The better direction.
    pub better: Better,
    /// True if it was sampled over time, which differs from trials of the same configuration. A
    /// sample is a mean over its second, interruptions included.
    pub over_time: bool,
    /// Number of trials, or of samples.
    pub trials: u64,
    /// The kind of the headline.
    pub headline: FigureKind,
    /// The headline figure; null where the run saw none, see `missing`.
    pub value: Option<f64>,
    /// The 95 % interval; null where there is none, and where the value had several levels.
    pub ci95: Option<[f64; 2]>,
    /// The attainable figure; null where it was not seen.
    pub attainable: Option<PastFigure>,
    /// The delivered figure; null where it is not known.
    pub delivered: Option<PastFigure>,
    /// Levels that the value had while it was sampled over time; null for trials.
    pub levels: Option<u64>,
    /// Measured / ceiling; null without a ceiling.
    pub efficiency: Option<f64>,
    /// The reliance that the efficiency deserves; left out for a known ceiling.
    #[serde(default, skip_serializing_if = "Reliance::is_known")]
    pub reliance: Reliance,
    /// The verdict of the checks.
    pub verdict: Verdict,
    /// Reasons why fields are null, by their name; left out without any.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub missing: BTreeMap<String, String>,
}

impl PastPoint {
    /// Returns what results of one line over time share: configuration, method, figure and machine.
    pub fn line(&self) -> impl Ord + PartialEq + '_ {
        let Self { params, method_version, unit, better, over_time, host, machine, .. } = self;
        (params, method_version, unit.as_str(), better.as_str(), over_time, host, machine)
    }

    /// Returns the figure that a line over time follows.
    pub fn followed(&self, delivered: bool) -> Option<PastFigure> {
        match delivered {
            true => self.delivered,
            false => self.value.map(|value| PastFigure { value, ci95: self.ci95 }),
        }
    }

    /// Returns true if the line of these results follows delivered, which shows what a run lost; else
    /// it follows the headline.
    pub fn follow_delivered(line: &[&Self]) -> bool {
        line.first().is_some_and(|p| p.unit.is_work()) && line.iter().any(|p| p.delivered.is_some())
    }
}

/// One figure of a past measurement.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PastFigure {
    /// Value in the measurement's unit.
    pub value: f64,
    /// The 95 % interval; null where there is none, and where the value had several levels.
    pub ci95: Option<[f64; 2]>,
}
