//! A run of nuttcp, read line by line.

use proofmark_model::{
    Datagrams, EndTraffic, Finding, NetworkTraffic, Params, Severity, Trial, Unit, key,
};

use super::line::{Amount, End, Line};
use super::{Message, is_version};
use crate::findings::contradicts;
use crate::network::{default_rate, finite, throughput, traffic, with_path};
use crate::printed::agree;
use crate::text::wrong_if;
use crate::{Figure, Malformed};

/// The state of a run after the lines so far.
#[derive(Default)]
pub(super) struct Run {
    pub(super) version: Option<String>,
    label: String,
    /// The end that began first, which is the client's, if the lines of the ends are printed.
    first: Option<End>,
    /// True for each end whose lines have begun: transmitter, receiver.
    begun: [bool; 2],
    sent: Option<Amount>,
    received: Option<Amount>,
    /// True if the summary line has been read.
    is_brief: bool,
    intervals: Vec<Amount>,
    udp: Option<bool>,
    datagrams: Option<Datagrams>,
    /// The loss in percent, and the bytes that the transmitter sent, where they are printed.
    loss: Option<f64>,
    sent_megabytes: Option<f64>,
    /// The percent of one CPU at each end.
    cpu: [Option<f64>; 2],
    retransmits: Option<u64>,
    /// The rate limit in bit/s (-R).
    limit: Option<f64>,
    block: Option<u64>,
    blocks: Option<u64>,
    streams: Option<u64>,
    /// The addresses of the end that connects, and of the end that accepts.
    addresses: [String; 2],
    messages: Vec<Message>,
    findings: Vec<Finding>,
}

impl Run {
    /// Returns true if a line belongs to the next run.
    pub(super) fn ends_before(&self, line: &Line) -> bool {
        let both = self.sent.is_some() && self.received.is_some() && self.first.is_some();
        let of_ends = self.begun != [false; 2];
        match line.end {
            None => self.is_brief || both,
            Some(end) if is_header(line) => {
                let begun = self.begun.get(end as usize).is_some_and(|begun| *begun);
                begun || (self.is_brief && !of_ends)
            }
            Some(_) if Message::parse(line).is_some() => both || (self.is_brief && !of_ends),
            Some(_) => false,
        }
    }

    pub(super) fn take(&mut self, line: &Line) -> Result<(), Malformed> {
        if let Some(message) = Message::parse(line) {
            // Each stream repeats the message.
            if !self.messages.iter().any(|s| s.words == message.words) {
                let is_within = self.begun != [false; 2];
                self.messages.push(Message { is_within, ..message });
            }
            return Ok(());
        }
        line.label.clone_into(&mut self.label);
        match line.end {
            Some(end) => self.end(end, line),
            None if line.is_total() => self.total(line),
            None => {
                self.intervals.extend(line.amount()?);
                Ok(())
            }
        }
    }

    /// Reads a line of one end.
    fn end(&mut self, end: End, line: &Line) -> Result<(), Malformed> {
        self.first.get_or_insert(end);
        if is_header(line) {
            let version = line.text.split(':').next().unwrap_or("").trim_start_matches('v');
            self.version.get_or_insert_with(|| version.to_owned());
            self.begun[end as usize] = true;
        }
        if line.text.starts_with("rate limit") || line.get("rate_limit").is_some() {
            let limit = line.number("rate_limit")?.or(line.number("rate_Mbps")?);
            self.limit = limit.map(|megabits| megabits * 1e6);
            return Ok(());
        }
        match (end, line.amount()?) {
            (End::Transmitter, Some(amount)) => self.sent = Some(amount),
            (End::Receiver, Some(amount)) => self.receives(amount),
            (_, None) => {}
        }
        let percent = line.get("cpu").and_then(|word| word.trim_end_matches('%').parse().ok());
        self.cpu[end as usize] = percent.or(self.cpu[end as usize]);
        self.block = line.whole("buflen")?.or(self.block);
        self.blocks = line.whole("nbuf")?.or(self.blocks);
        self.streams = line.whole("nstream")?.or(self.streams);
        for (place, key, mark) in [(0, "accept", "accept from "), (1, "connect", "connect to ")] {
            let after = line.text.strip_prefix(mark).and_then(|rest| rest.split(' ').next());
            if let Some(address) = line.get(key).or(after) {
                address.clone_into(&mut self.addresses[place]);
            }
        }
        self.common(line)
    }

    /// Reads the summary line.
    fn total(&mut self, line: &Line) -> Result<(), Malformed> {
        self.is_brief = true;
        let cpu = [line.number("tx_cpu")?, line.number("rx_cpu")?];
        match line.amount()? {
            // In classic mode an end reports its own count.
            Some(amount) if cpu[1].is_none() => self.sent = Some(amount),
            Some(amount) => self.receives(amount),
            None => {}
        }
        self.cpu = [cpu[0].or(self.cpu[0]), cpu[1].or(self.cpu[1])];
        self.sent_megabytes = line.number("tx_megabytes")?;
        self.common(line)
    }

    /// Reads the values that both kinds of lines have.
    fn common(&mut self, line: &Line) -> Result<(), Malformed> {
        self.datagrams = line.datagrams()?.or(self.datagrams);
        // The loss is negative if more datagrams arrived than were sent.
        let loss = line.get("data_loss").and_then(|word| word.parse::<f64>().ok());
        self.loss = loss.filter(|loss| loss.is_finite()).or(self.loss);
        self.retransmits = line.whole("retrans")?.or(self.retransmits);
        if let Some(mode) = line.get("mode") {
            self.udp = Some(mode == "udp");
        } else if self.datagrams.is_some() || self.loss.is_some() {
            self.udp = Some(true);
        }
        Ok(())
    }

    fn receives(&mut self, amount: Amount) {
        let first = *self.received.get_or_insert(amount);
        if !agree(first.bytes, amount.bytes, 0.0) {
            let message = "two lines have different amounts for the receiver";
            self.findings.push(contradicts(Severity::Invalid, message));
        }
    }

    /// Returns the figure, or the messages of a run without a figure.
    pub(super) fn figure(mut self, at: usize) -> Result<Result<Figure, Vec<Message>>, Malformed> {
        let Some(amount) = self.received.or(self.sent) else {
            let failed = self.messages.iter().any(|message| message.is_error);
            let part = !failed && !self.intervals.is_empty();
            wrong_if(
                part,
                at,
                "this is a part of a run without its total: give all that nuttcp prints",
            )?;
            let open = !failed && self.first.is_some() && self.block.is_some();
            wrong_if(open, at, "the end of the run is missing")?;
            return Ok(Err(self.messages));
        };
        let udp = self.udp == Some(true);
        let received = self.received.is_some();
        let trial = self.trial(amount, udp, received)?;
        self.compare(udp, &trial);
        let (protocol, paced) = (if udp { "UDP" } else { "TCP" }, received && self.limit.is_some());
        let figure = throughput(protocol, !received, paced, self.params(udp), trial);
        let figure = finite(figure, amount.at)?;
        self.findings.extend(self.messages.iter().map(Message::finding));
        let proof = received.then_some("the receiver counted the bytes");
        Ok(Ok(Figure { proof, findings: self.findings, ..figure }))
    }

    fn params(&self, udp: bool) -> Params {
        let limit = self.limit.map(|bits| bits.round() as u64);
        let whole = self.blocks.zip(self.block).and_then(|(n, bytes)| n.checked_mul(bytes));
        let label = Some(&*self.label).filter(|label| !label.is_empty());
        let direction = |end| if end == End::Transmitter { "forward" } else { "reverse" };
        let params = Params::default()
            .known_named("identifier", label)
            .known(key::STREAMS, self.streams)
            .known(key::BLOCK_SIZE, self.block.or_else(|| self.implied_block()))
            .known(key::DIRECTION, self.first.map(direction))
            .known_named(if udp { key::RATE.name() } else { "rate_limit" }, limit)
            .known(key::AMOUNT, whole.filter(|bytes| *bytes > 0));
        with_path(params, &self.addresses[0], &self.addresses[1])
    }

    /// Returns the bytes of a datagram, if only one size gives the printed amount.
    fn implied_block(&self) -> Option<u64> {
        /// Below this size, the counts may be off by one: nuttcp computes them from rounded bytes.
        const LEAST: f64 = 256.0;
        let amount = self.received?;
        let count = self.datagrams?.received as f64;
        let block = (amount.bytes.value / count).round();
        let certain = count >= 1.0 && 2.0 * amount.bytes.off < count && block >= LEAST;
        (certain && agree(block * count, amount.bytes, 0.0)).then_some(block as u64)
    }

    fn trial(&mut self, amount: Amount, udp: bool, received: bool) -> Result<Trial, Malformed> {
        for each in [self.sent, self.received].into_iter().flatten() {
            if !each.seconds()?.1 {
                let message = format!("line {}: the rate is not the amount over the time", each.at);
                self.findings.push(contradicts(Severity::Invalid, message));
            }
        }
        let (seconds, _) = amount.seconds()?;
        let counted = received && (!udp || self.datagrams.is_some());
        let network = counted.then(|| self.traffic(&amount, seconds));
        Ok(Trial { network, ..Trial::new(Unit::BitPerSecond, amount.bytes.value * 8.0, seconds) })
    }

    fn traffic(&self, amount: &Amount, seconds: f64) -> NetworkTraffic {
        let bytes = amount.bytes.value;
        let counted = self.sent.map(|sent| sent.bytes.value);
        let counted = counted.or(self.sent_megabytes.map(|mb| mb * super::line::MEGABYTE));
        // A TCP receiver reads to the end of the sent bytes.
        let sent = counted.unwrap_or(match self.datagrams {
            Some(d) => bytes * d.sent as f64 / d.received.max(1) as f64,
            None => bytes,
        });
        // The transmitter polls while it is paced, which is the default for UDP.
        let paced = self.limit.is_some() || (self.datagrams.is_some() && self.first.is_none());
        let end = |percent: Option<f64>, retransmits| EndTraffic {
            own_cpu_s: percent.map(|percent| percent / 100.0 * seconds),
            retransmits,
            ..EndTraffic::default()
        };
        let transmitter = end(self.cpu[0].filter(|_| !paced), self.retransmits);
        let receiver = end(self.cpu[1], None);
        let (client, server) = match self.first {
            Some(End::Receiver) => (receiver, transmitter),
            _ => (transmitter, receiver),
        };
        let all = traffic(sent.ceil() as u64, bytes.ceil() as u64, self.datagrams);
        NetworkTraffic { client, server, ..all }
    }

    /// Adds contradictions between the lines, and the finding about the default pace.
    fn compare(&mut self, udp: bool, trial: &Trial) {
        let mut wrong_if = |is_so: bool, message: String| {
            self.findings.extend(is_so.then(|| contradicts(Severity::Suspect, message)));
        };
        // A TCP receiver reads to the end of what is sent.
        let both = self.sent.zip(self.received).filter(|_| !udp);
        let differ = |(sent, received): (Amount, Amount)| {
            !agree(sent.bytes.value, received.bytes.within(sent.bytes.off), 0.0)
        };
        wrong_if(both.is_some_and(differ), "the two ends count other bytes".to_owned());
        if let Some(Datagrams { sent, received, .. }) = self.datagrams {
            let (all, came) = (sent.max(1) as f64, received as f64);
            let share = 100.0 * (1.0 - came / all);
            // The percentage is rounded, and computed from bytes.
            let off = 0.006 + 200.0 / all;
            wrong_if(
                self.loss.is_some_and(|loss| (loss - share).abs() > off),
                "the share of the datagrams lost is not that of their counts".to_owned(),
            );
            let differs = |(amount, block): (Amount, u64)| {
                let block = block as f64;
                !agree(came * block, amount.bytes.within(block), 0.0)
            };
            wrong_if(
                self.received.zip(self.block).is_some_and(differs),
                "the amount is not the number of datagrams times their size".to_owned(),
            );
        }
        if let Some(total) = self.received.filter(|_| !self.intervals.is_empty()) {
            let sum = |of: fn(&Amount) -> f64| self.intervals.iter().map(of).sum::<f64>();
            let (bytes, off) = (total.bytes.value, sum(|a| a.bytes.off) + total.bytes.off);
            let left = bytes - sum(|a| a.bytes.value);
            let is_all = sum(|a| a.printed.value) > 0.98 * total.printed.value;
            wrong_if(
                left < -off || (is_all && left > 0.1 * bytes),
                format!("line {}: the intervals do not add up to the total", total.at),
            );
        }
        let offered = trial.network.as_ref().map(|n| n.sent_bytes as f64 * 8.0 / trial.seconds);
        let default = default_rate(self.limit, offered.unwrap_or(trial.value));
        self.findings.extend(default.filter(|_| udp));
    }
}

/// Returns true for `nuttcp-t: v6.1.2: socket`
fn is_header(line: &Line) -> bool {
    line.text.strip_suffix(": socket").is_some_and(is_version)
}
