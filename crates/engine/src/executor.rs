//! What times a configuration: threads of the worker (`CpuTeam`) or another process
//! ([`crate::HelperProcess`]). The worker calls it once a trial and knows of neither.
//!
//! An executor fills in those conditions of a trial that its resource has. A device has no steal
//! time, core clock or pinned CPUs: these stay null, and the checks that ask for them are silent.

use proofmark_model::{Trial, Unit};

use crate::cutting::Cutting;
use crate::latency::Latencies;
use crate::protocol::Reply;

/// Times the trials of one configuration.
pub trait Executor {
    /// Runs one trial: part i of the load does `shares[i]` iterations, after `ahead` untimed ones.
    fn trial(&self, shares: &[u64], ahead: u64) -> Result<ExecutorTrial, Reply>;

    /// Runs a trial right after another one, with nothing between that can be left out.
    fn next_part(&self, shares: &[u64]) -> Result<ExecutorTrial, Reply> {
        self.trial(shares, 0)
    }

    /// Runs a trial in slices: only where the workload's pace lets it be cut.
    fn sliced(&self, _: &SlicedTrial) -> Result<ExecutorTrial, Reply> {
        Err(Reply::Refused("what times this workload cannot cut a trial into slices".to_owned()))
    }

    /// Seconds of a timed part of so many seconds or more: under a CPU quota that limits it whole
    /// periods, at least so many; `None` without one.
    fn whole_periods_s(&self, _seconds: f64, _periods: u32) -> Option<f64> {
        None
    }
}

/// How much work a trial in slices has.
#[derive(Debug, Clone)]
pub(crate) enum SlicedAmount {
    /// As much as fits into this many seconds.
    Seconds(f64),
    /// So many iterations of each thread, which take about so many seconds.
    Iterations(Vec<u64>, f64),
}

impl SlicedAmount {
    /// Seconds of the timed part, of a fixed amount about.
    pub(crate) fn seconds(&self) -> f64 {
        let (Self::Seconds(seconds) | Self::Iterations(_, seconds)) = self;
        *seconds
    }

    /// Iterations of a thread, where their number is fixed.
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

/// What a trial in slices is made of.
#[derive(Debug, Clone)]
pub struct SlicedTrial {
    /// Parts of the load that share the work; the others load the machine meanwhile.
    pub(crate) workers: usize,
    pub(crate) amount: SlicedAmount,
    pub(crate) cutting: Cutting,
    /// Seconds of untimed slices ahead of it.
    pub(crate) ahead_s: f64,
    /// Of its rounds.
    pub(crate) unit: Unit,
    pub(crate) work_per_iteration: f64,
}

/// A trial as an executor hands it over: the workload and the worker add what they know.
#[derive(Debug, Clone)]
pub struct ExecutorTrial {
    /// What is known of it without the workload: its time, its conditions, and what went on meanwhile.
    pub known: Trial,
    /// The first start, in seconds on CLOCK_MONOTONIC_RAW.
    pub from: f64,
    /// Iterations that were run, by its own account.
    pub claimed: u64,
    /// Iterations that the verified results prove.
    pub counted: u64,
    /// Iterations within the trial's time: of slices, the last of which reach beyond it, a part.
    pub within: f64,
    /// Seconds that an iteration took when nothing was taken from it, on the slowest thread; `None`
    /// where the trial was not cut into slices, or into too few.
    pub each_s: Option<f64>,
    /// Times of single operations, where the workload reports them.
    pub latencies: Latencies,
}
