//! The run's side of a worker. A worker that crashes, hangs or sends nonsense costs one
//! measurement.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::process::Command;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{Duration, Instant};

use proofmark_model::{CpuQuota, Ending, LOOKS, Point, Policy, SystemState, lock};
use proofmark_process::{ChildProcess, Ended, Exit, Input, Line, StartOptions, Stream};
use rustix::process::{Pid, Signal, kill_process};

use crate::protocol::{Job, Order, Reply, Request, Taken, send};

mod ended;
mod together;

use ended::{Limits, excerpt};
use together::SharedSession;
pub use together::SharedWorker;

/// Starts the measurement of configurations.
pub trait Launcher {
    /// Starts one, or returns how it ended before it began.
    fn launch(&self, point: &Point) -> Result<Box<dyn Session>, Ending>;

    /// Starts one in the same worker as all others that were launched with this function and still
    /// live. They may use the same memory.
    fn launch_together(&self, point: &Point) -> Result<Box<dyn Session>, Ending> {
        self.launch(point)
    }

    /// Ends the worker that waits for the next configuration, which frees the memory that it keeps.
    fn release_idle_worker(&self) {}
}

/// A configuration that is set up and takes trials on request.
pub trait Session {
    /// Takes one trial, or returns how the configuration ended instead.
    fn take(&mut self, request: Request) -> Result<Taken, Ending>;
}

/// Stops a run, from any thread: no new trial begins, and the workers are killed.
#[derive(Debug, Clone, Default)]
pub struct Stop(Arc<Mutex<StopState>>);

#[derive(Debug, Default)]
struct StopState {
    by: Option<String>,
    deadline: Option<Instant>,
    workers: BTreeSet<i32>,
}

impl Stop {
    /// Stops the run; `by` names the signal.
    pub fn stop(&self, by: &str) {
        let mut state = self.state();
        state.by = Some(by.to_owned());
        for pid in state.workers.iter().copied().filter_map(Pid::from_raw) {
            // It fails if the worker has just ended by itself.
            let _ = kill_process(pid, Signal::KILL);
        }
    }

    /// The name of the signal that stopped the run, if one did.
    pub fn stopped_by(&self) -> Option<String> {
        self.state().by.clone()
    }

    /// Sets the time after which no worker and no tool is waited for; `None`: there is no such time.
    pub fn set_time_left(&self, left: Option<Duration>) {
        self.state().deadline = left.map(|left| Instant::now() + left);
    }

    /// Returns for how long workers and tools are waited for, if that is limited.
    pub fn time_left(&self) -> Option<Duration> {
        Some(self.state().deadline?.saturating_duration_since(Instant::now()))
    }

    /// Returns true once the time that was set is over.
    pub fn is_time_over(&self) -> bool {
        self.time_left().is_some_and(|left| left.is_zero())
    }

    fn add(&self, pid: u32) {
        self.state().workers.extend(i32::try_from(pid));
    }

    fn remove(&self, pid: u32) {
        if let Ok(pid) = i32::try_from(pid) {
            self.state().workers.remove(&pid);
        }
    }

    fn state(&self) -> MutexGuard<'_, StopState> {
        lock(&self.0)
    }
}

/// Launches workers as child processes.
#[derive(Clone)]
pub struct Workers {
    /// The program to run.
    pub program: PathBuf,
    /// The program's arguments, which make it a worker.
    pub arguments: Vec<String>,
    /// Environment variables in addition to the run's. Secrets belong here: every user can read
    /// arguments.
    pub environment: Vec<(String, String)>,
    /// CPUs to pin to.
    pub cpus: Vec<u32>,
    /// cpu.stat files that report throttling.
    pub cpu_stat: Vec<PathBuf>,
    /// Folder whose disk is measured; workers run in it.
    pub disk_path: Option<PathBuf>,
    /// Block devices at the bottom of that disk, by the names of /proc/diskstats.
    pub devices: Vec<String>,
    /// The policy for trials, such as their duration.
    pub policy: Policy,
    /// Silence after which a worker counts as hung.
    pub patience: Duration,
    /// Reads the limits of the system. Comparing them before and after shows which one ended a
    /// worker.
    pub system_state: fn() -> SystemState,
    /// Stops the run and its workers.
    pub stop: Stop,
    /// The worker of the previous configuration, if that ended well.
    pub idle: Idle,
    /// The worker of configurations that are measured together.
    pub shared: SharedWorker,
}

/// A worker that waits for the next configuration of its subsystem, which may use the memory of the
/// last one.
#[derive(Clone, Default)]
pub struct Idle(Arc<Mutex<Option<Worker>>>);

impl Idle {
    /// Takes the worker if it is of that subsystem; ends one of another subsystem.
    fn take(&self, subsystem: &str) -> Option<Worker> {
        let waiting = self.lock().take(); // Without the lock: ending another one takes time.
        waiting.filter(|worker| worker.subsystem == subsystem)
    }

    fn lock(&self) -> MutexGuard<'_, Option<Worker>> {
        lock(&self.0)
    }
}

impl Launcher for Workers {
    fn launch(&self, point: &Point) -> Result<Box<dyn Session>, Ending> {
        let worker = self.worker_with(ALONE, &self.job(point))?;
        Ok(Box::new(SoleSession { worker: Some(worker), idle: self.idle.clone() }))
    }

    fn launch_together(&self, point: &Point) -> Result<Box<dyn Session>, Ending> {
        let mut session = SharedSession::new(self.clone(), self.job(point));
        session.set_up()?;
        Ok(Box::new(session))
    }

    fn release_idle_worker(&self) {
        drop(self.idle.lock().take());
    }
}

/// The slot of a configuration that has its worker to itself.
const ALONE: u32 = 0;

impl Workers {
    fn job(&self, point: &Point) -> Job {
        Job {
            point: point.clone(),
            cpus: self.cpus.clone(),
            cpu_stat: self.cpu_stat.clone(),
            devices: self.devices.clone(),
            trial_s: self.policy.trial_s_for(&point.workload),
            // If the intervals decide the number of trials, each trial must be one round. If the
            // number is fixed, the rounds of all trials must be enough for an interval.
            least_rounds: self.policy.is_fixed(&point.workload).then(|| {
                (LOOKS[0] as u32).div_ceil(self.policy.trials_for(&point.workload).1.max(1))
            }),
            // A quota that the plan does not know takes effect when it is set.
            quota_periods: self.policy.quota.map_or(CpuQuota::MIN_PERIODS as u32, |q| q.periods),
        }
    }

    /// A worker in which this job is set up: the idle one if it is of the subsystem, or a new one.
    fn worker_with(&self, slot: u32, job: &Job) -> Result<Worker, Ending> {
        let subsystem = job.point.workload.split('.').next().unwrap_or_default();
        if let Some(mut waiting) = self.idle.take(subsystem) {
            // The previous configuration may still be set up there.
            let begun = waiting.take_down(ALONE).and_then(|()| waiting.begin(slot, job));
            match begun {
                // It may have died while it waited. If this configuration killed it, that happens
                // again in the new worker.
                Err(Ending::Crashed { .. } | Ending::Limited { .. }) => {}
                begun => return begun.map(|()| waiting),
            }
        }
        let mut worker = Worker::spawn(self, subsystem)?;
        worker.begin(slot, job)?;
        Ok(worker)
    }
}

/// A configuration that has its worker to itself. The worker becomes idle again if nothing went
/// wrong.
struct SoleSession {
    worker: Option<Worker>,
    idle: Idle,
}

impl Session for SoleSession {
    fn take(&mut self, request: Request) -> Result<Taken, Ending> {
        let Some(mut worker) = self.worker.take() else {
            return Err(Ending::Crashed { signal: None, detail: "it has ended".to_owned() });
        };
        let taken = worker.take(ALONE, request)?;
        self.worker = Some(worker);
        Ok(taken)
    }
}

impl Drop for SoleSession {
    fn drop(&mut self) {
        if let Some(worker) = self.worker.take() {
            self.idle.lock().get_or_insert(worker);
        }
    }
}

/// Maximum bytes of a worker's line. A trial's line has at most 20 KB of latencies, and 145 bytes
/// for each connection of a network workload.
const LINE_LIMIT: usize = 256 * 1024;
/// Bytes of a worker's output that are kept: a panic comes first, and a long backtrace may follow.
const WORDS_LIMIT: usize = 64 * 1024;

/// Time that a worker has to end by itself before it is killed.
const GRACE: Duration = Duration::from_millis(500);
/// Time for the last output of a worker that has ended.
const LAST_WORDS: Duration = Duration::from_millis(200);

struct Worker {
    subsystem: String,
    child: ChildProcess,
    patience: Duration,
    limits: Limits,
    stop: Stop,
}

impl Worker {
    fn spawn(workers: &Workers, subsystem: &str) -> Result<Self, Ending> {
        let limits = Limits::new(workers.system_state);
        let mut command = Command::new(&workers.program);
        if let Some(folder) = &workers.disk_path {
            command.current_dir(folder);
        }
        command.args(&workers.arguments).envs(workers.environment.iter().cloned());
        let options = StartOptions {
            input: Input::Piped,
            output: Stream::Lines(LINE_LIMIT),
            errors: Stream::Tail(WORDS_LIMIT),
            ..StartOptions::default()
        };
        let child = ChildProcess::start(&mut command, options)
            .map_err(|e| limits.ending(None, &format!("cannot start a worker: {e}")))?;
        workers.stop.add(child.id());
        let (subsystem, patience, stop) =
            (subsystem.to_owned(), workers.patience, workers.stop.clone());
        Ok(Self { subsystem, child, patience, limits, stop })
    }

    /// Sends one line and waits for the reply.
    fn ask(&mut self, order: &Order) -> Result<Reply, Ending> {
        if let Some(by) = self.stop.stopped_by() {
            return Err(Ending::Interrupted { by });
        }
        let sent = self.child.input().is_some_and(|pipe| send(pipe, order).is_ok());
        if !sent {
            return Err(self.failure("it closed its input"));
        }
        let begun = Instant::now();
        let left = self.stop.time_left().filter(|left| *left < self.patience);
        match self.child.line(left.unwrap_or(self.patience)) {
            Line::Text(line) => serde_json::from_slice(&line).map_err(|_| {
                let line = String::from_utf8_lossy(&line);
                self.failure(&format!("it sent an invalid reply: {}", excerpt(&line)))
            }),
            Line::End => Err(self.failure("it ended without a reply")),
            Line::Silence if left.is_some() => {
                self.end(Duration::ZERO);
                Err(Ending::LeftOut { needs_s: begun.elapsed().as_secs_f64() })
            }
            Line::Silence => {
                // The worker is killed, so its exit status has no information.
                self.end(GRACE);
                let silence = format!("it was silent for {} s", self.patience.as_secs());
                Err(self.ending(&silence, None))
            }
        }
    }

    fn begin(&mut self, slot: u32, job: &Job) -> Result<(), Ending> {
        self.limits.renew();
        self.ready_after(&Order::Begin(slot, job.clone()))
    }

    fn take_down(&mut self, slot: u32) -> Result<(), Ending> {
        self.ready_after(&Order::End(slot))
    }

    fn ready_after(&mut self, order: &Order) -> Result<(), Ending> {
        match self.ask(order)? {
            Reply::Ready => Ok(()),
            other => Err(self.out_of_turn(other)),
        }
    }

    fn out_of_turn(&mut self, reply: Reply) -> Ending {
        match reply {
            Reply::Refused(reason) => self.limits.refusal(reason),
            Reply::Unverified(reason) => Ending::Unverified { reason },
            Reply::Ready | Reply::Taken(_) => self.failure("it answered out of turn"),
        }
    }

    fn failure(&mut self, seen: &str) -> Ending {
        let ended = self.end(GRACE);
        self.ending(seen, ended)
    }

    fn ending(&self, seen: &str, ended: Option<Ended>) -> Ending {
        if let Some(by) = self.stop.stopped_by() {
            return Ending::Interrupted { by };
        }
        let words = self.child.last_words(LAST_WORDS);
        let mut detail = match ended.map(|ended| ended.exit) {
            Some(exit @ Exit::Status(1..)) => format!("{seen}; it {exit}"),
            _ => seen.to_owned(),
        };
        if !words.trim().is_empty() {
            detail = format!("{detail}; its output: {}", words.trim());
        }
        self.limits.ending(ended, &detail)
    }

    /// Ends the process. Returns how it ended, if it did so by itself within the grace.
    fn end(&mut self, grace: Duration) -> Option<Ended> {
        // A closed input lets the worker end by itself, also without a grace.
        drop(self.child.take_input());
        let ended = self.child.end(grace);
        self.stop.remove(self.child.id());
        ended
    }

    fn take(&mut self, slot: u32, request: Request) -> Result<Taken, Ending> {
        match self.ask(&Order::Take(slot, request))? {
            Reply::Taken(t) if t.trial.seconds > 0.0 && t.trial.work.is_finite() => Ok(*t),
            Reply::Taken(_) => Err(self.failure("its trial has no duration")),
            other => Err(self.out_of_turn(other)),
        }
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        self.end(Duration::ZERO);
    }
}

#[cfg(test)]
mod tests;
