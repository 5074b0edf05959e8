use super::*;
use crate::testing::{CUT, near, only, read_captured, refuses, replaced, with_piece};
use proofmark_model::key;

fn text(name: &str) -> &'static str {
    read_captured("qperf", &format!("0.4.11-{name}.txt"))
}

/// Returns the block of a test, as qperf prints it with -vv.
fn block(test: &str) -> String {
    let all = text("very-verbose");
    let from = all.find(&format!("{test}:\n")).unwrap();
    let rest = &all[from..];
    let to = rest.match_indices(":\n").nth(1).map_or(rest.len(), |(at, _)| at);
    rest[..rest[..to].rfind('\n').unwrap() + 1].to_owned()
}

fn found(figure: &Figure) -> Vec<(&str, Severity)> {
    figure.findings.iter().map(|f| (&*f.check, f.severity)).collect()
}

#[test]
fn units_are_decimal_and_a_latency_is_half_of_a_round_trip() {
    let f = with_piece(&Qperf, "tcp_bw:\n    bw  =  3.64 GB/sec\n", "3.64", "2.5");
    assert!(near(f.trials[0].value, 2e10) && f.proof.is_some());
    for (unit, bits) in [("Gb/sec", 2.5e9), ("MB/sec", 2e7), ("bytes/sec", 20.0), ("bits/sec", 2.5)]
    {
        let f = only(&Qperf, &format!("tcp_bw:\n    bw  =  2.5 {unit}\n"));
        assert!(near(f.trials[0].value, bits), "{unit}");
    }
    for (latency, trips) in [("25 us", 20_000.0), ("1,000 ns", 5e5), ("2 ms", 250.0)] {
        let f = only(&Qperf, &format!("tcp_lat:\n    latency  =  {latency}\n"));
        assert!(near(f.trials[0].value, trips), "{latency}");
    }
}

#[test]
fn what_is_said_twice_and_differently_is_found() {
    let rows = [
        ("tcp_lat", "latency", "1"),
        ("tcp_bw", "msg_rate", "9"),
        ("udp_bw", "recv_bw", "9"),
        ("udp_bw", "recv_msgs", "9"),
        ("udp_bw", "msg_size", "9"),
    ];
    for (test, name, before) in rows {
        let block = block(test);
        let as_printed = only(&Qperf, &block);
        assert!(found(&as_printed).iter().all(|(check, _)| *check != "two_accounts"), "{test}");
        let line = block.lines().find(|l| l.trim_start().starts_with(name)).unwrap();
        let (name, value) = line.split_once('=').unwrap();
        let value = value.replace('(', &format!("({before}"));
        let other = format!("{name}=  {before}{}", value.trim());
        let figure = with_piece(&Qperf, &block, line, &other);
        assert!(found(&figure).contains(&("two_accounts", Severity::Invalid)), "{other}");
    }
}

#[test]
fn datagrams_are_counted_or_their_loss_is_found() {
    let f = only(&Qperf, &block("udp_bw"));
    let n = f.trials[0].network.as_ref().unwrap();
    let d = n.datagrams.unwrap();
    assert_eq!((n.sent_bytes, n.received_bytes), (d.sent * 32_768, d.received * 32_768));
    assert!(n.client.busy_s.is_some() && n.client.own_cpu_s.is_none());
    let f = Qperf.parse(text("unified")).unwrap().figures.remove(1);
    let t = &f.trials[0];
    let over = (t.value * 1.01).round();
    assert_eq!(over, 1_536_950_272.0 * 8.0, "over the receiver's time");
    let brief = |sent| {
        let text = "udp_bw:\n    send_bw  =  4 GB/sec\n    recv_bw  =  3.89 GB/sec\n";
        found(&with_piece(&Qperf, text, "4 GB", sent)).first().copied().map(|(check, s)| {
            assert_eq!(check, "udp_loss");
            s
        })
    };
    let found = ["4.00 GB", "8.00 GB", "3.89 GB", "3.80 GB"].map(brief);
    assert_eq!(found, [Some(Severity::Note), Some(Severity::Suspect), None, None]);
    // The ends stop one after the other.
    let block = block("udp_bw");
    let line = |name| block.lines().find(|l| l.trim_start().starts_with(name)).unwrap();
    let same = line("send_msgs").replace("send_msgs", "recv_msgs");
    let one_more = replaced(&block, line("recv_msgs"), &same);
    let one_more = replaced(&one_more, line("send_msgs"), "    send_msgs = 64,800");
    assert!(Qperf.parse(&one_more).is_ok());
}

#[test]
fn each_test_is_a_figure_and_the_same_ones_are_trials() {
    let loops = Qperf.parse(text("loop")).unwrap().figures;
    let sizes: Vec<_> = loops.iter().map(|f| f.params.get(key::BLOCK_SIZE)).collect();
    assert_eq!(sizes, [Some(1), Some(8), Some(64), Some(512)]);
    assert_eq!(only(&Qperf, &block("tcp_bw").repeat(3)).trials.len(), 3);
    let unknown =
        Qperf.parse("udp_lat:\n    latency  =  9.5 us\nudp_lat:\n    latency  =  31 us\n");
    let trials: Vec<_> = unknown.unwrap().figures.iter().map(|f| f.trials.len()).collect();
    assert_eq!(trials, [1, 1], "a loop over sizes prints so");
    let rounded = Qperf.parse(text("bits")).unwrap().figures;
    assert!(rounded.iter().all(|f| f.params.get(key::BLOCK_SIZE).is_none()), "1.4 KB");
    let other = only(&Qperf, &block("tcp_bw").replace("tcp_bw", "rc_bi_bw"));
    assert_eq!((&*other.test, other.params.get(key::DIRECTION)), ("rc_bi_bw", None));
    let warned = only(&Qperf, text("warning"));
    assert_eq!(found(&warned), [("tool_warning", Severity::Note)]);
}

#[test]
fn what_is_no_whole_test_is_refused() {
    for (name, words) in [
        ("refused", "line 2: tcp_bw ended: 127.0.0.1: failed to connect"),
        ("rdma-refused", "line 2: rc_bw ended: failed to find any InfiniBand"),
        ("too-large-refused", "line 1: udp_bw has no recv_bw above zero"),
    ] {
        assert!(Qperf.recognises(text(name)), "{name}");
        refuses(&Qperf, text(name), &[("", "", words)]);
    }
    let changes = [
        ("tcp_bw:", "rc_rdma_read_lat:", "\"rc_rdma_read_lat\" is a test that is not read"),
        ("tcp_bw:", "rc_compare_swap_mr:", "is not read"),
        ("    bw", CUT, "line 1: tcp_bw has no bw"),
        ("GB/sec", "GX/sec", "an unknown unit"),
        ("    bw ", "    bw = 1 GB/sec\n    bw ", "line 3: this test has a value twice"),
    ];
    let test = block("tcp_bw");
    refuses(&Qperf, &test, &changes);
    refuses(&Qperf, &test, &[(&test, "conf:\n    loc_node = a\n", "no test has a result")]);
    refuses(&Qperf, &test, &[(&test, "bw = 1", "no test of qperf")]);
}
