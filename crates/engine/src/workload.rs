//! What a workload must offer so that it can be timed.
//!
//! While planning, the run calls [`Workload::resolve_auto`], [`Workload::configure`],
//! [`Configuration::supports_on`] and [`Configuration::needs`]. The worker process calls
//! [`Workload::configure`] and [`Configuration::setup`] once, [`Setup::thread`] on each thread, and
//! for each trial [`Setup::begin_trial`], [`Load::prepare`], [`Load::run`] ahead (untimed),
//! [`Load::begin`], [`Load::run`] (timed) once per slice, [`Load::verify`], and what the setup knows
//! of the trial ([`Setup::file`], [`Setup::network`]). Dropping a value is its tear-down.

use std::sync::atomic::AtomicBool;

use proofmark_model::{
    CpuPairSeen, FileState, Host, NetworkTraffic, Params, Solution, WorkloadSpec,
};

use crate::chain::Chain;
use crate::clock_samples::ClockSamples;
use crate::executor::Executor;
use crate::latency::Latencies;
use crate::protocol::Reply;
use crate::touched::Visits;

/// The reason why a workload cannot run a configuration here, in words for a person.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Refusal(pub String);

impl From<Refusal> for Reply {
    fn from(Refusal(reason): Refusal) -> Self {
        Self::Refused(reason)
    }
}

/// One workload: its declaration, and how it reads its parameters.
pub trait Workload: Sync {
    /// Returns the declaration.
    fn spec(&self) -> &'static WorkloadSpec;

    /// Sets the parameters that were left to the machine ([`proofmark_model::AUTO`]). One may have
    /// several values, such as a cold and a warm cache.
    fn resolve_auto(&self, params: Params, _host: &Host) -> Vec<Params> {
        vec![params]
    }

    /// Reads the parameters: the only place that does. Refuses those that are missing, contradict
    /// each other or cannot run on this CPU. Cheap; allocates nothing large.
    fn configure(&self, params: &Params) -> Result<Box<dyn Configuration>, Refusal>;

    /// Names what [`Load::verify`] compares, in a few words.
    fn verification(&self) -> &'static str {
        "checked arithmetic"
    }

    /// The needs of these parameters; none where [`Workload::configure`] refuses them.
    fn needs(&self, params: &Params) -> Needs {
        self.configure(params).map_or_else(|_| Needs::default(), |parsed| parsed.needs())
    }
}

/// The parameters of one configuration, read and found consistent.
pub trait Configuration {
    /// What it takes of the machine; nothing by default.
    fn needs(&self) -> Needs {
        Needs::default()
    }

    /// Refuses a host that cannot run it, as far as the host's probes report: asked while planning.
    fn supports_on(&self, _host: &Host) -> Result<(), Refusal> {
        Ok(())
    }

    /// Makes what all threads share.
    fn setup(self: Box<Self>) -> Result<Box<dyn Setup>, Refusal>;
}

/// What a configuration takes of the machine.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Needs {
    /// Bytes of memory of its data, over all threads. Where they are too many, the run reduces the
    /// size parameter that was left to the machine.
    pub memory_bytes: u64,
    /// The content of that memory: configurations with equal content share it. `None`: it shares none.
    pub shared_memory: Option<String>,
    /// Bytes of the files that it makes.
    pub disk_bytes: u64,
    /// Share of the bytes it moves, once set up, that it writes to the disk: 0 to 1.
    pub disk_write_share: f64,
    /// Estimated seconds of a trial's timed part, where the amount of work is fixed.
    pub fixed_s: Option<f64>,
    /// Seconds from one operation of a thread to the next, where it is paced.
    pub interval_s: Option<f64>,
}

impl Needs {
    /// Estimates the seconds of a trial that is planned to last `planned_s`. At a slow pace it is one
    /// operation, and one ahead.
    pub fn trial_s(&self, planned_s: f64) -> f64 {
        match (self.fixed_s, self.interval_s) {
            (Some(fixed), _) => fixed.max(SHORTEST_S),
            (None, Some(interval)) if interval > planned_s => 2.0 * interval,
            _ => planned_s,
        }
    }
}

/// Minimum seconds of a trial: making its data, warming the cores, checking its results.
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
