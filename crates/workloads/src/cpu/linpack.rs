//! `cpu.linpack`: a dense system of linear equations, solved as fast as this machine can.

use std::borrow::Cow;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use proofmark_engine::{Amount, ClockSamples, Load, Placement, Refusal, Setup, Workload};
use proofmark_model::{
    Host, Parameter, ParameterKind, Params, Solution, Subsystem, Unit, WorkloadSpec,
};

use super::dense::lu::Singular;
use super::dense::random::element;
use super::dense::solver::{Attempt, Layout, System};
use super::dense::{self, Shape};
use crate::arena::{Arena, Pages};
use crate::declare::{Words, parameter, rate};

/// The workload `cpu.linpack`.
pub struct Linpack;

const PARAMETERS: &[Parameter] = &[
    dense::THREADS,
    parameter(
        "n",
        "Equations, and unknowns; the matrix takes 8 n^2 bytes.",
        ParameterKind::Count { min: 1, max: dense::MOST },
        "5000",
    ),
    dense::ISA,
    dense::BLOCK,
];

static SPEC: WorkloadSpec = rate(
    Words {
        id: "cpu.linpack",
        title: "LINPACK",
        summary: "The rate at which all threads together solve a dense system of linear equations, \
                  A x = b.",
        detail: "A and b are random, between -1/2 and 1/2, new before each trial. The timed part is \
                 the factorisation of A by Gaussian elimination with partial pivoting, b taken along, and \
                 the back substitution; making A and b is not timed. As with HPL, the matrix lies in \
                 memory as suits the solver: groups of 8 columns, a row of a group in one line of \
                 64 bytes, so that exchanging two rows moves whole lines and no part is copied before \
                 it is multiplied. Panels of columns are factored recursively by one thread, as soon \
                 as their columns are up to date, while the others still update the rest (look-ahead); \
                 threads take chunks of columns in turn and wait only for what they need. Operations \
                 counted: 2/3 n^3 + 2 n^2. After each trial A and b are made again, and the residual \
                 |A x - b| over eps (|A| |x| + |b|) n, eps = 2^-53, must be below 16, the threshold of \
                 HPL. One trial is one solve, so small n has short trials.",
    },
    (Subsystem::Cpu, Unit::FlopPerSecond),
    PARAMETERS,
    Some("n"),
    &[Cow::Borrowed("cpu.peak")],
);

impl Workload for Linpack {
    fn spec(&self) -> &'static WorkloadSpec {
        &SPEC
    }

    fn resolve_auto(&self, params: Params, host: &Host) -> Vec<Params> {
        dense::resolve_auto(params, host, 256)
    }

    fn supports(&self, params: &Params) -> Result<(), Refusal> {
        Shape::of(&SPEC.id, params).map(drop)
    }

    fn setup(&self, params: &Params) -> Result<Box<dyn Setup>, Refusal> {
        let shape = Shape::of(&SPEC.id, params)?;
        let (bytes, threads) = (self.memory_bytes(params), shape.threads as u64);
        let arena = Arena::get(bytes, Pages::Huge, threads)?;
        arena.holds(&format!("{} {}", SPEC.id, shape.n));
        #[allow(unsafe_code)] // The system works on memory of the arena.
        // SAFETY: the arena is this point's alone as long as it lives, large enough for the
        // layout, and aligned to far more than a line.
        let system = unsafe { System::at(arena.base().cast(), shape) };
        let state = State {
            arena,
            bytes,
            shape,
            system,
            seed: AtomicU64::new(0),
            solution: Mutex::new(None),
        };
        Ok(Box::new(Point(Arc::new(state))))
    }

    fn memory_bytes(&self, params: &Params) -> u64 {
        let n = params.int("n").and_then(|n| usize::try_from(n).ok()).unwrap_or(0);
        8 * Layout::of(n).elements() as u64
    }

    fn verification(&self) -> &'static str {
        "the residual, with A and b made again"
    }

    fn nominal_seconds(&self, params: &Params) -> Option<f64> {
        dense::nominal_seconds(params, 2.0 / 3.0)
    }
}

/// What the threads of a point share.
struct State {
    arena: Arc<Arena>,
    bytes: u64,
    shape: Shape,
    system: System,
    /// Of the matrix of this trial.
    seed: AtomicU64,
    /// What came of the trial.
    solution: Mutex<Option<Solution>>,
}

struct Point(Arc<State>);

impl Setup for Point {
    fn amount(&self) -> Amount {
        Amount::Whole
    }

    fn work_per_iteration(&self) -> f64 {
        let n = self.0.shape.n as f64;
        (2.0 / 3.0 * n.powi(3) + 2.0 * n.powi(2)) / self.0.shape.threads as f64
    }

    fn begin_trial(&self) -> Result<(), Refusal> {
        self.0.seed.fetch_add(1, Ordering::Relaxed);
        self.0.system.begin();
        *self.0.solution.lock().unwrap_or_else(PoisonError::into_inner) = None;
        Ok(())
    }

    fn solution(&self) -> Option<Solution> {
        self.0.solution.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn placement(&self) -> Placement {
        self.0.arena.placement(self.0.bytes)
    }

    fn thread(&self, index: usize, _: usize) -> Result<Box<dyn Load>, Refusal> {
        let state = Arc::clone(&self.0);
        let attempt = state.system.attempt();
        let clock = ClockSamples::default();
        Ok(Box::new(SolveLoad { state, index, attempt, clock, outcome: Ok(false) }))
    }
}

/// One thread's part.
struct SolveLoad {
    state: Arc<State>,
    index: usize,
    attempt: Arc<Attempt>,
    clock: ClockSamples,
    /// Whether the last run solved the system.
    outcome: Result<bool, Singular>,
}

impl SolveLoad {
    fn element(&self) -> impl Fn(usize, usize) -> f64 + use<> {
        let seed = self.state.seed.load(Ordering::Relaxed);
        move |row, column| element(seed, row, column)
    }
}

impl Load for SolveLoad {
    fn prepare(&mut self, _: u64) {
        self.attempt = self.state.system.attempt();
        self.state.system.fill(self.index, self.element());
        dense::warm(&self.state.shape);
    }

    fn run(&mut self, iterations: u64) {
        self.outcome = Ok(false);
        self.clock.begin();
        if iterations > 0 {
            let solved = self.state.system.solve(&self.attempt, self.index, &mut self.clock);
            self.outcome = solved.map(|()| true);
        }
    }

    fn clock_samples(&self) -> Option<&ClockSamples> {
        Some(&self.clock)
    }

    fn verify(&mut self) -> Result<u64, String> {
        // A random matrix is never singular: something was worked out wrong.
        if !self.outcome.map_err(|singular| singular.to_string())? {
            return Ok(0);
        }
        let solution = self.state.system.check(&self.attempt, self.index, self.element());
        if !solution.normalised_residual.is_finite() {
            return Err("the solution holds numbers that are not finite".to_owned());
        }
        if self.index == 0 {
            let mut kept = self.state.solution.lock().unwrap_or_else(PoisonError::into_inner);
            *kept = Some(solution);
        }
        Ok(1) // Whether the residual passes is for the judge.
    }
}
