//! What happens in a run: the steps that its observers read.

use crate::registry::find;
use proofmark_model::{Policy, RawMeasurement, Summary, Trial};

/// What happened at a point.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Event<'a> {
    /// It is being set up: arrays are made, files written.
    SetUp,
    /// It took a trial to warm up.
    Warm,
    /// It took a trial, and will take more.
    Trial,
    /// It took a sample of a series.
    Sample {
        /// When the sample began, in seconds after the series did.
        at_s: f64,
        /// The sample; the measurement holds it too, maybe merged with its neighbours.
        trial: &'a Trial,
    },
    /// It has ended. Pairs with reference tools may follow.
    Done,
    /// A pair begins: a trial of ours, then a run of a tool.
    Pair {
        /// Its number, from 1.
        turn: usize,
        /// Pairs that this tool takes at most.
        of: usize,
        /// The tool's id.
        tool: &'static str,
    },
}

/// A step of a run.
#[derive(Debug, Clone, Copy)]
pub struct Step<'a> {
    /// What happened.
    pub event: Event<'a>,
    /// Place in the plan of the point.
    pub place: usize,
    /// All that is known of the plan's points so far, in order.
    pub measurements: &'a [RawMeasurement],
    /// Points that have ended.
    pub done: usize,
    /// How the trials are taken.
    pub policy: &'a Policy,
}

impl Step<'_> {
    /// The measurement of the point.
    pub fn measurement(&self) -> &RawMeasurement {
        &self.measurements[self.place]
    }

    /// The statistics of its trials so far; `None` without one.
    pub fn summary(&self) -> Option<Summary> {
        let m = self.measurement();
        m.summary(find(&m.workload).map(|w| w.spec()), self.policy)
    }
}

/// Reads the steps of a run, and changes nothing of it. Called between trials, never during one.
pub trait Observer {
    /// A step was made.
    fn observe(&mut self, step: &Step);
}
