//! The client's connections to a server.

use std::io::{self, ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::thread;
use std::time::{Duration, Instant};

use crate::address::Address;
use crate::error::PeerError;
use crate::handshake::enter;
use crate::key::Key;
use crate::message::{ToClient, ToServer, excerpt};
use crate::sealed::Sealed;
use crate::secret::Token;
use crate::timed::Timed;
use crate::wire::{DATA, malformed};

/// Time limit for a connection, and for each answer.
pub(crate) const PATIENCE: Duration = Duration::from_secs(5);
/// Pauses before a new attempt. A server crowded by unauthenticated peers also closes connections
/// of clients with the key.
const RETRY_PAUSES: [Duration; 3] =
    [Duration::from_millis(20), Duration::from_millis(80), Duration::from_millis(200)];

/// Opens a control connection with its first message and reads the answer.
pub(crate) fn control(
    to: SocketAddr,
    key: &Key,
    first: &ToServer,
) -> Result<(Sealed, ToClient), PeerError> {
    let reported = |error| classify_error(to, error);
    let once = || {
        let stream = connect(to)?;
        // Messages are small and each waits for an answer.
        stream.set_nodelay(true).map_err(reported)?;
        let until = Some(Instant::now() + PATIENCE);
        let state = enter(key, &mut Timed::new(&stream, until)).map_err(reported)?;
        let mut channel = Sealed::new(stream, Box::new(state));
        channel.send(first, Instant::now() + PATIENCE).map_err(reported)?;
        let answer = channel.receive(Some(Instant::now() + PATIENCE)).map_err(reported)?;
        Ok((channel, answer))
    };
    repeatedly(once)
}

/// Opens a data connection, without timeouts.
pub(crate) fn data(to: SocketAddr, token: Token) -> Result<TcpStream, PeerError> {
    let reported = |error| classify_error(to, error);
    let once = || {
        let stream = connect(to)?;
        let mut timed = Timed::new(&stream, Some(Instant::now() + PATIENCE));
        let mut bytes = vec![DATA];
        bytes.extend_from_slice(&token.0);
        timed.write_all(&bytes).map_err(reported)?;
        let mut answer = [0];
        timed.read_exact(&mut answer).map_err(reported)?;
        if answer != [DATA] {
            return Err(reported(malformed("invalid opening of a data connection")));
        }
        stream.set_read_timeout(None).map_err(reported)?;
        stream.set_write_timeout(None).map_err(reported)?;
        Ok(stream)
    };
    repeatedly(once).map_err(|error| match error {
        PeerError::Silent(to) => {
            let reason = "the server closed the data connection; the job or the session has ended";
            PeerError::Refused(to, reason.to_owned())
        }
        other => other,
    })
}

/// Opens a control connection to the first of the host's addresses that accepts one.
pub(crate) fn connect_first(
    address: &Address,
    key: &Key,
    first: &ToServer,
) -> Result<(SocketAddr, Sealed, ToClient), PeerError> {
    let unresolved = |source| PeerError::Unresolved(address.host.clone(), source);
    let mut last = unresolved(io::Error::new(ErrorKind::NotFound, "the server has no address"));
    for to in address.resolve().map_err(unresolved)? {
        match control(to, key, first) {
            Ok((channel, answer)) => return Ok((to, channel, answer)),
            Err(error @ PeerError::NoServer(..)) => last = error,
            Err(error) => return Err(error),
        }
    }
    Err(last)
}

fn connect(to: SocketAddr) -> Result<TcpStream, PeerError> {
    TcpStream::connect_timeout(&to, PATIENCE).map_err(|source| PeerError::NoServer(to, source))
}

fn repeatedly<T>(mut once: impl FnMut() -> Result<T, PeerError>) -> Result<T, PeerError> {
    for pause in RETRY_PAUSES {
        match once() {
            Err(PeerError::Silent(_)) => thread::sleep(pause),
            done => return done,
        }
    }
    once()
}

/// Classifies an error before the first answer.
fn classify_error(to: SocketAddr, error: io::Error) -> PeerError {
    match error.kind() {
        ErrorKind::UnexpectedEof | ErrorKind::ConnectionReset | ErrorKind::BrokenPipe => {
            PeerError::Silent(to)
        }
        ErrorKind::TimedOut => PeerError::NoAnswer(to, PATIENCE),
        ErrorKind::InvalidData => PeerError::NoKey(to),
        _ => PeerError::Broken(to, error),
    }
}

/// Classifies an answer other than the expected one.
pub(crate) fn unexpected_answer(to: SocketAddr, answer: ToClient) -> PeerError {
    match answer {
        ToClient::Busy { seconds } => PeerError::Busy(to, seconds),
        ToClient::Differs { version } => PeerError::Version(to, excerpt(&version)),
        ToClient::Refused { reason } | ToClient::Ended { reason } => {
            PeerError::Refused(to, excerpt(&reason))
        }
        _ => PeerError::Unexpected(to),
    }
}
