//! `disk.fsync`: writes that are durable one by one, like the commits of a database.

use std::fs::File;
use std::io;
use std::os::fd::AsFd;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::Arc;

use proofmark_engine::{Amount, Latencies, Load, Refusal, Setup, raw_ns};
use proofmark_model::{FileState, Flush};
use rustix::fs::OFlags;

use super::buffers::Buffers;
use super::content::{Content, POOL, entropy_bits};
use super::extents::unwritten_share;
use super::file::{TestFile, Unnamed, is_direct, is_dsync, refused};
use super::load::{FOLDER, ahead_s, amount, new_generation};
use super::readback::{PIECE, ReadBack};
use super::seen::{Of, Seen};
use super::shape::{Method, Mode, Shape};

/// Bytes before the end of the last write that are read back.
const TAIL: u64 = 64 << 10;

/// A configuration of `disk.fsync` after set-up.
pub(super) struct Commits {
    shape: Shape,
    seen: Arc<Seen>,
}

impl Commits {
    pub(super) fn new(shape: Shape) -> Self {
        Self { shape, seen: Arc::new(Seen::new(shape.threads)) }
    }
}

impl Setup for Commits {
    fn amount(&self) -> Amount {
        amount(&self.shape)
    }

    fn work_per_iteration(&self) -> f64 {
        1.0
    }

    fn on_disk(&self) -> bool {
        true
    }

    fn file(&self) -> Option<FileState> {
        Some(self.seen.file())
    }

    fn pinned(&self) -> bool {
        false
    }

    fn ahead_s(&self, trial_s: f64) -> f64 {
        ahead_s(trial_s)
    }

    fn thread(&self, index: usize, of: usize) -> Result<Box<dyn Load>, Refusal> {
        let all = self.shape.file_size.saturating_mul(of as u64);
        let file = TestFile::new_unnamed(Path::new(FOLDER), all, flags(self.shape.method))?;
        Ok(Box::new(Log::new(file, self.shape, (Arc::clone(&self.seen), index))?))
    }
}

/// Returns the additional flags with which a file is opened.
fn flags(method: Method) -> OFlags {
    match method {
        Method::Fdatasync => OFlags::empty(),
        Method::ODsync => OFlags::DSYNC,
    }
}

/// One thread's file and the results of its writes.
struct Log {
    file: Unnamed,
    shape: Shape,
    seen: Arc<Seen>,
    index: usize,
    content: Content,
    buffer: Buffers,
    /// The place of the pool that the buffer holds.
    holds: Option<u64>,
    /// Offset of the next block.
    next: u64,
    /// The generation in the stamps since the last restart.
    generation: u64,
    done: u64,
    latencies: Latencies,
    back: ReadBack,
    failure: Option<String>,
}

impl Log {
    fn new(
        file: Unnamed,
        shape: Shape,
        (seen, index): (Arc<Seen>, usize),
    ) -> Result<Self, Refusal> {
        let mut log = Self {
            file,
            shape,
            seen,
            index,
            content: Content::new(),
            buffer: Buffers::new(1, shape.block_size as usize)?,
            holds: None,
            next: 0,
            generation: new_generation(),
            done: 0,
            latencies: Latencies::ready(),
            back: ReadBack::new()?,
            failure: None,
        };
        if shape.mode == Mode::Overwrite {
            log.lay_out().map_err(|e| refused(Path::new(FOLDER), shape.file_size, &e))?;
        }
        Ok(log)
    }

    /// Writes the whole file and flushes it, so that overwriting changes nothing but data. The file
    /// stays in the page cache, so that a block smaller than a page needs no read.
    fn lay_out(&mut self) -> io::Result<()> {
        let mut buffer = Buffers::new(1, POOL).map_err(io::Error::other)?;
        for offset in (0..self.shape.file_size).step_by(POOL) {
            let length = (self.shape.file_size - offset).min(POOL as u64) as usize;
            let piece = &mut buffer.slot(0)[..length];
            self.content.fill(piece, offset, 0);
            self.file().write_all_at(piece, offset)?;
        }
        self.file().sync_all()
    }

    fn file(&self) -> &File {
        &self.file.buffered
    }

    fn restart(&mut self) -> io::Result<()> {
        if self.shape.mode == Mode::Append {
            self.file().set_len(0)?;
        }
        self.next = 0;
        self.generation = new_generation();
        Ok(())
    }

    /// Writes a block and waits until it is on stable storage.
    fn commit(&mut self) -> io::Result<()> {
        let (block, offset) = (self.shape.block_size, self.next);
        let buffer = self.buffer.slot(0);
        self.content.refill(buffer, offset, self.generation, &mut self.holds);
        let start = raw_ns();
        self.file.buffered.write_all_at(buffer, offset)?;
        if self.shape.method == Method::Fdatasync {
            self.file.buffered.sync_data()?;
        }
        self.latencies.record(raw_ns() - start);
        self.next += block;
        self.done += 1;
        Ok(())
    }

    fn work(&mut self, iterations: u64) -> io::Result<()> {
        for _ in 0..iterations {
            if self.next + self.shape.block_size > self.shape.file_size {
                self.restart()?;
            }
            self.commit()?;
        }
        Ok(())
    }

    /// Returns when writes become durable. O_DSYNC counts only if the system confirms it.
    fn flush(&self) -> Flush {
        match self.shape.method {
            Method::Fdatasync => Flush::Each,
            Method::ODsync if is_dsync(self.file()) => Flush::Dsync,
            Method::ODsync => Flush::Never,
        }
    }

    fn fail(&mut self, doing: &str, result: io::Result<()>) {
        if let Err(e) = result {
            let reason = format!("{doing} the test file at offset {} failed: {e}", self.next);
            self.failure.get_or_insert(reason);
        }
    }
}

impl Load for Log {
    fn prepare(&mut self, iterations: u64) {
        let more = iterations.saturating_mul(self.shape.block_size);
        if self.next > 0 && self.next.saturating_add(more) > self.shape.file_size {
            let restarted = self.restart().and_then(|()| self.file().sync_all());
            self.fail("truncating", restarted);
        }
    }

    fn begin(&mut self) {
        self.done = 0;
        self.latencies.clear();
    }

    fn run(&mut self, iterations: u64) {
        let worked = self.work(iterations);
        self.fail("writing to", worked);
    }

    fn failure(&mut self) -> Option<String> {
        self.failure.take()
    }

    fn latencies(&mut self, all: &mut Latencies) {
        all.merge(&self.latencies);
    }

    fn verify(&mut self) -> Result<u64, String> {
        let length = self.next.min(TAIL);
        let (block, file) = ((self.next - length, length), self.file.buffered.as_fd());
        let mut state = FileState {
            direct: is_direct(file),
            size_bytes: self.shape.file_size,
            flush: self.flush(),
            ..FileState::default()
        };
        if length > 0 {
            // Past the page cache, where direct I/O is available.
            let readback_fd = self.file.direct().unwrap_or(file);
            self.back.check(readback_fd, &self.content, block, self.generation)?;
            state.entropy_bits =
                entropy_bits(self.back.piece(readback_fd, block.0, length as usize)?);
        }
        if self.shape.mode == Mode::Overwrite {
            state.unwritten = unwritten_share(file, self.shape.file_size);
        }
        self.seen.update_file(|file| *file = state);
        let requested = [0, self.done * self.shape.block_size];
        self.seen.report(self.index, Of { requested, in_flight: None });
        Ok(self.done)
    }
}

const _: () = assert!(TAIL <= PIECE as u64, "read back in one piece");

#[cfg(test)]
mod tests;
