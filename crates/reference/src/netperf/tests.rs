use super::*;
use crate::testing::{CUT, near, only, read_captured, refuses, replaced, with_piece};

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
    assert_eq!((burst.comparable, burst.params.int("burst")), (false, Some(5)));
}

#[test]
fn the_server_shows_the_path() {
    for (to, path) in [
        ("127.0.0.1 ()", Some("loopback")),
        ("localhost (::1)", Some("loopback")),
        // The address, not the name.
        ("loghost (127.0.0.1)", Some("loopback")),
        ("peer (192.0.2.2)", None),
    ] {
        let f = only(&Netperf, &text("tcp_rr").replace("127.0.0.1 ()", to));
        assert_eq!(f.params.text("path"), path, "{to}");
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

#[test]
fn what_is_no_whole_table_is_refused() {
    assert!(!Netperf.recognises(REFUSED));
    let tcp = text("tcp_stream");
    let open = format!("{}{tcp}", &tcp[..tcp.find("131072").unwrap()]);
    let changes = [
        (tcp, REFUSED, "line 1: no table of netperf"),
        (tcp, OMNI, "line 1: the test \"OMNI Send\" is not read"),
        ("131072", CUT, "line 6: the table of TCP_STREAM has no end"),
        (tcp, &open, "line 7: the table of TCP_STREAM has no end"),
        ("10^6bits/sec", "", "no unit"),
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
