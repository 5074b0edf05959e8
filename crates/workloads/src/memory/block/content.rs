//! The contents of the memory that blocks are read from, and the expected sums.
//!
//! Word i of 8 bytes is (i + 1) times an odd constant. So words differ, sums of neighbouring words
//! have a closed form, and the sum of a read is known without reading it a second time.

#![allow(unsafe_code)] // Filling memory by address.

use std::ops::Range;

use crate::mix::STEP;

fn word(index: usize) -> u64 {
    (index as u64 + 1).wrapping_mul(STEP)
}

/// Returns byte `offset % 8` of the word at `offset`, in the order of memory.
fn byte(offset: usize) -> u8 {
    (word(offset / 8).to_le() >> (offset % 8 * 8)) as u8
}

/// Fills a range of offsets from `base`.
///
/// # Safety
/// No other thread may use the range, which must be valid for writes, and `base` is aligned to 8
/// bytes.
pub(super) unsafe fn fill(base: *mut u8, range: Range<usize>) {
    let (head, words, tail) = split(&range);
    for at in head.chain(tail) {
        // SAFETY: within the range.
        unsafe { base.add(at).write(byte(at)) };
    }
    let base = base.cast::<u64>();
    for at in words {
        // SAFETY: whole words within the range, aligned as the base is.
        unsafe { base.add(at).write(word(at)) };
    }
}

/// Returns the whole words of a range, by number, and the bytes before and after them.
fn split(range: &Range<usize>) -> (Range<usize>, Range<usize>, Range<usize>) {
    let first = range.start.next_multiple_of(8);
    let last = range.end / 8 * 8;
    if first >= last {
        return (range.clone(), 0..0, 0..0);
    }
    (range.start..first, first / 8..last / 8, last..range.end)
}

/// Returns the expected sum of reading `count` blocks of `size` bytes from `start` on: their whole
/// aligned words, and the other bytes one by one.
pub(super) fn sum(start: usize, size: usize, count: usize) -> u64 {
    let all = start..start + size * count;
    if size.is_multiple_of(8) {
        return words(all.start / 8..all.end / 8);
    }
    if size < 8 {
        return bytes(all); // No such block holds a whole word.
    }
    let blocks = (0..count).map(|i| start + i * size..start + (i + 1) * size);
    blocks.fold(0, |sum, block| {
        let (head, whole, tail) = split(&block);
        sum.wrapping_add(bytes(head)).wrapping_add(words(whole)).wrapping_add(bytes(tail))
    })
}

/// Returns the expected sum of reading listed blocks. Block 0 is at offset `first`, a multiple of
/// `size`. For whole words, only the first word of each block is added in the loop: the closed form
/// in the loop took twice as long.
pub(super) fn sum_of(first: usize, size: usize, blocks: &[u32]) -> u64 {
    let starts = blocks.iter().map(|block| first + *block as usize * size);
    let add = u64::wrapping_add;
    match size {
        1..8 => {
            let bytes = |at: usize| (at..at + size).map(|i| u64::from(byte(i))).sum();
            starts.map(bytes).fold(0, add)
        }
        _ if size.is_multiple_of(8) => {
            let firsts = starts.map(|at| (at / 8) as u64).fold(0, add);
            words_of(firsts, blocks.len(), size / 8)
        }
        _ => starts.map(|at| sum(at, size, 1)).fold(0, add),
    }
}

fn words(range: Range<usize>) -> u64 {
    words_of(range.start as u64, 1, range.len())
}

/// Returns (s + 1) + (s + 2) + ... + (s + n) times the constant, over `ranges` ranges of n words.
/// `firsts` is the sum of the numbers s of their first words.
fn words_of(firsts: u64, ranges: usize, n: usize) -> u64 {
    let up_to = (n as u128 * (n as u128 + 1) / 2) as u64;
    firsts.wrapping_mul(n as u64).wrapping_add(up_to.wrapping_mul(ranges as u64)).wrapping_mul(STEP)
}

/// Returns the sum of the bytes at these offsets.
fn bytes(range: Range<usize>) -> u64 {
    let (head, whole, tail) = split(&range);
    let single: u64 = head.chain(tail).map(|at| u64::from(byte(at))).sum();
    single + whole.map(|i| bytes_of(word(i))).sum::<u64>()
}

/// Returns the sum of the bytes of one word.
fn bytes_of(word: u64) -> u64 {
    const EVEN: u64 = 0x00FF_00FF_00FF_00FF;
    let pairs = (word & EVEN) + (word >> 8 & EVEN);
    pairs.wrapping_mul(0x0001_0001_0001_0001) >> 48
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn blocks_in_any_order_add_up_to_what_each_holds(
            size in prop::sample::select(vec![1_usize, 3, 7, 8, 12, 16, 24, 100, 4096]),
            first in 0_usize..9,
            blocks in prop::collection::vec(0_u32..500, 0..80),
        ) {
            let mut memory = vec![0_u64; 509 * size / 8 + 8];
            let base = memory.as_mut_ptr().cast();
            // SAFETY: all of the memory.
            unsafe { fill(base, 0..memory.len() * 8) };
            let first = first * size;
            let block_sum = |b: &u32| -> u64 {
                let block = first + *b as usize * size..first + (*b as usize + 1) * size;
                let (head, whole, tail) = split(&block);
                let byte = |at: usize| u64::from(memory[at / 8].to_ne_bytes()[at % 8]);
                let single: u64 = head.chain(tail).map(byte).sum();
                memory[whole].iter().fold(single, |sum, word| sum.wrapping_add(*word))
            };
            let read = blocks.iter().fold(0, |sum: u64, b| sum.wrapping_add(block_sum(b)));
            prop_assert_eq!(sum_of(first, size, &blocks), read);
            if let [one] = blocks[..] {
                prop_assert_eq!(sum(first + one as usize * size, size, 1), read);
            }
        }
    }
}
