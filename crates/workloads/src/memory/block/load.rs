//! One thread's part: its blocks, the order in which they are visited, and the verification that
//! they were.
//!
//! A run goes round a ring of blocks: all of the part's in order of addresses, or the
//! window of the random order that was made for it. Each way from one place of the
//! ring to its end, or to where the run ends, is a *stretch*, in which no block comes
//! twice. The next run goes on where the last one ended.
//!
//! How a run is proven:
//! - **Read**: the sum of everything that was read is what the memory holds there.
//! - **Write**: each stretch writes a stamp of its own, and each block must hold, in
//!   every byte, that of the last stretch that came by.
//! - **Copy**: each target block must equal its source block.
//!
//! So that neither a copy nor a stamp of an earlier run can pass for a new one, a block that was
//! checked is *spoilt*: its first target byte is inverted. So each block counts once: one that an
//! order holds twice is found spoilt when it comes up again. Stretches that a later one wrote over
//! cannot be checked afterwards. They are proven by their last block, which is spoilt before and
//! read after each stretch; this one store and one load a stretch are timed. What stays unproven is
//! a copy that a later stretch of a run left out after an earlier one of the same run had made it.

#![allow(unsafe_code)] // The blocks are raw memory.

use std::ops::Range;
use std::sync::Arc;

use proofmark_engine::Load;

use super::Operation;
use super::body::{Area, Blocks, Body};
use super::content;
use super::order::Permutation;
use crate::arena::Arena;
use crate::memory::segment::fence;

pub(super) struct BlockLoad {
    pub(super) operation: Operation,
    pub(super) body: Body,
    pub(super) area: Area,
    pub(super) blocks: usize,
    /// Offset of the area's first byte in the source, which decides what it holds.
    pub(super) offset: usize,
    /// The random order, if that is asked for; it may leave blocks to other threads.
    pub(super) random: Option<Random>,
    pub(super) _arena: Arc<Arena>,
    pub(super) state: State,
}

/// A random order and the window of it that the next run visits.
pub(super) struct Random {
    pub(super) order: Permutation,
    pub(super) window: Vec<u32>,
    /// The most blocks of a window.
    pub(super) most: usize,
}

#[derive(Debug, Default)]
pub(super) struct State {
    /// Where the next run goes on in the ring.
    at: usize,
    /// Stamp of the last stretch: 1 to 127.
    stamp: u8,
    run: Run,
}

#[derive(Debug, Clone, Copy, Default)]
struct Run {
    /// Place in the ring, stamp and number of blocks at its start.
    from: usize,
    stamp: u8,
    blocks: u64,
    /// What its bodies and its looks at last blocks added up to.
    sum: u64,
}

/// Stamps come round after this many. None has the highest bit set, so that no spoilt byte, which
/// has, looks like one.
const STAMPS: u8 = 127;

fn next_stamp(stamp: u8) -> u8 {
    stamp % STAMPS + 1
}

/// The stretches of this many blocks, from a place in a ring on.
fn stretches(from: usize, blocks: u64, ring: usize) -> impl Iterator<Item = Range<usize>> {
    let (mut at, mut left) = (from, blocks);
    std::iter::from_fn(move || {
        let length = left.min(ring.saturating_sub(at) as u64);
        let start = at;
        at = (at + length as usize) % ring.max(1);
        left -= length;
        (length > 0).then_some(start..start + length as usize)
    })
}

impl BlockLoad {
    /// Spoils all blocks, so that what an earlier point left there proves nothing.
    pub(super) fn spoil_all(&mut self) {
        if self.operation != Operation::Read {
            (0..self.blocks).for_each(|block| self.spoil(block, 0));
        }
    }

    fn ring(&self) -> usize {
        self.random.as_ref().map_or(self.blocks, |r| r.window.len())
    }

    /// The blocks at these places of the ring.
    fn visited(&self, places: Range<usize>) -> Blocks<'_> {
        match &self.random {
            Some(random) => Blocks::List(&random.window[places]),
            None => Blocks::Row(places.start, places.len()),
        }
    }

    /// The block at that place of the ring.
    fn block(&self, place: usize) -> usize {
        self.random.as_ref().map_or(place, |r| r.window[place] as usize)
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

    /// Visits the blocks at these places; returns the body's sum, or what the last
    /// block of a stretch that writes begins with afterwards.
    fn stretch(&mut self, places: Range<usize>, stamp: u8) -> u64 {
        let last = self.block(places.end - 1);
        if self.operation == Operation::Read {
            // SAFETY: all blocks of the ring belong to this part.
            return unsafe { (self.body)(&self.area, self.visited(places), stamp) };
        }
        self.spoil(last, stamp);
        // SAFETY: as above.
        unsafe { (self.body)(&self.area, self.visited(places), stamp) };
        let at = self.area.target.wrapping_add(last * self.area.size);
        // SAFETY: the first byte of a block of this part.
        u64::from(unsafe { at.read_volatile() })
    }

    /// What the sum of a stretch must be.
    fn expected(&self, places: Range<usize>, stamp: u8) -> u64 {
        if self.operation != Operation::Read {
            return u64::from(self.first_byte(self.block(places.end - 1), stamp));
        }
        let size = self.area.size;
        let sum = |block: usize, count| content::sum(self.offset + block * size, size, count);
        match self.visited(places) {
            Blocks::Row(first, count) => sum(first, count),
            Blocks::List(list) => list.iter().fold(0, |s, b| s.wrapping_add(sum(*b as usize, 1))),
        }
    }

    /// Checks what was written to the blocks at these places, and spoils them.
    fn check_written(&mut self, places: Range<usize>, stamp: u8) -> Result<(), String> {
        if self.random.is_none() {
            return self.check(places.start, places.len(), stamp);
        }
        places.into_iter().try_for_each(|place| self.check(self.block(place), 1, stamp))
    }

    /// Checks this many blocks from that one on, and spoils them.
    fn check(&mut self, block: usize, count: usize, stamp: u8) -> Result<(), String> {
        if count == 0 {
            return Ok(());
        }
        let target = self.target(block, count);
        let same = match self.operation {
            Operation::Copy => target == self.source(block, count),
            _ => target[0] == stamp && target[1..] == target[..target.len() - 1],
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
        let (found, block) = (target[at], block + at / self.area.size);
        let byte = at % self.area.size;
        format!("byte {byte} of block {block} is {found}, expected {}", wanted(at))
    }
}

impl Load for BlockLoad {
    fn prepare(&mut self, iterations: u64) {
        if let Some(random) = &mut self.random {
            let count = (iterations as usize).min(random.most).min(random.order.len());
            random.order.next(count, &mut random.window);
            self.state.at = 0;
        }
    }

    fn run(&mut self, iterations: u64) {
        let State { at, mut stamp, .. } = self.state;
        let ring = self.ring();
        let mut run = Run { from: at, stamp, ..Run::default() };
        for places in stretches(at, iterations, ring) {
            stamp = next_stamp(stamp);
            run.blocks += places.len() as u64;
            run.sum = run.sum.wrapping_add(self.stretch(places, stamp));
        }
        fence(); // Makes what was stored past the cache visible, so that a trial includes it.
        let at = (at as u64 + run.blocks) % ring.max(1) as u64;
        self.state = State { at: at as usize, stamp, run };
    }

    fn verify(&mut self) -> Result<u64, String> {
        let run = self.state.run;
        let (mut sum, mut stamp) = (0_u64, run.stamp);
        let (mut last, mut before) = (0..0, 0..0);
        for places in stretches(run.from, run.blocks, self.ring()) {
            stamp = next_stamp(stamp);
            sum = sum.wrapping_add(self.expected(places.clone(), stamp));
            before = std::mem::replace(&mut last, places);
        }
        if self.operation == Operation::Read {
            let found = run.sum;
            let wrong = format!("the sum of the bytes read is {found}, expected {sum}");
            return if found == sum { Ok(run.blocks) } else { Err(wrong) };
        }
        if run.sum != sum {
            return Err("the last block of a stretch was not written".to_owned());
        }
        // What the last stretch wrote over, and all before these two, is proven by the sum.
        let earlier = if stamp == 1 { STAMPS } else { stamp - 1 };
        self.check_written(before.start.max(last.end)..before.end, earlier)?;
        self.check_written(last, stamp)?;
        Ok(run.blocks)
    }
}
