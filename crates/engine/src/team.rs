//! The threads of one point: pinned, started together, timed from the first start
//! to the last end.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::{self, JoinHandle};

use proofmark_model::{Conditions, Timestamp};
use rustix::thread::{CpuSet, sched_setaffinity};

use crate::chain::{Reading, rate, read_clock};
use crate::clock::monotonic;
use crate::conditions::{Sources, SystemCounters, ThreadCounters};
use crate::kernel::{Load, Refusal, Setup};

/// Time that each clock reading's slices take, in seconds, and how many there are
/// of each chain: about 0.2 ms before and after a trial.
const CLOCK_SLICE_S: f64 = 30e-6;
const CLOCK_ROUNDS: u32 = 3;

/// Why a trial gave no sample.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TeamError {
    /// A thread could not be set up.
    #[error("{0}")]
    Refused(String),
    /// The kernel found its result wrong.
    #[error("{0}")]
    Unverified(String),
    /// A thread ended without an answer.
    #[error("a thread of the kernel died")]
    Died,
}

/// What one thread is told to do.
#[derive(Debug, Clone, Copy)]
struct Order {
    /// Iterations run first, to bring the core to the load's own clock; not timed.
    ahead: u64,
    /// Iterations that are timed.
    iterations: u64,
}

/// What one thread tells of its trial.
struct Part {
    start: f64,
    end: f64,
    counted: u64,
    clock: [Option<LoadClock>; 2],
    counters: ThreadCounters,
    migrated: bool,
}

/// The clock of one core under the load.
#[derive(Debug, Clone, Copy)]
struct LoadClock {
    /// By a chain within the load where it has one, else by the plain chain.
    hz: f64,
    /// The plain chains, which check each other.
    plain: Reading,
}

impl LoadClock {
    fn read(load: &mut dyn Load) -> Option<Self> {
        // 4 GHz is near enough to size a slice.
        const CYCLES: u64 = (CLOCK_SLICE_S * 4e9) as u64;
        let within = (0..CLOCK_ROUNDS)
            .filter_map(|_| rate(|| load.clock_chain(CYCLES).map(|c| c as f64)))
            .max_by(f64::total_cmp);
        let plain = read_clock(CLOCK_SLICE_S, CLOCK_ROUNDS)?;
        Some(Self { hz: within.unwrap_or(plain.by_adds), plain })
    }
}

/// One trial of the whole team.
#[derive(Debug, Clone, PartialEq)]
pub struct TeamTrial {
    /// When it began.
    pub started: Timestamp,
    /// First start to last end, in seconds.
    pub seconds: f64,
    /// Iterations that the verified results prove, over all threads.
    pub counted: u64,
    /// What the system did meanwhile.
    pub conditions: Conditions,
}

struct Member {
    orders: Sender<Order>,
    parts: Receiver<Result<Part, TeamError>>,
    thread: Option<JoinHandle<()>>,
}

/// Threads that wait for orders.
pub struct Team {
    members: Vec<Member>,
    sources: Sources,
    oversubscribed: bool,
}

impl Team {
    /// Starts `threads` threads, pins thread i to `cpus[i % cpus.len()]` (to none,
    /// if there are no cpus), and sets each one up on its CPU.
    ///
    /// # Errors
    /// The first thread's reason for refusing.
    pub fn start(
        setup: &Arc<dyn Setup>,
        threads: usize,
        cpus: &[u32],
        cpu_stat: Vec<std::path::PathBuf>,
    ) -> Result<Self, TeamError> {
        let barrier = Arc::new(Barrier::new(threads));
        let mut members = Vec::with_capacity(threads);
        for index in 0..threads {
            let (orders, inbox) = channel();
            let (outbox, parts) = channel();
            let cpu = cpus.get(index % cpus.len().max(1)).copied();
            let (setup, barrier) = (Arc::clone(setup), Arc::clone(&barrier));
            let thread = thread::Builder::new()
                .name(format!("load {index}"))
                .spawn(move || {
                    pin(cpu);
                    member(setup.as_ref(), (index, threads), &barrier, &inbox, &outbox);
                })
                .map_err(|e| TeamError::Refused(format!("cannot start thread {index}: {e}")))?;
            members.push(Member { orders, parts, thread: Some(thread) });
        }
        let used: Vec<u32> = cpus.iter().copied().take(threads).collect();
        let oversubscribed = threads > used.len();
        let sources = Sources { cpu_stat, cpus: used };
        let team = Self { members, sources, oversubscribed };
        for m in &team.members {
            m.parts.recv().map_err(|_| TeamError::Died)??;
        }
        Ok(team)
    }

    /// Runs one trial: thread i does `shares[i]` iterations, after `ahead` untimed ones.
    ///
    /// # Errors
    /// If a result is wrong or a thread died.
    pub fn trial(&self, shares: &[u64], ahead: u64) -> Result<TeamTrial, TeamError> {
        let started = Timestamp::now();
        let before = SystemCounters::read(&self.sources);
        for (m, iterations) in self.members.iter().zip(shares) {
            let order = Order { ahead, iterations: *iterations };
            m.orders.send(order).map_err(|_| TeamError::Died)?;
        }
        let parts: Vec<_> =
            self.members.iter().map(|m| m.parts.recv().unwrap_or(Err(TeamError::Died))).collect();
        let parts = parts.into_iter().collect::<Result<Vec<Part>, _>>()?;
        let system = SystemCounters::read(&self.sources).since(&before);
        let first = parts.iter().map(|p| p.start).fold(f64::INFINITY, f64::min);
        let last = parts.iter().map(|p| p.end).fold(0.0, f64::max);
        Ok(TeamTrial {
            started,
            seconds: last - first,
            counted: parts.iter().map(|p| p.counted).sum(),
            conditions: self.conditions(&parts, &system),
        })
    }

    fn conditions(&self, parts: &[Part], system: &SystemCounters) -> Conditions {
        let clock = ClockSummary::of(parts);
        let own_cpu_s = total(parts, |p| p.counters.cpu_s);
        let throttled = system.throttled_s.unwrap_or(0.0);
        let other_cpu_s = if self.oversubscribed {
            // The team's threads wait for each other: only the CPUs' own account
            // tells what others took, in ticks of 10 ms.
            system.busy_s.zip(own_cpu_s).map(|(busy, own)| (busy - own).max(0.0))
        } else {
            total(parts, |p| p.counters.waiting_s).map(|w| (w - throttled).max(0.0))
        };
        Conditions {
            clock_hz: clock.as_ref().map(|c| c.mean),
            clock_spread: clock.as_ref().map(|c| c.spread),
            clock_disagreement: clock.as_ref().map(|c| c.disagreement),
            steal_s: system.steal_s,
            throttled_s: system.throttled_s,
            other_cpu_s,
            own_cpu_s,
            involuntary_switches: parts.iter().map(|p| p.counters.involuntary).sum(),
            migrations: Some(parts.iter().filter(|p| p.migrated).count() as u64),
            minor_faults: parts.iter().map(|p| p.counters.minor_faults).sum(),
            major_faults: parts.iter().map(|p| p.counters.major_faults).sum(),
            swapped_pages: system.swapped_pages,
        }
    }
}

impl Drop for Team {
    fn drop(&mut self) {
        for m in &mut self.members {
            // A thread ends when nobody can send it orders any more.
            m.orders = channel().0;
        }
        for m in &mut self.members {
            if let Some(thread) = m.thread.take() {
                let _ = thread.join(); // A panic of a thread has been told as `Died`.
            }
        }
    }
}

fn total(parts: &[Part], of: impl Fn(&Part) -> Option<f64>) -> Option<f64> {
    parts.iter().map(of).sum()
}

/// The clock over all threads, before and after.
struct ClockSummary {
    mean: f64,
    spread: f64,
    disagreement: f64,
}

impl ClockSummary {
    fn of(parts: &[Part]) -> Option<Self> {
        let readings: Vec<LoadClock> = parts.iter().flat_map(|p| p.clock).flatten().collect();
        if readings.is_empty() {
            return None;
        }
        let mean_of =
            |f: fn(&LoadClock) -> f64| readings.iter().map(f).sum::<f64>() / readings.len() as f64;
        let mean = mean_of(|r| r.hz);
        let plain = Reading {
            by_adds: mean_of(|r| r.plain.by_adds),
            by_second: mean_of(|r| r.plain.by_second),
        };
        let (low, high) = readings
            .iter()
            .fold((f64::INFINITY, 0.0_f64), |(low, high), r| (low.min(r.hz), high.max(r.hz)));
        let disagreement = plain.disagreement();
        Some(Self { mean, spread: (high - low) / mean, disagreement })
    }
}

/// The life of one thread: set up, then trials until there are no more orders.
fn member(
    setup: &dyn Setup,
    (index, of): (usize, usize),
    barrier: &Barrier,
    inbox: &Receiver<Order>,
    outbox: &Sender<Result<Part, TeamError>>,
) {
    let mut load = match setup.thread(index, of) {
        Ok(load) => load,
        Err(Refusal(reason)) => {
            let _ = outbox.send(Err(TeamError::Refused(reason)));
            return;
        }
    };
    let idle = Part {
        start: 0.0,
        end: 0.0,
        counted: 0,
        clock: [None, None],
        counters: ThreadCounters::default(),
        migrated: false,
    };
    if outbox.send(Ok(idle)).is_err() {
        return;
    }
    while let Ok(order) = inbox.recv() {
        let part = one_trial(load.as_mut(), order, barrier);
        if outbox.send(part).is_err() {
            return;
        }
    }
}

fn one_trial(load: &mut dyn Load, order: Order, barrier: &Barrier) -> Result<Part, TeamError> {
    barrier.wait();
    load.run(order.ahead);
    let before = LoadClock::read(load);
    let counters = ThreadCounters::before();
    barrier.wait();
    let start = monotonic();
    load.run(order.iterations);
    let end = monotonic();
    let after = LoadClock::read(load);
    let later = ThreadCounters::after();
    let counted = load.verify().map_err(TeamError::Unverified)?;
    Ok(Part {
        start,
        end,
        counted,
        clock: [before, after],
        counters: later.since(counters),
        migrated: counters.cpu != later.cpu,
    })
}

/// Pins the calling thread. Where that is not allowed it runs unpinned, and
/// migrations are counted.
fn pin(cpu: Option<u32>) {
    if let Some(cpu) = cpu {
        let mut set = CpuSet::new();
        set.set(cpu as usize);
        let _ = sched_setaffinity(None, &set);
    }
}

/// A barrier that spins, so that all threads leave it within a cache miss of each
/// other; where there are more threads than CPUs it yields.
struct Barrier {
    size: u32,
    arrived: AtomicU32,
    round: AtomicU32,
}

impl Barrier {
    fn new(size: usize) -> Self {
        let size = u32::try_from(size).unwrap_or(u32::MAX);
        Self { size, arrived: AtomicU32::new(0), round: AtomicU32::new(0) }
    }

    fn wait(&self) {
        const SPINS: u32 = 20_000;
        let round = self.round.load(Ordering::Acquire);
        if self.arrived.fetch_add(1, Ordering::AcqRel) + 1 == self.size {
            self.arrived.store(0, Ordering::Release);
            self.round.store(round.wrapping_add(1), Ordering::Release);
            return;
        }
        let mut spins = 0;
        while self.round.load(Ordering::Acquire) == round {
            spins += 1;
            if spins < SPINS {
                std::hint::spin_loop();
            } else {
                thread::yield_now();
            }
        }
    }
}
