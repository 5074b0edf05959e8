//! What every trial of a thread has, in slices or not: the timed part, its counters, its result.

use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};

use proofmark_model::{CpuDistance, DeviceTraffic};

use crate::barrier::Barrier;
use crate::clock::raw_seconds;
use crate::conditions::{Sources, SystemCounters, SystemSeen, ThreadCounters};
use crate::cpu_pair::CpuPair;
use crate::latency::Latencies;
use crate::load_clock::TrialClock;
use crate::protocol::Reply;
use crate::rounds::Cpu;
use crate::rounds::log::Log;
use crate::rounds::ticks::Moment;
use crate::touched::Visits;
use crate::tracer::Tracer;
use crate::workload::Load;

#[derive(Default)]
pub(super) struct ThreadResult {
    /// Where it runs, said once it is set up.
    pub(super) cpu: Option<Cpu>,
    pub(super) start: f64,
    pub(super) end: f64,
    pub(super) claimed: u64,
    pub(super) counted: u64,
    /// The slices, where the trial was cut.
    pub(super) log: Log,
    /// The first moment of the timed part on both clocks, and the last: read by the first thread.
    pub(super) moments: Option<[Moment; 2]>,
    /// What the first of two threads saw of the other one's CPU, before the timed part and after it.
    pub(super) partner_seen: [Option<CpuDistance>; 2],
    /// Bytes moved by a thread without a share of the work.
    pub(super) disturbed: Option<f64>,
    pub(super) clock: TrialClock,
    /// NOPs per cycle, where the load read them.
    pub(super) issue_width: Option<f64>,
    pub(super) counters: ThreadCounters,
    /// Read by the first thread for all.
    pub(super) system: Option<SystemSeen>,
    /// Read by the first thread for all.
    pub(super) device: Option<DeviceTraffic>,
    pub(super) latencies: Latencies,
    /// Its visits of memory before the trial and after it.
    pub(super) visits: Option<[Visits; 2]>,
    /// CPUs that it was on as the timed part began and ended.
    pub(super) ran_on: [u32; 2],
    /// Who traced it before the trial or after it.
    pub(super) tracer: Tracer,
    /// Of a trial under a quota, what the untimed part saw: refills, and throttled periods.
    pub(super) refills_ahead: [u64; 2],
}

/// The counters of a thread, and those of the system where it reads them for all.
pub(super) struct Counters {
    thread: ThreadCounters,
    system: Option<SystemCounters>,
}

impl Counters {
    pub(super) fn before(state: &TeamState, leads: bool) -> Self {
        let system = leads.then(|| SystemCounters::read(&state.sources));
        Self { system, thread: ThreadCounters::before() }
    }

    /// Those of the thread as it ended its work: others may keep it waiting since.
    pub(super) fn after(timed: &Timed, state: &TeamState, leads: bool) -> Self {
        let system = leads.then(|| SystemCounters::read(&state.sources));
        Self { thread: timed.counters, system }
    }
}

/// The timed part of a thread's trial.
pub(super) struct Timed {
    start: f64,
    end: f64,
    /// Read when its work ended.
    counters: ThreadCounters,
    /// Bytes moved by a thread without a share of the work.
    disturbed: Option<f64>,
}

impl Timed {
    /// Does the thread's share of the work, or where it has none loads the machine until the others
    /// have done theirs.
    pub(super) fn run(
        load: &mut dyn Load,
        state: &TeamState,
        has_share: bool,
        work: impl FnOnce(&mut dyn Load),
    ) -> Self {
        let start = raw_seconds();
        let disturbed = match has_share {
            true => {
                work(load);
                None
            }
            false => Some(load.disturb(&state.done)),
        };
        let end = raw_seconds();
        let counters = ThreadCounters::after();
        state.one_is_done(has_share);
        // Where threads share a CPU, those that are done sleep until all are.
        state.finish.wait();
        Self { start, end, counters, disturbed }
    }

    /// What every trial has: checks the work, which the counters were read around.
    pub(super) fn result(
        self,
        load: &mut dyn Load,
        [before, after]: [Counters; 2],
    ) -> Result<ThreadResult, Reply> {
        let end = self.end - load.idled_s();
        if let Some(reason) = load.failure() {
            return Err(Reply::Refused(reason));
        }
        let mut latencies = Latencies::default();
        load.latencies(&mut latencies);
        let counted = match self.disturbed {
            None => load.verify().map_err(Reply::Unverified)?,
            Some(_) => 0,
        };
        Ok(ThreadResult {
            start: self.start,
            end,
            counted,
            disturbed: self.disturbed,
            counters: after.thread.since(before.thread),
            latencies,
            system: after.system.zip(before.system).map(|(after, before)| after.since(&before)),
            ran_on: [before.thread.cpu, after.thread.cpu].map(|cpu| cpu as u32),
            ..ThreadResult::default()
        })
    }
}

/// What the threads of a team share.
pub(super) struct TeamState {
    /// Before a trial: all leave within a cache miss of each other.
    pub(super) start: Barrier,
    /// After it: a waiting thread takes no CPU from a working one.
    pub(super) finish: std::sync::Barrier,
    /// Threads that share the work and have not ended their trial.
    pub(super) working: AtomicUsize,
    pub(super) done: AtomicBool,
    /// When the timed part of a trial in slices begins, in ticks.
    pub(super) begin: AtomicU64,
    /// Set when the untimed part of a trial in slices is over.
    pub(super) ahead_over: AtomicBool,
    /// Of two threads each, the first two first; empty where they do not each have a CPU.
    pub(super) pairs: Vec<CpuPair>,
    pub(super) sources: Sources,
}

impl TeamState {
    /// A thread has ended; the last one that shared the work ends the others too.
    fn one_is_done(&self, worked: bool) {
        if worked && self.working.fetch_sub(1, Ordering::AcqRel) == 1 {
            self.done.store(true, Ordering::Release);
        }
    }
}
