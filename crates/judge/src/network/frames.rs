//! Overhead of frames: the bytes on the wire per byte of payload.
//!
//! Sources: IEEE 802.3 (preamble 8 B, header 14 B, FCS 4 B, gap 12 B; payload at least 46 B); RFC
//! 791 and 8200 (IP: 20 and 40 B; fragments in units of 8 B, in IPv6 with a header of 8 B), RFC 768
//! (UDP: 8 B), RFC 9293 and 7323 (TCP: 20 B, and 12 B of timestamps where they are on).

use proofmark_model::{Input, Measurement, Network, Provenance};

use super::{datagrams, interfaces};
use crate::ceilings::{Formula, input};
use crate::words::known;

/// Preamble, frame check sequence and gap: on the wire, but in no counter.
const UNCOUNTED: f64 = 8.0 + 4.0 + 12.0;
const HEADER: f64 = 14.0;
/// Bytes that a frame adds to its packet on the wire.
const ETHERNET: f64 = HEADER + UNCOUNTED;
/// Smallest packet of a frame; a shorter one is padded.
const LEAST_PACKET: f64 = 46.0;
const V4: f64 = 20.0;
const V6: f64 = 40.0;
const TCP: f64 = 20.0;
const TIMESTAMPS: f64 = 12.0;
const UDP: f64 = 8.0;
const FRAGMENT_V6: f64 = 8.0;
/// All fragments except the last carry a multiple of this.
const UNIT: f64 = 8.0;

/// Bytes of the IP packet of a datagram with that payload, before fragmentation.
pub(crate) fn packet(network: &Network, payload: f64) -> f64 {
    ip(network) + UDP + payload
}

/// Fewest header bytes of a packet: IP and TCP or UDP; IPv4 if the network is unknown.
pub(crate) fn least_headers(network: Option<&Network>, datagram: bool) -> f64 {
    network.map_or(V4, ip) + if datagram { UDP } else { TCP }
}

fn ip(network: &Network) -> f64 {
    if network.is_v6() { V6 } else { V4 }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Layer {
    Wire,
    /// Packets with the header of their frames, as an interface counts them.
    Interface,
}

impl Layer {
    /// Bytes of a frame in addition to its packet: their name in a formula, their number, and a
    /// note.
    fn overhead(self) -> (&'static str, f64, &'static str) {
        match self {
            Self::Wire => {
                ("ethernet", ETHERNET, "preamble 8, header 14, frame check 4, gap 12 (IEEE 802.3)")
            }
            Self::Interface => ("frame", HEADER, "the frame's header, which interfaces count"),
        }
    }
}

/// A piece of payload (TCP segment or UDP datagram) with its frames.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Frames {
    /// Bytes of payload.
    payload: f64,
    count: f64,
    /// Bytes of their packets, headers of IP included.
    packets: f64,
    /// Bytes of padding of short frames on the wire.
    padding: f64,
    /// Formula of the payload's share, with the headers of each packet.
    formula: &'static str,
    inputs: Vec<Input>,
}

impl Frames {
    /// Derives the frames of a stream over Ethernet. Fails with the unknown fact.
    pub(crate) fn derive(network: &Network, m: &Measurement) -> Result<Self, String> {
        match datagrams(m).ok_or("no trial shows whether blocks were sent as datagrams")? {
            false => Self::segment(network, m),
            true => Self::datagram(network, m),
        }
    }

    fn bytes(&self, layer: Layer) -> f64 {
        self.packets + self.count * layer.overhead().1 + self.padding_at(layer)
    }

    /// Bytes of padding that count at a layer.
    fn padding_at(&self, layer: Layer) -> f64 {
        if layer == Layer::Wire { self.padding } else { 0.0 }
    }

    /// Share of payload, 0 to 1, in the bytes that count at a layer.
    pub(crate) fn share(&self, layer: Layer) -> Formula {
        let (name, bytes, note) = layer.overhead();
        let mut inputs = self.inputs.clone();
        inputs.push(input(name, bytes, "B", Provenance::Assumed, note));
        let padding = self.padding_at(layer);
        if padding > 0.0 {
            let note = "a frame carries at least 46 B";
            inputs.push(input("padding", padding, "B", Provenance::Assumed, note));
        }
        let padding = if padding > 0.0 { " + padding" } else { "" };
        let text = self.formula.replace("FRAME", name).replace("PADDING", padding);
        Formula { value: self.payload / self.bytes(layer), text, inputs }
    }

    /// The largest segment that both interfaces carry, or that the senders' systems report, if a
    /// narrower link on the path makes it smaller. Timestamps count if the segment is shorter than
    /// the MTU allows by exactly their size; a smaller segment may have none.
    fn segment(network: &Network, m: &Measurement) -> Result<Self, String> {
        let (mtu, mtu_input) = mtu(network)?;
        let ip = ip(network);
        let most = mtu - ip - TCP;
        let states = m.traffics().flat_map(|(_, n)| &n.streams).map(|s| s.segment_bytes as f64);
        let reported = states.filter(|s| *s > 0.0 && *s <= most).max_by(f64::total_cmp);
        let payload = reported.unwrap_or(most);
        let (options, why) = match payload {
            p if p == most - TIMESTAMPS => (TIMESTAMPS, "timestamps (RFC 7323), by the segment"),
            _ => (0.0, "none that the segment shows"),
        };
        if payload <= 0.0 {
            return Err(format!("an MTU of {mtu} B is too small for a segment"));
        }
        let source = match reported {
            Some(_) => (Provenance::Reported, "largest of a connection (TCP_INFO)"),
            None => (Provenance::Assumed, "MTU less the headers, the maximum"),
        };
        let inputs = vec![
            mtu_input,
            input("segment", payload, "B", source.0, source.1),
            ip_input(ip),
            input("tcp", TCP, "B", Provenance::Assumed, "header (RFC 9293)"),
            input("options", options, "B", Provenance::Assumed, why),
        ];
        let formula = "segment / (segment + ip + tcp + options + FRAME)";
        let packets = payload + ip + TCP + options;
        Ok(Self { payload, count: 1.0, packets, padding: 0.0, formula, inputs })
    }

    /// A datagram of the block's size, in fragments if it exceeds a packet.
    fn datagram(network: &Network, m: &Measurement) -> Result<Self, String> {
        let payload = m.params.block_bytes().ok_or("the configuration has no block_size")?;
        let (mtu, mtu_input) = mtu(network)?;
        let whole = packet(network, payload);
        let mut head = ip(network);
        let mut count = 1.0;
        if whole > mtu {
            head += if network.is_v6() { FRAGMENT_V6 } else { 0.0 };
            let each = ((mtu - head) / UNIT).floor() * UNIT;
            if each <= 0.0 {
                return Err(format!("an MTU of {mtu} B is too small for a fragment"));
            }
            count = ((UDP + payload) / each).ceil();
        }
        let packets = payload + UDP + count * head;
        // Only the last of several can be short. Ignoring its padding keeps an upper bound.
        let padding = if count > 1.0 { 0.0 } else { (LEAST_PACKET - packets).max(0.0) };
        let inputs = vec![
            mtu_input,
            input("datagram", payload, "B", Provenance::Declared, "payload, block_size"),
            input("udp", UDP, "B", Provenance::Assumed, "header (RFC 768)"),
            ip_input(head),
            input("frames", count, "", Provenance::Assumed, "number of fragments at this MTU"),
        ];
        let formula = "datagram / (datagram + udp + frames x (ip + FRAME)PADDING)";
        Ok(Self { payload, count, packets, padding, formula, inputs })
    }
}

fn ip_input(bytes: f64) -> Input {
    let note = match bytes as u64 {
        20 => "header of IPv4 (RFC 791)",
        40 => "header of IPv6 (RFC 8200)",
        _ => "headers of IPv6 and of a fragment (RFC 8200)",
    };
    input("ip", bytes, "B", Provenance::Assumed, note)
}

fn mtu(network: &Network) -> Result<(f64, Input), String> {
    let least = match interfaces(network).min_by_key(|i| i.mtu) {
        Some(least) => least,
        None => known(&network.interface, "the interface to the server")?,
    };
    let (mtu, note) = (least.mtu as f64, format!("of {}", least.name));
    Ok((mtu, input("mtu", mtu, "B", Provenance::Reported, note)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::*;

    fn set_mtu(n: &mut Network, mtu: u64) {
        set_interface(n, |i| i.mtu = mtu);
    }

    fn v6(n: &mut Network) {
        n.address = "[2001:db8::2]:5277".to_owned();
    }

    fn frames(m: &Measurement, change: impl FnOnce(&mut Network)) -> Frames {
        let host = with_network("peer", change);
        Frames::derive(host.network.get().unwrap(), m).unwrap()
    }

    fn segments(bytes: u64) -> Measurement {
        each_network(tcp(1, "peer"), |n| n.streams[0].segment_bytes = bytes)
    }

    fn datagrams(bytes: u64) -> Measurement {
        with_param(udp(1, "peer"), "block_size", bytes)
    }

    #[test]
    fn segments_are_those_that_the_systems_report() {
        for (name, reported, change, payload, options, wire) in [
            ("timestamps", 1448, (|_| {}) as fn(&mut Network), 1448.0, 12.0, 1538.0),
            ("the server's MTU", 1448, |n| set_mtu(n, 9000), 1448.0, 12.0, 1538.0),
            ("timestamps unknown", 0, |_| {}, 1460.0, 0.0, 1538.0),
            ("no timestamps", 1460, |_| {}, 1460.0, 0.0, 1538.0),
            ("a tunnel on the way", 1348, |_| {}, 1348.0, 0.0, 1426.0),
            ("IPv6", 0, v6, 1440.0, 0.0, 1538.0),
            ("a small MTU", 0, |n| set_mtu(n, 576), 536.0, 0.0, 614.0),
            ("nonsense", 60_000, |_| {}, 1460.0, 0.0, 1538.0),
        ] {
            let f = frames(&segments(reported), change);
            let found = f.inputs.iter().find(|i| i.name == "options").unwrap().value;
            assert_eq!(
                (f.payload, found, f.bytes(Layer::Wire)),
                (payload, options, wire),
                "{name}"
            );
        }
        assert_eq!(frames(&segments(1448), |_| {}).bytes(Layer::Interface), 1514.0);
    }

    #[test]
    fn datagrams_are_fragmented_at_the_mtu() {
        for (bytes, change, count, wire) in [
            (1472, (|_| {}) as fn(&mut Network), 1.0, 1538.0),
            // 1481 bytes after the header of IP: 1480 and 1.
            (1473, |_| {}, 2.0, 1473.0 + 8.0 + 2.0 * 58.0),
            (65_507, |_| {}, 45.0, 65_507.0 + 8.0 + 45.0 * 58.0),
            (1452, v6, 1.0, 1538.0),
            (1453, v6, 2.0, 1453.0 + 8.0 + 2.0 * 86.0),
            // The least frame.
            (1, |_| {}, 1.0, 84.0),
            // 1108 bytes after the header of IP, where 556 fit and 552, a multiple of 8, are used.
            (1100, |n| set_mtu(n, 576), 3.0, 1100.0 + 8.0 + 3.0 * 58.0),
        ] {
            let f = frames(&datagrams(bytes), change);
            assert_eq!((f.count, f.bytes(Layer::Wire)), (count, wire), "{bytes}");
        }
    }

    #[test]
    fn a_too_small_mtu_is_the_reason() {
        for m in [segments(0), udp(1, "peer")] {
            let host = with_network("peer", |n| set_mtu(n, 20));
            let why = Frames::derive(host.network.get().unwrap(), &m).unwrap_err();
            assert!(why.contains("an MTU of 20 B"), "{why}");
        }
    }
}
