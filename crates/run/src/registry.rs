//! The workloads by their ids: all that this crate knows of them. A test renames them.

use std::collections::BTreeMap;

use proofmark_engine::Needs;
use proofmark_model::{Plan, Point, Subsystem, WorkloadSpec, key};

#[cfg(test)]
mod renamed;

#[cfg(not(test))]
pub(crate) use proofmark_workloads::find;
#[cfg(test)]
pub(crate) use renamed::{all, find};

#[cfg(not(test))]
pub(crate) fn all() -> impl Iterator<Item = &'static dyn proofmark_engine::Workload> {
    proofmark_workloads::ALL.iter().copied()
}

/// The ids of all workloads, in order.
pub(crate) fn ids() -> impl Iterator<Item = &'static str> {
    all().map(|workload| workload.spec().id.as_ref())
}

/// The declarations of the workloads of these configurations, by id.
pub(crate) fn declarations<'a>(
    points: impl IntoIterator<Item = &'a Point>,
) -> BTreeMap<String, WorkloadSpec> {
    let specs = points.into_iter().filter_map(|p| Some(find(&p.workload)?.spec()));
    specs.map(|spec| (spec.id.to_string(), spec.clone())).collect()
}

pub(crate) fn subsystem(id: &str) -> Option<Subsystem> {
    Some(find(id)?.spec().subsystem)
}

/// Returns true if the trials of that workload are cut into slices, and so into rounds.
pub(crate) fn in_rounds(id: &str) -> bool {
    find(id).is_some_and(|workload| workload.spec().work.cut().has_slices())
}

/// The needs of a configuration; none of an unknown workload.
pub fn needs(point: &Point) -> Needs {
    find(&point.workload).map_or_else(Needs::default, |workload| workload.needs(&point.params))
}

/// Returns true if a configuration reads a file and writes none.
pub fn reads_file(point: &Point) -> bool {
    // Work that writes has the time of its flush as a parameter, or is commits, without a queue.
    let reads = point.params.has(key::QUEUE_DEPTH) && !point.params.has(key::FLUSH);
    reads && needs(point).disk_bytes > 0
}

/// Estimated seconds of one trial of a configuration of the plan.
pub(crate) fn trial_s(plan: &Plan, point: &Point) -> f64 {
    needs(point).trial_s(plan.policy.trial_s_for(&point.workload))
}
