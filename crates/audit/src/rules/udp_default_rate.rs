//! `udp_default_rate`: the rate that a tool sends UDP at unless it is told another.

use proofmark_model::{Finding, Severity, Subsystem};

use super::Rule;
use crate::{Metric, Sheet};

/// iperf's default, by version: 1 Mbit/s, and 2^20 bit/s; with the rounding of three digits
/// that it prints.
const DEFAULT: std::ops::RangeInclusive<f64> = 0.995e6..=1.055e6;

pub(super) const RULE: Rule = Rule {
    id: "udp_default_rate",
    title: "UDP at the tool's default rate",
    about: "iperf and iperf3 send UDP at 1 Mbit/s (2^20 bit/s in some versions) unless -b sets \
            another rate, as their manuals state. A figure of that rate is the requested rate, not \
            the network's.",
    examine,
};

fn examine(sheet: &Sheet, index: usize) -> Option<Finding> {
    let figure = sheet.figure(index)?;
    let rate = figure.level().filter(|_| figure.is(Subsystem::Network, Metric::Throughput))?;
    let iperf = figure.tool.to_ascii_lowercase().contains("iperf");
    (iperf && figure.operation.contains("udp") && DEFAULT.contains(&rate)).then(|| {
        Finding::new(
            RULE.id,
            Severity::Invalid,
            "the rate is iperf's default for UDP, 1 Mbit/s",
            "Request a rate above the link's (-b), and take the receiver's count.",
        )
        .with("rate_bit_per_s", rate)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{MACHINE, flagged};

    #[test]
    fn the_default_is_no_measurement() {
        let row = |tool: &str, operation: &str, value: f64| {
            format!("network,{tool},{operation},throughput,,1,1,{value},Mb/s,{value}e6,bits/s\n")
        };
        let rows: String = [
            row("iperf3", "udp", 1.05),
            row("iPerf", "udp", 1.0),
            row("iperf3", "udp", 1.2),
            row("iperf3", "tcp", 1.05),
            row("own", "udp", 1.05),
        ]
        .concat();
        assert_eq!(flagged(&RULE, MACHINE, &rows), [true, true, false, false, false]);
    }
}
