//! How earlier runs of the same machine varied.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{FigureKind, OverRuns, Params, Run, Timestamp};

/// Fewest earlier runs whose variation is stated.
pub const MIN_EARLIER_RUNS: u64 = 3;

/// One result in earlier runs of the same machine, which the history had when the run began.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct BetweenRuns {
    /// Workload id.
    pub workload: String,
    /// Every parameter.
    pub params: Params,
    /// The figure that varied: the headline of those runs.
    pub figure: FigureKind,
    /// Start of the first and the last of these runs.
    pub span: [Timestamp; 2],
    /// Their figures taken together.
    pub over_runs: OverRuns,
}

impl<M> Run<M> {
    /// Returns how the result with these parameters varied between earlier runs.
    pub fn between_runs_of(&self, workload: &str, params: &Params) -> Option<&BetweenRuns> {
        self.between_runs.iter().find(|b| b.workload == workload && b.params == *params)
    }
}
