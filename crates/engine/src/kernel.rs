//! What a workload must offer so that it can be timed.
//!
//! The engine calls, in this order: [`Kernel::supports`] while planning;
//! [`Kernel::setup`] once in the worker process; [`Setup::thread`] on each pinned
//! thread; then for each trial [`Load::run`] (timed) and [`Load::verify`] (not
//! timed). Dropping a value is its tear-down.

use proofmark_model::{KernelSpec, Params};

/// Why a kernel cannot run a point here, in words for a person.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Refusal(pub String);

/// One workload.
pub trait Kernel: Sync {
    /// What it declares about itself.
    fn spec(&self) -> &'static KernelSpec;

    /// Whether this machine can run the point. Cheap; allocates nothing large.
    ///
    /// # Errors
    /// Why not, such as `this CPU has no avx512`.
    fn supports(&self, params: &Params) -> Result<(), Refusal>;

    /// Makes what all threads of the point share.
    ///
    /// # Errors
    /// Why it cannot be made.
    fn setup(&self, params: &Params) -> Result<Box<dyn Setup>, Refusal>;

    /// Who else counts the work: what [`Load::verify`] compares, in a few words.
    fn witness(&self) -> &'static str {
        "checked arithmetic"
    }

    /// About how long one trial takes, in seconds, where the amount of work is
    /// fixed and so the policy's duration does not tell. For estimates only.
    fn nominal_seconds(&self, _params: &Params) -> Option<f64> {
        None
    }
}

/// How much work a trial holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Amount {
    /// As many iterations as fill the policy's least duration; the engine calibrates.
    Calibrated,
    /// This many iterations in all, divided among the threads (strong scaling).
    Total(u64),
}

/// What all threads of a point share.
pub trait Setup: Send + Sync {
    /// How much work a trial holds.
    fn amount(&self) -> Amount;

    /// Units of work (operations, bytes, bits) in one iteration of one thread.
    fn work_per_iteration(&self) -> f64;

    /// Makes one thread's part. Runs on that thread, already pinned, so that
    /// memory is first touched where it is used.
    ///
    /// # Errors
    /// Why it cannot be made.
    fn thread(&self, index: usize, of: usize) -> Result<Box<dyn Load>, Refusal>;
}

/// One thread's part of the work.
pub trait Load {
    /// Does exactly this many iterations. This is what is timed: no allocation,
    /// no system call, no printing.
    fn run(&mut self, iterations: u64);

    /// Runs a chain of dependent one-cycle instructions for about `cycles` cycles,
    /// among instructions that are as heavy on the core as the load's; returns the
    /// cycles that it took by the chain's own count. `None`: the load does not
    /// lower a core's clock, and a plain chain tells it.
    fn clock_chain(&mut self, _cycles: u64) -> Option<u64> {
        None
    }

    /// Checks the results of the last [`Load::run`] and counts the iterations
    /// that they prove, independently of what `run` was asked.
    ///
    /// # Errors
    /// What was expected and what came out.
    fn verify(&mut self) -> Result<u64, String>;
}
