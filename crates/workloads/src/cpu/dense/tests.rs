//! Tests of the solver by its residual, and of the product by a plain product.

#![allow(unsafe_code)] // Gives the solver memory.

use std::thread;

use proofmark_engine::ClockSamples;
use proofmark_model::{Solution, key};
use proofmark_testing::wait_until;
use proptest::prelude::*;

use super::gemm::{Gemm, Which};
use super::lu::Singular;
use super::random::element;
use super::solver::{Layout, System};
use super::*;
use crate::params::testing::{WorkloadExt, params};

fn shape(isa: Isa, n: usize, threads: usize, block: usize) -> Shape {
    assert!(isa.is_supported());
    Shape { n, threads, loops: loops::find(isa).unwrap(), block }
}

/// Runs a function on each thread, and returns the results.
fn on_all<T: Send>(threads: usize, work: impl Fn(usize) -> T + Sync) -> Vec<T> {
    thread::scope(|scope| {
        let work = &work;
        let all: Vec<_> = (0..threads).map(|i| scope.spawn(move || work(i))).collect();
        all.into_iter().map(|t| t.join().unwrap()).collect()
    })
}

/// Solves a system. Returns the solution and its residual.
fn solve(
    shape: Shape,
    matrix: &(dyn Fn(usize, usize) -> f64 + Sync),
) -> Result<(Vec<f64>, Solution), Singular> {
    let mut memory = vec![Line::default(); Layout::new(shape.n).elements() / GROUP];
    // SAFETY: the memory has the size of the layout, and lives as long as the system.
    let system = unsafe { System::at(memory.as_mut_ptr().cast(), shape) };
    system.begin();
    let attempt = system.attempt();
    on_all(shape.threads, |i| system.fill(i, matrix));
    let outcomes =
        on_all(shape.threads, |i| system.solve(&attempt, i, &mut ClockSamples::default()));
    assert!(outcomes.iter().all(|o| *o == outcomes[0]), "all threads agree: {outcomes:?}");
    outcomes[0]?;
    let mut solutions = on_all(shape.threads, |i| system.check(&attempt, i, matrix));
    Ok((system.x().to_vec(), solutions.swap_remove(0)))
}

/// Kinds of matrices, ordinary and difficult. b is in column n.
#[derive(Debug, Clone, Copy)]
enum Kind {
    Random,
    /// Scales rows and columns by powers of two from 2^-100 to 2^100.
    Scaled,
    /// Contains numbers so small that their inverses overflow.
    Tiny,
    /// A matrix with a last column that is the difference of two others, but for noise of 2^-45.
    NearlySingular,
}

const KINDS: [Kind; 4] = [Kind::Random, Kind::Scaled, Kind::Tiny, Kind::NearlySingular];

impl Kind {
    fn matrix(self, n: usize, seed: u64) -> impl Fn(usize, usize) -> f64 + Sync {
        let power = move |i: usize, salt: u64| (element(seed ^ salt, i, i) * 200.0).round().exp2();
        let powers = |salt| (0..n).map(|i| power(i, salt)).collect::<Vec<f64>>();
        let (rows, columns) = (powers(55), powers(77));
        move |row, column| {
            let x = element(seed, row, column);
            match self {
                Self::Tiny => x * 2_f64.powi(-500) * 2_f64.powi(-530),
                _ if column == n => x,
                Self::Random => x,
                Self::Scaled => x * rows[row] * columns[column],
                // The last column is nearly the difference of two others.
                Self::NearlySingular if column + 1 == n && n > 2 => {
                    element(seed, row, 0) - element(seed, row, 1) + x * 2_f64.powi(-45)
                }
                Self::NearlySingular => x,
            }
        }
    }
}

/// Solves a system and asserts that the solution passes.
fn passes(shape: Shape, kind: Kind, seed: u64) {
    let what =
        format!("{kind:?} {} {} tiles of {}", shape.n, shape.threads, shape.loops.tiles[0].rows);
    let (x, solution) =
        solve(shape, &kind.matrix(shape.n, seed)).unwrap_or_else(|e| panic!("{what}: {e}"));
    assert_eq!(x.len(), shape.n);
    if let Kind::Tiny = kind {
        // Such numbers have 43 bits, too few for the threshold.
        let size = x.iter().fold(1_f64, |m, x| m.max(x.abs()));
        for row in 0..shape.n {
            let sum: f64 = x.iter().enumerate().map(|(c, x)| element(seed, row, c) * x).sum();
            let difference = (sum - element(seed, row, shape.n)).abs();
            assert!(difference < 1e-9 * size * shape.n as f64, "{what}: {difference} {size}");
        }
        return;
    }
    assert!(solution.passes(), "{what}: {solution:?}");
    // A plain solver's residual is of the same size.
    assert!(solution.normalised_residual < 2.0, "{what}: {solution:?}");
}

/// The loops of a debug build are about a hundred times slower.
const EACH_TO: usize = if cfg!(debug_assertions) { 40 } else { 300 };
const LARGEST: usize = if cfg!(debug_assertions) { 180 } else { 1500 };

#[test]
fn every_size_is_solved_by_every_instruction_set() {
    let widest = supported_isas().last().unwrap();
    for n in 1..=EACH_TO {
        for (i, isa) in supported_isas().enumerate() {
            for (k, kind) in KINDS.into_iter().enumerate() {
                // The other instruction sets take the kinds in turn.
                if isa == widest || (n + i + k) % 4 == 0 {
                    let (threads, block) = (1 + (n + k) % 3, [2, 4, 16, 32][(n + k) / 3 % 4]);
                    passes(shape(isa, n, threads, block), kind, n as u64);
                }
            }
        }
    }
}

#[test]
fn the_clock_is_read_while_matrices_are_worked_out() {
    for id in ["cpu.dgemm", "cpu.linpack"] {
        let params = params("n=1000 threads=1 nb=64")
            .with(key::ISA, supported_isas().last().unwrap().name());
        let setup = crate::find(id).unwrap().setup(&params).unwrap();
        // Other work may disturb all samples of a run, the chain that they are compared with, or
        // the measured clock resolution.
        wait_until("a clock that wide vectors lower, but not by half", || {
            // A trial has one solve: a second one would wait forever for the chunks that the first
            // one took.
            setup.begin_trial().unwrap();
            let mut load = setup.thread(0, 1).unwrap();
            let plain = proofmark_engine::chain::read_clock(200e-6, 50).hz();
            load.prepare(1);
            load.begin();
            load.run(1);
            let mean = load.clock_samples().unwrap().mean(plain);
            load.begin();
            load.run(0);
            assert_eq!(load.clock_samples().unwrap().mean(plain), None, "{id}: an old one");
            mean.is_some_and(|(hz, _)| (0.5..1.05).contains(&(hz / plain)))
        });
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(if cfg!(debug_assertions) { 24 } else { 200 }))]

    /// Solves systems with any instruction set, number of threads and block width.
    #[test]
    fn systems_are_solved_however_they_are_divided(
        n in 1..LARGEST,
        threads in 1..8_usize,
        isa in 0..supported_isas().count(),
        block in 1..20_usize,
        kind in prop::sample::select(vec![Kind::Random, Kind::Scaled, Kind::NearlySingular]),
        seed in 0..u64::MAX,
    ) {
        let shape = shape(supported_isas().nth(isa).unwrap(), n, threads, block);
        let (_, solution) = solve(shape, &kind.matrix(n, seed)).unwrap();
        prop_assert!(solution.passes(), "{:?}", solution);
    }

    /// Compares products of any size on any number of threads with a plain product.
    #[test]
    fn products_pass_their_own_proof_and_a_fault_in_any_element_does_not(
        n in 1..if cfg!(debug_assertions) { 50_usize } else { 150 },
        threads in 1..13_usize,
        isa in 0..supported_isas().count(),
        block in 1..8_usize,
        place in 0..10_000_usize,
    ) {
        let shape = shape(supported_isas().nth(isa).unwrap(), n, threads, block);
        let mut memory = vec![Line::default(); gemm::Layout::new(&shape).elements() / GROUP];
        // SAFETY: the memory has the size of the layout, and outlives the product.
        let product = unsafe { Gemm::at(memory.as_mut_ptr().cast(), shape) };
        let check = || {
            product.begin();
            on_all(threads, |i| product.check(i)).into_iter().collect::<Result<Vec<_>, _>>().map(drop)
        };
        on_all(threads, |i| product.fill(i));
        on_all(threads, |i| product.clear(i));
        prop_assert!(check().is_err(), "nothing was multiplied");
        on_all(threads, |i| product.multiply(i, &mut ClockSamples::default()));
        prop_assert_eq!(check(), Ok(()));
        let (row, column, other) = (place % n, place / n % n, place / 7 % n);
        let at = |which, row, column| product.element(which, row, column);
        // SAFETY: within the matrices, and no thread writes to them meanwhile.
        unsafe {
            let sum: f64 = (0..n).map(|k| *at(Which::A, row, k) * *at(Which::B, k, column)).sum();
            prop_assert!((*at(Which::C, row, column) - sum).abs() < 1e-13 * n as f64);
            // An error in one element, two exchanged elements, and a damaged operand.
            *at(Which::C, row, column) += 1e-6;
            let fault = check().unwrap_err();
            prop_assert!(fault.starts_with(&format!("row {row} of C")), "{}", fault);
            *at(Which::C, row, column) -= 1e-6;
            prop_assert_eq!(check(), Ok(()));
            if other != column {
                std::ptr::swap(at(Which::C, row, column), at(Which::C, row, other));
                prop_assert!(check().is_err(), "columns {} and {}", column, other);
                std::ptr::swap(at(Which::C, row, column), at(Which::C, row, other));
            }
            *at(Which::B, row, column) += 0.5;
            on_all(threads, |i| product.multiply(i, &mut ClockSamples::default()));
            prop_assert!(check().is_err(), "B is not what it was");
        }
    }
}

#[test]
fn a_singular_matrix_is_reported_to_every_thread() {
    type Matrix = Box<dyn Fn(usize, usize) -> f64 + Sync>;
    let n = 45;
    let cases: [(usize, Matrix); 5] = [
        (0, Box::new(|_, _| 0.0)),
        (17, Box::new(|r, c| if c == 17 { 0.0 } else { element(1, r, c) })),
        (44, Box::new(|r, c| if c == 44 { 0.0 } else { element(1, r, c) })),
        // The same column twice, with small whole numbers so that rounding cannot hide it.
        (1, Box::new(|_, c| if c < 2 { 1.0 } else { 0.0 })),
        (0, Box::new(|_, _| f64::NAN)),
    ];
    for (column, matrix) in &cases {
        for isa in supported_isas() {
            for threads in [1, 2, 3] {
                let singular = solve(shape(isa, n, threads, 2), matrix).unwrap_err();
                assert_eq!(singular, Singular(*column), "{isa:?} {threads}");
                let words =
                    format!("the matrix is singular or not finite: column {column} has no pivot");
                assert_eq!(singular.to_string(), words);
            }
        }
    }
}

#[test]
fn a_wrong_solution_does_not_pass() {
    let n = 30;
    let shape = shape(Isa::Scalar, n, 1, 2);
    let mut memory = vec![Line::default(); Layout::new(n).elements() / GROUP];
    // SAFETY: as in `solve`.
    let system = unsafe { System::at(memory.as_mut_ptr().cast(), shape) };
    let matrix = Kind::Random.matrix(n, 3);
    let normalised = |fault: f64| {
        system.begin();
        let attempt = system.attempt();
        system.fill(0, &matrix);
        if fault.is_nan() {
            // The system was not solved.
            return system.check(&attempt, 0, &matrix).normalised_residual;
        }
        system.solve(&attempt, 0, &mut ClockSamples::default()).unwrap();
        // SAFETY: nothing else uses the solution.
        unsafe { *system.x().as_ptr().cast_mut().add(7) *= 1.0 + fault };
        system.check(&attempt, 0, &matrix).normalised_residual
    };
    assert!(normalised(0.0) < 1.0);
    assert!(normalised(1e-9) > 16.0);
    assert!(normalised(f64::NAN).is_nan());
}
