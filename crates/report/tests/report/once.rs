//! A report says each thing once, and as briefly as it can be found from others.

use proofmark_model::{Measurement, Param, Run};
use proofmark_report::view::View;
use proofmark_report::{Options, find};

use super::fixture;
use super::reading::{column, each, workload};

#[test]
fn what_another_parameter_decides_is_not_told_with_it() {
    let mut run = fixture::disk();
    let names = |run: &Run| {
        let view = workload(run, "disk.rand_read");
        let curves = view.distribution.unwrap().curves;
        curves.iter().map(|c| c.name.clone()).collect::<Vec<String>>()
    };
    assert!(names(&run).iter().all(|n| !n.contains("psync")), "{:?}", names(&run));
    // Both engines at one depth: a name without the engine would be that of two points.
    let mut other: Vec<Measurement> = each(&mut run, "disk.rand_read")
        .filter(|m| m.params.text("engine") == Some("psync"))
        .map(|m| m.clone())
        .collect();
    other.iter_mut().for_each(|m| {
        m.params.0.insert("engine".into(), Param::Text("io_uring".into()));
    });
    run.measurements.extend(other);
    assert!(names(&run).iter().any(|n| n.contains("psync")), "{:?}", names(&run));
}

#[test]
fn a_term_is_explained_once() {
    let run = fixture::disk();
    for format in ["terminal", "markdown"] {
        let options = Options { width: 10_000, color: false };
        let text = find(format).unwrap().render(&run, &options).unwrap();
        for said in ["At 0 % the page cache served all", "until its completion is seen"] {
            assert_eq!(text.matches(said).count(), 1, "{said} in {format}");
        }
    }
    let view = View::from_run(&run);
    assert!(view.terms.iter().any(|t| t.name == "device"));
    assert!(View::from_run(&fixture::memory()).terms.iter().all(|t| t.name != "device"));
}

#[test]
fn few_places_of_a_finding_are_named_and_many_counted() {
    let found = |count: usize| {
        let mut run = fixture::disk();
        let finding = each(&mut run, "disk.seq_write").flat_map(|m| m.findings.clone()).next();
        each(&mut run, "disk.seq_write").for_each(|m| m.findings.clear());
        for m in each(&mut run, "disk.seq_read").take(count) {
            m.findings = vec![finding.clone().unwrap()];
        }
        let groups = View::from_run(&run).findings;
        groups.into_iter().find(|g| g.check == "falling_rate").unwrap().where_
    };
    assert_eq!(found(4).matches("block size").count(), 4, "{}", found(4));
    assert_eq!(found(5), "disk.seq_read (5 configurations)");
}

#[test]
fn a_verification_of_a_disk_counts_bytes() {
    let run = fixture::disk();
    let table = workload(&run, "disk.fsync").verifications;
    let unit = |title: &str| table.columns.iter().find(|c| c.title == title).unwrap().unit.clone();
    assert_eq!([unit("claimed"), unit("counted")], [Some("MB".into()), Some("MB".into())]);
    assert_eq!(column(&table, "counted / claimed"), ["300.0", "300.0"]);
}

#[test]
fn what_two_workloads_declare_alike_is_told_with_the_first() {
    let mut run = fixture::disk();
    let mut declare = |id: &str, detail: &'static str| {
        run.workloads.get_mut(id).unwrap().detail = detail.into();
    };
    declare("disk.seq_read", "In order. Blocks are random. Each is timed.");
    declare("disk.seq_write", "In order, over the old ones. Blocks are random. Each is timed.");
    declare("disk.rand_read", "In no order. Each is timed.");
    declare("disk.fsync", "In order. Blocks are random. Each is timed.");
    let detail = |id: &str| workload(&run, id).detail;
    assert_eq!(detail("disk.seq_read"), "In order. Blocks are random. Each is timed.");
    assert_eq!(
        detail("disk.seq_write"),
        "In order, over the old ones. The rest is as with disk.seq_read."
    );
    assert_eq!(detail("disk.rand_read"), "In no order. Each is timed.", "one is no gain");
    assert_eq!(detail("disk.fsync"), "As with disk.seq_read.");
}
