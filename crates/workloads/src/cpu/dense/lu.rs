//! Gaussian elimination with partial pivoting, by many threads.
//!
//! The matrix is cut into *chunks* of columns, and several chunks make a *panel*. Step k takes the
//! factored panel k and updates every chunk to the right of it: exchange rows, solve for U,
//! subtract the product. The thread that updates the last chunk of the next panel factors that
//! panel at once, while the others continue with the step (look-ahead). Threads take chunks in
//! order, step after step. Each waits only for its chunk and its panel, and both belong to a thread
//! that took them earlier. So some thread always proceeds, and no barrier is needed.
//!
//! The right-hand side is one more column, so that the elimination also solves L y = P b.

#![allow(unsafe_code)] // Threads share a matrix and keep its chunks apart.

use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};

use proofmark_engine::{ClockSamples, wait_until};

use super::loops::Loops;
use super::matrix::{GROUP, Matrix};
use super::update::{Elimination, Panel};

/// A column without a pivot: it has only zeros, or numbers that are not finite.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the matrix is singular or not finite: column {0} has no pivot")]
pub(crate) struct Singular(pub(super) usize);

/// The division of the columns into chunks and panels, in groups.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Cut {
    chunk: usize,
    /// Starts of the panels, which are multiples of a chunk, and the end of the last one.
    panels: Vec<usize>,
    /// All groups, including those to the right of the panels.
    groups: usize,
}

impl Cut {
    /// Divides `columns` columns that are eliminated, of a matrix of `groups` groups.
    pub(super) fn new(columns: usize, groups: usize, widths: &Widths) -> Self {
        let end = columns.div_ceil(GROUP);
        let mut panels = vec![0];
        let mut at = 0;
        while at < end {
            at = (at + widths.panel(end - at)).min(end);
            panels.push(at);
        }
        Self { chunk: widths.chunk, panels, groups }
    }

    fn chunks(&self) -> usize {
        self.groups.div_ceil(self.chunk)
    }

    fn steps(&self) -> usize {
        self.panels.len() - 1
    }

    fn panel(&self, step: usize) -> Panel {
        let (group, end) = (self.panels[step], self.panels[step + 1]);
        Panel { row: group * GROUP, group, width: end - group }
    }

    /// Returns the chunks with columns to the right of a step's panel.
    fn behind(&self, step: usize) -> Range<usize> {
        self.panels[step + 1] / self.chunk..self.chunks()
    }

    /// Returns the chunks of a step's panel.
    fn chunks_of_panel(&self, step: usize) -> Range<usize> {
        self.panels[step] / self.chunk..self.panels[step + 1].div_ceil(self.chunk)
    }

    /// Returns the groups of a chunk to the right of a step's panel.
    fn groups_behind(&self, step: usize, chunk: usize) -> Range<usize> {
        let (start, end) = (chunk * self.chunk, (chunk + 1) * self.chunk);
        start.max(self.panels[step + 1])..end.min(self.groups)
    }
}

/// Widths of chunks and panels, in groups.
#[derive(Debug, Clone, Copy)]
pub(super) struct Widths {
    pub(super) chunk: usize,
    /// Width of the widest panel, a multiple of the chunk.
    pub(super) widest: usize,
    /// Divisor of the groups that are left: panels get narrower so that about this many remain.
    pub(super) left: usize,
}

impl Widths {
    /// Returns the width of the next panel where `left` groups are left.
    fn panel(&self, left: usize) -> usize {
        let width = (left / self.left).next_multiple_of(self.chunk);
        width.clamp(self.chunk, self.widest)
    }
}

pub(super) struct Lu<'a> {
    /// The matrix and its loops. The matrix has as many rows as eliminated columns.
    work: Elimination<'a>,
    cut: Cut,
    pivots: Box<[AtomicUsize]>,
    factored: AtomicUsize,
    /// Next untaken chunk by step, counted from the first one behind the panel.
    taken: Box<[AtomicUsize]>,
    /// Number of applied steps, by chunk.
    done: Box<[AtomicUsize]>,
    /// Number of outdated chunks of the panel, by step.
    missing: Box<[AtomicUsize]>,
    /// The column without a pivot, or `usize::MAX`.
    singular: AtomicUsize,
}

fn counters(values: impl Iterator<Item = usize>) -> Box<[AtomicUsize]> {
    values.map(AtomicUsize::new).collect()
}

impl<'a> Lu<'a> {
    /// Begins the elimination of the first n columns of a matrix of n rows.
    pub(super) fn new(loops: &'a Loops, matrix: Matrix, n: usize, widths: &Widths) -> Self {
        let cut = Cut::new(n, matrix.groups, widths);
        Self {
            work: Elimination { loops, matrix, rows: n },
            pivots: counters((0..n).map(|_| 0)),
            factored: AtomicUsize::new(0),
            taken: counters((0..cut.steps()).map(|_| 0)),
            done: counters((0..cut.chunks()).map(|_| 0)),
            missing: counters((0..cut.steps()).map(|step| cut.chunks_of_panel(step).len())),
            singular: AtomicUsize::new(usize::MAX),
            cut,
        }
    }

    /// Runs one thread's part. All threads call it at about the same time, and exactly one `leads`.
    /// Returns an error if the matrix is singular.
    ///
    /// # Safety
    /// Nothing else may use the matrix meanwhile, and the CPU must have the loops' instructions.
    pub(super) unsafe fn run(&self, leads: bool, clock: &mut ClockSamples) -> Result<(), Singular> {
        if leads && self.work.rows > 0 {
            // SAFETY: no thread touches the first panel before it is factored.
            unsafe { self.factor(0) };
        }
        for step in 0..self.cut.steps() {
            let behind = self.cut.behind(step);
            loop {
                let chunk = behind.start + self.taken[step].fetch_add(1, Ordering::Relaxed);
                if chunk >= behind.end {
                    break;
                }
                wait_until(|| self.over() || self.factored.load(Ordering::Acquire) > step);
                wait_until(|| self.over() || self.done[chunk].load(Ordering::Acquire) >= step);
                if self.over() {
                    break;
                }
                // SAFETY: only this thread took the chunk in this step, and the previous step has
                // finished with it.
                unsafe { self.update(step, chunk, clock) };
            }
        }
        wait_until(|| self.over() || self.all_done());
        match self.singular.load(Ordering::Acquire) {
            usize::MAX => Ok(()),
            column => Err(Singular(column)),
        }
    }

    fn over(&self) -> bool {
        self.singular.load(Ordering::Relaxed) != usize::MAX
    }

    fn all_done(&self) -> bool {
        let steps = self.cut.steps();
        let behind = |chunk: &usize| steps > 0 && self.cut.behind(steps - 1).contains(chunk);
        self.factored.load(Ordering::Acquire) >= steps
            && (0..self.cut.chunks())
                .filter(behind)
                .all(|chunk| self.done[chunk].load(Ordering::Acquire) >= steps)
    }

    /// Applies a step to a chunk. Factors the next panel if this was its last chunk.
    unsafe fn update(&self, step: usize, chunk: usize, clock: &mut ClockSamples) {
        let panel = self.cut.panel(step);
        let groups = self.cut.groups_behind(step, chunk);
        let pivots = self.pivots(panel);
        // SAFETY: the chunk belongs to the caller, and the panel is factored.
        unsafe {
            for group in groups.clone() {
                self.work.exchange(group, panel.row, pivots);
            }
            self.apply(panel, groups, Some(clock));
        }
        self.done[chunk].store(step + 1, Ordering::Release);
        if step + 1 < self.cut.steps()
            && self.cut.chunks_of_panel(step + 1).contains(&chunk)
            && self.missing[step + 1].fetch_sub(1, Ordering::AcqRel) == 1
        {
            // SAFETY: the whole panel is up to date, and no thread takes it again in this step.
            unsafe { self.factor(step + 1) };
        }
    }

    /// Solves for U in these groups, and subtracts the product from the rows below.
    unsafe fn apply(&self, panel: Panel, groups: Range<usize>, clock: Option<&mut ClockSamples>) {
        // SAFETY: as the callers guarantee.
        unsafe {
            self.work.solve(panel, groups.clone());
            self.work.subtract_product(panel, groups, clock);
        }
    }

    fn pivots(&self, panel: Panel) -> &[AtomicUsize] {
        &self.pivots[panel.row..panel.below().min(self.work.rows)]
    }

    /// Factors a step's panel and publishes it.
    unsafe fn factor(&self, step: usize) {
        let panel = self.cut.panel(step);
        // SAFETY: the panel belongs to the caller.
        match unsafe { self.halves(panel) } {
            Ok(()) => self.factored.store(step + 1, Ordering::Release),
            Err(Singular(column)) => self.singular.store(column, Ordering::Release),
        }
    }

    /// Factors several groups: the left half first, then the right half after its update.
    unsafe fn halves(&self, panel: Panel) -> Result<(), Singular> {
        let Panel { row, group, width } = panel;
        if width == 1 {
            // SAFETY: as below.
            return unsafe { self.group(row, group) };
        }
        let left = Panel { row, group, width: width / 2 };
        let right =
            Panel { row: left.below(), group: group + left.width, width: width - left.width };
        // SAFETY: the panel belongs to the caller.
        unsafe {
            self.halves(left)?;
            let pivots = self.pivots(left);
            for group in right.group..right.group + right.width {
                self.work.exchange(group, row, pivots);
            }
            self.apply(left, right.group..right.group + right.width, None);
            self.halves(right)?;
            let pivots = self.pivots(right);
            for group in group..right.group {
                self.work.exchange(group, right.row, pivots);
            }
        }
        Ok(())
    }

    unsafe fn group(&self, row: usize, group: usize) -> Result<(), Singular> {
        let rows = self.work.rows - row;
        let columns = rows.min(GROUP);
        let mut pivots = [0; GROUP];
        // SAFETY: the group belongs to the caller.
        unsafe {
            let lines = self.work.matrix.line(row, group);
            (self.work.loops.eliminate)(lines, rows, columns, &mut pivots)
                .map_err(|column| Singular(row + column))?;
        }
        for (c, pivot) in pivots.iter().take(columns).enumerate() {
            self.pivots[row + c].store(row + pivot, Ordering::Relaxed);
        }
        Ok(())
    }
}
