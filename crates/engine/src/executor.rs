//! The executors of configurations: threads of the worker (`CpuTeam`) or another process
//! ([`crate::HelperProcess`]). The worker calls one per trial, through a trait.
//!
//! An executor reports the conditions that its resource has. A device has no steal time, core clock
//! or pinned CPUs: these stay null, and the checks that need them do not apply.

use proofmark_model::{Trial, Unit};

use crate::cutting::Cutting;
use crate::latency::Latencies;
use crate::protocol::Reply;

/// Times the trials of one configuration.
pub trait Executor {
    /// Runs one trial. Part i of the load does `shares[i]` iterations, after `ahead` untimed ones.
    fn trial(&self, shares: &[u64], ahead: u64) -> Result<ExecutorTrial, Reply>;

    /// Runs a trial directly after another one, without any preparation that can be left out.
    fn next_part(&self, shares: &[u64]) -> Result<ExecutorTrial, Reply> {
        self.trial(shares, 0)
    }

    /// Runs a trial in slices. Fails if the executor cannot cut one.
    fn sliced(&self, _: &SlicedTrial) -> Result<ExecutorTrial, Reply> {
        Err(Reply::Refused("what times this workload cannot cut a trial into slices".to_owned()))
    }

    /// Under a CPU quota that limits the load: seconds of the whole periods, at least `periods`,
    /// that a timed part of at least `seconds` takes. `None` without such a quota.
    fn whole_periods_s(&self, _seconds: f64, _periods: u32) -> Option<f64> {
        None
    }
}

/// The amount of work of a trial in slices.
#[derive(Debug, Clone)]
pub(crate) enum SlicedAmount {
    /// The work that fits into this many seconds.
    Seconds(f64),
    /// Iterations of each thread, and the approximate seconds that they take.
    Iterations(Vec<u64>, f64),
}

impl SlicedAmount {
    /// Seconds of the timed part; approximate for a fixed amount.
    pub(crate) fn seconds(&self) -> f64 {
        let (Self::Seconds(seconds) | Self::Iterations(_, seconds)) = self;
        *seconds
    }

    /// Iterations of a thread, if their number is fixed.
    pub(crate) fn iterations(&self, thread: usize) -> Option<u64> {
        match self {
            Self::Seconds(_) => None,
            Self::Iterations(shares, _) => shares.get(thread).copied(),
        }
    }

    pub(crate) fn is_fixed(&self) -> bool {
        matches!(self, Self::Iterations(..))
    }
}

/// The request for a trial in slices.
#[derive(Debug, Clone)]
pub struct SlicedTrial {
    /// Number of parts of the load that share the work. The others load the machine meanwhile.
    pub(crate) workers: usize,
    pub(crate) amount: SlicedAmount,
    pub(crate) cutting: Cutting,
    /// Seconds of untimed slices before the timed part.
    pub(crate) ahead_s: f64,
    /// Unit of the rounds' figures.
    pub(crate) unit: Unit,
    pub(crate) work_per_iteration: f64,
}

/// A trial as an executor returns it. The workload and the worker add their data.
#[derive(Debug, Clone)]
pub struct ExecutorTrial {
    /// The data that do not depend on the workload: time and conditions.
    pub known: Trial,
    /// The first start, in seconds on CLOCK_MONOTONIC_RAW.
    pub from: f64,
    /// Iterations that the load claims to have run.
    pub claimed: u64,
    /// Iterations that the verified results prove.
    pub counted: u64,
    /// Iterations within the trial's time. Of the last slices, which reach beyond it, only that
    /// part counts.
    pub within: f64,
    /// Seconds of an undisturbed iteration, on the slowest thread; `None` if the trial was not cut
    /// into slices, or into too few.
    pub each_s: Option<f64>,
    /// Times of single operations, if the workload reports them.
    pub latencies: Latencies,
}
