//! The random order of blocks: a permutation that is computed a window at a time, so that no table
//! of all blocks is needed.
//!
//! A keyed mixer (multiplications by odd numbers and xor-shifts, each of which can be
//! undone) maps the numbers below a power of two onto themselves. Counting through
//! them and leaving out what is not below the number of blocks visits each block once.

use crate::mix::mixed;

/// Numbers mixed at a time, apart from each other, so that the compiler can use vectors.
const BATCH: usize = 64;

/// The most blocks of which an order can be made.
pub(super) const MOST: u64 = 1 << 32;

/// The blocks of which one thread makes an order: of each group of neighbours, as many as
/// there are threads, one. Which one changes from group to group, so that no thread always
/// has the same place in a page, and so the same memory channels.
#[derive(Debug, Clone, Copy)]
pub(super) struct Share {
    thread: u32,
    threads: u32,
    /// Groups of which no neighbour is missing.
    whole: u32,
    count: u64,
}

impl Share {
    /// What thread number `thread` of `threads` has of this many blocks, from as many as threads to
    /// [`MOST`].
    pub(super) fn new(blocks: u64, thread: u64, threads: u64) -> Self {
        let count = (blocks - thread).div_ceil(threads);
        let whole = (blocks / threads).min(u64::from(u32::MAX)) as u32;
        Self { thread: thread as u32, threads: threads as u32, whole, count }
    }

    fn block(self, group: u32) -> u32 {
        let mixed = u64::from(group.wrapping_mul(0x9E37_79B9).rotate_left(16));
        let turn = (mixed * u64::from(self.threads)) >> 32;
        let turn = if group < self.whole { turn as u32 } else { 0 };
        let place = self.thread + turn;
        let place = if place < self.threads { place } else { place - self.threads };
        // Of a number that is no group of this thread nothing is used.
        group.wrapping_mul(self.threads).wrapping_add(place)
    }
}

/// A random order of these blocks, pass after pass, each pass in another.
#[derive(Debug, Clone)]
pub(super) struct Permutation {
    share: Share,
    /// Numbers that are mixed: as many as the power of two from the number of blocks up.
    domain: u64,
    seed: u64,
    pass: u64,
    /// The next number to be mixed; beyond `domain` the pass is complete.
    at: u64,
    mixer: Mixer,
}

impl Permutation {
    /// An order of these blocks; other seeds, other orders.
    pub(super) fn new(share: Share, seed: u64) -> Self {
        let domain = share.count.next_power_of_two();
        Self { share, domain, seed, pass: 0, at: 0, mixer: Mixer::new(domain, seed, 0) }
    }

    pub(super) fn len(&self) -> usize {
        self.share.count as usize
    }

    /// Replaces `into` by the next `count` blocks, all different, of which there must be as many.
    pub(super) fn next(&mut self, count: usize, into: &mut Vec<u32>) {
        if self.at >= self.domain {
            self.pass += 1;
            self.at = 0;
            self.mixer = Mixer::new(self.domain, self.seed, self.pass);
        }
        into.clear();
        into.reserve_exact(count);
        while count - into.len() >= BATCH {
            let mut kept = [0; BATCH];
            let mut found = 0;
            for number in self.mixer.batch(self.at) {
                kept[found] = self.share.block(number);
                found += usize::from(self.is_block(number));
            }
            into.extend_from_slice(&kept[..found]);
            self.at += BATCH as u64;
        }
        while into.len() < count {
            let number = self.mixer.mix(self.at as u32);
            if self.is_block(number) {
                into.push(self.share.block(number));
            }
            self.at += 1;
        }
    }

    fn is_block(&self, number: u32) -> bool {
        u64::from(number) < self.share.count
    }
}

/// A map of the numbers below a power of two onto themselves.
#[derive(Debug, Clone, Copy)]
struct Mixer {
    mask: u32,
    shift: u32,
    add: u32,
    factors: [u32; 3],
}

impl Mixer {
    fn new(domain: u64, seed: u64, pass: u64) -> Self {
        let key = seed ^ pass.wrapping_mul(0xD134_2543_DE82_EF95);
        let mut index = 0;
        let mut next = || {
            index += 1;
            mixed(key, index) as u32
        };
        Self {
            mask: (domain - 1) as u32,
            shift: (domain.trailing_zeros() / 2).max(1),
            add: next(),
            factors: [next() | 1, next() | 1, next() | 1],
        }
    }

    fn mix(self, number: u32) -> u32 {
        let mut x = number.wrapping_add(self.add) & self.mask;
        for factor in self.factors {
            x = x.wrapping_mul(factor) & self.mask;
            x ^= x >> self.shift;
        }
        x
    }

    fn batch(self, from: u64) -> [u32; BATCH] {
        std::array::from_fn(|i| self.mix((from as u32).wrapping_add(i as u32)))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn all(blocks: u64) -> Share {
        Share::new(blocks, 0, 1)
    }

    /// One pass, in windows of these sizes at most.
    fn pass(order: &mut Permutation, windows: &[usize]) -> Vec<u32> {
        let (mut all, mut window) = (Vec::new(), Vec::new());
        for size in windows.iter().cycle() {
            let left = order.len() - all.len();
            if left == 0 {
                break;
            }
            order.next((*size).min(left), &mut window);
            all.extend_from_slice(&window);
        }
        all
    }

    fn is_permutation(mut all: Vec<u32>, blocks: u64) -> bool {
        all.sort_unstable();
        all.into_iter().map(u64::from).eq(0..blocks)
    }

    proptest! {
        #[test]
        fn a_window_that_spans_two_passes_repeats_nothing(
            blocks in 2_u64..3000,
            seed: u64,
            part in 0.0..1.0_f64,
        ) {
            let mut order = Permutation::new(all(blocks), seed);
            let mut window = Vec::new();
            order.next((blocks as f64 * part) as usize, &mut window);
            order.next(blocks as usize, &mut window);
            prop_assert!(is_permutation(window, blocks));
        }

        #[test]
        fn a_pass_of_all_threads_visits_each_block_once(
            blocks in 1_u64..5000,
            threads in 1_u64..9,
            seed: u64,
            windows in prop::collection::vec(1_usize..700, 1..8),
        ) {
            let threads = threads.min(blocks);
            let orders = (0..threads).map(|t| Permutation::new(Share::new(blocks, t, threads), seed));
            let visited = orders.flat_map(|mut order| pass(&mut order, &windows));
            prop_assert!(is_permutation(visited.collect(), blocks));
        }

        #[test]
        fn the_greatest_domain_is_mapped_onto_itself(seed: u64, a: u32, b: u32) {
            let mixer = Permutation::new(all(MOST), seed).mixer;
            prop_assert_eq!(mixer.mix(a) == mixer.mix(b), a == b);
        }
    }

    #[test]
    fn as_many_blocks_as_can_be_are_counted_right() {
        for (thread, threads) in [(0, 1), (6, 7)] {
            let mut order = Permutation::new(Share::new(MOST, thread, threads), 1);
            let mut window = Vec::new();
            order.next(1000, &mut window);
            window.sort_unstable();
            window.dedup();
            assert_eq!(window.len(), 1000);
            assert_eq!(order.len() as u64, MOST / threads);
        }
    }

    #[test]
    fn a_thread_has_every_place_in_a_page_alike() {
        for threads in [2, 4, 8] {
            let mut places = [0; 8];
            for block in pass(&mut Permutation::new(Share::new(80_000, 1, threads), 7), &[9999]) {
                places[block as usize % 8] += 1;
            }
            let mean = 10_000 / threads;
            let even = places.iter().all(|p| (mean * 9 / 10..mean * 11 / 10).contains(p));
            assert!(even, "{threads}: {places:?}");
        }
    }

    #[test]
    fn each_pass_has_another_order_which_is_not_that_of_addresses() {
        let mut order = Permutation::new(all(10_000), 7);
        let first = pass(&mut order, &[10_000]);
        // Left out at the end of the first pass are numbers that are no blocks.
        order.at = order.domain;
        let second = pass(&mut order, &[10_000]);
        assert_ne!(first, second);
        assert_ne!(first, pass(&mut Permutation::new(all(10_000), 8), &[10_000]));
        for order in [first, second] {
            let steps = order.windows(2).filter(|w| w[0] + 1 == w[1]).count();
            assert!(steps < 20, "{steps} of 9999 steps lead to the next address");
            let upwards = order.windows(2).filter(|w| w[0] < w[1]).count();
            assert!((4500..5500).contains(&upwards), "{upwards} of 9999 steps lead upwards");
        }
    }
}
