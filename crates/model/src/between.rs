//! How earlier runs of the same machine varied.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{FigureKind, OverRuns, Params, Run, Timestamp, student};

/// Share of the intervals that may miss on either side.
const TAIL: f64 = 0.025;

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
    /// Number of these runs.
    pub runs: u64,
    /// Their figures taken together.
    pub over_runs: OverRuns,
}

impl BetweenRuns {
    /// Returns half of the 95 % interval of the machine's level about the figure of one run, as a share;
    /// `None` for two states, of which each has its own.
    pub fn half_width(&self) -> Option<f64> {
        let OverRuns::One(level) = &self.over_runs else { return None };
        let freedom = self.runs.checked_sub(1).filter(|n| *n > 0)? as f64;
        Some((student(TAIL, freedom) * level.between.ln_1p()).exp_m1()).filter(|w| w.is_finite())
    }
}

impl<M> Run<M> {
    /// Returns how the result with these parameters varied between earlier runs.
    pub fn between_runs_of(&self, workload: &str, params: &Params) -> Option<&BetweenRuns> {
        self.between_runs.iter().find(|b| b.workload == workload && b.params == *params)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::RunLevel;

    fn with(runs: u64, between: f64) -> BetweenRuns {
        BetweenRuns {
            workload: "cpu.flops".to_owned(),
            params: Params::default(),
            figure: FigureKind::Attainable,
            span: [Timestamp::default(); 2],
            runs,
            over_runs: OverRuns::One(RunLevel { median: 1.0, ci95: None, between }),
        }
    }

    #[test]
    fn the_fewer_runs_the_wider() {
        // A deviation of 1 % of 3 runs: t = 4.303; of 31: 2.042. The quantile is to 5 %.
        for (runs, expected) in [(3, 0.0438), (31, 0.0205)] {
            let half = with(runs, 0.01).half_width().unwrap();
            assert!((half / expected - 1.0).abs() < 0.05, "{runs}: {half}");
        }
        assert_eq!(with(1, 0.01).half_width(), None);
    }
}
