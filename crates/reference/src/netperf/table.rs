//! A classic table of netperf, below the line that names its test.

use proofmark_model::{
    Datagrams, Finding, Params, Severity, Trial, Unit, format_count, format_quantity, key,
};

use super::{CLASSIC, MAERTS, STREAM, TCP_CRR, TCP_RR, UDP_RR, UDP_STREAM};
use crate::findings::{differ_unless, warned};
use crate::network::{figure, finite, traffic, with_path};
use crate::printed::{Rounded, agree};
use crate::text::{columns, need, number, positive, power, whole, wrong_if};
use crate::{Figure, Malformed};

/// The tests by the names in the lines above their tables.
const TESTS: [(&str, &str); 7] = [
    ("TCP STREAM", STREAM),
    ("TCP MAERTS", MAERTS),
    ("UDP STREAM", UDP_STREAM),
    ("UDP UNIDIRECTIONAL SEND", UDP_STREAM),
    ("TCP REQUEST/RESPONSE", TCP_RR),
    ("UDP REQUEST/RESPONSE", UDP_RR),
    ("TCP Connect/Request/Response", TCP_CRR),
];

/// Returns the last words of a table's header, by its test.
fn columns_of(test: &str) -> &'static str {
    match test {
        STREAM | MAERTS => " Size Size Size Time Throughput ",
        UDP_STREAM => " Size Size Time Okay Errors Throughput ",
        _ => " Size Size Time Rate ",
    }
}

/// A table that has been read in part.
pub(super) struct Table {
    test: &'static str,
    pub(super) client: String,
    pub(super) server: String,
    /// The words above the numbers.
    header: String,
    /// The requested confidence: `+/-2.500% @ 99% conf.`.
    asked: Option<String>,
    findings: Vec<Finding>,
    params: Params,
    /// The round trips in flight in addition to the first.
    burst: u64,
    /// The bit/s of one unit in the column of the throughput.
    factor: Option<f64>,
    /// The sender's line of UDP_STREAM: bytes of a message, and messages.
    sent: Option<(u64, u64)>,
}

impl Table {
    pub(super) fn begin<'a>(name: &'a str, ends: &'a str, at: usize) -> Result<Self, Malformed> {
        let test = TESTS.into_iter().find(|(called, _)| *called == name).map(|(_, test)| test);
        let what = "is a test that is not read: run TCP_STREAM, UDP_STREAM or a _RR";
        let test = test.ok_or_else(|| Malformed::quoting(at, name, what))?;
        // The form is: from NAME (ADDRESS) port N FAMILY to NAME (ADDRESS) port N FAMILY
        let (client, server) = match ends.strip_prefix("to ") {
            Some(server) => ("", Some(server)),
            None => ends.split_once(" to ").map_or((ends, None), |(a, b)| (a, Some(b))),
        };
        let mut table = Self {
            test,
            client: address(client).to_owned(),
            server: String::new(),
            header: String::new(),
            asked: None,
            findings: Vec::new(),
            params: Params::default().with(key::STREAMS, 1),
            burst: 0,
            factor: None,
            sent: None,
        };
        server.map_or(Ok(()), |server| table.peer(server, at))?;
        Ok(table)
    }

    /// Reads the server's address and the options after it.
    fn peer(&mut self, server: &str, at: usize) -> Result<(), Malformed> {
        if let Some((_, count)) = server.split_once("first burst ") {
            self.burst = whole(count.split_whitespace().next().unwrap_or(""), at)?;
        }
        let asked = server.split_once("+/-").and_then(|(_, text)| text.split_once(" conf."));
        self.asked = asked.map(|(asked, _)| Malformed::excerpt(asked));
        self.server = address(server).to_owned();
        let params = std::mem::take(&mut self.params);
        self.params = with_path(params, &self.client, &self.server);
        Ok(())
    }

    pub(super) fn wants(&self) -> String {
        format!("the table of {} lacks its row: give netperf's lines as it prints them", self.test)
    }

    /// Reads a line; returns the figure after the last line of the table.
    pub(super) fn take(&mut self, line: &str, at: usize) -> Result<Option<Figure>, Malformed> {
        let words: Vec<&str> = line.split_whitespace().take(COLUMNS).collect();
        // A mail may break the line with both ends.
        if let Some((_, server)) = line.split_once("AF_INET to ").filter(|_| self.server.is_empty())
        {
            self.peer(server, at)?;
            return Ok(None);
        }
        if line.starts_with("!!!") {
            self.findings.extend(self.unsure(line, at)?);
            return Ok(None);
        }
        if words.first().is_none_or(|w| w.parse::<f64>().is_err()) {
            self.header += " ";
            self.header += &words.join(" ");
            if [STREAM, MAERTS, UDP_STREAM].contains(&self.test)
                && let Some(unit) = words.iter().find_map(|w| w.split_once("/s").map(|(u, _)| u))
            {
                self.factor = Some(bits(unit, at)?);
            }
            return Ok(None);
        }
        let classic = format!("{} ", self.header).contains(columns_of(self.test));
        let what = "these are not the columns of the classic table, but of netperf's omni (-O)";
        wrong_if(!classic, at, &format!("{what}; {CLASSIC}"))?;
        match (self.test, words.as_slice(), self.sent) {
            (STREAM | MAERTS, [_, _, message, seconds, rate, ..], _) => {
                let seconds = positive(seconds, at)?;
                let rate = positive(rate, at)? * self.factor(at)?;
                let trial = Trial::new(Unit::BitPerSecond, rate * seconds, seconds);
                self.stream(whole(message, at)?, trial, at).map(Some)
            }
            (UDP_STREAM, [_, message, _, okay, _, _, ..], None) => {
                self.sent = Some((whole(message, at)?, whole(okay, at)?));
                Ok(None)
            }
            (UDP_STREAM, [_, seconds, okay, rate, ..], Some((message, sent))) => {
                let (seconds, received) = (positive(seconds, at)?, whole(okay, at)?);
                let lost = 2.0 * Rounded::parse(rate, at)?.off / positive(rate, at)?;
                let rate = positive(rate, at)? * self.factor(at)?;
                let by_rate = arrived(message, sent, received, rate, at)?;
                self.findings.extend(two_counts(sent, received, seconds, &by_rate, lost));
                // A low rate has fewer digits than the time.
                let trial = match lost * seconds > TIMED {
                    true => Trial { value: by_rate.work / seconds, seconds, ..by_rate },
                    false => by_rate,
                };
                self.stream(message, trial, at).map(Some)
            }
            (TCP_RR | UDP_RR | TCP_CRR, [_, _, request, answer, seconds, rate, ..], _) => {
                let (seconds, rate) = (positive(seconds, at)?, positive(rate, at)?);
                let trial = Trial::new(Unit::OpPerSecond, rate * seconds, seconds);
                self.round_trip(whole(request, at)?, whole(answer, at)?, trial, at).map(Some)
            }
            _ => Err(Malformed::at(at, format!("too few columns for {}", self.test))),
        }
    }

    /// Reads a warning about the throughput, with the full width of its interval.
    fn unsure(&self, line: &str, at: usize) -> Result<Option<Finding>, Malformed> {
        let Some((_, width)) = line.split_once("Throughput ") else { return Ok(None) };
        let width = width.trim_start_matches([' ', ':']).trim_end();
        let half = number(width.trim_end_matches('%'), at)? / 2.0;
        let asked = self
            .asked
            .as_deref()
            .map_or_else(String::new, |a| format!("; the requested one is ±{a}"));
        let message = format!(
            "netperf warns: the desired confidence was not achieved; the throughput's interval is \
             {width} wide (±{half:.1} %){asked}"
        );
        Ok(Some(warned(Severity::Suspect, message)))
    }

    fn factor(&self, at: usize) -> Result<f64, Malformed> {
        need(self.factor, at, "there is no unit above the throughput")
    }

    fn stream(&self, message: u64, trial: Trial, at: usize) -> Result<Figure, Malformed> {
        let direction = if self.test == MAERTS { "reverse" } else { "forward" };
        let params =
            self.params.clone().with(key::BLOCK_SIZE, message).with(key::DIRECTION, direction);
        self.figure(Unit::BitPerSecond, params, trial, at)
    }

    fn round_trip(
        &self,
        request: u64,
        answer: u64,
        trial: Trial,
        at: usize,
    ) -> Result<Figure, Malformed> {
        let same = request == answer && self.burst == 0 && self.test != TCP_CRR;
        let other = |value| (!same).then_some(value);
        let params = self.params.clone().known(key::BLOCK_SIZE, same.then_some(request));
        let params = params
            .known_named("request_size", other(request))
            .known_named("response_size", other(answer))
            .known_named("burst", other(self.burst));
        let figure = self.figure(Unit::OpPerSecond, params, trial, at)?;
        Ok(Figure { comparable: same, ..figure })
    }

    fn figure(
        &self,
        unit: Unit,
        params: Params,
        trial: Trial,
        at: usize,
    ) -> Result<Figure, Malformed> {
        let figure = finite(figure(self.test, self.test, unit, params, trial), at)?;
        let proof =
            (unit == Unit::OpPerSecond).then_some("each round trip has the server's answer");
        Ok(Figure { proof, findings: self.findings.clone(), ..figure })
    }
}

/// Returns the address of `NAME (ADDRESS) port N FAMILY`, or the name.
fn address(end: &str) -> &str {
    let inner = end.split_once('(').and_then(|(_, rest)| rest.split_once(')'));
    let inner = inner.map(|(address, _)| address).filter(|address| !address.is_empty());
    inner.unwrap_or_else(|| end.split_whitespace().next().unwrap_or(""))
}

/// Returns a contradiction between the two lines of UDP_STREAM. `lost` is the relative error of the
/// rate from its digits.
fn two_counts(sent: u64, received: u64, seconds: f64, trial: &Trial, lost: f64) -> Option<Finding> {
    let more = || format!("{received} messages were received, but only {sent} were sent");
    let messages = format!("{received} messages");
    let in_time = || take(&messages, seconds, trial, Unit::BitPerSecond, lost);
    differ_unless(received <= sent, more).or_else(in_time)
}

/// Compares the time with that of the trial's rate, whose relative error is `lost`.
fn take(what: &str, seconds: f64, trial: &Trial, unit: Unit, lost: f64) -> Option<Finding> {
    let rounded = Rounded { value: seconds, off: TIMED };
    differ_unless(agree(trial.seconds, rounded, SHARE + lost), || {
        let (rate, taken) = (format_quantity(trial.value, unit), trial.seconds);
        format!("{what} at {rate} take {taken:.2} s, not {seconds:.2} s")
    })
}

/// The maximum number of columns that are read in a line of a table.
const COLUMNS: usize = 16;

/// Returns the received part of a stream of datagrams. The time has two decimals and the number of
/// messages is exact. So the time is that of the messages at the printed rate.
fn arrived(
    message: u64,
    sent: u64,
    received: u64,
    rate: f64,
    at: usize,
) -> Result<Trial, Malformed> {
    let bytes =
        |count: u64| need(count.checked_mul(message), at, "the number of bytes is too large");
    let (sent_bytes, received_bytes) = (bytes(sent)?, bytes(received)?);
    wrong_if(received_bytes == 0, at, "the receiver got nothing")?;
    let work = received_bytes as f64 * 8.0;
    let datagrams = Datagrams { sent, received, ..Datagrams::default() };
    let network = Some(traffic(sent_bytes, received_bytes, Some(datagrams)));
    Ok(Trial { network, ..Trial::new(Unit::BitPerSecond, work, work / rate) })
}

/// Returns the bits of a throughput's unit: `10^6bits`, `MBytes`.
fn bits(unit: &str, at: usize) -> Result<f64, Malformed> {
    let bits = match (unit.strip_prefix("10^"), unit.strip_suffix("Bytes")) {
        (Some("0bits"), _) => Some(1.0),
        (Some("3bits"), _) => Some(1e3),
        (Some("6bits"), _) => Some(1e6),
        (Some("9bits"), _) => Some(1e9),
        (_, prefix) => prefix.and_then(|prefix| power(prefix, 1024.0)).map(|bytes| 8.0 * bytes),
    };
    bits.ok_or_else(|| Malformed::quoting(at, unit, "is no unit of a throughput"))
}

/// Compares the bytes that `-v 2` prints after a table with the rate.
pub(super) fn transferred(line: &str, figure: &Figure) -> Option<Finding> {
    // Alignments and offsets of both ends, then bytes, bytes per send, sends, bytes per receive,
    // receives.
    let words = columns::<9>(line)?;
    let numbers: Option<Vec<f64>> = words.iter().map(|word| word.parse().ok()).collect();
    let bytes = *numbers?.get(4)?;
    let trial = figure.trials.last().filter(|_| figure.unit == Unit::BitPerSecond)?;
    let moved = Trial { seconds: bytes * 8.0 / trial.value, ..trial.clone() };
    take(&format!("{} B", format_count(bytes as u64)), trial.seconds, &moved, figure.unit, 0.0)
}

/// The maximum relative deviation of a rate from its work and time, and of the time, with two
/// decimals, in seconds.
const SHARE: f64 = 0.01;
const TIMED: f64 = 0.011;
