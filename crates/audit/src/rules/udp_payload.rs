//! `udp_payload`: datagrams that IPv4 cannot carry.

use proofmark_model::{Finding, Severity};

use super::{Examination, Rule};
use crate::{Figure, Metric, Sheet, Statistic};

/// Maximum payload: an IPv4 packet of 65,535 B (RFC 791) less 20 B of its header and 8 B of UDP's
/// (RFC 768).
const MAX_PAYLOAD: u64 = 65_507;

pub(super) const RULE: Rule = Rule {
    id: "udp_payload",
    title: "UDP payload larger than a datagram",
    about: "A UDP datagram over IPv4 carries at most 65,507 B: a packet of 65,535 B less 20 B of \
            IP header and 8 B of UDP header. A larger block was refused, truncated, or sent as \
            something else.",
    advice: "State the payload sent, the loss, and which end counted.",
    needs: "the block of a UDP figure",
    examination: Examination::FindFault(examine),
};

fn examine(_: &Sheet, figure: &Figure) -> Option<Finding> {
    let block = figure.block.filter(|b| *b > MAX_PAYLOAD)?;
    let judged = figure.subsystem.info().has_server
        && figure.operation.contains("udp")
        && figure.metric != Metric::Other
        && figure.statistic != Statistic::Deviation;
    judged.then(|| {
        let message =
            format!("a datagram of {block} B exceeds the maximum over IPv4, {MAX_PAYLOAD} B");
        RULE.finding(Severity::Invalid, message).with("most_bytes", MAX_PAYLOAD)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{INVALID, MACHINE, judges};

    #[test]
    fn a_datagram_ends_at_65507() {
        let expected = [
            ("network udp throughput 1e6 block=65508", INVALID),
            ("network udp throughput 1e6 block=65507", None),
            ("network tcp throughput 1e6 block=65536", None),
            ("network udp loss 1 block=65536", None),
            ("network udp throughput 1e6 block=65536 trial=sd", None),
        ];
        judges(&RULE, MACHINE, &expected);
    }
}
