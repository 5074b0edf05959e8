//! The client's results of the requests of one connection.

use proofmark_engine::Latencies;
use proofmark_model::{Datagrams, TcpState};

use super::line::Line;
use super::stamp::Wrong;
use super::wire::{Outcome, Report};

#[derive(Debug, Default)]
pub(super) struct Tally {
    /// Iterations since [`Tally::begin`]: those that the results prove, and those requested.
    pub(super) counted: u64,
    pub(super) requested: u64,
    /// Seconds at the end of the last request that only waited for lost datagrams.
    pub(super) idled_s: f64,
    pub(super) latencies: Latencies,
    /// The first block of the trial with a wrong number.
    pub(super) wrong: Option<String>,
    /// The traffic of the trial, including untimed requests.
    pub(super) traffic: Traffic,
}

/// The traffic of a connection.
#[derive(Debug, Default, Clone, Copy, PartialEq)]
pub(super) struct Traffic {
    /// Payload bytes that senders passed to their systems.
    pub(super) sent_bytes: u64,
    /// Payload bytes that receivers got.
    pub(super) received_bytes: u64,
    /// The datagrams (UDP only).
    pub(super) datagrams: Option<Datagrams>,
    /// Start of the last request and end of its work, in nanoseconds on the clock of trials.
    pub(super) span_ns: [u64; 2],
    /// The sender's connection state (TCP only).
    pub(super) state: Option<TcpState>,
}

impl Tally {
    pub(super) fn begin_trial(&mut self) {
        self.wrong = None;
        self.traffic = Traffic::default();
    }

    pub(super) fn begin(&mut self) {
        (self.counted, self.requested, self.idled_s) = (0, 0, 0.0);
        self.latencies.clear();
    }

    pub(super) fn request(&mut self, iterations: u64) {
        (self.requested, self.idled_s) = (self.requested + iterations, 0.0);
    }

    /// Adds bytes that were sent, and bytes that were received.
    pub(super) fn add_bytes(&mut self, sent: u64, received: u64) {
        self.traffic.sent_bytes += sent;
        self.traffic.received_bytes += received;
    }

    /// Adds the datagrams of a request. The jitter is that of the last request.
    pub(super) fn add_datagrams(&mut self, more: Datagrams) {
        let all = self.traffic.datagrams.get_or_insert_default();
        let sum =
            |a: Option<u64>, b: Option<u64>| a.or(Some(0)).zip(b).map(|(a, b)| a.saturating_add(b));
        *all = Datagrams {
            sent: all.sent + more.sent,
            received: all.received + more.received,
            reordered: sum(all.reordered, more.reordered),
            duplicated: sum(all.duplicated, more.duplicated),
            jitter_s: more.jitter_s,
            counted_lost: None,
        };
    }

    /// Waits for the server's report of a request for `count` blocks of `block` bytes.
    pub(super) fn report(
        &mut self,
        line: &Line,
        (count, block): (u64, u64),
    ) -> Result<Report, String> {
        let report = line.report()?;
        if report.blocks > count || report.bytes > count * block {
            return Err(format!(
                "the server reported {} blocks and {} B; the request was {count} blocks of {block} B",
                report.blocks, report.bytes
            ));
        }
        if report.outcome == Outcome::Wrong {
            self.found(Wrong { due: report.due, found: report.found });
        }
        Ok(report)
    }

    /// Records a wrong block, if it is the first.
    pub(super) fn found(&mut self, wrong: Wrong) {
        let Wrong { due, found } = wrong;
        self.wrong.get_or_insert_with(|| format!("block {found} arrived, expected block {due}"));
    }
}

impl Report {
    /// Creates a report of `blocks` blocks of `block` bytes each.
    pub(super) fn count_blocks(blocks: u64, block: u64) -> Self {
        Self { blocks, bytes: blocks * block, ..Self::default() }
    }

    /// Adds the server's state of a connection on which it sends.
    pub(super) fn with_state(self, state: Option<TcpState>) -> Self {
        let Some(state) = state else { return self };
        Self {
            retransmits: state.retransmits,
            window_bytes: state.window_bytes,
            rtt_ns: (state.rtt_s * 1e9) as u64,
            least_rtt_ns: state.least_rtt_s.map_or(0, |s| (s * 1e9) as u64),
            segment_bytes: state.segment_bytes,
            ..self
        }
    }

    /// Returns the server's state of a connection on which it sends.
    pub(super) fn state(&self) -> TcpState {
        TcpState {
            retransmits: self.retransmits,
            window_bytes: self.window_bytes,
            rtt_s: self.rtt_ns as f64 * 1e-9,
            least_rtt_s: Some(self.least_rtt_ns).filter(|ns| *ns > 0).map(|ns| ns as f64 * 1e-9),
            segment_bytes: self.segment_bytes,
        }
    }

    /// Adds the first wrong block, if any.
    pub(super) fn with_wrong(self, wrong: Option<Wrong>) -> Self {
        match wrong {
            Some(Wrong { due, found }) => Self { outcome: Outcome::Wrong, due, found, ..self },
            None => self,
        }
    }
}
