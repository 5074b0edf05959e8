use super::*;
use crate::testing::{CUT, near, only, read_captured, refuses, replaced, with_piece};
use proofmark_model::key;

const OMNI: &str = include_str!("captured/2.7.0-omni-refused.txt");
const REFUSED: &str = include_str!("captured/2.7.0-refused.txt");

fn text(name: &str) -> &'static str {
    read_captured("netperf", &format!("2.7.0-{name}.txt"))
}

#[test]
fn streams_are_in_bits_whatever_the_unit() {
    for (unit, factor) in [
        ("10^0bits", 1.0),
        ("10^9bits", 1e9),
        ("Bytes", 8.0),
        ("KBytes", 8192.0),
        ("GBytes", 8.0 * 1_073_741_824.0),
    ] {
        let other = with_piece(&Netperf, text("tcp_stream"), "10^6bits", unit);
        assert!(near(other.trials[0].value, 22_090.61 * factor), "{unit}");
    }
}

#[test]
fn round_trips_are_ours_only_one_in_flight() {
    let burst = with_piece(&Netperf, text("udp_rr"), "first burst 0", "first burst 5");
    assert_eq!((burst.comparable, burst.params.number("burst")), (false, Some(5)));
}

#[test]
fn the_server_shows_the_path() {
    for (to, path) in [
        ("127.0.0.1 ()", Some("loopback")),
        ("localhost (::1)", Some("loopback")),
        // The address counts, not the name.
        ("loghost (127.0.0.1)", Some("loopback")),
        ("peer (192.0.2.2)", None),
    ] {
        let f = only(&Netperf, &text("tcp_rr").replace("127.0.0.1 ()", to));
        assert_eq!(f.params.get(key::PATH), path, "{to}");
    }
}

#[test]
fn tables_of_one_file() {
    let twice = text("tcp_rr").repeat(2) + text("tcp_stream");
    let figures = Netperf.parse(&twice).unwrap().figures;
    assert_eq!(figures.iter().map(|f| f.trials.len()).collect::<Vec<_>>(), [2, 1]);
    let table = |size: u32| replaced(text("tcp_rr"), "1        1 ", &format!("{size} {size}"));
    let many: String = (1..=1000).map(table).collect();
    assert_eq!(Netperf.parse(&many).unwrap().figures.len(), 1000);
    let old = with_piece(&Netperf, text("tcp_stream"), "MIGRATED ", "");
    assert_eq!(old, only(&Netperf, text("tcp_stream")), "as versions before 2.6 begin");
}

fn findings(figure: &crate::Figure) -> Vec<(&str, String)> {
    let plain = |f: &proofmark_model::Finding| f.message.replace('\u{202f}', " ");
    figure.findings.iter().map(|f| (f.check.as_ref(), plain(f))).collect()
}

#[test]
fn a_confidence_that_was_not_achieved_is_reported() {
    let f = only(&Netperf, text("tcp_stream-confidence"));
    let says = "netperf warns: the desired confidence was not achieved; the throughput's interval is \
                94.695% wide (±47.3 %); the requested one is ±0.500% @ 99%";
    assert_eq!(findings(&f), [("tool_warning", says.to_owned())]);
    assert_eq!(findings(&only(&Netperf, text("tcp_stream"))), []);
}

#[test]
fn what_is_said_twice_must_agree() {
    for (name, from, to, words) in [
        (
            "udp_stream",
            "242355",
            "342355",
            "342355 messages at 2.854 Gbit/s take 1.41 s, not 1.00 s",
        ),
        ("udp_stream", "564731", "164731", "242355 messages were received, but only 164731"),
        ("tcp_stream-verbose", "2764357632", "1764357632", "take 0.64 s, not 1.00 s"),
        ("tcp_stream-verbose", "", "", ""),
    ] {
        let figure = with_piece(&Netperf, text(name), from, to);
        let found = findings(&figure);
        assert_eq!(found.is_empty(), words.is_empty(), "{found:?}");
        assert!(found.iter().all(|f| f.0 == "two_accounts" && f.1.contains(words)), "{found:?}");
    }
}

#[test]
fn a_round_trip_proves_itself_and_a_server_is_a_parameter() {
    let (one, other) = (text("tcp_rr"), text("tcp_rr").replace("127.0.0.1 ()", "192.0.2.3 ()"));
    assert!(only(&Netperf, one).proof.is_some());
    assert_eq!(only(&Netperf, text("tcp_stream")).proof, None);
    let figures = Netperf.parse(&format!("{one}{other}{one}")).unwrap().figures;
    assert_eq!(figures.iter().map(|f| f.trials.len()).collect::<Vec<_>>(), [2, 1]);
    assert_eq!(figures[1].params.word("server"), Some("192.0.2.3"));
    let wrapped = one.replace("port 0 AF_INET to 127.0.0.1", "port 0\nAF_INET to 127.0.0.1");
    assert_eq!(only(&Netperf, &wrapped), only(&Netperf, one), "as mails break lines");
    let old = replaced(
        &other,
        "MIGRATED TCP REQUEST/RESPONSE TEST from 0.0.0.0 (0.0.0.0) port 0 AF_INET to",
        "TCP REQUEST/RESPONSE TEST to",
    );
    assert_eq!(only(&Netperf, &old).trials, only(&Netperf, one).trials);
}

#[test]
fn other_outputs_are_named() {
    let rows = |name| {
        text(name)
            .lines()
            .filter(|l| l.starts_with(|c: char| c.is_ascii_digit()))
            .fold(String::new(), |all, l| all + l + "\n")
    };
    let omni = "MIGRATED TCP REQUEST/RESPONSE TEST from 0.0.0.0 (0.0.0.0) port 0 AF_INET to 192.0.2.3 () port 0 \
                AF_INET : demo : first burst 0\n\
                Throughput Throughput Mean         99th         Elapsed\n\
                           Units      Latency      Percentile   Time\n\
                                      Microseconds Latency      (sec)\n\
                18412.07   Trans/s    54.12        71           10.00\n";
    let pairs = "THROUGHPUT=941.48\nTHROUGHPUT_UNITS=10^6bits/s\n";
    let csv = "Throughput,Throughput Units,Elapsed Time (sec)\n941.48,10^6bits/s,10.00\n";
    for (text, words) in [
        (&*rows("tcp_stream"), "netperf's header is missing, as with -P 0"),
        (&rows("tcp_rr"), "netperf's header is missing, as with -P 0"),
        (&rows("udp_stream-cpu"), "netperf's header is missing, as with -P 0"),
        (
            omni,
            "line 5: these are not the columns of the classic table, but of netperf's omni (-O)",
        ),
        (
            pairs,
            "line 1: netperf's list of KEY=VALUE (-k), which is not read: run the test without",
        ),
        (csv, "line 1: netperf's CSV (-o), which is not read"),
    ] {
        assert!(Netperf.recognises(text), "{text}");
        refuses(&Netperf, text, &[("", "", words)]);
    }
    assert!(!Netperf.recognises("1024 2048 1.5\n"));
}

#[test]
fn what_is_no_whole_table_is_refused() {
    assert!(!Netperf.recognises(REFUSED));
    let tcp = text("tcp_stream");
    let open = format!("{}{tcp}", &tcp[..tcp.find("131072").unwrap()]);
    let changes = [
        (tcp, REFUSED, "line 1: netperf's header is missing"),
        (tcp, OMNI, "line 1: \"OMNI Send\" is a test that is not read"),
        ("131072", CUT, "line 6: the table of TCP_STREAM lacks its row"),
        (tcp, &open, "line 7: the table of TCP_STREAM lacks its row"),
        ("10^6bits/sec", "", "no unit"),
        (
            "Size     Time     Throughput",
            "Time     Size     Throughput",
            "line 7: these are not the columns",
        ),
        ("10^6bits", "10^5bits", "no unit of a throughput"),
        ("22090.61", "", "too few columns"),
        ("22090.61", "-22090.61", "not a number"),
        ("22090.61", "0", "not more than zero"),
        ("22090.61", "1e55", "out of range"),
        ("16384    1.00", "163.84    1.00", "not a whole number"),
    ];
    refuses(&Netperf, tcp, &changes);
    let changes =
        [("242355", "0", "receiver got nothing"), ("242355", "18446744073709551615", "too large")];
    refuses(&Netperf, text("udp_stream"), &changes);
}

#[test]
fn a_low_rate_of_datagrams_has_fewer_digits_than_the_time() {
    let slow = |rate: &str| {
        let text = format!(
            "MIGRATED UDP STREAM TEST from 0.0.0.0 () port 0 AF_INET to 10.7.7.7 () port 0 AF_INET\n\
             Socket  Message  Elapsed      Messages\n\
             Size    Size     Time         Okay Errors   Throughput\n\
             bytes   bytes    secs            #      #   10^6bits/sec\n\n\
             212992     500   2.50           14      0       0.02\n\
             212992           2.50           13              {rate}\n"
        );
        Netperf.read(&text).unwrap().figures.remove(0)
    };
    let figure = slow("0.02");
    assert!(figure.findings.is_empty(), "{:?}", figure.findings);
    assert!(near(figure.trials[0].value, 13.0 * 500.0 * 8.0 / 2.5));
    assert_eq!(slow("0.05").findings.len(), 1);
}
