//! A run from its first configuration to its last.

use proofmark_model::{
    Ending, Finding, RawMeasurement, RawRun, Severity, Timestamp, format_seconds,
};

use crate::event::Observer;
use crate::pairs::Pairs;
use crate::plan::{ADVICE, BUDGET, correct_tools_left_out, left_out_finding, titles, words};
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
    let measured = schedule::run(&plan, means, pairs, &mut all);
    let mut run = recorder.so_far(&measured.results);
    correct_tools_left_out(&mut run.findings, &measured.tools_left_out);
    run.findings.extend(left_out(&run));
    run.findings.extend(left_out_finding(&run.plan, usable_cpus(&run)));
    run.interrupted = means.stop.stopped_by();
    run.ended = Some(Timestamp::now());
    run
}

/// Names what the time limit left out during the run, and the time that it needs at the run's pace. The
/// budget that holds it as well is not known: a plan does not know the pace.
fn left_out(run: &RawRun) -> Option<Finding> {
    // A run that was stopped lacks results: their places are those of the plan.
    let place = |m: &RawMeasurement| run.plan.points.iter().position(|p| *p == m.point());
    let needs = |m: &RawMeasurement| match m.ending {
        Ending::LeftOut { needs_s } => Some((place(m)?, needs_s)),
        _ => None,
    };
    let (places, seconds): (Vec<usize>, Vec<f64>) =
        run.measurements.iter().filter_map(needs).unzip();
    let budget_s = run.plan.policy.budget_s.filter(|_| !places.is_empty())?;
    let titles = titles(&run.plan, usable_cpus(run));
    let message = format!(
        "this machine is slower than estimated, so the limit of {} left no time for {} \
         (about {} in all)",
        format_seconds(budget_s),
        words(&titles, &places),
        format_seconds(seconds.iter().sum())
    );
    Some(Finding::new(BUDGET, Severity::Note, message, ADVICE))
}

fn usable_cpus(run: &RawRun) -> u64 {
    run.host.limits.usable_cpus.len() as u64
}

#[cfg(test)]
mod tests;
