//! The report on network results of unusual runs.

use proofmark_model::{Probe, Verdict, key};

use super::dump::Dump;
use super::fixture;
use super::reading::each;

#[test]
fn main_results() {
    let mut out = Dump::default();
    let mut run = fixture::loopback();
    each(&mut run, "network.tcp.rtt")
        .filter(|m| m.params.get(key::MODE) == Some("block"))
        .for_each(|m| m.verdict = Verdict::Invalid);
    out.says("blocking round trips are invalid", &run, &["network.tcp.rtt figure"]);
    run.measurements.retain(|m| m.params.get(key::DIRECTION) == Some("both"));
    out.says("both directions alone", &run, &["network.tcp.stream figure"]);
    let mut run = fixture::network();
    run.host.network = Probe::missing("no server answered (fixture)");
    let unnamed = ["network.tcp.stream figure/at", "* host/4"];
    out.says("the server has no name", &run, &unnamed);
    let loopback = ["network.tcp.stream figure", "network.udp.stream charts", "* host/4"];
    out.says("over loopback alone", &fixture::loopback(), &loopback);
    insta::assert_snapshot!(out.text);
}

#[test]
fn tables() {
    let mut out = Dump::default();
    let mut run = fixture::network();
    run.measurements.retain(|m| m.params.get(key::RATE).is_none());
    run.measurements
        .retain(|m| m.workload != "network.udp.stream" || m.params.get(key::RATE).is_none());
    out.says("one rate is no sweep", &run, &["network.udp.stream times"]);
    let mut run = fixture::network();
    let first = each(&mut run, "network.udp.stream").next().unwrap();
    for n in first.trials.iter_mut().filter_map(|t| t.network.as_mut()) {
        let d = n.datagrams.as_mut().unwrap();
        (d.reordered, d.duplicated, d.jitter_s) = (None, None, None);
    }
    out.says("short datagrams", &run, &["network.udp.stream datagrams"]);
    // Counters that cover more than the trial are divided by that time.
    let trials = each(&mut run, "network.tcp.stream").flat_map(|m| &mut m.trials);
    trials.filter_map(|t| t.network.as_mut()).for_each(|n| n.received_bytes *= 2);
    out.says("twice the bytes were received", &run, &["network.tcp.stream ends"]);
    insta::assert_snapshot!(out.text);
}

/// A UDP throughput without its loss says little: the loss is beside it wherever the main results
/// are.
#[test]
fn the_loss_is_beside_the_throughput() {
    let mut run = fixture::loopback();
    run.measurements.retain(|m| m.workload == "network.udp.stream" && m.verdict.is_usable());
    run.measurements.truncate(1);
    for d in run.measurements[0].trials.iter_mut().filter_map(|t| t.network.as_mut()) {
        let d = d.datagrams.as_mut().unwrap();
        (d.sent, d.received, d.counted_lost) = (1000, 969, None);
    }
    let brief = proofmark_report::terminal::brief(
        &run,
        &proofmark_report::Options::default(),
        &super::reading::MORE,
    );
    let page = super::reading::render("html", &run);
    let answer = page.split("<div class=\"answers\">").nth(1).unwrap();
    let answer = answer.split("<section").nth(1).unwrap();
    for (format, text) in [
        ("terminal", &*brief),
        ("summary", &super::reading::render("summary", &run)),
        ("markdown", &super::reading::render("markdown", &run)),
        ("page", answer),
    ] {
        assert!(text.contains("3.1 %"), "{format}: {text}");
        assert!(text.contains("lost"), "{format}: {text}");
    }
    // TCP has no datagrams, so there is no column.
    let mut run = fixture::loopback();
    run.measurements.retain(|m| m.workload == "network.tcp.stream");
    assert!(!super::reading::render("summary", &run).contains("lost"));
}
