//! The product of two matrices that lie in groups, tile by tile.

#![allow(unsafe_code)] // Raw pointers into matrices.

use std::ops::Range;

use super::loops::Loops;
use super::tile::{Tile, Update};

/// C = A B, added or subtracted: `rows` of A and C, `depth` groups of A, `groups` of B and
/// C. Strides in elements; a row of B is a line, and the next one follows it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Product {
    pub(super) a: *const f64,
    pub(super) a_row: usize,
    pub(super) a_group: usize,
    pub(super) b: *const f64,
    pub(super) b_group: usize,
    pub(super) c: *mut f64,
    pub(super) c_row: usize,
    pub(super) c_group: usize,
    pub(super) rows: usize,
    pub(super) groups: usize,
    pub(super) depth: usize,
}

impl Product {
    /// Works it out. Whole tiles are done: some rows past the last one too. B should fit
    /// into the second cache, where it stays while A goes by, a tile's rows at a time.
    ///
    /// # Safety
    /// All are valid, [`super::tile::MOST_ROWS`] - 1 rows of A and C past the last one too; nobody
    /// else writes to A and B or uses C; the CPU has the loops' instructions.
    pub(super) unsafe fn run(&self, loops: &Loops, update: Update) {
        for (groups, tile_loop) in split(0..self.groups, loops.tiles, |t| t.groups) {
            for row in (0..self.rows).step_by(tile_loop.rows) {
                for (i, group) in groups.clone().step_by(tile_loop.groups).enumerate() {
                    let tile = Tile {
                        a: self.a.wrapping_add(row * self.a_row),
                        a_row: self.a_row,
                        a_group: self.a_group,
                        b: self.b.wrapping_add(group * self.b_group),
                        b_group: self.b_group,
                        c: self.c.wrapping_add(row * self.c_row + group * self.c_group),
                        c_row: self.c_row,
                        c_group: self.c_group,
                        depth: self.depth,
                        // Each tile has one row of the next rows fetched.
                        next_a: (tile_loop.rows + i.min(tile_loop.rows - 1)) * self.a_row,
                    };
                    // SAFETY: as the caller vouches.
                    unsafe { (tile_loop.run)(&tile, update) };
                }
            }
        }
    }
}

/// Parts of a range with the widest loop for each: the loops stand in order of width, and
/// the last is one group wide.
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
