//! The report on memory results of unusual runs.

use proofmark_model::{Measurement, Probe, Run, Verdict, key, testing};

use super::dump::Dump;
use super::fixture;
use super::reading::{each, render};

/// The run with working sets of at most so many bytes.
fn up_to(run: &Run, most: u64) -> Run {
    let mut run = run.clone();
    run.measurements.retain(|m| m.params.get(key::WORKING_SET).is_none_or(|s| s <= most));
    run
}

fn without(run: &Run, workload: &str) -> Run {
    let mut run = run.clone();
    run.measurements.retain(|m| m.workload != workload);
    run
}

/// The run with its latencies also in local order, without a third of them.
fn with_local_order() -> Run {
    let mut run = fixture::memory();
    let mut local: Vec<Measurement> = each(&mut run, "memory.latency").map(|m| m.clone()).collect();
    for m in &mut local {
        m.params = m.params.clone().with(key::ORDER, "local");
        testing::rescale(m.summary.as_mut().unwrap(), 0.66);
    }
    run.measurements.extend(local);
    run
}

/// The speed of a cache never represents that of memory.
#[test]
fn main_results() {
    let mut out = Dump::default();
    let run = fixture::memory();
    let headlines = ["memory.latency figure/at", "memory.sweep figure/at"];
    for mib in [1, 16, 128, 256, 512] {
        out.says(&format!("sets up to {mib} MiB"), &up_to(&run, mib << 20), &headlines);
    }
    let mut unknown = up_to(&run, 1 << 20);
    unknown.host.cpu.caches = Probe::missing("none reported");
    out.says("no cache is reported", &unknown, &headlines);
    let mut larger = up_to(&run, 512 << 20);
    if let Probe::Known { value, .. } = &mut larger.host.cpu.caches {
        value[3].size_bytes = 160 << 20;
    }
    out.says("3.2 times the last cache", &larger, &headlines);
    let mut large = run.clone();
    each(&mut large, "memory.latency")
        .filter(|m| m.params.get(key::WORKING_SET) > Some(1 << 29))
        .for_each(|m| m.verdict = Verdict::Invalid);
    let latency = ["memory.latency figure"];
    out.says("the large sets are invalid", &large, &latency);
    let random = |m: &Measurement| m.params.get(key::ORDER) == Some("rand");
    let both = with_local_order();
    out.says("local order too", &both, &["memory.latency figure", "memory.read_write reciprocal"]);
    let mut less = both.clone();
    less.measurements.retain(|m| !random(m) || m.params.get(key::WORKING_SET) <= Some(1 << 30));
    out.says("the largest set in local order only", &less, &latency);
    let mut local = both.clone();
    local.measurements.retain(|m| !random(m));
    out.says("local order alone", &local, &latency);
    let mut invalid = both;
    each(&mut invalid, "memory.latency")
        .filter(|m| random(m))
        .for_each(|m| m.verdict = Verdict::Invalid);
    out.says("random order is invalid", &invalid, &latency);
    insta::assert_snapshot!(out.text);
}

#[test]
fn sentences_and_notes() {
    let mut out = Dump::default();
    let run = fixture::memory();
    let mut found = run.clone();
    each(&mut found, "memory.latency").for_each(|m| m.findings.clear());
    let parts = ["memory.latency sentences", "memory.sweep sentences/1"];
    out.says("no cache was found smaller than reported", &found, &parts);
    for level in [serde_json::json!(1), "L1".into(), "L1d".into()] {
        let mut run = run.clone();
        for f in each(&mut run, "memory.latency").flat_map(|m| &mut m.findings) {
            f.evidence.insert("level".into(), level.clone());
            f.evidence.insert("reported_bytes".into(), (48 << 10).into());
            f.evidence.insert("measured_bytes".into(), (16 << 10).into());
        }
        out.says(&format!("level {level} was found smaller"), &run, &parts[..1]);
    }
    let mut slower = run.clone();
    each(&mut slower, "memory.copy")
        .filter(|m| m.params.threads() == 8)
        .for_each(|m| testing::rescale(m.summary.as_mut().unwrap(), 0.5));
    out.says("oversubscribed threads are slower", &slower, &["memory.copy sentences"]);
    let reciprocal = ["memory.read_write reciprocal"];
    out.says("only small sets", &up_to(&run, 256 << 20), &reciprocal);
    let mut without = without(&run, "memory.latency");
    out.says("no latency was measured", &without, &reciprocal);
    without.workloads.remove("memory.latency");
    out.says("no latency is declared", &without, &reciprocal);
    let mut doubtful = run;
    each(&mut doubtful, "memory.latency").for_each(|m| m.verdict = Verdict::Suspect);
    out.says("all latencies are suspect", &doubtful, &["memory.latency matrix/notes"]);
    insta::assert_snapshot!(out.text);
}

/// A roofline combines measurements at one number of threads, and none that is not valid.
#[test]
fn rooflines() {
    let mut out = Dump::default();
    let roofline = ["* roofline"];
    let run = fixture::memory();
    for missing in ["cpu.flops", "memory.triad"] {
        out.says(&format!("without {missing}"), &without(&run, missing), &roofline);
    }
    let mut reads = run.clone();
    let mut more = run.measurements.clone();
    more.retain(|m| m.workload == "memory.triad");
    more.iter_mut().for_each(|m| m.workload = "memory.read".into());
    reads.measurements.extend(more);
    fixture::declare(&mut reads);
    out.says("reads, which compute nothing", &reads, &roofline);
    out.says("reads instead of triads", &without(&reads, "memory.triad"), &roofline);
    let mut doubtful = run.clone();
    each(&mut doubtful, "memory.triad")
        .filter(|m| m.params.get(key::STORES) == Some("nontemporal"))
        .for_each(|m| m.verdict = Verdict::Suspect);
    out.says("the fast triads are suspect", &doubtful, &roofline);
    each(&mut doubtful, "memory.triad")
        .filter(|m| m.params.threads() > 1)
        .for_each(|m| m.verdict = Verdict::Invalid);
    out.says("those of 2 threads are invalid", &doubtful, &roofline);
    let mut one = run.clone();
    one.measurements.retain(|m| m.workload != "memory.sweep" || m.params.threads() == 1);
    out.says("levels at 1 thread only", &one, &roofline);
    out.says("no levels", &without(&run, "memory.sweep"), &roofline);
    insta::assert_snapshot!(out.text);
}

#[test]
fn a_ceiling_without_a_share_of_it_has_a_reason_and_no_meter() {
    let why = "the number lies above this ceiling and within its uncertainty (fixture)";
    let mut run = fixture::memory();
    for m in each(&mut run, "memory.triad") {
        m.efficiency = None;
        m.missing.insert("efficiency".into(), why.into());
    }
    let mut out = Dump::default();
    out.says("no efficiency", &run, &["memory.triad figure", "memory.triad table"]);
    insta::assert_snapshot!(out.text);
    let has_meter = |run: &Run| {
        let page = render("html", run);
        let mut rows = page.split("<article").map(|r| r.split("</article>").next().unwrap());
        rows.find(|r| r.contains("Triad")).unwrap().contains("class=\"meter\"")
    };
    assert!(has_meter(&fixture::memory()) && !has_meter(&run));
}
