//! qperf: the socket tests of its client, each printed as a block of names and values.

mod runner;

use std::collections::BTreeMap;

use proofmark_model::{
    Datagrams, EndTraffic, Finding, NetworkTraffic, Params, Printed, Severity, Trial, Unit,
    check_id, format_percent, key,
};

use crate::findings::{contradicts, warned};
use crate::network::{figure, finite, traffic};
use crate::printed::{Rounded, agree};
use crate::text::{each_line, need, power, wrong_if};
use crate::{Description, Figure, Malformed, Output, Tool, same_work};

pub(crate) struct Qperf;

impl Tool for Qperf {
    fn description(&self) -> &Description {
        &Description {
            id: "qperf",
            printed: Printed::Mean,
            title: "qperf (Johann George)",
            package: "Debian: qperf",
            reads: "its text",
            same_work: const {
                &[
                    same_work(TCP_BW, "network.tcp.stream"),
                    same_work(UDP_BW, "network.udp.stream"),
                    same_work(TCP_LAT, "network.tcp.rtt"),
                    same_work(UDP_LAT, "network.udp.rtt"),
                ]
            },
            about: "Reads what the client prints of tests of bandwidth and of latency, with or \
                    without -v, -vv, -uu, -ub and -un: of TCP, UDP, SCTP, RDS and SDP, and the \
                    bandwidths of RDMA. It reads neither latencies of RDMA nor its atomics. GB is 10^9 \
                    bytes. A bandwidth is the receiver's, in bit/s. qperf's latency is half of a round \
                    trip: the figure is round trips a second, one in flight. Without -vv numbers \
                    have three digits and the time is missing; -uu has all digits. The size of a \
                    message is known only with -vv, or where -m set it and -v shows it. UDP has the \
                    datagrams of both ends with -vv. Use of CPUs is that of whole machines, in \
                    ticks of 10 ms. Runs of a test that have the same parameters are trials, \
                    where the size is among them: a loop (-oo) does not print it.",
        }
    }

    fn recognises(&self, text: &str) -> bool {
        let mut is_open = false;
        text.lines().any(|line| {
            let is_value = is_open && value(line).is_some_and(|(name, _)| FIRST.contains(&name));
            is_open = header(line).is_some() || (is_open && is_message(line));
            is_value || (is_open && is_message(line))
        })
    }

    fn read(&self, text: &str) -> Result<Output, Malformed> {
        let (mut output, mut open) = (Output::default(), None::<Block>);
        let last = each_line(text, |at, line| {
            if let Some(test) = header(line) {
                let ended = open.replace(Block { test, at, ..Block::default() });
                return ended.map_or(Ok(()), |block| block.end(&mut output));
            }
            open.as_mut().map_or(Ok(()), |block| block.take(line, at))
        })?;
        let block = need(open, last, "no test of qperf found")?;
        block.end(&mut output)?;
        wrong_if(output.figures.is_empty(), last, "no test has a result")?;
        number_repetitions(&mut output.figures);
        Ok(output)
    }
}

/// Numbers the blocks of a test without a size. A loop (-oo) prints them like repetitions.
fn number_repetitions(figures: &mut [Figure]) {
    let mut seen = BTreeMap::new();
    for figure in figures.iter_mut().filter(|f| !f.params.has(key::BLOCK_SIZE)) {
        let number = seen.entry(figure.test.clone()).or_insert(0_u64);
        *number += 1;
        if *number > 1 {
            figure.title = format!("{} ({number})", figure.title);
        }
    }
}

const TCP_BW: &str = "tcp_bw";
const UDP_BW: &str = "udp_bw";
const TCP_LAT: &str = "tcp_lat";
const UDP_LAT: &str = "udp_lat";

/// The names in the first line of a test's values.
const FIRST: [&str; 5] = ["bw", "send_bw", "latency", "msg_rate", "loc_node"];
/// The protocols whose latency tests send a message back and forth.
const BACK_AND_FORTH: [&str; 5] = ["tcp", "udp", "sctp", "sdp", "rds"];
/// The maximum relative deviation of numbers: each end has its own time, in ticks.
const TICKS: f64 = 0.03;

/// Returns the test of `tcp_bw:`
fn header(line: &str) -> Option<&str> {
    let test = line.strip_suffix(':')?;
    let kinds = ["_bw", "_lat", "_mr"].iter().any(|kind| test.ends_with(kind));
    let is_name = test.bytes().all(|b| b.is_ascii_lowercase() || b == b'_');
    (is_name && (kinds || test == "conf" || test.starts_with("ver_"))).then_some(test)
}

/// Splits `    bw  =  3.64 GB/sec`
fn value(line: &str) -> Option<(&str, &str)> {
    let (name, value) = line.strip_prefix(' ')?.split_once('=')?;
    Some((name.trim(), value.trim()))
}

/// Returns true if a line reports a failure or a warning.
fn is_message(line: &str) -> bool {
    line.starts_with("failed to ") || line.starts_with("warning: ") || line.contains(": failed to ")
}

/// The values of a test.
#[derive(Default)]
struct Block<'a> {
    test: &'a str,
    at: usize,
    values: BTreeMap<&'a str, (usize, &'a str)>,
    messages: Vec<(usize, &'a str)>,
}

impl<'a> Block<'a> {
    fn take(&mut self, line: &'a str, at: usize) -> Result<(), Malformed> {
        if let Some((name, value)) = value(line) {
            let again = self.values.insert(name, (at, value));
            return wrong_if(again.is_some(), at, "this test has a value twice");
        }
        if is_message(line) {
            self.messages.push((at, line));
        }
        Ok(())
    }

    fn end(self, output: &mut Output) -> Result<(), Malformed> {
        if self.test == "conf" {
            let version = self.values.get("loc_qperf").map(|(_, version)| (*version).to_owned());
            output.version = output.version.take().or(version);
            return Ok(());
        }
        if let (true, Some((at, words))) = (self.values.is_empty(), self.messages.first()) {
            let words = Malformed::excerpt(words);
            return Err(Malformed::at(*at, format!("{} ended: {words}", self.test)));
        }
        let mut figure = match self.test.rsplit_once('_') {
            Some((_, "bw")) => self.bandwidth()?,
            Some((protocol, "lat")) if BACK_AND_FORTH.contains(&protocol) => self.latency()?,
            _ => return Err(Malformed::quoting(self.at, self.test, "is a test that is not read")),
        };
        figure.findings.extend(self.contradictions()?);
        let messages = self.messages.iter();
        let messages = messages.map(|(_, words)| {
            warned(Severity::Note, format!("qperf printed: {}", Malformed::sentence(words)))
        });
        figure.findings.extend(messages);
        output.figures.push(figure);
        Ok(())
    }

    /// Returns a value in its base unit: bit/s for a bandwidth, otherwise seconds, bytes or a
    /// number.
    fn number(&self, name: &str) -> Result<Option<Rounded>, Malformed> {
        let Some((at, text)) = self.values.get(name) else { return Ok(None) };
        let mut words = text.split_whitespace();
        let digits = words.next().unwrap_or("").replace(',', "");
        let unit = words.next().unwrap_or("");
        // 64 KiB (65,536)
        let exact = words.next().and_then(|word| word.strip_prefix('(')?.strip_suffix(')'));
        if let Some(exact) = exact {
            return Rounded::parse(&exact.replace(',', ""), *at).map(Some);
        }
        let factor = need(factor(unit), *at, "an unknown unit")?;
        Ok(Some(Rounded::parse(&digits, *at)?.times(factor)))
    }

    fn need(&self, name: &str) -> Result<Rounded, Malformed> {
        let found = self.number(name)?.filter(|number| number.value > 0.0);
        need(found, self.at, &format!("{} has no {name} above zero", self.test))
    }

    /// Returns the first of these values that is present. The names of the ends depend on the test.
    fn either(&self, names: [&str; 2]) -> Result<Option<Rounded>, Malformed> {
        Ok(self.number(names[0])?.or(self.number(names[1])?))
    }

    /// Returns a whole number that is printed with all its digits.
    fn exact(&self, name: &str) -> Result<Option<u64>, Malformed> {
        let number = self.number(name)?.filter(|number| number.off <= 0.5);
        Ok(number.map(|number| number.value.round() as u64).filter(|number| *number > 0))
    }

    fn params(&self) -> Result<Params, Malformed> {
        let params = Params::default().with(key::STREAMS, 1);
        let params = params.known(key::BLOCK_SIZE, self.exact("msg_size")?);
        Ok(params.known(key::SOCKET_BUFFER, self.exact("sock_buf_size")?))
    }

    /// Returns the seconds at the receiver, or at the client for round trips. If the test reports
    /// none, it is 1 s, which only gives the rate.
    fn seconds(&self, names: [&str; 2]) -> Result<f64, Malformed> {
        let found = self.either(names)?.or(self.number("time")?);
        Ok(found.map_or(1.0, |time| time.value))
    }

    fn bandwidth(&self) -> Result<Figure, Malformed> {
        let sends = self.values.contains_key("send_bw");
        let rate = self.need(if sends { "recv_bw" } else { "bw" })?;
        let seconds = self.seconds(["recv_real_time", "rem_real_time"])?;
        let network = self.traffic(seconds)?;
        let counted = network.as_ref().map(|n| n.received_bytes as f64 * 8.0);
        let work = counted.unwrap_or(rate.value * seconds);
        let trial = Trial { network, ..Trial::new(Unit::BitPerSecond, work, seconds) };
        let one_way = !self.test.contains("_bi_");
        let params = self.params()?.known(key::DIRECTION, one_way.then_some("forward"));
        let lost = match (sends, &trial.network) {
            (true, None) => lost(self.need("send_bw")?, rate),
            _ => None,
        };
        let figure = self.figure("throughput", Unit::BitPerSecond, params, trial)?;
        let proof = Some("the receiver counted the bytes");
        Ok(Figure { proof, findings: lost.into_iter().collect(), ..figure })
    }

    fn latency(&self) -> Result<Figure, Malformed> {
        let half = self.need("latency")?;
        let seconds = self.seconds(["loc_real_time", "time"])?;
        let work = seconds / (2.0 * half.value);
        let trial = Trial::new(Unit::OpPerSecond, work, seconds);
        let figure = self.figure("round trips", Unit::OpPerSecond, self.params()?, trial)?;
        let proof = Some("each message is the answer to the one before");
        Ok(Figure { proof, ..figure })
    }

    fn figure(
        &self,
        what: &str,
        unit: Unit,
        params: Params,
        trial: Trial,
    ) -> Result<Figure, Malformed> {
        let protocol = self.test.split('_').next().unwrap_or("").to_uppercase();
        let title = format!("{protocol} {what}");
        finite(figure(self.test.to_owned(), title, unit, params, trial), self.at)
    }

    /// Returns the counts of both ends in a datagram test.
    fn traffic(&self, seconds: f64) -> Result<Option<NetworkTraffic>, Malformed> {
        let sent = self.exact("send_msgs")?.or(self.exact("loc_send_msgs")?);
        let received = self.exact("recv_msgs")?.or(self.exact("rem_recv_msgs")?);
        // qperf stops TCP with bytes in transit, so its two counts prove nothing.
        let counts = sent.zip(received).zip(self.exact("msg_size")?);
        let Some(((sent, received), size)) = counts.filter(|_| self.test == UDP_BW) else {
            return Ok(None);
        };
        // Each end counts until its own time is over.
        let near = received > sent && (received as f64) < (1.0 + TICKS) * sent as f64;
        let sent = if near { received } else { sent };
        let busy = |names| -> Result<EndTraffic, Malformed> {
            let busy_s = self.either(names)?.map(|share| share.value * seconds);
            Ok(EndTraffic { busy_s, ..EndTraffic::default() })
        };
        let datagrams = Datagrams { sent, received, ..Datagrams::default() };
        let [sent, received] = [sent, received].map(|messages| messages.saturating_mul(size));
        Ok(Some(NetworkTraffic {
            client: busy(["send_cpus_used", "loc_cpus_used"])?,
            server: busy(["recv_cpus_used", "rem_cpus_used"])?,
            ..traffic(sent, received, Some(datagrams))
        }))
    }

    /// Returns the contradictions within the test.
    fn contradictions(&self) -> Result<Vec<Finding>, Malformed> {
        let get = |names| Ok::<_, Malformed>(self.either(names)?.filter(|n| n.value > 0.0));
        let ratio = |a: Option<Rounded>, b: Option<Rounded>| a.zip(b).map(|(a, b)| a.over(b));
        let bits = |bytes: Option<Rounded>| bytes.map(|bytes| bytes.times(8.0));
        let bandwidth = get(["recv_bw", "bw"])?;
        let size = bits(get(["msg_size", "msg_size"])?);
        let bytes = bits(get(["recv_bytes", "rem_recv_bytes"])?);
        let messages = get(["recv_msgs", "rem_recv_msgs"])?;
        let seconds = get(["recv_real_time", "rem_real_time"])?;
        let rate = get(["msg_rate", "msg_rate"])?;
        let per_latency = ratio(Some(1.0.into()), get(["latency", "latency"])?);
        let pairs = [
            ("the message rate is not 1 / latency", rate, per_latency),
            ("the bandwidth is not the message rate times the size", ratio(bandwidth, rate), size),
            ("the bytes are not the messages times the size", ratio(bytes, messages), size),
            ("the bandwidth is not the bytes over the time", ratio(bytes, seconds), bandwidth),
        ];
        let wrong = pairs
            .into_iter()
            .filter(|(_, a, b)| a.zip(*b).is_some_and(|(a, b)| !agree(a, b, TICKS)));
        Ok(wrong.map(|(what, ..)| contradicts(Severity::Invalid, what)).collect())
    }
}

/// Returns the base units in a unit: bit/s for a bandwidth, otherwise seconds, bytes or numbers. A
/// percent is 0.01.
fn factor(unit: &str) -> Option<f64> {
    let rate = unit.strip_suffix("/sec");
    let (prefix, bits) = match (unit, rate) {
        ("", _) | ("bytes" | "sec", _) | (_, Some("bits" | "")) => return Some(1.0),
        (_, Some("bytes")) => return Some(8.0),
        ("%", _) => return Some(0.01),
        ("ms", _) => return Some(1e-3),
        ("us", _) => return Some(1e-6),
        ("ns", _) => return Some(1e-9),
        ("thousand", _) => return Some(1e3),
        ("million", _) => return Some(1e6),
        ("billion", _) => return Some(1e9),
        (_, Some(rate)) => match rate.strip_suffix('B') {
            Some(prefix) => (prefix, 8.0),
            None => (rate.strip_suffix('b').unwrap_or(rate), 1.0),
        },
        (bytes, None) => (bytes.strip_suffix('B')?, 1.0),
    };
    power(prefix, 1000.0).map(|units| bits * units)
}

/// Reports lost bytes where no count shows them.
fn lost(sent: Rounded, received: Rounded) -> Option<Finding> {
    /// The largest loss that is not an overload, as in the check.
    const OVERLOAD: f64 = 0.1;
    let share = 1.0 - received.value / sent.value;
    if agree(received, sent, 0.0) || share <= 0.0 {
        return None;
    }
    let severity = if share > OVERLOAD { Severity::Suspect } else { Severity::Note };
    let message = format!(
        "{} of the sent bytes were lost: the result is the receiver's",
        format_percent(share)
    );
    let advice = "use -vv for the counts, and smaller messages or a larger buffer (-sb)";
    Some(Finding::new(check_id::UDP_LOSS, severity, message, advice).with("lost_share", share))
}

#[cfg(test)]
mod tests;
