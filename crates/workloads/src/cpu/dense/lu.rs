//! Gaussian elimination with partial pivoting, by many threads.
//!
//! The matrix is cut into *chunks* of columns, and some of these make a *panel*. Step k takes panel
//! k, once it is factored, and brings every chunk to the right of it up to date: exchange rows,
//! solve for U, subtract the product. The thread that updates the last chunk of the next panel
//! factors that panel at once, while the others continue with the step (look-ahead). Threads take
//! chunks in order, step after step. Each waits only for its chunk and its panel, and both belong
//! to a thread that took them earlier. So some thread always proceeds, and no barrier is needed.
//!
//! The right-hand side is one more column, so that the elimination also solves L y = P b.

#![allow(unsafe_code)] // Threads share a matrix and keep its chunks apart.

use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};

use proofmark_engine::{ClockSamples, wait_until};

use super::loops::Loops;
use super::matrix::{GROUP, Matrix};
use super::update::{Elimination, Panel};

/// A column without a pivot: of zeros, or with numbers that are not finite.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the matrix is singular or not finite: column {0} has no pivot")]
pub(crate) struct Singular(pub(super) usize);

/// How the columns are cut, in groups.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Cut {
    chunk: usize,
    /// Where panels begin, multiples of a chunk, and where the last one ends.
    panels: Vec<usize>,
    /// All groups, those to the right of the panels included.
    groups: usize,
}

impl Cut {
    /// For this many columns that are eliminated, of a matrix of this many groups.
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

    /// Chunks that hold columns to the right of a step's panel.
    fn behind(&self, step: usize) -> Range<usize> {
        self.panels[step + 1] / self.chunk..self.chunks()
    }

    /// Chunks of a step's panel.
    fn of_panel(&self, step: usize) -> Range<usize> {
        self.panels[step] / self.chunk..self.panels[step + 1].div_ceil(self.chunk)
    }

    /// Groups of a chunk to the right of a step's panel.
    fn groups_behind(&self, step: usize, chunk: usize) -> Range<usize> {
        let (start, end) = (chunk * self.chunk, (chunk + 1) * self.chunk);
        start.max(self.panels[step + 1])..end.min(self.groups)
    }
}

/// Widths in groups.
#[derive(Debug, Clone, Copy)]
pub(super) struct Widths {
    pub(super) chunk: usize,
    /// Width of the widest panel: a multiple of the chunk.
    pub(super) widest: usize,
    /// Panels become narrower so that at least this many are left.
    pub(super) left: usize,
}

impl Widths {
    /// Width of the next panel where this many groups are left.
    fn panel(&self, left: usize) -> usize {
        let width = (left / self.left).next_multiple_of(self.chunk);
        width.clamp(self.chunk, self.widest)
    }
}

pub(super) struct Lu<'a> {
    /// As many rows as columns that are eliminated.
    work: Elimination<'a>,
    cut: Cut,
    pivots: Box<[AtomicUsize]>,
    factored: AtomicUsize,
    /// By step: the next chunk that nobody has taken, counted from the first behind.
    taken: Box<[AtomicUsize]>,
    /// By chunk: steps that it is up to date with.
    done: Box<[AtomicUsize]>,
    /// By step: chunks of its panel that are not up to date.
    missing: Box<[AtomicUsize]>,
    /// The column without a pivot.
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
            missing: counters((0..cut.steps()).map(|step| cut.of_panel(step).len())),
            singular: AtomicUsize::new(usize::MAX),
            cut,
        }
    }

    /// One thread's part; all threads call it at about the same time, one of them as the
    /// one that `leads`. An error if the matrix is singular.
    ///
    /// # Safety
    /// Nobody else uses the matrix meanwhile, and the CPU has the loops' instructions.
    pub(super) unsafe fn run(&self, leads: bool, clock: &mut ClockSamples) -> Result<(), Singular> {
        if leads && self.work.rows > 0 {
            // SAFETY: nobody touches the first panel before it is factored.
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
                // SAFETY: the chunk is this thread's, since it alone took it in this step
                // and the step before has ended with it.
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

    /// Brings a chunk up to date with a step, and factors the next panel if that was the
    /// last of it.
    unsafe fn update(&self, step: usize, chunk: usize, clock: &mut ClockSamples) {
        let panel = self.cut.panel(step);
        let groups = self.cut.groups_behind(step, chunk);
        let pivots = self.pivots(panel);
        // SAFETY: the chunk is the caller's own, and the panel is factored.
        unsafe {
            for group in groups.clone() {
                self.work.exchange(group, panel.row, pivots);
            }
            self.apply(panel, groups, Some(clock));
        }
        self.done[chunk].store(step + 1, Ordering::Release);
        if step + 1 < self.cut.steps()
            && self.cut.of_panel(step + 1).contains(&chunk)
            && self.missing[step + 1].fetch_sub(1, Ordering::AcqRel) == 1
        {
            // SAFETY: all of the panel is up to date, and nobody takes it in this step again.
            unsafe { self.factor(step + 1) };
        }
    }

    /// Solves for U in these groups, and subtracts the product below.
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
        // SAFETY: the panel is the caller's own.
        match unsafe { self.halves(panel) } {
            Ok(()) => self.factored.store(step + 1, Ordering::Release),
            Err(Singular(column)) => self.singular.store(column, Ordering::Release),
        }
    }

    /// Factors some groups: the left half, then with it the right one.
    unsafe fn halves(&self, panel: Panel) -> Result<(), Singular> {
        let Panel { row, group, width } = panel;
        if width == 1 {
            // SAFETY: as below.
            return unsafe { self.group(row, group) };
        }
        let left = Panel { row, group, width: width / 2 };
        let right =
            Panel { row: left.below(), group: group + left.width, width: width - left.width };
        // SAFETY: the panel is the caller's own.
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
        // SAFETY: the group is the caller's own.
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
