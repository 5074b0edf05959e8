//! Session of the server: the limits of one client, its channels and its jobs.

use std::collections::HashMap;
use std::io;
use std::net::{Shutdown, TcpStream};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use proofmark_model::lock;

use super::job::{Job, shut};
use crate::bounds::Allowance;
use crate::secret::Token;
use crate::work::{Ends, Task};

const MAX_CHANNELS: usize = 16;
/// Time limit for the tasks of an ended job to finish.
const TASK_TIMEOUT: Duration = Duration::from_secs(1);

/// Session that lasts as long as its control channel, its time and its bytes.
pub(crate) struct Session {
    pub(crate) token: Token,
    pub(crate) ends: Ends,
    pub(crate) until: Instant,
    pub(crate) allowance: Arc<Allowance>,
    state: Mutex<State>,
}

struct State {
    ended: Option<String>,
    control: TcpStream,
    channels: HashMap<Token, Member>,
    /// Jobs that were ended by the session's end.
    ended_jobs: Vec<Arc<Job>>,
}

/// Channel of a worker and its current job.
struct Member {
    stream: TcpStream,
    job: Option<Arc<Job>>,
}

/// Task of a data connection, with its job.
type Claimed = (Box<dyn Task>, Arc<Job>);

impl Session {
    pub(crate) fn new(
        control: TcpStream,
        ends: Ends,
        until: Instant,
        bytes: u64,
    ) -> Option<Arc<Self>> {
        let token = Token::random().ok()?;
        let (channels, ended_jobs) = (HashMap::new(), Vec::new());
        let state = Mutex::new(State { ended: None, control, channels, ended_jobs });
        let allowance = Arc::new(Allowance::new(bytes));
        Some(Arc::new(Self { token, ends, until, allowance, state }))
    }

    pub(crate) fn left(&self) -> Duration {
        self.until.saturating_duration_since(Instant::now())
    }

    /// Ends the session, on the first call: shuts down all data connections and channels. The
    /// control channel is shut for reading only, so that its thread wakes up and can still send the
    /// reason. Does not wait, since a task's own thread may be the caller.
    pub(crate) fn end(&self, reason: &str) {
        let jobs: Vec<Arc<Job>> = {
            let mut state = lock(&self.state);
            if state.ended.is_some() {
                return;
            }
            state.ended = Some(reason.to_owned());
            let _ = state.control.shutdown(Shutdown::Read);
            state.channels.values().for_each(|member| shut(&member.stream));
            state.ended_jobs =
                state.channels.values_mut().filter_map(|member| member.job.take()).collect();
            state.ended_jobs.clone()
        };
        jobs.iter().for_each(|job| job.end());
    }

    /// Waits for the tasks of an ended session.
    pub(crate) fn wait_for_tasks(&self) {
        let until = Instant::now() + TASK_TIMEOUT;
        let jobs = std::mem::take(&mut lock(&self.state).ended_jobs);
        jobs.iter().for_each(|job| job.wait_for_tasks(until));
    }

    pub(crate) fn ended(&self) -> Option<String> {
        lock(&self.state).ended.clone()
    }

    /// Adds a channel, shut down when the session ends, and returns its token.
    pub(crate) fn join(&self, stream: &TcpStream) -> Result<Token, String> {
        let failed = |e: io::Error| e.to_string();
        let name = Token::random().map_err(failed)?;
        let stream = stream.try_clone().map_err(failed)?;
        let mut state = lock(&self.state);
        if let Some(reason) = &state.ended {
            return Err(format!("the session has ended: {reason}"));
        }
        if state.channels.len() >= MAX_CHANNELS {
            return Err(format!("the session already has {MAX_CHANNELS} workers"));
        }
        state.channels.insert(name, Member { stream, job: None });
        Ok(name)
    }

    /// Removes a channel and ends its job.
    pub(crate) fn leave(&self, channel: Token) {
        let member = lock(&self.state).channels.remove(&channel);
        if let Some(job) = member.and_then(|member| member.job) {
            job.end();
        }
    }

    /// Ends the job of a channel and waits for its tasks.
    pub(crate) fn end_job(&self, channel: Token) {
        let job = lock(&self.state).channels.get_mut(&channel).and_then(|member| member.job.take());
        if let Some(job) = job {
            job.end();
            job.wait_for_tasks(Instant::now() + TASK_TIMEOUT);
        }
    }

    /// Sets the job of a channel; false if the session has ended.
    pub(crate) fn start_job(&self, channel: Token, job: Job) -> bool {
        let mut state = lock(&self.state);
        if state.ended.is_some() {
            return false;
        }
        let Some(member) = state.channels.get_mut(&channel) else { return false };
        member.job = Some(Arc::new(job));
        true
    }

    /// Returns the task that waits for this data connection, and its job.
    pub(crate) fn claim(
        &self,
        token: Token,
        stream: &TcpStream,
        ends: Ends,
    ) -> io::Result<Option<Claimed>> {
        let jobs: Vec<Arc<Job>> =
            lock(&self.state).channels.values().filter_map(|member| member.job.clone()).collect();
        for job in jobs {
            if let Some(task) = job.claim(token, stream, ends)? {
                return Ok(Some((task, job)));
            }
        }
        Ok(None)
    }
}
