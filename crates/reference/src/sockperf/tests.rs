use super::*;
use crate::testing::{read_captured, refuses};

fn text(name: &str) -> &'static str {
    read_captured("sockperf", &format!("3.7-{name}.txt"))
}

#[test]
fn what_is_no_whole_ping_pong_is_refused() {
    let changes = [
        (text("tcp"), text("throughput-refused"), "no valid duration"),
        (text("tcp"), text("refused"), "no address"),
        // Of 4 messages at once.
        (text("tcp"), text("burst-refused"), "no mean"),
        ("Summary: Latency", "Summary:", "no mean"),
        ("<MIN>", "", "no least time"),
        ("<MAX>", "", "no greatest time"),
        ("percentile 50.000", "", "no median"),
        ("Total 106574", "Sum 106574", "no number of observations"),
        ("ReceivedMessages=106574", "ReceivedMessages=0", "out of range"),
        ("[ 0] IP", "[ 1] IP = ::1 # TCP\n[ 0] IP", "several sockets"),
    ];
    refuses(&Sockperf, text("tcp"), &changes);
}
