//! The engine with one I/O at a time, by pread(2) and pwrite(2).

use std::os::fd::OwnedFd;

use proofmark_engine::{Refusal, raw_ns};
use rustix::io::{pread, pwrite, retry_on_intr};

use super::super::buffers::Buffers;
use super::{Source, failure};

pub(in super::super) struct Psync {
    file: OwnedFd,
    buffers: Buffers,
}

impl Psync {
    pub(super) fn new(file: OwnedFd, block: usize) -> Result<Self, Refusal> {
        Ok(Self { file, buffers: Buffers::new(1, block)? })
    }

    pub(super) fn run(&mut self, count: u64, source: &mut impl Source) -> Result<(), String> {
        for _ in 0..count {
            let buffer = self.buffers.slot(0);
            let io = source.next(0, buffer);
            let start = if io.timed { raw_ns() } else { 0 };
            let moved = retry_on_intr(|| {
                if io.write {
                    pwrite(&self.file, &*buffer, io.offset)
                } else {
                    pread(&self.file, &mut *buffer, io.offset)
                }
            });
            let took = io.timed.then(|| raw_ns() - start);
            if let Some(reason) = failure(io, buffer.len(), moved.map_err(Into::into)) {
                return Err(reason);
            }
            source.done(io, buffer, took);
        }
        Ok(())
    }
}
