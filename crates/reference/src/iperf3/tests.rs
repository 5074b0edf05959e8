use super::*;
use crate::testing::{read_captured, refuses, with_piece};

fn text(name: &str) -> &'static str {
    read_captured("iperf3", &format!("{name}.json"))
}

#[test]
fn both_ways_take_the_longer_time() {
    let longer = with_piece(
        &Iperf3,
        text("3.12-tcp-bidir"),
        "1.000788,\n\t\t\t\"bytes\":\t249686016",
        "1.005,\n\t\t\t\"bytes\":\t249686016",
    );
    assert_eq!(longer.trials[0].seconds, 1.005);
}

#[test]
fn each_run_of_a_file_is_read_whatever_stands_around_it() {
    let one = text("3.12-tcp");
    let twice = format!("Defaulted container \"client\" out of: client\n{one}\ndone\n{one}\n");
    let figure = crate::testing::only(&Iperf3, one);
    let both = crate::testing::only(&Iperf3, &twice);
    assert_eq!(both.trials, [&figure.trials[..]; 2].concat());
    let others = format!("{one}\n{}", text("3.12-tcp-4-streams"));
    assert_eq!(Iperf3.parse(&others).unwrap().figures.len(), 2, "not the same streams");
    let refused = text("3.12-refused");
    let before = format!("x\n{one}\n");
    let error = Iperf3.parse(&format!("{before}{refused}")).unwrap_err();
    let line = Iperf3.parse(refused).unwrap_err().line;
    assert_eq!(error.line, before.matches('\n').count() + line, "{error}");
}

#[test]
fn parameters_are_ours() {
    let udp = |from, to| with_piece(&Iperf3, text("3.12-udp"), from, to).params;
    let more = udp("\"num_streams\":\t1", "\"num_streams\":\t4");
    assert_eq!(more.int("rate"), Some(400_000_000), "of all streams");
    let buffer = udp("\"sock_bufsize\":\t0", "\"sock_bufsize\":\t65536");
    assert_eq!(buffer.int("socket_buffer"), Some(65_536));
    let (here, peer) = ("\"remote_host\":\t\"127.0.0.1\"", "\"remote_host\":\t\"192.0.2.1\"");
    let tcp = |from, to| with_piece(&Iperf3, text("3.12-tcp"), from, to);
    assert_eq!(tcp(here, peer).params.text("path"), None);
    assert_eq!(tcp("\"TCP\"", "\"SCTP\"").test, "SCTP");
}

#[test]
fn a_test_that_failed_is_an_error() {
    for (name, words) in [
        ("3.12-refused", "line 10: error ended the test: unable to connect to server"),
        ("3.12-interrupted-refused", "error ended the test: interrupt - the client has terminated"),
        ("3.18-refused", "error ended the test: unable to connect to server"),
        ("3.9-refused", "test_start is not there"),
    ] {
        assert!(Iperf3.recognises(text(name)), "{name}");
        refuses(&Iperf3, text(name), &[("", "", words)]);
    }
}

#[test]
fn what_does_not_add_up_is_refused() {
    let lost = text("3.12-udp-lost");
    let rate = "941710528,\n\t\t\t\"bits_per_second\":\t7531763624.27581";
    let changes = [
        ("941710528", "999999999", "does not follow"),
        ("941710528", "-941710528", "below zero"),
        (rate, "0,\"bits_per_second\":0", "no byte"),
        ("\"UDP\"", "\"DCCP\"", "none of TCP"),
        ("1795297654", "9e15", "no time"),
        ("1795297654", "1e61", "is not a number"),
        ("1795297654", "\"x\"", "line 18: timestamp.timesecs is not a number, or below zero"),
        ("\"connecting_to\"", "\"accepted_connection\"", "a server"),
        (lost, "{\"start\": \"iperf 3\"\n,}", "line 2: "),
    ];
    refuses(&Iperf3, lost, &changes);
    // Several objects have these.
    for (from, to, why) in [
        ("\"lost_packets\":\t32691", "\"lost_packets\":\t932691", "more than packets"),
        ("\"packets\":\t672440", "\"packets\":\t6.5", "whole number"),
        ("\"seconds\":\t1.000255", "\"seconds\":\t0", "seconds is zero"),
    ] {
        refuses(&Iperf3, lost, &[(lost, &lost.replace(from, to), why)]);
    }
    let brief = text("3.9-tcp-bidir");
    refuses(&Iperf3, brief, &[(brief, &brief.replace("1.042199", "1e-55"), "out of range")]);
}
