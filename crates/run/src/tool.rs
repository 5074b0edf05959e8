//! How a run of a reference tool is asked for, and what comes of it.

use proofmark_model::{Params, RawMeasurement, Trial};
use proofmark_reference::{Installed, Tool};

/// Runs tools at points that have their trials.
pub trait ToolRunner {
    /// Makes ready for the runs at a point, such as a disk's file; gone when the session is.
    fn begin<'a>(&'a self, m: &RawMeasurement) -> Box<dyn ToolSession + 'a>;
}

/// The runs at one point.
pub trait ToolSession {
    /// Runs a tool once.
    fn run(&mut self, task: &ToolTask) -> ToolRun;
}

/// A run to be made.
pub struct ToolTask<'a> {
    /// The tool.
    pub tool: &'static dyn Tool,
    /// Where it was found.
    pub installed: &'a Installed,
    /// Seconds that it should take.
    pub run_s: f64,
    /// The point.
    pub m: &'a RawMeasurement,
    /// Our trial whose work it repeats: the pair's where that came first, otherwise the one before.
    pub ours: &'a Trial,
}

/// What came of a run.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolRun {
    /// The command line, as far as it came to one.
    pub command: Option<String>,
    /// Version, where the output has it.
    pub version: Option<String>,
    /// How it ran, by the names of our parameters, where the output has it.
    pub params: Option<Params>,
    /// The trial, or why there is none.
    pub trial: Result<Trial, String>,
}

impl ToolRun {
    /// A run of which only that is known.
    pub fn with(trial: Result<Trial, String>) -> Self {
        Self { command: None, version: None, params: None, trial }
    }
}
