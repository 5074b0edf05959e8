//! One line of iperf's text or CSV.

use proofmark_model::Datagrams;

use crate::Malformed;
use crate::text::{number, positive, whole};

/// What was moved in some part of a test.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Amount {
    pub(super) at: usize,
    /// Seconds since the test began.
    pub(super) start: f64,
    pub(super) seconds: f64,
    pub(super) bits: f64,
    /// Whether the bits are counted, and not of a rounded rate.
    pub(super) exact: bool,
    /// Of a receiver.
    pub(super) datagrams: Option<Datagrams>,
}

pub(super) struct Row<'a> {
    /// `None`: all streams.
    pub(super) stream: Option<&'a str>,
    pub(super) udp: bool,
    pub(super) client: &'a str,
    pub(super) server: &'a str,
    pub(super) amount: Amount,
}

/// Bytes of `128 KByte`, whose prefix is a power of 1024.
pub(super) fn size(text: &str) -> Option<u64> {
    let mut words = text.split_whitespace();
    let number: f64 = words.next()?.parse().ok()?;
    let prefix = words.next()?.trim_end_matches(')').strip_suffix("Byte")?;
    let power = ["", "K", "M", "G"].iter().position(|p| *p == prefix)?;
    let bytes = number * 1024.0_f64.powi(power as i32);
    (1.0..MOST).contains(&bytes).then_some(bytes as u64)
}

/// More than any buffer, in bytes.
const MOST: f64 = 1e15;

impl Amount {
    /// Of `10.7 MBytes  89.3 Mbits/sec   0.000 ms 213/8244 (0%)`, in that time.
    pub(super) fn parse(
        values: &str,
        (start, seconds): (f64, f64),
        at: usize,
    ) -> Result<Self, Malformed> {
        let mut words = values.split_whitespace();
        let mut next = || words.next().ok_or_else(|| Malformed::at(at, "the line ends too soon"));
        let (moved, of, rate, unit) = (next()?, next()?, next()?, next()?);
        let rate = number(rate, at)? * factor(unit, at)?;
        let counted = (of == "Bytes").then(|| number(moved, at)).transpose()?;
        let counted = counted.filter(|_| rate > 0.0).map(|bytes| (bytes * 8.0, bytes * 8.0 / rate));
        // The time has few digits.
        let counted = counted.filter(|(_, s)| (s - seconds).abs() <= ROUNDED + ROUNDED * seconds);
        let (bits, seconds, exact) = match counted {
            Some((bits, seconds)) => (bits, seconds, true),
            None => (rate * seconds, seconds, false),
        };
        let datagrams = datagrams(values, at)?;
        Ok(Self { at, start, seconds, bits, exact, datagrams })
    }
}

/// By how much the time of a line may differ from that of its bytes at its rate: in seconds, and
/// as a share.
const ROUNDED: f64 = 0.001;

/// Datagrams, which only a receiver reports: after its jitter in ms the lost ones, a slash and all.
fn datagrams(values: &str, at: usize) -> Result<Option<Datagrams>, Malformed> {
    let Some((_, counts)) = values.split_once(" ms ") else { return Ok(None) };
    let Some((lost, all)) = counts.split_once('/') else { return Ok(None) };
    let all = all.split_whitespace().next().unwrap_or("");
    of_counts(whole(lost.trim(), at)?, whole(all, at)?, Some(0), at).map(Some)
}

fn of_counts(
    lost: u64,
    sent: u64,
    reordered: Option<u64>,
    at: usize,
) -> Result<Datagrams, Malformed> {
    let received = sent.checked_sub(lost);
    let received =
        received.ok_or_else(|| Malformed::at(at, "more datagrams are lost than sent"))?;
    Ok(Datagrams { sent, received, reordered, ..Datagrams::default() })
}

/// `0.0000-1.0068`: when it began, and how long it lasted; a short part may have no length.
pub(super) fn span(interval: &str, at: usize) -> Result<(f64, f64), Malformed> {
    let what = || Malformed::quoting(at, interval, "is no interval");
    let (start, end) = interval.trim().split_once('-').ok_or_else(what)?;
    let (start, end) = (number(start, at)?, number(end.trim(), at)?);
    if end >= start { Ok((start, end - start)) } else { Err(what()) }
}

/// Bits a second of a unit: of bits the prefixes are powers of 1000, of bytes of 1024.
fn factor(unit: &str, at: usize) -> Result<f64, Malformed> {
    let what = || Malformed::quoting(at, unit, "is no rate");
    let unit = unit.strip_suffix("/sec").ok_or_else(what)?;
    let (prefix, base, one) = match (unit.strip_suffix("bits"), unit.strip_suffix("Bytes")) {
        (Some(prefix), _) => (prefix, 1000.0_f64, 1.0),
        (None, Some(prefix)) => (prefix, 1024.0, 8.0),
        (None, None) => return Err(what()),
    };
    let power = ["", "K", "M", "G", "T"].iter().position(|p| *p == prefix).ok_or_else(what)?;
    Ok(one * base.powi(power as i32))
}

/// Most fields of a line of CSV that are looked at.
const FIELDS: usize = 14;

/// The fields of a line of CSV: time, client and port, server and port, id, interval, bytes,
/// bits a second; of UDP also jitter in ms, datagrams lost and in all, percent, out of order.
pub(super) fn csv(line: &str) -> Option<Vec<&str>> {
    let time = line.get(..14)?;
    if !time.bytes().all(|b| b.is_ascii_digit()) || line.as_bytes().get(14) != Some(&b',') {
        return None;
    }
    Some(line.split(',').map(str::trim).take(FIELDS + 1).collect())
}

impl<'a> Row<'a> {
    pub(super) fn parse(fields: &[&'a str], at: usize) -> Result<Self, Malformed> {
        let (head, udp) = match fields {
            [head @ .., _, _, _, _, _] if fields.len() == FIELDS => (head, fields.get(9..)),
            head => (head, None),
        };
        let &[_, client, _, server, _, id, interval, bytes, rate] = head else {
            return Err(Malformed::at(at, format!("9 or {FIELDS} fields are expected")));
        };
        let (start, _) = span(interval, at)?;
        let bits = positive(bytes, at)? * 8.0;
        let seconds = bits / positive(rate, at)?;
        let mut datagrams = None;
        // Of a sender the number of all is -1.
        if let Some(&[_, lost, all, _, late]) = udp
            && let Ok(all) = all.parse()
        {
            datagrams = Some(of_counts(whole(lost, at)?, all, late.parse().ok(), at)?);
        }
        let amount = Amount { at, start, seconds, bits, exact: true, datagrams };
        let stream = (id != "-1").then_some(id);
        Ok(Self { stream, udp: udp.is_some(), client, server, amount })
    }
}
