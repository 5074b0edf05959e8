//! A line of iperf's text or CSV.

use proofmark_model::{Datagrams, Unit, format_quantity};

use crate::Malformed;
use crate::printed::{Rounded, agree};
use crate::text::{need, number, power, whole, wrong_if};

/// The amount moved in a part of a test.
#[derive(Debug, Clone)]
pub(super) struct Amount {
    pub(super) at: usize,
    /// The start of the part, in seconds from the start of the test.
    pub(super) start: f64,
    pub(super) seconds: f64,
    /// The bits at the printed rate.
    pub(super) bits: f64,
    /// The bits of the printed transfer, which may be rounded differently.
    pub(super) moved: Rounded,
    /// True if the bits are counted, false if they follow from a rounded rate.
    pub(super) exact: bool,
    /// True if the seconds have more digits than the rate.
    pub(super) timed: bool,
    /// The datagrams, if a receiver reports them.
    pub(super) datagrams: Option<Datagrams>,
}

/// A row of CSV: the amount sent from one end to the other.
pub(super) struct Row<'a> {
    /// The stream; `None` for the sum of all streams.
    pub(super) stream: Option<&'a str>,
    pub(super) udp: bool,
    pub(super) from: End<'a>,
    pub(super) to: End<'a>,
    pub(super) amount: Amount,
}

/// An address with its port.
pub(super) type End<'a> = (&'a str, u16);

/// A start and a duration, with the rounding error of the duration.
pub(super) struct Span {
    start: f64,
    seconds: Rounded,
}

/// Returns the bytes of `128 KByte`, whose prefix is a power of 1024.
pub(super) fn size(text: &str) -> Option<u64> {
    let mut words = text.split_whitespace();
    let number: f64 = words.next()?.parse().ok()?;
    let prefix = words.next()?.trim_end_matches(')').strip_suffix("Byte")?;
    let bytes = number * power(prefix, 1024.0).filter(|_| prefix != "T")?;
    (1.0..MOST).contains(&bytes).then_some(bytes as u64)
}

/// A limit above any buffer, in bytes.
const MOST: f64 = 1e15;
/// The maximum relative deviation of a rate from its transfer and time, apart from rounding.
const SHARE: f64 = 0.005;

impl Amount {
    /// Parses `10.7 MBytes  89.3 Mbits/sec   0.000 ms 213/8244 (0%)`, measured in that time.
    pub(super) fn parse(
        values: &str,
        span: &Span,
        udp: bool,
        at: usize,
    ) -> Result<Self, Malformed> {
        let mut words = values.split_whitespace();
        let mut next = || words.next().ok_or_else(|| Malformed::at(at, "the line ends too soon"));
        let (transfer, of, printed, unit) = (next()?, next()?, next()?, next()?);
        let moved = pointed(transfer, at)?.times(factor(of, "", at)?);
        let rate = pointed(printed, at)?.times(factor(unit, "/sec", at)?);
        let (start, Rounded { value: seconds, off }) = (span.start, span.seconds);
        let of_rate =
            Rounded { off: rate.off * seconds + rate.value * off, value: rate.value * seconds };
        if seconds > 0.0 && !agree(moved, of_rate, SHARE) {
            let own = format_quantity(moved.value / seconds, Unit::BitPerSecond);
            let what = format!("{transfer} {of} in {seconds} s are {own}, not {printed} {unit}");
            return Err(Malformed::at(at, what));
        }
        let exact = of == "Bytes" && rate.value > 0.0;
        let (bits, seconds) = match exact {
            true => (moved.value, moved.value / rate.value),
            false => (of_rate.value, seconds),
        };
        let datagrams = if udp { datagrams(values, at)? } else { None };
        let timed = off * rate.value < rate.off * span.seconds.value;
        Ok(Self { at, start, seconds, bits, moved, exact, timed, datagrams })
    }
}

/// Parses a number with a decimal point.
fn pointed(word: &str, at: usize) -> Result<Rounded, Malformed> {
    if word.contains(',') {
        return Err(Malformed::quoting(at, word, "has a comma: run iperf with LC_ALL=C"));
    }
    Rounded::parse(word, at)
}

/// Parses datagrams, which only a receiver reports: after its jitter in ms, the lost ones, a slash
/// and all.
fn datagrams(values: &str, at: usize) -> Result<Option<Datagrams>, Malformed> {
    let Some((_, counts)) = values.split_once(" ms ") else { return Ok(None) };
    let Some((lost, all)) = counts.split_once('/') else { return Ok(None) };
    let all = all.split_whitespace().next().unwrap_or("");
    from_counts(whole(lost.trim(), at)?, whole(all, at)?, Some(0), at).map(Some)
}

fn from_counts(
    lost: u64,
    sent: u64,
    reordered: Option<u64>,
    at: usize,
) -> Result<Datagrams, Malformed> {
    let received = need(sent.checked_sub(lost), at, "more datagrams are lost than sent")?;
    Ok(Datagrams { sent, received, reordered, ..Datagrams::default() })
}

impl Span {
    /// Parses `0.0000-1.0068`. A whole test has a length; a part of one may have none.
    pub(super) fn parse(interval: &str, at: usize) -> Result<Self, Malformed> {
        let what = || Malformed::quoting(at, interval, "is no interval");
        let (from, to) = interval.trim().split_once('-').ok_or_else(what)?;
        let (start, end) = (pointed(from.trim(), at)?, pointed(to.trim(), at)?);
        if end.value < start.value {
            return Err(what());
        }
        let nothing = "the interval has no length: the test ended at once, or nothing arrived";
        wrong_if(end.value == 0.0, at, nothing)?;
        let seconds = Rounded { value: end.value - start.value, off: start.off + end.off };
        Ok(Self { start: start.value, seconds })
    }
}

/// Returns the bits, or bits per second, of a unit with that ending. Prefixes of bits are powers of
/// 1000, of bytes 1024.
fn factor(unit: &str, ending: &str, at: usize) -> Result<f64, Malformed> {
    let what = if ending.is_empty() { "is no amount" } else { "is no rate" };
    let what = || Malformed::quoting(at, unit, what);
    let unit = unit.strip_suffix(ending).ok_or_else(what)?;
    let factor = match (unit.strip_suffix("bits"), unit.strip_suffix("Bytes")) {
        (Some(prefix), _) => power(prefix, 1000.0),
        (None, Some(prefix)) => power(prefix, 1024.0).map(|bytes| 8.0 * bytes),
        (None, None) => None,
    };
    factor.ok_or_else(what)
}

/// The maximum number of fields read in a line of CSV.
const FIELDS: usize = 14;

/// Returns the fields of a line of CSV: time, both ends with ports, id, interval, bytes, bits per
/// second. UDP adds jitter in ms, datagrams lost and in all, percent, out of order.
pub(super) fn csv(line: &str) -> Option<Vec<&str>> {
    let (time, _) = line.split_once(',')?;
    let (time, fraction) = time.split_once('.').unwrap_or((time, ""));
    let digits = |text: &str| text.bytes().all(|b| b.is_ascii_digit());
    let is_time = time.len() == 14 && digits(time) && digits(fraction);
    is_time.then(|| line.split(',').map(str::trim).take(FIELDS + 1).collect())
}

impl<'a> Row<'a> {
    pub(super) fn parse(fields: &[&'a str], at: usize) -> Result<Self, Malformed> {
        let (head, udp) = match fields {
            [head @ .., _, _, _, _, _] if fields.len() == FIELDS => (head, fields.get(9..)),
            head => (head, None),
        };
        let &[_, from, from_port, to, to_port, id, interval, bytes, rate] = head else {
            let what = format!("9 or {FIELDS} fields are expected: run iperf -y C without -e");
            return Err(Malformed::at(at, what));
        };
        let span = Span::parse(interval, at)?;
        let (bits, rate) = (number(bytes, at)? * 8.0, number(rate, at)?);
        let seconds = if rate > 0.0 { bits / rate } else { span.seconds.value };
        if !agree(seconds, span.seconds.within(span.seconds.off), SHARE)
            || (rate == 0.0 && bits > 0.0)
        {
            let what =
                format!("{bytes} bytes at {rate} bit/s do not fit the interval of {interval} s");
            return Err(Malformed::at(at, what));
        }
        let mut datagrams = None;
        // A sender reports -1 datagrams in all.
        if let Some(&[_, lost, all, _, late]) = udp
            && let Ok(all) = all.parse()
        {
            datagrams = Some(from_counts(whole(lost, at)?, all, late.parse().ok(), at)?);
        }
        let (start, moved) = (span.start, bits.into());
        let amount =
            Amount { at, start, seconds, bits, moved, exact: true, timed: true, datagrams };
        let stream = (id != "-1").then_some(id);
        // A sum of all streams may have the word SUM as its port.
        let port = |word: &str| word.parse().unwrap_or(0);
        let (from, to) = ((from, port(from_port)), (to, port(to_port)));
        Ok(Self { stream, udp: udp.is_some(), from, to, amount })
    }
}
