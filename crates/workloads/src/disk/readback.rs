//! Reads written data back, bypassing the page cache where that is possible.

use std::os::fd::BorrowedFd;

use proofmark_engine::Refusal;
use rustix::io::{pread, retry_on_intr};

use super::buffers::{Buffers, PAGE};
use super::content::{Content, SECTOR};
use crate::mix::mixed;

/// Maximum bytes that are read back at once. Of a larger block it is one piece.
pub(super) const PIECE: usize = 256 << 10;

/// Bytes of a piece extended to whole pages, the minimum for direct I/O.
pub(super) const BYTES: usize = PIECE + 2 * PAGE;

pub(super) struct ReadBack {
    buffer: Buffers,
}

impl ReadBack {
    pub(super) fn new() -> Result<Self, Refusal> {
        Ok(Self { buffer: Buffers::new(1, BYTES)? })
    }

    /// Returns the `length` bytes of the file from `offset` on, at most [`PIECE`].
    pub(super) fn piece(
        &mut self,
        file: BorrowedFd,
        offset: u64,
        length: usize,
    ) -> Result<&[u8], String> {
        let start = offset / PAGE as u64 * PAGE as u64;
        let within = (offset - start) as usize;
        let needed = within + length.min(PIECE);
        let buffer = self.buffer.slot(0);
        let mut read = 0;
        while read < needed {
            let into = &mut buffer[read..needed.next_multiple_of(PAGE)];
            let more = retry_on_intr(|| pread(file, &mut *into, start + read as u64));
            match more {
                // A direct read can continue only at a whole page. Otherwise it is at the end of
                // the file.
                Ok(more) if more > 0 && (read + more >= needed || more % PAGE == 0) => read += more,
                Ok(_) => {
                    return Err(format!("the file ends before byte {}", offset + length as u64));
                }
                Err(e) => return Err(format!("reading back at offset {offset} failed: {e}")),
            }
        }
        Ok(&self.buffer.slot(0)[within..needed])
    }

    /// Verifies that the block of `block` bytes at `offset` was written with this generation: the
    /// whole block, or one piece of a large one.
    pub(super) fn check(
        &mut self,
        file: BorrowedFd,
        content: &Content,
        (offset, block): (u64, u64),
        generation: u64,
    ) -> Result<(), String> {
        let pieces = block.div_ceil(PIECE as u64);
        let skipped = mixed(generation, offset) % pieces * PIECE as u64;
        let (offset, length) = (offset + skipped, (block - skipped).min(PIECE as u64) as usize);
        let read = self.piece(file, offset, length)?;
        content.check_all(read, offset)?;
        for at in (0..length).step_by(SECTOR) {
            let found = content.generation(&read[at..], offset + at as u64);
            if found.is_some_and(|found| found != generation) {
                let byte = offset + at as u64;
                return Err(format!(
                    "byte {byte} of the test file: the last write is missing; the file still holds \
                     the data from before it"
                ));
            }
        }
        Ok(())
    }
}
