//! How I/Os get to the system. An engine takes them from a [`Source`], keeps as many in
//! flight as it was made for, and tells the source of each that is done.

use std::io;
use std::os::fd::BorrowedFd;

use proofmark_engine::Refusal;
use rustix::time::{ClockId, clock_gettime};

mod psync;
mod uring;

#[cfg(test)]
mod tests;

use super::buffers::Buffers;
use psync::Psync;
use uring::Uring;
pub(super) use uring::allowed;

/// One I/O of a block.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Io {
    /// Whether it writes; else it reads.
    pub(super) write: bool,
    /// Where in the file, in bytes.
    pub(super) offset: u64,
    /// Whether its time is taken.
    pub(super) timed: bool,
}

/// Where an engine gets its I/Os from, and who learns of each that is done.
pub(super) trait Source {
    /// The next I/O, which uses buffer number `slot`; of a write, fills it.
    fn next(&mut self, slot: usize, buffer: &mut [u8]) -> Io;

    /// This I/O has moved all of `buffer`, in so many nanoseconds where it was timed.
    fn done(&mut self, io: Io, buffer: &[u8], nanoseconds: Option<u64>);
}

/// Names as in the `engine` knob.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// pread(2) and pwrite(2).
    Psync,
    /// io_uring(7).
    Uring,
}

impl Kind {
    pub(super) fn parse(name: &str) -> Option<Self> {
        match name {
            "psync" => Some(Self::Psync),
            "io_uring" => Some(Self::Uring),
            _ => None,
        }
    }
}

/// One thread's way to the system, made on that thread.
pub(super) enum Engine {
    /// See [`Kind::Psync`].
    Psync(Psync),
    /// See [`Kind::Uring`].
    Uring(Box<Uring>),
}

impl Engine {
    /// An engine for I/Os of `block` bytes, `depth` of them in flight.
    ///
    /// # Errors
    /// If the system gives no memory or no ring.
    pub(super) fn new(
        kind: Kind,
        file: BorrowedFd,
        block: usize,
        depth: usize,
    ) -> Result<Self, Refusal> {
        // An own descriptor of the same open file: it lives as long as the engine.
        let file = file
            .try_clone_to_owned()
            .map_err(|e| Refusal(format!("the test file cannot be used: {e}")))?;
        Ok(match kind {
            Kind::Psync => Self::Psync(Psync { file, buffers: Buffers::new(1, block)? }),
            Kind::Uring => Self::Uring(Box::new(Uring::new(file, block, depth)?)),
        })
    }

    /// Does so many I/Os. When it returns, none is in flight, unless the ring itself failed:
    /// then it is not to be used again, and dropping it waits for them.
    ///
    /// # Errors
    /// Of the first I/O that failed: what, where and the system's words. I/Os in flight
    /// were waited for, no more were begun.
    pub(super) fn run(&mut self, count: u64, source: &mut impl Source) -> Result<(), String> {
        match self {
            Self::Psync(psync) => psync.run(count, source),
            Self::Uring(uring) => uring.run(count, source),
        }
    }
}

/// Nanoseconds on CLOCK_MONOTONIC, read without a system call.
#[inline]
pub(super) fn nanoseconds() -> u64 {
    let t = clock_gettime(ClockId::Monotonic);
    t.tv_sec as u64 * 1_000_000_000 + t.tv_nsec as u64
}

/// Why an I/O of `block` bytes did not do its work, if it did not: it moved `result`
/// bytes, or failed so.
fn failure(io: Io, block: usize, result: Result<usize, io::Error>) -> Option<String> {
    let Io { write, offset, .. } = io;
    let what = if write { "writing" } else { "reading" };
    match result {
        Ok(moved) if moved == block => None,
        Ok(moved) => Some(format!(
            "{what} {block} bytes at offset {offset} of the test file moved only {moved}"
        )),
        Err(e) => {
            Some(format!("{what} {block} bytes at offset {offset} of the test file failed: {e}"))
        }
    }
}
