use super::*;
use crate::testing::{near, only, read_captured, refuses, replaced, with_piece};
use proofmark_model::key;

fn text(name: &str) -> &'static str {
    read_captured("sockperf", &format!("3.7-{name}.txt"))
}

#[test]
fn what_is_no_whole_ping_pong_is_refused() {
    let changes = [
        (text("tcp"), text("server-refused"), "line 2: this is a server's"),
        (text("tcp"), text("playback-without-answers-refused"), "the server did not answer"),
        (text("tcp"), text("full-log-refused"), "a full log (--full-log) is not read"),
        (text("tcp"), text("refused"), "with the protocol is missing"),
        // Bursts of 4 messages.
        (text("tcp"), text("burst-refused"), "bursts (--burst) are not read"),
        ("Summary: Latency", "Summary:", "the mean is missing"),
        ("<MIN>", "", "the minimum time is missing"),
        ("<MAX>", "", "the maximum time is missing"),
        ("percentile 50.000", "", "the median is missing"),
        ("Total 106574", "Sum 106574", "the number of observations is missing"),
        ("ReceivedMessages=106574", "ReceivedMessages=0", "out of range"),
        ("[ 0] IP", "[ 1] IP = ::1 # TCP\n[ 0] IP", "several sockets"),
    ];
    refuses(&Sockperf, text("tcp"), &changes);
}

#[test]
fn runs_are_read_one_by_one() {
    let figures = Sockperf.parse(text("three-runs")).unwrap().figures;
    let trials: Vec<_> = figures.iter().map(|f| (&*f.test, f.trials.len())).collect();
    assert_eq!(trials, [(UDP, 2), (TCP, 1)]);
    assert!(figures.iter().all(|f| f.proof.is_some()), "each has answers");
    let (one, other) = (text("tcp"), replaced(text("tcp"), "IP = 127.0.0.1 ", "IP = 192.0.2.4 "));
    let figures = Sockperf.parse(&format!("{one}{other}")).unwrap().figures;
    assert_eq!(
        figures.iter().map(|f| f.params.word("server").unwrap()).collect::<Vec<_>>(),
        ["127.0.0.1", "192.0.2.4"]
    );
    let cut = format!("{}{one}", &one[..one.find("Summary").unwrap()]);
    refuses(&Sockperf, &cut, &[("", "", "line 13: the mean is missing")]);
}

#[test]
fn throughput_is_of_messages_that_were_sent() {
    let f = only(&Sockperf, text("tcp-throughput"));
    let t = &f.trials[0];
    assert_eq!((&*f.test, t.value.round(), t.work), ("TCP.sent", 723_931.0, 724_297.0));
    assert_eq!((f.params.get(key::BLOCK_SIZE), f.proof, f.findings.len()), (Some(1000), None, 0));
}

#[test]
fn older_versions_print_two_decimals_of_a_percentile() {
    let older =
        text("tcp").replace("percentile 99.000", "percentile 99.00").replace("50.000 ", "50.00 ");
    assert_eq!(only(&Sockperf, &older), only(&Sockperf, text("tcp")));
}

#[test]
fn what_is_said_twice_must_agree_and_lost_messages_are_reported() {
    for (name, from, to, words) in [
        ("tcp", "", "", ""),
        (
            "tcp",
            "dropped messages = 0",
            "dropped messages = 7",
            "sockperf counts dropped messages = 7",
        ),
        (
            "tcp",
            "out-of-order messages = 0",
            "out-of-order messages = 2",
            "out-of-order messages = 2",
        ),
        (
            "tcp",
            "Total 106574",
            "Total 96574",
            "106574 answers were received, but 96574 were timed",
        ),
        ("tcp", "SentMessages=106574", "SentMessages=100000", "received, but only 100000 messages"),
        (
            "tcp",
            "avg-latency=2.568",
            "avg-latency=3.568",
            "the mean is 2.568 us in one line, but 3.568 us in another",
        ),
        ("tcp", "percentile 99.000 =    2", "percentile 99.000 =    1", "not in their order"),
        (
            "tcp",
            "[Total Run] RunTime=",
            "[Total Run] RunTime=0.25 was ",
            "s were valid in a run of 0.25",
        ),
        ("tcp-throughput", "Total of 724297", "Total of 624297", "messages in 1.001 s are not"),
        ("tcp-throughput", "690.394 MBps", "790.394 MBps", "of 1000 B are not 828.8 MB/s"),
    ] {
        let f = with_piece(&Sockperf, text(name), from, to);
        let found: Vec<_> = f.findings.iter().map(|f| &*f.message).collect();
        assert_eq!(found.is_empty(), words.is_empty(), "{to}: {found:?}");
        assert!(found.iter().all(|f| f.contains(words)), "{to}: {found:?}");
    }
    assert!(near(only(&Sockperf, text("tcp")).trials[0].seconds, 0.55));
}
