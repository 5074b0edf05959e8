//! The pointer chase: a walk along a cycle of pointers ([`Cycle`]). Each load gives the address of
//! the next one. So no load can start before the previous one is done, and time / loads is a
//! latency.

#![allow(unsafe_code)] // Pointers in measured memory are written and followed.

use std::sync::Arc;

use proofmark_engine::{Load, Visits};

use super::cycle::{Cycle, LINE, Order};
use crate::arena::Arena;

/// A place on a cycle, and the steps that led there.
#[derive(Debug)]
pub(super) struct Walk {
    cycle: Cycle,
    at: *mut *mut u8,
    /// Position at [`Load::begin`], and the steps since.
    start: u64,
    steps: u64,
    /// Steps before that, since the walk began.
    before: u64,
    _arena: Option<Arc<Arena>>,
}

impl Walk {
    /// Starts a walk at the first node.
    ///
    /// # Safety
    /// The cycle must be laid, and no thread may write to its lines while the walk lives.
    unsafe fn start(cycle: Cycle, arena: Option<Arc<Arena>>) -> Self {
        Self { at: cycle.node(0), start: 0, steps: 0, before: 0, cycle, _arena: arena }
    }
}

impl Load for Walk {
    /// Reads the set into the caches. Other work between two trials evicted it, and a walk would
    /// take long to bring it back.
    fn prepare(&mut self, _: u64) {
        if self.cycle.bytes() < OF_MEMORY {
            self.cycle.fetch();
        }
    }

    fn begin(&mut self) {
        self.start = (self.start + self.steps) % self.cycle.len();
        self.before += self.steps;
        self.steps = 0;
    }

    /// Walks this many steps, and times only the loads: 32 of them per turn of the loop.
    fn run(&mut self, steps: u64) {
        self.steps += steps;
        // SAFETY: the caller of `start` promised a laid cycle, whose pointers lead to nodes only.
        self.at = unsafe { follow(self.at, steps) };
    }

    /// Returns the steps since `begin` if they led to the expected node. Errors of earlier runs
    /// show too, since these steps start where those runs ended.
    fn verify(&mut self) -> Result<u64, String> {
        let due = self.cycle.node(self.start + self.steps % self.cycle.len());
        if self.at == due {
            return Ok(self.steps);
        }
        let byte = |node: *mut *mut u8| node.addr().wrapping_sub(self.cycle.base.addr());
        let (due, found, steps) = (byte(due), byte(self.at), self.steps);
        Err(format!(
            "after {steps} steps the pointer chase must be at byte {due}, but is at {found}"
        ))
    }

    fn visits(&self) -> Option<Visits> {
        let round = self.cycle.len();
        let visits = self.before + self.steps;
        Some(Visits { place_bytes: LINE, round, round_bytes: LINE * round, visits })
    }
}

/// A chase at the start of an arena.
pub(super) struct Chase {
    pub(super) arena: Arc<Arena>,
    pub(super) bytes: u64,
    order: Order,
    /// True if the previous configuration left the same chase there.
    laid: bool,
}

impl Chase {
    pub(super) fn new(arena: Arc<Arena>, bytes: u64, order: Order) -> Self {
        let laid = arena.holds(&format!("a chase through {bytes} bytes, {order:?}"));
        Self { arena, bytes, order, laid }
    }

    /// Lays the chase if necessary, and starts a walk on the calling thread.
    pub(super) fn begin(&self) -> Walk {
        self.arena.place_here(0, self.bytes as usize);
        let cycle = Cycle::new(self.arena.base(), self.bytes, self.order);
        if !self.laid {
            // SAFETY: the arena has this many bytes. The other threads of the configuration use
            // only memory beyond them.
            unsafe {
                cycle.lay();
                if self.bytes >= FLUSHED {
                    flush(self.arena.base(), self.bytes);
                }
            }
        }
        // SAFETY: the cycle is laid, and no thread writes there while the configuration lives.
        unsafe { Walk::start(cycle, Some(Arc::clone(&self.arena))) }
    }
}

/// Minimum bytes of a set that should show memory. No part of it may be in a cache because it was
/// read before the trial.
const OF_MEMORY: u64 = 256 << 20;

/// Minimum bytes of a set that exceeds any last-level cache. It is flushed so that lines cached by
/// laying the cycle do not affect the result.
const FLUSHED: u64 = 1 << 30;

/// Evicts every line from the caches.
///
/// # Safety
/// `bytes` bytes must be mapped.
unsafe fn flush(base: *mut u8, bytes: u64) {
    #[cfg(target_arch = "x86_64")]
    for line in (0..bytes).step_by(LINE as usize) {
        // SAFETY: every x86-64 has SSE2, and the line is mapped.
        unsafe { std::arch::x86_64::_mm_clflush(base.wrapping_add(line as usize)) };
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (base, bytes);
}

/// Follows this many pointers, 32 per turn of the loop.
///
/// # Safety
/// Each pointer must lead to the next one.
unsafe fn follow(mut at: *mut *mut u8, steps: u64) -> *mut *mut u8 {
    const TURN: u64 = 32;
    let turns = steps / TURN;
    #[cfg(target_arch = "x86_64")]
    if turns > 0 {
        // SAFETY: the code only loads, from pointers that the caller guarantees.
        unsafe {
            std::arch::asm!(
                ".p2align 5",
                "2:",
                ".rept 32",
                "mov {at}, [{at}]",
                ".endr",
                "dec {turns}",
                "jnz 2b",
                at = inout(reg) at,
                turns = inout(reg) turns => _,
                options(nostack, readonly)
            );
        }
    }
    #[cfg(not(target_arch = "x86_64"))]
    for _ in 0..turns {
        for _ in 0..TURN {
            // SAFETY: as the caller guarantees.
            at = unsafe { at.read_volatile() }.cast();
        }
    }
    for _ in 0..steps % TURN {
        // SAFETY: as above.
        at = unsafe { at.read_volatile() }.cast();
    }
    at
}

#[cfg(test)]
mod tests {
    use super::super::cycle::tests::{PAGES, laid};
    use super::*;
    use crate::arena::Pages;
    use crate::params::testing::{uneven_slices, verified};

    /// Starts a walk on a laid cycle through this many pages, and returns it with its memory.
    fn walk(pages: u64, order: Order) -> (Vec<u64>, Walk) {
        let (words, cycle) = laid(pages, order);
        // SAFETY: the cycle is laid, and pointers in `words` lead to nodes until the test ends.
        let walk = unsafe { Walk::start(cycle, None) };
        (words, walk)
    }

    #[test]
    fn a_walk_proves_its_steps_and_goes_on() {
        for pages in PAGES {
            let (_words, mut walk) = walk(pages, Order::Rand);
            let (first, len) = (walk.at, walk.cycle.len());
            for steps in [0, 1, 31, 32, 33, 1000, len - 1, len + 1] {
                for slices in [vec![steps], uneven_slices(steps)] {
                    walk.run(7);
                    assert_eq!(verified(&mut walk, &slices), Ok(steps), "{pages} pages");
                }
            }
            walk.run((len - (walk.start + walk.steps) % len) % len);
            assert_eq!(walk.at, first, "all the way round");
        }
    }

    #[test]
    fn a_step_too_few_or_too_many_is_found() {
        let (_words, mut walk) = walk(17, Order::Rand);
        for (claimed, made) in [(1000, 999), (1000, 1001), (1, 0), (0, 1), (5000, 0)] {
            walk.begin();
            walk.run(made);
            walk.steps = claimed;
            let error = walk.verify().unwrap_err();
            assert!(error.contains(&format!("{claimed} steps")), "{error}");
            walk.steps = made;
        }
        // A fault before the counted run is still found.
        walk.run(10);
        walk.steps = 9;
        assert!(verified(&mut walk, &[100]).is_err());
    }

    #[test]
    fn a_pointer_that_goes_astray_in_a_middle_slice_is_found() {
        let (_words, mut walk) = walk(17, Order::Rand);
        walk.run(100);
        for slices in [&[50, 50][..], &[1, 2000, 33, 700]] {
            walk.begin();
            for (i, steps) in slices.iter().enumerate() {
                walk.run(*steps);
                if i == 0 {
                    let at = (walk.start + walk.steps + 5) % walk.cycle.len();
                    walk.at = walk.cycle.node(at);
                }
            }
            assert!(walk.verify().unwrap_err().contains("but is at"), "{slices:?}");
            walk.at = walk.cycle.node((walk.start + walk.steps) % walk.cycle.len());
        }
    }

    #[test]
    fn a_cycle_that_is_broken_into_two_is_found() {
        let (mut words, mut walk) = walk(17, Order::Rand);
        let word = |position| (walk.cycle.node(position).addr() - words.as_ptr().addr()) / 8;
        let (a, b) = (word(10), word(500));
        words.swap(a, b);
        walk.run(10);
        assert_eq!(walk.verify(), Ok(10), "up to there all is well");
        walk.run(3);
        walk.run(2);
        assert!(walk.verify().is_err());
    }

    #[test]
    fn a_chase_is_laid_once_and_again_for_another_size() {
        let arena = Arena::get(1 << 20, Pages::Small, 1).unwrap();
        for (bytes, order, laid) in [
            (8192, Order::Rand, false),
            (8192, Order::Rand, true),
            (8192, Order::Local, false),
            (8192, Order::Rand, false),
            (4096, Order::Rand, false),
            (8192, Order::Rand, false), // The smaller one has been written over it.
        ] {
            let chase = Chase::new(Arc::clone(&arena), bytes, order);
            assert_eq!(chase.laid, laid, "{bytes} {order:?}");
        }
    }
}
