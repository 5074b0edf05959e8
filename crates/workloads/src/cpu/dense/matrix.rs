//! Where a matrix is in memory.
//!
//! A *group* is 8 columns; one row of a group is a *line* of 64 bytes, and the lines of a
//! group follow each other. So the operand of a product needs no copying, whichever side
//! it is on: going down a group walks through memory, a row of any group is one
//! aligned vector, and two rows are exchanged line by line.

#![allow(unsafe_code)] // Threads write to different parts of one matrix.

pub(super) const GROUP: usize = 8;

/// The most rows of a tile: so many rows but one are valid after the last one of a matrix.
pub(super) const MOST_ROWS: usize = 12;

/// A matrix in memory that somebody else keeps.
#[derive(Debug, Clone, Copy)]
pub(super) struct Matrix {
    base: *mut f64,
    /// Lines of a group: the rows, and some of zeros below them.
    pub(super) lines: usize,
    pub(super) groups: usize,
}

// SAFETY: a place in memory; who reads and writes which part of it is for its users to
// keep apart, as their unsafe blocks say.
unsafe impl Send for Matrix {}
// SAFETY: as above.
unsafe impl Sync for Matrix {}

impl Matrix {
    /// At `base`, which must be aligned to 64 bytes and valid for
    /// `Matrix::elements(lines, groups)` elements as long as the matrix is used.
    pub(super) fn at(base: *mut f64, lines: usize, groups: usize) -> Self {
        debug_assert!(base.addr().is_multiple_of(64));
        Self { base, lines, groups }
    }

    /// Elements of a matrix of this many lines and groups.
    pub(super) const fn elements(lines: usize, groups: usize) -> usize {
        lines * groups * GROUP
    }

    /// The line of that row in that group.
    #[inline(always)]
    pub(super) fn line(&self, row: usize, group: usize) -> *mut f64 {
        debug_assert!(row <= self.lines && group <= self.groups, "{row} {group}");
        self.base.wrapping_add((group * self.lines + row) * GROUP)
    }

    /// Elements from a line to that of the same row in the next group.
    pub(super) const fn stride(&self) -> usize {
        self.lines * GROUP
    }
}

/// Lines of a group for this many rows: some more, so that loops may reach over the end, and an odd
/// number, so that the lines of one row are in different sets of every cache.
pub(super) const fn lines_for(rows: usize) -> usize {
    (rows + MOST_ROWS - 1) | 1
}
