//! `udp_default_rate`: the rate that a tool sends UDP at unless another is set.

use proofmark_model::{Finding, Severity, Subsystem};

use super::Rule;
use crate::{Figure, Metric, Sheet};

/// iperf's default, by version: 1 Mbit/s, and 2^20 bit/s; rounded to three digits as it prints.
const DEFAULT: std::ops::RangeInclusive<f64> = 0.995e6..=1.055e6;

pub(super) const RULE: Rule = Rule {
    id: "udp_default_rate",
    title: "UDP at the tool's default rate",
    about: "iperf and iperf3 send UDP at 1 Mbit/s (2^20 bit/s in some versions) unless -b sets \
            another rate, as their manuals state. A figure of that rate is the requested rate, not \
            the network's.",
    advice: "Request a rate above the link's (-b), and take the receiver's count.",
    examine,
};

fn examine(_: &Sheet, figure: &Figure) -> Option<Finding> {
    let rate = figure.level().filter(|_| figure.is(Subsystem::Network, Metric::Throughput))?;
    let iperf = figure.tool.to_ascii_lowercase().contains("iperf");
    (iperf && figure.operation.contains("udp") && DEFAULT.contains(&rate)).then(|| {
        let message = "the rate is iperf's default for UDP, 1 Mbit/s";
        RULE.finding(Severity::Invalid, message).with("rate_bit_per_s", rate)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{INVALID, MACHINE, judges};

    #[test]
    fn the_default_is_no_measurement() {
        let expected = [
            ("network udp throughput 1.05e6 tool=iperf3", INVALID),
            ("network udp throughput 1e6 tool=iPerf", INVALID),
            ("network udp throughput 1.2e6 tool=iperf3", None),
            ("network tcp throughput 1.05e6 tool=iperf3", None),
            ("network udp throughput 1.05e6 tool=own", None),
        ];
        judges(&RULE, MACHINE, &expected);
    }
}
