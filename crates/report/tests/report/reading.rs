//! Helpers that read a report for tests.

use std::collections::{BTreeMap, BTreeSet};

use proofmark_model::{Measurement, Run};
use proofmark_report::view::{Block, Content, FindingGroup, Medium, Section, View};
use proofmark_report::{More, Options, find};

/// Where the rest of a short report is.
pub const MORE: More =
    More { command: "proofmark report 'a run'", page: Some("a run/report.html") };

/// A run in that format, on a page of the usual width.
pub fn render(format: &str, run: &Run) -> String {
    find(format).unwrap().render(run, &Options::default()).unwrap()
}

/// All blocks of a run's report, each before those within it.
pub fn blocks(run: &Run) -> Vec<Block> {
    let blocks = View::from_run(run).document.blocks;
    blocks.iter().flat_map(|b| b.shown(Medium::Page)).cloned().collect()
}

/// The workloads' parts of the report, in order.
pub fn workloads(run: &Run) -> Vec<Section> {
    let section = |block: Block| match block.content {
        Content::Section(section) => Some(section).filter(|s| s.figure.is_some()),
        _ => None,
    };
    blocks(run).into_iter().filter_map(section).collect()
}

/// A workload's part of the report.
pub fn workload(run: &Run, id: &str) -> Section {
    workloads(run).into_iter().find(|s| s.code == id).unwrap()
}

/// The only block of that topic in a section.
pub fn block(section: &Section, topic: &str) -> Block {
    let all = section.blocks.iter().flat_map(|b| b.shown(Medium::Page));
    let mut all = all.filter(|b| b.topic == topic && b.children().is_empty());
    all.next().unwrap().clone()
}

/// All findings of a run.
pub fn found(run: &Run) -> Vec<FindingGroup> {
    let all = |block: Block| match block.content {
        Content::Findings(all) if all.in_full => all.groups,
        _ => Vec::new(),
    };
    blocks(run).into_iter().flat_map(all).collect()
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
