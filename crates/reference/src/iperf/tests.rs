use super::*;
use crate::testing::{CUT, near, only, read_captured, refuses, with_piece};
use proofmark_model::key;

fn text(name: &str) -> &'static str {
    read_captured("iperf", name)
}

#[test]
fn bits_are_decimal_and_bytes_are_not() {
    let printed = "2.44 GBytes  20.9 Gbits/sec";
    for (moved, rate, bits) in [
        ("2.44 MBytes", "20457 Kbits/sec", 20_457e3),
        ("2.44 TBytes", "21.5 Tbits/sec", 21.5e12),
        ("2400 Bytes", "2400 Bytes/sec", 19_200.0),
        ("2.44 GBytes", "2.44 GBytes/sec", 2.44 * 8.0 * 1_073_741_824.0),
    ] {
        let line = format!("{moved}  {rate}");
        let other = with_piece(&Iperf, text("2.0.14a-tcp.txt"), printed, &line);
        assert!(near(other.trials[0].value, bits), "{line}");
    }
}

#[test]
fn a_buffer_is_reported_in_bytes() {
    for (printed, bytes) in [
        ("16.0 KByte", Some(16_384)),
        ("1.50 MByte", Some(3 << 19)),
        ("1 GByte", Some(1 << 30)),
        ("1 TByte", None),
        ("1e300 GByte", None),
        ("NaN Byte", None),
        ("-1 Byte", None),
    ] {
        let f = with_piece(&Iperf, text("2.1.8-tcp-128k.txt"), "16.0 KByte", printed);
        assert_eq!(f.params.get(key::WINDOW), bytes, "{printed}");
    }
}

#[test]
fn csv_of_a_receiver_has_its_datagrams() {
    let (sender, receiver) = ("0.000,0,-1,-0.000,0", "0.020,7,8505,0.08,2");
    let f = with_piece(&Iperf, text("2.1.8-udp.csv"), sender, receiver);
    let d = f.trials[0].network.as_ref().unwrap().datagrams.unwrap();
    assert_eq!((&*f.test, d.sent, d.lost(), d.reordered), ("UDP", 8505, 7, Some(2)));
    assert_eq!(f.trials[0].work, 12_500_880.0 * 8.0);
}

#[test]
fn a_connection_without_a_rate_was_cut() {
    let whole = text("2.1.8-tcp-4-streams.txt");
    let total = whole.find("[  2] 0.0000-1.0142").unwrap();
    let end = whole[total..].find('\n').unwrap();
    let header = whole[..whole.find("0.0000-").unwrap()].rfind('\n').unwrap() + 1;
    let cut = format!("{}{}", &whole[..header], &whole[total..total + end]);
    refuses(&Iperf, &cut, &[("", "", "3 connections have no rate")]);
}

#[test]
fn a_sum_without_its_streams_has_their_number() {
    let whole = text("2.1.8-tcp-4-streams.txt");
    let sum = whole.lines().rfind(|line| line.starts_with("[SUM]")).unwrap();
    let rows = whole.lines().filter(|line| !line.starts_with('['));
    let rows: String = rows.map(|line| format!("{line}\n")).collect();
    let f = only(&Iperf, &format!("{rows}{}\n", sum.replace("[SUM]", "[SUM-4]")));
    assert_eq!(f.params.get(key::STREAMS), Some(4));
    assert!(f.findings.is_empty(), "{:?}", f.findings);
    let unknown = only(&Iperf, &format!("{rows}{sum}\n"));
    assert_eq!((unknown.params.get(key::STREAMS), unknown.findings.len()), (None, 0));
}

#[test]
fn each_run_of_a_log_is_read() {
    let one = text("2.1.8-tcp.txt");
    let figure = only(&Iperf, one);
    let both = only(&Iperf, &format!("{one}{one}"));
    assert_eq!(both.trials, [&figure.trials[..]; 2].concat());
    let others = format!("{one}{}", text("2.1.8-tcp-4-streams.txt"));
    let streams = Iperf.parse(&others).unwrap().figures;
    assert_eq!(
        streams.iter().map(|f| f.params.get(key::STREAMS)).collect::<Vec<_>>(),
        [Some(1), Some(4)]
    );
}

fn findings(figure: &crate::Figure) -> Vec<(&str, &str)> {
    figure.findings.iter().map(|f| (&*f.check, &*f.message)).collect()
}

#[test]
fn runs_between_other_machines_do_not_repeat_one_another() {
    let figures = Iperf.parse(text("2.1.8-tcp-two-servers.txt")).unwrap().figures;
    let of = |f: &crate::Figure| (f.params.word("server").unwrap().to_owned(), f.trials[0].value);
    let all: Vec<_> = figures.iter().map(of).collect();
    assert_eq!(all.len(), 2);
    assert!(near(all[0].1, 24.3e9) && near(all[1].1, 17e9), "{all:?}");
    assert_eq!([&*all[0].0, &*all[1].0], ["127.0.0.1", "127.0.0.2"]);
    assert_eq!(figures[0].params.word("client"), None, "both have one");
    // The first and the last of three CSV runs have the same server.
    let figures = Iperf.parse(text("2.1.8-two-servers.csv")).unwrap().figures;
    assert_eq!(figures.iter().map(|f| f.trials.len()).collect::<Vec<_>>(), [2, 1]);
    let streams = only(&Iperf, text("2.1.8-tcp-2-runs-of-2-streams.csv"));
    assert_eq!((streams.trials.len(), streams.params.get(key::STREAMS)), (2, Some(2)));
    assert_eq!(streams.trials[1].work, (3_716_939_836.0 + 3_535_011_900.0) * 8.0);
    let csv = text("2.1.8-two-servers.csv");
    let sum = csv.replace("19700101000000", "20240101000000.125")
        + "20240101000000.125,127.0.0.1,SUM,\
              127.0.0.1,6001,-1,0.0-1.0,3610640444,28681940684\n";
    assert_eq!(Iperf.parse(&sum).unwrap().figures.len(), 2, "as some versions have it");
    // A connection may be reported before the header of its run.
    let early = "[  2] local 127.0.0.1 port 1 connected with 127.0.0.2 port 2 (reverse)\n";
    let one = text("2.1.8-tcp.txt");
    let directions =
        Iperf.parse(&format!("{one}{early}{}", text("2.1.8-reverse.txt"))).unwrap().figures;
    assert_eq!(
        directions.iter().map(|f| f.params.get(key::DIRECTION).unwrap()).collect::<Vec<_>>(),
        ["forward", "reverse"]
    );
    let failed = format!("{}{one}", text("2.1.8-no-server-refused.txt"));
    refuses(
        &Iperf,
        &failed,
        &[("", "", "line 2: no rate: the test did not run: tcp connect failed")],
    );
}

#[test]
fn the_default_rate_of_datagrams_is_no_rate_of_the_network() {
    let runs = only(&Iperf, text("made-2.0.5-udp-three-runs.txt"));
    let values: Vec<f64> = runs.trials.iter().map(|t| (t.value / 1e4).round() / 100.0).collect();
    assert_eq!(values, [1.05, 1.04, 1.05], "as printed, not bytes over 0.5 s");
    let ids: Vec<_> = findings(&runs).iter().map(|f| f.0).collect();
    assert_eq!(ids, ["udp_default_rate", "several_runs"]);
    for (name, from, to, expected) in [
        ("2.1.8-udp-default.txt", "", "", true),
        // The pace is above the rate, which the link limited.
        ("2.1.8-udp-default.txt", "target: 11215.21", "target: 1121.52", false),
        ("2.1.8-udp.txt", "", "", false),
        ("2.1.8-udp-2-streams-intervals.txt", "", "", false),
    ] {
        let f = with_piece(&Iperf, text(name), from, to);
        assert_eq!(
            f.findings.iter().any(|f| f.check == "udp_default_rate"),
            expected,
            "{name} {to}"
        );
    }
}

#[test]
fn a_server_may_report_in_csv_with_the_ends_exchanged() {
    let f = only(&Iperf, text("made-2.0.5-udp.csv"));
    let d = f.trials[0].network.as_ref().unwrap().datagrams.unwrap();
    assert_eq!(
        (&*f.test, d.sent, d.received, f.params.get(key::STREAMS)),
        ("UDP", 42_518, 42_113, Some(1))
    );
}

#[test]
fn a_client_that_receives_is_the_receiver() {
    assert!(only(&Iperf, text("2.1.8-reverse-2-streams.txt")).proof.is_some());
    assert_eq!(only(&Iperf, text("2.1.8-tcp.txt")).proof, None, "the sender's count");
    let paced = only(&Iperf, text("2.1.8-tcp-fq-rate.txt"));
    assert_eq!((&*paced.test, paced.findings.len()), ("TCP.sent.paced", 0));
}

#[test]
fn what_iperf_warns_of_is_reported() {
    let f = only(&Iperf, text("made-udp-unacknowledged.txt"));
    let said = findings(&f);
    assert_eq!((&*f.test, said.len()), ("UDP.sent", 2), "{said:?}");
    let ack = "iperf warns 2 times: did not receive ack of last datagram after 10 tries.";
    assert!(said.contains(&("tool_warning", ack)), "{said:?}");
    let window = "WARNING: TCP window size set to 256 bytes. A small window size\n";
    let f = only(&Iperf, &format!("{window}{}", text("2.1.8-tcp.txt")));
    assert!(findings(&f)[0].1.contains("window size set to 256"), "{:?}", findings(&f));
    assert_eq!(findings(&only(&Iperf, text("2.1.8-tcp-128k.txt"))), []);
}

#[test]
fn what_is_said_twice_must_agree() {
    let two = |name, from, to| {
        let f = with_piece(&Iperf, text(name), from, to);
        let found: Vec<_> = findings(&f).into_iter().filter(|f| f.0 == "two_accounts").collect();
        found.iter().map(|f| f.1.replace('\u{202f}', " ")).collect::<Vec<_>>().join("; ")
    };
    let streams = "2.1.8-tcp-4-streams.txt";
    for (name, from, to, words) in [
        (streams, "", "", ""),
        (streams, "2.51 GBytes  21.5 G", "2.31 GBytes  19.8 G", "[SUM] reports 2 480"),
        (
            streams,
            "[  2] 0.5000-1.0000 sec   224 MBytes  3.77 G",
            "[  2] 0.5000-1.0000 sec   324 MBytes  5.44 G",
            "the intervals of stream 2 moved 532",
        ),
        ("2.1.8-udp.txt", "0/8931", "0/9931", "sent 8932 datagrams, but its receiver reports 9931"),
        (
            "2.0.14a-udp.txt",
            "[  3] 0.0000-1.0004 sec  11.9 MBytes   100",
            "[  3] 0.0000-1.0004 sec  10.9 MBytes  91.4",
            "but its receiver got",
        ),
        ("2.1.8-udp.txt", "0/8931", "931/8931", "got 8000 datagrams with"),
    ] {
        let found = two(name, from, to);
        assert!(found.contains(words) && found.is_empty() == words.is_empty(), "{to}: {found}");
    }
    let changes = [
        ("1.93 GBytes", "19.3 GBytes", "line 7: 19.3 GBytes in 1.015 s are"),
        ("1.93 GBytes", "1,93 GBytes", "LC_ALL=C"),
        ("0.0000-1.0150", "0.0000-10.150", "not 16.3 Gbits/sec"),
    ];
    refuses(&Iperf, text("2.1.8-tcp.txt"), &changes);
    let changes = [("2190475324", "1190475324", "do not fit the interval of 0.0-1.0")];
    refuses(&Iperf, text("2.0.14a-tcp.csv"), &changes);
}

#[test]
fn two_addresses_are_not_loopback() {
    let (here, peer) = ("connected with 127.0.0.1", "connected with 192.0.2.1");
    let f = with_piece(&Iperf, text("2.1.8-tcp.txt"), here, peer);
    assert_eq!(f.params.get(key::PATH), None);
    assert_eq!(only(&Iperf, text("2.1.8-tcp.txt")).params.get(key::PATH), Some("loopback"));
}

#[test]
fn what_is_no_whole_test_is_refused() {
    for (name, words) in [
        ("2.1.8-fd-refused.txt", "line 5: a test both ways at once"),
        ("2.1.8-server-refused.txt", "line 2: this is a server's"),
        ("2.1.8-dual-refused.txt", "a test both ways (-d, -r)"),
        ("made-2.0.5-dual-refused.csv", "line 2: the server's port comes first"),
        ("made-2.1-dual-refused.csv", "line 2: a test both ways"),
        ("2.1.8-reverse-refused.csv", "line 1: the server's port comes first"),
        ("2.1.8-bounceback-refused.txt", "--bounceback is not read"),
        ("2.1.8-isochronous-refused.txt", "--isochronous is not read"),
        ("2.1.8-udp-nothing-refused.txt", "line 9: the interval has no length"),
        ("2.1.8-refused.txt", "line 2: no rate: the test did not run"),
    ] {
        assert!(Iperf.recognises(text(name)), "{name}");
        refuses(&Iperf, text(name), &[("", "", words)]);
    }
    let several = text("2.1.8-tcp-4-streams.txt");
    let unsummed = several.lines().filter(|l| !l.starts_with("[SUM]") && !l.starts_with("[ ID]"));
    let unsummed: String = unsummed.flat_map(|line| [line, "\n"]).collect();
    let changes =
        [("[  2] 0.0000-1.0142", CUT, "a part of the test"), (several, &*unsummed, "no [SUM]")];
    refuses(&Iperf, several, &changes);
    let missing = ("[  5] Server Report", CUT, "report of a stream is missing");
    refuses(&Iperf, text("2.0.14a-udp-lost.txt"), &[missing]);
    let changes = [
        ("1.93 GBytes  16.3 Gbits", "0 GBytes  0 Gbits", "the rate is zero"),
        ("16.3 Gbits", "0 Gbits", "not 0 Gbits"),
        ("Gbits/sec", "Gbots/sec", "is no rate"),
        ("0.0000-1.0150", "0.0000-0.0000", "no length"),
        ("0.0000-1.0150", "1.0150-0.0000", "no interval"),
        ("0.0000-1.0150", "1e999-1.0150", "not a number"),
        (" Gbits/sec", "", "ends too soon"),
        ("Client connecting to", CUT, "line 1: no line \"Client connecting to\""),
        ("Client connecting to", "#", "no line \"Client connecting to\""),
    ];
    refuses(&Iperf, text("2.1.8-tcp.txt"), &changes);
    let lost = ("0/8931", "9/8", "more datagrams are lost");
    refuses(&Iperf, text("2.1.8-udp.txt"), &[lost]);
    let changes = [
        (",0.0-1.0,", ",0.0-1.0,1,", "9 or 14 fields"),
        ("2190475324", "-1", "not a number"),
        ("17523066623", "0", "at 0 bit/s do not fit the interval"),
        ("0.0-1.0", "0.0", "no interval"),
    ];
    refuses(&Iperf, text("2.0.14a-tcp.csv"), &changes);
}
