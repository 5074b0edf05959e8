//! A data connection with deadlines.
//!
//! Every read and write returns within [`SLICE`]. The caller then asks its [`Patience`] whether to
//! continue waiting.

use std::io::{self, ErrorKind, IoSlice, Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use proofmark_peer::Bounds;
use rustix::net::sockopt::set_tcp_user_timeout;

use super::socket;
use super::wire::{Message, Outcome, Report, Sent};

/// Maximum wait of one system call.
pub(super) const SLICE: Duration = Duration::from_millis(100);

/// Time after which the client gives up a silent server.
pub(super) const SILENCE: Duration = Duration::from_secs(5);

/// The limit of an end's wait for the other end.
#[derive(Clone, Copy)]
pub(super) enum Patience<'a> {
    /// Waits this long without progress.
    For(Duration),
    /// Waits while the session lasts.
    While(&'a Bounds),
}

impl Patience<'_> {
    /// Returns an error if waiting must end. `since` is the time of the last progress.
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

/// Number of empty reads after which a spinning reader lets other threads run.
const SPINS: u32 = 1 << 12;

impl<'a> Line<'a> {
    /// Wraps a connection whose timeouts are set, see [`ready`].
    pub(super) fn new(stream: &'a TcpStream, patience: Patience<'a>) -> Self {
        Self { stream, patience }
    }

    /// Reads at least one byte.
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

    /// Continues a read after the first slice of waiting. Acknowledgements of sent data are
    /// progress of the other end too.
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

    /// Reads exactly this many bytes without sleeping.
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

    /// Writes both parts in order, by one system call if that takes them.
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

    /// Returns a message if all of it has arrived.
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

    /// Returns a message if its first byte arrives within a [`SLICE`].
    pub(super) fn receive_soon<M: Message>(&self) -> Result<Option<M>, String> {
        match self.stream.peek(&mut [0]) {
            Ok(0) => Err(closed()),
            Ok(_) => self.receive().map(Some),
            Err(e) if waits(&e) => Ok(None),
            Err(e) => Err(broken(&e)),
        }
    }

    /// Returns the other end's message that it has sent everything. Waits for it unless it has
    /// arrived.
    pub(super) fn all_sent(&self, arrived: Option<Sent>) -> Result<Sent, String> {
        arrived.map_or_else(|| self.receive(), Ok)
    }

    /// Receives the server's report of a completed request.
    pub(super) fn report(&self) -> Result<Report, String> {
        let report: Report = self.receive()?;
        match report.outcome {
            Outcome::Refused => Err(REFUSED.to_owned()),
            Outcome::Done | Outcome::Wrong => Ok(report),
        }
    }

    /// Replaces a failed write's error by the refusal, if the server sent one before it closed.
    pub(super) fn refusal_or(&self, failure: String) -> String {
        match self.receive_now::<Report>() {
            Ok(Some(Report { outcome: Outcome::Refused, .. })) => REFUSED.to_owned(),
            _ => failure,
        }
    }
}

const REFUSED: &str = "the session's limit of bytes or time is reached";

/// Sets the timeouts that a [`Line`] requires.
pub(super) fn ready(stream: &TcpStream) -> io::Result<()> {
    stream.set_read_timeout(Some(SLICE))?;
    stream.set_write_timeout(Some(SLICE))?;
    Ok(set_tcp_user_timeout(stream, SILENCE.as_millis() as u32)?)
}

/// Returns true if a call failed only because it would have had to wait longer.
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
