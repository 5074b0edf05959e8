//! The points that go over a working set of each thread, for the tools that do it with the loops
//! of our stream workloads, and call its size and its operation otherwise.

use crate::{Figure, Task};

/// The workload.
pub(crate) const SWEEP: &str = "memory.sweep";

/// The workload whose loop a task runs: of a sweep the one of its operation.
pub(crate) fn loop_of<'a>(task: &Task<'a>) -> &'a str {
    match (task.workload, task.params.text("op")) {
        (SWEEP, Some("read")) => "memory.read",
        (SWEEP, Some("write")) => "memory.write",
        (SWEEP, Some("copy")) => "memory.copy",
        (workload, _) => workload,
    }
}

/// Bytes of the arrays of a task's loop, of which it has so many, over all threads; the working
/// set of a sweep is each thread's own, and all of its arrays. `None` if the task has no size.
pub(crate) fn bytes(task: &Task, arrays: u64) -> Option<u64> {
    match task.workload {
        SWEEP => task.params.int("working_set")?.checked_mul(task.params.threads()),
        _ => task.params.int("array_size")?.checked_mul(arrays),
    }
}

/// Passes over so many bytes that are the same work, one at least; `most` at most.
pub(crate) fn passes(work: f64, bytes: u64, most: u32) -> u64 {
    let passes = (work / bytes.max(1) as f64).round();
    if passes >= 1.0 { passes.min(f64::from(most)) as u64 } else { 1 }
}

/// A figure in the words of the task, a sweep: with its operation, and a working set of so many
/// bytes, where the output tells.
pub(crate) fn figure(task: &Task, set: Option<u64>, mut figure: Figure) -> Figure {
    figure.workload = SWEEP.into();
    // Other names of the set, and what a sweep has no parameter of.
    for parameter in ["array_size", "block_size", "stores"] {
        figure.params.0.remove(parameter);
    }
    figure.params = figure.params.with("op", task.params.text("op").unwrap_or_default());
    if let Some(set) = set {
        figure.params = figure.params.with("working_set", set);
    }
    figure
}
