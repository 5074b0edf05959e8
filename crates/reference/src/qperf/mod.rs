//! qperf: the tests of sockets that its client prints, each a block of names and values.

mod runner;

use std::collections::BTreeMap;

use proofmark_model::{
    Datagrams, EndTraffic, Finding, NetworkTraffic, Params, Severity, Subsystem, Trial, Unit,
};

use crate::network::finite;
use crate::text::{Printed, each_line, need, wrong_if};
use crate::{Description, Figure, Malformed, Output, Tool, same_work};

pub(crate) struct Qperf;

impl Tool for Qperf {
    fn description(&self) -> &Description {
        &Description {
            id: "qperf",
            printed: proofmark_model::Printed::Mean,
            title: "qperf (Johann George)",
            package: "Debian: qperf",
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
                    ticks of 10 ms. Runs of a test that have the same parameters are trials.",
        }
    }

    fn recognises(&self, text: &str) -> bool {
        let mut is_open = false;
        text.lines().any(|line| {
            let is_value = is_open && value(line).is_some_and(|(name, _)| FIRST.contains(&name));
            is_open = header(line).is_some() || (is_open && is_said(line));
            is_value || (is_open && is_said(line))
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
        let block = need(open, last, "no test of qperf")?;
        block.end(&mut output)?;
        wrong_if(output.figures.is_empty(), last, "no test with a result")?;
        Ok(output)
    }
}

const TCP_BW: &str = "tcp_bw";
const UDP_BW: &str = "udp_bw";
const TCP_LAT: &str = "tcp_lat";
const UDP_LAT: &str = "udp_lat";

/// What the first line of a test's values is of.
const FIRST: [&str; 5] = ["bw", "send_bw", "latency", "msg_rate", "loc_node"];
/// Protocols whose tests of latency send a message back and forth.
const BACK_AND_FORTH: [&str; 5] = ["tcp", "udp", "sctp", "sdp", "rds"];
/// By what share numbers may differ, since each end has its own time, in ticks.
const TICKS: f64 = 0.03;

/// `tcp_bw:`
fn header(line: &str) -> Option<&str> {
    let test = line.strip_suffix(':')?;
    let kinds = ["_bw", "_lat", "_mr"].iter().any(|kind| test.ends_with(kind));
    let is_name = test.bytes().all(|b| b.is_ascii_lowercase() || b == b'_');
    (is_name && (kinds || test == "conf" || test.starts_with("ver_"))).then_some(test)
}

/// `    bw  =  3.64 GB/sec`
fn value(line: &str) -> Option<(&str, &str)> {
    let (name, value) = line.strip_prefix(' ')?.split_once('=')?;
    Some((name.trim(), value.trim()))
}

/// Whether qperf says that something failed, or warns.
fn is_said(line: &str) -> bool {
    line.starts_with("failed to ") || line.starts_with("warning: ") || line.contains(": failed to ")
}

/// The values of a test.
#[derive(Default)]
struct Block<'a> {
    test: &'a str,
    at: usize,
    values: BTreeMap<&'a str, (usize, &'a str)>,
    said: Vec<(usize, &'a str)>,
}

impl<'a> Block<'a> {
    fn take(&mut self, line: &'a str, at: usize) -> Result<(), Malformed> {
        if let Some((name, value)) = value(line) {
            let again = self.values.insert(name, (at, value));
            return wrong_if(again.is_some(), at, "a value of this test is there twice");
        }
        if is_said(line) {
            self.said.push((at, line));
        }
        Ok(())
    }

    fn end(self, output: &mut Output) -> Result<(), Malformed> {
        if self.test == "conf" {
            let version = self.values.get("loc_qperf").map(|(_, version)| (*version).to_owned());
            output.version = output.version.take().or(version);
            return Ok(());
        }
        if let (true, Some((at, words))) = (self.values.is_empty(), self.said.first()) {
            let words = Malformed::excerpt(words);
            return Err(Malformed::at(*at, format!("{} ended: {words}", self.test)));
        }
        let figure = match self.test.rsplit_once('_') {
            Some((_, "bw")) => self.bandwidth()?,
            Some((protocol, "lat")) if BACK_AND_FORTH.contains(&protocol) => self.latency()?,
            _ => {
                let what = format!("the test {} is not read", self.test);
                return Err(Malformed::at(self.at, what));
            }
        };
        let said = self.said.iter().map(|(_, words)| {
            let message = format!("qperf printed: {words}");
            let advice = "remove its cause and repeat the test";
            Finding::new("tool_warning", Severity::Note, message, advice)
        });
        let mut findings = self.contradictions(&figure)?;
        findings.extend(said);
        output
            .figures
            .push(Figure { findings: [figure.findings.clone(), findings].concat(), ..figure });
        Ok(())
    }

    /// A value in its base unit: bits a second of a bandwidth, else seconds, bytes, a number.
    fn number(&self, name: &str) -> Result<Option<Printed>, Malformed> {
        let Some((at, text)) = self.values.get(name) else { return Ok(None) };
        let mut words = text.split_whitespace();
        let digits = words.next().unwrap_or("").replace(',', "");
        let unit = words.next().unwrap_or("");
        // 64 KiB (65,536)
        let exact = words.next().and_then(|word| word.strip_prefix('(')?.strip_suffix(')'));
        if let Some(exact) = exact {
            return Printed::parse(&exact.replace(',', ""), *at).map(Some);
        }
        let factor = need(factor(unit), *at, "an unknown unit")?;
        Ok(Some(Printed::parse(&digits, *at)?.times(factor)))
    }

    fn need(&self, name: &str) -> Result<Printed, Malformed> {
        let found = self.number(name)?.filter(|number| number.value > 0.0);
        need(found, self.at, &format!("{} has no {name} above zero", self.test))
    }

    /// The first of these that is there: the ends are called by what they do, or by where they are.
    fn either(&self, names: [&str; 2]) -> Result<Option<Printed>, Malformed> {
        Ok(self.number(names[0])?.or(self.number(names[1])?))
    }

    /// A whole number that is printed with all its digits.
    fn exact(&self, name: &str) -> Result<Option<u64>, Malformed> {
        let number = self.number(name)?.filter(|number| number.half <= 0.5);
        Ok(number.map(|number| number.value.round() as u64).filter(|number| *number > 0))
    }

    fn params(&self) -> Result<Params, Malformed> {
        let params = Params::default().with("streams", 1);
        let params = params.known("block_size", self.exact("msg_size")?);
        Ok(params.known("socket_buffer", self.exact("sock_buf_size")?))
    }

    /// How long the test took at the receiver, or at the client, for round trips; of a test that does not say it a second, which only gives the rate.
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
        let params = self.params()?.known("direction", one_way.then_some("forward"));
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
        let of = (Subsystem::Network, unit);
        finite(Figure::rate(self.test.to_owned(), title, of, params, trial), self.at)
    }

    /// What both ends counted of a test of datagrams.
    fn traffic(&self, seconds: f64) -> Result<Option<NetworkTraffic>, Malformed> {
        let sent = self.exact("send_msgs")?.or(self.exact("loc_send_msgs")?);
        let received = self.exact("recv_msgs")?.or(self.exact("rem_recv_msgs")?);
        // Of TCP qperf stops while bytes are on the way, so that its two counts prove nothing.
        let counts = sent.zip(received).zip(self.exact("msg_size")?);
        let Some(((sent, received), size)) = counts.filter(|_| self.test == UDP_BW) else {
            return Ok(None);
        };
        // Each end counts until its own time is up.
        let near = received > sent && (received as f64) < (1.0 + TICKS) * sent as f64;
        let sent = if near { received } else { sent };
        let busy = |names| -> Result<EndTraffic, Malformed> {
            let used = self.either(names)?;
            let busy_s = used.map(|share| share.value * seconds);
            Ok(EndTraffic { busy_s, ..EndTraffic::default() })
        };
        Ok(Some(NetworkTraffic {
            sent_bytes: sent.saturating_mul(size),
            received_bytes: received.saturating_mul(size),
            datagrams: Some(Datagrams { sent, received, ..Datagrams::default() }),
            client: busy(["send_cpus_used", "loc_cpus_used"])?,
            server: busy(["recv_cpus_used", "rem_cpus_used"])?,
            ..NetworkTraffic::default()
        }))
    }

    /// What the test says twice, and differently.
    fn contradictions(&self, figure: &Figure) -> Result<Vec<Finding>, Malformed> {
        let one = Printed { value: 1.0, half: 0.0 };
        let get = |name| Ok::<_, Malformed>(self.number(name)?.filter(|n| n.value > 0.0));
        let bits = |number: Printed| number.times(8.0);
        let bandwidth = get("recv_bw")?.or(get("bw")?);
        let size = get("msg_size")?.map(bits);
        let bytes = get("recv_bytes")?.or(get("rem_recv_bytes")?).map(bits);
        let messages = get("recv_msgs")?.or(get("rem_recv_msgs")?);
        let seconds = get("recv_real_time")?.or(get("rem_real_time")?);
        let rate = get("msg_rate")?;
        let per_latency = get("latency")?.map(|latency| one.over(latency));
        let of_work = figure.unit == Unit::BitPerSecond;
        let pairs = [
            ("the message rate is not 1 / latency", rate.zip(per_latency)),
            (
                "the bandwidth is not the message rate times the size",
                bandwidth.zip(rate).map(|(bandwidth, rate)| bandwidth.over(rate)).zip(size),
            ),
            (
                "the bytes are not the messages times the size",
                bytes.zip(messages).map(|(bytes, messages)| bytes.over(messages)).zip(size),
            ),
            (
                "the bandwidth is not the bytes over the time",
                bytes
                    .zip(seconds)
                    .map(|(bytes, s)| bytes.over(s))
                    .zip(bandwidth)
                    .filter(|_| of_work),
            ),
        ];
        let wrong =
            pairs.into_iter().filter(|(_, pair)| pair.is_some_and(|(a, b)| !a.agrees(b, TICKS)));
        let finding = |(message, _)| {
            let advice = "repeat the test, and import its whole output";
            Finding::new("two_accounts", Severity::Invalid, message, advice)
        };
        Ok(wrong.map(finding).collect())
    }
}

/// Base units of one: bits a second of a bandwidth, seconds, bytes, numbers; 1 of percent is 0.01.
fn factor(unit: &str) -> Option<f64> {
    let (base, first) = match unit.strip_suffix("/sec") {
        Some("bytes") => return Some(8.0),
        Some("bits") | Some("") => return Some(1.0),
        Some(rate) => match (rate.strip_suffix('B'), rate.strip_suffix('b')) {
            (Some(prefix), _) => (prefix, 8.0),
            (_, Some(prefix)) => (prefix, 1.0),
            _ => (rate, 1.0),
        },
        None => match unit {
            "" | "bytes" | "sec" => return Some(1.0),
            "%" => return Some(0.01),
            "ms" => return Some(1e-3),
            "us" => return Some(1e-6),
            "ns" => return Some(1e-9),
            "thousand" => return Some(1e3),
            "million" => return Some(1e6),
            "billion" => return Some(1e9),
            _ => (unit.strip_suffix('B')?, 1.0),
        },
    };
    let power = ["", "K", "M", "G", "T"].iter().position(|prefix| *prefix == base)?;
    Some(first * 1000_f64.powi(power as i32))
}

/// Bytes lost where no count shows them.
fn lost(sent: Printed, received: Printed) -> Option<Finding> {
    /// Up to here the receiver kept up, as the check says.
    const OVERLOAD: f64 = 0.1;
    let share = 1.0 - received.value / sent.value;
    if received.agrees(sent, 0.0) || share <= 0.0 {
        return None;
    }
    let severity = if share > OVERLOAD { Severity::Suspect } else { Severity::Note };
    let message =
        format!("{:.1} % of what was sent was lost: the result is the receiver's", 100.0 * share);
    let advice = "use -vv for the counts, and smaller messages or a larger buffer (-sb)";
    Some(Finding::new("udp_loss", severity, message, advice).with("lost_share", share))
}

#[cfg(test)]
mod tests;
