//! The sizes of a configuration: whether they fit, the memory they need, the bytes that the
//! hardware moves.

use proofmark_engine::Refusal;
use proofmark_model::{Params, format_size, key};

use super::lines::{LINE, Lines};
use super::{Operation, body, order};
use crate::arena::ALIGNMENT;
use crate::params::required;

/// Bytes of a piece. A block of several times this size is visited in pieces, since an iteration
/// should take microseconds. A piece still takes long compared with a call.
const PIECE: u64 = 128 << 10;

/// Maximum bytes of the random orders of all threads. Their entries can name more lines than 4
/// times a last-level cache of 1 GiB has, even where many blocks share a line.
const ORDERS: u64 = 1 << 30;

#[derive(Debug, Clone, Copy)]
pub(super) struct Shape {
    pub(super) threads: u64,
    pub(super) block_size: u64,
    pub(super) data_size: u64,
}

impl Shape {
    pub(super) fn from_params(params: &Params) -> Result<Self, Refusal> {
        let (block_size, data_size) =
            (required(params, key::BLOCK_SIZE)?, required(params, key::DATA_SIZE)?);
        let threads = params.threads().max(1);
        let shape = Self { threads, block_size: block_size.max(1), data_size };
        let (block, data) = (format_size(block_size), format_size(data_size));
        if shape.blocks() < threads {
            let least = format_size(block_size.saturating_mul(threads));
            return Err(Refusal(format!(
                "blocks of {block} for {threads} threads need at least {least} of data, but \
                 data_size is {data}"
            )));
        }
        if shape.blocks() > order::MAX_BLOCKS {
            let most = order::MAX_BLOCKS;
            let reason = format!(
                "{data} in blocks of {block} exceed the most blocks that a random \
                                  order supports: {most}"
            );
            return Err(Refusal(reason));
        }
        Ok(shape)
    }

    pub(super) fn blocks(&self) -> u64 {
        self.data_size / self.block_size
    }

    /// Returns the pieces in which a block is visited, one per iteration. Blocks that the C library
    /// moves stay whole, because its method depends on the length.
    pub(super) fn pieces(&self) -> u64 {
        let divides = self.block_size.is_multiple_of(PIECE) && body::streams(self.block_size);
        if divides { self.block_size / PIECE } else { 1 }
    }

    /// Returns the bytes of a piece.
    pub(super) fn piece(&self) -> u64 {
        self.block_size / self.pieces()
    }

    /// Returns the offset of a copy's target.
    pub(super) fn other_side(&self) -> u64 {
        self.data_size.next_multiple_of(ALIGNMENT as u64)
    }

    /// Returns the blocks of one thread's random order, which has an entry for each piece. At any
    /// speed, no line is visited again while a cache could still hold it. Orders of small blocks
    /// visit each line of the data about four times. Those of larger blocks hold all blocks of the
    /// thread.
    pub(super) fn ordered(&self) -> u64 {
        let entries = ORDERS.min(self.data_size / 4) / size_of::<u32>() as u64;
        (entries / self.threads).clamp(1, self.blocks().div_ceil(self.threads))
    }

    /// Returns true if several blocks share a line.
    pub(super) fn shares_lines(&self) -> bool {
        self.block_size < LINE
    }

    pub(super) fn memory(&self, operation: Operation, random: bool) -> u64 {
        let data = match operation {
            Operation::Copy => self.other_side() + self.data_size,
            _ => self.data_size,
        };
        let orders = self.ordered() * self.pieces() * self.threads * size_of::<u32>() as u64;
        let lines = if self.shares_lines() { Lines::memory(self.data_size) } else { 0 };
        if random { data + orders + lines } else { data }
    }

    /// Returns the bytes that the hardware moves for one block, averaged over the blocks. Stores
    /// move a line twice: they read it and write it back. With `streams`, lines that are written
    /// whole bypass the cache and move once.
    pub(super) fn moved(&self, operation: Operation, random: bool, streams: bool) -> f64 {
        let (size, line) = (self.block_size as f64, LINE as f64);
        // Blocks of s bytes begin equally often at every multiple of g = gcd(s, 64) in a line. So
        // they touch (s - g) / 64 + 1 lines. They fill (s + g) / 64 - 1 of these, if that is not
        // negative.
        let step = (1_u64 << self.block_size.trailing_zeros()).min(LINE) as f64;
        let touched = (size - step) / line + 1.0;
        let filled = if streams { ((size + step) / line - 1.0).max(0.0) } else { 0.0 };
        // In order of addresses a block shares its first and last line with its neighbours.
        let touched = if random { touched } else { size / line };
        let (read, written) = (touched * line, (filled + 2.0 * (touched - filled)) * line);
        match operation {
            Operation::Read => read,
            Operation::Write => written,
            Operation::Copy => read + written,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shape(block_size: u64) -> Shape {
        Shape { threads: 2, block_size, data_size: 1 << 30 }
    }

    /// Returns the bytes moved for reads, writes and copies.
    fn moved(size: u64, random: bool, streams: bool) -> [f64; 3] {
        let all = [Operation::Read, Operation::Write, Operation::Copy];
        all.map(|operation| shape(size).moved(operation, random, streams))
    }

    #[test]
    fn lines_are_carried_whole_and_those_past_the_cache_once() {
        for (size, random, streams, expected) in [
            (1, true, false, [64.0, 128.0, 192.0]),
            (8, true, false, [64.0, 128.0, 192.0]),
            (64, true, false, [64.0, 128.0, 192.0]),
            (1, false, false, [1.0, 2.0, 3.0]),
            (8192, true, false, [8192.0, 16384.0, 24576.0]),
            (8192, false, true, [8192.0, 8192.0, 16384.0]),
            // They begin at 0, 4, .. 60 in a line. 8 of these 16 touch 2 lines and 8 touch 3. 10
            // fill one line, none two.
            (100, true, true, [160.0, 280.0, 440.0]),
            (100, true, false, [160.0, 320.0, 480.0]),
            (100, false, true, [100.0, 160.0, 260.0]),
        ] {
            assert_eq!(moved(size, random, streams), expected, "{size} {random} {streams}");
        }
        // Compare with a count, for many sizes.
        for size in 1..300_u64 {
            let lines = |i: u64| ((i + 1) * size - 1) / LINE - i * size / LINE + 1;
            let full = |i: u64| ((i + 1) * size / LINE).saturating_sub((i * size).div_ceil(LINE));
            let [touched, filled] =
                [(0..LINE).map(lines).sum::<u64>(), (0..LINE).map(full).sum::<u64>()];
            let [read, write, _] = moved(size, true, true);
            assert_eq!(read, touched as f64, "{size}");
            assert_eq!(write, (2 * touched - filled) as f64, "{size}");
        }
    }

    #[test]
    fn orders_are_bounded_by_the_data_and_by_the_blocks() {
        let ordered = |threads, block_size, data_size| {
            let shape = Shape { threads, block_size, data_size };
            let extra = |random| shape.memory(Operation::Read, random);
            let lines = if block_size < 64 { data_size / 512 } else { 0 };
            assert_eq!(extra(true) - extra(false), shape.ordered() * threads * 4 + lines);
            shape.ordered()
        };
        assert_eq!(ordered(1, 1, 1 << 20), 1 << 16, "a quarter of the data");
        assert_eq!(ordered(1, 8, 1 << 30), 1 << 26, "four a line");
        assert_eq!(ordered(1, 1, 1 << 33), 1 << 28, "1 GiB");
        assert_eq!(ordered(4, 1, 1 << 32), 1 << 26, "divided among the threads");
        assert_eq!(ordered(3, 8192, 10 * 8192), 4, "all blocks");
    }
}
