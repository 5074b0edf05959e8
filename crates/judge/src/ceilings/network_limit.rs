//! `network.limit`: the rate that a provider allows, as the user declares it.
//!
//! Sources: Linux net/sched/sch_tbf.c and sch_api.c (qdisc_pkt_len: a packet counts with its frame
//! header, and each segment of a split packet with headers of its own).

use proofmark_model::{
    Bottleneck, Ceiling, Direction, Limit, Measurement, Provenance, Unit, ceiling_id,
    format_quantity,
};

use super::CeilingRule;
use super::parts::{Formula, input};
use crate::network::{Frames, Layer, direction, network_of_stream, over_loopback};
use crate::{Capacity, Context};

/// Uncertainty of a declared limit: a rounded figure at a layer that providers seldom name, with a
/// bucket that may be full at first.
const PROMISE: f64 = 0.05;

/// Part of the blocks that a limit applies to. `None` if it is no network limit, or no blocks go in
/// that direction. Both directions at once carry equal numbers of blocks.
fn part(limit: Limit, direction: Direction) -> Option<f64> {
    let way = match limit {
        Limit::NetworkSend => Direction::Forward,
        Limit::NetworkReceive => Direction::Reverse,
        _ => return None,
    };
    match direction {
        Direction::Both => Some(0.5),
        _ => (direction == way).then_some(1.0),
    }
}

pub(super) static RULE: CeilingRule = CeilingRule {
    id: ceiling_id::NETWORK_LIMIT,
    title: "Declared network limits",
    about: "The limits that the user declares for the path to the server: --limit \
         network.send=10Gbit/s for what leaves this machine, network.receive for what arrives. A \
         limit counts bits as interfaces and token buckets do: packets with the 14 B of their \
         frame header. The ceiling subtracts these and the headers of IP and TCP or UDP. 100 \
         Mbit/s at an MTU of 1500 B is 95.6 Mbit/s of TCP payload. With both directions at once, \
         each carries as many blocks, so the lower limit bounds both. Acknowledgements are not \
         subtracted, so it is an upper bound. Uncertainty: 5 %, since a declared limit is a \
         rounded figure. Loopback has no such limit.",
    derive,
    bound: derive,
    bottleneck: Some(bottleneck),
};

fn derive(ctx: &Context, m: &Measurement) -> Result<Ceiling, String> {
    let network = network_of_stream(ctx, m)?;
    if over_loopback(m) {
        return Err("a provider's limit does not apply to packets within this machine".to_owned());
    }
    let declared = |limit: Limit| ctx.host.limits.declared.get(limit.name()).copied();
    let applicable = Limit::ALL.into_iter().filter_map(|limit| {
        let part = part(limit, direction(m))?;
        Some((limit, declared(limit)?, part))
    });
    let (limit, value, part) = applicable
        .min_by(|a, b| (a.1 / a.2).total_cmp(&(b.1 / b.2)))
        .ok_or("no limit of this direction is declared (--limit network.send, network.receive)")?;
    let (name, unit) = (limit.name(), limit.unit());
    let note = format!("--limit {name}");
    let mut formula =
        Formula::from_input(input(name, value, unit.as_str(), Provenance::Declared, note))
            .times_all(Frames::derive(network, m)?.share(Layer::Interface));
    if part < 1.0 {
        let note = "share of the blocks in this direction";
        formula = formula.over(input("share", part, "", Provenance::Declared, note));
    }
    Ok(RULE.ceiling(m, formula, PROMISE))
}

fn bottleneck(ceiling: &Ceiling, _: &Capacity, share: &str) -> Bottleneck {
    let limit = ceiling.inputs.first();
    let name = limit.map_or("", |i| i.name.as_str());
    let figure = limit.map_or(String::new(), |i| {
        format!(": {} with headers", format_quantity(i.value, Unit::BitPerSecond))
    });
    let resource = format!("{} {name}", Bottleneck::DECLARED_LIMIT).trim_end().to_owned();
    Bottleneck { resource, evidence: format!("{share}{figure}") }
}

#[cfg(test)]
mod tests {
    use proofmark_model::Host;

    use super::*;
    use crate::testing::*;

    /// Share of payload in the bits of a TCP packet that a limit counts.
    const PAYLOAD: f64 = 1448.0 / 1514.0;

    fn declaring(limits: &[(&str, f64)]) -> Host {
        with_declared(host_with_network("peer"), limits)
    }

    #[test]
    fn the_text_names_every_limit_of_a_network() {
        for name in Limit::ALL.map(Limit::name).iter().filter(|n| n.starts_with("network.")) {
            assert!(RULE.about.contains(name), "{name}");
        }
    }

    #[test]
    fn each_direction_has_its_own_limit_which_counts_the_headers() {
        let going = |direction: &str| with_param(tcp(1, "peer"), "direction", direction);
        let host = declaring(&[("network.send", 1e8), ("network.receive", 3e8)]);
        RULE.on(&host, &[]).expect([
            ("forward", going("forward"), Ok(1e8 * PAYLOAD)),
            ("reverse", going("reverse"), Ok(3e8 * PAYLOAD)),
            // Equal numbers of blocks in each direction: the lower limit bounds both.
            ("both", going("both"), Ok(2e8 * PAYLOAD)),
            ("datagrams", udp(1, "peer"), Ok(1e8 * 1472.0 / 1514.0)),
            ("round trips", round_trips("tcp", "block"), Err("a rate does not limit")),
        ]);
        let c = RULE.on(&host, &[]).derive(&tcp(1, "peer")).unwrap();
        assert_eq!(c.formula, "network.send x segment / (segment + ip + tcp + options + frame)");
        assert!(c.inputs.iter().any(|i| i.name == "frame" && i.value == 14.0));
        let receive = declaring(&[("network.receive", 3e8), ("disk.read", 1.0)]);
        let none = Err("--limit network.send");
        RULE.on(&receive, &[]).expect([("another direction", going("forward"), none)]);
        let here = Host { network: host_with_network("loopback").network, ..host };
        RULE.on(&here, &[]).expect([("here", tcp(1, "loopback"), Err("within this machine"))]);
    }

    #[test]
    fn near_it_the_limit_is_the_bottleneck_and_far_above_the_number_is_suspect() {
        let host = declaring(&[("network.send", 1e8)]);
        let at = |rate: f64| at_rate(tcp(1, "peer"), rate);
        let limit = "^declared limit network.send$ ... 100.0 Mbit/s with headers";
        expect_bottleneck(&host, at(0.99 * 1e8 * PAYLOAD), &[], limit);
        let check = crate::checks::find("above_limit").unwrap();
        check.on(&host, &[]).expect([("above", at(1.1e8), suspect("declared limit"))]);
    }
}
