//! `shared_interface`: other traffic used the interfaces of the load.
//!
//! Bytes alone cost nothing: a link that is half empty carries both. A stream loses the share of a
//! full link that others take. A round trip waits for others' packets as far as they fill the link.
//! The capacity of a link is the interface's rate, or the sum that streams of this run and others
//! reached, if that is less. A shaped link is slower than its interface reports.

use proofmark_model::{
    Direction, End, EndTraffic, Finding, Measurement, NetworkTraffic, Severity, Trial, Unit,
    check_id, format_quantity,
};

use super::weight::Weight;
use super::{Check, Class, Examine, percent};
use crate::Context;
use crate::network::{
    datagrams, direction, measured, over_loopback, retransmitted, segments, streams,
};

/// Smallest share of the link by others that is reported.
const THRESHOLD: f64 = 0.02;
/// Share of its capacity from which a link is full.
const FULL: f64 = 0.8;
/// Largest headers of a packet in bytes, as an interface counts them: frame, IPv6, TCP with
/// timestamps.
const HEADERS: f64 = 14.0 + 40.0 + 32.0;
/// Most packets of a connection in each direction: to establish, to answer, to close.
const CONNECTION: f64 = 6.0;

/// One counter of an interface: bytes sent, or received, by one end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Counter {
    end: End,
    out: bool,
}

const COUNTERS: [Counter; 4] = [
    Counter { end: End::ClientSide, out: true },
    Counter { end: End::ClientSide, out: false },
    Counter { end: End::ServerSide, out: true },
    Counter { end: End::ServerSide, out: false },
];

impl Counter {
    fn counted(self, n: &NetworkTraffic) -> Option<f64> {
        let side: &EndTraffic = self.end.counters(n);
        let bytes = if self.out { side.out_bytes } else { side.in_bytes };
        bytes.map(|bytes| bytes as f64)
    }

    /// Returns true if blocks go in this direction.
    fn has_blocks(self, m: &Measurement) -> bool {
        let way = direction(m);
        if self.out { way.sends(self.end) } else { way.receives(self.end) }
    }

    /// The other direction of the same interface.
    fn reverse(self) -> Self {
        Self { out: !self.out, ..self }
    }

    /// Largest number of bytes that the load itself may have sent in this direction in a trial.
    /// Streams in both directions have half of the payload in each.
    fn own_bytes(self, m: &Measurement, t: &Trial, n: &NetworkTraffic) -> f64 {
        let ways = if goes_both_ways(m) { 2.0 } else { 1.0 };
        let payload = n.sent_bytes.max(n.received_bytes) as f64 / ways;
        // Half of the messages of round trips go in each direction, each with an acknowledgement at
        // most. A connection carries a byte, and has no segments of its own.
        let packets = match m.params.block_bytes() {
            Some(_) => segments(m, t).unwrap_or(payload),
            None => CONNECTION * payload,
        };
        let again = retransmitted(m, t).unwrap_or(0.0)
            * n.streams.iter().map(|s| s.segment_bytes).max().unwrap_or(0) as f64;
        let blocks = if self.has_blocks(m) { payload } else { 0.0 };
        blocks + packets * HEADERS + again
    }
}

/// Traffic in one direction over all trials.
#[derive(Debug, Clone, Copy, Default)]
struct Flow {
    /// Bytes per second of all programs.
    all: f64,
    /// Upper bound for the load itself.
    own: f64,
    /// Lower bound for others.
    others: f64,
}

/// True for streams in both directions at once, of which only the sum of the payload is known.
fn goes_both_ways(m: &Measurement) -> bool {
    streams(m) && direction(m) == Direction::Both
}

/// The traffic of that counter; for streams in both directions the mean of it and its reverse.
fn flow(m: &Measurement, way: Counter) -> Option<Flow> {
    if goes_both_ways(m) {
        let [a, b] = [one_way(m, way)?, one_way(m, way.reverse())?];
        let mean = |rate: fn(Flow) -> f64| 0.5 * (rate(a) + rate(b));
        let (all, own) = (mean(|f| f.all), mean(|f| f.own));
        return Some(Flow { all, own, others: (all - own).max(0.0) });
    }
    one_way(m, way)
}

fn one_way(m: &Measurement, way: Counter) -> Option<Flow> {
    let mut sums = (0.0, 0.0, 0.0, 0.0);
    for (t, n) in m.traffics() {
        let (all, own, seconds) = (way.counted(n)?, way.own_bytes(m, t, n), m.account_s(t)?);
        sums.0 += all;
        sums.1 += own;
        sums.2 += (all - own).max(0.0);
        sums.3 += seconds;
    }
    let flow = Flow { all: sums.0 / sums.3, own: sums.1 / sums.3, others: sums.2 / sums.3 };
    Some(flow).filter(|f| f.all.is_finite() && f.others.is_finite())
}

/// Bytes per second that the link carries in this direction, if known.
fn capacity(ctx: &Context, way: Counter) -> Option<f64> {
    let network = ctx.host.network.get()?;
    let interface = match way.end {
        End::ClientSide => network.interface.get(),
        End::ServerSide => network.server_interface.as_ref(),
    };
    let rate = interface.and_then(|i| i.bits_per_s).map(|bits| bits / 8.0);
    // Dropped datagrams, and the wait for them, give rates that no link carried.
    let tcp = |o: &&Measurement| streams(o) && datagrams(o) != Some(true) && way.has_blocks(o);
    let reached = ctx.others.iter().filter(tcp);
    let reached = reached.filter_map(|o| flow(o, way)).map(|f| f.all).max_by(f64::total_cmp);
    [rate, reached].into_iter().flatten().min_by(f64::total_cmp)
}

/// Others' share of the link as far as it costs the load; `None` if the link's capacity is unknown.
fn share(ctx: &Context, m: &Measurement, way: Counter, flow: Flow) -> Option<f64> {
    if !streams(m) {
        return Some((flow.others / capacity(ctx, way)?).min(1.0));
    }
    // Without a known capacity, the link is taken as full.
    let full = capacity(ctx, way).is_none_or(|most| flow.all >= FULL * most);
    Some(if full { flow.others / flow.all } else { 0.0 })
}

pub(super) static CHECK: Check = Check {
    id: check_id::SHARED_INTERFACE,
    class: Class::DISTURBANCE,
    title: "Interface shared with other traffic",
    about: "Counts the bytes that the interface of an end moved in the directions of the load, \
         over all trials. The load's own, with generous headers and acknowledgements, are \
         subtracted. Loopback is not examined. A stream loses others' share of a full link. A \
         round trip or a connection waits as far as others fill the link. The link's capacity is \
         the interface's rate, or the sum that the streams of this run and others reached, if that \
         is less (TCP). Others with more than 2 % are a note, with more than 25 % suspect. Without \
         a known link others' traffic is a note of unknown cost. Stop the other traffic, or \
         measure another interface.",
    examine: Examine::Ours(examine),
};

fn examine(ctx: &Context, m: &Measurement) -> Option<Finding> {
    if !measured(m) || over_loopback(m) {
        return None;
    }
    let found = |way: Counter| {
        let flow = flow(m, way).filter(|f| f.others > THRESHOLD * f.all)?;
        Some((way, flow, share(ctx, m, way, flow)))
    };
    let ways = COUNTERS.into_iter().filter(|way| way.has_blocks(m)).filter_map(found);
    let (way, flow, share) = ways.max_by(|a, b| {
        let by = |x: &(Counter, Flow, Option<f64>)| (x.2.unwrap_or(0.0), x.1.others);
        by(a).partial_cmp(&by(b)).unwrap_or(std::cmp::Ordering::Equal)
    })?;
    let severity = match share {
        Some(share) if share <= THRESHOLD => return None,
        Some(share) => Weight::derive(m).change(share),
        None => Severity::Note,
    };
    let rate = format_quantity(8.0 * flow.others, Unit::BitPerSecond);
    let goes = if way.out { "sent" } else { "received" };
    let what = match share {
        Some(share) if streams(m) => format!("{} of a full link", percent(share)),
        Some(share) => format!("{} of what the link carries", percent(share)),
        None => "what the link carries is unknown, and so is the cost".to_owned(),
    };
    let message = format!(
        "other traffic of {rate} was {goes} over the {}'s interface: {what}",
        way.end.word()
    );
    let advice = "stop the other traffic (ss -tunp and iftop list it), or measure over another \
                  interface";
    let finding = CHECK.finding(severity, message, advice);
    let finding = finding.with("others_bytes_per_s", flow.others).with("bytes_per_s", flow.all);
    Some(super::with_known(finding, "share", share))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::*;

    /// The result with others that send that many bytes per second in the direction of the blocks.
    fn with_others(m: Measurement, others: f64) -> Measurement {
        each(m, |_, t| {
            let more = (others * t.seconds) as u64;
            let n = t.network.as_mut().unwrap();
            for bytes in [&mut n.client.out_bytes, &mut n.server.in_bytes] {
                *bytes.as_mut().unwrap() += more;
            }
        })
    }

    /// A stream that got this share of its link.
    fn stream(share: f64) -> Measurement {
        let m = tcp(1, "peer");
        let rate = m.trials[0].value;
        let m = each(m, |_, t| {
            (t.value, t.work) = (share * t.value, share * t.work);
            let n = t.network.as_mut().unwrap();
            for bytes in [&mut n.sent_bytes, &mut n.received_bytes] {
                *bytes = (share * *bytes as f64) as u64;
            }
            for bytes in [&mut n.client.out_bytes, &mut n.server.in_bytes] {
                *bytes = bytes.map(|b| (share * b as f64) as u64);
            }
        });
        with_others(m, (1.0 - share) * rate / 8.0)
    }

    #[test]
    fn a_stream_loses_what_others_take_of_a_full_link() {
        CHECK.expect([
            ("alone", tcp(1, "peer"), SILENT),
            ("datagrams", udp(1, "peer"), SILENT),
            ("a tenth", stream(0.9), note("of a full link")),
            ("half", stream(0.5), suspect("of a full link")),
            ("nearly all", stream(0.02), suspect("of a full link")),
        ]);
        // A link with ten times the capacity is not full.
        let wide = with_network("peer", |n| {
            n.server_interface = None;
            set_interface(n, |i| i.bits_per_s = Some(1e10));
        });
        let reached = each(tcp(8, "peer"), |_, t| {
            let n = t.network.as_mut().unwrap();
            for bytes in [&mut n.client.out_bytes, &mut n.server.in_bytes] {
                *bytes = bytes.map(|b| 8 * b);
            }
        });
        CHECK.on(&wide, &[reached]).expect([("room for both", stream(0.5), SILENT)]);
    }

    #[test]
    fn a_round_trip_waits_as_far_as_others_fill_the_link() {
        let trips = |others: f64| {
            let m = with_param(round_trips("tcp", "block"), "path", "peer");
            each(m, |_, t| {
                let n = t.network.as_mut().unwrap();
                n.server = n.client.clone();
                for bytes in [&mut n.client.out_bytes, &mut n.server.in_bytes] {
                    *bytes = bytes.map(|b| b + (others * t.seconds) as u64);
                }
            })
        };
        let link = 1e9 / 8.0;
        let host = host_with_network("peer");
        CHECK.on(&host, &[]).expect([
            ("alone", trips(0.0), SILENT),
            ("a little", trips(0.01 * link), SILENT),
            ("a tenth", trips(0.1 * link), note("of what the link carries")),
            ("a half", trips(0.5 * link), suspect("of what the link carries")),
        ]);
        // The interface reports more than the shaped link carries.
        let shaped = with_network("peer", |n| set_interface(n, |i| i.bits_per_s = Some(1e11)));
        CHECK.on(&shaped, &[tcp(1, "peer")]).expect([("shaped", trips(0.5 * link), SUSPECT)]);
        let unknown = with_network("peer", |n| {
            n.server_interface = None;
            set_interface(n, |i| i.bits_per_s = None);
        });
        CHECK.on(&unknown, &[]).expect([("unknown", trips(0.5 * link), note("is unknown"))]);
    }
}
