//! The sequence of one thread's I/Os, and their results.

use std::ops::Range;

use proofmark_engine::Latencies;

use super::content::{Content, LARGE};
use super::engine::{Io, Source};
use super::order::{Order, Sequence};
use super::shape::{Operation, Shape};
use crate::mix::{mixed, random};

/// One in this many buffered I/Os is timed, since they may take less than a microsecond. The number
/// is prime, so that every place within a page is sampled.
const BUFFERED_STEP: u64 = 61;

/// Verify this many blocks per run, then 1 small block in [`SOME`]. Verifying all cost 5 % of the 4
/// KiB rate on a virtual disk. Its host writes the next block into a buffer whose lines this CPU
/// has just read, which costs 0.2 us per line.
const EACH: u64 = 1000;
const SOME: u64 = 16;

/// Maximum number of offsets of written blocks that are kept for reading back. It must be even.
const SAMPLES: u64 = 64;

/// The source of a thread's I/Os.
pub(super) struct Feed {
    content: Content,
    block: u64,
    /// Number of reads per 100 I/Os.
    reads: u64,
    /// Accumulator of `reads`: an I/O reads each time that it passes 100.
    turn: u64,
    reading: Sequence,
    /// The sequence of the writes. `None`: reads and writes share one sequence.
    writing: Option<Sequence>,
    /// One in this many I/Os is timed. The next one follows after `until_timed` others.
    timed_step: u64,
    until_timed: u64,
    /// Place of the pool that each slot's buffer holds, if a write used it last.
    holds: Vec<Option<u64>>,
    pub(super) run: Run,
}

/// Results of the I/Os of all runs since [`Feed::begin`].
#[derive(Default)]
pub(super) struct Run {
    /// The generation in the stamps of written blocks.
    pub(super) generation: u64,
    pub(super) done: u64,
    /// Bytes read and bytes written.
    pub(super) moved: [u64; 2],
    /// Seed of the choice of blocks to verify.
    secret: u64,
    /// The first error: a block with wrong data.
    pub(super) wrong: Option<String>,
    pub(super) latencies: Latencies,
    /// Number of timed I/Os, and the sum of their times in nanoseconds.
    timed: [u64; 2],
    /// Time in which the engine worked, in nanoseconds.
    pub(super) worked_ns: u64,
    /// Offsets of a sample of the written blocks: one in `sample_step`, from the first on.
    pub(super) written: Vec<u64>,
    writes: u64,
    sample_step: u64,
}

impl Feed {
    /// Creates the I/Os of a thread for its blocks of the file.
    pub(super) fn new(
        content: Content,
        (operation, order): (Operation, Order),
        shape: &Shape,
        part: Range<usize>,
    ) -> Self {
        let (first, blocks) = (part.start as u64, part.len() as u64);
        // Another order each time, so that a cache behind the device cannot know it.
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

    /// Clears the results. From now on blocks are written with this generation.
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
    /// Returns the mean number of I/Os in flight while the engine worked, by Little's law: their rate
    /// times their mean latency. `None` unless each I/O was timed: reading the clock would lengthen a
    /// sample of short ones, so that more than were in flight would be counted.
    pub(super) fn in_flight(&self) -> Option<f64> {
        let [timed, all_ns] = self.timed;
        if timed < self.done {
            return None;
        }
        let mean_ns = all_ns as f64 / timed as f64;
        let mean = self.done as f64 * mean_ns / self.worked_ns as f64;
        Some(mean).filter(|mean| mean.is_finite())
    }

    /// Decides whether to verify the block that was just read. Returns a number for
    /// [`Content::check`] if so.
    #[inline]
    fn verification_chance(&self, bytes: usize) -> Option<u64> {
        let chance = mixed(self.secret, self.done);
        let first = self.moved[0] <= EACH * bytes as u64;
        let verifies = first || bytes >= LARGE || chance.is_multiple_of(SOME);
        verifies.then_some(chance / SOME)
    }

    /// Adds the offset of a block that is about to be written to the sample. The number of writes
    /// is unknown, so a full sample drops every second offset.
    #[inline]
    fn sample(&mut self, offset: u64) {
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
            self.run.sample(offset);
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
            self.run.timed[0] += 1;
            self.run.timed[1] += nanoseconds;
        }
        if !io.write
            && let Some(chance) = self.run.verification_chance(buffer.len())
            && let Err(reason) = self.content.check(buffer, io.offset, chance)
        {
            self.run.wrong.get_or_insert(reason);
        }
    }
}

#[cfg(test)]
mod tests;
