//! `interface_disagreement`: the result claims more payload than the systems of the two ends
//! carried.
//!
//! Sources: Linux net/core/dev.c and drivers (an interface counts packets with their IP headers);
//! net/ipv4/udp.c. InDatagrams counts what a socket's owner received, OutDatagrams what was passed
//! on. A datagram dropped at a full queue counts as sent only for its sender.

use proofmark_model::{End, Finding, Measurement, NetworkTraffic, Severity, Unit, format_count};

use super::{Check, Class, Examine, percent, size};
use crate::Context;
use crate::network::{direction, least_headers, over_loopback};

/// Share of the payload that an interface must have carried; the rest allows for counters read at
/// slightly different times.
const CARRIED: f64 = 0.99;
/// Fewest packets of a connection: two to establish it, one in each direction on it.
const CONNECTION: f64 = 4.0;

/// Bytes that an end's interface moved in the direction or directions of the payload. If that is
/// too little, those of all its interfaces. A service address is on no interface that packets take,
/// and routes of equal cost use several.
fn carried(m: &Measurement, end: End, n: &NetworkTraffic) -> Option<f64> {
    let side = end.counters(n);
    if over_loopback(m) {
        // Bytes that leave the loopback interface also enter it.
        return Some(side.in_bytes?.min(side.out_bytes?) as f64);
    }
    let way = direction(m);
    let (own, all) = (side.carried(way, end), side.all_carried(way, end));
    let enough = |bytes: &u64| *bytes as f64 >= n.received_bytes as f64;
    own.filter(enough).or(all.max(own)).map(|bytes| bytes as f64)
}

/// Fewest packets for the payload of a trial. 0 for a TCP stream, whose segments may be merged
/// before the interface counts them.
fn packets(m: &Measurement, n: &NetworkTraffic) -> f64 {
    let payload = n.received_bytes as f64;
    match m.params.block_bytes() {
        _ if m.unit == Unit::BitPerSecond && n.datagrams.is_none() => 0.0,
        Some(block) => payload / block,
        // A connection carries one byte.
        None => CONNECTION * payload,
    }
}

/// Datagrams received in a trial, from three sources: the result, and the counts of the systems at
/// its ends for received and for sent ones.
fn datagrams(m: &Measurement, n: &NetworkTraffic) -> Option<[Option<f64>; 3]> {
    let ways = if m.unit == Unit::BitPerSecond { 1.0 } else { 2.0 };
    let claimed = n.datagrams?.received as f64 * ways;
    let way = direction(m);
    let sum = |wanted: &dyn Fn(End) -> bool, count: &dyn Fn(End) -> Option<u64>| {
        // Over loopback one system has both ends, and the client reports it.
        let here =
            |end: &End| if over_loopback(m) { *end == End::ClientSide } else { wanted(*end) };
        End::BOTH.into_iter().filter(here).map(|end| Some(count(end)? as f64)).sum::<Option<f64>>()
    };
    let taken_in = sum(&|end| way.receives(end), &|end| end.counters(n).in_datagrams);
    let sent_out = sum(&|end| way.sends(end), &|end| end.counters(n).out_datagrams);
    Some([Some(claimed), taken_in, sent_out])
}

/// Sums the claimed and the counted values of the trials that report both.
fn sums(pairs: impl Iterator<Item = (f64, f64)>) -> (f64, f64) {
    pairs.fold((0.0, 0.0), |(a, b), (c, d)| (a + c, b + d))
}

/// Compares the payload with the bytes of an end's interface.
fn by_bytes(ctx: &Context, m: &Measurement, end: End) -> Option<Finding> {
    let headers = |n: &NetworkTraffic| {
        least_headers(ctx.host.network.get(), n.datagrams.is_some()) * packets(m, n)
    };
    let all = || m.traffics().filter_map(|(_, n)| Some((n, carried(m, end, n)?)));
    let (claimed, moved) = sums(all().map(|(n, c)| (n.received_bytes as f64, c)));
    let least = claimed + all().map(|(n, _)| headers(n)).sum::<f64>();
    if claimed <= 0.0 || moved >= CARRIED * least {
        return None;
    }
    let (bytes, whose) = (size(claimed), end.word());
    let (severity, message) = if moved <= 0.0 {
        let message = format!(
            "the interface counters of the {whose} did not change, but the result claims \
             {bytes} of payload: they belong to another interface, or are off"
        );
        (Severity::Suspect, message)
    } else {
        let with_headers = if least > claimed {
            format!(", at least {} with headers", size(least))
        } else {
            String::new()
        };
        let message = format!(
            "the result claims {bytes} of payload{with_headers}, but the {whose}'s interface \
             carried only {} ({})",
            size(moved),
            percent(moved / least)
        );
        (Severity::Invalid, message)
    };
    let advice = "check which interface the packets take (ip route get); if it is this one, \
                  the payload did not use it";
    let finding = CHECK.finding(severity, message, advice);
    let finding = finding.with("claimed_bytes", claimed);
    Some(finding.with("least_bytes", least).with("interface_bytes", moved).with("end", whose))
}

/// Compares the received datagrams with the systems' own counts: those `taken_in`, or those sent.
fn by_datagrams(m: &Measurement, taken_in: bool) -> Option<Finding> {
    let pairs = m.traffics().filter_map(|(_, n)| {
        let [claimed, into, out] = datagrams(m, n)?;
        claimed.zip(if taken_in { into } else { out })
    });
    let (claimed, counted) = sums(pairs);
    if counted >= claimed {
        return None;
    }
    let did = if taken_in { "handed to sockets" } else { "sent" };
    let (severity, only) = match counted {
        0.0 => {
            (Severity::Suspect, "none: the counter is that of another namespace, or off".to_owned())
        }
        _ => (Severity::Invalid, format!("only {}", format_count(counted as u64))),
    };
    let message = format!(
        "the result claims {} received datagrams, but the systems counted {only} that were {did}",
        format_count(claimed as u64)
    );
    let advice = "compare with nstat -a: the system must have counted every transferred datagram";
    let finding = CHECK.finding(severity, message, advice);
    Some(finding.with("claimed_datagrams", claimed).with("counted_datagrams", counted))
}

pub(super) static CHECK: Check = Check {
    id: "interface_disagreement",
    class: Class::claim("a counter that did not change is off or belongs to another interface"),
    title: "Claimed traffic exceeds the interface's",
    about: "Compares the payload that the receivers counted with the bytes that the interface of \
         each end moved in those directions, over all trials. Each message of a round trip and \
         each datagram counts with minimum headers: IP 20 B or 40 B, TCP 20 B, UDP 8 B. A \
         connection counts with those of 4 packets. Where the interface with the address moved too \
         little, all interfaces but the loopback's count together: a service address is on no \
         interface that packets take, and routes of equal cost use several. Segments of a stream \
         may be merged, so they count as payload alone. An interface also counts acknowledgements \
         and other programs' packets, so it can only have moved more. Less than 99 % is invalid: \
         the payload took another way or was not sent. So are more datagrams than the systems \
         count as delivered or sent. Counters that did not change are suspect: they are off, or \
         belong to another interface.",
    examine: Examine::Ours(examine),
};

fn examine(ctx: &Context, m: &Measurement) -> Option<Finding> {
    let bytes = End::BOTH.into_iter().filter_map(|end| by_bytes(ctx, m, end));
    let datagrams = [true, false].into_iter().filter_map(|way| by_datagrams(m, way));
    bytes.chain(datagrams).max_by_key(|f| f.severity)
}

#[cfg(test)]
mod tests {
    use proofmark_model::{Params, key};

    use super::*;
    use crate::testing::*;

    fn peer(spoil: fn(&mut NetworkTraffic)) -> Measurement {
        each_network(tcp(1, "peer"), spoil)
    }

    fn less(bytes: &mut Option<u64>) {
        *bytes = bytes.map(|b| b / 10);
    }

    #[test]
    fn payload_that_an_interface_did_not_carry_is_invalid() {
        let server = invalid("the server's interface carried only ... (10.5 %)$");
        CHECK.expect([
            ("server", peer(|n| less(&mut n.server.in_bytes)), server),
            ("client", peer(|n| less(&mut n.client.out_bytes)), invalid("client's")),
            ("counters that do not change", peer(|n| n.server.in_bytes = Some(0)), {
                suspect("did not change")
            }),
            ("no counters", peer(|n| n.server.in_bytes = None), SILENT),
        ]);
        for m in healthy_network("loopback") {
            let into = each_network(m.clone(), |n| less(&mut n.client.in_bytes));
            let out = each_network(m, |n| less(&mut n.client.out_bytes));
            CHECK.expect([("in", into, INVALID), ("out", out, INVALID)]);
        }
        let others = each_network(round_trips("tcp", "block"), |n| {
            n.client.in_bytes = Some(u64::MAX / 100);
        });
        CHECK.expect([("everybody's packets", others, SILENT)]);
    }

    #[test]
    fn each_direction_is_compared_with_its_own_counters() {
        let way = |way: &str| with_param(tcp(1, "peer"), "direction", way);
        let swapped =
            each_network(way("reverse"), |n| std::mem::swap(&mut n.client, &mut n.server));
        let both = each_network(way("both"), |n| less(&mut n.server.in_bytes));
        let trip = with_param(round_trips("tcp", "block"), "path", "peer");
        let trip = each_network(trip, |n| less(&mut n.client.out_bytes));
        CHECK.expect([
            ("reverse", swapped, SILENT),
            ("payload went out", way("reverse"), INVALID),
            ("all of it may have gone one way", way("both"), SILENT),
            ("neither way", both, INVALID),
            ("a round trip goes both ways", trip, SILENT),
        ]);
    }

    /// The result with `bytes` moved in each direction by the client's interface.
    fn moving(m: Measurement, bytes: fn(&NetworkTraffic) -> u64) -> Measurement {
        each_network(m, |n| {
            let bytes = Some(bytes(n));
            (n.client.in_bytes, n.client.out_bytes) = (bytes, bytes);
        })
    }

    #[test]
    fn a_small_message_takes_its_headers_and_a_connection_four_packets() {
        // What the payload alone takes, by messages of 1 B.
        let payload = |m| moving(m, |n| n.received_bytes);
        let [tcp_trip, udp_trip] = ["tcp", "udp"].map(|protocol| round_trips(protocol, "block"));
        let tiny = with_param(udp(1, "loopback"), "block_size", 8);
        CHECK.expect([
            ("tcp", tcp_trip.clone(), SILENT),
            ("udp", udp_trip.clone(), SILENT),
            ("tcp, payload", payload(tcp_trip), invalid("with headers ... (2.4 %)$")),
            ("udp, payload", payload(udp_trip), invalid("with headers ... (3.4 %)$")),
            ("datagrams of 8 B", payload(tiny), INVALID),
            ("joined segments", payload(tcp(1, "loopback")), SILENT),
        ]);
        let m = moving(round_trips("udp", "block"), |n| n.received_bytes * (1 + 28));
        for (address, expected) in [("127.0.0.1:5277", SILENT), ("[::1]:5277", INVALID)] {
            let host = with_network("loopback", |n| n.address = address.to_owned());
            CHECK.on(&host, &[]).expect([(address, m.clone(), expected)]);
        }
        let mut m = round_trips("tcp", "block");
        m.params = Params::default().with(key::STREAMS, 1).with(key::PATH, "loopback");
        let four = moving(m.clone(), |n| n.received_bytes * (1 + 4 * 40));
        let three = moving(m, |n| n.received_bytes * (1 + 3 * 40));
        CHECK.expect([("four", four, SILENT), ("three", three, INVALID)]);
    }

    #[test]
    fn datagrams_that_the_systems_did_not_see_are_invalid() {
        let short = |count: &mut Option<u64>| *count = count.map(|n| n - 1);
        for m in [udp(1, "loopback"), round_trips("udp", "block")] {
            let into = each_network(m.clone(), |n| short(&mut n.client.in_datagrams));
            let out = each_network(m, |n| short(&mut n.client.out_datagrams));
            CHECK.expect([
                ("in", into, invalid("were handed to sockets$")),
                ("out", out, invalid("were sent$")),
            ]);
        }
        let peer = |spoil: fn(&mut NetworkTraffic)| each_network(udp(1, "peer"), spoil);
        let lost = peer(|n| {
            n.datagrams.as_mut().unwrap().sent += 5;
            n.sent_bytes += 5 * 1472;
        });
        CHECK.expect([
            ("at the server", peer(|n| n.server.in_datagrams = Some(1)), INVALID),
            ("at the client", peer(|n| n.client.out_datagrams = Some(1)), INVALID),
            ("nothing comes back", peer(|n| n.client.in_datagrams = Some(1)), SILENT),
            ("none counted", peer(|n| n.server.in_datagrams = Some(0)), SUSPECT),
            ("not reported", peer(|n| n.server.in_datagrams = None), SILENT),
            ("lost on the way", lost, SILENT),
        ]);
    }
}
