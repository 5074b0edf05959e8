//! The CSV of a run, read back.

use std::collections::{BTreeMap, BTreeSet};

use proofmark_model::Run;
use proofmark_report::{Options, find};

/// Its lines by the names of the columns, no two of which are the same.
pub fn csv_rows(run: &Run) -> Vec<BTreeMap<String, String>> {
    let csv = find("csv").unwrap().render(run, &Options::default()).unwrap();
    let mut reader = csv::Reader::from_reader(csv.as_bytes());
    let heads = reader.headers().unwrap().clone();
    let unique: BTreeSet<&str> = heads.iter().collect();
    assert_eq!(unique.len(), heads.len(), "each column has a name of its own");
    let row = |r: csv::StringRecord| {
        heads.iter().zip(&r).map(|(h, v)| (h.to_owned(), v.to_owned())).collect()
    };
    reader.records().map(|r| row(r.unwrap())).collect()
}
