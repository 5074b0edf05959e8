//! The blocks of one thread, the order in which it visits them, and the verification of the visits.
//!
//! Runs visit a ring of blocks: all blocks of the part in order of addresses, or the random order
//! that set-up computed. One round is a *pass*, in which no block comes twice. The visits of one
//! run within one pass are a *stretch*. Each run continues where the previous one ended, also in
//! the next trial. So the distance between two visits of a block does not depend on an estimate of
//! the iterations that a trial needs. A large block is visited in pieces, so that an iteration
//! takes microseconds. Each piece is treated as a block.
//!
//! The runs since the last verification are verified as follows:
//! - **Read**: the sum of everything read must equal the known sum of the contents.
//! - **Write**: each pass writes its own stamp. Each byte of a block must hold the stamp of the
//!   last pass that visited the block.
//! - **Copy**: each target block must equal its source block.
//!
//! A copy or stamp of an earlier trial must not pass for a new one. So verification *spoils* each
//! block that it checked: it inverts the first target byte. Each block thus counts once: a block
//! that an order holds twice is found spoilt the second time. Stretches that a later pass overwrote
//! cannot be checked afterwards. The last block of each stretch proves them: it is spoilt before
//! the stretch and read after it. This store and load per stretch are timed. One omission stays
//! unproven: blocks of a stretch before its last one, if a later pass of the trial wrote them. For
//! a copy this also holds if an earlier pass wrote them.

#![allow(unsafe_code)] // The blocks are raw memory.

use std::hint::black_box;
use std::ops::Range;
use std::sync::Arc;

use proofmark_engine::{Load, Visits};

use super::Operation;
use super::body::{Area, Blocks, Body};
use super::content;
use crate::arena::Arena;
use crate::memory::segment::fence;

pub(super) struct BlockLoad {
    pub(super) operation: Operation,
    pub(super) body: Body,
    /// The memory of the part. Its blocks are the pieces.
    pub(super) area: Area,
    pub(super) blocks: usize,
    /// Pieces in which one block of the configuration is visited.
    pub(super) pieces: usize,
    /// Offset of the area's first byte in the source. The contents depend on it.
    pub(super) offset: usize,
    /// The random order, if requested. It may omit blocks or leave them to other threads.
    pub(super) random: Option<Vec<u32>>,
    /// Bytes of the distinct lines of one round that pass through the caches.
    pub(super) round_bytes: u64,
    pub(super) _arena: Arc<Arena>,
    pub(super) state: State,
}

#[derive(Debug, Clone, Copy, Default)]
pub(super) struct State {
    /// Position in the ring at which the next run continues, and the current pass.
    at: usize,
    pass: u64,
    /// Blocks visited since set-up.
    visited: u64,
    /// Blocks visited since `begin`.
    counted: u64,
    unproven: Unproven,
}

/// Results of the runs since the last verification.
#[derive(Debug, Clone, Copy, Default)]
struct Unproven {
    blocks: u64,
    /// Sum of everything read.
    sum: u64,
    /// The last block of the first stretch that did not write that block.
    left_out: Option<usize>,
}

/// Blocks that are fetched before they are checked. More than a core has misses in flight, and less
/// than an L1 cache holds.
const AT_ONCE: usize = 128;

/// Number of distinct stamps, after which they repeat. No stamp has the highest bit set and every
/// spoilt byte has, so no spoilt byte equals a stamp.
const STAMPS: u64 = 127;

/// Returns true if the slice is compared byte by byte, since a call of memcmp takes longer.
fn is_short(bytes: &[u8]) -> bool {
    bytes.len() <= 8
}

/// Returns the byte that a pass writes.
fn stamp(pass: u64) -> u8 {
    (pass % STAMPS) as u8 + 1
}

impl BlockLoad {
    /// Spoils all blocks, so that results of an earlier configuration prove nothing.
    pub(super) fn spoil_all(&mut self) {
        if self.operation != Operation::Read {
            (0..self.blocks).for_each(|block| self.spoil(block, 0));
        }
    }

    fn ring(&self) -> usize {
        self.random.as_ref().map_or(self.blocks, Vec::len)
    }

    /// Returns the blocks at these places of the ring.
    fn visited(&self, places: Range<usize>) -> Blocks<'_> {
        match &self.random {
            Some(order) => Blocks::List(&order[places]),
            None => Blocks::Row(places.start, places.len()),
        }
    }

    /// Returns the block at a place of the ring.
    fn block(&self, place: usize) -> usize {
        self.random.as_ref().map_or(place, |order| order[place] as usize)
    }

    fn source(&self, block: usize, count: usize) -> &[u8] {
        let at = self.area.source.wrapping_add(block * self.area.size);
        // SAFETY: the blocks belong to this part. No other thread touches them, and only `run`
        // writes them, which borrows the part mutably.
        unsafe { std::slice::from_raw_parts(at, count * self.area.size) }
    }

    fn target(&self, block: usize, count: usize) -> &[u8] {
        let at = self.area.target.wrapping_add(block * self.area.size);
        // SAFETY: as above.
        unsafe { std::slice::from_raw_parts(at, count * self.area.size) }
    }

    /// Returns the value of the first byte of a target block directly after it was written.
    fn first_byte(&self, block: usize, stamp: u8) -> u8 {
        match self.operation {
            Operation::Copy => self.source(block, 1)[0],
            _ => stamp,
        }
    }

    fn spoil(&mut self, block: usize, stamp: u8) {
        let byte = !self.first_byte(block, stamp);
        let at = self.area.target.wrapping_add(block * self.area.size);
        // SAFETY: the first byte of a block of this part.
        unsafe { at.write(byte) };
    }

    /// Visits the blocks at these places and records the evidence.
    fn stretch(&mut self, places: Range<usize>) {
        let (last, stamp) = (self.block(places.end - 1), stamp(self.state.pass));
        if self.operation == Operation::Read {
            // SAFETY: all blocks of the ring belong to this part.
            let sum = unsafe { (self.body)(&self.area, self.visited(places), stamp) };
            self.state.unproven.sum = self.state.unproven.sum.wrapping_add(sum);
            return;
        }
        self.spoil(last, stamp);
        // SAFETY: as above.
        unsafe { (self.body)(&self.area, self.visited(places), stamp) };
        let at = self.area.target.wrapping_add(last * self.area.size);
        // SAFETY: the first byte of a block of this part.
        if unsafe { at.read_volatile() } != self.first_byte(last, stamp) {
            self.state.unproven.left_out.get_or_insert(last);
        }
    }

    /// Returns the places of the last `blocks` visits, at most one round: those in the previous
    /// pass, then those in the current pass.
    fn latest(&self, blocks: u64) -> [Range<usize>; 2] {
        let (at, ring) = (self.state.at, self.ring());
        let blocks = blocks.min(ring as u64) as usize;
        let now = at.saturating_sub(blocks)..at;
        [ring - (blocks - now.len())..ring, now]
    }

    /// Returns the expected sum of the last `blocks` reads.
    fn expected_sum(&self, blocks: u64) -> u64 {
        let ring = self.ring();
        let (passes, rest) = (blocks / ring.max(1) as u64, blocks % ring.max(1) as u64);
        let whole = self.sum(0..ring).wrapping_mul(passes);
        self.latest(rest).into_iter().fold(whole, |s, places| s.wrapping_add(self.sum(places)))
    }

    /// Returns the expected sum of the blocks at these places.
    fn sum(&self, places: Range<usize>) -> u64 {
        let size = self.area.size;
        match self.visited(places) {
            Blocks::Row(first, count) => content::sum(self.offset + first * size, size, count),
            Blocks::List(list) => content::sum_of(self.offset, size, list),
        }
    }

    /// Checks the contents written to the blocks at these places, and spoils the blocks.
    fn check_written(&mut self, places: Range<usize>, stamp: u8) -> Result<(), String> {
        if self.random.is_none() {
            return self.check(places.start, places.len(), stamp);
        }
        for from in places.clone().step_by(AT_ONCE) {
            let batch = from..places.end.min(from + AT_ONCE);
            self.fetch(batch.clone());
            batch.into_iter().try_for_each(|place| self.check(self.block(place), 1, stamp))?;
        }
        Ok(())
    }

    /// Reads a byte of each block, so that their cache misses overlap.
    fn fetch(&self, places: Range<usize>) {
        let first = |block| self.target(block, 1)[0] ^ self.source(block, 1)[0];
        black_box(places.fold(0, |all, place| all ^ first(self.block(place))));
    }

    /// Checks `count` blocks from `block` on, and spoils them.
    fn check(&mut self, block: usize, count: usize, stamp: u8) -> Result<(), String> {
        if count == 0 {
            return Ok(());
        }
        let target = self.target(block, count);
        let same = match (self.operation, is_short(target)) {
            (Operation::Copy, true) => target.iter().eq(self.source(block, count)),
            (Operation::Copy, false) => target == self.source(block, count),
            (_, true) => target.iter().all(|byte| *byte == stamp),
            (_, false) => target[0] == stamp && target[1..] == target[..target.len() - 1],
        };
        if !same {
            return Err(self.difference(block, count, stamp));
        }
        (block..block + count).for_each(|b| self.spoil(b, stamp));
        Ok(())
    }

    /// Describes the first difference between the target and its expected contents.
    fn difference(&self, block: usize, count: usize, stamp: u8) -> String {
        let target = self.target(block, count);
        let wanted = |i: usize| match self.operation {
            Operation::Copy => self.source(block, count)[i],
            _ => stamp,
        };
        let at = (0..target.len()).find(|i| target[*i] != wanted(*i)).unwrap_or_default();
        let (found, (block, first)) = (target[at], self.block_of(block + at / self.area.size));
        let byte = first + at % self.area.size;
        format!("byte {byte} of block {block} is {found}, expected {}", wanted(at))
    }

    /// Returns the block of a piece, and the byte of the block at which the piece begins.
    fn block_of(&self, piece: usize) -> (usize, usize) {
        (piece / self.pieces, piece % self.pieces * self.area.size)
    }
}

impl Load for BlockLoad {
    fn begin(&mut self) {
        self.state.counted = 0;
    }

    fn run(&mut self, iterations: u64) {
        let ring = self.ring();
        let mut left = if ring > 0 { iterations } else { 0 };
        while left > 0 {
            let at = self.state.at;
            let count = left.min((ring - at) as u64);
            self.stretch(at..at + count as usize);
            left -= count;
            let State { at, pass, visited, counted, unproven } = &mut self.state;
            *visited += count;
            *counted += count;
            unproven.blocks += count;
            *at += count as usize;
            if *at == ring {
                (*at, *pass) = (0, *pass + 1);
            }
        }
        fence(); // Makes the non-temporal stores visible, so that a trial includes them.
    }

    fn verify(&mut self) -> Result<u64, String> {
        let Unproven { blocks, sum: found, left_out } = std::mem::take(&mut self.state.unproven);
        if self.operation == Operation::Read {
            let sum = self.expected_sum(blocks);
            let wrong = format!("the sum of the bytes read is {found}, expected {sum}");
            return if found == sum { Ok(self.state.counted) } else { Err(wrong) };
        }
        if let Some(piece) = left_out {
            let (block, byte) = self.block_of(piece);
            return Err(format!(
                "byte {byte} of block {block} was not written at the end of a run"
            ));
        }
        let (pass, [before, now]) = (self.state.pass, self.latest(blocks));
        // In the order of the runs: the lines that this check leaves in the cache are those that
        // the next run reaches last.
        self.check_written(before, stamp(pass.saturating_sub(1)))?;
        self.check_written(now, stamp(pass))?;
        Ok(self.state.counted)
    }

    fn visits(&self) -> Option<Visits> {
        Some(Visits {
            place_bytes: self.area.size as u64,
            round: self.ring() as u64,
            round_bytes: self.round_bytes,
            visits: self.state.visited,
        })
    }
}

/// Replaces each block by its pieces.
pub(super) fn into_pieces(window: &mut Vec<u32>, pieces: usize) {
    let blocks = window.len();
    window.resize(blocks * pieces, 0);
    for i in (0..blocks).rev() {
        let first = window[i] * pieces as u32;
        (0..pieces).for_each(|piece| window[i * pieces + piece] = first + piece as u32);
    }
}
