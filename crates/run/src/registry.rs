//! The workloads by their ids: all that this crate knows of them.

use proofmark_engine::Workload;
use proofmark_model::{Point, Subsystem};

pub(crate) use proofmark_workloads::find;

pub(crate) fn all() -> impl Iterator<Item = &'static dyn Workload> {
    proofmark_workloads::ALL.iter().copied()
}

/// The ids of all workloads, in order.
pub(crate) fn ids() -> impl Iterator<Item = &'static str> {
    all().map(|workload| workload.spec().id.as_ref())
}

pub(crate) fn subsystem(id: &str) -> Option<Subsystem> {
    Some(find(id)?.spec().subsystem)
}

/// Bytes of the files that a point makes.
pub fn disk_bytes(point: &Point) -> u64 {
    find(&point.workload).map_or(0, |workload| workload.disk_bytes(&point.params))
}
