//! One run of nuttcp: what its lines say, put together.

use proofmark_model::{
    Datagrams, EndTraffic, Finding, NetworkTraffic, Params, Severity, Trial, Unit,
};

use super::line::{Amount, End, Line};
use super::{Said, TCP, UDP, is_version};
use crate::network::{figure, finite, with_path};
use crate::text::wrong_if;
use crate::{Figure, Malformed};

/// What has been read of a run.
#[derive(Default)]
pub(super) struct Run {
    pub(super) version: Option<String>,
    label: String,
    /// The end that began first, which is the client's, where the lines of an end are printed.
    first: Option<End>,
    /// Whether each end's lines have begun: the transmitter's, the receiver's.
    begun: [bool; 2],
    sent: Option<Amount>,
    received: Option<Amount>,
    /// Whether there is the one line.
    is_brief: bool,
    intervals: Vec<Amount>,
    udp: Option<bool>,
    datagrams: Option<Datagrams>,
    /// Percent, and the bytes that the transmitter sent, where they are printed.
    loss: Option<f64>,
    sent_megabytes: Option<f64>,
    /// Percent of one CPU, of both ends.
    cpu: [Option<f64>; 2],
    retransmits: Option<u64>,
    /// Bits a second at most (-R).
    limit: Option<f64>,
    block: Option<u64>,
    blocks: Option<u64>,
    streams: Option<u64>,
    /// Addresses of the end that connects, and of the one that accepts.
    addresses: [String; 2],
    said: Vec<Said>,
    findings: Vec<Finding>,
}

impl Run {
    /// Whether a line is of the next run.
    pub(super) fn ends_before(&self, line: &Line) -> bool {
        let both = self.sent.is_some() && self.received.is_some() && self.first.is_some();
        let of_ends = self.begun != [false; 2];
        match line.end {
            None => self.is_brief || both,
            Some(end) if is_header(line) => {
                let begun = self.begun.get(end as usize).is_some_and(|begun| *begun);
                begun || (self.is_brief && !of_ends)
            }
            Some(_) if Said::parse(line).is_some() => both || (self.is_brief && !of_ends),
            Some(_) => false,
        }
    }

    pub(super) fn take(&mut self, line: &Line) -> Result<(), Malformed> {
        if let Some(said) = Said::parse(line) {
            // Each stream says it.
            if !self.said.iter().any(|s| s.words == said.words) {
                let is_within = self.begun != [false; 2];
                self.said.push(Said { is_within, ..said });
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

    /// A line of one end.
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
        let cpu = &mut self.cpu[end as usize];
        let percent = line.get("cpu").map(|word| word.trim_end_matches('%'));
        *cpu = percent.and_then(|word| word.parse().ok()).or(*cpu);
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

    /// The one line.
    fn total(&mut self, line: &Line) -> Result<(), Malformed> {
        self.is_brief = true;
        let cpu = [line.number("tx_cpu")?, line.number("rx_cpu")?];
        match line.amount()? {
            // In classic mode an end says what it counted itself.
            Some(amount) if cpu[1].is_none() => self.sent = Some(amount),
            Some(amount) => self.receives(amount),
            None => {}
        }
        self.cpu = [cpu[0].or(self.cpu[0]), cpu[1].or(self.cpu[1])];
        self.sent_megabytes = line.number("tx_megabytes")?;
        self.common(line)
    }

    /// What both kinds of lines have.
    fn common(&mut self, line: &Line) -> Result<(), Malformed> {
        self.datagrams = line.datagrams()?.or(self.datagrams);
        // It is below zero where more came than were sent.
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
        if let Some(first) = self.received {
            let off = (first.bytes() - amount.bytes()).abs();
            if off > first.rounding() + amount.rounding() {
                let message = "two lines have different amounts of what the receiver read";
                self.findings.push(contradiction(Severity::Invalid, message));
            }
        }
        self.received.get_or_insert(amount);
    }

    /// The figure; of a run that has none what it said.
    pub(super) fn figure(mut self, at: usize) -> Result<Result<Figure, Vec<Said>>, Malformed> {
        let Some(amount) = self.received.or(self.sent) else {
            let failed = self.said.iter().any(|said| said.is_error);
            wrong_if(
                !failed && !self.intervals.is_empty(),
                at,
                "a part of a run, and no total: give all that nuttcp prints",
            )?;
            wrong_if(
                !failed && self.first.is_some() && self.block.is_some(),
                at,
                "no end of a run",
            )?;
            return Ok(Err(self.said));
        };
        let udp = self.udp == Some(true);
        let received = self.received.is_some();
        let trial = self.trial(amount, udp, received)?;
        self.compare(udp, &trial);
        let (test, title) = match (udp, received, self.limit) {
            (true, true, _) => (UDP, "UDP throughput"),
            (true, false, _) => ("UDP.sent", "UDP rate, by the sender"),
            (false, false, _) => ("TCP.sent", "TCP throughput, by the sender"),
            (false, true, Some(_)) => ("TCP.paced", "TCP throughput, paced"),
            (false, true, None) => (TCP, "TCP throughput"),
        };
        let params = self.params(udp);
        let figure = finite(figure(test, title, Unit::BitPerSecond, params, trial), amount.at)?;
        self.findings.extend(self.said.iter().map(Said::finding));
        let proof = received.then_some("the receiver counted the bytes");
        Ok(Ok(Figure { proof, findings: self.findings, ..figure }))
    }

    fn params(&self, udp: bool) -> Params {
        let limit = self.limit.map(|bits| bits.round() as u64);
        let whole = self.blocks.zip(self.block).and_then(|(n, bytes)| n.checked_mul(bytes));
        let label = Some(&*self.label).filter(|label| !label.is_empty());
        let direction = |end| if end == End::Transmitter { "forward" } else { "reverse" };
        let params = Params::default()
            .known("identifier", label)
            .known("streams", self.streams)
            .known("block_size", self.block.or_else(|| self.implied_block()))
            .known("direction", self.first.map(direction))
            .known(if udp { "rate" } else { "rate_limit" }, limit)
            .known("amount", whole.filter(|bytes| *bytes > 0));
        with_path(params, &self.addresses[0], &self.addresses[1])
    }

    /// Bytes of a datagram, where only one size gives the printed amount.
    fn implied_block(&self) -> Option<u64> {
        /// Below this the counts, which follow from rounded bytes, may be off by one.
        const LEAST: f64 = 256.0;
        let amount = self.received?;
        let count = self.datagrams?.received as f64;
        let block = (amount.bytes() / count).round();
        let certain = count >= 1.0 && 2.0 * amount.rounding() < count && block >= LEAST;
        let agrees = (block * count - amount.bytes()).abs() <= 1.01 * amount.rounding();
        (certain && agrees).then_some(block as u64)
    }

    fn trial(&mut self, amount: Amount, udp: bool, received: bool) -> Result<Trial, Malformed> {
        for each in [self.sent, self.received].into_iter().flatten() {
            let (_, agrees) = each.seconds()?;
            if !agrees {
                let message = format!("line {}: the rate is not the amount over the time", each.at);
                self.findings.push(contradiction(Severity::Invalid, &message));
            }
        }
        let (seconds, _) = amount.seconds()?;
        let mut trial = Trial::new(Unit::BitPerSecond, amount.bytes() * 8.0, seconds);
        if received && (!udp || self.datagrams.is_some()) {
            trial.network = Some(self.traffic(&amount, seconds));
        }
        Ok(trial)
    }

    fn traffic(&self, amount: &Amount, seconds: f64) -> NetworkTraffic {
        let bytes = amount.bytes();
        let counted = self.sent.map(|sent| sent.bytes());
        let counted = counted.or(self.sent_megabytes.map(|mb| mb * super::line::MEGABYTE));
        // Of TCP the receiver reads to the end of what was sent.
        let sent = counted.unwrap_or(match self.datagrams {
            Some(d) => bytes * d.sent as f64 / d.received.max(1) as f64,
            None => bytes,
        });
        // The transmitter polls while it is paced, as it is by default with UDP.
        let paced = self.limit.is_some() || (self.datagrams.is_some() && self.first.is_none());
        let own = |percent: Option<f64>| percent.map(|percent| percent / 100.0 * seconds);
        let ends = [
            EndTraffic {
                own_cpu_s: own(self.cpu[0]).filter(|_| !paced),
                retransmits: self.retransmits,
                ..EndTraffic::default()
            },
            EndTraffic { own_cpu_s: own(self.cpu[1]), ..EndTraffic::default() },
        ];
        let [transmitter, receiver] = ends;
        let (client, server) = match self.first {
            Some(End::Receiver) => (receiver, transmitter),
            _ => (transmitter, receiver),
        };
        NetworkTraffic {
            sent_bytes: sent.ceil() as u64,
            received_bytes: bytes.ceil() as u64,
            datagrams: self.datagrams,
            client,
            server,
            ..NetworkTraffic::default()
        }
    }

    /// What the lines say twice, and the default pace.
    fn compare(&mut self, udp: bool, trial: &Trial) {
        if let Some(Datagrams { sent, received, .. }) = self.datagrams {
            let (all, came) = (sent.max(1) as f64, received as f64);
            let share = 100.0 * (1.0 - came / all);
            // Percent and counts are rounded, and of bytes.
            let rounding = 0.006 + 200.0 / all;
            if self.loss.is_some_and(|loss| (loss - share).abs() > rounding) {
                let message = "the share of the datagrams lost is not that of their counts";
                self.findings.push(contradiction(Severity::Suspect, message));
            }
            let off = self.received.zip(self.block).is_some_and(|(amount, block)| {
                (came * block as f64 - amount.bytes()).abs() > block as f64 + amount.rounding()
            });
            if off {
                let message = "the amount is not that of so many datagrams of that size";
                self.findings.push(contradiction(Severity::Suspect, message));
            }
        }
        if let Some(total) = self.received.filter(|_| self.exceeded_by_intervals()) {
            let message = format!("line {}: the intervals do not add up to the total", total.at);
            self.findings.push(contradiction(Severity::Suspect, &message));
        }
        let offered = trial.network.as_ref().map(|n| n.sent_bytes as f64 * 8.0 / trial.seconds);
        let offered = self.limit.or(offered).unwrap_or(trial.value);
        if udp && DEFAULT_PACE.contains(&offered) {
            self.findings.push(
                Finding::new(
                    "udp_default_rate",
                    Severity::Invalid,
                    "the rate is nuttcp's default for UDP, 1 Mbit/s",
                    "set another pace (-R), or none (-Ru)",
                )
                .with("rate_bit_per_s", offered),
            );
        }
    }

    /// Whether the intervals are more than the total, or far less in as much time.
    fn exceeded_by_intervals(&self) -> bool {
        let Some(total) = self.received.filter(|_| !self.intervals.is_empty()) else {
            return false;
        };
        let sum = |of: fn(&Amount) -> f64| self.intervals.iter().map(of).sum::<f64>();
        let rounding = sum(Amount::rounding) + total.rounding();
        let (bytes, left) = (total.bytes(), total.bytes() - sum(Amount::bytes));
        let seconds = total.printed_seconds();
        let is_all = sum(Amount::printed_seconds) > 0.98 * seconds;
        left < -rounding || (is_all && left > 0.1 * bytes)
    }
}

/// What nuttcp sends of UDP unless told otherwise, in bits a second, as it comes out.
const DEFAULT_PACE: std::ops::RangeInclusive<f64> = 0.995e6..=1.055e6;

/// `nuttcp-t: v6.1.2: socket`
fn is_header(line: &Line) -> bool {
    line.text.strip_suffix(": socket").is_some_and(is_version)
}

fn contradiction(severity: Severity, message: &str) -> Finding {
    Finding::new("two_accounts", severity, message, "repeat the run, and import its whole output")
}
