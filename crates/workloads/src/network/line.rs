//! A data connection with deadlines.
//!
//! Every read and write returns within [`SLICE`]; the caller then asks its [`Patience`] whether to
//! wait on.

use std::io::{self, ErrorKind, IoSlice, Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use proofmark_peer::Bounds;
use rustix::net::sockopt::set_tcp_user_timeout;

use super::socket;
use super::wire::{Message, Outcome, Report, Sent};

/// How long one system call waits.
pub(super) const SLICE: Duration = Duration::from_millis(100);

/// How long the client waits for a server that gives no sign of life.
pub(super) const SILENCE: Duration = Duration::from_secs(5);

/// How long an end waits for the other.
#[derive(Clone, Copy)]
pub(super) enum Patience<'a> {
    /// This long without anything that moves.
    For(Duration),
    /// While the session lasts.
    While(&'a Bounds),
}

impl Patience<'_> {
    /// Whether to wait on, `since` the last sign of life.
    pub(super) fn check(&self, since: Instant) -> Result<(), String> {
        match self {
            Self::For(limit) if since.elapsed() >= *limit => {
                Err(format!("the server did not respond for {} s", limit.as_secs_f64()))
            }
            Self::While(bounds) if bounds.ended() => Err("the session has ended".to_owned()),
            _ => Ok(()),
        }
    }
}

pub(super) struct Line<'a> {
    pub(super) stream: &'a TcpStream,
    pub(super) patience: Patience<'a>,
}

/// One in this many empty reads lets other threads run.
const SPINS: u32 = 1 << 12;

impl<'a> Line<'a> {
    /// Over a connection whose timeouts are set: see [`ready`].
    pub(super) fn new(stream: &'a TcpStream, patience: Patience<'a>) -> Self {
        Self { stream, patience }
    }

    /// Some bytes, at least one.
    #[inline]
    pub(super) fn read(&self, bytes: &mut [u8]) -> Result<usize, String> {
        let mut stream = self.stream;
        match stream.read(bytes) {
            Ok(0) => Err(closed()),
            Ok(n) => Ok(n),
            Err(e) if waits(&e) => self.read_later(bytes),
            Err(e) => Err(broken(&e)),
        }
    }

    /// After the first slice of waiting. What the other end takes of what was sent to it
    /// is a sign of its life too.
    #[cold]
    fn read_later(&self, bytes: &mut [u8]) -> Result<usize, String> {
        let mut stream = self.stream;
        let mut waiting = (Instant::now(), socket::unacknowledged(self.stream));
        loop {
            self.patience.check(waiting.0)?;
            match stream.read(bytes) {
                Ok(0) => return Err(closed()),
                Ok(n) => return Ok(n),
                Err(e) if !waits(&e) => return Err(broken(&e)),
                Err(_) => {
                    let left = socket::unacknowledged(self.stream);
                    if left != waiting.1 {
                        waiting = (Instant::now(), left);
                    }
                }
            }
        }
    }

    #[inline]
    pub(super) fn read_exact(&self, bytes: &mut [u8]) -> Result<(), String> {
        let mut done = 0;
        while done < bytes.len() {
            done += self.read(&mut bytes[done..])?;
        }
        Ok(())
    }

    /// Exactly this many bytes, without ever sleeping for them.
    pub(super) fn spin_exact(&self, bytes: &mut [u8]) -> Result<(), String> {
        let (mut done, mut spins) = (0, 0_u32);
        let mut since = None;
        while done < bytes.len() {
            match socket::receive_now(self.stream, &mut bytes[done..], false) {
                Ok(0) => return Err(closed()),
                Ok(n) => (done, since) = (done + n, None),
                Err(e) if waits(&e) => {
                    spins = spins.wrapping_add(1);
                    if spins.is_multiple_of(SPINS) {
                        self.patience.check(*since.get_or_insert_with(Instant::now))?;
                        std::thread::yield_now();
                    }
                }
                Err(e) => return Err(broken(&e)),
            }
        }
        Ok(())
    }

    #[inline]
    pub(super) fn write_all(&self, bytes: &[u8]) -> Result<(), String> {
        let mut stream = self.stream;
        match stream.write(bytes) {
            Ok(n) if n == bytes.len() => Ok(()),
            Ok(n) => self.write_later(&bytes[n..]),
            Err(e) if waits(&e) => self.write_later(bytes),
            Err(e) => Err(broken(&e)),
        }
    }

    /// Both parts, one after the other, by one system call where that takes them.
    #[inline]
    pub(super) fn write_both(&self, first: &[u8], second: &[u8]) -> Result<(), String> {
        let mut stream = self.stream;
        let written = match stream.write_vectored(&[IoSlice::new(first), IoSlice::new(second)]) {
            Ok(n) => n,
            Err(e) if waits(&e) => 0,
            Err(e) => return Err(broken(&e)),
        };
        if written < first.len() {
            self.write_later(&first[written..])?;
        }
        match written.saturating_sub(first.len()) {
            done if done == second.len() => Ok(()),
            done => self.write_later(&second[done..]),
        }
    }

    #[cold]
    fn write_later(&self, bytes: &[u8]) -> Result<(), String> {
        let mut stream = self.stream;
        let (mut done, mut since) = (0, Instant::now());
        while done < bytes.len() {
            self.patience.check(since)?;
            match stream.write(&bytes[done..]) {
                Ok(n) => (done, since) = (done + n, Instant::now()),
                Err(e) if waits(&e) => {}
                Err(e) => return Err(broken(&e)),
            }
        }
        Ok(())
    }

    pub(super) fn send<M: Message>(&self, message: &M) -> Result<(), String> {
        self.write_all(message.encode().as_ref())
    }

    pub(super) fn receive<M: Message>(&self) -> Result<M, String> {
        let mut bytes = M::EMPTY;
        self.read_exact(bytes.as_mut())?;
        M::decode(&bytes).ok_or_else(|| "the server violates the protocol".to_owned())
    }

    /// A message, if all of it is there.
    pub(super) fn receive_now<M: Message>(&self) -> Result<Option<M>, String> {
        let mut bytes = M::EMPTY;
        match socket::receive_now(self.stream, bytes.as_mut(), true) {
            Ok(0) => Err(closed()),
            Ok(n) if n == bytes.as_ref().len() => self.receive().map(Some),
            Ok(_) => Ok(None),
            Err(e) if waits(&e) => Ok(None),
            Err(e) => Err(broken(&e)),
        }
    }

    /// A message, if its first byte comes within a [`SLICE`].
    pub(super) fn receive_soon<M: Message>(&self) -> Result<Option<M>, String> {
        match self.stream.peek(&mut [0]) {
            Ok(0) => Err(closed()),
            Ok(_) => self.receive().map(Some),
            Err(e) if waits(&e) => Ok(None),
            Err(e) => Err(broken(&e)),
        }
    }

    /// What the other end said of what it sent, if it has said so, or what it will say.
    pub(super) fn all_sent(&self, said: Option<Sent>) -> Result<Sent, String> {
        said.map_or_else(|| self.receive(), Ok)
    }

    /// The server's report of a request that it did.
    pub(super) fn report(&self) -> Result<Report, String> {
        let report: Report = self.receive()?;
        match report.outcome {
            Outcome::Refused => Err(REFUSED.to_owned()),
            Outcome::Done | Outcome::Wrong => Ok(report),
        }
    }

    /// Why a server stopped taking what was sent to it: what it said last, if it said so.
    pub(super) fn why(&self, failure: String) -> String {
        match self.receive_now::<Report>() {
            Ok(Some(Report { outcome: Outcome::Refused, .. })) => REFUSED.to_owned(),
            _ => failure,
        }
    }
}

const REFUSED: &str = "the session's limit of bytes or time is reached";

/// Sets the timeouts that a [`Line`] counts on.
pub(super) fn ready(stream: &TcpStream) -> io::Result<()> {
    stream.set_read_timeout(Some(SLICE))?;
    stream.set_write_timeout(Some(SLICE))?;
    Ok(set_tcp_user_timeout(stream, SILENCE.as_millis() as u32)?)
}

/// Whether a call was only not done in time.
pub(super) fn waits(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted)
}

fn closed() -> String {
    "the server closed the connection".to_owned()
}

pub(super) fn broken(error: &io::Error) -> String {
    match error.kind() {
        ErrorKind::ConnectionReset | ErrorKind::BrokenPipe | ErrorKind::ConnectionAborted => {
            "the server reset the connection".to_owned()
        }
        ErrorKind::ConnectionRefused => "the server is gone: its port is closed".to_owned(),
        ErrorKind::TimedOut => {
            format!("the server acknowledged nothing for {} s", SILENCE.as_secs())
        }
        _ => format!("the connection to the server failed: {error}"),
    }
}
