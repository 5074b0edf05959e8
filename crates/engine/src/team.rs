//! The threads of one configuration: pinned, started together, timed from the first start to the
//! last end.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::{self, JoinHandle};

use proofmark_model::{
    Conditions, Cut, LoadingThreads, QuotaRounds, QuotaTrial, RanOn, TimeAccount, Timestamp, Trial,
};
use rustix::process::getpid;

use crate::affinity::{pin, usable_cpus};
use crate::barrier::Barrier;
use crate::conditions::{Sources, SystemSeen, ThreadCounters};
use crate::cpu_pair::CpuPair;
use crate::executor::{Executor, ExecutorTrial, SlicedTrial};
use crate::heartbeat::{self, Heartbeat};
use crate::latency::Latencies;
use crate::load_clock::{TrialClock, over_threads};
use crate::protocol::Reply;
use crate::quota::{self, LeadIn};
use crate::rounds::Cpu;
use crate::time_account::{ThreadTime, account_of, continued, stopped_s};
use crate::touched::touched;
use crate::tracer::Tracer;
use crate::workload::Setup;
use member::{Order, Plain};
use timed::{TeamState, ThreadResult};

mod member;
mod sliced;
mod timed;

struct Member {
    orders: Sender<Order>,
    results: Receiver<Result<ThreadResult, Reply>>,
    thread: JoinHandle<()>,
}

impl Member {
    fn result(&self) -> Result<ThreadResult, Reply> {
        self.results.recv().unwrap_or_else(|_| Err(died()))
    }
}

fn died() -> Reply {
    Reply::Refused("a thread of the workload died".to_owned())
}

/// Threads that wait for orders. They are the executor of all work that CPUs do or wait for.
pub struct CpuTeam {
    members: Vec<Member>,
    state: Arc<TeamState>,
    oversubscribed: bool,
    pinned: bool,
    /// True if the threads wait for a device or a network, and so sleep by themselves.
    sleeps: bool,
    /// The CPU of each thread.
    runs_on: Vec<Cpu>,
    /// Number of CPUs that they can run on.
    cpus: usize,
    /// The CPU that each thread was to be pinned to. If they are not pinned, the CPUs of the run.
    planned: Vec<u32>,
    /// True if a quota throttled the previous trial.
    was_throttled: AtomicBool,
}

impl CpuTeam {
    /// Starts and sets up `threads` threads. Thread i is pinned to `cpus[i % cpus.len()]` if there
    /// are any and the workload asks for it. A load cut as `Single` sleeps by itself. A trial reads
    /// these cpu.stat files and the counters of these devices.
    pub fn start(
        setup: &Arc<dyn Setup>,
        cut: Cut,
        threads: usize,
        cpus: &[u32],
        cpu_stat: Vec<PathBuf>,
        devices: Vec<String>,
    ) -> Result<Self, Reply> {
        let pinned = setup.pinned();
        let reach = if pinned { threads } else { cpus.len() };
        let used: Vec<u32> = cpus.iter().copied().take(reach).collect();
        let oversubscribed = threads > used.len();
        let pairs = if pinned && !oversubscribed { threads / 2 } else { 0 };
        let state = Arc::new(TeamState {
            start: Barrier::new(threads),
            finish: std::sync::Barrier::new(threads),
            working: AtomicUsize::new(0),
            done: AtomicBool::new(false),
            begin: AtomicU64::new(0),
            ahead_over: AtomicBool::new(false),
            pairs: (0..pairs).map(|_| CpuPair::default()).collect(),
            sources: Sources::new(used, cpu_stat, devices),
        });
        let mut members = Vec::with_capacity(threads);
        let mut planned = if pinned { Vec::new() } else { cpus.to_vec() };
        for index in 0..threads {
            let (orders, inbox) = channel();
            let (outbox, results) = channel();
            let cpu = cpus.get(index % cpus.len().max(1)).copied().filter(|_| pinned);
            planned.extend(cpu);
            let (setup, state) = (Arc::clone(setup), Arc::clone(&state));
            let thread = thread::Builder::new()
                .name(format!("load {index}"))
                .spawn(move || {
                    let at = Cpu::for_thread(index, cpu.filter(|cpu| pin(*cpu)));
                    let place = (index, threads);
                    member::live(setup.as_ref(), place, (at, cpu), &state, &inbox, &outbox);
                })
                .map_err(|e| Reply::Refused(format!("cannot start thread {index}: {e}")))?;
            members.push(Member { orders, results, thread });
        }
        let (runs_on, cpus) = (Vec::new(), cpus.len().max(1));
        let was_throttled = AtomicBool::new(false);
        let sleeps = cut == Cut::Single;
        let mut team = Self {
            members,
            state,
            oversubscribed,
            pinned,
            sleeps,
            runs_on,
            cpus,
            planned,
            was_throttled,
        };
        for m in &team.members {
            team.runs_on.extend(m.result()?.cpu);
        }
        Ok(team)
    }

    fn run(&self, shares: &[u64], ahead: u64, clock: bool) -> Result<ExecutorTrial, Reply> {
        let started = Timestamp::now();
        let order = |i: usize| Plain { ahead, iterations: shares.get(i).copied(), clock };
        // The clocks of threads that never sleep show a stop without it.
        let heartbeat = if self.sleeps { Heartbeat::start() } else { None };
        let usable = usable_now();
        let results = self.ask(shares.len(), order)?;
        let clocks: Vec<_> = results.iter().map(|p| p.clock).collect();
        let (from, seconds) = span(&results[..shares.len().min(results.len())]);
        // The system's counters are read before the timed part begins and after it ends.
        let counted_s = results.iter().find_map(|p| p.system.as_ref()).map(|s| s.seconds);
        let share = seconds / counted_s.unwrap_or(seconds);
        let data = self.trial_data(&results, &clocks, &usable, share);
        let mut known = Trial { started, seconds, ..data };
        known.conditions.stopped_s = match heartbeat {
            Some(heartbeat) => {
                let Conditions { steal_s, throttled_s, .. } = known.conditions;
                Some(heartbeat::stopped_s(heartbeat.end(), steal_s, throttled_s))
            }
            None => self.stopped_s(&results, &known.conditions),
        };
        let within = results.iter().map(|p| p.claimed).sum::<u64>() as f64;
        Ok(ExecutorTrial { from, within, ..ExecutorTrial::from_threads(&results, known) })
    }

    /// Seconds in which no thread could run: those of the thread that was least away from its CPU.
    /// `None` if threads sleep by themselves, or if the system does not count it.
    fn stopped_s(&self, results: &[ThreadResult], system: &Conditions) -> Option<f64> {
        if self.sleeps {
            return None;
        }
        let all = results.len() as f64;
        let each_s = |of_all: Option<f64>| of_all.unwrap_or(0.0) / all;
        let held_s = each_s(system.throttled_s) + each_s(system.steal_s);
        let away = |c: &ThreadCounters| Some(stopped_s(c.at_s, c.cpu_s?, c.waiting_s?, held_s));
        results.iter().map(|p| away(&p.counters)).reduce(|a, b| Some(a?.min(b?))).flatten()
    }

    /// Gives each thread its order and waits for all. The first `workers` share the work.
    fn ask<O: Into<Order>>(
        &self,
        workers: usize,
        order: impl Fn(usize) -> O,
    ) -> Result<Vec<ThreadResult>, Reply> {
        self.state.working.store(workers.min(self.members.len()), Ordering::Relaxed);
        self.state.done.store(false, Ordering::Relaxed);
        for (i, m) in self.members.iter().enumerate() {
            m.orders.send(order(i).into()).map_err(|_| died())?;
        }
        let results: Vec<_> = self.members.iter().map(Member::result).collect();
        results.into_iter().collect()
    }

    /// The data of a trial except its time. `usable` are the CPUs that were usable when it began; it has
    /// that share of what the system counted. The threads count their own time.
    fn trial_data(
        &self,
        results: &[ThreadResult],
        clocks: &[TrialClock],
        usable: &[u32],
        share: f64,
    ) -> Trial {
        let visits: Vec<_> = results.iter().filter_map(|p| p.visits).collect();
        let system = results.iter().find_map(|p| p.system.clone()).unwrap_or_default();
        let quota = self.quota_seen(&system, results);
        let ran_on = self.ran_on(results, [usable, &usable_now()]);
        Trial {
            touched: touched(&visits),
            background: results.iter().filter_map(ThreadResult::load_rate).reduce(|a, b| a + b),
            loading: results.iter().filter_map(ThreadResult::loading).reduce(LoadingThreads::with),
            conditions: self.conditions(results, clocks, (system.conditions, share), &ran_on),
            device: results.iter().find_map(|p| p.device.clone()),
            quota,
            ran_on: Some(ran_on),
            ..Trial::default()
        }
    }

    fn quota_seen(&self, system: &SystemSeen, results: &[ThreadResult]) -> Option<QuotaTrial> {
        let mut quota = system.quota?;
        let [refills, throttled] = results
            .iter()
            .fold([0; 2], |[r, t], p| [r.max(p.refills_ahead[0]), t.max(p.refills_ahead[1])]);
        (quota.refills_ahead, quota.throttled_ahead) = (refills, throttled);
        quota.cpus = self.could_use(self.members.len());
        let was_throttled = quota.throttled_periods + quota.throttled_ahead > 0;
        self.was_throttled.store(was_throttled, Ordering::Relaxed);
        Some(quota)
    }

    /// Number of CPUs that so many of the threads can use at once.
    fn could_use(&self, threads: usize) -> f64 {
        threads.min(self.cpus) as f64
    }

    fn ran_on(&self, results: &[ThreadResult], usable: [&[u32]; 2]) -> RanOn {
        if !self.pinned {
            return RanOn::from_process(&self.planned, usable);
        }
        let threads: Vec<_> =
            self.planned.iter().copied().zip(results.iter().map(|p| p.ran_on)).collect();
        RanOn::from_pinned(&threads, usable)
    }

    fn conditions(
        &self,
        results: &[ThreadResult],
        clocks: &[TrialClock],
        (system, share): (Conditions, f64),
        ran_on: &RanOn,
    ) -> Conditions {
        let clock = over_threads(clocks);
        let count = |of: fn(&ThreadCounters) -> u64| results.iter().map(|p| of(&p.counters)).sum();
        let own_cpu_s: Option<f64> = results.iter().map(|p| p.counters.cpu_s).sum();
        let system = Conditions { own_cpu_s, ..system };
        let other_cpu_s = if self.took_turns(ran_on) {
            // The threads wait for each other: only the CPUs' ticks of 10 ms show the time of other
            // processes.
            system.busy_with_others_s().map(|s| s * share.min(1.0))
        } else {
            let waiting_s: Option<f64> = results.iter().map(|p| p.counters.waiting_s).sum();
            waiting_s.map(|s| (s - system.throttled_s.unwrap_or(0.0)).max(0.0))
        };
        let traced = results.iter().filter(|p| p.tracer.name().is_some()).count() as u64;
        let tracer =
            results.iter().map(|p| &p.tracer).fold(Tracer::Unknown, |all, t| all.or(t.clone()));
        Conditions {
            clock_hz: clock.map(|c| c.0),
            clock_spread: clock.and_then(|c| c.1),
            clock_disagreement: clock.map(|c| c.2),
            issue_width: results.iter().filter_map(|p| p.issue_width).min_by(f64::total_cmp),
            other_cpu_s,
            involuntary_switches: Some(count(|c| c.involuntary)),
            migrations: self.pinned.then_some(ran_on.strayed.len() as u64),
            minor_faults: Some(count(|c| c.minor_faults)),
            major_faults: Some(count(|c| c.major_faults)),
            traced_threads: (tracer != Tracer::Unknown).then_some(traced),
            tracer: tracer.name().map(str::to_owned),
            own_cpu_s,
            ..system.part(share)
        }
    }

    /// True if threads of the team waited for each other: by plan, or because a CPU was gone.
    fn took_turns(&self, ran_on: &RanOn) -> bool {
        self.oversubscribed || self.pinned && ran_on.took_turns()
    }

    /// The lead-in of a quota that limits the threads now.
    fn lead_in(&self) -> Option<LeadIn> {
        let groups = quota::read_all(&self.state.sources.cpu_stat);
        LeadIn::new(
            &groups,
            self.could_use(self.members.len()),
            self.was_throttled.load(Ordering::Relaxed),
        )
    }
}

impl Executor for CpuTeam {
    /// Thread i does `shares[i]` iterations. Threads beyond the shares load the machine meanwhile.
    fn trial(&self, shares: &[u64], ahead: u64) -> Result<ExecutorTrial, Reply> {
        self.run(shares, ahead, true)
    }

    /// Runs a part without reading the cores' clocks.
    fn next_part(&self, shares: &[u64]) -> Result<ExecutorTrial, Reply> {
        self.run(shares, 0, false)
    }

    fn sliced(&self, asked: &SlicedTrial) -> Result<ExecutorTrial, Reply> {
        self.in_slices(asked)
    }

    fn whole_periods_s(&self, seconds: f64, periods: u32) -> Option<f64> {
        let quota = self.lead_in()?.quota;
        Some(QuotaRounds { quota, periods }.whole_s(seconds))
    }
}

/// CPUs that this process may use now, by its first thread, since the others may be pinned. Empty
/// if unknown.
fn usable_now() -> Vec<u32> {
    usable_cpus(Some(getpid())).unwrap_or_default()
}

impl CpuTeam {
    /// The account of the threads' time. `worked` has the seconds that each worked by its slices,
    /// and those of its gaps. `None` if threads took turns, or if the system does not count it.
    fn time_account(
        &self,
        results: &[ThreadResult],
        worked: (&[f64], &[f64]),
        ran_on: Option<&RanOn>,
    ) -> Option<TimeAccount> {
        if ran_on.is_none_or(|ran_on| self.took_turns(ran_on)) {
            return None;
        }
        let system = results.iter().find_map(|p| p.system.clone())?.conditions;
        let worked = worked.0.iter().zip(worked.1);
        let threads = results.iter().zip(worked).map(|(p, (worked_s, gaps_s))| {
            let c = &p.counters;
            Some(ThreadTime {
                wall_s: c.at_s,
                cpu_s: c.cpu_s?,
                waiting_s: c.waiting_s?,
                worked_s: *worked_s,
                gaps_s: *gaps_s,
            })
        });
        let threads: Vec<ThreadTime> = threads.collect::<Option<_>>()?;
        Some(account_of(&threads, &system, continued().load(Ordering::Relaxed)))
    }
}

impl ExecutorTrial {
    fn from_threads(results: &[ThreadResult], known: Trial) -> Self {
        let mut latencies = Latencies::default();
        results.iter().for_each(|p| latencies.merge(&p.latencies));
        Self {
            known,
            from: 0.0,
            claimed: results.iter().map(|p| p.claimed).fold(0, u64::saturating_add),
            counted: results.iter().map(|p| p.counted).fold(0, u64::saturating_add),
            within: 0.0,
            each_s: None,
            latencies,
        }
    }
}

/// The first start, and the seconds from there to the last end.
fn span(workers: &[ThreadResult]) -> (f64, f64) {
    let first = workers.iter().map(|p| p.start).fold(f64::INFINITY, f64::min);
    let last = workers.iter().map(|p| p.end).fold(0.0, f64::max);
    (first, last - first)
}

impl Drop for CpuTeam {
    fn drop(&mut self) {
        // A thread ends when the sender of its orders is gone.
        let threads: Vec<_> = self.members.drain(..).map(|m| m.thread).collect();
        for thread in threads {
            let _ = thread.join(); // The panic of a thread was already reported.
        }
    }
}

#[cfg(test)]
mod tests;
