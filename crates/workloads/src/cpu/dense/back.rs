//! Back substitution: U x = y, by many threads.
//!
//! The solve works upwards, 64 rows at a time. Every thread solves the whole block, then updates
//! its own rows above it. A row's sums have 8 lanes, which are added up only when the solve reaches
//! the row.

#![allow(unsafe_code)] // Threads share a matrix and keep its rows apart.

use proofmark_engine::Barrier;

use super::loops::{AT_ONCE, Loops};
use super::matrix::{GROUP, Matrix};
use super::share;

pub(super) struct Back<'a> {
    pub(super) loops: &'a Loops,
    /// The matrix, with U in the upper triangle of the first n columns.
    pub(super) matrix: Matrix,
    pub(super) n: usize,
    /// The sums: one group of lines, initially zero.
    pub(super) sums: Matrix,
    /// The solution: one group of lines, of which the first n/8 hold x.
    pub(super) x: Matrix,
    pub(super) barrier: &'a Barrier,
}

impl Back<'_> {
    /// Runs the part of thread `index` of `of` threads. The right-hand side is column n.
    ///
    /// # Safety
    /// Only these threads may use the matrices meanwhile, and the CPU must have the loops'
    /// instructions.
    pub(super) unsafe fn run(&self, index: usize, of: usize) {
        let mut end = self.n.div_ceil(GROUP);
        for row in share(self.n, index, of) {
            // SAFETY: each row belongs to one thread.
            unsafe { *self.sums.line(row, 0).cast::<[f64; GROUP]>() = [0.0; GROUP] };
        }
        while end > 0 {
            self.barrier.wait();
            let start = end.saturating_sub(AT_ONCE);
            // SAFETY: the rows of this block are up to date, and no thread writes to them.
            let x = unsafe { self.block(start, end) };
            // Only the first block can be narrower, and no rows are above it.
            let rows = share(start * GROUP, index, of);
            if !rows.is_empty() {
                let lines = self.matrix.line(rows.start, start);
                let sums = self.sums.line(rows.start, 0);
                // SAFETY: each row above belongs to one thread.
                unsafe {
                    let stride = self.matrix.stride();
                    (self.loops.accumulate)(sums, lines, stride, x.0.as_ptr(), rows.len());
                }
            }
            if index == 0 {
                for (i, group) in (start..end).enumerate() {
                    for lane in 0..GROUP {
                        // SAFETY: only this thread writes x.
                        unsafe { *self.x.line(group, 0).add(lane) = x.0[i * GROUP + lane] };
                    }
                }
            }
            end = start;
        }
        self.barrier.wait();
    }

    /// Returns the unknowns of these groups, with zeros after the last one.
    unsafe fn block(&self, start: usize, end: usize) -> Block {
        let first = start * GROUP;
        let last = (end * GROUP).min(self.n);
        let mut y = Block([0.0; AT_ONCE * GROUP]);
        // SAFETY: within the matrix.
        unsafe {
            for row in first..last {
                let sums = &*self.sums.line(row, 0).cast::<[f64; GROUP]>();
                let right = *self.matrix.line(row, self.n / GROUP).add(self.n % GROUP);
                y.0[row - first] = right - sums.iter().sum::<f64>();
            }
            for column in (first..last).rev() {
                let u = |row| *self.matrix.line(row, column / GROUP).add(column % GROUP);
                let x = y.0[column - first] / u(column);
                y.0[column - first] = x;
                for row in first..column {
                    y.0[row - first] -= u(row) * x;
                }
            }
        }
        y
    }
}

/// The unknowns of a block, aligned for vectors.
#[repr(align(64))]
struct Block([f64; AT_ONCE * GROUP]);
