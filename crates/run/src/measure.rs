//! A run from its first point to its last.

use proofmark_engine::{Clock, Launcher, Stop, Workload};
use proofmark_model::{Run, Timestamp};
use proofmark_reference::Tool;

use crate::event::Observer;
use crate::pairs::Pairs;
use crate::planned::PlannedTools;
use crate::record::{Recorder, RunFile};
use crate::schedule::Schedule;
use crate::tool::ToolRunner;

/// What a run is made with: all that a test replaces.
#[derive(Clone, Copy)]
pub struct Means<'a> {
    /// Finds a workload.
    pub find: &'a dyn Fn(&str) -> Option<&'static dyn Workload>,
    /// Starts workers.
    pub launcher: &'a dyn Launcher,
    /// Finds a reference tool.
    pub find_tool: &'a dyn Fn(&str) -> Option<&'static dyn Tool>,
    /// Runs reference tools.
    pub tools: &'a dyn ToolRunner,
    /// Time.
    pub clock: &'a dyn Clock,
    /// How the run is stopped.
    pub stop: &'a Stop,
    /// Where the run is saved meanwhile.
    pub file: &'a dyn RunFile,
    /// Says a line to the user.
    pub tell: &'a dyn Fn(&str),
}

/// Measures the plan of a run, and judges what came out. The observers read each step, in
/// order; the run is saved after they were.
pub fn measure(
    run: Run,
    tools: PlannedTools,
    means: &Means,
    observers: &mut [&mut dyn Observer],
) -> Run {
    let plan = run.plan.clone();
    let Means { find, launcher, clock, stop, .. } = *means;
    let schedule = Schedule { plan: &plan, find, launcher, clock, stop };
    let pairs = Pairs::new(&plan, tools, means.find_tool, means.tools);
    let mut recorder = Recorder::new(run, means.file, clock, means.tell);
    let mut all: Vec<&mut dyn Observer> = Vec::with_capacity(observers.len() + 1);
    all.extend(observers.iter_mut().map(|o| &mut **o as &mut dyn Observer));
    all.push(&mut recorder);
    let measurements = schedule.run(pairs, &mut all);
    let mut run = recorder.finish(&measurements);
    run.interrupted = stop.stopped_by();
    run.ended = Some(Timestamp::now());
    run
}

#[cfg(test)]
mod tests;
