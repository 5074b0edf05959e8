//! The run's side of a worker, which can crash, hang or babble at the cost of one measurement.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::process::Command;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use proofmark_model::{CpuQuota, Ending, LOOKS, Point, Policy, SystemState, lock};
use proofmark_process::{ChildProcess, Ended, Exit, Input, Line, StartOptions, Stream};
use rustix::process::{Pid, Signal, kill_process};

use crate::protocol::{Job, Order, Reply, Request, Taken, send};

mod ended;
mod together;

use ended::{Limits, excerpt};
use together::SharedSession;
pub use together::SharedWorker;

/// Starts the measuring of points.
pub trait Launcher {
    /// Starts one, or says how the point ended before it began.
    fn launch(&self, point: &Point) -> Result<Box<dyn Session>, Ending>;

    /// The same in one worker with all others that were launched so and still live, whose memory it
    /// may use.
    fn launch_together(&self, point: &Point) -> Result<Box<dyn Session>, Ending> {
        self.launch(point)
    }

    /// Ends a worker that waits for the next point, and so gives up what it keeps for that.
    fn release_idle_worker(&self) {}
}

/// A point that is set up and takes trials when asked.
pub trait Session {
    /// Takes one trial, or says how the point ended instead.
    fn take(&mut self, request: Request) -> Result<Taken, Ending>;
}

/// Asks a run to stop, from any thread: no new trial begins, and the workers are killed.
#[derive(Debug, Clone, Default)]
pub struct Stop(Arc<Mutex<StopState>>);

#[derive(Debug, Default)]
struct StopState {
    by: Option<String>,
    workers: BTreeSet<i32>,
}

impl Stop {
    /// Stops the run; `by` names the signal.
    pub fn stop(&self, by: &str) {
        let mut state = self.state();
        state.by = Some(by.to_owned());
        for pid in state.workers.iter().copied().filter_map(Pid::from_raw) {
            // It may have just ended by itself.
            let _ = kill_process(pid, Signal::KILL);
        }
    }

    /// Who stopped the run, if someone did.
    pub fn stopped_by(&self) -> Option<String> {
        self.state().by.clone()
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
    /// Its arguments, which make it a worker.
    pub arguments: Vec<String>,
    /// Its environment besides the run's: everybody can read arguments, so no secrets are in those.
    pub environment: Vec<(String, String)>,
    /// CPUs to pin to.
    pub cpus: Vec<u32>,
    /// cpu.stat files that report throttling.
    pub cpu_stat: Vec<PathBuf>,
    /// Folder whose disk is measured; workers run in it.
    pub disk_path: Option<PathBuf>,
    /// Block devices at the bottom of that disk, by the names of /proc/diskstats.
    pub devices: Vec<String>,
    /// How trials are taken: how long they last.
    pub policy: Policy,
    /// Longest silence of a worker before it counts as hung.
    pub patience: Duration,
    /// Reads the limits of the system: which of them ended a worker is found by what they were
    /// before.
    pub system_state: fn() -> SystemState,
    /// How the run is stopped.
    pub stop: Stop,
    /// The worker of the point before, if it ended well.
    pub idle: Idle,
    /// The worker of points that are measured together.
    pub shared: SharedWorker,
}

/// A worker that waits for the next point of its subsystem, which may use the last one's memory.
#[derive(Clone, Default)]
pub struct Idle(Arc<Mutex<Option<Worker>>>);

impl Idle {
    /// The worker, if it is of that subsystem; one of another subsystem is ended.
    fn take(&self, subsystem: &str) -> Option<Worker> {
        let waiting = self.lock().take(); // To end another takes time: not under the lock.
        waiting.filter(|worker| worker.subsystem == subsystem)
    }

    fn lock(&self) -> MutexGuard<'_, Option<Worker>> {
        lock(&self.0)
    }
}

impl Launcher for Workers {
    fn launch(&self, point: &Point) -> Result<Box<dyn Session>, Ending> {
        let worker = self.begun(ALONE, &self.job(point))?;
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

/// The slot of a point that has its worker to itself.
const ALONE: u32 = 0;

impl Workers {
    fn job(&self, point: &Point) -> Job {
        Job {
            point: point.clone(),
            cpus: self.cpus.clone(),
            cpu_stat: self.cpu_stat.clone(),
            devices: self.devices.clone(),
            trial_s: self.policy.trial_s_for(&point.workload),
            // A number that the intervals decide counts trials: each must be one round then. Of a fixed
            // number the rounds together must be enough for an interval.
            least_rounds: self.policy.is_fixed(&point.workload).then(|| {
                (LOOKS[0] as u32).div_ceil(self.policy.trials_for(&point.workload).1.max(1))
            }),
            // A quota that the plan does not know is seen when it is set.
            quota_periods: self.policy.quota.map_or(CpuQuota::LEAST_PERIODS as u32, |q| q.periods),
        }
    }

    /// A worker with this set up: the one that waits, if it is of the subsystem, or a new one.
    fn begun(&self, slot: u32, job: &Job) -> Result<Worker, Ending> {
        let subsystem = job.point.workload.split('.').next().unwrap_or_default();
        if let Some(mut waiting) = self.idle.take(subsystem) {
            // A point that had the worker for itself is still set up there.
            let begun = waiting.take_down(ALONE).and_then(|()| waiting.begin(slot, job));
            match begun {
                // A death while it waited is no fault of this point; one of this point comes again.
                Err(Ending::Crashed { .. } | Ending::Limited { .. }) => {}
                begun => return begun.map(|()| waiting),
            }
        }
        let mut worker = Worker::spawn(self, subsystem)?;
        worker.begin(slot, job)?;
        Ok(worker)
    }
}

/// A point that has its worker to itself, which goes back to wait if nothing went wrong.
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

/// Longest line of a worker. A trial's line grows with the connections of a network workload, 145
/// bytes each, and holds 20 KB of latencies at most.
const LINE_LIMIT: usize = 256 * 1024;
/// Bytes of its last words that are kept: a panic says why first, and a long backtrace may follow.
const WORDS_LIMIT: usize = 64 * 1024;

/// Time that a worker gets to end by itself before it is killed.
const GRACE: Duration = Duration::from_millis(500);
/// Time for the last words of one that has ended.
const LAST_WORDS: Duration = Duration::from_millis(200);

struct Worker {
    subsystem: String,
    child: ChildProcess,
    patience: Duration,
    limits: Limits,
    stop: Stop,
}

impl Worker {
    fn spawn(how: &Workers, subsystem: &str) -> Result<Self, Ending> {
        let limits = Limits::new(how.system_state);
        let mut command = Command::new(&how.program);
        if let Some(folder) = &how.disk_path {
            command.current_dir(folder);
        }
        command.args(&how.arguments).envs(how.environment.iter().cloned());
        let options = StartOptions {
            input: Input::Piped,
            output: Stream::Lines(LINE_LIMIT),
            errors: Stream::Tail(WORDS_LIMIT),
            ..StartOptions::default()
        };
        let child = ChildProcess::start(&mut command, options)
            .map_err(|e| limits.ending(None, &format!("cannot start a worker: {e}")))?;
        how.stop.add(child.id());
        let (subsystem, patience, stop) = (subsystem.to_owned(), how.patience, how.stop.clone());
        Ok(Self { subsystem, child, patience, limits, stop })
    }

    /// Says one line and waits for the answer.
    fn ask(&mut self, order: &Order) -> Result<Reply, Ending> {
        if let Some(by) = self.stop.stopped_by() {
            return Err(Ending::Interrupted { by });
        }
        let sent = self.child.input().is_some_and(|pipe| send(pipe, order).is_ok());
        if !sent {
            return Err(self.autopsy("it closed its input"));
        }
        match self.child.line(self.patience) {
            Line::Text(line) => serde_json::from_slice(&line).map_err(|_| {
                let line = String::from_utf8_lossy(&line);
                self.autopsy(&format!("it sent an invalid reply: {}", excerpt(&line)))
            }),
            Line::End => Err(self.autopsy("it ended without a reply")),
            Line::Silence => {
                // Given up and killed: how the process ended then says nothing.
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
            Reply::Ready | Reply::Taken(_) => self.autopsy("it answered out of turn"),
        }
    }

    fn autopsy(&mut self, seen: &str) -> Ending {
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

    /// Ends the process; how, if it ended by itself within the grace.
    fn end(&mut self, grace: Duration) -> Option<Ended> {
        // Nobody asks it any more, also without a grace.
        drop(self.child.take_input());
        let ended = self.child.end(grace);
        self.stop.remove(self.child.id());
        ended
    }

    fn take(&mut self, slot: u32, request: Request) -> Result<Taken, Ending> {
        match self.ask(&Order::Take(slot, request))? {
            Reply::Taken(t) if t.trial.seconds > 0.0 && t.trial.work.is_finite() => Ok(*t),
            Reply::Taken(_) => Err(self.autopsy("its trial has no duration")),
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
