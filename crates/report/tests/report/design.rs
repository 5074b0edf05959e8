//! Sentences on the measurements, the method and the findings of unusual runs.

use proofmark_model::{Run, TimeAccount};
use proofmark_report::view::Content;

use super::dump::Dump;
use super::fixture;
use super::reading::{block, each, workload};

#[test]
fn designs() {
    let mut out = Dump::default();
    let sentences = ["* design"];
    let mut run = fixture::run();
    run.measurements.truncate(3);
    out.says("3 configurations were measured", &run, &sentences);
    let mut run = fixture::published();
    run.measurements.retain(|m| m.workload == "cpu.linpack");
    run.plan.points.retain(|p| p.workload == "cpu.linpack");
    run.plan.series.clear();
    out.says("fixed work alone has no planned length", &run, &sentences);
    let circumstances = ["* circumstances", "* noise/0/title"];
    let mut run = fixture::run();
    run.programs[0].cpu_s = 5.0;
    out.says("programs used as much time as is missing", &run, &circumstances);
    run.programs[0].cpu_s = 0.1;
    run.programs_of_one_cpu = Some(0.7);
    out.says("most programs ended between two looks", &run, &circumstances);
    run.programs_of_one_cpu = None;
    run.programs.truncate(0);
    let accounts = |run: &mut Run, change: &dyn Fn(&mut Option<TimeAccount>)| {
        let trials = run.measurements.iter_mut().flat_map(|m| &mut m.trials);
        trials.for_each(|t| change(&mut t.time_account));
    };
    let unknown = |time: &mut Option<TimeAccount>| {
        time.iter_mut().for_each(|time| time.throttled_s = None);
    };
    accounts(&mut run, &unknown);
    out.says("a quota may have taken it", &run, &circumstances);
    accounts(&mut run, &|time| *time = None);
    run.cpu_placements.truncate(1);
    out.says("no account, and one placement", &run, &circumstances);
    insta::assert_snapshot!(out.text);
}

#[test]
fn few_places_of_a_finding_are_named_and_many_counted() {
    let mut out = Dump::default();
    for count in [4, 5] {
        let mut run = fixture::disk();
        let finding = each(&mut run, "disk.seq_write").find_map(|m| m.findings.pop()).unwrap();
        run.measurements.iter_mut().for_each(|m| m.findings.clear());
        for m in each(&mut run, "disk.seq_read").take(count) {
            m.findings.push(finding.clone());
        }
        out.says(&format!("{count} places"), &run, &["* findings"]);
    }
    insta::assert_snapshot!(out.text);
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
    let detail = |id: &str| match block(&workload(&run, id), "detail").content {
        Content::Text(text) => text.paragraphs[0].plain(),
        other => panic!("{other:?}"),
    };
    assert_eq!(detail("disk.seq_read"), "In order. Blocks are random. Each is timed.");
    assert_eq!(
        detail("disk.seq_write"),
        "In order, over the old ones. For the rest, see disk.seq_read."
    );
    assert_eq!(detail("disk.rand_read"), "In no order. Each is timed.", "one is no gain");
    assert_eq!(detail("disk.fsync"), "See disk.seq_read.");
}
