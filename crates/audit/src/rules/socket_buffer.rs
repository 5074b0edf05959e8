//! `socket_buffer`: a transfer that ended when the sender's buffer took it.

use proofmark_model::{Finding, Severity, Subsystem, Unit, format_quantity};

use super::{Look, Rule};
use crate::{Figure, Metric, Sheet};

/// Tools that print what the receiver counted, by their manuals.
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
    look: Look::ForFault(examine),
};

fn examine(sheet: &Sheet, figure: &Figure) -> Option<Finding> {
    let rate = figure.level().filter(|_| figure.is(Subsystem::Network, Metric::Throughput))?;
    // The receiver counted: its copy is in the rate.
    if RECEIVER_COUNTS.iter().any(|tool| figure.tool.to_ascii_lowercase().contains(tool)) {
        return None;
    }
    let streams = figure.threads.map_or(1.0, |t| t as f64);
    // Read and written, and twice: four bytes move for one that arrives. In bit/s.
    let twice = streams * sheet.copy_bandwidth()? / 4.0 * 8.0;
    (rate > twice && rate > sheet.machine().network_limit(figure).most).then(|| {
        let [rate, most] = [rate, twice].map(|v| format_quantity(v, Unit::BitPerSecond));
        let message = format!("{rate}, but a CPU that copies data in and out again reaches {most}");
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
