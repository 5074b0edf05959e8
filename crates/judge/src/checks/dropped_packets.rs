//! `dropped_packets`: a system says where packets were lost.

use proofmark_model::{End, EndTraffic, Finding, Measurement, format_count};

use super::{Check, Class};
use crate::Context;
use crate::network::{datagrams, measured, whose};

/// Share of its packets that an interface may drop unnoticed: those of protocols that
/// nobody asked for count as dropped too.
const STRAY: f64 = 1e-4;

/// A place where packets are dropped: what it is called, and how many.
type Place = (&'static str, fn(&EndTraffic) -> Option<u64>);

/// Where a datagram had no room.
const BUFFERS: Place = ("socket buffers", |e| e.full_buffers);
/// Where a CPU did not fetch packets in time.
const BACKLOG: Place = ("the queue of a CPU", |e| e.cpu_dropped);
/// Where the device did.
const INTERFACE: Place = ("the interface", |e| e.dropped);

/// Packets that an end dropped there, over all trials that report it.
fn dropped(m: &Measurement, end: End, place: Place) -> u64 {
    let all = m.traffics().filter_map(|(_, n)| place.1(end.of(n)));
    let sum = all.fold(0_u64, u64::saturating_add);
    let packets = m.traffics().flat_map(|(_, n)| [end.of(n).in_packets, end.of(n).out_packets]);
    let packets: f64 = packets.flatten().map(|p| p as f64).sum();
    let counts = match place.0 {
        name if name == INTERFACE.0 => sum as f64 > STRAY * packets,
        name if name == BUFFERS.0 => datagrams(m) == Some(true),
        _ => true,
    };
    if counts { sum } else { 0 }
}

pub(super) static CHECK: Check = Check {
    id: "dropped_packets",
    class: Class::Disturbance,
    title: "Packets dropped by a system",
    about: "Packets that the systems of both ends dropped during the trials, of any program. They are \
         datagrams for which a socket buffer had no room, since the receiver did not fetch them in \
         time; packets that a CPU did not take from its queue in time (softnet_stat); and packets \
         that an interface dropped or found damaged, from 1 in 10 000. A note with the places and \
         counts; udp_loss and retransmits report the effect on the result.",
    examine,
    examine_reference: None,
};

fn examine(_: &Context, m: &Measurement) -> Option<Finding> {
    if !measured(m) {
        return None;
    }
    let mut parts = Vec::new();
    let mut finding = CHECK.note("", "");
    for end in End::BOTH {
        for place in [BUFFERS, BACKLOG, INTERFACE] {
            let count = dropped(m, end, place);
            if count == 0 {
                continue;
            }
            let whose = whose(m, end);
            parts.push(format!("{} by {} of {whose}", format_count(count), place.0));
            let name = format!("{}: {}", end.word(), place.0);
            finding = finding.with(&name, count);
        }
    }
    if parts.is_empty() {
        return None;
    }
    finding.message = format!("dropped packets: {}", parts.join(", "));
    finding.advice =
        "give sockets larger buffers (parameter socket_buffer, net.core.rmem_max), reduce the \
         CPU load, or send more slowly (parameter rate)"
            .to_owned();
    Some(finding)
}

#[cfg(test)]
mod tests {
    use proofmark_model::NetworkTraffic;

    use super::*;
    use crate::testing::*;

    fn stream(path: &str, spoil: fn(&mut NetworkTraffic)) -> Measurement {
        each_network(tcp(1, path), spoil)
    }

    fn datagrams(path: &str, spoil: fn(&mut NetworkTraffic)) -> Measurement {
        each_network(udp(1, path), spoil)
    }

    #[test]
    fn each_place_and_end_is_named() {
        let full = datagrams("peer", |n| n.server.full_buffers = Some(70));
        let queue = datagrams("peer", |n| n.client.cpu_dropped = Some(1));
        let both = datagrams("peer", |n| {
            (n.client.dropped, n.server.dropped) = (Some(500), Some(500));
        });
        let here = datagrams("loopback", |n| n.client.full_buffers = Some(7));
        // 7700 packets came in and 150 went out in a trial.
        let stray = stream("peer", |n| {
            (n.server.in_packets, n.server.dropped) = (Some(20_000), Some(1));
        });
        CHECK.expect([
            ("buffers", full, note("^dropped packets: 700 by socket buffers of the server$")),
            ("queue", queue, note("^dropped packets: 10 by the queue of a CPU of the client$")),
            ("both ends", both, note("interface of the client, 5")),
            ("loopback", here, note("70 by socket buffers of this machine$")),
            ("none", datagrams("peer", |n| n.server.dropped = Some(0)), SILENT),
            ("a stray", stray, SILENT),
            ("others'", stream("peer", |n| n.server.full_buffers = Some(9)), SILENT),
            ("not reported", stream("peer", |n| n.server.cpu_dropped = None), SILENT),
        ]);
    }
}
