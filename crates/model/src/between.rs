//! How earlier runs of the same machine varied.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{FigureKind, OverRuns, Params, Run, Timestamp};

/// Fewest earlier runs whose variation is stated.
pub const MIN_EARLIER_RUNS: u64 = 3;

/// One result in earlier runs of the same machine, which the history had when the run began.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct BetweenRuns {
    /// Workload id; `cpu` and the like for all results of a subsystem together, of which the values are
    /// geometric means of rates and inverted times.
    pub workload: String,
    /// Every parameter; none for a subsystem.
    pub params: Params,
    /// The figure that varied: the headline of those runs.
    pub figure: FigureKind,
    /// Start of the first and the last of these runs.
    pub span: [Timestamp; 2],
    /// Their figures taken together.
    pub over_runs: OverRuns,
    /// Number of results of a subsystem whose mean the values are; left out for a single result.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub results: Option<u64>,
    /// Their delivered figures taken together; left out where `figure` is delivered, and for too few.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delivered: Option<OverRuns>,
}

impl BetweenRuns {
    /// Returns how a figure varied, if that is known.
    pub fn figure(&self, kind: FigureKind) -> Option<&OverRuns> {
        match kind {
            _ if kind == self.figure => Some(&self.over_runs),
            FigureKind::Delivered => self.delivered.as_ref(),
            FigureKind::Attainable | FigureKind::Typical => None,
        }
    }
}

impl<M> Run<M> {
    /// Returns how the result with these parameters varied between earlier runs.
    pub fn between_runs_of(&self, workload: &str, params: &Params) -> Option<&BetweenRuns> {
        self.between_runs.iter().find(|b| b.workload == workload && b.params == *params)
    }
}
