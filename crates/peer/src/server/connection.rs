//! What becomes of one connection, on its own thread: a lead, a worker, a task, or nothing.

use std::io::{self, ErrorKind};
use std::net::{IpAddr, TcpStream};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{Duration, Instant};

use proofmark_model::{ServerEnd, lock};
use serde_json::Value;

use super::gate::Pass;
use super::job::Job;
use super::log::Log;
use super::session::Session;
use super::{Server, Slot};
use crate::VERSION;
use crate::handshake::Admitted;
use crate::message::{Limits, ToClient, ToServer, excerpt};
use crate::sealed::Sealed;
use crate::secret::Token;
use crate::this_host::{raw_ns, this_host};
use crate::timed::Timed;
use crate::wire::DATA;
use crate::work::{Ends, Work};

/// Longest time for an answer to be taken.
const ANSWER: Duration = Duration::from_secs(5);
/// Why a stopped server grants nothing, and why its session ended.
pub(super) const STOPPED: &str = "the server was stopped";
/// Why a session ended whose tasks asked for more bytes than it was granted.
const USED_UP: &str = "its limit of bytes is reached";
/// Longest time that can be granted: a moment must fit the clock.
const LONGEST: u64 = 1 << 30;

/// The server with what it works for.
pub(super) struct Connections<'a> {
    server: &'a Server,
    work: &'a dyn Work,
    log: Log,
    /// Connections without the key: when they were reported last, and how many since.
    turned_away: Mutex<(Option<Instant>, u64)>,
    /// When it was last reported that the system refuses something.
    refused_at: Mutex<Option<Instant>>,
}

impl<'a> Connections<'a> {
    pub(super) fn new(server: &'a Server, work: &'a dyn Work, log: Log) -> Self {
        let (turned_away, refused_at) = (Mutex::new((None, 0)), Mutex::new(None));
        Self { server, work, log, turned_away, refused_at }
    }

    /// Detects what it is, and serves it until it ends.
    pub(super) fn serve(&self, stream: TcpStream, pass: Pass) {
        let Ok(ends) = Ends::from_stream(&stream) else { return };
        let until = Instant::now() + self.server.patience.handshake;
        match self.server.handshake.admit(&mut Timed::new(&stream, Some(until))) {
            Err(_) => {
                drop(pass);
                self.turn_away(ends.peer.ip());
            }
            Ok(Admitted::Data(token)) => self.data(token, stream, ends, pass),
            Ok(Admitted::Control(state, first)) => {
                drop(pass);
                // Small messages, each waited for.
                let _ = stream.set_nodelay(true);
                self.control(Sealed::new(stream, state), ends, first);
            }
        }
    }

    /// Reports what the system refuses to this server, once a second at most: the client only sees
    /// that its connection is closed.
    pub(super) fn cannot(&self, what: &str, error: &io::Error) {
        let mut reported = lock(&self.refused_at);
        if reported.is_none_or(|at| at.elapsed() >= Duration::from_secs(1)) {
            *reported = Some(Instant::now());
            self.log.report(format!("cannot {what}: {error}"));
        }
    }

    fn turn_away(&self, from: IpAddr) {
        let count = {
            let mut reported = lock(&self.turned_away);
            reported.1 += 1;
            if reported.0.is_some_and(|at| at.elapsed() < Duration::from_secs(1)) {
                return;
            }
            reported.0 = Some(Instant::now());
            std::mem::take(&mut reported.1)
        };
        let last = format!("the last from {from}");
        self.log.report(format!("rejected {count} connections without the key, {last}"));
    }

    /// A data connection, if its token is good.
    fn data(&self, token: Token, stream: TcpStream, ends: Ends, pass: Pass) {
        let session = self.server.session();
        let claimed = session.as_ref().map_or(Ok(None), |s| s.claim(token, &stream, ends));
        drop(pass);
        let (session, (task, job)) = match (session, claimed) {
            (Some(session), Ok(Some(claimed))) => (session, claimed),
            // No descriptor is free.
            (_, Err(e)) => return self.cannot("keep a data connection", &e),
            _ => return self.turn_away(ends.peer.ip()),
        };
        let begun =
            io::Write::write_all(&mut Timed::new(&stream, Some(Instant::now() + ANSWER)), &[DATA]);
        // The task finds the stream as a new one: without timeouts.
        let cleared = stream.set_read_timeout(None).and_then(|()| stream.set_write_timeout(None));
        if begun.is_ok() && cleared.is_ok() {
            self.guarded(|| task.run(stream, &job.bounds));
        }
        // Only now, so that the task could still answer.
        if session.allowance.used_up() {
            session.end(USED_UP);
        }
        job.leave(token);
    }

    fn control(&self, mut channel: Sealed, ends: Ends, first: Option<ToServer>) {
        let answer = match first {
            Some(ToServer::Hello { version, run, asked }) if version == VERSION => {
                let granted = self.granted(asked);
                match self.grant(&channel, ends, granted) {
                    Ok(session) => return self.lead(channel, &session, &excerpt(&run), granted),
                    Err(answer) => answer,
                }
            }
            Some(ToServer::Look { version }) if version == VERSION => self.overview(ends),
            Some(ToServer::Join { session }) => match self.server.session() {
                Some(found) if found.token == session => return self.worker(channel, ends, &found),
                _ => refusal("the session has ended"),
            },
            // Another version: of an unknown shape, or one that says so.
            _ => ToClient::Differs { version: VERSION.to_owned() },
        };
        let refused = match &answer {
            ToClient::Overview { .. } => None,
            ToClient::Busy { seconds } => {
                Some(format!("the server is busy with another session, for at most {seconds} s"))
            }
            ToClient::Refused { reason } => Some(reason.clone()),
            _ => Some("the versions differ".to_owned()),
        };
        if let Some(reason) = refused {
            self.log.report(format!("refused {}: {reason}", ends.peer));
        }
        // He may be gone; there is nothing else to tell him.
        let _ = channel.send(&answer, Instant::now() + ANSWER);
    }

    /// The requested limits, reduced to what this server allows.
    fn granted(&self, asked: Limits) -> Limits {
        let most = self.server.limits;
        Limits {
            seconds: asked.seconds.min(most.seconds).min(LONGEST),
            bytes: asked.bytes.min(most.bytes),
        }
    }

    /// What a client may know before it asks for a session.
    fn overview(&self, ends: Ends) -> ToClient {
        if let Err(answer) = self.free_slot() {
            return answer;
        }
        let cpus = self.guarded(|| self.work.cpus()).unwrap_or_default();
        ToClient::Overview {
            host: Box::new(ServerEnd { cpus, ..this_host() }),
            interface: self.guarded(|| self.work.interface(ends)).flatten().map(Box::new),
            limits: self.granted(Limits { seconds: u64::MAX, bytes: u64::MAX }),
            raw_ns: raw_ns(),
        }
    }

    fn grant(
        &self,
        channel: &Sealed,
        ends: Ends,
        Limits { seconds, bytes }: Limits,
    ) -> Result<Arc<Session>, ToClient> {
        let failed = || refusal("the server has no resources left for a session");
        let lead = channel.stream().try_clone().map_err(|e| {
            self.cannot("keep a session", &e);
            failed()
        })?;
        let mut slot = self.free_slot()?;
        let until = Instant::now() + Duration::from_secs(seconds);
        let session = Session::new(lead, ends, until, bytes).ok_or_else(failed)?;
        *slot = Slot::Taken(Arc::clone(&session));
        Ok(session)
    }

    /// The slot, or why there can be no session now.
    fn free_slot(&self) -> Result<MutexGuard<'_, Slot>, ToClient> {
        let slot = lock(&self.server.slot);
        let refused = match &*slot {
            Slot::Free => None,
            Slot::Closed => Some(refusal(STOPPED)),
            Slot::Taken(other) => {
                Some(ToClient::Busy { seconds: other.left().as_secs_f64().ceil() as u64 })
            }
        };
        refused.map_or(Ok(slot), Err)
    }

    /// Keeps the session alive while its lead is.
    fn lead(&self, mut channel: Sealed, session: &Arc<Session>, run: &str, granted: Limits) {
        let (from, seconds) = (session.ends.peer, granted.seconds);
        self.log.report(format!("{from} started run {run}, at most {seconds} s"));
        let silence = self.server.patience.silence;
        let welcome = ToClient::Welcome {
            session: session.token,
            silence_ms: u64::try_from(silence.as_millis()).unwrap_or(u64::MAX),
            granted,
        };
        let mut next = channel.send(&welcome, Instant::now() + ANSWER);
        while next.is_ok() {
            let until = (Instant::now() + silence).min(session.until);
            next = match channel.receive(Some(until)) {
                Ok(ToServer::Ping) => channel.send(&ToClient::Pong, Instant::now() + ANSWER),
                Ok(_) => Err(ErrorKind::InvalidData.into()),
                Err(error) => Err(error),
            };
        }
        session.end(&why(next, session.left(), silence));
        let reason = session.ended().unwrap_or_default();
        session.wait_for_tasks();
        self.free(session);
        let bytes = session.allowance.spent();
        let line = format!("run {run} ended after {bytes} B: {reason}");
        let _ = channel.send(&ToClient::Ended { reason }, Instant::now() + ANSWER);
        self.log.report(line);
    }

    fn free(&self, session: &Arc<Session>) {
        let mut slot = lock(&self.server.slot);
        if matches!(&*slot, Slot::Taken(present) if Arc::ptr_eq(present, session)) {
            *slot = Slot::Free;
        }
    }

    /// A worker's channel, until it closes or the session ends.
    fn worker(&self, mut channel: Sealed, ends: Ends, session: &Session) {
        let (name, mut answer) = match session.join(channel.stream()) {
            Ok(name) => (Some(name), ToClient::Joined),
            Err(reason) => (None, refusal(reason)),
        };
        while self.answer(&mut channel, &answer).is_ok() {
            let Some(name) = name else { return };
            answer = match channel.receive(None) {
                Ok(ToServer::Open { job }) => self.open(session, name, ends, &job),
                Ok(ToServer::Counters) => match self.guarded(|| self.work.counters(ends)) {
                    Some(value) => ToClient::Counters { value },
                    None => refusal("the server cannot read its counters"),
                },
                Ok(ToServer::Ping) => ToClient::Pong,
                Ok(_) | Err(_) => break,
            };
        }
        if let Some(name) = name {
            session.leave(name);
        }
    }

    /// Sends an answer; one that is too long is refused instead.
    fn answer(&self, channel: &mut Sealed, answer: &ToClient) -> io::Result<()> {
        let until = Instant::now() + ANSWER;
        match channel.send(answer, until) {
            Err(error) if error.kind() == ErrorKind::InvalidInput => {
                channel.send(&refusal(format!("the server's answer failed: {error}")), until)
            }
            sent => sent,
        }
    }

    fn open(&self, session: &Session, channel: Token, ends: Ends, job: &Value) -> ToClient {
        session.end_job(channel);
        let opened = self.guarded(|| {
            let tasks = self.work.open(job, ends)?;
            Job::new(Arc::clone(&session.allowance), ends, tasks)
        });
        match opened {
            None => refusal("the server's work failed"),
            Some(Err(reason)) => refusal(excerpt(&reason)),
            Some(Ok((job, streams))) => {
                if session.start_job(channel, job) {
                    ToClient::Opened { streams }
                } else {
                    refusal("the session has ended")
                }
            }
        }
    }

    /// Runs the server's work; `None` if it panicked.
    fn guarded<T>(&self, work: impl FnOnce() -> T) -> Option<T> {
        let done = catch_unwind(AssertUnwindSafe(work)).ok();
        if done.is_none() {
            let line = "the work of the server panicked; its connections were closed";
            self.log.report(line.to_owned());
        }
        done
    }
}

fn refusal(reason: impl Into<String>) -> ToClient {
    ToClient::Refused { reason: reason.into() }
}

/// Why the lead's channel ended; if the session itself ended it, that reason is known there.
fn why(last: io::Result<()>, left: Duration, silence: Duration) -> String {
    match last.map_err(|error| error.kind()) {
        _ if left < Duration::from_millis(10) => "its limit of time is reached".to_owned(),
        Err(ErrorKind::UnexpectedEof) => "the client closed the connection".to_owned(),
        Err(ErrorKind::TimedOut) => {
            format!("the client did not respond for {} s", silence.as_secs_f64())
        }
        Err(ErrorKind::InvalidData) => "the client sent an invalid message".to_owned(),
        _ => "the connection to the client failed".to_owned(),
    }
}
