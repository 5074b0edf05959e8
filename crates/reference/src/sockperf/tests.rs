use super::*;
use crate::testing::{helpers, near};

helpers!(Sockperf: only refused; "sockperf" ".txt");

#[test]
fn a_latency_is_a_full_round_trip() {
    let near = |v: f64, us: f64| near(v, us * 1e-6);
    let read = |name| Sockperf.parse(text(name)).unwrap().figures.remove(0);
    let f = read("3.6-tcp");
    let l = f.latency.unwrap();
    assert_eq!((&*f.test, l.count, f.trials[0].work), (TCP, 108_979, 108_979.0));
    assert_eq!((f.trials[0].seconds, f.params.text("path")), (0.55, Some("loopback")));
    assert!(near(l.mean, 2.0 * 2.516) && near(l.min, 2.0 * 2.379) && near(l.max, 2.0 * 78.401));
    assert!(near(l.p50, 2.0 * 2.453) && near(l.p90.unwrap(), 2.0 * 2.595));
    assert!(near(l.p99.unwrap(), 2.0 * 2.699) && near(l.p999.unwrap(), 2.0 * 15.448));
    let f = read("3.7-udp-full-rtt");
    assert_eq!(f.test, UDP);
    assert!(near(f.latency.unwrap().mean, 11.610), "already whole");
}

#[test]
fn messages_that_do_not_follow_each_other_are_no_round_trips_of_ours() {
    for (name, test) in [
        ("3.7-udp", UDP),
        ("3.7-udp-nonblocked", UDP),
        ("3.6-tcp-under-load", "TCP.answers"),
        ("3.7-udp-under-load", "UDP.answers"),
        ("3.7-udp-mps", "UDP.answers"),
    ] {
        assert_eq!(only(text(name)).test, test, "{name}");
    }
}

#[test]
fn what_is_no_whole_ping_pong_is_refused() {
    assert!(refused(text("3.7-throughput-refused")).what.contains("no valid duration"));
    assert!(refused(text("3.7-refused")).what.contains("no address"));
    assert!(refused(text("3.7-burst-refused")).what.contains("no mean"), "of 4 messages at once");
    let with = |from: &str, to: &str| refused(&text("3.7-tcp").replace(from, to)).to_string();
    assert!(with("Summary: Latency", "Summary:").contains("no mean"));
    assert!(with("<MIN>", "").contains("no least time"));
    assert!(with("<MAX>", "").contains("no greatest time"));
    assert!(with("percentile 50.000", "").contains("no median"));
    assert!(with(" observations", "").contains("no number of observations"));
    assert!(with("ReceivedMessages=106574", "ReceivedMessages=0").contains("out of range"));
    let two = text("3.7-tcp").replace("[ 0] IP", "[ 1] IP = ::1 # TCP\n[ 0] IP");
    assert!(refused(&two).what.contains("several sockets"));
}
