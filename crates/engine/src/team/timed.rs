//! The common part of a thread's trials, in slices or not: timed part, counters, result.

use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};

use proofmark_model::{CpuDistance, DeviceTraffic, LoadingThreads};

use crate::barrier::Barrier;
use crate::clock::raw_seconds;
use crate::conditions::{Sources, SystemCounters, SystemSeen, ThreadCounters};
use crate::cpu_pair::CpuPair;
use crate::gaps::Gaps;
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
    /// CPU of the thread, reported once it is set up.
    pub(super) cpu: Option<Cpu>,
    pub(super) start: f64,
    pub(super) end: f64,
    pub(super) claimed: u64,
    pub(super) counted: u64,
    /// The slices, if the trial was cut.
    pub(super) log: Log,
    /// The first and the last moment of the timed part on both clocks, read by the first thread.
    pub(super) moments: Option<[Moment; 2]>,
    /// Distance to the partner's CPU before and after the timed part, measured by the first of two
    /// threads.
    pub(super) partner_seen: [Option<CpuDistance>; 2],
    /// The load of a thread without a share of the work.
    pub(super) disturbed: Option<Disturbed>,
    pub(super) clock: TrialClock,
    /// NOPs per cycle, if the load read them.
    pub(super) issue_width: Option<f64>,
    pub(super) counters: ThreadCounters,
    /// Read by the first thread for all.
    pub(super) system: Option<SystemSeen>,
    /// Read by the first thread for all.
    pub(super) device: Option<DeviceTraffic>,
    pub(super) latencies: Latencies,
    /// Visits of memory before the trial and after it.
    pub(super) visits: Option<[Visits; 2]>,
    /// CPUs on which it was when the timed part began and ended.
    pub(super) ran_on: [u32; 2],
    /// Tracer before the trial or after it.
    pub(super) tracer: Tracer,
    /// Refills and throttled periods in the untimed part of a trial under a quota.
    pub(super) refills_ahead: [u64; 2],
}

/// The load of a thread without a share of the work.
pub(super) struct Disturbed {
    /// Bytes moved.
    bytes: f64,
    /// Bytes per second that it should have moved, if not as many as it could.
    target: Option<f64>,
    pub(super) gaps: Gaps,
}

impl ThreadResult {
    /// Bytes per second that a thread without a share of the work moved outside its gaps.
    pub(super) fn load_rate(&self) -> Option<f64> {
        let load = self.disturbed.as_ref()?;
        let worked_s = self.end - self.start - self.gaps_s()?;
        Some(if worked_s > 0.0 { load.bytes / worked_s } else { 0.0 })
    }

    /// The loading time of a thread without a share of the work.
    pub(super) fn loading(&self) -> Option<LoadingThreads> {
        let load = self.disturbed.as_ref()?;
        let on_cpu = self.counters.cpu_s.map(|cpu_s| (cpu_s / self.counters.at_s).min(1.0));
        let in_gaps = self.gaps_s()? / (self.end - self.start);
        Some(LoadingThreads { on_cpu, in_gaps, target: load.target })
    }

    fn gaps_s(&self) -> Option<f64> {
        Some(self.disturbed.as_ref()?.gaps.seconds_between(self.start, self.end))
    }
}

/// The counters of a thread, and those of the system if it reads them for all.
pub(super) struct Counters {
    thread: ThreadCounters,
    system: Option<SystemCounters>,
}

impl Counters {
    pub(super) fn before(state: &TeamState, leads: bool) -> Self {
        let system = leads.then(|| SystemCounters::read(&state.sources));
        Self { system, thread: ThreadCounters::before() }
    }

    /// The counters after the work. Those of the thread were read when its work ended: other
    /// processes may have kept it waiting since.
    pub(super) fn after(timed: &Timed, state: &TeamState, leads: bool) -> Self {
        let system = leads.then(|| SystemCounters::read(&state.sources));
        Self { thread: timed.counters, system }
    }
}

/// The timed part of a thread's trial.
pub(super) struct Timed {
    start: f64,
    end: f64,
    /// Counters when its work ended.
    counters: ThreadCounters,
    /// The load of a thread without a share of the work.
    disturbed: Option<Disturbed>,
}

impl Timed {
    /// Does the thread's share of the work. A thread without one loads the machine until the others
    /// are done, and adds its gaps to those given.
    pub(super) fn run(
        load: &mut dyn Load,
        state: &TeamState,
        gaps: Option<Gaps>,
        work: impl FnOnce(&mut dyn Load),
    ) -> Self {
        let (start, has_share) = (raw_seconds(), gaps.is_none());
        let disturbed = match gaps {
            None => {
                work(load);
                None
            }
            Some(mut gaps) => {
                let bytes = load.disturb(&state.done, &mut gaps);
                gaps.end();
                Some(Disturbed { bytes, target: load.target(), gaps })
            }
        };
        let end = raw_seconds();
        let counters = ThreadCounters::after();
        state.one_is_done(has_share);
        // A sleep, not a spin: threads that share a CPU must not slow those that still work.
        state.finish.wait();
        Self { start, end, counters, disturbed }
    }

    /// Checks the work and returns the result. The counters enclose the timed part.
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
        let counted = match &self.disturbed {
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

/// The state that the threads of a team share.
pub(super) struct TeamState {
    /// Barrier before a trial. All threads leave it within a cache miss of each other.
    pub(super) start: Barrier,
    /// Barrier after a trial. A waiting thread takes no CPU from a working one.
    pub(super) finish: std::sync::Barrier,
    /// Number of threads that share the work and have not ended it.
    pub(super) working: AtomicUsize,
    pub(super) done: AtomicBool,
    /// Tick at which the timed part of a trial in slices begins.
    pub(super) begin: AtomicU64,
    /// True when the untimed part of a trial in slices is over.
    pub(super) ahead_over: AtomicBool,
    /// One for each two threads, in order. Empty if not every thread has a CPU to itself.
    pub(super) pairs: Vec<CpuPair>,
    pub(super) sources: Sources,
}

impl TeamState {
    /// Records that a thread has ended. The last one that shared the work ends the others too.
    fn one_is_done(&self, worked: bool) {
        if worked && self.working.fetch_sub(1, Ordering::AcqRel) == 1 {
            self.done.store(true, Ordering::Release);
        }
    }
}
