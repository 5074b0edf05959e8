//! Reads and writes with a deadline, however slow the other end is.

use std::io::{self, ErrorKind, Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

/// Stream with one deadline for all calls: sending a byte per second gains no time.
pub(crate) struct Timed<'a> {
    stream: &'a TcpStream,
    until: Option<Instant>,
}

impl<'a> Timed<'a> {
    /// Creates a stream; without a deadline it waits as long as the connection lives.
    pub(crate) fn new(stream: &'a TcpStream, until: Option<Instant>) -> Self {
        Self { stream, until }
    }

    fn left(&self) -> io::Result<Option<Duration>> {
        let Some(until) = self.until else { return Ok(None) };
        // The kernel rounds timeouts to microseconds at best and reads 0 as "forever".
        match until.saturating_duration_since(Instant::now()) {
            left if left < Duration::from_micros(1) => Err(ErrorKind::TimedOut.into()),
            left => Ok(Some(left)),
        }
    }
}

/// Names a socket's timeout, which reads as "would block".
fn named(error: io::Error) -> io::Error {
    if error.kind() == ErrorKind::WouldBlock { ErrorKind::TimedOut.into() } else { error }
}

impl Read for Timed<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.stream.set_read_timeout(self.left()?)?;
        let mut stream = self.stream;
        stream.read(buffer).map_err(named)
    }
}

impl Write for Timed<'_> {
    fn write(&mut self, buffer: &[u8]) -> io::Result<usize> {
        self.stream.set_write_timeout(self.left()?)?;
        let mut stream = self.stream;
        stream.write(buffer).map_err(named)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
