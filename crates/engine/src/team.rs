//! The threads of one point: pinned, started together, timed from the first start to the last end.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::{self, JoinHandle};

use proofmark_model::{Conditions, DeviceTraffic, Timestamp, Trial};

use crate::affinity::pin;
use crate::barrier::Barrier;
use crate::clock::monotonic;
use crate::conditions::{Sources, SystemCounters, ThreadCounters};
use crate::device::DeviceCounters;
use crate::latency::Latencies;
use crate::load_clock::{LoadClock, TrialClock, over_threads};
use crate::protocol::Reply;
use crate::workload::{Load, Setup};

#[derive(Debug, Clone, Copy)]
struct Order {
    /// Iterations run first, to bring the core to the load's own clock; not timed.
    ahead: u64,
    /// Iterations that are timed; `None`: only load the machine until the others are done.
    iterations: Option<u64>,
    clock: bool,
}

#[derive(Default)]
struct ThreadResult {
    start: f64,
    end: f64,
    counted: u64,
    /// Bytes moved by a thread without a share of the work.
    disturbed: Option<f64>,
    clock: TrialClock,
    counters: ThreadCounters,
    /// Read by the first thread for all, with the time that the CPUs were busy.
    system: Option<(Conditions, Option<f64>)>,
    /// Read by the first thread for all.
    device: Option<DeviceTraffic>,
    latencies: Latencies,
    migrated: bool,
}

#[derive(Debug, Clone)]
pub struct TeamTrial {
    /// What is known of it without the workload: its time, its conditions, and what went on meanwhile.
    pub known: Trial,
    /// The first start, in seconds on the monotonic clock.
    pub from: f64,
    /// Iterations that the verified results prove, over all threads.
    pub counted: u64,
    /// Times of single operations, where the workload reports them.
    pub latencies: Latencies,
}

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

/// Threads that wait for orders.
pub struct Team {
    members: Vec<Member>,
    together: Arc<Together>,
    oversubscribed: bool,
    pinned: bool,
}

impl Team {
    /// Starts and sets up `threads` threads, thread i pinned to `cpus[i % cpus.len()]` if there are
    /// any and the workload wants that. A trial reads these cpu.stat files and devices' counters.
    pub fn start(
        setup: &Arc<dyn Setup>,
        threads: usize,
        cpus: &[u32],
        cpu_stat: Vec<PathBuf>,
        devices: Vec<String>,
    ) -> Result<Self, Reply> {
        let pinned = setup.pinned();
        let reach = if pinned { threads } else { cpus.len() };
        let used: Vec<u32> = cpus.iter().copied().take(reach).collect();
        let oversubscribed = threads > used.len();
        let together = Arc::new(Together {
            start: Barrier::new(threads),
            finish: std::sync::Barrier::new(threads),
            working: AtomicUsize::new(0),
            done: AtomicBool::new(false),
            sources: Sources::new(used, cpu_stat, devices),
        });
        let mut members = Vec::with_capacity(threads);
        for index in 0..threads {
            let (orders, inbox) = channel();
            let (outbox, results) = channel();
            let cpu = cpus.get(index % cpus.len().max(1)).copied().filter(|_| pinned);
            let (setup, together) = (Arc::clone(setup), Arc::clone(&together));
            let thread = thread::Builder::new()
                .name(format!("load {index}"))
                .spawn(move || {
                    cpu.into_iter().for_each(pin);
                    member(setup.as_ref(), (index, threads), &together, &inbox, &outbox);
                })
                .map_err(|e| Reply::Refused(format!("cannot start thread {index}: {e}")))?;
            members.push(Member { orders, results, thread });
        }
        let team = Self { members, together, oversubscribed, pinned };
        for m in &team.members {
            m.result()?;
        }
        Ok(team)
    }

    /// Runs one trial: thread i does `shares[i]` iterations, after `ahead` untimed
    /// ones. Threads beyond the shares load the machine meanwhile.
    pub fn trial(&self, shares: &[u64], ahead: u64) -> Result<TeamTrial, Reply> {
        self.run(shares, ahead, true)
    }

    /// Runs a trial right after another one, with nothing ahead and no reading of clocks between.
    pub fn next_slice(&self, shares: &[u64]) -> Result<TeamTrial, Reply> {
        self.run(shares, 0, false)
    }

    fn run(&self, shares: &[u64], ahead: u64, clock: bool) -> Result<TeamTrial, Reply> {
        let started = Timestamp::now();
        self.together.working.store(shares.len().min(self.members.len()), Ordering::Relaxed);
        self.together.done.store(false, Ordering::Relaxed);
        for (i, m) in self.members.iter().enumerate() {
            let order = Order { ahead, iterations: shares.get(i).copied(), clock };
            m.orders.send(order).map_err(|_| died())?;
        }
        let results: Vec<_> = self.members.iter().map(Member::result).collect();
        let results = results.into_iter().collect::<Result<Vec<ThreadResult>, _>>()?;
        let workers = || results.iter().take(shares.len());
        let first = workers().map(|p| p.start).fold(f64::INFINITY, f64::min);
        let last = workers().map(|p| p.end).fold(0.0, f64::max);
        let mut latencies = Latencies::default();
        workers().for_each(|p| latencies.merge(&p.latencies));
        let rate = |p: &ThreadResult| Some(p.disturbed? / (p.end - p.start));
        let known = Trial {
            started,
            seconds: last - first,
            background: results.iter().filter_map(rate).reduce(|a, b| a + b),
            conditions: self.conditions(&results),
            device: results.iter().find_map(|p| p.device.clone()),
            ..Trial::default()
        };
        let counted = results.iter().map(|p| p.counted).sum();
        Ok(TeamTrial { known, from: first, counted, latencies })
    }

    fn conditions(&self, results: &[ThreadResult]) -> Conditions {
        let system = results.iter().find_map(|p| p.system.clone());
        let (system, busy_s) = system.unwrap_or_default();
        let clocks: Vec<_> = results.iter().map(|p| p.clock).collect();
        let clock = over_threads(&clocks);
        let count = |of: fn(&ThreadCounters) -> u64| results.iter().map(|p| of(&p.counters)).sum();
        let own_cpu_s: Option<f64> = results.iter().map(|p| p.counters.cpu_s).sum();
        let (taken, ours) = if self.oversubscribed {
            // The threads wait for each other: only the CPUs' ticks of 10 ms show what others took.
            (busy_s, own_cpu_s)
        } else {
            let waiting_s = results.iter().map(|p| p.counters.waiting_s).sum();
            (waiting_s, Some(system.throttled_s.unwrap_or(0.0)))
        };
        Conditions {
            clock_hz: clock.map(|c| c.0),
            clock_spread: clock.map(|c| c.1),
            clock_disagreement: clock.map(|c| c.2),
            other_cpu_s: taken.zip(ours).map(|(taken, ours)| (taken - ours).max(0.0)),
            own_cpu_s,
            involuntary_switches: Some(count(|c| c.involuntary)),
            migrations: self.pinned.then(|| results.iter().filter(|p| p.migrated).count() as u64),
            minor_faults: Some(count(|c| c.minor_faults)),
            major_faults: Some(count(|c| c.major_faults)),
            ..system
        }
    }
}

impl Drop for Team {
    fn drop(&mut self) {
        // A thread ends when nobody can send it orders any more.
        let threads: Vec<_> = self.members.drain(..).map(|m| m.thread).collect();
        for thread in threads {
            let _ = thread.join(); // A panic of a thread was reported as its death.
        }
    }
}

/// The life of one thread: set up, then trials until there are no more orders.
fn member(
    setup: &dyn Setup,
    (index, of): (usize, usize),
    together: &Together,
    inbox: &Receiver<Order>,
    outbox: &Sender<Result<ThreadResult, Reply>>,
) {
    let mut load = match setup.thread(index, of) {
        Ok(load) => load,
        Err(refusal) => {
            let _ = outbox.send(Err(refusal.into()));
            return;
        }
    };
    if outbox.send(Ok(ThreadResult::default())).is_err() {
        return;
    }
    while let Ok(order) = inbox.recv() {
        let result = one_trial(load.as_mut(), order, together, index == 0);
        if outbox.send(result).is_err() {
            return;
        }
    }
}

/// All counters are read right around the timed part, the system's by the thread that `leads`.
fn one_trial(
    load: &mut dyn Load,
    order: Order,
    together: &Together,
    leads: bool,
) -> Result<ThreadResult, Reply> {
    let system = || leads.then(|| SystemCounters::read(&together.sources));
    if let Some(iterations) = order.iterations {
        load.prepare(order.ahead + iterations);
    }
    together.start.wait();
    if order.iterations.is_some() {
        load.run(order.ahead);
        load.begin();
    }
    // The counters of the system must not see what another thread still does ahead.
    together.start.wait();
    let before = order.clock.then(|| LoadClock::read(load));
    let system_before = system();
    let devices = || leads.then(|| DeviceCounters::read(&together.sources.devices)).flatten();
    let devices_before = devices();
    let counters = ThreadCounters::before();
    together.start.wait();
    let start = monotonic();
    let disturbed = match order.iterations {
        Some(iterations) => {
            load.run(iterations);
            None
        }
        None => Some(load.disturb(&together.done)),
    };
    let end = monotonic();
    together.one_is_done(order.iterations.is_some());
    // Where threads share a CPU, those that are done sleep until all are.
    together.finish.wait();
    let devices_after = devices();
    let after = order.clock.then(|| LoadClock::read(load));
    let later = ThreadCounters::after();
    let system_after = system();
    let around = before.zip(after).map(|(before, after)| [before, after]);
    let plain = around.map(|[before, after]| before.plain.by_adds.max(after.plain.by_adds));
    let within = plain.and_then(|hz| load.clock_samples()?.mean(hz));
    let end = end - load.idled_s();
    if let Some(reason) = load.failure() {
        return Err(Reply::Refused(reason));
    }
    let mut latencies = Latencies::default();
    load.latencies(&mut latencies);
    let counted = match order.iterations {
        Some(_) => load.verify().map_err(Reply::Unverified)?,
        None => 0,
    };
    Ok(ThreadResult {
        start,
        end,
        counted,
        disturbed,
        clock: TrialClock { around, within },
        counters: later.since(counters),
        latencies,
        device: devices_after.zip(devices_before).and_then(|(after, before)| after.since(&before)),
        system: system_after.zip(system_before).map(|(after, before)| after.since(&before)),
        migrated: counters.cpu != later.cpu,
    })
}

struct Together {
    /// Before a trial: all leave within a cache miss of each other.
    start: Barrier,
    /// After it: a waiting thread takes no CPU from a working one.
    finish: std::sync::Barrier,
    /// Threads that share the work and have not ended their trial.
    working: AtomicUsize,
    done: AtomicBool,
    sources: Sources,
}

impl Together {
    /// A thread has ended; the last one that shared the work ends the others too.
    fn one_is_done(&self, worked: bool) {
        if worked && self.working.fetch_sub(1, Ordering::AcqRel) == 1 {
            self.done.store(true, Ordering::Release);
        }
    }
}

#[cfg(test)]
mod tests;
