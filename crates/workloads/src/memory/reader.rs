//! Reads memory in bursts as fast as one thread can, and returns sums that prove that every word
//! was read. It is the load of `memory.loaded_latency` and the work of `memory.numa_read`.

#![allow(unsafe_code)] // The stream loops read raw memory.

use std::sync::Arc;

use proofmark_engine::Refusal;

use super::loops::find;
use super::segment::{Loop, Segment};
use super::stream::op::{Op, Stores};
use crate::arena::Arena;
use crate::cpu::isa::Isa;

/// Bytes of one burst: short enough for pacing in microseconds, long enough to hide the cost of the
/// call.
pub(super) const BURST: u64 = 16 << 10;

/// A thread's own part of an arena, read from start to end repeatedly.
pub(super) struct Reader {
    arena: Arc<Arena>,
    offset: u64,
    pub(super) bursts: u64,
    /// The next burst, from 0.
    pub(super) next: u64,
    read: Loop,
}

impl Reader {
    /// Creates a reader of `bytes` bytes from `offset` on, both whole bursts. The calling thread
    /// touches the memory.
    pub(super) fn new(arena: &Arc<Arena>, offset: u64, bytes: u64) -> Result<Self, Refusal> {
        let widest = Isa::ALL.into_iter().rev();
        let read = widest.filter_map(|isa| find(Op::Read, Stores::Temporal, isa)).next();
        let read = read.ok_or_else(|| Refusal("no read loop for this architecture".to_owned()))?;
        arena.place_here(offset as usize, bytes as usize);
        Ok(Self { arena: Arc::clone(arena), offset, bursts: bytes / BURST, next: 0, read })
    }

    /// Returns the words of one burst, for filling.
    pub(super) fn words(&mut self, burst: u64) -> &mut [u64] {
        // SAFETY: within the part, which is this thread's own; zero or filled before.
        unsafe { std::slice::from_raw_parts_mut(self.start(burst).cast(), BURST as usize / 8) }
    }

    /// Reads the next burst and returns the wrapping sum of its words.
    pub(super) fn burst(&mut self) -> u64 {
        let a = self.start(self.next);
        self.next = if self.next + 1 == self.bursts { 0 } else { self.next + 1 };
        let none = std::ptr::null_mut();
        let segment = Segment { dst: none, a, b: none, bytes: BURST as usize };
        // SAFETY: the burst lies within the part; reading loops store nothing.
        unsafe { (self.read)(&segment, 1, 0.0, 0.0) }
    }

    fn start(&self, burst: u64) -> *mut f64 {
        let at = self.offset + burst % self.bursts * BURST;
        self.arena.base().wrapping_add(at as usize).cast()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arena::Pages;

    #[test]
    fn every_word_of_the_part_is_read_and_none_outside_it() {
        let arena = Arena::get(6 * BURST, Pages::Small, 1).unwrap();
        let mut whole = Reader::new(&arena, 0, 6 * BURST).unwrap();
        for burst in 0..6 {
            whole.words(burst).fill(1 << (8 * burst));
        }
        let mut part = Reader::new(&arena, BURST, 3 * BURST).unwrap();
        let words = BURST / 8;
        for expected in [1, 2, 3, 1, 2] {
            assert_eq!(part.next, expected - 1);
            assert_eq!(part.burst(), words << (8 * expected));
        }
        part.words(2)[words as usize - 1] += 5;
        assert_eq!(part.burst(), (words << 24) + 5, "the last word too");
        assert_eq!(part.bursts, 3);
    }
}
