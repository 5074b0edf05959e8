//! The order in which a thread visits the blocks of its part of the file.
//!
//! The random order is a keyed permutation that is computed, not stored. It is a Feistel network
//! over as few bits as can number the blocks (Luby and Rackoff, *How to Construct Pseudorandom
//! Permutations*, SIAM J. Comput. 1988). It is repeated while it gives a number that is no block
//! (cycle walking: Black and Rogaway, *Ciphers with Arbitrary Finite Domains*, CT-RSA 2002), on
//! average less than twice. So each pass takes every block once, and no cache of a device receives
//! a block again before all others.

pub(crate) use proofmark_model::Order;

use crate::mix::mixed;

/// Rounds of the network. Four are enough for many blocks. With fewer than a hundred blocks, some
/// orders would be much more frequent than others.
const ROUNDS: usize = 8;

/// The endless sequence of the block numbers of one part of a file: after the last comes the first.
#[derive(Debug, Clone)]
pub(crate) struct Sequence {
    order: Order,
    first: u64,
    blocks: u64,
    seed: u64,
    /// Blocks of this pass that were returned, and the number of passes before it.
    at: u64,
    pass: u64,
    permutation: Permutation,
}

impl Sequence {
    /// Creates the sequence of `blocks` blocks from `first_block` on, at least one. Each seed gives
    /// another random order.
    pub(crate) fn new(order: Order, first_block: u64, blocks: u64, seed: u64) -> Self {
        let blocks = blocks.max(1);
        let permutation = Permutation::new(blocks, seed, 0);
        Self { order, first: first_block, blocks, seed, at: 0, pass: 0, permutation }
    }

    pub(crate) fn next(&mut self) -> u64 {
        if self.at == self.blocks {
            self.at = 0;
            self.pass += 1;
            self.permutation = Permutation::new(self.blocks, self.seed, self.pass);
        }
        let at = self.at;
        self.at += 1;
        match self.order {
            Order::Seq => self.first + at,
            Order::Rand => self.first + self.permutation.permute(at),
        }
    }
}

/// A permutation of the numbers below `blocks`.
#[derive(Debug, Clone)]
struct Permutation {
    blocks: u64,
    /// Bits of the low half of a number, and the masks of the low and high halves.
    low_bits: u32,
    masks: [u64; 2],
    keys: [u64; ROUNDS],
}

impl Permutation {
    fn new(blocks: u64, seed: u64, pass: u64) -> Self {
        let bits = u64::BITS - (blocks - 1).leading_zeros();
        let low_bits = bits.div_ceil(2);
        let masks = [(1 << low_bits) - 1, (1 << (bits - low_bits)) - 1];
        let key = mixed(seed, pass);
        let keys = std::array::from_fn(|round| mixed(key, round as u64));
        Self { blocks, low_bits, masks, keys }
    }

    fn permute(&self, number: u64) -> u64 {
        let mut number = self.scrambled(number);
        while number >= self.blocks {
            number = self.scrambled(number);
        }
        number
    }

    /// Permutes a number. The halves change in turn, each by a function of the other, so every
    /// round is invertible.
    fn scrambled(&self, number: u64) -> u64 {
        let [mut low, mut high] = [number & self.masks[0], number >> self.low_bits];
        for keys in self.keys.chunks_exact(2) {
            low ^= noise(high, keys[0]) & self.masks[0];
            high ^= noise(low, keys[1]) & self.masks[1];
        }
        high << self.low_bits | low
    }
}

/// Returns up to 32 bits that depend on all bits of a number and of a key. They are the upper half
/// of a keyed product (multiply-shift hashing: Dietzfelbinger et al., *A Reliable Randomized
/// Algorithm for the Closest-Pair Problem*, J. Algorithms 1997).
fn noise(number: u64, key: u64) -> u64 {
    (number ^ (key >> 32)).wrapping_mul(key | 1) >> 32
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn pass(sequence: &mut Sequence, blocks: u64) -> Vec<u64> {
        (0..blocks).map(|_| sequence.next()).collect()
    }

    fn is_permutation(mut numbers: Vec<u64>, first: u64) -> bool {
        numbers.sort_unstable();
        let blocks = numbers.len() as u64;
        numbers.into_iter().eq(first..first + blocks)
    }

    proptest! {
        #[test]
        fn every_pass_takes_each_block_once(
            blocks in 1_u64..3000, first: u32, seed: u64, passes in 1..4,
        ) {
            let mut sequence = Sequence::new(Order::Rand, first.into(), blocks, seed);
            for _ in 0..passes {
                prop_assert!(is_permutation(pass(&mut sequence, blocks), first.into()));
            }
        }

        #[test]
        fn two_numbers_never_lead_to_one(
            blocks in 2_u64.., seed: u64, a: u64, b: u64,
        ) {
            let (a, b) = (a % blocks, b % blocks);
            let permutation = Permutation::new(blocks, seed, 0);
            prop_assert!(permutation.permute(a) < blocks);
            prop_assert_eq!(permutation.permute(a) == permutation.permute(b), a == b);
        }
    }

    #[test]
    fn the_sequential_order_goes_on_from_the_start() {
        let mut sequence = Sequence::new(Order::Seq, 5, 3, 1);
        assert_eq!(pass(&mut sequence, 7), [5, 6, 7, 5, 6, 7, 5]);
        let mut one = Sequence::new(Order::Rand, 5, 1, 1);
        assert_eq!(pass(&mut one, 3), [5, 5, 5]);
    }

    #[test]
    fn each_pass_and_seed_has_another_order_without_a_pattern() {
        let blocks = 10_000;
        let mut sequence = Sequence::new(Order::Rand, 0, blocks, 7);
        let first = pass(&mut sequence, blocks);
        let second = pass(&mut sequence, blocks);
        let other = pass(&mut Sequence::new(Order::Rand, 0, blocks, 8), blocks);
        assert_ne!(first, second);
        assert_ne!(first, other);
        assert_eq!(first, pass(&mut Sequence::new(Order::Rand, 0, blocks, 7), blocks));
        for order in [first, second, other] {
            let near = order.windows(2).filter(|w| w[0].abs_diff(w[1]) <= 2).count();
            assert!(near < 15, "{near} of 9999 steps lead to a neighbour, 4 are due");
            let upwards = order.windows(2).filter(|w| w[0] < w[1]).count();
            assert!((4800..5200).contains(&upwards), "{upwards} of 9999 steps lead upwards");
            let far = order.windows(2).map(|w| w[0].abs_diff(w[1])).sum::<u64>() / (blocks - 1);
            assert!((3200..3470).contains(&far), "a step leads {far} blocks far, 3333 are due");
        }
    }

    /// Also, each pair of blocks must be adjacent equally often. With four rounds this fails.
    #[test]
    fn every_block_comes_as_often_in_every_place() {
        for blocks in [16_u64, 20] {
            let passes = 2000 * blocks;
            let mut sequence = Sequence::new(Order::Rand, 0, blocks, 3);
            let (mut places, mut pairs) = (vec![0_u64; 400], vec![0_u64; 400]);
            for _ in 0..passes {
                let order = pass(&mut sequence, blocks);
                for (place, block) in order.iter().enumerate() {
                    places[place * 20 + *block as usize] += 1;
                }
                for pair in order.windows(2) {
                    pairs[(pair[0] * 20 + pair[1]) as usize] += 1;
                }
            }
            for place in 0..blocks {
                for block in 0..blocks {
                    let at = (place * 20 + block) as usize;
                    assert!((1700..2300).contains(&places[at]), "{blocks}: {}", places[at]);
                    let paired = place == block || (1700..2300).contains(&pairs[at]);
                    assert!(paired, "{blocks}: {}", pairs[at]);
                }
            }
        }
    }
}
