//! `packet_rate`: more packets per second than the link can carry.

use proofmark_model::Severity;

use super::{Examination, Outcome, Rule};
use crate::machine::Limit;
use crate::{Figure, Metric, Sheet};

/// Bytes of the smallest Ethernet frame, with its checksum (IEEE 802.3).
const SMALLEST_FRAME: f64 = 64.0;
/// Bytes that each frame adds on the wire: 8 of preamble and start, 12 of gap.
const FRAME_OVERHEAD: f64 = 20.0;
/// Tolerance of a provider's limit: it is enforced over a second or more, and not exactly.
const LIMIT_TOLERANCE: f64 = 1.05;

pub(super) const RULE: Rule = Rule {
    id: "packet_rate",
    title: "more packets than the link can carry",
    about: "An Ethernet frame takes at least 84 B of a link: 64 B, a preamble of 8 B and a gap of \
            12 B (IEEE 802.3). So 10 Gbit/s carry at most 14.88 million packets per second in one \
            direction. A larger block takes its size and 20 B. A higher rate is invalid if the \
            link is declared, and suspect above 10 Gbit/s if not. A rate more than 5 % above \
            network_limit_packets_per_s is invalid, too. A UDP throughput is converted to \
            datagrams by its block: each is a packet or more.",
    advice: "Count packets at the receiver's interface. A sender counts what it queued, and \
             within one machine no frame is sent.",
    needs: "network_link_bits_per_s or network_limit_packets_per_s; packets or UDP",
    examination: Examination::Compare(examine),
};

fn examine(sheet: &Sheet, figure: &Figure) -> Option<Outcome> {
    let rate = packets(figure).filter(|_| !figure.is_named_loopback())?;
    let frame = figure.block.map_or(SMALLEST_FRAME, |b| (b as f64).max(SMALLEST_FRAME));
    let link = sheet.machine().network_limit(figure);
    // The rule `loopback` compares throughputs with the link.
    let on_the_link = Some(Limit { most: link.most / 8.0 / (frame + FRAME_OVERHEAD), ..link })
        .filter(|limit| figure.metric == Metric::Rate && rate > limit.most);
    let allowed = sheet.machine().network_limit_packets_per_s.map(|most| Limit {
        most,
        source: "the limit of the provider or adapter",
        severity: Severity::Invalid,
    });
    let allowed = allowed.filter(|limit| rate > limit.most * LIMIT_TOLERANCE);
    let found = allowed.or(on_the_link).map(|limit| {
        let [shown, most] = [rate, limit.most].map(|n| format!("{:.4}", n / 1e6));
        let frames = match allowed {
            Some(_) => String::new(),
            None => {
                format!(" in frames of {frame:.0} B ({:.0} B on the wire)", frame + FRAME_OVERHEAD)
            }
        };
        let message = format!(
            "{shown} million packets per second exceed {}, {most} million{frames}",
            limit.source
        );
        let finding = RULE.finding(limit.severity, message);
        finding.with("packets_per_s", rate).with("limit_packets_per_s", limit.most)
    });
    let machine = sheet.machine();
    let missing = match figure.metric {
        _ if machine.network_limit_packets_per_s.is_some() => None,
        Metric::Throughput => Some("no network_limit_packets_per_s is declared"),
        _ if machine.network_link_bits_per_s.is_some() => None,
        _ => Some("no network_link_bits_per_s or network_limit_packets_per_s is declared"),
    };
    Some(Outcome::new(found, missing))
}

/// Returns the minimum of packets per second that the figure needs.
fn packets(figure: &Figure) -> Option<f64> {
    let level = figure.level().filter(|_| figure.subsystem.info().has_server)?;
    match figure.metric {
        Metric::Rate if figure.packets => Some(level),
        Metric::Throughput if figure.operation.contains("udp") => {
            Some(level / 8.0 / figure.block? as f64)
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{INVALID, SUSPECT, judges};

    #[test]
    fn a_link_has_room_for_so_many_frames() {
        let link = "network_link_bits_per_s = 25e9\n";
        let limit = "network_link_bits_per_s = 25e9\nnetwork_limit_packets_per_s = 2e6\n";
        for (facts, expected) in [
            (
                link,
                &[
                    ("network forward rate 37.1e6 unit=pps", None),
                    ("network forward rate 37.3e6 unit=pps", INVALID),
                    ("network forward rate 37.3e6 printed=37.3 unit=Mpps block=64", INVALID),
                    ("network forward rate 60e6 unit=pps trial=sd", None),
                    // Both directions.
                    ("network forward_bidir rate 60e6 unit=pps", None),
                    // 1500 B and 20 B.
                    ("network forward rate 2.05e6 unit=packets/s block=1500", None),
                    ("network forward rate 2.07e6 unit=packets/s block=1500", INVALID),
                    ("network forward pps 37.3e6 base_unit=ops/s", INVALID),
                    ("network small_packets rate 37.3e6", INVALID),
                    // A packet may hold many transactions.
                    ("network tcp_rr rate 60e6 unit=ops/s", None),
                ][..],
            ),
            (
                limit,
                &[
                    ("network forward rate 2.05e6 unit=pps", None),
                    ("network forward rate 2.2e6 unit=pps", INVALID),
                    // Datagrams of 64 B.
                    ("network udp throughput 1e9 block=64", None),
                    ("network udp throughput 1.1e9 block=64", INVALID),
                    ("network tcp throughput 1.1e9 block=64", None),
                ],
            ),
            (
                "",
                &[
                    ("network forward rate 14.8e6 unit=pps", None),
                    ("network forward rate 14.9e6 unit=pps", SUSPECT),
                ],
            ),
        ] {
            judges(&RULE, facts, expected);
        }
    }
}
