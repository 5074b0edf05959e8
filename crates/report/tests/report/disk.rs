//! The report on disk results of unusual runs.

use proofmark_model::{Flush, Measurement, Param, Run, Verdict, key, testing};

use super::dump::Dump;
use super::fixture;
use super::reading::each;

fn is(m: &Measurement, parameter: &str, value: &str) -> bool {
    m.params.word(parameter) == Some(value)
}

/// Adds the measurements of a workload once more, with a change.
fn again(run: &mut Run, id: &str, change: impl Fn(&mut Measurement)) {
    let mut more: Vec<Measurement> = each(run, id).map(|m| m.clone()).collect();
    more.iter_mut().for_each(change);
    run.measurements.extend(more);
}

/// Neither the page cache nor a small file represents the disk.
#[test]
fn main_results() {
    let mut out = Dump::default();
    let read = ["disk.seq_read figure"];
    let mut run = fixture::disk();
    each(&mut run, "disk.seq_read")
        .filter(|m| is(m, "direct", "on"))
        .for_each(|m| m.verdict = Verdict::Invalid);
    out.says("direct reads are invalid", &run, &read);
    run.measurements.retain(|m| m.workload != "disk.seq_read" || !is(m, "direct", "on"));
    out.says("buffered reads alone", &run, &read);
    let mut run = fixture::disk();
    let direct = each(&mut run, "disk.seq_read").find(|m| is(m, "direct", "on")).unwrap().clone();
    for part in [64, 2] {
        let mut m = direct.clone();
        m.params = m.params.with(key::FILE_SIZE, direct.params.get(key::FILE_SIZE).unwrap() / part);
        testing::rescale(m.summary.as_mut().unwrap(), 10.0);
        run.measurements.push(m);
    }
    out.says("faster reads of smaller files", &run, &read);
    let mut run = fixture::disk();
    run.measurements.retain(|m| m.verdict != Verdict::Valid || m.workload != "disk.seq_write");
    out.says("only the rate that fell", &run, &["disk.seq_write figure"]);
    let mut run = fixture::disk();
    again(&mut run, "disk.rand_read", |m| {
        m.params.0.insert("block_size".into(), Param::Int(64 << 10));
        testing::rescale(m.summary.as_mut().unwrap(), 1.4);
    });
    let parts = ["disk.rand_read figure", "disk.rand_read charts/0", "disk.rand_read charts/1"];
    out.says("random reads of large blocks too", &run, &parts);
    insta::assert_snapshot!(out.text);
}

/// The I/O that was done counts, not the requested I/O.
#[test]
fn ways() {
    let mut out = Dump::default();
    let table = ["disk.seq_write table"];
    let mut run = fixture::disk();
    for file in each(&mut run, "disk.seq_write").flat_map(|m| &mut m.trials) {
        let file = file.file.as_mut().unwrap();
        (file.direct, file.flush) = (Some(false), Flush::Never);
    }
    out.says("buffered and without a flush", &run, &table);
    let first = each(&mut run, "disk.seq_write").next().unwrap();
    first.trials[0].file.as_mut().unwrap().flush = Flush::End;
    out.says("a flush in one trial", &run, &table);
    insta::assert_snapshot!(out.text);
}

#[test]
fn missing_values() {
    let mut out = Dump::default();
    let mut run = fixture::disk();
    each(&mut run, "disk.seq_read").next().unwrap().trials.iter_mut().for_each(|t| t.device = None);
    let first = each(&mut run, "disk.rand_read").next().unwrap();
    first.latency = None;
    first.missing.insert("latency".into(), "timing would have cost 3 % (fixture)".into());
    each(&mut run, "disk.seq_write").for_each(|m| m.findings.clear());
    out.says(
        "no device, one latency missing, no fall",
        &run,
        &[
            "disk.seq_read table",
            "disk.rand_read latency",
            "disk.seq_write sentences",
            "disk.seq_write charts",
        ],
    );
    let drawn = ["disk.rand_read times", "disk.rand_read latency", "disk.rand_read times"];
    let mut buckets = fixture::disk();
    let latencies = each(&mut buckets, "disk.rand_read").filter_map(|m| m.latency.as_mut());
    latencies.for_each(|l| l.buckets.clear());
    out.says("latencies without buckets", &buckets, &drawn[..1]);
    each(&mut run, "disk.rand_read").for_each(|m| m.latency = None);
    out.says("no latency", &run, &drawn);
    insta::assert_snapshot!(out.text);
}

/// A depth with one engine is a point of one line; with two engines it is on two lines.
#[test]
fn both_engines_at_each_depth() {
    let mut run = fixture::disk();
    again(&mut run, "disk.rand_read", |m| {
        let engine = if is(m, "engine", "psync") { "io_uring" } else { "psync" };
        m.params.0.insert("engine".into(), Param::Text(engine.into()));
    });
    let mut out = Dump::default();
    let parts = ["disk.rand_read charts/0", "disk.rand_read times"];
    out.says("both engines", &run, &parts);
    // A copy of a file reads or writes each block that it counts.
    let mut copies = fixture::disk();
    copies.measurements.retain(|m| m.workload != "disk.read_write");
    each(&mut copies, "disk.rand_read").for_each(|m| m.workload = "disk.read_write".into());
    out.says("copies", &copies, &["disk.read_write reciprocal"]);
    insta::assert_snapshot!(out.text);
}
