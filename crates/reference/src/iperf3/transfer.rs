//! The transfer in one direction: from the client to the server, or back.

use proofmark_model::{Datagrams, Direction};

use super::json::Section;
use crate::Malformed;
use crate::printed::agree;

/// The maximum relative deviation of a rate from its bytes and time.
const ROUNDING: f64 = 0.01;

/// The sender's key of the segments that TCP sent again.
const RETRANSMITS: &str = "retransmits";

/// The transfer in one direction, over all streams.
#[derive(Default)]
pub(super) struct Transfer {
    /// True if the server sent.
    pub(super) back: bool,
    /// The names of the sender's and the receiver's sums, if this direction has its own.
    pub(super) named: Option<[&'static str; 2]>,
    pub(super) sent_bytes: u64,
    pub(super) received_bytes: u64,
    /// The receiver's time in seconds.
    pub(super) seconds: f64,
    pub(super) datagrams: Option<Datagrams>,
    /// The segments that TCP sent again, where the sender's system reports them.
    pub(super) retransmits: Option<u64>,
}

/// Returns the transfers of a test: one, or two of which the client sent the first.
pub(super) fn all(
    end: &Section,
    test: &Section,
    udp: bool,
    direction: Direction,
) -> Result<Vec<Transfer>, Malformed> {
    let paced = test.number("target_bitrate").is_ok_and(|rate| rate > 0.0);
    let both = direction == Direction::Both;
    let named = !both || end.has("sum_received_bidir_reverse");
    let backs: &[bool] = match direction {
        Direction::Forward => &[false],
        Direction::Reverse => &[true],
        Direction::Both => &[false, true],
    };
    let transfer = |back: &bool| {
        let [sent, received] = match *back && both {
            true => ["sum_sent_bidir_reverse", "sum_received_bidir_reverse"],
            false => ["sum_sent", "sum_received"],
        };
        let transfer = match (udp, named) {
            (true, _) if !named || !end.has("sum_received") => from_udp_streams(end, !back)?,
            (_, true) => from_sums(&end.section(sent)?, &end.section(received)?, udp)?,
            _ => from_connections(end, !back)?,
        };
        if transfer.received_bytes == 0 {
            return Err(end.wrong(received, "is nothing: the receiver got no byte"));
        }
        let datagrams = transfer.datagrams.map(|d| Datagrams {
            reordered: reordered(end, !back),
            jitter_s: d.jitter_s.filter(|_| paced),
            ..d
        });
        let own = match (end.has(sent), udp && direction != Direction::Both) {
            (true, _) => named.then_some([sent, received]),
            (false, is_one_way) => is_one_way.then_some(["sum", "sum"]),
        };
        Ok(Transfer { datagrams, back: *back, named: own, ..transfer })
    };
    backs.iter().map(transfer).collect()
}

/// Reads a transfer from the sums of both ends.
fn from_sums(sent: &Section, received: &Section, udp: bool) -> Result<Transfer, Malformed> {
    let seconds = received.positive("seconds")?;
    let bytes = received.count("bytes")?;
    let rate = received.number("bits_per_second")?;
    if !agree(rate, bytes as f64 * 8.0 / seconds, ROUNDING) {
        return Err(received.wrong("bits_per_second", "does not follow from bytes and seconds"));
    }
    let datagrams = match udp {
        true => Some(Datagrams {
            sent: sent.count("packets")?,
            received: received_packets(received)?,
            counted_lost: Some(received.count("lost_packets")?),
            jitter_s: received.number("jitter_ms").ok().map(|ms| ms * 1e-3),
            ..Datagrams::default()
        }),
        false => None,
    };
    let sent_bytes = sent.count("bytes")?;
    let retransmits = sent.count(RETRANSMITS).ok();
    Ok(Transfer {
        sent_bytes,
        received_bytes: bytes,
        datagrams,
        retransmits,
        ..Transfer::empty(seconds)
    })
}

/// Returns the received datagrams: those up to the last one received, less the lost ones.
fn received_packets(of: &Section) -> Result<u64, Malformed> {
    let received_packets = of.count("packets")?.checked_sub(of.count("lost_packets")?);
    received_packets.ok_or_else(|| of.wrong("lost_packets", "is more than packets"))
}

/// Reads a UDP transfer of versions up to 3.9 from the streams, whose time is the sender's. The
/// received bytes are those sent, less the share lost. The receiver's time is that of the sum.
fn from_udp_streams(end: &Section, forward: bool) -> Result<Transfer, Malformed> {
    let mut transfer = Transfer::empty(end.section("sum")?.positive("seconds")?);
    let (mut all, mut jitter, mut streams) = (Datagrams::default(), Some(0.0), 0_u32);
    for udp in udp_streams(end, forward) {
        let (sent, received_packets) = (udp.count("packets")?, received_packets(&udp)?);
        let bytes = udp.count("bytes")?;
        let share = received_packets as f64 / sent.max(1) as f64;
        transfer.add(bytes, (bytes as f64 * share).round() as u64);
        all.sent = all.sent.saturating_add(sent);
        all.received = all.received.saturating_add(received_packets);
        jitter = jitter.zip(udp.number("jitter_ms").ok()).map(|(sum, ms)| sum + ms * 1e-3);
        streams += 1;
    }
    all.jitter_s = jitter.map(|sum| sum / f64::from(streams.max(1)));
    Ok(Transfer { datagrams: Some(all), ..transfer })
}

/// Reads a TCP transfer of versions up to 3.9, both ways, from the connections. The sums of both
/// directions have one name, so the second hides the first. The time is the same.
fn from_connections(end: &Section, forward: bool) -> Result<Transfer, Malformed> {
    let mut transfer = Transfer::empty(end.section("sum_received")?.positive("seconds")?);
    let mut retransmits = Some(0_u64);
    for stream in end.each("streams") {
        let (sender, receiver) = (stream.section("sender")?, stream.section("receiver")?);
        if sender.flag("sender") == Some(forward) {
            transfer.add(sender.count("bytes")?, receiver.count("bytes")?);
            let more = sender.count(RETRANSMITS).ok();
            retransmits = retransmits.zip(more).map(|(sum, more)| sum.saturating_add(more));
        }
    }
    Ok(Transfer { retransmits, ..transfer })
}

impl Transfer {
    fn empty(seconds: f64) -> Self {
        Self { seconds, ..Self::default() }
    }

    fn add(&mut self, sent: u64, received: u64) {
        self.sent_bytes = self.sent_bytes.saturating_add(sent);
        self.received_bytes = self.received_bytes.saturating_add(received);
    }
}

/// Returns the UDP streams in this direction.
fn udp_streams<'a>(end: &Section<'a>, forward: bool) -> impl Iterator<Item = Section<'a>> {
    end.each("streams")
        .filter_map(|s| s.get("udp"))
        .filter(move |udp| udp.flag("sender").is_none_or(|sends| sends == forward))
}

/// Returns the datagrams received after one that was sent later, if all streams report it.
fn reordered(end: &Section, forward: bool) -> Option<u64> {
    let mut streams = udp_streams(end, forward).map(|udp| udp.count("out_of_order").ok());
    let first = streams.next()?;
    streams.fold(first, |sum, count| Some(sum?.saturating_add(count?)))
}

/// Returns the datagrams of all directions. Jitter does not add up: it is only that of a single
/// direction.
pub(super) fn datagrams(transfers: &[Transfer]) -> Option<Datagrams> {
    transfers
        .iter()
        .map(|transfer| transfer.datagrams)
        .reduce(|sum, more| Some(sum?.plus(more?)))?
}
