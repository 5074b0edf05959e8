//! Several runs of one plan, taken together.

use std::borrow::Cow;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    Better, Difference, FigureKind, MISSES, Params, Subsystem, Timestamp, Unit, Verdict,
    VerdictCounts, student,
};

/// Version of a group's shape.
pub const GROUP_SCHEMA: &str = "proofmark.group/1";

/// Several runs, and each result over all of them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "Group")]
pub struct RunGroup {
    /// Always [`GROUP_SCHEMA`].
    pub schema: Cow<'static, str>,
    /// The runs, the earliest first.
    pub runs: Vec<GroupedRun>,
    /// Facts about machine, programs and plan that changed from one run to the next.
    pub changes: Vec<GroupChange>,
    /// The results, in the order of the first run that has each.
    pub results: Vec<GroupedResult>,
}

/// One of the runs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct GroupedRun {
    /// Path of the run.
    pub name: String,
    /// Start time.
    pub started: Timestamp,
    /// Duration in seconds; null where the run did not end.
    pub seconds: Option<f64>,
    /// The user's name for the machine or the run (`--label`); left out without one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    /// The machine in a few words.
    pub machine: String,
    /// Number of results by verdict.
    pub verdicts: VerdictCounts,
    /// Median clock of the CPU results' trials, in hertz; null where it was not measured.
    pub clock_hz: Option<f64>,
    /// Placements of the threads' CPUs, the most frequent first; null where they were not probed.
    pub placements: Option<String>,
    /// Share of the threads' time at work; null where the system does not count it.
    pub at_work: Option<f64>,
    /// CPU time of all other programs, as a share of that of one CPU; null where it is not counted.
    pub others_of_one_cpu: Option<f64>,
}

/// Facts that changed between two runs in succession.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct GroupChange {
    /// Place of the later run in `runs`, from 0.
    pub run: usize,
    /// The facts; A is the earlier run, B the later one.
    pub differences: Vec<Difference>,
}

/// One result over all runs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct GroupedResult {
    /// Workload id.
    pub workload: String,
    /// Parameters that distinguish it from the other results of its workload, in words; empty for
    /// an only result.
    pub name: String,
    /// Its title, such as `FP peak, 2 CPUs, avx2`: that of the row on the first screen, else that of the
    /// workload.
    pub title: String,
    /// The row of the first screen that it fills, from 0; left out where it fills none.
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
    /// The figure of which the values are: the headline of most runs.
    pub figure: FigureKind,
    /// The figure in each run, in the order of `runs`; null where a run has none that is usable.
    pub values: Vec<Option<RunValue>>,
    /// The median of the half widths of the runs' own 95 % intervals, as a share; null where none has
    /// one.
    pub within: Option<f64>,
    /// The values of all runs taken together; null for fewer than two.
    pub over_runs: Option<OverRuns>,
    /// Changes of the level of the values from one run to the next; empty without any, or if the values
    /// are too few to tell.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub level_changes: Vec<LevelShift>,
}

/// A change of level between two runs.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LevelShift {
    /// Place in `runs` of the first run after it, from 0.
    pub run: usize,
    /// Medians of the level before and of the level after it.
    pub medians: [f64; 2],
    /// Number of values of the level before and of the level after it.
    pub runs: [u64; 2],
}

/// A figure of one run.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RunValue {
    /// The figure.
    pub value: f64,
    /// The verdict on the result.
    pub verdict: Verdict,
}

/// The values of several runs taken together.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum OverRuns {
    /// The runs vary about one value.
    One(RunLevel),
    /// The runs have one of two values, and none between: no interval describes both.
    Two {
        /// The lower value and the higher one.
        states: [RunState; 2],
    },
}

/// A value about which runs vary.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RunLevel {
    /// Median of the runs.
    pub median: f64,
    /// The 95 % interval of the median over runs; null for two runs.
    pub ci95: Option<[f64; 2]>,
    /// Number of runs.
    pub runs: u64,
    /// Standard deviation between runs, as a share: that of the logarithms.
    pub deviation: f64,
    /// The same from the differences between runs that followed each other soon: a level that moves
    /// slowly is not part of it. Null for fewer than two such pairs.
    #[serde(default)]
    pub successive: Option<Successive>,
}

/// The variation between successive runs.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Successive {
    /// Standard deviation of one run, as a share: that of the logarithms.
    pub deviation: f64,
    /// Number of pairs of runs that began within a quarter of an hour.
    pub pairs: u64,
    /// Sum of the times between the starts of these pairs, in seconds.
    pub seconds: f64,
}

impl RunLevel {
    /// Returns half of the 95 % interval of the machine about the figure of one run, as a share.
    pub fn between_runs(&self) -> Option<f64> {
        let freedom = self.runs.checked_sub(1).filter(|n| *n > 0)? as f64;
        let half = (student(MISSES, freedom) * self.deviation.ln_1p()).exp_m1();
        Some(half).filter(|half| half.is_finite())
    }
}

impl OverRuns {
    /// Returns the number of runs.
    pub fn runs(&self) -> u64 {
        match self {
            Self::One(level) => level.runs,
            Self::Two { states } => {
                states.iter().fold(0, |all, state| all.saturating_add(state.runs))
            }
        }
    }
}

/// One of two values.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RunState {
    /// Median of its runs.
    pub median: f64,
    /// Number of its runs.
    pub runs: u64,
    /// Its share of the runs.
    pub share: f64,
    /// Places of its runs in `runs`, from 0.
    pub places: Vec<usize>,
}

/// Returns the JSON schema of a group.
pub fn group_schema() -> schemars::Schema {
    schemars::schema_for!(RunGroup)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_fewer_runs_the_wider() {
        let half = |runs| {
            let level = RunLevel { runs, deviation: 0.01, ..RunLevel::default() };
            level.between_runs()
        };
        // A deviation of 1 % of 3 runs: t = 4.303; of 31: 2.042. The quantile is to 5 %.
        for (runs, expected) in [(3, 0.0438), (31, 0.0205)] {
            let seen = half(runs).unwrap();
            assert!((seen / expected - 1.0).abs() < 0.05, "{runs}: {seen}");
        }
        assert_eq!(half(1), None);
    }
}
