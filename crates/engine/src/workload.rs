//! The traits of a workload, so that it can be timed.
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
use crate::gaps::Gaps;
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
    /// Returns the resources that it needs; none by default.
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

/// The resources of the machine that a configuration needs.
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

/// The amount of work in a trial.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Amount {
    /// The iterations that fill the planned duration; the engine calibrates their number.
    Calibrated,
    /// This total of iterations, divided among the threads (strong scaling).
    Total(u64),
    /// One iteration per thread: together they solve one problem that cannot be cut.
    Whole,
}

/// The state that all threads of a configuration share.
pub trait Setup: Send + Sync {
    /// Returns the amount of work in a trial.
    fn amount(&self) -> Amount {
        Amount::Calibrated
    }

    /// Returns the units of work (operations, bytes, bits) in one iteration of one thread.
    fn work_per_iteration(&self) -> f64;

    /// Returns the bytes that the hardware must move for one iteration; `None`: the workload moves none.
    fn moved_per_iteration(&self) -> Option<f64> {
        None
    }

    /// Returns the number of threads to start, such as two per stream that sends both ways.
    fn threads(&self, asked: u64) -> u64 {
        asked
    }

    /// Returns how many of these threads work. Those with the highest numbers [`Load::disturb`] them.
    fn workers(&self, threads: u64) -> u64 {
        threads
    }

    /// Chooses the CPUs to pin threads to, in order, from the usable ones.
    fn cpus(&self, usable: &[u32]) -> Vec<u32> {
        usable.to_vec()
    }

    /// True if it works on the disk of the worker's folder: its devices' counters then verify it.
    fn on_disk(&self) -> bool {
        false
    }

    /// Returns the state of the configuration's file; called after each trial.
    fn file(&self) -> Option<FileState> {
        None
    }

    /// Prepares a trial, before the untimed work ahead of it; not timed. Refuses where there can be no
    /// trial, for instance when the server is gone.
    fn begin_trial(&self) -> Result<(), Refusal> {
        Ok(())
    }

    /// Returns the counts of both ends of the network since [`Setup::begin_trial`]; called after each
    /// trial. Refuses where they are needed and unknown.
    fn network(&self) -> Result<Option<NetworkTraffic>, Refusal> {
        Ok(None)
    }

    /// Returns the solution that the last trial found, where it solves a system.
    fn solution(&self) -> Option<Solution> {
        None
    }

    /// Returns the distances between the CPUs of its threads, as seen before the last trial.
    fn pairs(&self) -> Vec<CpuPairSeen> {
        Vec::new()
    }

    /// Returns the seconds that each thread works, untimed, right before a trial of `trial_s`. The
    /// default is longer than a core takes to change its clock for wide vectors.
    fn ahead_s(&self, trial_s: f64) -> f64 {
        AHEAD_S.min(trial_s / 8.0)
    }

    /// Returns the iterations that each thread must run, untimed, before a trial in slices, in addition
    /// to [`Setup::ahead_s`]: enough to replace in the caches what other loads left there.
    fn ahead_iterations(&self) -> u64 {
        0
    }

    /// True if each thread is pinned to a CPU. Threads that wait for a device run better where its
    /// interrupts arrive, which the scheduler knows.
    fn pinned(&self) -> bool {
        true
    }

    /// Returns where the configuration's memory is; called after each trial.
    fn placement(&self) -> Placement {
        Placement::default()
    }

    /// Starts what times the configuration instead of the worker's threads; `None`: these time it.
    fn executor(&self) -> Result<Option<Box<dyn Executor>>, Refusal> {
        Ok(None)
    }

    /// Makes one thread's part, on that thread: memory is first touched where it is used.
    fn thread(&self, _index: usize, _threads: usize) -> Result<Box<dyn Load>, Refusal> {
        Err(Refusal("no thread of the worker does this work".to_owned()))
    }
}

/// Default maximum of [`Setup::ahead_s`], in seconds.
pub const AHEAD_S: f64 = 3e-3;

/// The placement of memory. `None`: the system does not report it, or the workload has none.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Placement {
    /// Share of the memory that huge pages back, 0 to 1.
    pub huge: Option<f64>,
    /// Share of the memory on another NUMA node than intended, 0 to 1.
    pub misplaced: Option<f64>,
}

/// One thread's part of the work.
pub trait Load {
    /// Prepares for about this many iterations. Not timed. All runs up to [`Load::verify`] may together
    /// do more or fewer, by any factor: no measured quantity may depend on this number.
    fn prepare(&mut self, _iterations: u64) {}

    /// Begins the part that [`Load::verify`] counts. Not timed. The runs ahead of it have left the data,
    /// the caches and the core as they are in use.
    fn begin(&mut self) {}

    /// Does exactly this many iterations, from where the last run ended. It is timed, and called up to
    /// thousands of times in a trial: no allocation, no printing, no system call that is not the work,
    /// and beyond the work only a few loads and stores.
    fn run(&mut self, iterations: u64);

    /// Returns why the system did not let a [`Load::run`] do its work, such as a full disk.
    fn failure(&mut self) -> Option<String> {
        None
    }

    /// Returns the seconds without work at the end of the last [`Load::run`], for instance when a
    /// receiver waits for lost datagrams. They are not part of the trial's time.
    fn idled_s(&mut self) -> f64 {
        0.0
    }

    /// Adds the latencies of all operations since [`Load::begin`] to `all`, where the workload times
    /// them: in histograms of [`Latencies::ready`], made before the first run.
    fn latencies(&mut self, _all: &mut Latencies) {}

    /// Runs the chain for about `cycles` cycles, among instructions that are as heavy on the core as the
    /// load's, and returns its cycles. `None`: a plain chain measures the clock, since the load does not
    /// lower it, or the load has [`Load::clock_samples`].
    fn clock_chain(&mut self, _chain: Chain, _cycles: u64) -> Option<u64> {
        None
    }

    /// Returns the places of memory that all runs so far visited, by the load's own cursor.
    /// [`Load::verify`] proves them. `None`: it visits none, or in an order that does not repeat.
    fn visits(&self) -> Option<Visits> {
        None
    }

    /// Returns the clock that the load sampled during the runs since [`Load::begin`], which is more
    /// exact than a reading before and after.
    fn clock_samples(&self) -> Option<&ClockSamples> {
        None
    }

    /// Loads the machine until `stop` is set, without a share of the work; returns the bytes moved.
    /// Reads the clock of `gaps` after each step: windows in which the load was away do not count.
    fn disturb(&mut self, _stop: &AtomicBool, _gaps: &mut Gaps) -> f64 {
        0.0
    }

    /// Returns the bytes per second that [`Load::disturb`] should move; `None`: as many as it can.
    fn target(&self) -> Option<f64> {
        None
    }

    /// Checks the results of all runs since [`Load::begin`] and returns the iterations that they prove,
    /// independently of the numbers given to `run`. An error holds the expected and the actual result.
    fn verify(&mut self) -> Result<u64, String>;
}
