//! How a trial is cut into slices, and how much room their logs have.

use proofmark_model::Cut;

use crate::chain::Chain;

/// How a trial is cut.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Cutting {
    pub(crate) cut: Cut,
    /// Rounds of a trial, at least; `None`: one, however long it is.
    pub(crate) least_rounds: Option<u32>,
    /// Iterations of a slice.
    pub(crate) slice: u64,
    /// About how long one takes.
    pub(crate) slice_s: f64,
    /// Bytes of a thread's logs at most.
    pub(crate) bytes: usize,
}

/// Longest slice: shorter than what is taken from a thread at once, and a thousand times what
/// reading the time takes.
pub(crate) const SLICE_S: f64 = 20e-6;

/// Slices of a trial of usual length; those of longer ones are longer, so that logs stay small.
pub(crate) const MOST_SLICES: f64 = 250_000.0;

/// No iteration takes less.
const LEAST_S: f64 = 1e-12;

/// Bytes of the logs of all threads of a worker, whatever an estimate says and however many threads
/// there are.
pub(crate) const MOST_BYTES: usize = 64 << 20;

/// Logs that a thread has at a time: that of the timed slices, and those of untimed ones, of which there
/// may be two.
const LOGS: usize = 3;

/// A log has room for this many times the slices that are due, so that slices stay as long as they
/// are where a core speeds up.
pub(crate) const SPARE: f64 = 4.0;

/// Entries that a log has room for in any case.
pub(crate) const LEAST_ROOM: usize = 16;

/// Times that slices get twice as long at most: so often does a number fit into 64 bits.
pub(crate) const MOST_DOUBLED: usize = u64::BITS as usize;

/// A reading of the core's clock, in ticks: by which chain, when the slice before it ended, when the chain
/// began and ended, and the cycles that has; and of how many instructions the core issues, which ends it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Reading {
    pub(crate) chain: Chain,
    pub(crate) after: u64,
    pub(crate) from: u64,
    pub(crate) chained: u64,
    pub(crate) cycles: u64,
    pub(crate) instructions: u64,
    pub(crate) to: u64,
}

impl Cutting {
    /// Of trials of `seconds` where `filling` iterations of a thread take `filling_s`.
    pub(crate) fn new(
        (cut, least_rounds): (Cut, Option<u32>),
        seconds: f64,
        (filling, filling_s): (u64, f64),
    ) -> Self {
        let each_s = filling_s / filling.max(1) as f64;
        let cutting = Self { cut, least_rounds, slice: 1, slice_s: each_s, bytes: MOST_BYTES };
        cutting.fitted(each_s, seconds)
    }

    /// The same for one of so many threads, which share the room for logs.
    pub(crate) fn of_threads(self, threads: usize) -> Self {
        Self { bytes: MOST_BYTES / threads.max(1), ..self }
    }

    /// The same for iterations that take so long, in a trial of so many seconds.
    pub(crate) fn fitted(self, each_s: f64, seconds: f64) -> Self {
        let most_slices = MOST_SLICES.min(self.most_room().0 as f64 / SPARE);
        let goal_s = SLICE_S.max(seconds / most_slices);
        let each_s = each_s.max(LEAST_S);
        let slice = ((goal_s / each_s) as u64).max(1);
        Self { slice, slice_s: slice as f64 * each_s, ..self }
    }

    /// Slices and readings that one log has room for at most: three quarters and a quarter of its
    /// bytes.
    pub(crate) fn most_room(&self) -> (usize, usize) {
        let quarter = (self.bytes / LOGS).saturating_sub(size_of::<[usize; MOST_DOUBLED]>()) / 4;
        let fit = |bytes: usize, each: usize| (bytes / each).max(LEAST_ROOM);
        (fit(3 * quarter, size_of::<u64>()), fit(quarter, size_of::<Reading>()))
    }

    /// Iterations of the slices that are begun within so many seconds; of one at least.
    pub(crate) fn iterations_in(&self, seconds: f64) -> u64 {
        ((seconds / self.slice_s).ceil() as u64).max(1).saturating_mul(self.slice)
    }
}
