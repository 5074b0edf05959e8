//! The threads of one point: pinned, started together, timed from the first start to the last end.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
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
use crate::rounds::Place;
use crate::rounds::log::Log;
use crate::rounds::ticks::Moment;
use crate::workload::{Load, Setup};

mod sliced;

pub(crate) use sliced::Amount as SlicedAmount;

#[derive(Debug, Clone, Copy)]
enum Order {
    /// One call of the load, or two.
    Plain(Plain),
    /// Slices.
    Sliced(sliced::Order),
}

#[derive(Debug, Clone, Copy)]
struct Plain {
    /// Iterations run first, to bring the core to the load's own clock; not timed.
    ahead: u64,
    /// Iterations that are timed; `None`: only load the machine until the others are done.
    iterations: Option<u64>,
    clock: bool,
}

#[derive(Default)]
struct ThreadResult {
    /// Where it runs, once it is set up.
    place: Option<Place>,
    start: f64,
    end: f64,
    claimed: u64,
    counted: u64,
    /// The slices, where the trial was cut.
    log: Log,
    /// The first moment of the timed part on both clocks, and the last: read by the first thread.
    moments: Option<[Moment; 2]>,
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
    /// Iterations that the threads ran, and those that the verified results prove.
    pub claimed: u64,
    pub counted: u64,
    /// Iterations within the trial's time: of slices, the last of which reach beyond it, a part.
    pub within: f64,
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
    /// Where each thread runs.
    places: Vec<Place>,
    /// CPUs that they can run on.
    cpus: usize,
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
            begin: AtomicU64::new(0),
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
                    let at = Place::of_thread(index, cpu.filter(|cpu| pin(*cpu)));
                    member(setup.as_ref(), (index, threads), at, &together, &inbox, &outbox);
                })
                .map_err(|e| Reply::Refused(format!("cannot start thread {index}: {e}")))?;
            members.push(Member { orders, results, thread });
        }
        let (places, cpus) = (Vec::new(), cpus.len().max(1));
        let mut team = Self { members, together, oversubscribed, pinned, places, cpus };
        for m in &team.members {
            team.places.extend(m.result()?.place);
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
        let order =
            |i: usize| Order::Plain(Plain { ahead, iterations: shares.get(i).copied(), clock });
        let results = self.ask(shares.len(), order)?;
        let clocks: Vec<_> = results.iter().map(|p| p.clock).collect();
        let (from, seconds) = span(&results[..shares.len().min(results.len())]);
        let known = Trial { started, seconds, ..self.known(&results, &clocks) };
        let within = results.iter().map(|p| p.claimed).sum::<u64>() as f64;
        Ok(TeamTrial { from, within, ..TeamTrial::of_threads(&results, known) })
    }

    /// Gives each thread its order, of which the first `workers` share the work, and waits for all.
    fn ask(
        &self,
        workers: usize,
        order: impl Fn(usize) -> Order,
    ) -> Result<Vec<ThreadResult>, Reply> {
        self.together.working.store(workers.min(self.members.len()), Ordering::Relaxed);
        self.together.done.store(false, Ordering::Relaxed);
        for (i, m) in self.members.iter().enumerate() {
            m.orders.send(order(i)).map_err(|_| died())?;
        }
        let results: Vec<_> = self.members.iter().map(Member::result).collect();
        results.into_iter().collect()
    }

    /// What is known of a trial without its time.
    fn known(&self, results: &[ThreadResult], clocks: &[TrialClock]) -> Trial {
        let rate = |p: &ThreadResult| Some(p.disturbed? / (p.end - p.start));
        Trial {
            background: results.iter().filter_map(rate).reduce(|a, b| a + b),
            conditions: self.conditions(results, clocks),
            device: results.iter().find_map(|p| p.device.clone()),
            ..Trial::default()
        }
    }

    fn conditions(&self, results: &[ThreadResult], clocks: &[TrialClock]) -> Conditions {
        let system = results.iter().find_map(|p| p.system.clone());
        let (system, busy_s) = system.unwrap_or_default();
        let clock = over_threads(clocks);
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

impl TeamTrial {
    fn of_threads(results: &[ThreadResult], known: Trial) -> Self {
        let mut latencies = Latencies::default();
        results.iter().for_each(|p| latencies.merge(&p.latencies));
        Self {
            known,
            from: 0.0,
            claimed: results.iter().map(|p| p.claimed).fold(0, u64::saturating_add),
            counted: results.iter().map(|p| p.counted).fold(0, u64::saturating_add),
            within: 0.0,
            latencies,
        }
    }
}

/// The first start, and the seconds until the last end.
fn span(workers: &[ThreadResult]) -> (f64, f64) {
    let first = workers.iter().map(|p| p.start).fold(f64::INFINITY, f64::min);
    let last = workers.iter().map(|p| p.end).fold(0.0, f64::max);
    (first, last - first)
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
    place: Place,
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
    let ready = ThreadResult { place: Some(place), ..ThreadResult::default() };
    if outbox.send(Ok(ready)).is_err() {
        return;
    }
    while let Ok(order) = inbox.recv() {
        let result = match order {
            Order::Plain(order) => one_trial(load.as_mut(), order, together, index == 0),
            Order::Sliced(order) => sliced::one_trial(load.as_mut(), order, together, index == 0),
        };
        if outbox.send(result).is_err() {
            return;
        }
    }
}

/// All counters are read right around the timed part, the system's by the thread that `leads`.
fn one_trial(
    load: &mut dyn Load,
    order: Plain,
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
    }
    // The counters of the system must not see what another thread still does ahead.
    together.start.wait();
    load.begin();
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
        claimed: order.iterations.unwrap_or(0),
        counted,
        disturbed,
        clock: TrialClock { around, within },
        counters: later.since(counters),
        latencies,
        device: devices_after.zip(devices_before).and_then(|(after, before)| after.since(&before)),
        system: system_after.zip(system_before).map(|(after, before)| after.since(&before)),
        migrated: counters.cpu != later.cpu,
        ..ThreadResult::default()
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
    /// When the timed part of a trial in slices begins, in ticks.
    begin: AtomicU64,
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
