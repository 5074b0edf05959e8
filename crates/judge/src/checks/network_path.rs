//! Checks `one_machine` and `fragmented`: both ends are one machine, or datagrams exceed the
//! packets between them.

use std::net::SocketAddr;

use proofmark_model::{Finding, Measurement, Network, NetworkPath, check_id};

use super::{Check, Class, Examine};
use crate::Context;
use crate::network::{datagrams, interfaces, measured, over_loopback, packet};

/// Boot ids of this machine and of the server, if both are known.
fn boots(network: &Network) -> Option<[&str; 2]> {
    let ids = [network.boot_id.as_deref()?, network.server.boot_id.as_deref()?];
    ids.iter().all(|id| !id.is_empty()).then_some(ids)
}

/// The evidence that a server which should be another machine is this one.
fn evidence(network: &Network) -> Option<String> {
    let same = boots(network).filter(|[here, there]| here == there);
    same.map(|[here, _]| format!("both ends have the same boot id ({here})"))
}

/// The same by the raw clock, which no program can set. Two machines would show the same time
/// within a round trip only if they had booted within it.
fn by_clock(network: &Network) -> Option<String> {
    let [before, there, after] = network.clocks_ns?;
    (before..=after)
        .contains(&there)
        .then(|| "both ends have the same raw clock (CLOCK_MONOTONIC_RAW)".to_owned())
}

/// The same by the address of the server.
fn by_address(network: &Network) -> Option<String> {
    let ip = network.address.parse::<SocketAddr>().ok()?.ip().to_canonical();
    let local = ip.is_loopback() || network.path == NetworkPath::Loopback;
    local.then(|| format!("{ip} is an address of this machine"))
}

pub(crate) static ONE_MACHINE: Check = Check {
    id: check_id::ONE_MACHINE,
    class: Class::CLAIM,
    title: "Both ends on one machine",
    about: "Loopback is a note on each of its results: both ends run on this machine, so the \
         result is that of its kernel, CPUs and memory, not of a network. A result with path=peer \
         is invalid if the server has the same boot id, an address of this machine, or the same \
         raw clock within a round trip. Causes: a container, a network namespace or a wrong \
         address. If a boot id is unknown, it is a note. To measure a network use a server on \
         another machine (--peer).",
    examine: Examine::Ours(one_machine),
};

fn one_machine(ctx: &Context, m: &Measurement) -> Option<Finding> {
    if !measured(m) {
        return None;
    }
    let advice = "to measure a network, run `proofmark serve` on another machine and name it \
                  with --peer";
    if over_loopback(m) {
        let message = "loopback: both ends run on this machine, so no network was measured";
        return Some(ONE_MACHINE.note(message, advice));
    }
    let network = ctx.host.network.get()?;
    let evidence = evidence(network).or_else(|| by_address(network));
    let finding = match evidence.or_else(|| by_clock(network)) {
        Some(how) => {
            let message = format!("the peer is this machine: {how}");
            ONE_MACHINE.invalid(message, advice)
        }
        None if boots(network).is_none() => {
            let message = "it is unknown whether the peer is another machine: no boot id";
            let advice = "make /proc/sys/kernel/random/boot_id readable at both ends";
            ONE_MACHINE.note(message, advice)
        }
        None => return None,
    };
    Some(finding.with("address", network.address.as_str()))
}

pub(super) static FRAGMENTED: Check = Check {
    id: "fragmented",
    class: Class::Context,
    title: "Fragmented datagrams",
    about: "A UDP datagram that exceeds the smaller MTU of the two interfaces, with the headers of \
         IP and UDP, goes in fragments. A note: both systems split and reassemble it, and the loss \
         of one fragment loses the whole datagram. So rate and loss are not those of packets. Use \
         blocks of at most the MTU less 28 B (48 B over IPv6), the default to a peer.",
    examine: Examine::Ours(fragmented),
};

fn fragmented(ctx: &Context, m: &Measurement) -> Option<Finding> {
    if datagrams(m) != Some(true) {
        return None;
    }
    let network = ctx.host.network.get()?;
    let mtu = interfaces(network).map(|i| i.mtu).min()?;
    let payload = m.params.block_bytes()?;
    let whole = packet(network, payload);
    if whole <= mtu as f64 {
        return None;
    }
    let message = format!(
        "a datagram of {payload} B is a packet of {whole} B and is fragmented: the MTU is {mtu} B"
    );
    let advice = "use blocks that fit into one packet (parameter block_size)";
    let finding = FRAGMENTED.note(message, advice);
    Some(finding.with("packet_bytes", whole).with("mtu_bytes", mtu))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::*;

    fn expect(name: &str, change: impl FnOnce(&mut Network), expected: Expected) {
        let host = with_network("peer", change);
        ONE_MACHINE.on(&host, &[]).expect([(name, tcp(1, "peer"), expected)]);
    }

    #[test]
    fn loopback_is_labelled() {
        for m in healthy_network("loopback") {
            let name = m.workload.clone();
            ONE_MACHINE.expect([(&name, m.clone(), note("^loopback: "))]);
            ONE_MACHINE.on(&host(), &[]).expect([(&name, m, NOTE)]);
        }
    }

    #[test]
    fn a_peer_that_is_this_machine_is_invalid() {
        let boot = |n: &mut Network| n.server.boot_id = Some("here".to_owned());
        expect("boot", boot, invalid("the same boot id"));
        for address in ["127.0.0.1:5277", "[::1]:5277", "[::ffff:127.1.2.3]:5277"] {
            let here = |n: &mut Network| n.address = address.to_owned();
            expect(address, here, invalid("is an address of this machine$"));
        }
        expect("path", |n| n.path = NetworkPath::Loopback, INVALID);
        let clock = |n: &mut Network| n.clocks_ns = Some([1_000, 1_500, 2_000]);
        expect("a forged boot id", clock, invalid("the same raw clock"));
    }

    #[test]
    fn another_machine_is_silent_and_one_without_a_boot_id_noted() {
        expect("another", |_| {}, SILENT);
        ONE_MACHINE.on(&host(), &[]).expect([("no network", tcp(1, "peer"), SILENT)]);
        for unknown in [None, Some(String::new())] {
            let no_id = note("no boot id$");
            expect("client", |n| n.boot_id.clone_from(&unknown), no_id);
            expect("server", |n| n.server.boot_id.clone_from(&unknown), no_id);
        }
    }

    #[test]
    fn a_byte_more_than_a_packet_is_noted() {
        let (v4, v6, here) = ("192.0.2.2:5277", "[2001:db8::2]:5277", "127.0.0.1:5277");
        let more = note("^a datagram of 1473 B is a packet of 1501 B");
        for (bytes, address, path, expected) in [
            (1472, v4, "peer", SILENT),
            (1452, v6, "peer", SILENT),
            (1473, v4, "peer", more),
            (1453, v6, "peer", NOTE),
            (65_507, here, "loopback", SILENT),
        ] {
            let host = with_network(path, |n| n.address = address.to_owned());
            let m = with_param(udp(1, path), "block_size", bytes);
            FRAGMENTED.on(&host, &[]).expect([(address, m, expected)]);
        }
    }
}
