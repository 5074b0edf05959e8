//! `udp_default_rate`: the rate at which a tool sends UDP by default.

use proofmark_model::{Finding, Severity, Subsystem};

use super::{Examination, Rule};
use crate::quantity::Base;
use crate::{Figure, Metric, Sheet};

/// iperf's default in bit/s, by version: 10^6 or 2^20, rounded to the three printed digits.
const DEFAULT: std::ops::RangeInclusive<f64> = 0.995e6..=1.055e6;
/// The default in bytes, printed with two decimals: 0.12 or 0.13 MBytes, 128 KBytes.
const IN_BYTES: [f64; 2] = [1e6, 1_048_576.0];
/// Maximum rounding: many rates with fewer digits would look like the default.
const COARSEST: f64 = 0.05;

pub(super) const RULE: Rule = Rule {
    id: "udp_default_rate",
    title: "UDP at the tool's default rate",
    about: "iperf and iperf3 send UDP at 1 Mbit/s (2^20 bit/s in some versions) unless -b sets \
            another rate, as their manuals state. A figure of that rate is the requested rate, not \
            the network's. In bytes it is printed as 0.12 or 0.13 MBytes, or as 128 KBytes.",
    advice: "Request a rate above the link's (-b), and take the receiver's count.",
    needs: "a UDP throughput of iperf",
    examination: Examination::FindFault(examine),
};

fn examine(_: &Sheet, figure: &Figure) -> Option<Finding> {
    let rate = figure.level().filter(|_| figure.is(Subsystem::Network, Metric::Throughput))?;
    let iperf = figure.tool.to_ascii_lowercase().contains("iperf");
    let is_default = DEFAULT.contains(&rate) || is_default_in_bytes(figure);
    (iperf && figure.operation.contains("udp") && is_default).then(|| {
        let message = "the rate is iperf's default for UDP, 1 Mbit/s, not the network's";
        RULE.finding(Severity::Invalid, message).with("rate_bit_per_s", rate)
    })
}

/// True if the default rate would be printed as this number, for one meaning of its prefix.
fn is_default_in_bytes(figure: &Figure) -> bool {
    let Some(unit) = figure.written.as_ref().filter(|unit| unit.base == Base::Bytes) else {
        return false;
    };
    let near = |rate: f64| {
        IN_BYTES.iter().any(|default| (default / rate - 1.0).abs() <= figure.rounding() * 1.001)
    };
    let factors = unit.factors(Base::Bits).unwrap_or_default();
    figure.rounding() <= COARSEST && factors.iter().any(|factor| near(figure.value * factor))
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
            ("network udp throughput 1.09e6 printed=0.13 unit=MBytes/sec tool=iperf", INVALID),
            ("network udp throughput 0.96e6 printed=0.12 unit=MBytes/sec tool=iperf", INVALID),
            ("network udp throughput 1.024e6 printed=128 unit=KBytes/sec tool=iperf", INVALID),
            ("network udp throughput 1.12e6 printed=0.14 unit=MBytes/sec tool=iperf", None),
            ("network udp throughput 0.8e6 printed=0.1 unit=MBytes/sec tool=iperf", None),
            ("network udp throughput 1.2e6 tool=iperf3", None),
            ("network tcp throughput 1.05e6 tool=iperf3", None),
            ("network udp throughput 1.05e6 tool=own", None),
        ];
        judges(&RULE, MACHINE, &expected);
    }
}
