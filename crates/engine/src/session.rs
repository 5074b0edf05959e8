//! The run's side of a worker, which can crash, hang or babble at the cost of one measurement.

use std::collections::BTreeSet;
use std::io::{self, BufRead, BufReader, Read};
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use proofmark_model::{CpuQuota, Ending, LOOKS, Point, Policy, SystemState};
use rustix::process::{Pid, Signal, kill_process};

use crate::protocol::{Job, Order, Reply, Request, Taken, send};

mod ended;
mod together;

pub use ended::signal_name;
use ended::{Ended, Limits, excerpt};
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
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
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
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
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

/// Longest line and longest last words that are kept of a worker. A trial's line grows with the
/// connections of a network workload, 145 bytes each, and holds 20 KB of latencies at most.
const LINE_LIMIT: u64 = 256 * 1024;
const WORDS_LIMIT: u64 = 4 * 1024;

/// Time that a worker gets to end by itself before it is killed.
const GRACE: Duration = Duration::from_millis(500);

struct Worker {
    subsystem: String,
    child: Child,
    replies: Receiver<String>,
    last_words: Receiver<String>,
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
        let mut child = command
            .args(&how.arguments)
            .envs(how.environment.iter().cloned())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            // Its own group: Ctrl-C reaches the run alone, which then stops its workers.
            .process_group(0)
            .spawn()
            .map_err(|e| limits.ending(None, &format!("cannot start a worker: {e}")))?;
        how.stop.add(child.id());
        let pipes = (child.stdout.take(), child.stderr.take());
        let (send_reply, replies) = channel();
        let (send_words, last_words) = channel();
        let (subsystem, patience, stop) = (subsystem.to_owned(), how.patience, how.stop.clone());
        // From here on it is ended when this goes.
        let worker = Self { subsystem, child, replies, last_words, patience, limits, stop };
        if let (Some(out), Some(err)) = pipes {
            let read = reader("replies", move || read_lines(out, &send_reply))
                .and_then(|()| reader("words", move || read_words(err, &send_words)));
            read.map_err(|e| {
                worker.limits.ending(None, &format!("cannot start a thread for a worker: {e}"))
            })?;
        }
        Ok(worker)
    }

    /// Says one line and waits for the answer.
    fn ask(&mut self, order: &Order) -> Result<Reply, Ending> {
        if let Some(by) = self.stop.stopped_by() {
            return Err(Ending::Interrupted { by });
        }
        let sent = self.child.stdin.as_mut().is_some_and(|pipe| send(pipe, order).is_ok());
        if !sent {
            return Err(self.autopsy("it closed its input"));
        }
        match self.replies.recv_timeout(self.patience) {
            Ok(line) => serde_json::from_str(&line).map_err(|_| {
                self.autopsy(&format!("it sent an invalid reply: {}", excerpt(&line)))
            }),
            Err(RecvTimeoutError::Disconnected) => Err(self.autopsy("it ended without a reply")),
            Err(RecvTimeoutError::Timeout) => {
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
        let status = self.end(GRACE);
        self.ending(seen, status)
    }

    fn ending(&self, seen: &str, ended: Option<Ended>) -> Ending {
        if let Some(by) = self.stop.stopped_by() {
            return Ending::Interrupted { by };
        }
        let words = self.last_words.recv_timeout(Duration::from_millis(200)).unwrap_or_default();
        let mut detail = match ended.and_then(|ended| ended.status.code()) {
            Some(code) if code != 0 => format!("{seen}; exit status {code}"),
            _ => seen.to_owned(),
        };
        if !words.is_empty() {
            detail = format!("{detail}; its output: {words}");
        }
        self.limits.ending(ended, &detail)
    }

    /// Ends the process; how, if it ended by itself within the grace.
    fn end(&mut self, grace: Duration) -> Option<Ended> {
        self.child.stdin = None;
        let begin = Instant::now();
        let mut ended = Ended::of(&mut self.child);
        while ended.is_none() && begin.elapsed() < grace {
            thread::sleep(Duration::from_millis(2));
            ended = Ended::of(&mut self.child);
        }
        self.stop.remove(self.child.id());
        if ended.is_none() {
            let _ = self.child.kill();
            let _ = self.child.wait();
        }
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

fn reader(name: &str, read: impl FnOnce() + Send + 'static) -> io::Result<()> {
    thread::Builder::new().name(name.to_owned()).spawn(read).map(drop)
}

fn read_lines(out: impl Read, to: &Sender<String>) {
    let mut out = BufReader::new(out);
    let mut line = Vec::new();
    while matches!(out.by_ref().take(LINE_LIMIT).read_until(b'\n', &mut line), Ok(1..))
        && to.send(String::from_utf8_lossy(&line).into_owned()).is_ok()
    {
        line.clear();
    }
}

fn read_words(mut err: impl Read, to: &Sender<String>) {
    let mut words = Vec::new();
    let _ = err.by_ref().take(WORDS_LIMIT).read_to_end(&mut words);
    let _ = to.send(String::from_utf8_lossy(&words).trim().to_owned());
    let _ = io::copy(&mut err, &mut io::sink());
}

#[cfg(test)]
mod tests;
