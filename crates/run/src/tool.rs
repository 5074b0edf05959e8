//! Tools that repeat a configuration; request and result of a run of one.

use proofmark_model::{Params, Point, RawMeasurement, Trial};
use proofmark_reference::{ALL, Installed, Tool};

use crate::registry::find;

/// Runs tools for configurations that have their trials.
pub trait ToolRunner {
    /// Prepares the runs for a configuration, such as a disk's file, which is removed with the
    /// session.
    fn begin<'a>(&'a self, m: &RawMeasurement) -> Box<dyn ToolSession + 'a>;
}

/// The runs for one configuration.
pub trait ToolSession {
    /// Runs a tool once.
    fn run(&mut self, task: &ToolTask) -> ToolRun;
}

/// Request to run a tool.
pub struct ToolTask<'a> {
    /// The tool.
    pub tool: &'static dyn Tool,
    /// The installed program.
    pub installed: &'a Installed,
    /// Expected seconds of the run.
    pub run_s: f64,
    /// Measurement of the configuration.
    pub m: &'a RawMeasurement,
    /// Trial of proofmark whose work it repeats: the pair's if that came first, otherwise the one
    /// before.
    pub ours: &'a Trial,
}

/// Result of a run.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolRun {
    /// The command line, if there was one.
    pub command: Option<String>,
    /// Version, if the output has it.
    pub version: Option<String>,
    /// Parameters of the run by proofmark's names, if the output has them.
    pub params: Option<Params>,
    /// The trial, or why there is none.
    pub trial: Result<Trial, String>,
}

impl ToolRun {
    /// Creates a result with this trial and nothing else.
    pub fn new(trial: Result<Trial, String>) -> Self {
        Self { command: None, version: None, params: None, trial }
    }
}

/// The reason why no tool runs where none does the work.
pub(crate) const NO_KNOWN_TOOL: &str = "no known tool does this work";

/// The tools that can repeat a configuration.
pub(crate) fn tools_for(point: &Point) -> Vec<&'static str> {
    ALL.iter().filter(|tool| test_for(**tool, point).is_some()).map(|tool| tool.id()).collect()
}

/// The test of a tool that repeats a configuration.
pub(crate) fn test_for<'a>(tool: &dyn Tool, point: &'a Point) -> Option<&'a str> {
    tool.test_for(find(&point.workload)?.spec(), &point.params)
}
