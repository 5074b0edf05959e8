//! The product of two square row-major matrices, by many threads. Each thread computes a rectangle
//! of C. It copies B block by block into groups ([`super::matrix`]). The copy stays in the L2 cache
//! while the thread reads the rows of A in place.

#![allow(unsafe_code)] // Threads share matrices and keep their parts apart.

use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};

use proofmark_engine::{Barrier, ClockSamples};

use super::matrix::{GROUP, MAX_ROWS, Matrix};
use super::product::Product;
use super::random::element;
use super::tile::{Tile, Update, fetch_nearer};
use super::{Line, Shape, share};

/// Sizes of the parts in memory, in elements.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Layout {
    /// Lines of a row of A, B and C, padded with zeros. The number is odd, so that the lines of one
    /// column are in different sets of every cache.
    lines: usize,
    /// Elements of each matrix.
    matrix: usize,
    /// Elements of one thread's copy of a block of B.
    copy: usize,
    threads: usize,
}

impl Layout {
    pub(crate) fn new(shape: &Shape) -> Self {
        let Shape { n, threads, block, .. } = *shape;
        let lines = n.div_ceil(GROUP) | 1;
        let copy = Matrix::elements(block * GROUP + 1, width(block));
        // Tiles read beyond the last row of A.
        let rows = n + MAX_ROWS - 1;
        Self { lines, matrix: rows * lines * GROUP, copy, threads }
    }

    /// Returns the elements of all matrices and copies, and of the vector of the verification.
    pub(crate) const fn elements(&self) -> usize {
        3 * self.matrix + self.threads * self.copy + self.lines * GROUP
    }
}

/// Arrangement of the threads: rows and columns of rectangles.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Grid {
    down: usize,
    across: usize,
}

impl Grid {
    /// Arranges the threads as nearly in a square as their number allows, wider rather than taller.
    /// Threads in one column copy the same part of B.
    fn arrange(threads: usize) -> Self {
        let divides = |down: &usize| down * down <= threads && threads.is_multiple_of(*down);
        let down = (1..=threads).filter(divides).max().unwrap_or(1);
        Self { down, across: threads / down }
    }

    /// Returns the rows, and the columns in groups, of one thread's rectangle.
    fn rectangle(&self, n: usize, index: usize) -> (Range<usize>, Range<usize>) {
        let (row, column) = (index / self.across, index % self.across);
        (share(n, row, self.down), share(n.div_ceil(GROUP), column, self.across))
    }
}

#[derive(Debug, Clone, Copy)]
pub(crate) enum Which {
    A,
    B,
    C,
}

/// Two matrices and their product. Each thread calls the methods with its own index.
pub(crate) struct Gemm {
    shape: Shape,
    layout: Layout,
    base: *mut f64,
    barrier: Barrier,
    /// Seed of the verification's vector, new for each trial.
    seed: AtomicU64,
}

// SAFETY: the matrices are plain memory, and the methods access disjoint parts by thread.
unsafe impl Send for Gemm {}
// SAFETY: as above.
unsafe impl Sync for Gemm {}

const SEED_OF_A: u64 = 1;
const SEED_OF_B: u64 = 2;

impl Gemm {
    /// Creates the matrices in memory of [`Layout::elements`] elements from `base` on.
    ///
    /// # Safety
    /// The memory must be aligned to a line, and nothing else may use it while this value is used.
    pub(crate) unsafe fn at(base: *mut f64, shape: Shape) -> Self {
        let barrier = Barrier::new(shape.threads);
        Self { shape, layout: Layout::new(&shape), base, barrier, seed: AtomicU64::new(SEED_OF_B) }
    }

    /// Begins a trial. One thread calls it while no other thread uses the product.
    pub(crate) fn begin(&self) {
        self.seed.fetch_add(1, Ordering::Relaxed);
    }

    fn row(&self, which: Which, row: usize) -> *mut f64 {
        let start = which as usize * self.layout.matrix;
        self.base.wrapping_add(start + row * self.layout.lines * GROUP)
    }

    #[cfg(test)]
    pub(super) fn element(&self, which: Which, row: usize, column: usize) -> *mut f64 {
        self.row(which, row).wrapping_add(column)
    }

    /// Returns the elements of a row, including padding.
    fn stride(&self) -> usize {
        self.layout.lines * GROUP
    }

    /// Writes a thread's rows of A and B.
    pub(crate) fn fill(&self, index: usize) {
        let n = self.shape.n;
        for row in share(n, index, self.shape.threads) {
            for (which, seed) in [(Which::A, SEED_OF_A), (Which::B, SEED_OF_B)] {
                for column in 0..self.stride() {
                    let value = if column < n { element(seed, row, column) } else { 0.0 };
                    // SAFETY: the row belongs to this thread.
                    unsafe { *self.row(which, row).add(column) = value };
                }
            }
        }
    }

    /// Overwrites a thread's rows of the last product.
    pub(crate) fn clear(&self, index: usize) {
        for row in share(self.shape.n, index, self.shape.threads) {
            // SAFETY: the row belongs to this thread and has this length.
            unsafe {
                std::slice::from_raw_parts_mut(self.row(Which::C, row), self.stride())
                    .fill(f64::NAN)
            };
        }
    }

    /// Computes a thread's rectangle of the product.
    pub(crate) fn multiply(&self, index: usize, clock: &mut ClockSamples) {
        let Shape { n, threads, block, .. } = self.shape;
        let (rows, columns) = Grid::arrange(threads).rectangle(n, index);
        let copy = self.base.wrapping_add(3 * self.layout.matrix + index * self.layout.copy);
        let b = Matrix::at(copy, block * GROUP + 1, width(block));
        let depths = n.div_ceil(GROUP);
        let blocks = depths.div_ceil(block);
        for i in 0..blocks {
            let (first, depth) =
                (share(depths, i, blocks).start * GROUP, share(depths, i, blocks).len());
            let update = if first == 0 { Update::Set } else { Update::Add };
            for group in columns.clone().step_by(width(block)) {
                let groups = group..(group + width(block)).min(columns.end);
                self.copy_b(&b, first..first + depth * GROUP, &groups);
                // SAFETY: the copy and the rectangle belong to this thread.
                unsafe {
                    self.block(&b, &rows, first..first + depth * GROUP, groups, update, clock)
                };
            }
        }
    }

    /// Copies rows of B into groups. Rows beyond the last one become zeros.
    fn copy_b(&self, b: &Matrix, rows: Range<usize>, groups: &Range<usize>) {
        const AHEAD: usize = 6;
        for (to, row) in rows.enumerate() {
            for (i, group) in groups.clone().enumerate() {
                let at = |row| self.row(Which::B, row).wrapping_add(group * GROUP);
                fetch_nearer(at(row + AHEAD));
                let from = (row < self.shape.n).then(|| at(row));
                // SAFETY: within the copy, which belongs to this thread, and within B.
                unsafe { copy_line(from, b.line(to, i)) };
            }
        }
    }

    /// Multiplies some columns of A by the copy of B: whole tiles directly into C, the last rows
    /// through a buffer.
    ///
    /// # Safety
    /// The copy and the rectangle must belong to the calling thread.
    unsafe fn block(
        &self,
        b: &Matrix,
        rows: &Range<usize>,
        columns: Range<usize>,
        groups: Range<usize>,
        update: Update,
        clock: &mut ClockSamples,
    ) {
        let whole = rows.len() / MAX_ROWS * MAX_ROWS;
        let product = |row: usize, count: usize, c: *mut f64, c_row: usize| Product {
            first: Tile {
                a: self.row(Which::A, rows.start + row).wrapping_add(columns.start),
                a_row: self.stride(),
                a_group: GROUP,
                b: b.line(0, 0),
                b_group: b.stride(),
                c,
                c_row,
                c_group: GROUP,
                depth: columns.len() / GROUP,
            },
            rows: count,
            groups: groups.len(),
        };
        let c =
            |row: usize| self.row(Which::C, rows.start + row).wrapping_add(groups.start * GROUP);
        // SAFETY: whole tiles end within the rectangle.
        unsafe {
            product(0, whole, c(0), self.stride()).run(self.shape.loops, update, Some(clock))
        };
        let rest = rows.len() - whole;
        if rest == 0 {
            return;
        }
        let mut buffer = [Line::default(); MAX_ROWS * MAX_GROUPS];
        for part in (0..groups.len()).step_by(MAX_GROUPS) {
            let count = MAX_GROUPS.min(groups.len() - part);
            let to = buffer.as_mut_ptr().cast::<f64>();
            let mut product = product(whole, rest, to, MAX_GROUPS * GROUP);
            product.first.b = b.line(0, part);
            product.groups = count;
            // SAFETY: the buffer holds as many rows as any tile, and as many groups.
            unsafe { product.run(self.shape.loops, Update::Set, None) };
            for row in 0..rest {
                for group in 0..count {
                    // SAFETY: a line of the rectangle.
                    let c = unsafe {
                        &mut *c(whole + row).add((part + group) * GROUP).cast::<[f64; GROUP]>()
                    };
                    let sums = &buffer[row * MAX_GROUPS + group].0;
                    for (c, sum) in c.iter_mut().zip(sums) {
                        *c = if update == Update::Set { *sum } else { *c + sum };
                    }
                }
            }
        }
    }

    /// Verifies one thread's rows: compares C v with A (B v) for a random vector v, with A and B
    /// generated again. The error names the first row whose difference exceeds rounding.
    pub(crate) fn check(&self, index: usize) -> Result<(), String> {
        let Shape { n, threads, .. } = self.shape;
        let seed = self.seed.load(Ordering::Relaxed);
        let v: Vec<f64> = (0..n).map(|i| element(seed, i, 0)).collect();
        let times = |row: &dyn Fn(usize) -> f64, v: &[f64]| -> f64 {
            v.iter().enumerate().map(|(i, v)| row(i) * v).sum()
        };
        let shared = self.base.wrapping_add(3 * self.layout.matrix + threads * self.layout.copy);
        for row in share(n, index, threads) {
            // SAFETY: this element belongs to this thread.
            unsafe { *shared.add(row) = times(&|i| element(SEED_OF_B, row, i), &v) };
        }
        self.barrier.wait();
        // SAFETY: all threads have written their part before the barrier, and none writes after it.
        let w = unsafe { std::slice::from_raw_parts(shared, n) };
        // The standard deviation of the rounding difference is about 0.03 n^1.5 eps.
        let most = ((n as f64).powf(1.5) + 8.0) * f64::EPSILON;
        for row in share(n, index, threads) {
            let c = self.row(Which::C, row);
            // SAFETY: no thread writes to C any more.
            let found = times(&|i| unsafe { *c.add(i) }, &v);
            let expected = times(&|i| element(SEED_OF_A, row, i), w);
            let difference = (found - expected).abs();
            if difference.is_nan() || difference > most {
                return Err(format!(
                    "row {row} of C v is {found:e}, expected {expected:e} from A (B v) with a \
                     random vector v; rounding explains at most {most:e}"
                ));
            }
        }
        Ok(())
    }
}

/// Returns the width of a block of B in groups: two thirds of its depth, as deep blocks need fewer
/// passes over C.
fn width(block: usize) -> usize {
    (block * 2 / 3 / MAX_GROUPS * MAX_GROUPS).max(MAX_GROUPS)
}

/// Groups of the buffer for the last rows: as many as the widest tile has.
const MAX_GROUPS: usize = 4;

/// Copies one line, or writes zeros if there is none.
///
/// # Safety
/// Both pointers must be valid and aligned.
unsafe fn copy_line(from: Option<*mut f64>, to: *mut f64) {
    let line = match from {
        // SAFETY: as the caller guarantees.
        Some(from) => unsafe { *from.cast::<Line>() },
        None => Line::default(),
    };
    // SAFETY: as the caller guarantees.
    unsafe { *to.cast::<Line>() = line };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rectangles_are_wider_than_tall() {
        for (threads, down, across) in [(1, 1, 1), (2, 1, 2), (7, 1, 7), (9, 3, 3), (12, 3, 4)] {
            assert_eq!(Grid::arrange(threads), Grid { down, across });
        }
    }
}
