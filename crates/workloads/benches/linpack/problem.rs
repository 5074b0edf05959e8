//! What the libraries are given, and whether what they return is right.

#![allow(unsafe_code)] // madvise(2)

use std::ops::Range;

use proofmark_engine::{monotonic, pin};
use proofmark_model::Solution;
use rustix::mm::{Advice, madvise};

use crate::library::Library;
use crate::mix::mixed;

type Error = Box<dyn std::error::Error>;

/// Bytes of a huge page.
const HUGE: usize = 2 << 20;
/// Numbers in a cache line.
const LINE: usize = 8;
/// Entries of a product that are compared with a sum of their own.
const ENTRIES: usize = 32;

/// What is done with the matrices.
#[derive(Clone, Copy, PartialEq)]
pub enum Op {
    Dgemm,
    Linpack,
}

impl Op {
    pub const ALL: [Self; 2] = [Self::Dgemm, Self::Linpack];

    pub fn name(self) -> &'static str {
        match self {
            Self::Dgemm => "dgemm",
            Self::Linpack => "linpack",
        }
    }

    /// Floating-point operations, as is usual to count them.
    pub fn operations(self, n: usize) -> f64 {
        let n = n as f64;
        match self {
            Self::Dgemm => 2.0 * n.powi(3),
            Self::Linpack => 2.0 / 3.0 * n.powi(3) + 2.0 * n.powi(2),
        }
    }
}

/// Zeros in huge pages, where the system gives them; each is there once it is written.
struct Memory {
    all: Vec<f64>,
    /// The first in a huge page of its own, and how many are used from there.
    used: Range<usize>,
}

impl Memory {
    fn new(numbers: usize) -> Self {
        const PAGE: usize = HUGE / size_of::<f64>();
        let whole = numbers.next_multiple_of(PAGE);
        let mut all = vec![0.0; whole + PAGE];
        let first = all.as_ptr().align_offset(HUGE);
        let start = all[first..][..whole].as_mut_ptr();
        // SAFETY: whole pages of that memory. Without huge pages it is slower, and no less right.
        let _ = unsafe { madvise(start.cast(), whole * size_of::<f64>(), Advice::LinuxHugepage) };
        Self { all, used: first..first + numbers }
    }

    fn numbers(&self) -> &[f64] {
        &self.all[self.used.clone()]
    }

    fn numbers_mut(&mut self) -> &mut [f64] {
        &mut self.all[self.used.clone()]
    }
}

/// The element of that row and column of the random matrix of that seed: from -1/2 to 1/2.
fn element(seed: u64, row: usize, column: usize) -> f64 {
    let bits = mixed(seed, (column as u64) << 32 ^ row as u64);
    (bits >> 11) as f64 / (1_u64 << 53) as f64 - 0.5
}

/// One product or one system of equations.
pub struct Problem {
    op: Op,
    n: usize,
    /// Numbers from a column to the next: an odd count of cache lines.
    ld: usize,
    a: Memory,
    /// The second factor, or the right-hand side and then the solution.
    b: Memory,
    /// The product.
    c: Memory,
    pivots: Vec<i32>,
    seed: u64,
}

impl Problem {
    pub fn new(op: Op, n: usize) -> Self {
        let ld = (n.div_ceil(LINE) | 1) * LINE;
        let [b, c] = if op == Op::Dgemm { [ld * n, ld * n] } else { [ld, 0] };
        let [a, b, c] = [ld * n, b, c].map(Memory::new);
        Self { op, n, ld, a, b, c, pivots: vec![0; n], seed: 0 }
    }

    /// Seconds that the library takes for new numbers. Other threads, on these CPUs, make them
    /// before and check the result; its own warm up in between.
    pub fn sample(&mut self, library: &Library, cpus: &[u32]) -> Result<f64, Error> {
        self.fill(cpus);
        library.warm()?;
        let seconds = self.solved_by(library)?;
        match self.op {
            Op::Dgemm => self.check_product()?,
            Op::Linpack => self.check_solution(cpus)?,
        }
        Ok(seconds)
    }

    /// New numbers, written by a thread on each of these CPUs.
    fn fill(&mut self, cpus: &[u32]) {
        let (n, ld) = (self.n, self.ld);
        self.seed += 1;
        let seed = self.seed;
        // The second factor, or the right-hand side, continues the columns of the first.
        for (first, matrix) in [(0, &mut self.a), (n, &mut self.b)] {
            on_each(matrix.numbers_mut(), ld, cpus, |j, column| {
                for (i, number) in column[..n].iter_mut().enumerate() {
                    *number = element(seed, i, first + j);
                }
            });
        }
        // No number: what is left of it in the product is seen.
        on_each(self.c.numbers_mut(), ld, cpus, |_, column| column.fill(f64::NAN));
    }

    /// Seconds that the library takes.
    fn solved_by(&mut self, library: &Library) -> Result<f64, Error> {
        let (n, ld) = (self.n, self.ld);
        let (a, b) = (self.a.numbers_mut(), self.b.numbers_mut());
        let start = monotonic();
        match self.op {
            Op::Dgemm => library.dgemm(n, ld, a, b, self.c.numbers_mut())?,
            Op::Linpack => library.dgesv(n, ld, a, &mut self.pivots, b)?,
        }
        Ok(monotonic() - start)
    }

    /// A few entries, each against its sum: the error may be as large as n roundings of all.
    fn check_product(&self) -> Result<(), Error> {
        let (n, ld) = (self.n, self.ld);
        let [a, b, c] = [&self.a, &self.b, &self.c].map(Memory::numbers);
        for entry in 0..ENTRIES {
            // The last one, and some at random.
            let place = |of| ((element(!self.seed, entry, of) + 0.5) * n as f64) as usize;
            let [i, j] = if entry == 0 { [n - 1; 2] } else { [place(0), place(1)] };
            let terms = (0..n).map(|k| a[i + k * ld] * b[k + j * ld]);
            let (sum, all) = terms.fold((0.0, 0.0), |(s, t), x| (s + x, t + x.abs()));
            let is = c[i + j * ld];
            let off = (is - sum).abs();
            if off.is_nan() || off > all * n as f64 * f64::EPSILON {
                return Err(format!("entry ({i}, {j}) of the product is {is}, not {sum}").into());
            }
        }
        Ok(())
    }

    /// HPL's residual: of the norms, |Ax - b| / (eps (|A| |x| + |b|) n). A is made again.
    fn check_solution(&self, cpus: &[u32]) -> Result<(), Error> {
        let (n, seed) = (self.n, self.seed);
        let x = &self.b.numbers()[..n];
        // Of each row: what Ax is off b, and the sum of A's elements.
        let mut rows = vec![[0.0; 2]; n];
        on_each(&mut rows, 1, cpus, |i, row| {
            let mut sums = [-element(seed, i, n), 0.0];
            for (j, x) in x.iter().enumerate() {
                let a = element(seed, i, j);
                sums = [sums[0] + a * x, sums[1] + a.abs()];
            }
            row[0] = sums;
        });
        // A maximum that does not lose what is no number.
        let greatest = |all: &mut dyn Iterator<Item = f64>| {
            all.fold(0.0, |m: f64, v| if v.is_nan() { v } else { m.max(v.abs()) })
        };
        let [off, a] = [0, 1].map(|of| greatest(&mut rows.iter().map(|row| row[of])));
        let x = greatest(&mut x.iter().copied());
        let b = greatest(&mut (0..n).map(|i| element(seed, i, n)));
        let residual = off / (f64::EPSILON / 2.0 * (a * x + b) * n as f64);
        if residual < Solution::THRESHOLD {
            Ok(())
        } else {
            Err(format!("the residual is {residual:.3e}").into())
        }
    }
}

/// Does this to every column of a matrix (`ld` items each), on each of these CPUs to a band
/// of them.
fn on_each<T: Send>(
    items: &mut [T],
    ld: usize,
    cpus: &[u32],
    work: impl Fn(usize, &mut [T]) + Sync,
) {
    let band = (items.len() / ld).div_ceil(cpus.len()).max(1);
    std::thread::scope(|scope| {
        for ((i, band_of), cpu) in items.chunks_mut(band * ld).enumerate().zip(cpus) {
            let work = &work;
            scope.spawn(move || {
                pin(*cpu);
                for (j, column) in band_of.chunks_mut(ld).enumerate() {
                    work(i * band + j, column);
                }
            });
        }
    });
}
