//! `socket_buffer`: a transfer timed until the sender's buffer accepted it, not until it arrived.

use proofmark_model::{Finding, Severity, Subsystem, Unit, format_quantity};

use super::{Examination, Rule};
use crate::{Figure, Metric, Sheet};

/// Tools that print the receiver's count, by their manuals.
const RECEIVER_COUNTS: [&str; 2] = ["iperf3", "nuttcp"];

pub(super) const RULE: Rule = Rule {
    id: "socket_buffer",
    title: "socket buffer measured instead of a network",
    about: "Received data is copied twice, into the kernel and out of it. The rule compares with \
            the copy bandwidth of one thread in the same report. A thread that copies twice \
            reaches half of its copy rate, or a quarter of a bandwidth that counts reads and \
            writes. A rate above this and above the link leaves no time for the second copy. So \
            the clock stopped when the sender's buffer was full, or the data never left the \
            machine. Tools whose rate the receiver counts (iperf3, nuttcp) are not judged: both \
            copies are in it, and on a loopback two CPUs share them.",
    advice: "Send for at least 10 s, and take the rate from the receiver's count.",
    needs: "memory copy of one thread; network_link_bits_per_s",
    examination: Examination::FindFault(examine),
};

fn examine(sheet: &Sheet, figure: &Figure) -> Option<Finding> {
    let rate = figure.level().filter(|_| figure.is(Subsystem::Network, Metric::Throughput))?;
    // A rate counted by the receiver includes both copies.
    if RECEIVER_COUNTS.iter().any(|tool| figure.tool.to_ascii_lowercase().contains(tool)) {
        return None;
    }
    let streams = figure.threads.map_or(1.0, |t| t as f64);
    // Two copies, each a read and a write: four bytes move for each that arrives. In bit/s.
    let twice = streams * sheet.copy_bandwidth()? / 4.0 * 8.0;
    (rate > twice && rate > sheet.machine().network_limit(figure).most).then(|| {
        let [rate, most] = [rate, twice].map(|v| format_quantity(v, Unit::BitPerSecond));
        let message =
            format!("{rate} exceeds {most}, the rate of a CPU that copies the data twice");
        RULE.finding(Severity::Suspect, message).with("copied_twice_bit_per_s", twice)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{MACHINE, flagged};

    #[test]
    fn faster_than_two_copies_and_than_a_link() {
        let copy = "memory copy throughput 6e9 trial=max";
        let tcp = [
            "network tcp throughput 13e9",
            "network tcp throughput 11e9",
            "network tcp throughput 13e9 threads=2",
        ];
        let all = [&[copy][..], &tcp].concat();
        assert_eq!(flagged(&RULE, MACHINE, &all), [false, true, false, false]);
        assert_eq!(flagged(&RULE, MACHINE, &tcp), [false; 3]);
        let received = [copy, "network tcp throughput 42.4e9 tool=iperf3"];
        assert_eq!(flagged(&RULE, MACHINE, &received), [false; 2]);
        let many = [&all[..], &["memory copy throughput 30e9 threads=8 trial=max"]].concat();
        assert!(flagged(&RULE, MACHINE, &many)[1]);
        assert_eq!(flagged(&RULE, "network_link_bits_per_s = 25e9", &all), [false; 4]);
    }
}
