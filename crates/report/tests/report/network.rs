//! What a report says of a network.

use std::collections::BTreeMap;

use proofmark_model::{Param, Probe, Verdict};
use proofmark_report::view::{LineChart, View};
use proofmark_report::{Options, terminal};

use super::fixture;
use super::reading::{column, each, workload};
use super::rows::csv_rows;

#[test]
fn loopback_is_never_put_before_a_network_and_always_named() {
    let run = fixture::network();
    let view = workload(&run, "network.tcp.stream");
    assert_eq!(view.headline.value.as_deref(), Some("941.9"), "40.80 Gbit/s left no machine");
    assert!(view.headline.at.starts_with("to peer-1, forward, "), "{}", view.headline.at);
    let found = "Over loopback, without a network: 40.80 Gbit/s (loopback, forward, 4 streams, block size 64 KiB).";
    assert!(view.sentences.iter().any(|s| s == found), "{:?}", view.sentences);
    let run = fixture::loopback();
    for view in View::from_run(&run).workloads {
        assert!(view.headline.at.starts_with("loopback, "), "{}: {}", view.id, view.headline.at);
        for line in &view.lines {
            assert!(line.title.contains("(loopback"), "{}", line.title);
        }
        assert!(view.table.caption.contains("(loopback, "), "{}", view.table.caption);
        assert!(view.sentences.iter().all(|s| !s.starts_with("Over loopback")));
    }
}

#[test]
fn a_round_trip_is_that_of_ends_that_sleep_and_one_at_a_time() {
    let mut run = fixture::loopback();
    let h = workload(&run, "network.tcp.rtt").headline;
    assert_eq!(h.at, "loopback, blocking, block size 1 B");
    assert_eq!(h.extra.as_deref(), Some("p50 12.00 us, p99 30.00 us"));
    each(&mut run, "network.tcp.rtt")
        .filter(|m| m.params.text("mode") == Some("block"))
        .for_each(|m| m.verdict = Verdict::Invalid);
    let h = workload(&run, "network.tcp.rtt").headline;
    assert_eq!(h.at, "No usable result: that of loopback, blocking, block size 1 B is invalid.");
}

#[test]
fn both_ways_at_once_is_not_the_rate_of_one() {
    let mut run = fixture::loopback();
    let h = workload(&run, "network.tcp.stream").headline;
    assert_eq!(h.value.as_deref(), Some("40.80"), "45.60 is the sum of both");
    run.measurements.retain(|m| m.params.text("direction") == Some("both"));
    let h = workload(&run, "network.tcp.stream").headline;
    assert_eq!(h.value.as_deref(), Some("45.60"));
}

fn lines<'a>(lines: &'a [LineChart], what: &str) -> &'a LineChart {
    let titles: Vec<&str> = lines.iter().map(|l| l.title.as_str()).collect();
    lines.iter().find(|l| l.title.contains(what)).unwrap_or_else(|| panic!("{titles:?}"))
}

#[test]
fn loopback_stands_beside_the_other_machine_in_each_chart() {
    let run = fixture::network();
    for (id, what) in [
        ("network.tcp.stream", "rate by streams"),
        ("network.tcp.stream", "rate by block size"),
        ("network.udp.stream", "rate by streams"),
        ("network.tcp.rtt", "p50 by block size"),
    ] {
        let view = workload(&run, id);
        let paths: Vec<bool> = view
            .lines
            .iter()
            .filter(|l| l.title.contains(what))
            .flat_map(|l| &l.series)
            .map(|s| s.name.contains("to peer-1"))
            .collect();
        let titled = view.lines.iter().any(|l| l.title.contains("to peer-1"));
        assert!(paths.contains(&false) && (titled || paths.contains(&true)), "{id}: {what}");
    }
    let trips = &workload(&run, "network.tcp.rtt").lines;
    let sizes = lines(trips, "p50 by block size");
    assert_eq!(sizes.unit, "us");
    let of = |name: &str| sizes.series.iter().find(|s| s.name == name).unwrap();
    let texts: Vec<&str> = of("to peer-1, polling").spots.iter().map(|s| &*s.mark.text).collect();
    assert_eq!(texts, ["45.00", "46.00", "54.00"]);
    let said = workload(&run, "network.tcp.rtt").sentences;
    let found = "Over loopback, without a network: p50 12.00 us, p99 30.00 us (loopback, blocking, block size 1 B).";
    assert!(said.iter().any(|s| s == found), "{said:?}");
    let about = &of("loopback, blocking").spots[0].mark.about;
    assert!(about.ends_with(": p50 12.00 us, p99 30.00 us, ✓ valid"), "{about}");
}

#[test]
fn loss_is_drawn_over_what_was_sent() {
    let mut run = fixture::network();
    let view = workload(&run, "network.udp.stream");
    assert_eq!(view.curves.len(), 2, "one a path");
    let chart = view.curves.iter().find(|c| c.title.contains("loopback")).unwrap();
    assert_eq!(chart.x.label, "offered, Gbit/s");
    let [received, lost] = &chart.curves[..] else { panic!("two curves") };
    let last = (received.points.last().unwrap(), lost.points.last().unwrap());
    let client = |a: f64, b: f64| assert!((a - b).abs() < 1e-3 * b, "{a} for {b}");
    client(last.0.at[0], 50.0);
    client(last.0.at[1], 40.0);
    client(last.1.at[1], 10.0);
    let labels: Vec<&str> = lost.points.iter().map(|p| p.label.as_str()).collect();
    assert_eq!(labels, ["", "", "1.0 %", "20.0 %"]);
    let about = "requested unpaced: 50.00 Gbit/s sent, 40.00 Gbit/s received, 20.0 % of the \
                 datagrams lost, ! suspect";
    assert_eq!(last.0.about, about);
    run.measurements.retain(|m| m.params.text("rate") == Some("auto"));
    assert!(workload(&run, "network.udp.stream").curves.is_empty(), "one rate is no sweep");
    assert!(workload(&run, "network.udp.rtt").datagrams.rows.is_empty());
}

#[test]
fn datagrams_are_counted_and_short_ones_not_numbered() {
    let mut run = fixture::network();
    let table = workload(&run, "network.udp.stream").datagrams;
    assert_eq!(column(&table, "lost")[6..8], ["1.0", "20.0"]);
    assert_eq!(column(&table, "offered")[7], "50.00");
    let counts = |title| column(&table, title)[7].replace('\u{202f}', "").parse::<f64>().unwrap();
    let share = 1.0 - counts("received") / counts("sent");
    assert!((share - 0.2).abs() < 1e-3, "{share}");
    assert_eq!(column(&table, "reordered")[0], "18", "3 in each of 6 trials");
    let main = workload(&run, "network.udp.stream").table;
    assert_eq!(column(&main, "lost"), column(&table, "lost"));
    let first = each(&mut run, "network.udp.stream").next().unwrap();
    for n in first.trials.iter_mut().filter_map(|t| t.network.as_mut()) {
        let d = n.datagrams.as_mut().unwrap();
        (d.reordered, d.duplicated, d.jitter_s) = (None, None, None);
    }
    let table = workload(&run, "network.udp.stream").datagrams;
    assert_eq!(column(&table, "jitter").iter().filter(|c| **c == "-").count(), 1);
    assert!(table.notes.iter().any(|n| n == "datagrams this short are not numbered"));
}

#[test]
fn both_ends_are_told_apart_and_a_loopback_has_one_system() {
    let mut run = fixture::network();
    let ends = workload(&run, "network.tcp.stream").ends;
    let [tcp, systems] = &ends[..] else { panic!("two tables") };
    assert_eq!(
        column(tcp, "retransmits")[..2],
        ["10", "10"],
        "what the last trial says, not the sum"
    );
    assert_eq!(column(tcp, "round trip")[0], "210.0");
    let row = |m: &str, path: &str| {
        let at = |i: usize| [column(systems, "direction")[i], column(systems, "path")[i]];
        (0..systems.rows.len()).find(|i| at(*i) == [m, path]).unwrap()
    };
    let cell = |title: &str, at: usize| column(systems, title)[at].to_owned();
    for direction in ["forward", "reverse", "both"] {
        let (lo, peer) = (row(direction, "loopback"), row(direction, "to peer-1"));
        assert_eq!(cell("client interface", lo), "104.5", "{direction}");
        assert_eq!(cell("server interface", lo), "-");
        assert_eq!(cell("server system", lo), "-");
        assert_eq!(cell("client interface", peer), "104.5", "{direction}");
        assert_eq!(cell("server interface", peer), "104.5", "{direction}");
        let cpus =
            ["client CPU", "server CPU", "client system", "server system"].map(|t| cell(t, peer));
        assert_eq!(cpus, ["0.90", "0.40", "1.00", "0.50"]);
    }
    assert!(systems.notes.iter().any(|n| n == "over loopback, client and server share one system"));
    // Ends that count what ran ahead of the trial as well count over that time.
    for m in each(&mut run, "network.tcp.stream") {
        for n in m.trials.iter_mut().filter_map(|t| t.network.as_mut()) {
            n.received_bytes *= 2;
        }
    }
    let systems = workload(&run, "network.tcp.stream").ends.pop().unwrap();
    assert_eq!(column(&systems, "client CPU")[0], "0.45");
    let trips = workload(&run, "network.tcp.rtt").ends;
    assert_eq!(trips.len(), 1, "a connection of round trips fills no window");
    assert!(trips[0].columns.iter().all(|c| c.title != "client interface"));
}

#[test]
fn published_tables_are_in_megabits_and_milliseconds() {
    let run = fixture::network();
    let tables = workload(&run, "network.tcp.stream").published;
    let table = tables.iter().find(|t| t.caption.contains("to peer-1, forward, block size 64 KiB"));
    let table = table.unwrap();
    assert!(table.caption.ends_with(", in Mbit/s"), "{}", table.caption);
    assert_eq!(column(table, "streams"), ["1", "2", "4"]);
    assert_eq!(column(table, "Average"), ["940.5", "940.9", "941.9"]);
    assert_eq!(column(table, "Ceiling")[0], "978.1");
    assert_eq!(column(table, "of ceiling")[0], "96.2");
    let trips = workload(&run, "network.tcp.rtt").published;
    let table = trips.iter().find(|t| t.caption.contains("loopback, blocking")).unwrap();
    assert!(table.caption.contains("mean round trip, every trial by block size"));
    assert!(table.caption.ends_with(", in ms"), "{}", table.caption);
    assert_eq!(column(table, "Average")[0], "0.01380", "1.15 times the median of 12 us");
    // More streams make no round trip shorter.
    let mut run = fixture::network();
    for m in each(&mut run, "network.tcp.rtt") {
        let mut twice = m.clone();
        twice.params.0.insert("streams".into(), Param::Int(2));
        twice.trials.iter_mut().for_each(|t| t.value *= 2.0);
        *m = twice;
    }
    let mut both = fixture::network().measurements;
    both.retain(|m| m.workload == "network.tcp.rtt");
    run.measurements.extend(both);
    let trips = workload(&run, "network.tcp.rtt").published;
    let table = trips.iter().find(|t| t.caption.contains("loopback, blocking")).unwrap();
    assert_eq!(column(table, "streams"), ["1", "2"]);
    assert_eq!(column(table, "Average"), ["0.01380", "0.01380"]);
}

#[test]
fn a_row_of_the_csv_holds_what_both_ends_said() {
    let run = fixture::network();
    let of = |r: &BTreeMap<String, String>, name: &str| r[name].clone();
    let mut found = 0;
    for r in csv_rows(&run) {
        if of(&r, "trial").is_empty() {
            assert!(!of(&r, "missing").is_empty());
            continue;
        }
        let udp = of(&r, "workload").contains("udp");
        assert_eq!(of(&r, "datagrams_sent").is_empty(), !udp);
        assert_eq!(of(&r, "tcp_window_bytes"), if udp { "" } else { "430000" });
        assert_eq!(of(&r, "server_in_datagrams").is_empty(), of(&r, "path") == "loopback");
        assert!(!of(&r, "server_own_cpu_s").is_empty());
        found += 1;
    }
    assert_eq!(found, 49 * 6);
}

#[test]
fn the_server_and_the_interfaces_are_among_the_host_s_facts() {
    let mut run = fixture::network();
    let options = Options { width: 200, color: false };
    let found = terminal::host(&run.host, &options);
    for said in [
        "to peer-1 (192.0.2.7:5277)",
        "Fixture CPU 2C",
        "eth0: ethernet, MTU 1500 B, driver igb",
        "1.000 Gbit/s  fixture sysfs",
        "server interface line rate  -  not reported by the server",
        "declared network.send",
        "1.000 Gbit/s  declared with --limit",
    ] {
        assert!(found.contains(said), "{said} in {found}");
    }
    let lo = terminal::host(&fixture::loopback().host, &options);
    assert!(lo.contains("loopback: both ends run on this machine"));
    assert!(lo.contains("no line rate: loopback has no wire (fixture)"));
    assert!(
        !lo.contains("server processor") && !lo.contains("server interface"),
        "it is this one: {lo}"
    );
    run.host.network = Probe::missing("no server answered (fixture)");
    let found = terminal::host(&run.host, &options);
    assert!(found.contains("no server answered (fixture)") && !found.contains("server CPUs"));
    assert!(
        View::from_run(&run).workloads[0].headline.at.starts_with("peer, "),
        "its name is not known"
    );
}
