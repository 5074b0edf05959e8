//! What the tests of a report look up in it.

use std::collections::{BTreeMap, BTreeSet};

use proofmark_model::{Measurement, Run};
use proofmark_report::view::{View, WorkloadView};
use proofmark_report::{Options, find};

/// A run in that format, on a page of the usual width.
pub fn render(format: &str, run: &Run) -> String {
    find(format).unwrap().render(run, &Options::default()).unwrap()
}

/// A workload's part of the report.
pub fn workload(run: &Run, id: &str) -> WorkloadView {
    View::from_run(run).workloads.into_iter().find(|k| k.id == id).unwrap()
}

/// The measurements of a workload.
pub fn each<'a>(run: &'a mut Run, id: &str) -> impl Iterator<Item = &'a mut Measurement> {
    run.measurements.iter_mut().filter(move |m| m.workload == id)
}

/// The lines of a run's CSV by the names of the columns, no two of which are the same.
pub fn csv_rows(run: &Run) -> Vec<BTreeMap<String, String>> {
    let csv = render("csv", run);
    let mut reader = csv::Reader::from_reader(csv.as_bytes());
    let heads = reader.headers().unwrap().clone();
    let unique: BTreeSet<&str> = heads.iter().collect();
    assert_eq!(unique.len(), heads.len(), "each column has a name of its own");
    let row = |r: csv::StringRecord| {
        heads.iter().zip(&r).map(|(h, v)| (h.to_owned(), v.to_owned())).collect()
    };
    reader.records().map(|r| row(r.unwrap())).collect()
}
