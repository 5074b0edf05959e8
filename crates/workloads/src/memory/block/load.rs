//! One thread's part: its blocks, the order in which they are visited, and the verification that
//! they were.
//!
//! Runs go round a ring of blocks: all of the part's in order of addresses, or the random order that
//! was made when the part was. Once round is a *pass*, in which no block comes twice; what one run
//! visits of one pass is a *stretch*. The next run goes on where the last one ended, in the next trial
//! as well: so how soon a block comes again depends on no estimate of how many a trial needs.
//! A large block is visited in pieces, so that an iteration takes microseconds; each piece is
//! treated as a block.
//!
//! How the runs since the last verification are proven:
//! - **Read**: the sum of everything that was read is what the memory holds there.
//! - **Write**: each pass writes a stamp of its own, and each block must hold, in
//!   every byte, that of the last pass that came by.
//! - **Copy**: each target block must equal its source block.
//!
//! So that neither a copy nor a stamp of an earlier trial can pass for a new one, a block that was
//! checked is *spoilt*: its first target byte is inverted. So each block counts once: one that an
//! order holds twice is found spoilt when it comes up again. Stretches that a later pass wrote over
//! cannot be checked afterwards. They are proven by their last block, which is spoilt before and
//! read after each stretch; this one store and one load a stretch are timed. What stays unproven is
//! what a stretch left out before its last block, if a later pass of the trial wrote it, or, of a
//! copy, if an earlier one had.

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
    /// Its blocks are the pieces.
    pub(super) area: Area,
    pub(super) blocks: usize,
    /// Pieces that one block of the point is visited in.
    pub(super) pieces: usize,
    /// Offset of the area's first byte in the source, which decides what it holds.
    pub(super) offset: usize,
    /// The random order, if that is asked for; it may leave blocks out, or to other threads.
    pub(super) random: Option<Vec<u32>>,
    /// Bytes of the distinct lines once round that pass through the caches.
    pub(super) round_bytes: u64,
    pub(super) _arena: Arc<Arena>,
    pub(super) state: State,
}

#[derive(Debug, Clone, Copy, Default)]
pub(super) struct State {
    /// Where the next run goes on in the ring, and in which pass.
    at: usize,
    pass: u64,
    /// Blocks visited since the part was made.
    visited: u64,
    /// Blocks visited since the beginning of what counts.
    counted: u64,
    unproven: Unproven,
}

/// What came of the runs since the last verification.
#[derive(Debug, Clone, Copy, Default)]
struct Unproven {
    blocks: u64,
    /// What was read adds up to this.
    sum: u64,
    /// The last block of the first stretch that did not write it.
    left_out: Option<usize>,
}

/// Blocks that are fetched before they are checked: more than misses overlap, and less than a
/// first-level cache holds.
const AT_ONCE: usize = 128;

/// Stamps come round after this many. None has the highest bit set, so that no spoilt byte, which
/// has, looks like one.
const STAMPS: u64 = 127;

/// Whether to compare byte by byte: a call of memcmp takes longer.
fn is_short(bytes: &[u8]) -> bool {
    bytes.len() <= 8
}

/// What that pass writes.
fn stamp(pass: u64) -> u8 {
    (pass % STAMPS) as u8 + 1
}

impl BlockLoad {
    /// Spoils all blocks, so that what an earlier point left there proves nothing.
    pub(super) fn spoil_all(&mut self) {
        if self.operation != Operation::Read {
            (0..self.blocks).for_each(|block| self.spoil(block, 0));
        }
    }

    fn ring(&self) -> usize {
        self.random.as_ref().map_or(self.blocks, Vec::len)
    }

    /// The blocks at these places of the ring.
    fn visited(&self, places: Range<usize>) -> Blocks<'_> {
        match &self.random {
            Some(order) => Blocks::List(&order[places]),
            None => Blocks::Row(places.start, places.len()),
        }
    }

    /// The block at that place of the ring.
    fn block(&self, place: usize) -> usize {
        self.random.as_ref().map_or(place, |order| order[place] as usize)
    }

    fn source(&self, block: usize, count: usize) -> &[u8] {
        let at = self.area.source.wrapping_add(block * self.area.size);
        // SAFETY: blocks of this part, which no other thread touches, and which only
        // `run`, that borrows all of the part, writes.
        unsafe { std::slice::from_raw_parts(at, count * self.area.size) }
    }

    fn target(&self, block: usize, count: usize) -> &[u8] {
        let at = self.area.target.wrapping_add(block * self.area.size);
        // SAFETY: as above.
        unsafe { std::slice::from_raw_parts(at, count * self.area.size) }
    }

    /// What the first byte of a target block is when it was just written.
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

    /// Visits the blocks at these places, and keeps what proves it.
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

    /// The places of the latest blocks, at most once round: those of the pass before the current
    /// one, and those of the current one.
    fn latest(&self, blocks: u64) -> [Range<usize>; 2] {
        let (at, ring) = (self.state.at, self.ring());
        let blocks = blocks.min(ring as u64) as usize;
        let now = at.saturating_sub(blocks)..at;
        [ring - (blocks - now.len())..ring, now]
    }

    /// What reading this many blocks up to here must add up to.
    fn expected_sum(&self, blocks: u64) -> u64 {
        let ring = self.ring();
        let (passes, rest) = (blocks / ring.max(1) as u64, blocks % ring.max(1) as u64);
        let whole = self.sum(0..ring).wrapping_mul(passes);
        self.latest(rest).into_iter().fold(whole, |s, places| s.wrapping_add(self.sum(places)))
    }

    /// What the blocks at these places add up to.
    fn sum(&self, places: Range<usize>) -> u64 {
        let size = self.area.size;
        match self.visited(places) {
            Blocks::Row(first, count) => content::sum(self.offset + first * size, size, count),
            Blocks::List(list) => content::sum_of(self.offset, size, list),
        }
    }

    /// Checks what was written to the blocks at these places, and spoils them.
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

    /// Checks this many blocks from that one on, and spoils them.
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

    /// Where what was written differs from what it should be, in words.
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

    /// The block of the point that a piece is of, and the byte of it that the piece begins with.
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
        fence(); // Makes what was stored past the cache visible, so that a trial includes it.
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
        // In the order of the runs, so that what this leaves in the cache is what the
        // next run meets last.
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
