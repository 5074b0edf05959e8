//! A system of linear equations in memory, solved by several threads.

#![allow(unsafe_code)] // Threads share matrices and keep their parts apart.

use std::sync::{Arc, Mutex};

use proofmark_engine::{Barrier, ClockSamples};
use proofmark_model::{Solution, lock};

use super::back::Back;
use super::lu::{Lu, Singular, Widths};
use super::matrix::{GROUP, Matrix, lines_for};
use super::residual::Residual;
use super::{Shape, share};

/// Sizes of the parts of a system, in elements.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Layout {
    lines: usize,
    groups: usize,
}

impl Layout {
    /// Returns the layout for n equations: A, and b as one more column.
    pub(crate) const fn new(n: usize) -> Self {
        Self { lines: lines_for(n), groups: (n + 1).div_ceil(GROUP) }
    }

    /// Returns the elements of the matrix, the solution, and the sums of the back substitution.
    pub(crate) const fn elements(&self) -> usize {
        Matrix::elements(self.lines, self.groups + 2)
    }
}

/// One system. All its threads call [`System::fill`], [`System::solve`] and [`System::check`] in
/// this order, with a barrier between any two.
pub(crate) struct System {
    shape: Shape,
    matrix: Matrix,
    sums: Matrix,
    x: Matrix,
    barrier: Barrier,
    attempt: Mutex<Arc<Attempt>>,
}

pub(crate) struct Attempt {
    lu: Lu<'static>,
    residual: Residual,
}

impl System {
    /// Creates the system in memory of [`Layout::elements`] elements from `base` on.
    ///
    /// # Safety
    /// The memory must be aligned to a line, and nothing else may use it while the system exists.
    pub(crate) unsafe fn at(base: *mut f64, shape: Shape) -> Self {
        let Layout { lines, groups, .. } = Layout::new(shape.n);
        let matrix = Matrix::at(base, lines, groups);
        let group =
            |i: usize| Matrix::at(base.wrapping_add(Matrix::elements(lines, groups + i)), lines, 1);
        let attempt = Mutex::new(Arc::new(Attempt::new(shape, matrix)));
        let barrier = Barrier::new(shape.threads);
        Self { shape, matrix, sums: group(0), x: group(1), barrier, attempt }
    }

    /// Begins a new attempt. One thread calls it while no other thread uses the system.
    pub(crate) fn begin(&self) {
        let mut attempt = lock(&self.attempt);
        *attempt = Arc::new(Attempt::new(self.shape, self.matrix));
    }

    pub(crate) fn attempt(&self) -> Arc<Attempt> {
        Arc::clone(&lock(&self.attempt))
    }

    /// Writes a thread's part of A and b with zeros around them, and clears the solution.
    pub(crate) fn fill(&self, index: usize, element: impl Fn(usize, usize) -> f64) {
        let n = self.shape.n;
        for group in (index..self.matrix.groups).step_by(self.shape.threads) {
            for row in 0..self.matrix.lines {
                let mut line = [0.0; GROUP];
                if row < n {
                    for (lane, value) in
                        line.iter_mut().enumerate().take(n + 1 - (group * GROUP).min(n + 1))
                    {
                        *value = element(row, group * GROUP + lane);
                    }
                }
                // SAFETY: the group belongs to this thread.
                unsafe { *self.matrix.line(row, group).cast::<[f64; GROUP]>() = line };
            }
        }
        if index == 0 {
            for line in 0..self.x.lines {
                // SAFETY: only this thread writes x.
                unsafe { *self.x.line(line, 0).cast::<[f64; GROUP]>() = [f64::NAN; GROUP] };
            }
        }
    }

    /// Runs one thread's part of the solve. Every thread gets an error if the matrix is singular.
    pub(crate) fn solve(
        &self,
        attempt: &Attempt,
        index: usize,
        clock: &mut ClockSamples,
    ) -> Result<(), Singular> {
        let Shape { n, threads, loops, .. } = self.shape;
        let Self { matrix, sums, x, barrier, .. } = self;
        let back = Back { loops, matrix: *matrix, n, sums: *sums, x: *x, barrier };
        // SAFETY: only the system's threads use its memory, and `Shape` verified that the CPU has
        // the loops' instructions.
        unsafe {
            attempt.lu.run(index == 0, clock)?;
            back.run(index, threads);
        }
        Ok(())
    }

    /// Runs one thread's part of the verification: the residual, with A and b generated again.
    pub(crate) fn check(
        &self,
        attempt: &Attempt,
        index: usize,
        element: impl Fn(usize, usize) -> f64,
    ) -> Solution {
        let Shape { n, threads, .. } = self.shape;
        attempt.residual.take(self.x(), share(n, index, threads), element);
        self.barrier.wait();
        let (residual, normalised_residual) = attempt.residual.compute(n);
        let address = self.matrix.line(0, 0).addr();
        Solution {
            n: n as u64,
            leading_dimension: self.matrix.lines as u64,
            alignment: 1 << address.trailing_zeros().min(21),
            residual,
            normalised_residual,
        }
    }

    pub(crate) fn x(&self) -> &[f64] {
        // SAFETY: x lies within the system's memory, and no thread writes to it after `solve`.
        unsafe { std::slice::from_raw_parts(self.x.line(0, 0), self.shape.n) }
    }
}

impl Attempt {
    fn new(shape: Shape, matrix: Matrix) -> Self {
        let Shape { n, threads, loops, block, .. } = shape;
        // Chunks are narrow enough that each thread has several. Panels are narrow enough that the
        // last ones do not take longer than the rest of the matrix.
        let chunk = (matrix.groups / (16 * threads)).next_power_of_two().max(4).min(block);
        let widest = block / chunk * chunk;
        let widths = Widths { chunk, widest, left: 8 };
        Self { lu: Lu::new(loops, matrix, n, &widths), residual: Residual::default() }
    }
}
