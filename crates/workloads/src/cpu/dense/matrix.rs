//! The memory layout of a matrix.
//!
//! A *group* is 8 columns. One row of a group is a *line* of 64 bytes, and the lines of a group are
//! adjacent. So no operand of a product needs copying, on either side. The rows of a group are
//! contiguous in memory, and a row of a group is one aligned vector. Rows are exchanged line by
//! line.

#![allow(unsafe_code)] // Threads write to different parts of one matrix.

pub(super) const GROUP: usize = 8;

/// Maximum rows of a tile. One row fewer must be valid after the last row of a matrix.
pub(super) const MAX_ROWS: usize = 12;

/// A matrix in memory that the caller owns.
#[derive(Debug, Clone, Copy)]
pub(super) struct Matrix {
    base: *mut f64,
    /// Lines of a group: the rows, and some lines of zeros below them.
    pub(super) lines: usize,
    pub(super) groups: usize,
}

// SAFETY: the matrix is plain memory. Its users keep the parts of different threads apart, as their
// unsafe blocks state.
unsafe impl Send for Matrix {}
// SAFETY: as above.
unsafe impl Sync for Matrix {}

impl Matrix {
    /// Refers to the matrix at `base`. This must be aligned to 64 bytes and valid for
    /// `Matrix::elements(lines, groups)` elements as long as the matrix is used.
    pub(super) fn at(base: *mut f64, lines: usize, groups: usize) -> Self {
        debug_assert!(base.addr().is_multiple_of(64));
        Self { base, lines, groups }
    }

    /// Returns the elements of a matrix with this many lines and groups.
    pub(super) const fn elements(lines: usize, groups: usize) -> usize {
        lines * groups * GROUP
    }

    /// Returns the line of a row in a group.
    #[inline(always)]
    pub(super) fn line(&self, row: usize, group: usize) -> *mut f64 {
        debug_assert!(row <= self.lines && group <= self.groups, "{row} {group}");
        self.base.wrapping_add((group * self.lines + row) * GROUP)
    }

    /// Returns the elements from a line to that of the same row in the next group.
    pub(super) const fn stride(&self) -> usize {
        self.lines * GROUP
    }
}

/// Returns the lines of a group with this many rows. There are some more, so that loops may run
/// past the end. The number is odd, so that the lines of one row are in different sets of every
/// cache.
pub(super) const fn lines_for(rows: usize) -> usize {
    (rows + MAX_ROWS - 1) | 1
}
