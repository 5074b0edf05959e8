//! netperf: the classic tables, each under the line that names its test.

mod runner;

use proofmark_model::{Datagrams, NetworkTraffic, Params, Printed, Trial, Unit};

use crate::network::{figure, finite, with_path};
use crate::text::{lines, positive, whole, wrong_if};
use crate::{Description, Figure, Malformed, Output, Tool, same_work};

pub(crate) struct Netperf;

impl Tool for Netperf {
    fn description(&self) -> &Description {
        &Description {
            id: "netperf",
            printed: Printed::Mean,
            title: "netperf (Rick Jones, Hewlett-Packard)",
            package: "Debian: netperf (non-free)",
            same_work: const {
                &[
                    same_work("TCP_STREAM", "network.tcp.stream"),
                    same_work("TCP_MAERTS", "network.tcp.stream"),
                    same_work("UDP_STREAM", "network.udp.stream"),
                    same_work("TCP_RR", "network.tcp.rtt"),
                    same_work("UDP_RR", "network.udp.rtt"),
                ]
            },
            about: "The classic tables with their headers (not -P 0, not the lists of omni): \
                    TCP_STREAM, TCP_MAERTS, UDP_STREAM, TCP_RR, UDP_RR and TCP_CRR. Rates of \
                    streams are in bit/s, whatever the table's unit (-f): 10^6bits is decimal, \
                    MBytes is 2^20 bytes. TCP_STREAM counts what was sent, over a time that lasts \
                    until the receiver has taken it; UDP_STREAM's rate is the receiver's, of its \
                    second line, with the messages of both lines. TCP_RR and UDP_RR \
                    are round trips a second, one in flight; with a burst, or an answer of another \
                    size than the request, they are netperf's own. Tables of one test with the \
                    same parameters are its repetitions.",
        }
    }

    fn recognises(&self, text: &str) -> bool {
        text.lines().any(|line| header(line).is_some())
    }

    fn read(&self, text: &str) -> Result<Output, Malformed> {
        let mut figures = Vec::new();
        let mut table: Option<Table> = None;
        for (at, line) in lines(text) {
            if let Some((name, ends)) = header(line) {
                if let Some(open) = &table {
                    return Err(Malformed::at(at, open.wants()));
                }
                table = Some(Table::begin(name, ends, at)?);
            } else if let Some(open) = &mut table
                && let Some(figure) = open.take(line, at)?
            {
                figures.push(figure);
                table = None;
            }
        }
        match table {
            Some(open) => Err(Malformed::at(text.lines().count(), open.wants())),
            None if figures.is_empty() => Err(Malformed::at(1, "no table of netperf")),
            None => Ok(Output { figures, ..Output::default() }),
        }
    }
}

/// The name of a test, and what follows on it, if the line begins a table.
fn header(line: &str) -> Option<(&str, &str)> {
    let line = line.strip_prefix("MIGRATED ").unwrap_or(line);
    let (name, ends) = line.split_once(" TEST from ")?;
    let known = ["TCP", "UDP", "SCTP", "DCCP", "OMNI"].iter().any(|p| name.starts_with(p));
    (known && ends.contains(" to ")).then_some((name, ends))
}

/// Its tests, as its option `-t` calls them: streams to the server and from it, and round trips.
const STREAM: &str = "TCP_STREAM";
const MAERTS: &str = "TCP_MAERTS";
const UDP_STREAM: &str = "UDP_STREAM";
const TCP_RR: &str = "TCP_RR";
const UDP_RR: &str = "UDP_RR";
const TCP_CRR: &str = "TCP_CRR";

/// Tests by what the lines above their tables call them.
const TESTS: [(&str, &str); 7] = [
    ("TCP STREAM", STREAM),
    ("TCP MAERTS", MAERTS),
    ("UDP STREAM", UDP_STREAM),
    ("UDP UNIDIRECTIONAL SEND", UDP_STREAM),
    ("TCP REQUEST/RESPONSE", TCP_RR),
    ("UDP REQUEST/RESPONSE", UDP_RR),
    ("TCP Connect/Request/Response", TCP_CRR),
];

/// A table of which a part is read.
struct Table {
    test: &'static str,
    params: Params,
    /// Round trips in flight in addition to the one.
    burst: u64,
    /// Bits a second of one in the column of the throughput.
    factor: Option<f64>,
    /// The sender's line of UDP_STREAM: bytes of a message, messages.
    sent: Option<(u64, u64)>,
}

impl Table {
    fn begin<'a>(name: &'a str, ends: &'a str, at: usize) -> Result<Self, Malformed> {
        let Some((_, test)) = TESTS.into_iter().find(|(called, _)| *called == name) else {
            let what = format!("the test {:?} is not read", Malformed::excerpt(name));
            return Err(Malformed::at(at, what));
        };
        // from NAME (ADDRESS) port N FAMILY to NAME (ADDRESS) port N FAMILY
        let (client, server) = ends.split_once(" to ").unwrap_or((ends, ""));
        let name = |end: &'a str| end.split_whitespace().next().unwrap_or("");
        let address = |end: &'a str| end.split_once('(').and_then(|(_, a)| a.split_once(')'));
        let address = |end| address(end).map(|(a, _)| a).filter(|a| !a.is_empty());
        let of = |end: &'a str| address(end).unwrap_or_else(|| name(end));
        let burst = match ends.split_once("first burst ") {
            Some((_, count)) => whole(name(count), at)?,
            None => 0,
        };
        let params = with_path(Params::default().with("streams", 1), of(client), of(server));
        Ok(Self { test, params, burst, factor: None, sent: None })
    }

    fn wants(&self) -> String {
        format!("the table of {} has no end", self.test)
    }

    /// Takes a line; the figure, once the last is there.
    fn take(&mut self, line: &str, at: usize) -> Result<Option<Figure>, Malformed> {
        let words: Vec<&str> = line.split_whitespace().take(COLUMNS).collect();
        if !words.first().is_some_and(|w| w.starts_with(|c: char| c.is_ascii_digit())) {
            if [STREAM, MAERTS, UDP_STREAM].contains(&self.test)
                && let Some(unit) = words.iter().find_map(|w| w.split_once("/s").map(|(u, _)| u))
            {
                self.factor = Some(bits(unit, at)?);
            }
            return Ok(None);
        }
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
            (UDP_STREAM, [_, _, okay, rate, ..], Some((message, sent))) => {
                let received = whole(okay, at)?;
                let rate = positive(rate, at)? * self.factor(at)?;
                let trial = arrived(message, sent, received, rate, at)?;
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

    fn factor(&self, at: usize) -> Result<f64, Malformed> {
        self.factor.ok_or_else(|| Malformed::at(at, "no unit is above the throughput"))
    }

    fn stream(&self, message: u64, trial: Trial, at: usize) -> Result<Figure, Malformed> {
        let direction = if self.test == MAERTS { "reverse" } else { "forward" };
        let params = self.params.clone().with("block_size", message).with("direction", direction);
        self.figure(Unit::BitPerSecond, params, trial, at)
    }

    fn round_trip(
        &self,
        request: u64,
        answer: u64,
        trial: Trial,
        at: usize,
    ) -> Result<Figure, Malformed> {
        let params = self.params.clone();
        let same = request == answer && self.burst == 0 && self.test != TCP_CRR;
        let params = match same {
            true => params.with("block_size", request),
            false => params
                .with("request_size", request)
                .with("response_size", answer)
                .with("burst", self.burst),
        };
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
        finite(figure(self.test, self.test, unit, params, trial), at)
    }
}

/// Columns that a line of a table may have; what follows is not looked at.
const COLUMNS: usize = 16;

/// What arrived of a stream of datagrams: the table's time has two decimals, the number of
/// messages is exact, so the time is that of so many at that rate.
fn arrived(
    message: u64,
    sent: u64,
    received: u64,
    rate: f64,
    at: usize,
) -> Result<Trial, Malformed> {
    let bytes = |count: u64| {
        count
            .checked_mul(message)
            .ok_or_else(|| Malformed::at(at, "the number of bytes is too large"))
    };
    let (sent_bytes, received_bytes) = (bytes(sent)?, bytes(received)?);
    wrong_if(received_bytes == 0, at, "the receiver got nothing")?;
    let work = received_bytes as f64 * 8.0;
    let mut trial = Trial::new(Unit::BitPerSecond, work, work / rate);
    trial.network = Some(NetworkTraffic {
        sent_bytes,
        received_bytes,
        datagrams: Some(Datagrams { sent, received, ..Datagrams::default() }),
        ..NetworkTraffic::default()
    });
    Ok(trial)
}

/// Bits of the unit of a throughput: `10^6bits`, `MBytes`.
fn bits(unit: &str, at: usize) -> Result<f64, Malformed> {
    Ok(match unit {
        "10^0bits" => 1.0,
        "10^3bits" => 1e3,
        "10^6bits" => 1e6,
        "10^9bits" => 1e9,
        "Bytes" => 8.0,
        "KBytes" => 8.0 * 1024.0,
        "MBytes" => 8.0 * 1024.0 * 1024.0,
        "GBytes" => 8.0 * 1024.0 * 1024.0 * 1024.0,
        _ => return Err(Malformed::quoting(at, unit, "is no unit of a throughput")),
    })
}

#[cfg(test)]
mod tests;
