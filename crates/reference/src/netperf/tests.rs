use super::*;
use crate::testing::{helpers, near};

const OMNI: &str = include_str!("captured/2.7.0-omni-refused.txt");
const REFUSED: &str = include_str!("captured/2.7.0-refused.txt");

helpers!(Netperf: only refused; "netperf" ".txt");

#[test]
fn streams_are_in_bits_whatever_the_unit() {
    let value = |name: &str| only(text(name)).trials[0].value;
    assert!(near(value("2.7.0-tcp_stream"), 22_090.61e6));
    assert!(near(value("2.7.0-tcp_stream-cpu"), 20_779.02e6), "with more columns");
    assert!(near(value("2.7.0-tcp_stream-units"), 2449.70 * 1_048_576.0 * 8.0), "MBytes/sec");
    assert!(near(value("2.7.0-udp_stream-cpu"), 60_642_045.6e3), "10^3bits/sec");
    for (unit, factor) in [
        ("10^0bits", 1.0),
        ("10^9bits", 1e9),
        ("Bytes", 8.0),
        ("KBytes", 8192.0),
        ("GBytes", 8.0 * 1_073_741_824.0),
    ] {
        let other = text("2.7.0-tcp_stream").replace("10^6bits", unit);
        assert!(near(only(&other).trials[0].value, 22_090.61 * factor), "{unit}");
    }
    let f = only(text("2.7.0-tcp_maerts"));
    assert_eq!(
        (f.params.text("direction"), f.params.int("block_size")),
        (Some("reverse"), Some(16_384))
    );
}

#[test]
fn the_rate_of_datagrams_is_the_receivers() {
    let f = only(text("2.7.0-udp_stream"));
    assert_eq!((&*f.test, f.params.int("block_size")), ("UDP_STREAM", Some(1472)));
    let t = &f.trials[0];
    assert!(near(t.value, 2853.54e6) && (t.seconds - 1.0).abs() < 0.01, "{t:?}");
    let n = t.network.as_ref().unwrap();
    let d = n.datagrams.unwrap();
    assert_eq!((d.sent, d.received, d.reordered), (564_731, 242_355, None));
    assert_eq!((n.sent_bytes, n.received_bytes), (564_731 * 1472, 242_355 * 1472));
}

#[test]
fn round_trips_are_ours_only_one_in_flight_and_of_one_size() {
    let f = only(text("2.7.0-tcp_rr"));
    assert_eq!((&*f.test, f.unit), ("TCP_RR", Unit::OpPerSecond));
    assert!(near(f.trials[0].value, 208_450.89));
    assert_eq!((f.params.int("block_size"), f.params.int("burst")), (Some(1), None));
    let f = only(text("2.7.0-tcp_rr-cpu"));
    assert_eq!((f.comparable, f.params.int("response_size")), (false, Some(1024)));
    let burst = text("2.7.0-udp_rr").replace("first burst 0", "first burst 5");
    assert_eq!((only(&burst).comparable, only(&burst).params.int("burst")), (false, Some(5)));
    assert_eq!(only(text("2.7.0-tcp_crr")).test, "TCP_CRR");
    let f = only(text("2.7.0-udp_rr"));
    assert_eq!((&*f.test, f.comparable), ("UDP_RR", true));
}

#[test]
fn the_server_tells_the_path() {
    let path = |to: &str| {
        let of = text("2.7.0-tcp_rr").replace("127.0.0.1 ()", to);
        only(&of).params.text("path").map(str::to_owned)
    };
    assert_eq!(path("127.0.0.1 ()"), Some("loopback".to_owned()));
    assert_eq!(path("localhost (::1)"), Some("loopback".to_owned()));
    assert_eq!(
        path("loghost (127.0.0.1)"),
        Some("loopback".to_owned()),
        "the address, not the name"
    );
    assert_eq!(path("peer (192.0.2.2)"), None);
}

#[test]
fn tables_of_one_file() {
    let twice = text("2.7.0-tcp_rr").repeat(2) + text("2.7.0-tcp_stream");
    let figures = Netperf.parse(&twice).unwrap().figures;
    assert_eq!(figures.iter().map(|f| f.trials.len()).collect::<Vec<_>>(), [2, 1]);
    let many = |n| {
        (1..=n)
            .map(|size| text("2.7.0-tcp_rr").replace("1        1 ", &format!("{size} {size}")))
            .collect::<String>()
    };
    assert_eq!(Netperf.parse(&many(1000)).unwrap().figures.len(), 1000);
    assert!(refused(&many(1001)).what.contains("more than 1000 figures"));
    let old = text("2.7.0-tcp_stream").replace("MIGRATED ", "");
    assert_eq!(only(&old), only(text("2.7.0-tcp_stream")), "as versions before 2.6 begin");
}

#[test]
fn what_is_no_whole_table_is_refused() {
    assert!(!Netperf.recognises(REFUSED));
    assert_eq!(refused(REFUSED).to_string(), "line 1: no table of netperf");
    assert_eq!(refused(OMNI).to_string(), "line 1: the test \"OMNI Send\" is not read");
    let tcp = text("2.7.0-tcp_stream");
    let cut = &tcp[..tcp.find("131072").unwrap()];
    assert_eq!(refused(cut).to_string(), "line 6: the table of TCP_STREAM has no end");
    assert_eq!(
        refused(&format!("{cut}{tcp}")).to_string(),
        "line 7: the table of TCP_STREAM has no end"
    );
    let with = |from: &str, to: &str| refused(&tcp.replace(from, to)).to_string();
    assert!(with("10^6bits/sec", "").contains("no unit"));
    assert!(with("10^6bits", "10^5bits").contains("no unit of a throughput"));
    assert!(with("22090.61", "").contains("too few columns"));
    assert!(with("22090.61", "-22090.61").contains("not a number"));
    assert!(with("22090.61", "0").contains("not more than zero"));
    assert!(with("22090.61", "1e305").contains("out of range"));
    assert!(with("16384  ", "163.84 ").contains("not a whole number"));
    let udp =
        |from: &str, to: &str| refused(&text("2.7.0-udp_stream").replace(from, to)).to_string();
    assert!(udp("242355", "0").contains("receiver got nothing"));
    assert!(udp("242355", "18446744073709551615").contains("too large"));
}
