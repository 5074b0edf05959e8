//! The hot loops: one operation on each of a list of blocks.
//!
//! Blocks of 1 and of 8 bytes are moved by one volatile load or store each. So the compiler does
//! not join neighbouring blocks into vectors, and random order differs from the order of addresses
//! only in the order. Other blocks are moved in vectors of 32 bytes where the CPU has AVX2. Whole
//! cache lines are then written with non-temporal stores, since the data should not fit into a
//! cache. On Granite Rapids they wrote blocks from 256 B up 2.5 to 5 times as fast as `rep stosb`,
//! memset and ordinary stores of 32 or 64 bytes. Copies in order of addresses gained a factor of
//! 1.8. Without AVX2 the C library's memset and memcpy move the blocks.

#![allow(unsafe_code)] // Blocks are addressed by number, as raw memory.

use super::Operation;

/// The memory of one thread, divided into adjacent blocks.
#[derive(Debug, Clone, Copy)]
pub(super) struct Area {
    pub(super) source: *const u8,
    pub(super) target: *mut u8,
    pub(super) size: usize,
}

impl Area {
    fn from(&self, block: usize) -> *const u8 {
        self.source.wrapping_add(block * self.size)
    }

    fn to(&self, block: usize) -> *mut u8 {
        self.target.wrapping_add(block * self.size)
    }
}

/// Numbers of the blocks to visit, in order.
#[derive(Debug, Clone, Copy)]
pub(super) enum Blocks<'a> {
    /// Adjacent blocks: the first one and their count.
    Row(usize, usize),
    /// The blocks of this list.
    List(&'a [u32]),
}

impl Blocks<'_> {
    #[inline(always)]
    fn iter(self) -> impl Iterator<Item = usize> {
        let count = match self {
            Self::Row(_, count) => count,
            Self::List(list) => list.len(),
        };
        (0..count).map(move |i| match self {
            Self::Row(first, _) => first + i,
            Self::List(list) => list[i] as usize,
        })
    }
}

/// Applies an operation to each block. Writes fill the blocks with `stamp`. A read returns the sum
/// of the whole aligned words and of the other bytes. Writes and copies return 0.
///
/// # Safety
/// All blocks must lie within the area's memory, which no other thread may use. Block 0 of all
/// threads must begin on a cache line.
pub(super) type Body = unsafe fn(area: &Area, blocks: Blocks<'_>, stamp: u8) -> u64;

/// Returns the fastest body for blocks of this size on this CPU.
pub(super) fn body(operation: Operation, size: u64) -> Body {
    match (operation, size) {
        (Operation::Read, 1) => read_bytes,
        (Operation::Read, 8) => read_words,
        (Operation::Write, 1) => write_bytes,
        (Operation::Write, 8) => write_words,
        (Operation::Copy, 1) => copy_bytes,
        (Operation::Copy, 8) => copy_words,
        _ => bulk(operation),
    }
}

/// Returns true if the body for this block size writes whole cache lines past the cache.
pub(super) fn streams(size: u64) -> bool {
    !matches!(size, 1 | 8) && has_vectors()
}

#[cfg(target_arch = "x86_64")]
fn has_vectors() -> bool {
    std::is_x86_feature_detected!("avx2")
}

#[cfg(not(target_arch = "x86_64"))]
fn has_vectors() -> bool {
    false
}

fn bulk(operation: Operation) -> Body {
    #[cfg(target_arch = "x86_64")]
    if has_vectors() {
        return match operation {
            Operation::Read => avx2::read,
            Operation::Write => avx2::write,
            Operation::Copy => avx2::copy,
        };
    }
    match operation {
        Operation::Read => read_any,
        Operation::Write => write_any,
        Operation::Copy => copy_any,
    }
}

/// Blocks handled in one turn of a loop over small blocks.
const UNROLLED: usize = 8;

/// Calls `visit` with the place in the unrolled turn and each block, in order.
#[inline(always)]
fn each(blocks: Blocks<'_>, mut visit: impl FnMut(usize, usize)) {
    match blocks {
        Blocks::Row(first, count) => {
            let (mut block, end) = (first, first + count);
            while end - block >= UNROLLED {
                for i in 0..UNROLLED {
                    visit(i, block + i);
                }
                block += UNROLLED;
            }
            for block in block..end {
                visit(0, block);
            }
        }
        Blocks::List(list) => {
            let turns = list.chunks_exact(UNROLLED);
            let rest = turns.remainder();
            for turn in turns {
                for (i, block) in turn.iter().enumerate() {
                    visit(i, *block as usize);
                }
            }
            for block in rest {
                visit(0, *block as usize);
            }
        }
    }
}

/// Defines the three bodies for blocks that are one number of this type.
macro_rules! numbers {
    ($number:ty, $read:ident, $write:ident, $copy:ident) => {
        unsafe fn $read(area: &Area, blocks: Blocks<'_>, _: u8) -> u64 {
            let source = area.source.cast::<$number>();
            // Several sums let the additions overlap.
            let mut sums = [0_u64; 4];
            each(blocks, |i, block| {
                // SAFETY: the caller's blocks lie within the area, aligned to their size.
                let value = unsafe { source.add(block).read_volatile() };
                sums[i % 4] = sums[i % 4].wrapping_add(value as u64);
            });
            sums.into_iter().fold(0, u64::wrapping_add)
        }

        unsafe fn $write(area: &Area, blocks: Blocks<'_>, stamp: u8) -> u64 {
            let target = area.target.cast::<$number>();
            let value = <$number>::from_ne_bytes([stamp; size_of::<$number>()]);
            each(blocks, |_, block| {
                // SAFETY: the caller's blocks lie within the area, aligned to their size.
                unsafe { target.add(block).write_volatile(value) }
            });
            0
        }

        unsafe fn $copy(area: &Area, blocks: Blocks<'_>, _: u8) -> u64 {
            let (source, target) = (area.source.cast::<$number>(), area.target.cast::<$number>());
            each(blocks, |_, block| {
                // SAFETY: the caller's blocks lie within the area, aligned to their size.
                unsafe { target.add(block).write_volatile(source.add(block).read_volatile()) }
            });
            0
        }
    };
}

numbers!(u8, read_bytes, write_bytes, copy_bytes);
numbers!(u64, read_words, write_words, copy_words);

unsafe fn read_any(area: &Area, blocks: Blocks<'_>, _: u8) -> u64 {
    let mut sum = 0_u64;
    for block in blocks.iter() {
        // SAFETY: the caller's blocks lie within the area.
        sum = sum.wrapping_add(unsafe { sum_of(area.from(block), area.size) });
    }
    sum
}

/// Returns the sum of the whole aligned words and of the other bytes of a range.
#[inline]
unsafe fn sum_of(at: *const u8, length: usize) -> u64 {
    // SAFETY: the caller's range can be read.
    let bytes = unsafe { std::slice::from_raw_parts(at, length) };
    // SAFETY: any bytes are a number.
    let (head, words, tail) = unsafe { bytes.align_to::<u64>() };
    let single: u64 = head.iter().chain(tail).map(|b| u64::from(*b)).sum();
    words.iter().fold(single, |sum, w| sum.wrapping_add(*w))
}

unsafe fn write_any(area: &Area, blocks: Blocks<'_>, stamp: u8) -> u64 {
    for block in blocks.iter() {
        // SAFETY: the caller's blocks lie within the area.
        unsafe { area.to(block).write_bytes(stamp, area.size) }
    }
    0
}

unsafe fn copy_any(area: &Area, blocks: Blocks<'_>, _: u8) -> u64 {
    for block in blocks.iter() {
        // SAFETY: the caller's blocks lie within the area, whose source and target do not overlap.
        unsafe { area.to(block).copy_from_nonoverlapping(area.from(block), area.size) }
    }
    0
}

#[cfg(target_arch = "x86_64")]
mod avx2 {
    //! Vectors of 32 bytes.

    use std::arch::x86_64::{
        __m256i, _mm256_add_epi64, _mm256_load_si256, _mm256_loadu_si256, _mm256_set1_epi8,
        _mm256_setzero_si256, _mm256_storeu_si256, _mm256_stream_si256,
    };

    use super::{Area, Blocks, sum_of};

    const LINE: usize = 64;

    /// Returns the bytes of a range before its first whole line, in whole lines, and after them.
    #[inline]
    fn lines(at: usize, length: usize) -> (usize, usize, usize) {
        let head = (at.wrapping_neg() % LINE).min(length);
        let whole = (length - head) / LINE * LINE;
        (head, whole, length - head - whole)
    }

    #[target_feature(enable = "avx2")]
    pub(super) unsafe fn read(area: &Area, blocks: Blocks<'_>, _: u8) -> u64 {
        let mut sums = [_mm256_setzero_si256(); 2];
        let mut rest = 0_u64;
        for block in blocks.iter() {
            let at = area.from(block);
            let head = (at.addr().wrapping_neg() % 8).min(area.size);
            let whole = (area.size - head) / LINE * LINE;
            for line in (head..head + whole).step_by(LINE) {
                // SAFETY: the caller's blocks lie within the area; the loads need no alignment.
                let halves = unsafe {
                    let from = at.add(line).cast::<__m256i>();
                    [_mm256_loadu_si256(from), _mm256_loadu_si256(from.add(1))]
                };
                sums = [_mm256_add_epi64(sums[0], halves[0]), _mm256_add_epi64(sums[1], halves[1])];
            }
            if whole < area.size {
                let after = head + whole;
                // SAFETY: as above; these are the bytes that the loop left.
                rest = rest.wrapping_add(unsafe {
                    sum_of(at, head).wrapping_add(sum_of(at.add(after), area.size - after))
                });
            }
        }
        let mut lanes = [0_u64; 4];
        // SAFETY: the array has as many bytes as the vector.
        unsafe {
            let sum = _mm256_add_epi64(sums[0], sums[1]);
            _mm256_storeu_si256(lanes.as_mut_ptr().cast(), sum);
        }
        lanes.into_iter().fold(rest, u64::wrapping_add)
    }

    #[target_feature(enable = "avx2")]
    pub(super) unsafe fn write(area: &Area, blocks: Blocks<'_>, stamp: u8) -> u64 {
        let value = _mm256_set1_epi8(stamp.cast_signed());
        for block in blocks.iter() {
            let at = area.to(block);
            let (head, whole, tail) = lines(at.addr(), area.size);
            // SAFETY: the caller's blocks lie within the area; lines are aligned.
            unsafe {
                for line in (head..head + whole).step_by(LINE) {
                    let to = at.add(line).cast::<__m256i>();
                    _mm256_stream_si256(to, value);
                    _mm256_stream_si256(to.add(1), value);
                }
                if whole < area.size {
                    at.write_bytes(stamp, head);
                    at.add(head + whole).write_bytes(stamp, tail);
                }
            }
        }
        0
    }

    #[target_feature(enable = "avx2")]
    pub(super) unsafe fn copy(area: &Area, blocks: Blocks<'_>, _: u8) -> u64 {
        for block in blocks.iter() {
            let (from, to) = (area.from(block), area.to(block));
            let (head, whole, tail) = lines(to.addr(), area.size);
            // SAFETY: the caller's blocks lie within the area, whose source and target do not
            // overlap and have the same alignment.
            unsafe {
                for line in (head..head + whole).step_by(LINE) {
                    let (from, to) =
                        (from.add(line).cast::<__m256i>(), to.add(line).cast::<__m256i>());
                    let halves = [_mm256_load_si256(from), _mm256_load_si256(from.add(1))];
                    _mm256_stream_si256(to, halves[0]);
                    _mm256_stream_si256(to.add(1), halves[1]);
                }
                if whole < area.size {
                    to.copy_from_nonoverlapping(from, head);
                    let after = head + whole;
                    to.add(after).copy_from_nonoverlapping(from.add(after), tail);
                }
            }
        }
        0
    }
}
