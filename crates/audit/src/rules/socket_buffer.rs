//! `socket_buffer`: a transfer that ended when the sender's buffer took it.

use proofmark_model::{Finding, Severity, Subsystem, Unit, format_quantity};

use super::Rule;
use crate::{Metric, Sheet};

pub(super) struct SocketBuffer;

impl Rule for SocketBuffer {
    fn id(&self) -> &'static str {
        "socket_buffer"
    }

    fn title(&self) -> &'static str {
        "a socket buffer filled, not a network"
    }

    fn about(&self) -> &'static str {
        "What arrives was copied twice, into the kernel and out again. A rate above the link that is \
         also above half of the bytes that one thread of this machine copies a second (a quarter of a \
         copy bandwidth that counts reads and writes) left no time for the second copy on that CPU: \
         the sender's buffer took the data and the clock stopped before it arrived, or it never left \
         the machine. Needs a memory copy in the same report."
    }

    fn examine(&self, sheet: &Sheet, index: usize) -> Option<Finding> {
        let figure = sheet.figure(index)?;
        let rate = figure.level().filter(|_| figure.is(Subsystem::Network, Metric::Throughput))?;
        let streams = figure.threads.map_or(1.0, |t| t as f64);
        // Read and written, and twice: four bytes move for one that arrives. In bit/s.
        let twice = streams * sheet.copy_bandwidth()? / 4.0 * 8.0;
        let shown = |v| format_quantity(v, Unit::BitPerSecond);
        (rate > twice && rate > sheet.machine().network_limit(figure).most).then(|| {
            Finding::new(
                self.id(),
                Severity::Suspect,
                format!(
                    "{}, where a CPU that copies data in and out again gets {}",
                    shown(rate),
                    shown(twice)
                ),
                "send for ten seconds at least, and take the rate from the receiver's count",
            )
            .with("copied_twice_bit_per_s", twice)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{MACHINE, flagged};

    #[test]
    fn faster_than_two_copies_and_than_a_link() {
        let copy = "memory,stream,copy,throughput,,1,max,6,GB/s,6e9,bytes/s\n";
        let rows = "network,x,tcp,throughput,,1,1,13,Gb/s,13e9,bits/s\n\
                    network,x,tcp,throughput,,1,1,11,Gb/s,11e9,bits/s\n\
                    network,x,tcp,throughput,,2,1,13,Gb/s,13e9,bits/s\n";
        let all = format!("{copy}{rows}");
        assert_eq!(flagged(&SocketBuffer, MACHINE, &all), [false, true, false, false]);
        assert_eq!(flagged(&SocketBuffer, MACHINE, rows), [false; 3]);
        let many = "memory,stream,copy,throughput,,8,max,30,GB/s,30e9,bytes/s\n";
        assert!(flagged(&SocketBuffer, MACHINE, &format!("{all}{many}"))[1]);
        let fast = "[m]\nnetwork_link_bits_per_s = 25e9\n";
        assert_eq!(flagged(&SocketBuffer, fast, &all), [false; 4]);
    }
}
