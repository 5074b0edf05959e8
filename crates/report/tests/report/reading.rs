//! What the tests of a report look up in it.

use proofmark_model::{Measurement, Run};
use proofmark_report::view::{View, WorkloadView};

/// A workload's part of the report.
pub fn workload(run: &Run, id: &str) -> WorkloadView {
    View::from_run(run).workloads.into_iter().find(|k| k.id == id).unwrap()
}

/// The measurements of a workload.
pub fn each<'a>(run: &'a mut Run, id: &str) -> impl Iterator<Item = &'a mut Measurement> {
    run.measurements.iter_mut().filter(move |m| m.workload == id)
}
