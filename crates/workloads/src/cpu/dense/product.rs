//! The product of two matrices, tile by tile.

#![allow(unsafe_code)] // Raw pointers into matrices.

use std::ops::Range;

use proofmark_engine::ClockSamples;

use super::loops::Loops;
use super::tile::{Tile, Update};

/// C = A B, C + A B or C - A B.
#[derive(Debug, Clone, Copy)]
pub(super) struct Product {
    /// The tile of the first rows and groups.
    pub(super) first: Tile,
    pub(super) rows: usize,
    pub(super) groups: usize,
}

impl Product {
    /// Computes the product. Tiles are always computed whole, so some rows beyond the last one are
    /// updated too. B should fit into the L2 cache, where it stays while A passes, the rows of one
    /// tile at a time.
    ///
    /// # Safety
    /// All operands must be valid, including [`super::matrix::MAX_ROWS`] - 1 rows of A and C after
    /// the last one. Nothing else may write to A and B or use C. The CPU must have the loops'
    /// instructions.
    pub(super) unsafe fn run(
        &self,
        loops: &Loops,
        update: Update,
        mut clock: Option<&mut ClockSamples>,
    ) {
        let first = &self.first;
        for (groups, tile_loop) in split(0..self.groups, loops.tiles, |t| t.groups) {
            for row in (0..self.rows).step_by(tile_loop.rows) {
                for (i, group) in groups.clone().step_by(tile_loop.groups).enumerate() {
                    let tile = Tile {
                        a: first.a.wrapping_add(row * first.a_row),
                        b: first.b.wrapping_add(group * first.b_group),
                        c: first.c.wrapping_add(row * first.c_row + group * first.c_group),
                        ..*first
                    };
                    // Each tile prefetches one of the next rows.
                    let next_a = (tile_loop.rows + i.min(tile_loop.rows - 1)) * first.a_row;
                    // SAFETY: as the caller guarantees.
                    unsafe { (tile_loop.run)(&tile, next_a, update) };
                }
                if let Some(clock) = &mut clock {
                    clock.tick();
                }
            }
        }
    }
}

/// Divides a range into parts with the widest loop for each. The last loop is one group wide.
pub(super) fn split<T>(
    range: Range<usize>,
    loops: &[T],
    width: impl Fn(&T) -> usize,
) -> impl Iterator<Item = (Range<usize>, &T)> {
    let mut start = range.start;
    loops.iter().map(move |one| {
        let part = start..start + (range.end - start) / width(one) * width(one);
        start = part.end;
        (part, one)
    })
}
