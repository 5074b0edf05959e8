//! What a workload must offer so that it can be timed.
//!
//! The engine calls, in this order: [`Workload::resolve_auto`], [`Workload::supports_on`] and
//! [`Workload::memory_bytes`] while planning;
//! [`Workload::supports`] and [`Workload::setup`] once in the worker process; [`Setup::thread`] on
//! each thread; then for each trial [`Setup::begin_trial`], [`Load::prepare`], [`Load::run`] ahead
//! (untimed), [`Load::begin`], [`Load::run`] (timed) as often as the trial has slices,
//! [`Load::verify`], and what a setup knows of the trial ([`Setup::file`], [`Setup::network`]).
//! Dropping a value is its tear-down.

use std::sync::atomic::AtomicBool;

use proofmark_model::{
    CpuPairSeen, FileState, Host, NetworkTraffic, Params, Policy, Solution, WorkloadSpec,
};

use crate::chain::Chain;
use crate::clock_samples::ClockSamples;
use crate::executor::Executor;
use crate::latency::Latencies;
use crate::protocol::Reply;
use crate::touched::Visits;

/// Why a workload cannot run a point here, in words for a person.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Refusal(pub String);

impl From<Refusal> for Reply {
    fn from(Refusal(reason): Refusal) -> Self {
        Self::Refused(reason)
    }
}

/// One workload.
pub trait Workload: Sync {
    /// What it declares about itself.
    fn spec(&self) -> &'static WorkloadSpec;

    /// Sets the parameters that were left to the machine ([`proofmark_model::AUTO`]). What was left
    /// open may be several numbers, such as one with a cold cache and one with a warm one.
    fn resolve_auto(&self, params: Params, _host: &Host) -> Vec<Params> {
        vec![params]
    }

    /// Bytes of memory that the point's data takes, over all threads. Where they are
    /// too many, the parameter that is a size left to the machine is made smaller.
    fn memory_bytes(&self, _params: &Params) -> u64 {
        0
    }

    /// What points have in common that use the same memory; `None`: it shares none.
    fn shared_memory(&self, _params: &Params) -> Option<String> {
        None
    }

    /// Bytes of files that the point makes, treated alike.
    fn disk_bytes(&self, _params: &Params) -> u64 {
        0
    }

    /// Share of the bytes it moves, once set up, that it writes to the disk: 0 to 1.
    fn disk_write_share(&self, _params: &Params) -> f64 {
        0.0
    }

    /// Whether this machine can run the point, or why not. Cheap; allocates nothing large.
    fn supports(&self, params: &Params) -> Result<(), Refusal>;

    /// Whether that host can, as far as it reports: asked while planning.
    fn supports_on(&self, params: &Params, _host: &Host) -> Result<(), Refusal> {
        self.supports(params)
    }

    /// Makes what all threads of the point share.
    fn setup(&self, params: &Params) -> Result<Box<dyn Setup>, Refusal>;

    /// Who else counts the work: what [`Load::verify`] compares, in a few words.
    fn verification(&self) -> &'static str {
        "checked arithmetic"
    }

    /// Estimated seconds of a trial's timed part, where the amount of work is fixed.
    fn nominal_seconds(&self, _params: &Params) -> Option<f64> {
        None
    }

    /// Estimated seconds of a trial under this policy, for a point's share of the budget.
    fn trial_seconds(&self, params: &Params, policy: &Policy) -> f64 {
        let nominal = self.nominal_seconds(params).map(|s| s.max(SHORTEST_S));
        nominal.unwrap_or(policy.trial_s_for(&self.spec().id))
    }
}

/// Least seconds of a trial: making its data, warming the cores, checking what came out.
const SHORTEST_S: f64 = 0.03;

/// How much work a trial holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Amount {
    /// As many iterations as fill the policy's least duration; the engine calibrates.
    Calibrated,
    /// This many iterations in all, divided among the threads (strong scaling).
    Total(u64),
    /// One iteration a thread: together they do one thing of which no part can be had.
    Whole,
}

/// What all threads of a point share.
pub trait Setup: Send + Sync {
    /// How much work a trial holds.
    fn amount(&self) -> Amount {
        Amount::Calibrated
    }

    /// Units of work (operations, bytes, bits) in one iteration of one thread.
    fn work_per_iteration(&self) -> f64;

    /// Bytes that the hardware must carry for one iteration, where the workload moves any.
    fn moved_per_iteration(&self) -> Option<f64> {
        None
    }

    /// Threads for what the parameters ask of them, such as two a stream that goes both ways.
    fn threads(&self, asked: u64) -> u64 {
        asked
    }

    /// Of so many threads, how many work; those with the highest numbers [`Load::disturb`] them.
    fn workers(&self, threads: u64) -> u64 {
        threads
    }

    /// CPUs to pin threads to, in order, of those that may be used.
    fn cpus(&self, usable: &[u32]) -> Vec<u32> {
        usable.to_vec()
    }

    /// Whether it works on the disk of the worker's folder: its devices' counters verify it then.
    fn on_disk(&self) -> bool {
        false
    }

    /// The state of the point's file, asked after each trial.
    fn file(&self) -> Option<FileState> {
        None
    }

    /// Called before each trial, and before what comes ahead of it; not timed. Refuses where there
    /// can be no trial, such as with a server that is gone.
    fn begin_trial(&self) -> Result<(), Refusal> {
        Ok(())
    }

    /// What both ends of the network say of all since [`Setup::begin_trial`], asked after
    /// each trial; or why that is not known, where it must be.
    fn network(&self) -> Result<Option<NetworkTraffic>, Refusal> {
        Ok(None)
    }

    /// What the workload says of the solution that the last trial found.
    fn solution(&self) -> Option<Solution> {
        None
    }

    /// How far the CPUs of its threads are from each other, as the workload saw before the last trial.
    fn pairs(&self) -> Vec<CpuPairSeen> {
        Vec::new()
    }

    /// Seconds that each thread works, untimed, right before a trial that lasts
    /// `trial_s`; by default longer than a core takes to change its clock for wide vectors.
    fn ahead_s(&self, trial_s: f64) -> f64 {
        AHEAD_S.min(trial_s / 8.0)
    }

    /// Iterations of each thread that must run, untimed, before a trial in slices, besides the time
    /// that a core's clock takes: so many that no cache holds what other loads left there.
    fn ahead_iterations(&self) -> u64 {
        0
    }

    /// Whether each thread is pinned to a CPU. Threads that wait for a device are better
    /// off where its interrupts arrive, which the scheduler knows.
    fn pinned(&self) -> bool {
        true
    }

    /// Where the configuration's memory is, asked after each trial.
    fn placement(&self) -> Placement {
        Placement::default()
    }

    /// What times the configuration instead of the threads of the worker, where something does.
    fn executor(&self) -> Result<Option<Box<dyn Executor>>, Refusal> {
        Ok(None)
    }

    /// Makes one thread's part, on that thread: memory is first touched where it is used.
    fn thread(&self, _index: usize, _of: usize) -> Result<Box<dyn Load>, Refusal> {
        Err(Refusal("no thread of the worker does this work".to_owned()))
    }
}

/// See [`Setup::ahead_s`], in seconds.
pub const AHEAD_S: f64 = 3e-3;

/// Where memory is. `None`: the system does not report it, or the workload has none.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Placement {
    /// Share of it that huge pages back, 0 to 1.
    pub huge: Option<f64>,
    /// Share of it on another NUMA node than it should, 0 to 1.
    pub misplaced: Option<f64>,
}

/// One thread's part of the work.
pub trait Load {
    /// Makes ready what about this many iterations need. Not timed. All runs up to [`Load::verify`] may
    /// together do more or fewer, by any factor: nothing that is measured may depend on this number.
    fn prepare(&mut self, _iterations: u64) {}

    /// What is verified begins here: [`Load::verify`] counts the iterations of all runs since.
    /// Not timed. What ran ahead of it leaves the data, the caches and the core as they are in use.
    fn begin(&mut self) {}

    /// Does exactly this many iterations, which go on where the last run ended. This is what is
    /// timed, and may be called thousands of times in a trial: no allocation, no printing, no
    /// system call other than those that are the work, and beyond the work no more than a few
    /// loads and stores.
    fn run(&mut self, iterations: u64);

    /// Why the system did not let a [`Load::run`] do its work, such as a full disk.
    fn failure(&mut self) -> Option<String> {
        None
    }

    /// Seconds at the end of the last [`Load::run`] in which no work was done any more, as
    /// when a receiver waits for what was lost; not part of the trial's time.
    fn idled_s(&mut self) -> f64 {
        0.0
    }

    /// Adds the times of the single operations of all runs since [`Load::begin`] to `all`, where
    /// the workload times them: in [`Latencies::ready`] ones, made before the first run.
    fn latencies(&mut self, _all: &mut Latencies) {}

    /// Runs that chain for about `cycles` cycles, among instructions that are as heavy on the core as
    /// the load's; returns its cycles. `None`: the load does not
    /// lower a core's clock, so that a plain chain measures it, or has [`Load::clock_samples`].
    fn clock_chain(&mut self, _chain: Chain, _cycles: u64) -> Option<u64> {
        None
    }

    /// Which places of memory all runs so far visited, as the load's own cursor has it.
    /// [`Load::verify`] proves them. `None`: it visits none, or in no order that comes again.
    fn visits(&self) -> Option<Visits> {
        None
    }

    /// The clock as the load read it in the runs since [`Load::begin`]: better than what is read
    /// before and after.
    fn clock_samples(&self) -> Option<&ClockSamples> {
        None
    }

    /// Loads the machine until asked to stop, without a share of the work; returns the bytes moved.
    fn disturb(&mut self, _stop: &AtomicBool) -> f64 {
        0.0
    }

    /// Checks the results of all runs since [`Load::begin`] and counts the iterations that they
    /// prove, independently of what `run` was asked; else what was expected and what came out.
    fn verify(&mut self) -> Result<u64, String>;
}
