//! I/O engines. An engine takes I/Os from a [`Source`], keeps a fixed number in flight, and reports
//! each completed one to the source.

use std::borrow::Cow;
use std::io;
use std::os::fd::BorrowedFd;

use proofmark_engine::Refusal;

use crate::declare::words;

mod psync;
mod uring;

use psync::Psync;
use uring::Uring;

#[cfg(test)]
mod tests;

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

    /// This I/O has moved all of `buffer`, in this many nanoseconds where it was timed.
    fn done(&mut self, io: Io, buffer: &[u8], nanoseconds: Option<u64>);
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Psync,
    Uring,
}

pub(super) const NAMES: &[Cow<str>] = &words(["psync", "io_uring"]);

/// All names, each with what it is.
pub(super) const ABOUT: &str = "How I/Os are submitted: psync (pread and pwrite, 1 I/O in flight per thread); io_uring (one \
     ring per thread); auto: io_uring where queue_depth is above 1 and the system allows it.";

impl Kind {
    pub(super) const ALL: [Self; 2] = [Self::Psync, Self::Uring];

    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Psync => "psync",
            Self::Uring => "io_uring",
        }
    }

    /// Whether it keeps more than one I/O in flight.
    pub(super) fn queues(self) -> bool {
        self == Self::Uring
    }
}

/// One thread's engine, created on that thread: a `match` a run, and no call through a table for
/// an I/O.
pub(super) enum Engine {
    Psync(Psync),
    Uring(Box<Uring>),
}

impl Engine {
    /// An engine for I/Os of `block` bytes, `depth` of them in flight.
    pub(super) fn new(
        kind: Kind,
        file: BorrowedFd,
        block: usize,
        depth: usize,
    ) -> Result<Self, Refusal> {
        // An own descriptor of the same open file: it lives as long as the engine.
        let file = file
            .try_clone_to_owned()
            .map_err(|e| Refusal(format!("cannot use the test file: {e}")))?;
        Ok(match kind {
            Kind::Psync => Self::Psync(Psync::new(file, block)?),
            Kind::Uring => Self::Uring(Box::new(Uring::new(file, block, depth)?)),
        })
    }

    /// Does this many I/Os, up to the first that fails. When it returns, none is in flight, unless
    /// the engine itself failed: then it is not to be used again, and dropping it waits for them.
    pub(super) fn run(&mut self, count: u64, source: &mut impl Source) -> Result<(), String> {
        match self {
            Self::Psync(psync) => psync.run(count, source),
            Self::Uring(uring) => uring.run(count, source),
        }
    }
}

/// Why an I/O of `block` bytes did not do its work, if it did not.
fn failure(io: Io, block: usize, result: Result<usize, io::Error>) -> Option<String> {
    let Io { write, offset, .. } = io;
    let what = if write { "writing" } else { "reading" };
    match result {
        Ok(moved) if moved == block => None,
        Ok(moved) => Some(format!(
            "{what} {block} B at offset {offset} of the test file: only {moved} B were transferred"
        )),
        Err(e) => Some(format!("{what} {block} B at offset {offset} of the test file failed: {e}")),
    }
}
