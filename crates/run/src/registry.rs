//! The workloads by their ids: all that this crate knows of them. A test renames them.

use proofmark_model::{Point, Subsystem};

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

pub(crate) fn subsystem(id: &str) -> Option<Subsystem> {
    Some(find(id)?.spec().subsystem)
}

/// Whether the trials of that workload are cut into slices, and so into rounds.
pub(crate) fn in_rounds(id: &str) -> bool {
    find(id).is_some_and(|workload| workload.spec().work.cut().has_slices())
}

/// Bytes of the files that a point makes.
pub fn disk_bytes(point: &Point) -> u64 {
    find(&point.workload).map_or(0, |workload| workload.disk_bytes(&point.params))
}
