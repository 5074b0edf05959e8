//! One I/O at a time by pread(2) and pwrite(2).

use std::os::fd::OwnedFd;

use proofmark_engine::Refusal;
use rustix::io::{pread, pwrite, retry_on_intr};

use super::super::buffers::Buffers;
use super::{Source, Way, failure, nanoseconds};

/// The engine of that name.
pub(in super::super) struct Psync {
    file: OwnedFd,
    buffers: Buffers,
}

impl Way for Psync {
    const QUEUES: bool = false;

    fn new(file: OwnedFd, block: usize, _depth: usize) -> Result<Self, Refusal> {
        Ok(Self { file, buffers: Buffers::new(1, block)? })
    }

    fn run(&mut self, count: u64, source: &mut impl Source) -> Result<(), String> {
        for _ in 0..count {
            let buffer = self.buffers.slot(0);
            let io = source.next(0, buffer);
            let start = if io.timed { nanoseconds() } else { 0 };
            let moved = retry_on_intr(|| {
                if io.write {
                    pwrite(&self.file, &*buffer, io.offset)
                } else {
                    pread(&self.file, &mut *buffer, io.offset)
                }
            });
            let took = io.timed.then(|| nanoseconds() - start);
            if let Some(reason) = failure(io, buffer.len(), moved.map_err(Into::into)) {
                return Err(reason);
            }
            source.done(io, buffer, took);
        }
        Ok(())
    }
}
