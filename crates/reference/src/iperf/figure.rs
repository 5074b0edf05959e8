//! The figure of a run, and contradictions between its lines.

use proofmark_model::{Datagrams, Finding, Severity, Trial, Unit, counted, format_count, key};

use super::line::Amount;
use super::run::{Run, Stream};
use crate::findings::{differ_unless, warned};
use crate::network::{EndpointFigure, default_rate, finite, throughput, traffic, with_path};
use crate::printed::{Rounded, agree};
use crate::text::{need, wrong_if};
use crate::{Figure, Malformed};

impl Run {
    pub(super) fn figure(self, last: usize) -> Result<EndpointFigure, Malformed> {
        let udp = need(
            self.udp,
            last,
            "no line \"Client connecting to\": this is no output of iperf's client",
        )?;
        let failed = self.warnings.keys().find(|w| w.contains(" failed: "));
        let failed = failed.map_or_else(String::new, |w| format!(": {w}"));
        let what = format!("no rate: the test did not run{failed}");
        wrong_if(!self.has_rates(), self.header.unwrap_or(last), &what)?;
        let missing = match self.unreported() {
            1 => "a connection has no rate: give all that the client prints".to_owned(),
            n => format!("{n} connections have no rate: give all that the client prints"),
        };
        wrong_if(self.unreported() > 0, last, &missing)?;
        let by_receiver = udp && self.streams.values().any(|s| !s.received.is_empty());
        let trial = if by_receiver { self.by_receiver(last)? } else { self.counted(last)? };
        let value = trial.value;
        let reverse = self.params.get(key::DIRECTION) == Some("reverse");
        let (protocol, receives) = if udp { ("UDP", by_receiver) } else { ("TCP", reverse) };
        let listed = Some(self.streams.len() as u64).filter(|n| *n > 0);
        let streams = listed.or(self.summed);
        let mut params = self.params.clone().known(key::STREAMS, streams);
        if self.client.is_empty() {
            params = with_path(params, "", &self.server);
        }
        let made = throughput(protocol, !receives, self.paced, params, trial);
        let each = value / streams.unwrap_or(1).max(1) as f64;
        let proof = (!udp && reverse).then_some("iperf's client received the bytes that it counts");
        let findings = (self.accounts().into_iter())
            .chain(self.warnings.iter().map(|(warning, times)| warning_of(warning, *times)))
            .chain(default_rate(self.pace, each).filter(|_| udp))
            .collect();
        let figure = Figure { proof, findings, ..finite(made, last)? };
        Ok(EndpointFigure { client: self.client, server: self.server, figure })
    }

    /// Returns the client's counts.
    fn counted(&self, last: usize) -> Result<Trial, Malformed> {
        let totals: Vec<_> = self.streams.values().map(|s| total(&s.own, last)).collect();
        if !self.sum.is_empty() {
            let sum = total(&self.sum, last)?;
            let longest = totals.iter().flatten().map(|a| a.seconds).fold(sum.seconds, f64::max);
            return Ok(Trial::new(Unit::BitPerSecond, sum.bits, longest));
        }
        let mut all = (0.0, 0.0_f64);
        for stream in totals {
            let stream = stream?;
            let several = self.streams.len() > 1;
            wrong_if(several && !stream.exact, last, "several streams, but no [SUM]")?;
            all = (all.0 + stream.bits, all.1.max(stream.seconds));
        }
        wrong_if(all.0 == 0.0, last, "the rate is zero: nothing was moved")?;
        Ok(Trial::new(Unit::BitPerSecond, all.0, all.1))
    }

    /// Returns the receiver's counts. All datagrams have the same number of bytes, if the client
    /// reports it; otherwise the bytes follow from the rate. The time is the printed one, or that
    /// of the printed rate where this has more digits.
    fn by_receiver(&self, last: usize) -> Result<Trial, Malformed> {
        let mut all = Datagrams { reordered: Some(0), ..Datagrams::default() };
        let (mut bits, mut sent, mut seconds) = (0.0, 0.0, 0.0_f64);
        for stream in self.streams.values() {
            let missing = stream.received.is_empty();
            wrong_if(missing, last, "the server's report of a stream is missing")?;
            let row = total(&stream.received, last)?;
            let d = row.datagrams.unwrap_or_default();
            let each = match self.params.get(key::BLOCK_SIZE) {
                Some(block) => block as f64 * 8.0,
                None => row.bits / d.received.max(1) as f64,
            };
            let own = each * d.received as f64;
            wrong_if(own == 0.0 || row.bits == 0.0, row.at, "the receiver got nothing")?;
            bits += own;
            sent += each * d.sent as f64;
            let at_rate = row.seconds * own / row.bits;
            seconds = seconds.max(if row.timed { row.seconds } else { at_rate });
            all.sent = all.sent.saturating_add(d.sent);
            all.received = all.received.saturating_add(d.received);
            all.reordered = all.reordered.zip(d.reordered).map(|(a, b)| a.saturating_add(b));
        }
        let [sent, received] = [sent, bits].map(|bits| (bits / 8.0).ceil() as u64);
        let network = Some(traffic(sent, received, Some(all)));
        Ok(Trial { network, ..Trial::new(Unit::BitPerSecond, bits, seconds) })
    }

    /// Returns the contradictions between the lines.
    fn accounts(&self) -> Vec<Finding> {
        let mut found = Vec::new();
        for (id, stream) in &self.streams {
            let rows = [&stream.own, &stream.received];
            found.extend(rows.into_iter().filter_map(|rows| parts_and_total(id, rows)));
            found.extend(ends(id, stream, self.params.get(key::BLOCK_SIZE)));
        }
        let streams = self.streams.values().map(|s| Some(s.own.last()?.moved.value));
        let listed = !self.streams.is_empty();
        let sum = self.sum.last().filter(|sum| listed && sum.start == 0.0);
        if let (Some(sum), Some(streams)) = (sum, streams.sum::<Option<f64>>()) {
            found.extend(differ_unless(agree(sum.moved, streams, ROUNDED), || {
                format!(
                    "[SUM] reports {}, but the streams {}",
                    bytes(sum.moved.value),
                    bytes(streams)
                )
            }));
        }
        found
    }
}

/// The relative error of sums of numbers with three digits.
const ROUNDED: f64 = 0.03;
/// The share of a test's time that all of its intervals fill together.
const WHOLE: f64 = 0.99;
/// The datagrams at the end of a test that one of its two counts may omit.
const LAST: u64 = 2;

/// Returns the last of these rows, if it covers the whole test.
fn total(rows: &[Amount], last: usize) -> Result<&Amount, Malformed> {
    let row = need(rows.last(), last, "the report of a stream is missing")?;
    wrong_if(row.start != 0.0, row.at, "this is a part of the test, and no total follows")?;
    Ok(row)
}

fn warning_of(warning: &str, times: u64) -> Finding {
    let times = if times == 1 { String::new() } else { format!(" {}", counted(times, "time")) };
    warned(Severity::Suspect, format!("iperf warns{times}: {warning}"))
}

fn bytes(bits: f64) -> String {
    format!("{} B", format_count((bits / 8.0).round() as u64))
}

/// Compares the intervals of a test with its total.
fn parts_and_total(id: &str, rows: &[Amount]) -> Option<Finding> {
    let (total, parts) = rows.split_last().filter(|(_, parts)| !parts.is_empty())?;
    let sum = |of: fn(&Amount) -> f64| parts.iter().map(of).sum::<f64>();
    let moved = Rounded { value: sum(|a| a.moved.value), off: sum(|a| a.moved.off) };
    let whole = sum(|a| a.seconds) >= WHOLE * total.seconds;
    let less = moved.value < total.moved.value && !whole;
    differ_unless(less || agree(moved, total.moved, ROUNDED), || {
        let [moved, total] = [moved, total.moved].map(|amount| bytes(amount.value));
        format!("the intervals of stream {id} moved {moved}, but its total is {total}")
    })
}

/// Compares the counts of the two ends of a UDP stream.
fn ends(id: &str, stream: &Stream, block: Option<u64>) -> Option<Finding> {
    let received = stream.received.last()?;
    let (d, got) = (received.datagrams?, received.moved);
    let sent = stream.sent.unwrap_or(u64::MAX);
    let own = stream.own.last().map_or(f64::MAX, |own| own.moved.value);
    let counted = block.map(|block| block as f64 * 8.0 * d.received as f64);
    let counts = differ_unless(d.sent <= sent.saturating_add(LAST), || {
        format!("stream {id} sent {sent} datagrams, but its receiver reports {}", d.sent)
    });
    let amounts = || {
        differ_unless(got.value <= (1.0 + ROUNDED) * own, || {
            let [own, got] = [own, got.value].map(bytes);
            format!("stream {id} sent {own}, but its receiver got {got}")
        })
    };
    let sizes = || {
        let counted = counted?;
        differ_unless(agree(counted, got, ROUNDED), || {
            let [counted, got] = [counted, got.value].map(bytes);
            let what = format!("the receiver of stream {id} got {} datagrams", d.received);
            format!("{what} with {counted}, but reports {got}")
        })
    };
    counts.or_else(amounts).or_else(sizes)
}
