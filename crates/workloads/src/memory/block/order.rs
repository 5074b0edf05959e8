//! The random order of blocks: the first elements of a permutation that needs no table.
//!
//! A keyed mixer maps the numbers below a power of two onto themselves. It consists of invertible
//! steps: multiplications by odd numbers and xor-shifts. Counting through these numbers and
//! skipping those that are not below the number of blocks visits each block once.

use crate::mix::mixed;

/// Numbers mixed per batch, independent of each other so that the compiler can use vectors.
const BATCH: usize = 64;

/// The maximum number of blocks in an order.
pub(super) const MAX_BLOCKS: u64 = 1 << 32;

/// The blocks that one thread orders: one of each group of as many neighbours as there are threads.
/// The place in the group changes from group to group. So no thread always has the same place in a
/// page, and with it the same memory channels.
#[derive(Debug, Clone, Copy)]
pub(super) struct Share {
    thread: u32,
    threads: u32,
    /// Number of complete groups.
    whole: u32,
    count: u64,
}

impl Share {
    /// Returns the share of `thread` in this many blocks, which must be between the number of
    /// threads and [`MAX_BLOCKS`].
    pub(super) fn new(blocks: u64, thread: u64, threads: u64) -> Self {
        let count = (blocks - thread).div_ceil(threads);
        let whole = (blocks / threads).min(u64::from(u32::MAX)) as u32;
        Self { thread: thread as u32, threads: threads as u32, whole, count }
    }

    pub(super) fn count(&self) -> u64 {
        self.count
    }

    fn block(self, group: u32) -> u32 {
        let mixed = u64::from(group.wrapping_mul(0x9E37_79B9).rotate_left(16));
        let turn = (mixed * u64::from(self.threads)) >> 32;
        let turn = if group < self.whole { turn as u32 } else { 0 };
        let place = self.thread + turn;
        let place = if place < self.threads { place } else { place - self.threads };
        // The caller discards results for numbers that are no group of this thread.
        group.wrapping_mul(self.threads).wrapping_add(place)
    }
}

/// A random order of the blocks of a share.
#[derive(Debug, Clone)]
pub(super) struct Permutation {
    share: Share,
    mixer: Mixer,
}

impl Permutation {
    /// Creates an order of these blocks. Each seed gives another order.
    pub(super) fn new(share: Share, seed: u64) -> Self {
        // The smallest power of two that is not below the number of blocks.
        Self { share, mixer: Mixer::new(share.count.next_power_of_two(), seed) }
    }

    /// Returns the first `count` blocks, all different, with capacity for `spare` times as many.
    /// `count` must not exceed the blocks of the share.
    pub(super) fn first(&self, count: usize, spare: usize) -> Vec<u32> {
        let mut blocks = Vec::with_capacity(count * spare);
        let mut at = 0_u64;
        while count - blocks.len() >= BATCH {
            let mut kept = [0; BATCH];
            let mut found = 0;
            for number in self.mixer.batch(at) {
                kept[found] = self.share.block(number);
                found += usize::from(self.is_block(number));
            }
            blocks.extend_from_slice(&kept[..found]);
            at += BATCH as u64;
        }
        while blocks.len() < count {
            let number = self.mixer.mix(at as u32);
            if self.is_block(number) {
                blocks.push(self.share.block(number));
            }
            at += 1;
        }
        blocks
    }

    fn is_block(&self, number: u32) -> bool {
        u64::from(number) < self.share.count
    }
}

/// A bijection of the numbers below a power of two.
#[derive(Debug, Clone, Copy)]
struct Mixer {
    mask: u32,
    shift: u32,
    add: u32,
    factors: [u32; 3],
}

impl Mixer {
    fn new(domain: u64, seed: u64) -> Self {
        let mut index = 0;
        let mut next = || {
            index += 1;
            mixed(seed, index) as u32
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

    fn is_permutation(mut all: Vec<u32>, blocks: u64) -> bool {
        all.sort_unstable();
        all.into_iter().map(u64::from).eq(0..blocks)
    }

    /// Returns all blocks of the share, in their order.
    fn pass(order: &Permutation) -> Vec<u32> {
        order.first(order.share.count as usize, 1)
    }

    proptest! {
        #[test]
        fn the_first_blocks_of_all_threads_are_each_another_block(
            blocks in 1_u64..5000,
            threads in 1_u64..9,
            seed: u64,
            part in 0.0..1.0_f64,
        ) {
            let threads = threads.min(blocks);
            let orders: Vec<_> =
                (0..threads).map(|t| Permutation::new(Share::new(blocks, t, threads), seed)).collect();
            prop_assert!(is_permutation(orders.iter().flat_map(pass).collect(), blocks));
            for order in orders {
                let count = (order.share.count as f64 * part) as usize;
                prop_assert_eq!(&order.first(count, 1)[..], &pass(&order)[..count]);
            }
        }

        #[test]
        fn the_greatest_domain_is_mapped_onto_itself(seed: u64, a: u32, b: u32) {
            let mixer = Permutation::new(all(MAX_BLOCKS), seed).mixer;
            prop_assert_eq!(mixer.mix(a) == mixer.mix(b), a == b);
        }
    }

    #[test]
    fn as_many_blocks_as_can_be_are_counted_right() {
        for (thread, threads) in [(0, 1), (6, 7)] {
            let order = Permutation::new(Share::new(MAX_BLOCKS, thread, threads), 1);
            let mut first = order.first(1000, 1);
            first.sort_unstable();
            first.dedup();
            assert_eq!(first.len(), 1000);
            assert_eq!(order.share.count, MAX_BLOCKS / threads);
        }
    }

    #[test]
    fn a_thread_has_every_place_in_a_page_alike() {
        for threads in [2, 4, 8] {
            let mut places = [0; 8];
            for block in pass(&Permutation::new(Share::new(80_000, 1, threads), 7)) {
                places[block as usize % 8] += 1;
            }
            let mean = 10_000 / threads;
            let even = places.iter().all(|p| (mean * 9 / 10..mean * 11 / 10).contains(p));
            assert!(even, "{threads}: {places:?}");
        }
    }

    #[test]
    fn each_seed_has_another_order_which_is_not_that_of_addresses() {
        let [first, second] = [7, 8].map(|seed| pass(&Permutation::new(all(10_000), seed)));
        assert_ne!(first, second);
        for order in [first, second] {
            let steps = order.windows(2).filter(|w| w[0] + 1 == w[1]).count();
            assert!(steps < 20, "{steps} of 9999 steps lead to the next address");
            let upwards = order.windows(2).filter(|w| w[0] < w[1]).count();
            assert!((4500..5500).contains(&upwards), "{upwards} of 9999 steps lead upwards");
        }
    }
}
