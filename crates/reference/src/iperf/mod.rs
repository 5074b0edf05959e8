//! iperf, version 2: the text and the CSV (`-y C`) that its client prints.

mod line;
mod runner;

use std::collections::BTreeMap;

use proofmark_model::{Datagrams, NetworkTraffic, Params, Printed, Trial, Unit};

use crate::network::{figure, finite, with_path};
use crate::text::{each_line, need, whole, wrong_if};
use crate::{Description, Figure, Malformed, Output, Tool, same_work};
use line::{Amount, Row, size};

pub(crate) struct Iperf;

impl Tool for Iperf {
    fn description(&self) -> &Description {
        &Description {
            id: "iperf",
            printed: Printed::Mean,
            title: "iperf, version 2",
            package: "Debian: iperf",
            same_work: const {
                &[same_work("TCP", "network.tcp.stream"), same_work("UDP", "network.udp.stream")]
            },
            about: "Reads the client's text or CSV (-y C), TCP and UDP, one or more streams, also \
                    with -R. Runs of a log that have the same parameters are trials of one figure. It \
                    reads neither both ways at once (-d, -r, --full-duplex) nor a \
                    server's text. Rates are in bit/s: Mbits/sec is decimal, MBytes/sec (-f M) is \
                    2^20 bytes. Text has three digits of them; -f b and CSV have all. For TCP the \
                    rate is the sender's (iperf.tcp.sent), with -R the receiver's. Versions before \
                    2.1 also count bytes that only filled the socket buffer, which has `window` \
                    bytes. For UDP the rate is the receiver's, from the server's report, with \
                    datagrams sent and lost. Without that report it is the sender's, no rate of \
                    the network: iperf.udp.sent. For several TCP streams it is their bytes over \
                    the longest time: [SUM] excludes times when not all of them ran.",
        }
    }

    fn recognises(&self, text: &str) -> bool {
        let client = |l: &str| {
            (l.starts_with(CLIENT) && (l.contains(", TCP port ") || l.contains(", UDP port ")))
                || line::csv(l).is_some()
                || (l.starts_with("Server listening on ") && l.contains(" port "))
        };
        text.lines().any(client)
    }

    fn read(&self, text: &str) -> Result<Output, Malformed> {
        let (mut output, mut read) = (Output::default(), Read::default());
        let last = each_line(text, |at, line| {
            if line.starts_with(CLIENT) && read.has_rates() {
                output.figures.push(std::mem::take(&mut read).figure(at)?);
            }
            read.take(line, at)
        })?;
        output.figures.push(read.figure(last)?);
        Ok(output)
    }
}

/// How the text of a run begins; one log may hold several.
const CLIENT: &str = "Client connecting to ";

/// Its tests, by what the receiver counted.
const TCP: &str = "TCP";
const UDP: &str = "UDP";

/// Of TCP, what the sender counted.
const SENT: &str = "TCP.sent";

#[derive(Default)]
struct Read {
    udp: Option<bool>,
    params: Params,
    /// Of each stream what was said last: of UDP by its sender.
    own: BTreeMap<String, Amount>,
    sum: Option<Amount>,
    /// Of each stream of UDP, by its receiver.
    received: BTreeMap<String, Amount>,
}

impl Read {
    fn has_rates(&self) -> bool {
        self.sum.is_some() || !self.own.is_empty() || !self.received.is_empty()
    }

    fn take(&mut self, line: &str, at: usize) -> Result<(), Malformed> {
        if let Some(fields) = line::csv(line) {
            let Row { stream, udp, client, server, amount } = Row::parse(&fields, at)?;
            self.protocol(udp, at)?;
            self.params = with_path(std::mem::take(&mut self.params), client, server);
            self.amount(stream, amount);
        } else if let Some((id, rest)) = line.strip_prefix('[').and_then(|l| l.split_once(']')) {
            self.stream(id.trim(), rest.trim(), at)?;
        } else if line.starts_with(CLIENT) {
            self.protocol(line.contains(", UDP port "), at)?;
        } else if line.starts_with("Server listening on ") {
            return Err(Malformed::at(at, "this is a server's: give the client's output"));
        } else {
            self.sizes(line, at)?;
        }
        Ok(())
    }

    /// What is after the id of a stream.
    fn stream(&mut self, id: &str, rest: &str, at: usize) -> Result<(), Malformed> {
        if let Some(ends) = rest.strip_prefix("local ") {
            wrong_if(ends.contains("(full-duplex)"), at, "a test both ways at once is not read")?;
            let direction = if ends.contains("(reverse)") { "reverse" } else { "forward" };
            let params = std::mem::take(&mut self.params).with("direction", direction);
            let address = |text: &str| text.split([' ', '%']).next().unwrap_or("").to_owned();
            let (client, server) = ends.split_once(" connected with ").unwrap_or((ends, ""));
            self.params = with_path(params, &address(client), &address(server));
        } else if let Some((interval, values)) = rest.split_once(" sec ") {
            let (span, values) = (line::span(interval, at)?, values.trim());
            if let Some((count, _)) = values.split_once(" datagrams received out-of-order") {
                let reordered = Some(whole(count.trim(), at)?);
                let seen = self.received.get_mut(id).and_then(|a| a.datagrams.as_mut());
                seen.into_iter().for_each(|d| d.reordered = reordered);
            } else {
                let stream = (!id.starts_with("SUM")).then(|| id.trim_start_matches('*'));
                self.amount(stream, Amount::parse(values, span, at)?);
            }
        }
        Ok(())
    }

    /// The sizes of a socket's buffer and of a block.
    fn sizes(&mut self, line: &str, at: usize) -> Result<(), Malformed> {
        let after = |mark: &str| line.strip_prefix(mark);
        if let Some(text) = after("TCP window size:").or_else(|| after("UDP buffer size:")) {
            let asked = text.split_once("requested ").and_then(|(_, asked)| size(asked));
            self.parameter("window", size(text));
            self.parameter("socket_buffer", asked.filter(|_| size(text).is_some()));
        } else if let Some((bytes, _)) =
            after("Sending ").and_then(|l| l.split_once(" byte datagrams"))
        {
            self.parameter("block_size", Some(whole(bytes.trim(), at)?));
        } else {
            // Rounded where iperf prints KByte.
            let writing = after("Write buffer size: ").filter(|l| l.contains(" Byte"));
            self.parameter("block_size", writing.and_then(size));
        }
        Ok(())
    }

    fn parameter(&mut self, name: &str, bytes: Option<u64>) {
        self.params = std::mem::take(&mut self.params).known(name, bytes);
    }

    fn protocol(&mut self, udp: bool, at: usize) -> Result<(), Malformed> {
        wrong_if(self.udp.is_some_and(|known| known != udp), at, "both TCP and UDP")?;
        self.udp = Some(udp);
        Ok(())
    }

    /// Of a stream, or of all together.
    fn amount(&mut self, stream: Option<&str>, amount: Amount) {
        let Some(stream) = stream else {
            self.sum = Some(amount);
            return;
        };
        let received = amount.datagrams.is_some();
        let all = if received { &mut self.received } else { &mut self.own };
        all.insert(stream.to_owned(), amount);
    }

    fn figure(self, last: usize) -> Result<Figure, Malformed> {
        let streams = self.own.len().max(self.received.len());
        let params = self.params.clone().with("streams", streams as u64);
        let udp = need(self.udp, last, "no test of iperf's client")?;
        let of = |test, title: &str, trial| {
            finite(figure(test, title, Unit::BitPerSecond, params.clone(), trial), last)
        };
        if udp && !self.received.is_empty() {
            return of(UDP, "UDP throughput", self.arrived(last)?);
        }
        let trial = self.counted(last)?;
        let reverse = params.text("direction") == Some("reverse");
        match (udp, reverse) {
            (true, _) => of("UDP.sent", "UDP rate, by the sender", trial),
            (false, true) => of(TCP, "TCP throughput", trial),
            (false, false) => of(SENT, "TCP throughput, by the sender", trial),
        }
    }

    /// What the client counted.
    fn counted(&self, last: usize) -> Result<Trial, Malformed> {
        let whole = |a: &Amount| match a.start == 0.0 {
            true => Ok(Trial::new(Unit::BitPerSecond, a.bits, a.seconds)),
            false => Err(Malformed::at(a.at, "a part of the test, and no total follows")),
        };
        if let Some(sum) = &self.sum {
            let mut all = whole(sum)?;
            let longest = self.own.values().filter(|a| a.start == 0.0).map(|a| a.seconds);
            let longest = longest.fold(all.seconds, f64::max);
            if longest > all.seconds {
                all = Trial::new(Unit::BitPerSecond, all.work, longest);
            }
            return Ok(all);
        }
        let mut all = (0.0, 0.0_f64);
        for stream in self.own.values() {
            let t = whole(stream)?;
            wrong_if(self.own.len() > 1 && !stream.exact, last, "several streams, and no [SUM]")?;
            all = (all.0 + t.work, all.1.max(t.seconds));
        }
        match self.own.is_empty() {
            true => Err(Malformed::at(last, "no rate: the test did not run")),
            false => Ok(Trial::new(Unit::BitPerSecond, all.0, all.1)),
        }
    }

    /// What the receiver counted: each datagram has the same number of bytes, where the client
    /// reports it; else the bytes are those of the rate.
    fn arrived(&self, last: usize) -> Result<Trial, Malformed> {
        if self.received.len() < self.own.len() {
            return Err(Malformed::at(last, "the server's report of a stream is missing"));
        }
        let mut all = Datagrams { reordered: Some(0), ..Datagrams::default() };
        let (mut bits, mut sent, mut seconds) = (0.0, 0.0, 0.0_f64);
        for stream in self.received.values() {
            let d = stream
                .datagrams
                .ok_or_else(|| Malformed::at(stream.at, "no datagrams are reported"))?;
            wrong_if(stream.start != 0.0, stream.at, "a part of the test, and no total follows")?;
            let each = match self.params.int("block_size") {
                Some(block) => block as f64 * 8.0,
                None => stream.bits / d.received.max(1) as f64,
            };
            bits += each * d.received as f64;
            sent += each * d.sent as f64;
            seconds = seconds.max(stream.seconds);
            all.sent = all.sent.saturating_add(d.sent);
            all.received = all.received.saturating_add(d.received);
            all.reordered = all.reordered.zip(d.reordered).map(|(a, b)| a.saturating_add(b));
        }
        let mut trial = Trial::new(Unit::BitPerSecond, bits, seconds);
        trial.network = Some(NetworkTraffic {
            sent_bytes: (sent / 8.0).ceil() as u64,
            received_bytes: (bits / 8.0).ceil() as u64,
            datagrams: Some(all),
            ..NetworkTraffic::default()
        });
        Ok(trial)
    }
}

#[cfg(test)]
mod tests;
