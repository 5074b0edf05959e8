//! The steps of the elimination on whole groups of a matrix.

#![allow(unsafe_code)] // Calls the inner loops on parts of a matrix.

use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};

use proofmark_engine::ClockSamples;

use super::loops::Loops;
use super::matrix::{GROUP, Matrix};
use super::product::{Product, split};
use super::tile::{Tile, Update, fetch_to_write};

/// The groups that hold L: `width` groups from `group` on. The first one is on the diagonal, in row
/// `row`.
#[derive(Debug, Clone, Copy)]
pub(super) struct Panel {
    pub(super) row: usize,
    pub(super) group: usize,
    pub(super) width: usize,
}

impl Panel {
    /// Returns the first row below the panel's triangle.
    pub(super) const fn below(&self) -> usize {
        self.row + self.width * GROUP
    }
}

/// A matrix, its number of valid rows, and the loops that work on it.
#[derive(Clone, Copy)]
pub(super) struct Elimination<'a> {
    pub(super) loops: &'a Loops,
    pub(super) matrix: Matrix,
    pub(super) rows: usize,
}

impl Elimination<'_> {
    /// Exchanges rows of one group: row `row` + i with row `pivots[i]`.
    ///
    /// # Safety
    /// Nothing else may use the group, and the pivots must be rows of the matrix.
    pub(super) unsafe fn exchange(&self, group: usize, row: usize, pivots: &[AtomicUsize]) {
        const AHEAD: usize = 8;
        let row_of = |pivot: &AtomicUsize| pivot.load(Ordering::Relaxed);
        for (i, pivot) in pivots.iter().enumerate() {
            if let Some(soon) = pivots.get(i + AHEAD) {
                fetch_to_write(self.matrix.line(row_of(soon), group));
            }
            let pivot = row_of(pivot);
            if pivot != row + i {
                // SAFETY: the lines are in the caller's own group.
                unsafe {
                    let line = |row| self.matrix.line(row, group);
                    (self.loops.exchange)(line(row + i), line(pivot));
                }
            }
        }
    }

    /// Solves L X = B in place, where B is the panel's rows in other groups.
    ///
    /// # Safety
    /// The panel must be factored, and nothing else may use the groups.
    pub(super) unsafe fn solve(&self, panel: Panel, groups: Range<usize>) {
        let l = self.matrix.line(panel.row, panel.group);
        let stride = self.matrix.stride();
        for (groups, solve) in split(groups, self.loops.solves, |s| s.groups) {
            for group in groups.step_by(solve.groups) {
                // SAFETY: L is factored, and B belongs to the caller.
                unsafe {
                    let b = self.matrix.line(panel.row, group);
                    (solve.run)(l, stride, b, stride, panel.width);
                }
            }
        }
    }

    /// Subtracts the product of the panel's columns with the panel's rows in other groups from the
    /// rows below, in those groups.
    ///
    /// # Safety
    /// The panel must be factored and its rows in the groups solved, and nothing else may use the
    /// groups.
    pub(super) unsafe fn subtract_product(
        &self,
        panel: Panel,
        groups: Range<usize>,
        clock: Option<&mut ClockSamples>,
    ) {
        let (matrix, stride) = (&self.matrix, self.matrix.stride());
        let below = panel.below();
        let product = Product {
            first: Tile {
                a: matrix.line(below, panel.group),
                a_row: GROUP,
                a_group: stride,
                b: matrix.line(panel.row, groups.start),
                b_group: stride,
                c: matrix.line(below, groups.start),
                c_row: GROUP,
                c_group: stride,
                depth: panel.width,
            },
            rows: self.rows.saturating_sub(below),
            groups: groups.len(),
        };
        // SAFETY: A is factored, and B and C belong to the caller. Lines below the last row exist,
        // and are zero in A.
        unsafe { product.run(self.loops, Update::Subtract, clock) };
    }
}
