//! A run from its first configuration to its last.

use proofmark_model::{RawRun, Timestamp};

use crate::event::Observer;
use crate::pairs::Pairs;
use crate::planned::PlannedTools;
use crate::record::Recorder;
use crate::schedule;

pub use crate::schedule::Means;

/// Measures a plan. The observers read each step in order, then the run is judged and saved.
pub fn measure(
    run: RawRun,
    tools: PlannedTools,
    means: &Means,
    observers: &mut [&mut dyn Observer],
) -> RawRun {
    let plan = run.plan.clone();
    let pairs = Pairs::new(&plan, tools, means.find_tool, means.tools);
    let mut recorder = Recorder::new(run, means.file, means.clock, means.print_line);
    let mut all: Vec<&mut dyn Observer> = Vec::with_capacity(observers.len() + 1);
    all.extend(observers.iter_mut().map(|o| &mut **o as &mut dyn Observer));
    all.push(&mut recorder);
    let measurements = schedule::run(&plan, means, pairs, &mut all);
    let mut run = recorder.so_far(&measurements);
    run.interrupted = means.stop.stopped_by();
    run.ended = Some(Timestamp::now());
    run
}

#[cfg(test)]
mod tests;
