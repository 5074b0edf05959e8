//! A session of the server: what one client was granted, and all that hangs on it.

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

const MOST_CHANNELS: usize = 16;
/// How long the tasks of an ended job may take to go.
const SETTLING: Duration = Duration::from_secs(1);

/// Lives as long as its lead's channel, its time and its bytes.
pub(crate) struct Session {
    pub(crate) token: Token,
    pub(crate) ends: Ends,
    pub(crate) until: Instant,
    pub(crate) allowance: Arc<Allowance>,
    state: Mutex<State>,
}

struct State {
    ended: Option<String>,
    lead: TcpStream,
    channels: HashMap<Token, Member>,
    /// Jobs that the session's end ended.
    ended_jobs: Vec<Arc<Job>>,
}

/// A worker's channel and its present job.
struct Member {
    stream: TcpStream,
    job: Option<Arc<Job>>,
}

/// A task for a data connection, with its job.
type Claimed = (Box<dyn Task>, Arc<Job>);

impl Session {
    pub(crate) fn new(
        lead: TcpStream,
        ends: Ends,
        until: Instant,
        bytes: u64,
    ) -> Option<Arc<Self>> {
        let token = Token::random().ok()?;
        let (channels, ended_jobs) = (HashMap::new(), Vec::new());
        let state = Mutex::new(State { ended: None, lead, channels, ended_jobs });
        let allowance = Arc::new(Allowance::new(bytes));
        Some(Arc::new(Self { token, ends, until, allowance, state }))
    }

    pub(crate) fn left(&self) -> Duration {
        self.until.saturating_duration_since(Instant::now())
    }

    /// Ends it, the first time that it is called: all data connections and channels are
    /// shut down. The lead's is shut for reading only, so that its thread wakes up and can
    /// still say why. Waits for nothing, since a task's own thread may be the caller.
    pub(crate) fn end(&self, reason: &str) {
        let jobs: Vec<Arc<Job>> = {
            let mut state = lock(&self.state);
            if state.ended.is_some() {
                return;
            }
            state.ended = Some(reason.to_owned());
            let _ = state.lead.shutdown(Shutdown::Read);
            state.channels.values().for_each(|member| shut(&member.stream));
            state.ended_jobs =
                state.channels.values_mut().filter_map(|member| member.job.take()).collect();
            state.ended_jobs.clone()
        };
        jobs.iter().for_each(|job| job.end());
    }

    /// After the end, waits for its tasks.
    pub(crate) fn wait_for_tasks(&self) {
        let until = Instant::now() + SETTLING;
        let jobs = std::mem::take(&mut lock(&self.state).ended_jobs);
        jobs.iter().for_each(|job| job.wait_for_tasks(until));
    }

    pub(crate) fn ended(&self) -> Option<String> {
        lock(&self.state).ended.clone()
    }

    /// Adds a channel, shut down when the session ends; its name is for the other functions.
    pub(crate) fn join(&self, stream: &TcpStream) -> Result<Token, String> {
        let failed = |e: io::Error| e.to_string();
        let name = Token::random().map_err(failed)?;
        let stream = stream.try_clone().map_err(failed)?;
        let mut state = lock(&self.state);
        if let Some(reason) = &state.ended {
            return Err(format!("the session has ended: {reason}"));
        }
        if state.channels.len() >= MOST_CHANNELS {
            return Err(format!("the session already has {MOST_CHANNELS} workers"));
        }
        state.channels.insert(name, Member { stream, job: None });
        Ok(name)
    }

    /// Takes a channel out and ends its job.
    pub(crate) fn leave(&self, channel: Token) {
        let member = lock(&self.state).channels.remove(&channel);
        if let Some(job) = member.and_then(|member| member.job) {
            job.end();
        }
    }

    /// Ends the job of a channel, and waits for its tasks.
    pub(crate) fn end_job(&self, channel: Token) {
        let job = lock(&self.state).channels.get_mut(&channel).and_then(|member| member.job.take());
        if let Some(job) = job {
            job.end();
            job.wait_for_tasks(Instant::now() + SETTLING);
        }
    }

    /// Gives a channel its job; false if the session ended meanwhile.
    pub(crate) fn start_job(&self, channel: Token, job: Job) -> bool {
        let mut state = lock(&self.state);
        if state.ended.is_some() {
            return false;
        }
        let Some(member) = state.channels.get_mut(&channel) else { return false };
        member.job = Some(Arc::new(job));
        true
    }

    /// The task that waits for this data connection, and its job.
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
