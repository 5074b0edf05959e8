//! `network.link`: what the wire between the two ends carries.
//!
//! Sources of the sizes of headers are those of `network::frames`; of the line rate, the
//! host's probe.

use proofmark_model::{
    Bottleneck, Ceiling, Direction, Interface, Measurement, Network, Provenance, Unit,
    format_quantity,
};

use super::CeilingRule;
use super::parts::{Derived, input};
use crate::network::{Frames, Layer, direction, interfaces, of_stream, over_loopback};
use crate::{Capacity, Context};

/// How far the clocks of both ends of Ethernet may be off (IEEE 802.3: 100 ppm each),
/// and how much of a trial is under way when its time begins or ends.
const CLOCK: f64 = 0.001;

/// The rule.
pub(super) struct NetworkLink;

/// The slower of the two interfaces, of those whose rate is known.
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

impl CeilingRule for NetworkLink {
    fn id(&self) -> &'static str {
        "network.link"
    }

    fn title(&self) -> &'static str {
        "Link between client and server"
    }

    fn about(&self) -> &'static str {
        "The payload that the slower of the two interfaces carries: its line rate, as the system \
         reports it, times the payload's share of each frame. An Ethernet frame adds 38 B to its \
         packet (preamble 8, header 14, frame check 4, gap 12). IP adds 20 B or 40 B, TCP 20 B, \
         UDP 8 B. A packet is at most the smaller MTU. A segment is at most what the systems \
         report. A longer datagram goes in fragments, each with its own headers. TCP timestamps \
         add 12 B where the segment size shows them. With timestamps, 1 Gbit/s at an MTU of 1500 B \
         carries 941.5 Mbit/s of TCP payload. Links are full duplex, so both directions together \
         carry twice as much. It is an upper bound, since acknowledgements and tags are not \
         subtracted. Uncertainty: 0.1 % for the clocks. If only one end reports its rate, that \
         counts. Virtual interfaces and loopback have no line rate and no such ceiling."
    }

    fn derive(&self, ctx: &Context, m: &Measurement) -> Result<Ceiling, String> {
        let network = of_stream(ctx, m)?;
        if over_loopback(m) {
            return Err("packets within this machine use no link".to_owned());
        }
        let (interface, rate) = slower(network)?;
        let payload = Frames::of(network, m)?.share(Layer::Wire);
        let note = format!("line rate of {}, the slower of the two ends", interface.name);
        let mut inputs = vec![input("line_rate", rate, "bit/s", Provenance::Reported, note)];
        inputs.extend(payload.inputs);
        let mut formula = format!("line_rate x {}", payload.formula);
        let mut value = rate * payload.part;
        if direction(m) == Direction::Both {
            value *= 2.0;
            formula += " x directions";
            let note = "at the same time, each at the line rate (full duplex)";
            inputs.push(input("directions", 2.0, "", Provenance::Declared, note));
        }
        Ok(Derived { value, formula, inputs, uncertainty: CLOCK }.by(self, m))
    }

    fn bottleneck(&self, ceiling: &Ceiling, _: &Capacity, share: &str) -> Bottleneck {
        let rate = ceiling.inputs.iter().find(|i| i.name == "line_rate");
        let figure = rate.map_or(String::new(), |i| {
            format!(": {} on the wire, {}", format_quantity(i.value, Unit::BitPerSecond), i.note)
        });
        Bottleneck::new("link", format!("{share}{figure}"))
    }
}

#[cfg(test)]
mod tests {
    use proofmark_model::{Host, Probe};

    use super::*;
    use crate::testing::{
        context, host, host_with_network, judged, policy, round_trips, set_interface, spec, tcp,
        udp, with_network,
    };

    fn on(host: &Host, m: &Measurement) -> Result<Ceiling, String> {
        let (spec, policy) = (spec(&m.workload), policy());
        NetworkLink.derive(&context(host, &spec, &policy, &[]), m)
    }

    #[test]
    fn a_gigabit_carries_941_megabits_of_tcp() {
        let c = on(&host_with_network("peer"), &tcp(1, "peer")).unwrap();
        assert!((c.value - 1e9 * 1448.0 / 1538.0).abs() < 1.0, "{}", c.value);
        let formula = "line_rate x segment / (segment + ip + tcp + options + ethernet)";
        assert_eq!((c.formula.as_str(), c.unit.as_str()), (formula, "bit/s"));
        for (name, value) in [("mtu", 1500.0), ("segment", 1448.0), ("ip", 20.0), ("tcp", 20.0)] {
            assert!(c.inputs.iter().any(|i| i.name == name && i.value == value), "{name}");
        }
        for (name, value) in [("options", 12.0), ("ethernet", 38.0), ("line_rate", 1e9)] {
            assert!(c.inputs.iter().any(|i| i.name == name && i.value == value), "{name}");
        }
        let c = on(&host_with_network("peer"), &udp(1, "peer")).unwrap();
        assert!((c.value - 1e9 * 1472.0 / 1538.0).abs() < 1.0, "{}", c.value);
        assert!(c.formula.contains("frames x (ip + ethernet))"), "{}", c.formula);
        let mut tiny = udp(1, "peer");
        tiny.params = tiny.params.with("block_size", 1);
        let c = on(&host_with_network("peer"), &tiny).unwrap();
        assert!((c.value - 1e9 / 84.0).abs() < 1.0, "{}", c.value);
        assert!(c.formula.ends_with("ethernet) + padding)"), "{}", c.formula);
        assert!(c.inputs.iter().any(|i| i.name == "padding" && i.value == 17.0));
    }

    #[test]
    fn the_slower_end_counts_and_both_ways_are_two() {
        let value = |change: &dyn Fn(&mut Network), m: &Measurement| {
            on(&with_network("peer", change), m).unwrap().value * 1538.0 / 1448.0 / 1e9
        };
        let client = |a: f64, b: f64| (a - b).abs() < 1e-9;
        let faster = |n: &mut Network| set_interface(n, |i| i.bits_per_s = Some(25e9));
        assert!(client(value(&faster, &tcp(1, "peer")), 1.0));
        let alone = |n: &mut Network| {
            faster(n);
            n.server_interface = None;
        };
        assert!(client(value(&alone, &tcp(1, "peer")), 25.0));
        let mut both = tcp(1, "peer");
        both.params = both.params.with("direction", "both");
        assert!(client(value(&|_| {}, &both), 2.0));
    }

    #[test]
    fn what_has_no_wire_has_no_ceiling() {
        let why = |host: &Host, m: &Measurement| on(host, m).unwrap_err();
        let peer = host_with_network("peer");
        assert!(why(&host_with_network("loopback"), &tcp(1, "loopback")).contains("use no link"));
        assert!(why(&peer, &round_trips("tcp", "block")).contains("a rate does not limit"));
        assert!(why(&host(), &tcp(1, "peer")).contains("not part of the test"));
        let unknown = with_network("peer", |n| {
            set_interface(n, |i| (i.kind, i.bits_per_s) = ("virtio".to_owned(), None));
            n.server_interface = None;
        });
        assert!(why(&unknown, &tcp(1, "peer")).contains("eth0 is unknown: it is virtio"));
        let none = with_network("peer", |n| {
            (n.interface, n.server_interface) = (Probe::missing("two have the address"), None);
        });
        assert!(why(&none, &tcp(1, "peer")).contains("two have the address"));
        let silent = crate::testing::each(tcp(1, "peer"), |_, t| t.network = None);
        assert!(why(&peer, &silent).contains("no trial shows"));
    }

    #[test]
    fn near_it_the_link_is_the_bottleneck() {
        let bottleneck =
            judged(&host_with_network("peer"), tcp(1, "peer"), &[]).bottleneck.unwrap();
        assert_eq!(bottleneck.resource, "link");
        assert!(
            bottleneck.evidence.contains("1.000 Gbit/s on the wire"),
            "{}",
            bottleneck.evidence
        );
    }
}
