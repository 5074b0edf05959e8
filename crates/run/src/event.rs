//! Steps of a run, which its observers read.

use crate::registry::find;
use proofmark_model::{Policy, RawMeasurement, Summary, Trial};

/// Event of a configuration.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Event<'a> {
    /// Set-up begins: arrays are allocated, files written.
    SetUp,
    /// It took a trial to warm up.
    Warm,
    /// It took a trial, and will take more.
    Trial,
    /// It took a sample of a series.
    Sample {
        /// Start of the sample, in seconds after the start of the series.
        at_s: f64,
        /// The sample. The measurement has it too, perhaps merged with its neighbours.
        trial: &'a Trial,
    },
    /// It has ended. Pairs with reference tools may follow.
    Done,
    /// A pair begins: a trial of proofmark and a run of a tool.
    Pair {
        /// Number of the pair, starting at 1.
        turn: usize,
        /// Maximum number of this tool's pairs.
        of: usize,
        /// Id of the tool.
        tool: &'static str,
    },
    /// A tool runs no more for the configuration.
    Paired {
        /// Number of the pairs that were taken.
        taken: usize,
        /// Number of the planned pairs.
        of: usize,
        /// Id of the tool.
        tool: &'static str,
    },
}

/// A step of a run.
#[derive(Debug, Clone, Copy)]
pub struct Step<'a> {
    /// The event.
    pub event: Event<'a>,
    /// Index of the configuration in the plan.
    pub place: usize,
    /// Measurements of the plan's configurations so far, in order.
    pub measurements: &'a [RawMeasurement],
    /// Number of configurations that have ended.
    pub done: usize,
    /// Policy for the trials.
    pub policy: &'a Policy,
}

impl Step<'_> {
    /// Returns the measurement of the configuration.
    pub fn measurement(&self) -> &RawMeasurement {
        &self.measurements[self.place]
    }

    /// Returns the statistics of its trials so far; `None` without a trial.
    pub fn summary(&self) -> Option<Summary> {
        let m = self.measurement();
        m.summary(find(&m.workload).map(|w| w.spec()), self.policy)
    }
}

/// Reads the steps of a run without changing it. Called between trials, never during one.
pub trait Observer {
    /// Reads a step.
    fn observe(&mut self, step: &Step);
}
