//! The pointer chase: one cycle of pointers through every line of a working set, and the walk along
//! it. Each load gives the address of the next, so no load can start before the previous one is
//! done, and time / loads is a latency.
//!
//! The order. The cycle consists of sweeps; each sweep takes all pages in one random order, and on
//! each page one line that no other sweep takes. So no load is near the previous one, prefetchers
//! have nothing to go on, and all other pages pass between two visits of one: a TLB that cannot
//! hold them all holds none in time. In the local order the pages are those of a window of 2 MiB,
//! which a TLB holds, and one window follows the other; it takes one line of each pair, since CPUs
//! may fetch the other one along with it, and keep it. The order is computed: the line at any
//! position is known without a walk, so the end of any walk can be checked.

#![allow(unsafe_code)] // Pointers in measured memory are written and followed.

use std::sync::Arc;

use proofmark_engine::{Load, Visits};

use crate::arena::Arena;

pub(super) const LINE: u64 = 64;
/// Bytes of a page of the order, whatever the pages of the memory are.
pub(super) const PAGE: u64 = 4096;
const LINES_PER_PAGE: u64 = PAGE / LINE;
const LINE_BITS: u32 = LINES_PER_PAGE.trailing_zeros();

/// Odd factors with well mixed bits: fractions of the golden ratio and the roots of 2 and 3.
const ODD: [u64; 3] = [0x9e37_79b9_7f4a_7c15, 0x6a09_e667_f3bc_c909, 0xbb67_ae85_84ca_a73b];

/// Pages of a window of the local order.
pub(super) const WINDOW: u64 = (2 << 20) / PAGE;

/// How far from each other successive loads may be. Names as in the `order` parameter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Order {
    /// Anywhere in the working set.
    Rand,
    /// Within a window of 2 MiB, one window after the other.
    Local,
}

/// A single cycle through all lines of this many pages.
#[derive(Debug, Clone)]
pub(super) struct Cycle {
    base: *mut u8,
    /// Windows, and pages in each.
    windows: u64,
    pages: u64,
    /// Bits that number the pages of a window.
    page_bits: u32,
    /// The lines of a page that are taken, in random order.
    lines: Vec<u8>,
}

impl Cycle {
    /// The cycle through the whole pages among these bytes, at least one; in the local
    /// order through the whole windows, where there are several.
    pub(super) fn new(base: *mut u8, bytes: u64, order: Order) -> Self {
        let all = (bytes / PAGE).max(1);
        let (windows, pages) = match order {
            Order::Local if all > WINDOW => (all / WINDOW, WINDOW),
            _ => (1, all),
        };
        let page_bits = u64::BITS - (pages - 1).leading_zeros();
        let every = if windows > 1 { 2 } else { 1 };
        let lines = (0..LINES_PER_PAGE).map(|k| shuffled(k, LINE_BITS) as u8);
        let lines = lines.filter(|line| line % every == 0).collect();
        Self { base, windows, pages, page_bits, lines }
    }

    /// Lines in it.
    pub(super) fn len(&self) -> u64 {
        self.windows * self.pages * self.sweeps()
    }

    /// Bytes of its pages.
    fn bytes(&self) -> u64 {
        self.windows * self.pages * PAGE
    }

    /// Reads every line once, in the order of addresses.
    fn fetch(&self) {
        for line in (0..self.bytes()).step_by(LINE as usize) {
            // SAFETY: a cycle that is walked has been laid, so its pages are mapped.
            unsafe { self.base.wrapping_add(line as usize).read_volatile() };
        }
    }

    /// Sweeps over a window: lines taken of each page.
    fn sweeps(&self) -> u64 {
        self.lines.len() as u64
    }

    /// The page of a window that comes `at` places into every sweep.
    fn page(&self, at: u64) -> u64 {
        let mut page = shuffled(at, self.page_bits);
        // Numbers past the last page are permuted again: fewer than half are.
        while page >= self.pages {
            page = shuffled(page, self.page_bits);
        }
        page
    }

    /// A sweep's node on a page of a window.
    fn node_on(&self, window: u64, page: u64, sweep: u64) -> *mut *mut u8 {
        let start = page.wrapping_mul(ODD[2]) >> (u64::BITS - LINE_BITS);
        // As many lines as a power of two: each sweep takes another.
        let line = self.lines[(sweep ^ start) as usize % self.lines.len()];
        let offset = (window * self.pages + page) * PAGE + u64::from(line) * LINE;
        self.base.wrapping_add(offset as usize).cast()
    }

    /// The node at a position; positions go on from the last to the first.
    fn node(&self, position: u64) -> *mut *mut u8 {
        let (position, of_window) = (position % self.len(), self.pages * self.sweeps());
        let (window, within) = (position / of_window, position % of_window);
        self.node_on(window, self.page(within % self.pages), within / self.pages)
    }

    /// Writes the pointers, page by page.
    ///
    /// # Safety
    /// The pages are mapped, and nobody else uses them meanwhile.
    unsafe fn lay(&self) {
        let first = self.page(0);
        for window in 0..self.windows {
            let mut page = first;
            for at in 1..=self.pages {
                let next = if at < self.pages { self.page(at) } else { first };
                for sweep in 0..self.sweeps() {
                    // From the last page each sweep leads to the first page of the next
                    // one, and the last sweep to the next window.
                    let target = match (at < self.pages, sweep + 1 < self.sweeps()) {
                        (true, _) => self.node_on(window, next, sweep),
                        (false, true) => self.node_on(window, next, sweep + 1),
                        (false, false) => self.node_on((window + 1) % self.windows, next, 0),
                    };
                    // SAFETY: a node lies within the pages, as the caller guarantees.
                    unsafe { self.node_on(window, page, sweep).write(target.cast()) };
                }
                page = next;
            }
        }
    }

    /// A walk from the first node on.
    ///
    /// # Safety
    /// The cycle has been laid, and nobody writes to its lines while the walk lives.
    unsafe fn walk(self, arena: Option<Arc<Arena>>) -> Walk {
        Walk { at: self.node(0), start: 0, steps: 0, before: 0, cycle: self, _arena: arena }
    }
}

/// A permutation of the numbers with this many bits: multiplying by an odd number and folding high
/// bits onto low ones can each be undone.
fn shuffled(number: u64, bits: u32) -> u64 {
    let mask = !(u64::MAX << bits);
    let fold = (bits / 2).max(1);
    ODD.iter().fold(number, |x, odd| {
        let x = x.wrapping_mul(*odd).wrapping_add(odd >> 32) & mask;
        x ^ (x >> fold)
    })
}

/// A place on a cycle, and how it was reached.
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

impl Load for Walk {
    /// What worked between two trials emptied the caches, and a walk takes long to fill them.
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

    /// Goes on by this many steps. Times the loads alone: 32 of them a turn of the loop.
    fn run(&mut self, steps: u64) {
        self.steps += steps;
        // SAFETY: `Cycle::walk` was promised a laid cycle, whose pointers lead to nodes only.
        self.at = unsafe { follow(self.at, steps) };
    }

    /// The steps since the beginning, which must have led to the node that the order has
    /// at their end. What any earlier run did wrong shows too, as they start from there.
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

/// The start of an arena, with a chase in it.
pub(super) struct Chase {
    pub(super) arena: Arc<Arena>,
    pub(super) bytes: u64,
    order: Order,
    /// Whether the previous point has left the same one there.
    laid: bool,
}

impl Chase {
    pub(super) fn new(arena: Arc<Arena>, bytes: u64, order: Order) -> Self {
        let laid = arena.holds(&format!("a chase through {bytes} bytes, {order:?}"));
        Self { arena, bytes, order, laid }
    }

    /// Makes it ready on the calling thread.
    pub(super) fn begin(&self) -> Walk {
        self.arena.place_here(0, self.bytes as usize);
        let cycle = Cycle::new(self.arena.base(), self.bytes, self.order);
        if !self.laid {
            // SAFETY: the arena has this many bytes, and the other threads of the point use what
            // is beyond them.
            unsafe {
                cycle.lay();
                if self.bytes >= FLUSHED {
                    flush(self.arena.base(), self.bytes);
                }
            }
        }
        // SAFETY: laid now or before, and nobody writes there while the point lives.
        unsafe { cycle.walk(Some(Arc::clone(&self.arena))) }
    }
}

/// From this size on a set is there to show memory, in bytes: no part of it may be in a cache because
/// it was read before the trial.
const OF_MEMORY: u64 = 256 << 20;

/// From this size on a set is more than any last-level cache, in bytes: what laying the
/// cycle left in the cache is no part of what is measured.
const FLUSHED: u64 = 1 << 30;

/// Puts every line out of the caches.
///
/// # Safety
/// So many bytes are mapped.
unsafe fn flush(base: *mut u8, bytes: u64) {
    #[cfg(target_arch = "x86_64")]
    for line in (0..bytes).step_by(LINE as usize) {
        // SAFETY: every x86-64 has SSE2, and the line is mapped.
        unsafe { std::arch::x86_64::_mm_clflush(base.wrapping_add(line as usize)) };
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (base, bytes);
}

/// Follows this many pointers, 32 of them a turn of the loop.
///
/// # Safety
/// Each of them leads to the next.
unsafe fn follow(mut at: *mut *mut u8, steps: u64) -> *mut *mut u8 {
    const TURN: u64 = 32;
    let turns = steps / TURN;
    #[cfg(target_arch = "x86_64")]
    if turns > 0 {
        // SAFETY: loads only, of pointers that the caller guarantees.
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
    use super::*;
    use crate::arena::Pages;
    use crate::params::testing::{uneven_slices, verified};

    /// The start of a laid cycle through this many pages, and their memory.
    fn walk(pages: u64, order: Order) -> (Vec<u64>, Walk) {
        let mut words = vec![0_u64; (pages * PAGE / 8) as usize];
        let cycle = Cycle::new(words.as_mut_ptr().cast(), pages * PAGE, order);
        // SAFETY: `words` holds the pages; until the test ends, pointers there lead to nodes.
        let walk = unsafe {
            cycle.lay();
            cycle.walk(None)
        };
        (words, walk)
    }

    const PAGES: [u64; 9] = [1, 2, 3, 5, 16, 17, 100, 255, 1024];

    #[test]
    fn the_pointers_make_one_cycle_through_each_line_that_is_taken() {
        let rand = PAGES.map(|pages| (pages, Order::Rand));
        let local = [17, 512, 513, 1024, 1600].map(|pages| (pages, Order::Local));
        for (pages, order) in rand.into_iter().chain(local) {
            let (_words, Walk { cycle, at: mut node, .. }) = walk(pages, order);
            let mut seen = vec![false; (pages * LINES_PER_PAGE) as usize];
            for position in 0..cycle.len() {
                assert_eq!(node, cycle.node(position), "{pages} pages");
                let offset = node.addr() - cycle.base.addr();
                assert_eq!(offset as u64 % LINE, 0);
                assert!(!std::mem::replace(&mut seen[offset / LINE as usize], true));
                // SAFETY: a node of a laid cycle.
                node = unsafe { node.read() }.cast();
            }
            assert_eq!(node, cycle.node(0), "{pages} pages");
        }
    }

    #[test]
    fn no_load_is_near_the_one_before_it() {
        let (_words, Walk { cycle, .. }) = walk(1000, Order::Rand);
        let page = |i: u64| (cycle.node(i).addr() - cycle.base.addr()) as u64 / PAGE;
        let last = cycle.len() - 1;
        let near = (0..last).filter(|i| page(*i).abs_diff(page(i + 1)) <= 1).count() as f64;
        // By chance two of the thousand pages are the neighbours of one.
        assert!(near / (last as f64) < 0.004, "{near}");
        // And hardly two steps are as long.
        let length = |i: u64| page(i).wrapping_sub(page(i + 1));
        let lengths: std::collections::BTreeSet<u64> = (0..1000).map(length).collect();
        assert!(lengths.len() > 500, "{}", lengths.len());
    }

    #[test]
    fn the_local_order_takes_window_after_window() {
        let (_words, Walk { cycle, .. }) = walk(4 * WINDOW + 1, Order::Local);
        assert_eq!(cycle.len(), 4 * WINDOW * LINES_PER_PAGE / 2, "whole windows, a line a pair");
        let window = |i: u64| (cycle.node(i).addr() - cycle.base.addr()) as u64 / (WINDOW * PAGE);
        let of_window = WINDOW * LINES_PER_PAGE / 2;
        assert!((0..cycle.len()).step_by(777).all(|i| window(i) == i / of_window));
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
        // A fault before the run that counts is not forgotten.
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
