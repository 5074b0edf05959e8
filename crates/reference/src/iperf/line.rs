//! One line of iperf's text or CSV.

use proofmark_model::Datagrams;

use crate::Malformed;
use crate::text::{number, positive, whole};

/// What was moved in some part of a test.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Amount {
    /// Its line.
    pub(super) at: usize,
    /// Seconds since the test began.
    pub(super) start: f64,
    pub(super) seconds: f64,
    pub(super) bits: f64,
    /// Whether the bits are counted, and not of a rounded rate.
    pub(super) exact: bool,
    /// Of a receiver.
    pub(super) datagrams: Option<Datagrams>,
    /// Datagrams that came after one that was sent later.
    pub(super) reordered: Option<u64>,
}

/// Of what a line says how much was moved.
pub(super) enum Said<'a> {
    /// A stream, by its id.
    Stream(&'a str),
    /// All streams.
    Sum,
    /// In CSV: a stream, or all.
    Csv { stream: Option<&'a str>, udp: bool, client: &'a str, server: &'a str },
}

/// A line that tells something.
pub(super) enum Line<'a> {
    Connecting {
        udp: bool,
    },
    Server,
    Connected {
        client: &'a str,
        server: &'a str,
        reverse: bool,
    },
    /// Bytes of a block.
    Block(u64),
    /// Bytes of a socket's buffer, and those that were asked for.
    Window {
        bytes: u64,
        asked: Option<u64>,
    },
    /// Datagrams of a stream that came out of order, of the server's report.
    Late {
        stream: &'a str,
        count: u64,
    },
    Amount {
        said: Said<'a>,
        amount: Amount,
    },
    Other,
}

impl<'a> Line<'a> {
    pub(super) fn parse(line: &'a str, at: usize) -> Result<Self, Malformed> {
        if let Some(fields) = csv(line) {
            return of_csv(&fields, at);
        }
        if let Some((id, rest)) = line.strip_prefix('[').and_then(|l| l.split_once(']')) {
            return of_stream(id.trim(), rest.trim(), at);
        }
        if line.starts_with("Client connecting to ") {
            return Ok(Self::Connecting { udp: line.contains(", UDP port ") });
        }
        if line.starts_with("Server listening on ") {
            return Ok(Self::Server);
        }
        let after = |mark: &str| line.strip_prefix(mark);
        if let Some(told) = after("TCP window size:").or_else(|| after("UDP buffer size:")) {
            let asked = told.split_once("requested ").and_then(|(_, asked)| size(asked));
            return Ok(size(told).map_or(Self::Other, |bytes| Self::Window { bytes, asked }));
        }
        if let Some((bytes, _)) = after("Sending ").and_then(|l| l.split_once(" byte datagrams")) {
            return Ok(Self::Block(whole(bytes.trim(), at)?));
        }
        // Rounded where it is told in KByte.
        let writing = after("Write buffer size: ").filter(|l| l.contains(" Byte"));
        Ok(writing.and_then(size).map_or(Self::Other, Self::Block))
    }
}

/// Bytes of `128 KByte`, whose prefix is a power of 1024.
fn size(told: &str) -> Option<u64> {
    let mut words = told.split_whitespace();
    let number: f64 = words.next()?.parse().ok()?;
    let prefix = words.next()?.trim_end_matches(')').strip_suffix("Byte")?;
    let power = ["", "K", "M", "G"].iter().position(|p| *p == prefix)?;
    let bytes = number * 1024.0_f64.powi(power as i32);
    (1.0..MOST).contains(&bytes).then_some(bytes as u64)
}

/// More than any buffer, in bytes.
const MOST: f64 = 1e15;

/// What stands after the id of a stream.
fn of_stream<'a>(id: &'a str, rest: &'a str, at: usize) -> Result<Line<'a>, Malformed> {
    if let Some(ends) = rest.strip_prefix("local ") {
        if ends.contains("(full-duplex)") {
            return Err(Malformed::at(at, "a test both ways at once is not read"));
        }
        let word = |text: &'a str| text.split([' ', '%']).next().unwrap_or("");
        let (client, server) = ends.split_once(" connected with ").unwrap_or((ends, ""));
        let reverse = ends.contains("(reverse)");
        return Ok(Line::Connected { client: word(client), server: word(server), reverse });
    }
    // 0.0000-1.0068 sec  10.7 MBytes  89.3 Mbits/sec   0.000 ms 213/8244 (0%)
    let Some((interval, told)) = rest.split_once(" sec ") else { return Ok(Line::Other) };
    let (start, seconds) = span(interval, at)?;
    let told = told.trim();
    if let Some((count, _)) = told.split_once(" datagrams received out-of-order") {
        return Ok(Line::Late { stream: id, count: whole(count.trim(), at)? });
    }
    let mut words = told.split_whitespace();
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
    let amount = Amount {
        at,
        start,
        seconds,
        bits,
        exact,
        datagrams: datagrams(told, at)?,
        reordered: Some(0),
    };
    let said = match id {
        _ if id.starts_with("SUM") => Said::Sum,
        _ => Said::Stream(id.trim_start_matches('*')),
    };
    Ok(Line::Amount { said, amount })
}

/// By how much the time of a line may differ from that of its bytes at its rate: in seconds, and
/// as a share.
const ROUNDED: f64 = 0.001;

/// Datagrams, which a receiver alone tells: after its jitter in ms the lost ones, a slash and all.
fn datagrams(told: &str, at: usize) -> Result<Option<Datagrams>, Malformed> {
    let Some((_, counts)) = told.split_once(" ms ") else { return Ok(None) };
    let Some((lost, all)) = counts.split_once('/') else { return Ok(None) };
    let all = all.split_whitespace().next().unwrap_or("");
    of_counts(whole(lost.trim(), at)?, whole(all, at)?, at).map(Some)
}

fn of_counts(lost: u64, sent: u64, at: usize) -> Result<Datagrams, Malformed> {
    let received = sent.checked_sub(lost);
    let received =
        received.ok_or_else(|| Malformed::at(at, "more datagrams are lost than sent"))?;
    Ok(Datagrams { sent, received, ..Datagrams::default() })
}

/// `0.0000-1.0068`: when it began, and how long it lasted; a short part may have no length.
fn span(interval: &str, at: usize) -> Result<(f64, f64), Malformed> {
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

fn of_csv<'a>(fields: &[&'a str], at: usize) -> Result<Line<'a>, Malformed> {
    let (head, udp) = match fields {
        [head @ .., _, _, _, _, _] if fields.len() == FIELDS => (head, fields.get(9..)),
        head => (head, None),
    };
    let &[_, client, _, server, _, id, interval, bytes, rate] = head else {
        return Err(Malformed::at(at, format!("9 or {FIELDS} fields are expected")));
    };
    let (start, _) = span(interval, at)?;
    let bits = positive(bytes, at)? * 8.0;
    let stream = (id != "-1").then_some(id);
    let mut amount = Amount {
        at,
        start,
        seconds: bits / positive(rate, at)?,
        bits,
        exact: true,
        datagrams: None,
        reordered: None,
    };
    // Of a sender the number of all is -1.
    if let Some(&[_, lost, all, _, late]) = udp
        && let Ok(all) = all.parse()
    {
        amount.datagrams = Some(of_counts(whole(lost, at)?, all, at)?);
        amount.reordered = late.parse().ok();
    }
    let said = Said::Csv { stream, udp: udp.is_some(), client, server };
    Ok(Line::Amount { said, amount })
}
