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
    /// True for a write, false for a read.
    pub(super) write: bool,
    /// Offset in the file, in bytes.
    pub(super) offset: u64,
    /// True if the engine times this I/O.
    pub(super) timed: bool,
}

/// The origin of an engine's I/Os, which also receives the completed ones.
pub(super) trait Source {
    /// Returns the next I/O, which uses buffer number `slot`. For a write it fills the buffer.
    fn next(&mut self, slot: usize, buffer: &mut [u8]) -> Io;

    /// Reports that an I/O has moved all of `buffer`, with its nanoseconds if it was timed.
    fn done(&mut self, io: Io, buffer: &[u8], nanoseconds: Option<u64>);
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Psync,
    Uring,
}

pub(super) const NAMES: &[Cow<str>] = &words(["psync", "io_uring"]);

/// Description of the parameter, with all names.
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

    /// Returns true if the engine can keep more than one I/O in flight.
    pub(super) fn queues(self) -> bool {
        self == Self::Uring
    }
}

/// One thread's engine, created on that thread. An enum, so that there is one `match` per run and
/// no dynamic call per I/O.
pub(super) enum Engine {
    Psync(Psync),
    Uring(Box<Uring>),
}

impl Engine {
    /// Creates an engine for I/Os of `block` bytes with `depth` of them in flight.
    pub(super) fn new(
        kind: Kind,
        file: BorrowedFd,
        block: usize,
        depth: usize,
    ) -> Result<Self, Refusal> {
        // A duplicate descriptor of the same open file, which lives as long as the engine.
        let file = file
            .try_clone_to_owned()
            .map_err(|e| Refusal(format!("cannot use the test file: {e}")))?;
        Ok(match kind {
            Kind::Psync => Self::Psync(Psync::new(file, block)?),
            Kind::Uring => Self::Uring(Box::new(Uring::new(file, block, depth)?)),
        })
    }

    /// Does `count` I/Os, up to the first that fails. Afterwards none is in flight, unless the
    /// engine itself failed. Then the engine must not be used again, and dropping it waits for
    /// them.
    pub(super) fn run(&mut self, count: u64, source: &mut impl Source) -> Result<(), String> {
        match self {
            Self::Psync(psync) => psync.run(count, source),
            Self::Uring(uring) => uring.run(count, source),
        }
    }
}

/// Returns the reason why an I/O of `block` bytes failed, if it did.
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
