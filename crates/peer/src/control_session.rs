//! The run's control channel. The session lasts as long as the channel.

use std::io::{self, ErrorKind};
use std::net::TcpStream;
use std::sync::{Arc, OnceLock};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use crate::VERSION;
use crate::address::Address;
use crate::call::{connect_first, unexpected_answer};
use crate::error::PeerError;
use crate::invitation::Invitation;
use crate::key::Key;
use crate::message::{Limits, ToClient, ToServer, excerpt};
use crate::sealed::Sealed;
use crate::work::Ends;

/// Session of this run on a server. Dropping it ends the session.
#[derive(Debug)]
pub struct ControlSession {
    granted: Limits,
    ends: Ends,
    invitation: Invitation,
    ended: Arc<OnceLock<String>>,
    stream: TcpStream,
    pinger: Option<JoinHandle<()>>,
}

impl ControlSession {
    /// Requests a session, which may get lower limits. `run` is its name in the server's log.
    pub fn connect(
        address: &Address,
        key: &Key,
        run: &str,
        asked: Limits,
    ) -> Result<Self, PeerError> {
        let run = run.chars().take(100).collect();
        let hello = ToServer::Hello { version: VERSION.to_owned(), run, asked };
        match connect_first(address, key, &hello)? {
            (to, channel, ToClient::Welcome { session, silence_ms, granted }) => {
                let invitation =
                    Invitation { address: to, key: key.clone(), session, interface: None };
                let silence = Duration::from_millis(silence_ms);
                Self::keep(channel, granted, invitation, silence)
                    .map_err(|source| PeerError::Broken(to, source))
            }
            (to, _, answer) => Err(unexpected_answer(to, answer)),
        }
    }

    fn keep(
        mut channel: Sealed,
        granted: Limits,
        invitation: Invitation,
        silence: Duration,
    ) -> io::Result<Self> {
        let ends = Ends::from_stream(channel.stream())?;
        let stream = channel.stream().try_clone()?;
        let ended = Arc::new(OnceLock::new());
        let why = Arc::clone(&ended);
        let ping = move || drop(why.set(ping(&mut channel, silence)));
        let pinger = Some(thread::Builder::new().name("peer-ping".to_owned()).spawn(ping)?);
        Ok(Self { granted, ends, invitation, ended, stream, pinger })
    }

    /// Returns the granted limits.
    pub fn granted(&self) -> Limits {
        self.granted
    }

    /// Returns the two ends of the connection; the client is `local`.
    pub fn ends(&self) -> Ends {
        self.ends
    }

    /// Returns the invitation for a worker to join the session.
    pub fn invitation(&self) -> Invitation {
        self.invitation.clone()
    }

    /// Returns why the session ended, if it has. A server that vanished is noticed within 10 s.
    pub fn ended(&self) -> Option<String> {
        self.ended.get().cloned()
    }
}

/// Sends pings until the session ends; returns why it did.
fn ping(channel: &mut Sealed, silence: Duration) -> String {
    loop {
        match exchange(channel, silence) {
            Ok(ToClient::Pong) => {}
            Ok(ToClient::Ended { reason }) => return excerpt(&reason),
            Ok(_) => return "the server's answer does not match the request".to_owned(),
            Err(error) => return gone(&error, silence),
        }
    }
}

/// Sends a ping and reads its answer, or the server's message between two pings.
fn exchange(channel: &mut Sealed, silence: Duration) -> io::Result<ToClient> {
    // At least a millisecond, whatever silence limit the server sent.
    let rest = (silence / 5).max(Duration::from_millis(1));
    channel.stream().set_read_timeout(Some(rest))?;
    let nothing = match channel.stream().peek(&mut [0]) {
        Ok(_) => false,
        Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted) => {
            true
        }
        Err(error) => return Err(error),
    };
    let until = Instant::now() + silence;
    if nothing {
        channel.send(&ToServer::Ping, until)?;
    }
    channel.receive(Some(until))
}

fn gone(error: &io::Error, silence: Duration) -> String {
    match error.kind() {
        ErrorKind::UnexpectedEof => "the server closed the connection".to_owned(),
        ErrorKind::TimedOut => {
            format!("the server did not respond for {} s", silence.as_secs_f64())
        }
        _ => format!("the connection to the server failed: {error}"),
    }
}

impl Drop for ControlSession {
    fn drop(&mut self) {
        // It may be closed already.
        let _ = self.stream.shutdown(std::net::Shutdown::Both);
        if let Some(pinger) = self.pinger.take() {
            let _ = pinger.join();
        }
    }
}
