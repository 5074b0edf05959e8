use super::*;
use crate::testing::{helpers, near};

helpers!(Iperf: only refused; "iperf" "");

#[test]
fn bits_are_decimal_and_bytes_are_not() {
    let value = |name: &str| only(text(name)).trials[0].value;
    assert!(near(value("2.0.14a-tcp.txt"), 20.9e9));
    assert!(near(value("2.0.14a-tcp-bits.txt"), 17_269_082_886.0));
    assert!(near(value("2.0.14a-tcp-bytes.txt"), 1600.0 * 8.0 * 1_048_576.0));
    for (unit, factor) in
        [("Kbits", 1e3), ("Tbits", 1e12), ("Bytes", 8.0), ("GBytes", 8.0 * 1_073_741_824.0)]
    {
        let other = text("2.0.14a-tcp.txt").replace("Gbits/sec", &format!("{unit}/sec"));
        assert!(near(only(&other).trials[0].value, 20.9 * factor), "{unit}");
    }
    assert!(
        refused(&text("2.0.14a-tcp.txt").replace("Gbits/sec", "Gbots/sec"))
            .what
            .contains("is no rate")
    );
}

#[test]
fn several_streams_are_their_sum() {
    let f = only(text("2.0.14a-tcp-4-streams.txt"));
    assert_eq!(f.params.int("streams"), Some(4));
    assert!(near(f.trials[0].value, 27.0e9) && near(f.trials[0].seconds, 1.0007), "the last [SUM]");
    let f = only(text("2.2.1-tcp-4-streams.csv"));
    assert_eq!(f.params.int("streams"), Some(4));
    assert!(near(f.trials[0].value, 22_786_446_284.0), "id -1");
    assert!(near(f.trials[0].work, 2_900_230_400.0 * 8.0));
    let f = only(text("2.0.14a-tcp-4-streams.csv"));
    let bytes = 606_732_348.0 + 494_927_932.0 + 556_007_484.0 + 1_107_558_460.0;
    assert!(near(f.trials[0].work, bytes * 8.0), "no sum in CSV");
    assert!(near(f.trials[0].seconds, 556_007_484.0 * 8.0 / 4_420_375_062.0), "the longest");
    let part = only(text("2.0.14a-tcp-intervals.csv"));
    assert!(near(part.trials[0].work, (2_243_559_484.0 + 2_953_576_508.0) * 8.0), "not a part");
}

#[test]
fn the_time_of_several_streams_is_that_of_the_longest() {
    // [SUM] says 42.9 Gbit/s, over 0.0447 s.
    let f = only(text("2.1.8-tcp-2-streams-bits.txt"));
    assert_eq!((&*f.test, f.params.int("streams")), ("TCP.sent", Some(2)));
    assert!(near(f.trials[0].work, 240_000_000.0 * 8.0));
    assert!(near(f.trials[0].seconds, 120_000_000.0 * 8.0 / 19_074_868_860.0), "{f:?}");
    // Here [SUM-2] says 19.3 Gbit/s.
    let f = only(text("2.2.1-tcp-2-streams-bits.txt"));
    assert_eq!(f.params.int("streams"), Some(2));
    assert!(near(f.trials[0].value, 2.0 * 8_789_518_499.0), "{f:?}");
}

#[test]
fn counted_bytes_are_not_rounded() {
    let f = only(text("2.1.8-tcp-small.txt"));
    assert_eq!((f.params.int("block_size"), f.trials[0].work), (Some(1), 42_794.0 * 8.0));
    assert!(near(f.trials[0].value, 2_999_010.0));
    let other = text("2.1.8-tcp-small.txt").replace("2999010", "1");
    assert!(near(only(&other).trials[0].work, 0.1142), "bytes of another time count for nothing");
    let d = only(text("2.1.8-udp-bits.txt")).trials[0].network.clone().unwrap();
    assert_eq!(d.received_bytes, (9836 - 4500) * 65_507);
}

#[test]
fn what_a_check_needs_of_a_buffer_is_told() {
    let f = only(text("2.0.14a-tcp-128k.txt"));
    assert_eq!((f.params.int("window"), f.params.int("socket_buffer")), (Some(4 << 20), None));
    assert_eq!(f.trials[0].work, 262_204.0 * 8.0, "less than its buffer holds");
    let p = only(text("2.1.8-tcp-2-streams-bits.txt")).params;
    assert_eq!((p.int("window"), p.int("socket_buffer")), (Some(2_000_000), Some(1_000_000)));
    let window = |told: &str| {
        let of = text("2.1.8-tcp-128k.txt").replace("16.0 KByte", told);
        only(&of).params.int("window")
    };
    for (told, bytes) in [
        ("16.0 KByte", Some(16_384)),
        ("1.50 MByte", Some(3 << 19)),
        ("1 GByte", Some(1 << 30)),
        ("1 TByte", None),
        ("1e300 GByte", None),
        ("NaN Byte", None),
        ("-1 Byte", None),
    ] {
        assert_eq!(window(told), bytes, "{told}");
    }
}

#[test]
fn the_rate_of_datagrams_is_the_receivers() {
    // Two reports: 200 MBytes at 1.67 Gbits/sec in 1.0000 sec, 186 MBytes at 1.58 in 0.9883.
    let f = only(text("2.0.14a-udp-lost.txt"));
    assert_eq!((&*f.test, f.params.int("streams")), ("UDP", Some(2)));
    assert!(near(f.trials[0].work, 1.67e9 + 1.58e9 * 0.9883), "{:?}", f.trials[0]);
    let d = f.trials[0].network.as_ref().unwrap().datagrams.unwrap();
    assert_eq!((d.sent, d.lost()), (474_913 + 396_393, 325_356 + 257_203));
    assert_eq!(d.reordered, Some(1));
    // The client tells the bytes of a datagram.
    let f = only(text("2.2.1-udp-lost.txt"));
    let came = 302_037.0 - 210_704.0 + 394_582.0 - 289_119.0;
    assert!(near(f.trials[0].work, came * 1400.0 * 8.0) && near(f.trials[0].seconds, 1.0054));
    let n = f.trials[0].network.as_ref().unwrap();
    assert_eq!(
        (n.sent_bytes, n.received_bytes as f64),
        ((302_037 + 394_582) * 1400, came * 1400.0)
    );
    // Among CSV, as this version prints it.
    let d = only(text("2.0.14a-udp.csv")).trials[0].network.clone().unwrap().datagrams.unwrap();
    assert_eq!((d.sent, d.lost()), (8511, 9));
}

#[test]
fn what_the_sender_says_is_called_so() {
    for name in ["2.1.8-udp-lost.txt", "2.1.8-udp.csv", "2.2.1-udp-2-streams.csv"] {
        let f = only(text(name));
        assert_eq!((&*f.test, &f.trials[0].network), ("UDP.sent", &None), "{name}");
    }
    let f = only(text("2.1.8-tcp.txt"));
    assert_eq!((&*f.test, &*f.title), ("TCP.sent", "TCP throughput, by the sender"));
    let f = only(text("2.1.8-reverse.txt"));
    assert_eq!((&*f.test, &*f.title), ("TCP", "TCP throughput"));
    assert_eq!(f.params.text("direction"), Some("reverse"));
    let f = only(text("2.1.8-udp-reverse.txt"));
    assert_eq!((&*f.test, f.params.text("direction")), ("UDP", Some("reverse")));
    let d = f.trials[0].network.as_ref().unwrap().datagrams.unwrap();
    assert_eq!((d.sent, d.received), (8931, 8931), "the total, not the parts");
    // CSV of a receiver.
    let received = text("2.1.8-udp.csv").replace("0.000,0,-1,-0.000,0", "0.020,7,8505,0.08,2");
    let f = only(&received);
    let d = f.trials[0].network.as_ref().unwrap().datagrams.unwrap();
    assert_eq!((&*f.test, d.sent, d.lost(), d.reordered), ("UDP", 8505, 7, Some(2)));
    assert_eq!(f.trials[0].work, 12_500_880.0 * 8.0);
}

#[test]
fn parameters_are_ours() {
    let p = |name: &str| only(text(name)).params;
    assert_eq!(p("2.1.8-udp.txt").int("block_size"), Some(1400));
    assert_eq!(p("2.1.8-tcp-enhanced.txt").int("block_size"), Some(131_072));
    assert_eq!(p("2.0.14a-tcp-enhanced.txt").int("block_size"), None, "rounded: 128 KByte");
    for name in ["2.1.8-tcp.txt", "2.1.8-tcp-enhanced.txt", "2.1.8-tcp-4-streams.csv"] {
        assert_eq!(p(name).text("path"), Some("loopback"), "{name}");
    }
    let peer =
        text("2.1.8-tcp.txt").replace("connected with 127.0.0.1", "connected with 192.0.2.1");
    assert_eq!(only(&peer).params.text("path"), None);
}

#[test]
fn what_is_no_whole_test_is_refused() {
    for (name, words) in [
        ("2.1.8-fd-refused.txt", "line 5: a test both ways at once"),
        ("2.1.8-server-refused.txt", "line 2: this is a server's"),
        ("2.1.8-refused.txt", "line 5: no rate: the test did not run"),
    ] {
        assert!(Iperf.recognises(text(name)), "{name}");
        assert!(
            refused(text(name)).to_string().starts_with(words),
            "{name}: {}",
            refused(text(name))
        );
    }
    let cut =
        |name: &str, from: &str| refused(&text(name)[..text(name).find(from).unwrap()]).to_string();
    assert!(cut("2.1.8-tcp-4-streams.txt", "[  2] 0.0000-1.0142").contains("a part of the test"));
    assert!(
        cut("2.0.14a-udp-lost.txt", "[  5] Server Report")
            .contains("report of a stream is missing")
    );
    let unsummed = text("2.1.8-tcp-4-streams.txt").replace("[SUM]", "[ ID]");
    let unsummed: String =
        unsummed.lines().filter(|l| !l.starts_with("[ ID]")).map(|l| format!("{l}\n")).collect();
    assert!(refused(&unsummed).what.contains("no [SUM]"), "{}", refused(&unsummed));
    let with =
        |name: &str, from: &str, to: &str| refused(&text(name).replace(from, to)).to_string();
    assert!(with("2.1.8-tcp.txt", "16.3 Gbits", "0 Gbits").contains("out of range"));
    assert!(with("2.1.8-tcp.txt", "0.0000-1.0150", "0.0000-0.0000").contains("out of range"));
    assert!(with("2.1.8-tcp.txt", "0.0000-1.0150", "1.0150-0.0000").contains("no interval"));
    assert!(with("2.1.8-tcp.txt", "0.0000-1.0150", "1e999-1.0150").contains("not a number"));
    assert!(with("2.1.8-tcp.txt", " Gbits/sec", "").contains("ends too soon"));
    assert!(with("2.1.8-udp.txt", "0/8931", "9/8").contains("more datagrams are lost"));
    assert_eq!(refused("x").to_string(), "line 1: no test of iperf's client");
    let mixed = text("2.1.8-tcp-4-streams.csv").to_owned() + text("2.1.8-udp.csv");
    assert!(refused(&mixed).what.contains("both TCP and UDP"));
    let csv = |from: &str, to: &str| with("2.0.14a-tcp.csv", from, to);
    assert!(csv(",0.0-1.0,", ",0.0-1.0,1,").contains("9 or 14 fields"));
    assert!(csv("2190475324", "-1").contains("not a number"));
    assert!(csv("17523066623", "0").contains("not more than zero"));
    assert!(csv("0.0-1.0", "0.0").contains("no interval"));
}
