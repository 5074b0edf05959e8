//! The cutting of a trial into slices, and the room for their logs.

use proofmark_model::Cut;

use crate::chain::Chain;

/// The cutting of a trial.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Cutting {
    pub(crate) cut: Cut,
    /// Minimum rounds of a trial; `None`: one, however long it is.
    pub(crate) least_rounds: Option<u32>,
    /// Iterations per slice.
    pub(crate) slice: u64,
    /// Approximate seconds of a slice.
    pub(crate) slice_s: f64,
    /// Maximum bytes of a thread's logs.
    pub(crate) bytes: usize,
}

/// Target seconds of a slice: shorter than typical gaps, and a thousand times the cost of reading
/// the time.
pub(crate) const SLICE_S: f64 = 20e-6;

/// Maximum number of slices in a trial. Slices of longer trials are longer, so that logs stay
/// small.
pub(crate) const MAX_SLICES: f64 = 250_000.0;

/// Lower bound for the seconds of an iteration.
const MIN_S: f64 = 1e-12;

/// Maximum bytes of the logs of a worker, for any estimate and any number of threads.
pub(crate) const MAX_BYTES: usize = 64 << 20;

/// Logs that a thread has at once: one for the timed slices, and up to two for untimed ones.
const LOGS: usize = 3;

/// Capacity of a log as a multiple of the slices that are due, so that slices keep their length if
/// a core speeds up.
pub(crate) const SPARE: f64 = 4.0;

/// Minimum capacity of a log, in entries.
pub(crate) const MIN_ROOM: usize = 16;

/// Maximum number of times that slices double, as the iterations have 64 bits.
pub(crate) const MAX_DOUBLED: usize = u64::BITS as usize;

/// A reading of the core's clock and issue width, in ticks. The slice before it ended at `after`.
/// The chain ran from `from` to `chained` and has `cycles`. Then the core issued `instructions`
/// until `to`.
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
    /// The cutting of trials of `seconds`, if `filling` iterations of a thread take `filling_s`.
    pub(crate) fn new(
        (cut, least_rounds): (Cut, Option<u32>),
        seconds: f64,
        (filling, filling_s): (u64, f64),
    ) -> Self {
        let each_s = filling_s / filling.max(1) as f64;
        let cutting = Self { cut, least_rounds, slice: 1, slice_s: each_s, bytes: MAX_BYTES };
        cutting.fitted(each_s, seconds)
    }

    /// The cutting for one of this many threads, which share the room for logs.
    pub(crate) fn for_threads(self, threads: usize) -> Self {
        Self { bytes: MAX_BYTES / threads.max(1), ..self }
    }

    /// The cutting for iterations that take `each_s`, in a trial of `seconds`.
    pub(crate) fn fitted(self, each_s: f64, seconds: f64) -> Self {
        let most_slices = MAX_SLICES.min(self.most_room().0 as f64 / SPARE);
        let goal_s = SLICE_S.max(seconds / most_slices);
        let each_s = each_s.max(MIN_S);
        let slice = ((goal_s / each_s) as u64).max(1);
        Self { slice, slice_s: slice as f64 * each_s, ..self }
    }

    /// Maximum numbers of slices and readings in one log: three quarters and one quarter of its
    /// bytes.
    pub(crate) fn most_room(&self) -> (usize, usize) {
        let quarter = (self.bytes / LOGS).saturating_sub(size_of::<[usize; MAX_DOUBLED]>()) / 4;
        let fit = |bytes: usize, each: usize| (bytes / each).max(MIN_ROOM);
        (fit(3 * quarter, size_of::<u64>()), fit(quarter, size_of::<Reading>()))
    }

    /// Iterations of the slices that begin within this many seconds; at least one slice.
    pub(crate) fn iterations_in(&self, seconds: f64) -> u64 {
        ((seconds / self.slice_s).ceil() as u64).max(1).saturating_mul(self.slice)
    }
}
