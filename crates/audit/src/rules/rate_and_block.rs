//! `rate_and_block`: a rate whose operations times their block differ from the throughput.

use proofmark_model::{Finding, Severity, Unit, format_quantity};

use super::{Examination, Rule};
use crate::units::power_of_1024;
use crate::{Figure, Metric, Sheet};

/// Tolerance for two numbers of two or three digits.
const PRINTED: f64 = 0.05;
/// Bytes of headers per payload on the wire: 38 of Ethernet, 40 of IPv6 and 20 of TCP.
const HEADERS: f64 = 98.0;
/// Bytes of the smallest frame on the wire.
const SMALLEST_FRAME: f64 = 84.0;

pub(super) const RULE: Rule = Rule {
    id: "rate_and_block",
    title: "rate x block differs from the throughput",
    about: "If a table has the rate and the throughput of the same work, the rate times the \
            block must equal the throughput. If they differ by more than 5 %, or by a power of \
            1.024 (1000 and 1024 mixed), one of the three is wrong. Both figures are suspect, \
            since the numbers do not show which. For networks only packets are compared; their \
            headers, up to 98 B, may be included.",
    advice: "Look up the block size, the bytes and the operations in the tool's own output.",
    needs: "rate and throughput of the same operation, block, threads and trial",
    examination: Examination::FindFault(examine),
};

fn examine(sheet: &Sheet, figure: &Figure) -> Option<Finding> {
    let other = match figure.metric {
        Metric::Rate => Metric::Throughput,
        Metric::Throughput => Metric::Rate,
        Metric::Latency | Metric::Other => return None,
    };
    let level = figure.level()?;
    let partner = sheet.partner_in(figure, other)?;
    let (rate, throughput) = match other {
        Metric::Rate => (partner.level()?, level),
        _ => (level, partner.level()?),
    };
    let block = figure.block? as f64;
    let packets = figure.packets || partner.packets;
    let (bits, most) = match figure.subsystem.info() {
        info if info.counts_bits && packets => (8.0, (block + HEADERS).max(SMALLEST_FRAME)),
        info if info.moves_bytes() => (1.0, block),
        _ => return None,
    };
    let of_block = throughput / (rate * block * bits);
    let power = power_of_1024(of_block).filter(|_| !figure.subsystem.info().counts_bits);
    // With coarse digits, a difference by rounding may look like a power of 1.024.
    let digits = figure.rounding() + partner.rounding();
    let fits = of_block >= 1.0 - PRINTED && of_block <= most / block * (1.0 + PRINTED);
    if !of_block.is_finite() || fits && power.is_none_or(|_| digits > 0.005) {
        return None;
    }
    let unit = if bits > 1.0 { Unit::BitPerSecond } else { Unit::BytePerSecond };
    let [made, shown] = [rate * block * bits, throughput].map(|v| format_quantity(v, unit));
    let mixed = power.map_or("", |_| "; 1000 and 1024 are mixed");
    let message = format!(
        "{rate:.0} operations per second of {block:.0} B are {made}, but the throughput is \
         {shown} (line {}){mixed}",
        partner.line
    );
    let finding = RULE.finding(Severity::Suspect, message);
    Some(finding.with("line", partner.line).with("throughput_per_product", of_block))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{MACHINE, flagged};

    #[test]
    fn operations_times_block_are_the_throughput() {
        let disk = "disk randread rate 25600 block=4096";
        let packets = "network udp rate 1e6 block=256 unit=pps";
        for (rate, other, differ) in [
            (disk, "disk randread throughput 104.9e6 printed=104.9 unit=MB/s block=4096", false),
            (disk, "disk randread throughput 102e6 block=4096", false),
            (disk, "disk randread throughput 839e6 block=4096", true),
            (disk, "disk randread throughput 94e6 block=4096", true),
            // MiB called MB.
            (disk, "disk randread throughput 99.88e6 printed=99.88 unit=MB/s block=4096", true),
            (disk, "disk randread throughput 200e6 block=8192", false),
            (disk, "disk randread throughput 200e6 block=4096 trial=2", false),
            (disk, "disk randread throughput 200e6 block=4096 threads=2", false),
            (packets, "network udp throughput 2.05e9 block=256", false),
            (packets, "network udp throughput 2.7e9 block=256", false),
            (packets, "network udp throughput 4e9 block=256", true),
            (packets, "network udp throughput 0.25e9 block=256", true),
            ("network rr rate 1e6 block=256", "network rr throughput 9e9 block=256", false),
        ] {
            assert_eq!(flagged(&RULE, MACHINE, &[rate, other]), [differ; 2], "{other}");
        }
    }
}
