//! Handling of one connection on its own thread: a run's control session, a worker, a data
//! connection, or a refusal.

use std::io::{self, ErrorKind};
use std::net::{IpAddr, TcpStream};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{Duration, Instant};

use proofmark_model::{ServerEnd, counted, lock};
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

/// Time limit to send an answer.
const ANSWER: Duration = Duration::from_secs(5);
/// Reason of a stopped server for refusals and for the end of its session.
pub(super) const STOPPED: &str = "the server was stopped";
/// Reason for the end of a session that requested more bytes than granted.
const USED_UP: &str = "its byte limit was reached";
/// Maximum duration in seconds: a deadline must fit the clock.
const LONGEST: u64 = 1 << 30;

/// The server's connections and the work that they serve.
pub(super) struct Connections<'a> {
    server: &'a Server,
    work: &'a dyn Work,
    log: Log,
    /// Time of the last report of connections without the key, and their number since.
    turned_away: Mutex<(Option<Instant>, u64)>,
    /// Time of the last report of a system error.
    refused_at: Mutex<Option<Instant>>,
}

impl<'a> Connections<'a> {
    pub(super) fn new(server: &'a Server, work: &'a dyn Work, log: Log) -> Self {
        let (turned_away, refused_at) = (Mutex::new((None, 0)), Mutex::new(None));
        Self { server, work, log, turned_away, refused_at }
    }

    /// Authenticates a connection and serves it until it ends.
    pub(super) fn serve(&self, stream: TcpStream, pass: Pass) {
        let Ok(ends) = Ends::from_stream(&stream) else { return };
        let until = Instant::now() + self.server.patience.handshake;
        match self.server.handshake.admit(&mut Timed::new(&stream, Some(until))) {
            Err(_) => {
                drop(pass);
                self.turn_away(ends.peer.ip());
            }
            Ok(Admitted::Data(token)) => self.serve_data(token, stream, ends, pass),
            Ok(Admitted::Control(state, first)) => {
                drop(pass);
                // Messages are small and each waits for an answer.
                let _ = stream.set_nodelay(true);
                self.control(Sealed::new(stream, state), ends, first);
            }
        }
    }

    /// Reports a system error, at most once per second: the client sees only a closed connection.
    pub(super) fn report_system_error(&self, what: &str, error: &io::Error) {
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
        self.log
            .report(format!("rejected {} without the key, {last}", counted(count, "connection")));
    }

    /// Serves a data connection, if its token is valid.
    fn serve_data(&self, token: Token, stream: TcpStream, ends: Ends, pass: Pass) {
        let session = self.server.session();
        let claimed = session.as_ref().map_or(Ok(None), |s| s.claim(token, &stream, ends));
        drop(pass);
        let (session, (task, job)) = match (session, claimed) {
            (Some(session), Ok(Some(claimed))) => (session, claimed),
            // No descriptor is free.
            (_, Err(e)) => return self.report_system_error("keep a data connection", &e),
            _ => return self.turn_away(ends.peer.ip()),
        };
        let begun =
            io::Write::write_all(&mut Timed::new(&stream, Some(Instant::now() + ANSWER)), &[DATA]);
        // The task expects a new stream, without timeouts.
        let cleared = stream.set_read_timeout(None).and_then(|()| stream.set_write_timeout(None));
        if begun.is_ok() && cleared.is_ok() {
            self.guarded(|| task.run(stream, &job.bounds));
        }
        // End it only now, so that the task could still answer.
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
                    Ok(session) => {
                        return self.serve_control(channel, &session, &excerpt(&run), granted);
                    }
                    Err(answer) => answer,
                }
            }
            Some(ToServer::Look { version }) if version == VERSION => self.overview(ends),
            Some(ToServer::Join { session }) => match self.server.session() {
                Some(found) if found.token == session => {
                    return self.serve_worker(channel, ends, &found);
                }
                _ => refusal("the session has ended"),
            },
            // Another version: of an unknown format, or one that names itself.
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
        // The client may be gone; there is nothing else to report.
        let _ = channel.send(&answer, Instant::now() + ANSWER);
    }

    /// Returns the requested limits, reduced to what this server allows.
    fn granted(&self, asked: Limits) -> Limits {
        let most = self.server.limits;
        Limits {
            seconds: asked.seconds.min(most.seconds).min(LONGEST),
            bytes: asked.bytes.min(most.bytes),
        }
    }

    /// Returns the description of this server.
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
        let control = channel.stream().try_clone().map_err(|e| {
            self.report_system_error("keep a session", &e);
            failed()
        })?;
        let mut slot = self.free_slot()?;
        let until = Instant::now() + Duration::from_secs(seconds);
        let session = Session::new(control, ends, until, bytes).ok_or_else(failed)?;
        *slot = Slot::Taken(Arc::clone(&session));
        Ok(session)
    }

    /// Returns the slot, or the refusal if no session can start now.
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

    /// Serves a run's control channel and keeps its session alive meanwhile.
    fn serve_control(
        &self,
        mut channel: Sealed,
        session: &Arc<Session>,
        run: &str,
        granted: Limits,
    ) {
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
        session.end(&end_reason(next, session.left(), silence));
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

    /// Serves a worker's channel until it closes or the session ends.
    fn serve_worker(&self, mut channel: Sealed, ends: Ends, session: &Session) {
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

    /// Sends an answer, or a refusal if the answer is too long.
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

/// Returns why the control channel ended. If the session ended it, the session has the reason.
fn end_reason(last: io::Result<()>, left: Duration, silence: Duration) -> String {
    match last.map_err(|error| error.kind()) {
        _ if left < Duration::from_millis(10) => "its time limit was reached".to_owned(),
        Err(ErrorKind::UnexpectedEof) => "the client closed the connection".to_owned(),
        Err(ErrorKind::TimedOut) => {
            format!("the client did not respond for {} s", silence.as_secs_f64())
        }
        Err(ErrorKind::InvalidData) => "the client sent an invalid message".to_owned(),
        _ => "the connection to the client failed".to_owned(),
    }
}
