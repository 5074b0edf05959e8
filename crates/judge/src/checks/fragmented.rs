//! `fragmented`: datagrams longer than a packet.

use proofmark_model::{Finding, Measurement};

use super::{Check, Class};
use crate::Context;
use crate::network::{datagrams, interfaces, packet};

pub(super) static CHECK: Check = Check {
    id: "fragmented",
    class: Class::Context,
    title: "Fragmented datagrams",
    about: "A UDP datagram that exceeds the smaller MTU of the two interfaces, with the headers of IP \
         and UDP, goes in fragments. A note: both systems split and reassemble it, and the loss of \
         one fragment loses the whole datagram. So rate and loss are not those of packets. Use \
         blocks of at most the MTU less 28 B (48 B over IPv6), the default to a peer.",
    examine,
    examine_reference: None,
};

fn examine(ctx: &Context, m: &Measurement) -> Option<Finding> {
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
    let finding = CHECK.note(message, advice);
    Some(finding.with("packet_bytes", whole).with("mtu_bytes", mtu))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::*;

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
            CHECK.on(&host, &[]).expect([(address, m, expected)]);
        }
    }
}
