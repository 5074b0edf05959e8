//! sockperf: what its client prints of a ping-pong.

mod runner;

use std::collections::BTreeMap;

use proofmark_model::{Latency, Params, Printed, Trial, Unit};

use crate::network::{figure, finite, with_path};
use crate::text::{each_line, positive, whole, wrong_if};
use crate::{Description, Malformed, Output, Tool, same_work};

pub(crate) struct Sockperf;

impl Tool for Sockperf {
    fn description(&self) -> &Description {
        &Description {
            id: "sockperf",
            printed: Printed::Mean,
            title: "sockperf (Mellanox)",
            package: "Debian: sockperf",
            same_work: const {
                &[
                    same_work("TCP ping-pong", "network.tcp.rtt"),
                    same_work("UDP ping-pong", "network.udp.rtt"),
                ]
            },
            about: "Reads the client's output of a ping-pong over one socket, UDP or TCP. A \
                    latency is a full round trip: proofmark doubles the one-way latency that \
                    sockperf prints without --full-rtt. Round trips a second are those of the \
                    valid part of the run, which excludes the warm-up. sockperf does not report \
                    the message size. If the answers' times do not fill the valid part, as with \
                    under-load and --mps, messages did not follow one another. Then the figure is \
                    sockperf.udp.answers or sockperf.tcp.answers and counts the timed answers.",
        }
    }

    fn recognises(&self, text: &str) -> bool {
        text.lines().any(|l| l.starts_with("sockperf:") && l.contains("== version #"))
    }

    fn read(&self, text: &str) -> Result<Output, Malformed> {
        let mut read = Read::default();
        let last = each_line(text, |at, line| read.take(line, at))?;
        read.output(last)
    }
}

const TCP: &str = "TCP ping-pong";
const UDP: &str = "UDP ping-pong";

/// The share of a ping-pong's time that its round trips fill, but for what is rounded and the
/// time between one and the next.
const FILLED: std::ops::Range<f64> = 0.9..1.02;

/// The times that are read, by their names.
const TIMES: [&str; 6] = [MIN, MAX, P50, P90, P99, P999];
const MIN: &str = "<MIN> observation";
const MAX: &str = "<MAX> observation";
const P50: &str = "percentile 50.000";
const P90: &str = "percentile 90.000";
const P99: &str = "percentile 99.000";
const P999: &str = "percentile 99.900";

/// What has been read so far; times are as printed, in microseconds.
#[derive(Default)]
struct Read {
    version: Option<String>,
    udp: Option<bool>,
    params: Params,
    /// Seconds, and messages received in them.
    valid: Option<(f64, u64)>,
    /// The mean, and whether it is of half of a round trip.
    mean: Option<(f64, bool)>,
    count: Option<u64>,
    times: BTreeMap<String, f64>,
}

impl Read {
    fn take(&mut self, line: &str, at: usize) -> Result<(), Malformed> {
        let after = |mark: &str| line.split_once(mark).map(|(_, rest)| rest);
        let first = |rest: &str| positive(rest.split_whitespace().next().unwrap_or(""), at);
        if let Some(rest) = after("== version #") {
            self.version = rest.split_whitespace().next().map(str::to_owned);
        } else if let Some(rest) = after("] IP = ") {
            wrong_if(self.udp.is_some(), at, "several sockets are not read")?;
            self.udp = Some(rest.contains("# UDP"));
            let server = rest.split_whitespace().next().unwrap_or("");
            self.params = with_path(Params::default().with("streams", 1), "", server);
        } else if let Some(rest) = after("[Valid Duration] RunTime=") {
            let received = rest.split_once("ReceivedMessages=").map_or("", |(_, count)| count);
            self.valid = Some((first(rest)?, whole(received.trim(), at)?));
        } else if let Some(rest) = after("Summary: Latency is ") {
            self.mean = Some((first(rest)?, true));
        } else if let Some(rest) = after("Summary: Round trip is ") {
            self.mean = Some((first(rest)?, false));
        } else if let Some((count, _)) = after("Total ").and_then(|r| r.split_once(" observations"))
        {
            self.count = Some(whole(count, at)?);
        } else if let Some((name, time)) = after("---> ").and_then(|r| r.split_once('='))
            && TIMES.contains(&name.trim())
        {
            self.times.insert(name.trim().to_owned(), first(time)?);
        }
        Ok(())
    }

    fn output(self, last: usize) -> Result<Output, Malformed> {
        let missing = |what: &str| Malformed::at(last, format!("no {what}: not a whole ping-pong"));
        let udp = self.udp.ok_or_else(|| missing("address"))?;
        let (seconds, received) = self.valid.ok_or_else(|| missing("valid duration"))?;
        let (mean, half) = self.mean.ok_or_else(|| missing("mean"))?;
        let seconds_of = |us: f64| us * 1e-6 * if half { 2.0 } else { 1.0 };
        let time = |name: &str| self.times.get(name).copied().map(seconds_of);
        let needed = |name, what| time(name).ok_or_else(|| missing(what));
        let latency = Latency {
            unit: "s".to_owned(),
            count: self.count.ok_or_else(|| missing("number of observations"))?,
            min: needed(MIN, "least time")?,
            mean: seconds_of(mean),
            p50: needed(P50, "median")?,
            p90: time(P90),
            p99: time(P99),
            p999: time(P999),
            max: needed(MAX, "greatest time")?,
            buckets: Vec::new(),
        };
        let filled = received as f64 * latency.mean / seconds;
        let (test, title) = match (FILLED.contains(&filled), udp) {
            (true, true) => (UDP, UDP),
            (true, false) => (TCP, TCP),
            (false, true) => ("UDP.answers", "UDP answers that were timed"),
            (false, false) => ("TCP.answers", "TCP answers that were timed"),
        };
        let trial = Trial::new(Unit::OpPerSecond, received as f64, seconds);
        let mut figure = finite(figure(test, title, Unit::OpPerSecond, self.params, trial), last)?;
        figure.latency = Some(latency);
        Ok(Output { version: self.version, figures: vec![figure], ..Output::default() })
    }
}

#[cfg(test)]
mod tests;
