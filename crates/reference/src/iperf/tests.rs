use super::*;
use crate::testing::{CUT, near, only, read_captured, refuses, with_piece};

fn text(name: &str) -> &'static str {
    read_captured("iperf", name)
}

#[test]
fn bits_are_decimal_and_bytes_are_not() {
    for (unit, factor) in
        [("Kbits", 1e3), ("Tbits", 1e12), ("Bytes", 8.0), ("GBytes", 8.0 * 1_073_741_824.0)]
    {
        let unit = format!("{unit}/sec");
        let other = with_piece(&Iperf, text("2.0.14a-tcp.txt"), "Gbits/sec", &unit);
        assert!(near(other.trials[0].value, 20.9 * factor), "{unit}");
    }
}

#[test]
fn bytes_of_another_time_count_for_nothing() {
    let other = with_piece(&Iperf, text("2.1.8-tcp-small.txt"), "2999010", "1");
    assert!(near(other.trials[0].work, 0.1142));
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
        assert_eq!(f.params.int("window"), bytes, "{printed}");
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
fn each_run_of_a_log_is_read() {
    let one = text("2.1.8-tcp.txt");
    let figure = only(&Iperf, one);
    let both = only(&Iperf, &format!("{one}{one}"));
    assert_eq!(both.trials, [&figure.trials[..]; 2].concat());
    let others = format!("{one}{}", text("2.1.8-tcp-4-streams.txt"));
    let streams = Iperf.parse(&others).unwrap().figures;
    assert_eq!(
        streams.iter().map(|f| f.params.int("streams")).collect::<Vec<_>>(),
        [Some(1), Some(4)]
    );
}

#[test]
fn two_addresses_are_not_loopback() {
    let (here, peer) = ("connected with 127.0.0.1", "connected with 192.0.2.1");
    let f = with_piece(&Iperf, text("2.1.8-tcp.txt"), here, peer);
    assert_eq!(f.params.text("path"), None);
    assert_eq!(only(&Iperf, text("2.1.8-tcp.txt")).params.text("path"), Some("loopback"));
}

#[test]
fn what_is_no_whole_test_is_refused() {
    for (name, words) in [
        ("2.1.8-fd-refused.txt", "line 5: a test both ways at once"),
        ("2.1.8-server-refused.txt", "line 2: this is a server's"),
        ("2.1.8-refused.txt", "line 5: no rate: the test did not run"),
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
        ("16.3 Gbits", "0 Gbits", "out of range"),
        ("Gbits/sec", "Gbots/sec", "is no rate"),
        ("0.0000-1.0150", "0.0000-0.0000", "out of range"),
        ("0.0000-1.0150", "1.0150-0.0000", "no interval"),
        ("0.0000-1.0150", "1e999-1.0150", "not a number"),
        (" Gbits/sec", "", "ends too soon"),
        ("Client connecting to", CUT, "line 1: no test of iperf's client"),
    ];
    refuses(&Iperf, text("2.1.8-tcp.txt"), &changes);
    let lost = ("0/8931", "9/8", "more datagrams are lost");
    refuses(&Iperf, text("2.1.8-udp.txt"), &[lost]);
    let tcp = text("2.1.8-tcp-4-streams.csv");
    let mixed = [tcp, text("2.1.8-udp.csv")].concat();
    refuses(&Iperf, tcp, &[(tcp, &mixed, "both TCP and UDP")]);
    let changes = [
        (",0.0-1.0,", ",0.0-1.0,1,", "9 or 14 fields"),
        ("2190475324", "-1", "not a number"),
        ("17523066623", "0", "not more than zero"),
        ("0.0-1.0", "0.0", "no interval"),
    ];
    refuses(&Iperf, text("2.0.14a-tcp.csv"), &changes);
}
