//! Checks `udp_loss`, `dropped_packets` and `retransmits`: datagrams were lost, a system dropped
//! packets, or TCP sent segments again.
//!
//! A UDP sender does not know what arrives, so a rate that it counts is no rate of the network. The
//! result is the receiver's rate; the finding adds what was sent.

use proofmark_model::{
    Datagrams, End, EndTraffic, Finding, Measurement, Severity, Trial, check_id, format_count,
    format_quantity,
};

use super::share::Share;
use super::{Check, Class, Examine, percent};
use crate::Context;
use crate::network::{
    datagrams, direction, machine_of, over_loopback, retransmitted, segments, streams,
};

/// Share of lost datagrams up to which the receiver kept up. Beyond it the rate is that of an
/// overload: the sender's lost work uses CPUs or a link that both ends may share.
const OVERLOAD: f64 = 0.1;
/// Share of the lost datagrams from which the ends dropped them.
const BY_ENDS: f64 = 0.1;
/// Share of lost round trips that is tolerated: the wait for each lost one is part of the time.
const ROUND_TRIPS: f64 = 0.0;

fn account(t: &Trial) -> Option<Datagrams> {
    t.network.as_ref()?.datagrams
}

pub(super) static UDP_LOSS: Check = Check {
    id: check_id::UDP_LOSS,
    class: Class::claim("what the path carries without an overload or lost round trips is unknown"),
    title: "Datagrams lost",
    about: "Compares datagrams sent with those received, each counted once. Any loss is a note: \
         the rate is the receiver's, and the finding adds what was sent. More than 10 % of a \
         stream is suspect if the ends dropped more than a tenth of them, or over loopback: the \
         rate is that of an overload. A full queue on the way drops datagrams but keeps the path's \
         rate: a note. Any lost round trip is suspect too, since waiting for it is part of the \
         time. Both are notes if only the worst tenth of the trials causes it. Pace the sender \
         (parameter rate) below what arrives, and see dropped_packets for the places.",
    examine: Examine::Both(udp_loss),
};

fn udp_loss(_: &Context, m: &Measurement) -> Option<Finding> {
    let sent = |t: &Trial| account(t).map_or(0.0, |d| d.sent as f64);
    let lost = |t: &Trial| account(t).map(|d| d.lost() as f64);
    let share = Share::sum(&m.trials, lost, sent)?;
    if share.amount <= 0.0 {
        return None;
    }
    let threshold = if streams(m) { OVERLOAD } else { ROUND_TRIPS };
    // A full queue of the link drops datagrams but keeps the link's rate.
    let lost = lost_at_ends(m).map(|lost| lost as f64);
    let by_ends =
        streams(m) && (over_loopback(m) || lost.is_none_or(|lost| lost > BY_ENDS * share.amount));
    let severity = match share.severity(threshold) {
        Some(severity) if by_ends || !streams(m) => severity,
        _ => Severity::Note,
    };
    let message = if streams(m) {
        let rate = m.summary.as_ref().map(|s| s.value()).filter(|r| r.is_finite());
        let all = m.datagrams()?;
        let offered = rate.map(|r| r * (all.sent as f64 / all.received as f64));
        let offered = offered.filter(|r| r.is_finite());
        let both = rate.zip(offered).map_or(String::new(), |(got, sent)| {
            let (got, sent) = (format_quantity(got, m.unit), format_quantity(sent, m.unit));
            let on_the_way = if by_ends { "" } else { "; the ends dropped less than 10 % of them" };
            format!(": {sent} sent, {got} received (the result){on_the_way}")
        });
        format!("{} of the datagrams were lost{both}", percent(share.all))
    } else {
        format!(
            "{} of the round trips were lost, and the wait for them is part of the time",
            percent(share.all)
        )
    };
    let all = m.datagrams()?;
    let advice = "pace the sender below what arrives (parameter rate), give the receiver a \
                  larger buffer (parameter socket_buffer), and see dropped_packets for the \
                  places";
    let finding = UDP_LOSS.finding(severity, message, advice);
    Some(share.add_to(finding, "lost").with("sent", all.sent).with("received", all.received))
}

/// Datagrams that the systems of the ends dropped, by their own counts; `None` if the receiver does
/// not report its buffers.
fn lost_at_ends(m: &Measurement) -> Option<u64> {
    let way = direction(m);
    let unknown = |end: &End| {
        way.receives(*end) && m.traffics().any(|(_, n)| BUFFERS.1(end.counters(n)).is_none())
    };
    if End::BOTH.iter().any(unknown) {
        return None;
    }
    let at = |end| [BUFFERS, BACKLOG, INTERFACE].map(|place| dropped(m, end, place)).into_iter();
    Some(End::BOTH.into_iter().flat_map(at).fold(0, u64::saturating_add))
}

/// Share of dropped packets that is not reported: packets of unknown protocols count as dropped
/// too.
const STRAY: f64 = 1e-4;

/// A place where packets are dropped: its name and its count.
type Place = (&'static str, fn(&EndTraffic) -> Option<u64>);

/// Datagrams without room in a socket buffer.
const BUFFERS: Place = ("socket buffers", |e| e.full_buffers);
/// Packets that a CPU did not fetch in time.
const BACKLOG: Place = ("the queue of a CPU", |e| e.cpu_dropped);
/// Packets that the interface dropped.
const INTERFACE: Place = ("the interface", |e| e.dropped);

/// Packets that an end dropped at a place, over all trials that report it.
fn dropped(m: &Measurement, end: End, place: Place) -> u64 {
    let all = m.traffics().filter_map(|(_, n)| place.1(end.counters(n)));
    let sum = all.fold(0_u64, u64::saturating_add);
    let packets =
        m.traffics().flat_map(|(_, n)| [end.counters(n).in_packets, end.counters(n).out_packets]);
    let packets: f64 = packets.flatten().map(|p| p as f64).sum();
    let counts = match place.0 {
        name if name == INTERFACE.0 => sum as f64 > STRAY * packets,
        name if name == BUFFERS.0 => datagrams(m) == Some(true),
        _ => true,
    };
    if counts { sum } else { 0 }
}

pub(super) static DROPPED_PACKETS: Check = Check {
    id: "dropped_packets",
    class: Class::Context,
    title: "Packets dropped by a system",
    about: "Counts the packets of any program that the systems of both ends dropped during the \
         trials. They are datagrams for which a socket buffer had no room, since the receiver did \
         not fetch them in time; packets that a CPU did not take from its queue in time \
         (softnet_stat); and packets that an interface dropped or found damaged, from 1 in 10 000. \
         A note with the places and counts; udp_loss and retransmits report the effect on the \
         result.",
    examine: Examine::Ours(dropped_packets),
};

fn dropped_packets(_: &Context, m: &Measurement) -> Option<Finding> {
    let mut parts = Vec::new();
    let mut finding = DROPPED_PACKETS.note("", "");
    for end in End::BOTH {
        for place in [BUFFERS, BACKLOG, INTERFACE] {
            let count = dropped(m, end, place);
            if count == 0 {
                continue;
            }
            let whose = machine_of(m, end);
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

/// Share of retransmitted segments that is reported: on a path with a long round trip even so few
/// halve the window now and then.
const REPORTED_FROM: f64 = 0.001;
/// Share of retransmitted segments from which the rate is that of a path that loses packets.
const MANY: f64 = 0.05;

pub(super) static RETRANSMITS: Check = Check {
    id: "retransmits",
    class: Class::DISTURBANCE,
    title: "Retransmitted segments",
    about: "Compares retransmitted TCP segments with all segments of the payload. The counts are \
         those of the connections (TCP_INFO), or where missing those of both systems \
         (/proc/net/snmp), which include other programs. From 0.1 % it is a note, and above 5 %, \
         without the worst tenth of the trials, suspect: the cost is unknown, since a lost segment \
         also halves the window. A limit, a full queue or a bad cable on the path drops or \
         reorders packets. Congestion control finds the path's rate by such losses, so a few are \
         normal on a full link.",
    examine: Examine::Ours(retransmits),
};

fn retransmits(_: &Context, m: &Measurement) -> Option<Finding> {
    if datagrams(m) == Some(true) {
        return None;
    }
    let base = |t: &Trial| segments(m, t).unwrap_or(0.0);
    let share = Share::sum(&m.trials, |t| retransmitted(m, t), base)?;
    if share.all < REPORTED_FROM {
        return None;
    }
    // Their cost is unknown: a lost segment also halves the window.
    let severity = if share.usual > MANY { Severity::Suspect } else { Severity::Note };
    let message = format!("{} of the TCP segments were retransmitted", percent(share.all));
    let advice = "check what drops packets on the path: a limit, a full queue, a duplex \
                  mismatch; dropped_packets lists the drops of both ends";
    Some(share.add_to(RETRANSMITS.finding(severity, message, advice), "retransmits"))
}

#[cfg(test)]
mod tests {
    use proofmark_model::NetworkTraffic;

    use super::*;
    use crate::testing::*;

    /// The result with that many datagrams per thousand lost in the first `trials` trials.
    fn losing(m: Measurement, thousandths: u64, trials: usize) -> Measurement {
        each(m, |i, t| {
            let d = t.network.as_mut().unwrap().datagrams.as_mut().unwrap();
            let lost = if i < trials { thousandths } else { 0 };
            d.sent = d.received * 1000 / (1000 - lost);
        })
    }

    #[test]
    fn any_loss_is_noted_and_much_of_it_is_suspect() {
        let stream = |thousandths, trials| losing(udp(1, "loopback"), thousandths, trials);
        let trips = |trials| losing(round_trips("udp", "block"), 1, trials);
        let half =
            "^50.0 % of the datagrams ... 10.00 Gbit/s sent, 5.000 Gbit/s received (the result)$";
        // `bytes_lost` reports that.
        let more =
            each_network(udp(1, "loopback"), |n| n.datagrams.as_mut().unwrap().received += 9);
        UDP_LOSS.expect([
            ("none", stream(0, 10), SILENT),
            ("little", stream(5, 10), NOTE),
            ("up to a tenth", stream(90, 10), NOTE),
            ("more than a tenth", stream(110, 10), SUSPECT),
            ("in one trial", stream(900, 1), NOTE),
            ("half", stream(500, 10), suspect(half)),
            ("no round trip", trips(0), SILENT),
            ("one round trip", trips(1), NOTE),
            ("in half of the trials", trips(5), SUSPECT),
            ("not reported", each(udp(1, "loopback"), |_, t| t.network = None), SILENT),
            ("more received than sent", more, SILENT),
        ]);
    }

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
        DROPPED_PACKETS.expect([
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

    #[test]
    fn retransmitted_segments_are_reported() {
        // The connection has 8000 segments in each trial.
        let resending = |more: u64| {
            each(tcp(1, "peer"), |i, t| {
                for s in &mut t.network.as_mut().unwrap().streams {
                    s.retransmits = 1000 + more * i as u64;
                }
            })
        };
        let by_systems = |m, client: u64, server: u64| {
            each_network(m, |n| {
                n.streams.clear();
                (n.client.retransmits, n.server.retransmits) = (Some(client), Some(server));
            })
        };
        let client = |m, count| each_network(m, |n| n.client.retransmits = Some(count));
        RETRANSMITS.expect([
            ("all of them in the warm-up", resending(0), SILENT),
            ("few", resending(7), SILENT),
            ("some", resending(20), NOTE),
            ("more", resending(350), NOTE),
            ("many", resending(800), SUSPECT),
            // Without the connection's own counts, the systems' counts are used.
            ("none", by_systems(tcp(1, "peer"), 0, 0), SILENT),
            ("the client's", by_systems(tcp(1, "peer"), 800, 0), SUSPECT),
            ("the server's", by_systems(tcp(1, "peer"), 0, 800), SUSPECT),
            ("the connection reports none", client(tcp(1, "peer"), 200), SILENT),
            ("datagrams", client(udp(1, "peer"), 2000), SILENT),
            // Of 10 000 in 5000 round trips.
            ("round trips", by_systems(round_trips("tcp", "block"), 1000, 0), SUSPECT),
        ]);
    }
}
