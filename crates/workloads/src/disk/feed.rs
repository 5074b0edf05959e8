//! What one thread's I/Os are, one after the other, and what came of them.

use std::ops::Range;

use proofmark_engine::Latencies;

use super::content::{Content, LARGE};
use super::engine::{Io, Source};
use super::order::{Order, Sequence};
use super::shape::{Operation, Shape};
use crate::mix::{mixed, random};

/// One in this many buffered I/Os is timed, since they may take less than a microsecond. A prime,
/// so that every place within a page gets its turn.
const BUFFERED_STEP: u64 = 61;

/// Verify this many blocks per run, then 1 small block in [`SOME`]. Verifying all cost 5 % of the 4
/// KiB rate on a virtual disk: its host writes the next block into a buffer whose lines this CPU
/// has just read, which costs 0.2 us per line.
const EACH: u64 = 1000;
const SOME: u64 = 16;

/// The most places of written blocks that are kept, to be read back: an even number.
const SAMPLES: u64 = 64;

/// Where a thread's I/Os come from.
pub(super) struct Feed {
    content: Content,
    block: u64,
    /// Number of reads per 100 I/Os.
    reads: u64,
    /// Grows by `reads` with each I/O; each time that it passes 100, one reads.
    turn: u64,
    reading: Sequence,
    /// Where there is none, writes go where reads would.
    writing: Option<Sequence>,
    /// One of this many I/Os is timed, the next after `until_timed` others.
    timed_step: u64,
    until_timed: u64,
    /// By slot: which place of the pool its buffer holds, if it was last written from.
    holds: Vec<Option<u64>>,
    pub(super) run: Run,
}

/// What came of the I/Os of all runs since [`Feed::begin`].
#[derive(Default)]
pub(super) struct Run {
    /// What the stamps of written blocks say.
    pub(super) generation: u64,
    pub(super) done: u64,
    /// Bytes read and bytes written.
    pub(super) moved: [u64; 2],
    /// From which it follows which blocks are looked at.
    secret: u64,
    /// The first block that held other data than was written there.
    pub(super) wrong: Option<String>,
    pub(super) latencies: Latencies,
    /// Offsets of some of the blocks written: of one in `sample_step`, from the first on.
    pub(super) written: Vec<u64>,
    writes: u64,
    sample_step: u64,
}

impl Feed {
    /// The I/Os of a thread with those blocks of the file.
    pub(super) fn new(
        content: Content,
        (operation, order): (Operation, Order),
        shape: &Shape,
        part: Range<usize>,
    ) -> Self {
        let (first, blocks) = (part.start as u64, part.len() as u64);
        // Another order each time: a cache behind the device must not know it.
        let sequence = |first, blocks| Sequence::new(order, first, blocks, random());
        let half = blocks / 2;
        let copies = operation == Operation::Copy;
        Self {
            content,
            block: shape.block_size,
            reads: shape.reads,
            turn: 99,
            reading: sequence(first, if copies { half } else { blocks }),
            writing: copies.then(|| sequence(first + half, half)),
            timed_step: if shape.direct { 1 } else { BUFFERED_STEP },
            until_timed: 0,
            holds: vec![None; shape.queue_depth as usize],
            run: Run {
                written: Vec::with_capacity(SAMPLES as usize),
                latencies: Latencies::ready(),
                ..Run::default()
            },
        }
    }

    /// Forgets what was done. Blocks are now written with that generation.
    pub(super) fn begin(&mut self, generation: u64) {
        let mut written = std::mem::take(&mut self.run.written);
        let mut latencies = std::mem::take(&mut self.run.latencies);
        written.clear();
        latencies.clear();
        let (secret, sample_step) = (random(), 1);
        self.run = Run { generation, secret, written, latencies, sample_step, ..Run::default() };
    }

    fn reads_next(&mut self) -> bool {
        self.turn += self.reads;
        let reads = self.turn >= 100;
        self.turn -= if reads { 100 } else { 0 };
        reads
    }

    fn timed_next(&mut self) -> bool {
        let timed = self.until_timed == 0;
        self.until_timed = if timed { self.timed_step } else { self.until_timed } - 1;
        timed
    }
}

impl Run {
    /// Whether the block just read is looked at; then a number for [`Content::check`].
    #[inline]
    fn looks(&self, bytes: usize) -> Option<u64> {
        let chance = mixed(self.secret, self.done);
        let first = self.moved[0] <= EACH * bytes as u64;
        let looks = first || bytes >= LARGE || chance.is_multiple_of(SOME);
        looks.then_some(chance / SOME)
    }

    /// Keeps where a block is about to be written, of some of them. How many come is not known: of
    /// too many every second one stays.
    #[inline]
    fn keep(&mut self, offset: u64) {
        if self.writes.is_multiple_of(self.sample_step) {
            if self.written.len() as u64 == SAMPLES {
                let mut stays = false;
                self.written.retain(|_| {
                    stays = !stays;
                    stays
                });
                self.sample_step *= 2;
            }
            self.written.push(offset);
        }
        self.writes += 1;
    }
}

impl Source for Feed {
    #[inline]
    fn next(&mut self, slot: usize, buffer: &mut [u8]) -> Io {
        let write = !self.reads_next();
        let sequence = if write { self.writing.as_mut() } else { None };
        let offset = sequence.unwrap_or(&mut self.reading).next() * self.block;
        if write {
            self.run.keep(offset);
            self.content.refill(buffer, offset, self.run.generation, &mut self.holds[slot]);
        } else {
            self.holds[slot] = None;
        }
        Io { write, offset, timed: self.timed_next() }
    }

    #[inline]
    fn done(&mut self, io: Io, buffer: &[u8], nanoseconds: Option<u64>) {
        self.run.done += 1;
        self.run.moved[usize::from(io.write)] += self.block;
        if let Some(nanoseconds) = nanoseconds {
            self.run.latencies.record(nanoseconds);
        }
        if !io.write
            && let Some(chance) = self.run.looks(buffer.len())
            && let Err(reason) = self.content.check(buffer, io.offset, chance)
        {
            self.run.wrong.get_or_insert(reason);
        }
    }
}

#[cfg(test)]
mod tests;
