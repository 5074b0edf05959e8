use super::*;
use crate::testing::helpers;

fn network(text: &str) -> NetworkTraffic {
    only(text).trials[0].network.clone().unwrap()
}

helpers!(Iperf3: only refused; "iperf3" ".json");

#[test]
fn the_rate_is_the_receivers() {
    // "sum_received": 7531763624.27581, where "sum_sent" has 7918495070.0985985.
    let f = only(text("3.12-udp-lost"));
    assert!((f.trials[0].value / 7_531_763_624.275_81 - 1.0).abs() < 1e-9, "{f:?}");
    assert_eq!(f.trials[0].work, 941_710_528.0 * 8.0);
    // "seconds" of "sum_received" of a test with -R.
    assert_eq!(only(text("3.12-tcp-reverse")).trials[0].seconds, 1.000_063);
}

#[test]
fn loss_is_told_in_datagrams() {
    let d = network(text("3.12-udp-lost")).datagrams.unwrap();
    assert_eq!((d.sent, d.received, d.lost()), (672_440, 672_440 - 32_691, 32_691));
    assert_eq!((d.reordered, d.jitter_s), (Some(0), None), "not paced");
    let paced = network(text("3.12-udp")).datagrams.unwrap();
    assert!(paced.jitter_s.is_some_and(|s| s < 1e-3));
}

#[test]
fn old_versions_tell_the_share_that_was_lost() {
    let f = only(text("3.9-udp-lost"));
    let kept = 2.0 * 486_024_960.0 - 1472.0 * 43_045.0;
    assert!((f.trials[0].work / 8.0 - kept).abs() < 2.0, "{}", f.trials[0].work / 8.0);
    assert_eq!(f.trials[0].seconds, 1.040_03);
    let d = network(text("3.9-udp-bidir")).datagrams.unwrap();
    assert_eq!((d.sent, d.received), (191 + 199, 191 + 197), "both ways");
    // Its sums of both ways have one name.
    let f = only(text("3.9-tcp-bidir"));
    assert_eq!(f.params.text("direction"), Some("both"));
    assert_eq!(f.trials[0].work, (2_291_138_560.0 + 229_113_856.0) * 8.0);
    assert_eq!(f.trials[0].seconds, 1.042_199);
}

#[test]
fn both_ways_are_added_over_the_longer() {
    let f = only(text("3.12-tcp-bidir"));
    assert_eq!(f.params.text("direction"), Some("both"));
    assert_eq!(f.params.int("streams"), Some(2));
    assert_eq!(f.trials[0].work, (2_500_853_760.0 + 249_686_016.0) * 8.0);
    assert_eq!(f.trials[0].seconds, 1.000_788);
    let ways = network(text("3.12-udp-bidir")).ways_s.unwrap();
    assert!(ways.iter().all(|s| *s > 0.9), "{ways:?}");
    let longer = text("3.12-tcp-bidir")
        .replace("1.000788,\n\t\t\t\"bytes\":\t249686016", "1.005,\n\t\t\t\"bytes\":\t249686016");
    assert_eq!(only(&longer).trials[0].seconds, 1.005);
}

#[test]
fn evidence_of_both_ends() {
    assert_eq!(only(text("3.12-tcp")).trials[0].network, None, "bytes were on the way");
    let n = network(text("3.12-udp"));
    assert!(n.received_bytes > 0 && n.received_bytes <= n.sent_bytes);
    assert!(n.client.own_cpu_s.unwrap() > 0.0 && n.server.own_cpu_s.unwrap() > 0.0);
}

#[test]
fn parameters_are_ours() {
    let f = only(text("3.12-udp-bidir"));
    let p = &f.params;
    assert_eq!((p.int("rate"), p.text("path")), (Some(100_000_000), Some("loopback")));
    let more = text("3.12-udp").replace("\"num_streams\":\t1", "\"num_streams\":\t4");
    assert_eq!(only(&more).params.int("rate"), Some(400_000_000), "of all streams");
    let buffer = text("3.12-udp").replace("\"sock_bufsize\":\t0", "\"sock_bufsize\":\t65536");
    assert_eq!(only(&buffer).params.int("socket_buffer"), Some(65_536));
    let peer = text("3.12-tcp")
        .replace("\"remote_host\":\t\"127.0.0.1\"", "\"remote_host\":\t\"192.0.2.1\"");
    assert_eq!(only(&peer).params.text("path"), None);
    let sctp = text("3.12-tcp").replace("\"TCP\"", "\"SCTP\"");
    assert_eq!(only(&sctp).test, "SCTP");
    let paced = only(text("3.12-tcp-paced"));
    assert_eq!((&*paced.test, &*paced.title), ("TCP.paced", "TCP throughput, paced"));
    assert_eq!(
        paced.params.int("target_bitrate"),
        Some(1_000_000_000),
        "no parameter of TCP's workload"
    );
}

#[test]
fn a_test_that_failed_is_an_error() {
    for (name, words) in [
        ("3.12-refused", "error ended the test: unable to connect to server"),
        ("3.12-interrupted-refused", "error ended the test: interrupt - the client has terminated"),
        ("3.18-refused", "error ended the test: unable to connect to server"),
        ("3.9-refused", "test_start is not there"),
    ] {
        assert!(Iperf3.recognises(text(name)), "{name}");
        let message = refused(text(name)).to_string();
        assert!(message.contains(words), "{name}: {message}");
    }
    assert!(
        refused(text("3.12-refused")).to_string().starts_with("line 10: "),
        "{}",
        refused(text("3.12-refused"))
    );
}

#[test]
fn what_does_not_add_up_is_refused() {
    let with = |from: &str, to: &str| {
        let of = text("3.12-udp-lost");
        assert!(of.contains(from), "{from}");
        refused(&of.replace(from, to)).to_string()
    };
    assert!(with("941710528", "999999999").contains("does not follow"));
    assert!(with("941710528", "-941710528").contains("below zero"));
    assert!(
        with("\"lost_packets\":\t32691", "\"lost_packets\":\t932691").contains("more than packets")
    );
    assert!(with("\"packets\":\t672440", "\"packets\":\t6.5").contains("whole number"));
    assert!(with("\"UDP\"", "\"DCCP\"").contains("none of TCP"));
    assert!(with("1795297654", "9e15").contains("no time"));
    assert!(with("\"connecting_to\"", "\"accepted_connection\"").contains("a server"));
    let silent =
        with("941710528,\n\t\t\t\"bits_per_second\":\t7531763624.27581", "0,\"bits_per_second\":0");
    assert!(silent.contains("no byte"), "{silent}");
    assert!(with("\"seconds\":\t1.000255", "\"seconds\":\t0").contains("seconds is zero"));
    let brief = text("3.9-tcp-bidir").replace("1.042199", "1e-308");
    assert!(refused(&brief).what.contains("out of range"), "{}", refused(&brief));
    let late = with("1795297654", "\"x\"");
    assert_eq!(late, "line 18: timestamp.timesecs is not a number, or below zero");
    assert_eq!(
        refused("{\"start\": \"iperf 3\"\n,}").to_string().split(':').next(),
        Some("line 2")
    );
}
