//! `network.link`: the payload that the link between the two ends carries.
//!
//! `network::frames` has the sources of the header sizes, the host's probe that of the line rate.

use proofmark_model::{
    Bottleneck, Ceiling, Direction, Interface, Measurement, Network, Provenance, Unit, ceiling_id,
    format_quantity,
};

use super::CeilingRule;
use super::parts::{Formula, input, input_of};
use crate::network::{Frames, Layer, direction, interfaces, network_of_stream, over_loopback};
use crate::{Capacity, Context};

/// Uncertainty: the clocks of both ends of Ethernet (IEEE 802.3: 100 ppm each), and data in flight
/// when a trial begins or ends.
const CLOCK: f64 = 0.001;

/// The slower of the two interfaces; one of unknown rate does not count.
fn slower(network: &Network) -> Result<(&Interface, f64), String> {
    let rates = interfaces(network).filter_map(|i| Some((i, i.bits_per_s?)));
    let known = rates.filter(|(_, rate)| rate.is_finite() && *rate > 0.0);
    known.min_by(|a, b| a.1.total_cmp(&b.1)).ok_or_else(|| match network.interface.get() {
        Some(i) => format!(
            "the line rate of {} is unknown: it is {} ({})",
            i.name,
            i.kind,
            network.interface.origin()
        ),
        None => {
            format!("the interface to the server is unknown ({})", network.interface.origin())
        }
    })
}

pub(super) static RULE: CeilingRule = CeilingRule {
    id: ceiling_id::NETWORK_LINK,
    title: "Link between client and server",
    about: "The payload that the slower of the two interfaces carries: its line rate, as the \
         system reports it, times the payload's share of each frame. An Ethernet frame adds 38 B \
         to its packet (preamble 8, header 14, frame check 4, gap 12). IP adds 20 B or 40 B, TCP \
         20 B, UDP 8 B. A packet is at most the smaller MTU. A segment is at most what the systems \
         report. A longer datagram goes in fragments, each with its own headers. TCP timestamps \
         add 12 B where the segment size shows them. With timestamps, 1 Gbit/s at an MTU of 1500 B \
         carries 941.5 Mbit/s of TCP payload. Links are full duplex, so both directions together \
         carry twice as much. It is an upper bound, since acknowledgements and tags are not \
         subtracted. Uncertainty: 0.1 % for the clocks. If only one end reports its rate, that \
         counts. Virtual interfaces and loopback have no line rate and no such ceiling.",
    derive,
    bound: derive,
    bottleneck: Some(bottleneck),
};

fn derive(ctx: &Context, m: &Measurement) -> Result<Ceiling, String> {
    let network = network_of_stream(ctx, m)?;
    if over_loopback(m) {
        return Err("packets within this machine use no link".to_owned());
    }
    let (interface, rate) = slower(network)?;
    let note = format!("line rate of {}, the slower of the two ends", interface.name);
    let mut formula =
        Formula::from_input(input("line_rate", rate, "bit/s", Provenance::Reported, note))
            .times_all(Frames::derive(network, m)?.share(Layer::Wire));
    if direction(m) == Direction::Both {
        let note = "at the same time, each at the line rate (full duplex)";
        formula = formula.times(input("directions", 2.0, "", Provenance::Declared, note));
    }
    Ok(RULE.ceiling(m, formula, CLOCK))
}

fn bottleneck(ceiling: &Ceiling, _: &Capacity, share: &str) -> Bottleneck {
    let figure = input_of(ceiling, "line_rate").map_or(String::new(), |i| {
        format!(": {} on the wire, {}", format_quantity(i.value, Unit::BitPerSecond), i.note)
    });
    Bottleneck::new("link", format!("{share}{figure}"))
}

#[cfg(test)]
mod tests {
    use proofmark_model::Probe;

    use super::*;
    use crate::testing::*;

    /// TCP payload of 1 Gbit/s.
    const TCP: f64 = 1e9 * 1448.0 / 1538.0;

    #[test]
    fn a_gigabit_carries_941_megabits_of_tcp() {
        let peer = host_with_network("peer");
        let derived = |m: &Measurement| RULE.on(&peer, &[]).derive(m).unwrap();
        let tiny = with_param(udp(1, "peer"), "block_size", 1);
        RULE.on(&peer, &[]).expect([
            ("tcp", tcp(1, "peer"), Ok(TCP)),
            ("udp", udp(1, "peer"), Ok(1e9 * 1472.0 / 1538.0)),
            ("a byte", tiny.clone(), Ok(1e9 / 84.0)),
            ("both ways", with_param(tcp(1, "peer"), "direction", "both"), Ok(2.0 * TCP)),
        ]);
        let c = derived(&tcp(1, "peer"));
        let formula = "line_rate x segment / (segment + ip + tcp + options + ethernet)";
        assert_eq!((c.formula.as_str(), c.unit.as_str()), (formula, "bit/s"));
        let inputs: Vec<_> = c.inputs.iter().map(|i| (i.name.as_str(), i.value)).collect();
        for input in [
            ("mtu", 1500.0),
            ("segment", 1448.0),
            ("ip", 20.0),
            ("tcp", 20.0),
            ("options", 12.0),
            ("ethernet", 38.0),
            ("line_rate", 1e9),
        ] {
            assert!(inputs.contains(&input), "{input:?}: {inputs:?}");
        }
        let formula = derived(&udp(1, "peer")).formula;
        assert!(formula.contains("frames x (ip + ethernet))"), "{formula}");
        let c = derived(&tiny);
        assert!(c.formula.ends_with("ethernet) + padding)"), "{}", c.formula);
        assert!(c.inputs.iter().any(|i| i.name == "padding" && i.value == 17.0));
        expect_bottleneck(&peer, tcp(1, "peer"), &[], "^link$ ... 1.000 Gbit/s on the wire");
    }

    #[test]
    fn the_slower_end_counts_and_without_a_wire_there_is_no_ceiling() {
        let faster = |n: &mut Network| set_interface(n, |i| i.bits_per_s = Some(25e9));
        let alone = with_network("peer", |n| {
            faster(n);
            n.server_interface = None;
        });
        let unknown = with_network("peer", |n| {
            set_interface(n, |i| (i.kind, i.bits_per_s) = ("virtio".to_owned(), None));
            n.server_interface = None;
        });
        let none = with_network("peer", |n| {
            (n.interface, n.server_interface) = (Probe::missing("two have the address"), None);
        });
        for (host, expected) in [
            (with_network("peer", faster), Ok(TCP)),
            (alone, Ok(25.0 * TCP)),
            (host(), Err("not part of the test")),
            (unknown, Err("eth0 is unknown: it is virtio")),
            (none, Err("two have the address")),
        ] {
            RULE.on(&host, &[]).expect([(format!("{expected:?}"), tcp(1, "peer"), expected)]);
        }
        let silent = each(tcp(1, "peer"), |_, t| t.network = None);
        RULE.on(&host_with_network("peer"), &[]).expect([
            ("round trips", round_trips("tcp", "block"), Err("a rate does not limit")),
            ("nothing reported", silent, Err("no trial shows")),
        ]);
        let here = host_with_network("loopback");
        RULE.on(&here, &[]).expect([("loopback", tcp(1, "loopback"), Err("use no link"))]);
    }
}
