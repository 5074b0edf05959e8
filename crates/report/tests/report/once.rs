//! A report says each thing once, and as briefly as it can be found from others.

use proofmark_report::view::View;

use super::fixture;
use super::reading::{each, workload};

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
