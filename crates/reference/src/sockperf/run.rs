//! A run of sockperf's client.

use std::collections::BTreeMap;

use proofmark_model::{Finding, Latency, Params, Severity, Trial, Unit, format_quantity, key};

use super::{TCP, UDP};
use crate::findings::{differ_unless, warned};
use crate::network::{EndpointFigure, figure, finite, with_path};
use crate::printed::{Rounded, agree};
use crate::text::{need, positive, whole, wrong_if};
use crate::{Figure, Malformed};

/// The share of a ping-pong's time that its round trips fill. The rest is rounding, and the time
/// between two round trips.
const FILLED: std::ops::Range<f64> = 0.9..1.02;
/// The maximum relative deviation between two accounts of sockperf.
const SHARE: f64 = 0.01;
/// The seconds by which the valid part of a playback may exceed the whole run.
const AROUND_S: f64 = 0.1;

const MIN: &str = "<MIN>";
const MAX: &str = "<MAX>";

/// Outputs that are not read, by their words.
const UNREAD: [(&str, &str); 5] = [
    ("[SERVER] listen on", "this is a server's output: give the client's"),
    (
        "No messages were received from the server",
        "the server did not answer: start it, and measure again",
    ),
    ("Latency of burst of ", "bursts (--burst) are not read: run ping-pong without it"),
    ("test was performed using the following parameters", FULL_LOG),
    ("packet, txTime(sec), rxTime(sec)", FULL_LOG),
];
const FULL_LOG: &str = "a full log (--full-log) is not read: give what the client prints";

/// The state of a run after the lines so far. Times are as printed, in microseconds.
#[derive(Default)]
pub(super) struct Run {
    begun: bool,
    udp: Option<bool>,
    server: String,
    params: Params,
    /// The seconds of the whole run, including invalid parts.
    total: Option<f64>,
    /// The valid part.
    valid: Option<Valid>,
    /// The mean; true if it is that of half a round trip.
    mean: Option<(Rounded, bool)>,
    /// The mean in a second line.
    average: Option<Rounded>,
    count: Option<u64>,
    times: BTreeMap<String, f64>,
    /// The messages sent, with the seconds.
    sent: Option<(u64, f64)>,
    /// The messages sent per second.
    rate: Option<f64>,
    /// The bytes sent per second.
    bandwidth: Option<Rounded>,
    /// The lost, duplicated and reordered messages.
    irregular: Vec<String>,
}

#[derive(Clone, Copy)]
struct Valid {
    seconds: f64,
    sent: Option<u64>,
    received: u64,
}

impl Run {
    pub(super) fn has_begun(&self) -> bool {
        self.begun
    }

    pub(super) fn take(&mut self, line: &str, at: usize) -> Result<(), Malformed> {
        self.begun |= line.starts_with("sockperf");
        let after = |mark: &str| line.split_once(mark).map(|(_, rest)| rest);
        let word = |rest: &'_ str| rest.split_whitespace().next().unwrap_or("").to_owned();
        let first = |rest: &str| positive(&word(rest), at);
        let rounded = |rest: &str| Rounded::parse(&word(rest), at);
        if let Some((_, what)) = UNREAD.iter().find(|(words, _)| line.contains(words)) {
            return Err(Malformed::at(at, *what));
        }
        if let Some(rest) = after("] IP = ") {
            wrong_if(self.udp.is_some(), at, "several sockets are not read")?;
            self.udp = Some(rest.contains("# UDP"));
            self.server = word(rest);
            self.params = with_path(Params::default().with(key::STREAMS, 1), "", &self.server);
        } else if let Some(rest) = after("[Total Run] RunTime=") {
            self.total = Some(first(rest)?);
        } else if let Some(rest) = after("[Valid Duration] RunTime=") {
            let of = |mark: &str| rest.split_once(mark).map_or("", |(_, count)| count);
            let sent = of("SentMessages=").split(';').next().unwrap_or("");
            let received = whole(of("ReceivedMessages=").trim(), at)?;
            self.valid = Some(Valid { seconds: first(rest)?, sent: sent.parse().ok(), received });
        } else if let Some(rest) = after("====> avg-").and_then(|rest| rest.split_once('=')) {
            self.average = Some(rounded(rest.1)?);
        } else if let Some(rest) = after("Summary: Latency is ") {
            self.mean = Some((rounded(rest)?, true));
        } else if let Some(rest) = after("Summary: Round trip is ") {
            self.mean = Some((rounded(rest)?, false));
        } else if let Some(rest) = after("Summary: Message Rate is ") {
            self.rate = Some(first(rest)?);
        } else if let Some(rest) = after("Summary: BandWidth is ").filter(|r| r.contains("MBps")) {
            self.bandwidth = Some(rounded(rest)?.times(MB));
        } else if let Some((count, rest)) =
            after("Total of ").and_then(|rest| rest.split_once(" messages sent in "))
        {
            self.sent = Some((whole(count, at)?, first(rest)?));
        } else if let Some(size) = after("using msg-size=") {
            let digits = size.split(|c: char| !c.is_ascii_digit()).next().unwrap_or("");
            let params = std::mem::take(&mut self.params);
            self.params = params.with(key::BLOCK_SIZE, whole(digits, at)?);
        } else if let Some(counts) = after(": # ") {
            let none = |count: &&str| count.split_once('=').is_none_or(|(_, n)| n.trim() == "0");
            let some = counts.split(';').filter(|count| !none(count));
            let some = some.map(|count| Malformed::excerpt(count.trim().trim_start_matches("# ")));
            self.irregular.extend(some);
        } else {
            self.latency(line, at)?;
        }
        Ok(())
    }

    /// Reads a line of the distribution of the times.
    fn latency(&mut self, line: &str, at: usize) -> Result<(), Malformed> {
        let after = |mark: &str| line.split_once(mark).map(|(_, rest)| rest);
        if let Some((count, _)) = after("Total ").and_then(|r| r.split_once(" observations")) {
            self.count = Some(whole(count, at)?);
        } else if let Some((name, time)) = after("---> ").and_then(|r| r.split_once('=')) {
            let name = name.trim().trim_end_matches(" observation");
            let share = name.strip_prefix("percentile ").and_then(|p| p.trim().parse::<f64>().ok());
            let name = share.map_or_else(|| name.to_owned(), |share| format!("{share:.2}"));
            let time = positive(time.split_whitespace().next().unwrap_or(""), at)?;
            self.times.insert(name, time);
        }
        Ok(())
    }

    pub(super) fn finish(self, last: usize) -> Result<EndpointFigure, Malformed> {
        let what = "the line \"[ 0] IP = ...\" with the protocol is missing: give all that the \
                    client prints";
        let udp = need(self.udp, last, what)?;
        let figure = match self.rate {
            Some(rate) => self.messages(udp, rate, last)?,
            None => self.answers(udp, last)?,
        };
        Ok(EndpointFigure { client: String::new(), server: self.server, figure })
    }

    /// Returns the figure of messages without answers: those sent.
    fn messages(&self, udp: bool, rate: f64, last: usize) -> Result<Figure, Malformed> {
        let (sent, seconds) = self.sent.ok_or_else(|| missing("number of messages", last))?;
        let (test, title) = match udp {
            true => ("UDP.sent", "UDP messages, by the sender"),
            false => ("TCP.sent", "TCP messages, by the sender"),
        };
        let trial = Trial::new(Unit::OpPerSecond, sent as f64, sent as f64 / rate);
        let shown = format_quantity(rate, Unit::OpPerSecond);
        let by_time = differ_unless(agree(rate * seconds, sent as f64, SHARE), || {
            format!("{sent} messages in {seconds} s are not {shown}")
        });
        let by_bytes =
            self.params.get(key::BLOCK_SIZE).zip(self.bandwidth).and_then(|(block, bytes)| {
                let agrees = |each: u64| agree(rate * each as f64, bytes, SHARE);
                differ_unless(with_and_without_headers(block).any(agrees), || {
                    let bytes = format_quantity(bytes.value, Unit::BytePerSecond);
                    format!("{shown} of {block} B are not {bytes}")
                })
            });
        let made = figure(test, title, Unit::OpPerSecond, self.params.clone(), trial);
        let findings = by_time.into_iter().chain(by_bytes).collect();
        Ok(Figure { findings, ..finite(made, last)? })
    }

    /// Returns the figure of answered messages: the answers with their times.
    fn answers(&self, udp: bool, last: usize) -> Result<Figure, Malformed> {
        let valid = self.valid.ok_or_else(|| missing("valid duration", last))?;
        let (mean, half) = self.mean.ok_or_else(|| missing("mean", last))?;
        let seconds_of = |us: f64| us * 1e-6 * if half { 2.0 } else { 1.0 };
        let time = |name: &str| self.times.get(name).copied().map(seconds_of);
        let needed = |name, what| time(name).ok_or_else(|| missing(what, last));
        let latency = Latency {
            unit: "s".to_owned(),
            count: self.count.ok_or_else(|| missing("number of observations", last))?,
            min: needed(MIN, "minimum time")?,
            mean: seconds_of(mean.value),
            p50: needed("50.00", "median")?,
            p90: time("90.00"),
            p99: time("99.00"),
            p999: time("99.90"),
            max: needed(MAX, "maximum time")?,
            ci95: proofmark_model::PercentileIntervals::default(),
            buckets: Vec::new(),
        };
        let filled = valid.received as f64 * latency.mean / valid.seconds;
        let (test, title) = match (FILLED.contains(&filled), udp) {
            (true, true) => (UDP, UDP),
            (true, false) => (TCP, TCP),
            (false, true) => ("UDP.answers", "UDP answers that were timed"),
            (false, false) => ("TCP.answers", "TCP answers that were timed"),
        };
        let trial = Trial::new(Unit::OpPerSecond, valid.received as f64, valid.seconds);
        let made = figure(test, title, Unit::OpPerSecond, self.params.clone(), trial);
        let mut findings = self.accounts(&valid, mean);
        if !self.irregular.is_empty() {
            let message = format!("sockperf counts {}", self.irregular.join(", "));
            findings.push(warned(Severity::Suspect, message));
        }
        let proof = Some("each answer came from the server");
        Ok(Figure { latency: Some(latency), proof, findings, ..finite(made, last)? })
    }

    /// Returns the contradictions in the output.
    fn accounts(&self, valid: &Valid, mean: Rounded) -> Vec<Finding> {
        let (received, us) = (valid.received, mean.value);
        let get = |name: &str| self.times.get(name).copied();
        let (min, max) = (get(MIN).unwrap_or(0.0), get(MAX).unwrap_or(f64::MAX));
        let names = [MIN, "25.00", "50.00", "75.00", "90.00", "99.00", "99.90", MAX];
        let counted = self
            .count
            .is_none_or(|n| agree(n as f64, Rounded { value: received as f64, off: 1.0 }, SHARE));
        let accounts = [
            differ_unless(counted, || {
                let count = self.count.unwrap_or_default();
                format!("{received} answers were received, but {count} were timed")
            }),
            self.total.and_then(|all| {
                let part = valid.seconds;
                differ_unless(part <= (1.0 + SHARE) * all + AROUND_S, || {
                    format!("{part} s were valid in a run of {all} s")
                })
            }),
            differ_unless(valid.sent.is_none_or(|sent| received <= sent), || {
                let sent = valid.sent.unwrap_or_default();
                format!("{received} answers were received, but only {sent} messages sent")
            }),
            self.average.and_then(|average| {
                let what = || {
                    format!("the mean is {us} us in one line, but {} us in another", average.value)
                };
                differ_unless(agree(average, mean, SHARE), what)
            }),
            differ_unless(names.into_iter().filter_map(get).is_sorted(), || {
                "the percentiles are not in their order".to_owned()
            }),
            differ_unless((min..=max).contains(&us), || {
                format!("the mean of {us} us is not between {min} us and {max} us")
            }),
        ];
        accounts.into_iter().flatten().collect()
    }
}

/// Returns the bytes of a message, without and with the headers of its IP fragments, which versions
/// before 3 add.
fn with_and_without_headers(block: u64) -> impl Iterator<Item = u64> {
    const FRAGMENT: u64 = 1472;
    const HEADERS: u64 = 28;
    [block, block.saturating_add(block.div_ceil(FRAGMENT).saturating_mul(HEADERS))].into_iter()
}

/// The bytes of a MB in sockperf.
const MB: f64 = 1_048_576.0;

fn missing(what: &str, last: usize) -> Malformed {
    Malformed::at(
        last,
        format!("the {what} is missing: this is no complete ping-pong, under-load or throughput"),
    )
}
