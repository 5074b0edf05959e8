//! `cpu.linpack`: solves a dense system of linear equations.

use std::borrow::Cow;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use proofmark_engine::{
    Amount, ClockSamples, Configuration, Load, Needs, Placement, Refusal, Setup, Workload,
};
use proofmark_model::{
    Host, Parameter, Params, PickedValue, Role, Solution, WorkloadSpec, key, lock,
};

use super::dense::lu::Singular;
use super::dense::random::element;
use super::dense::solver::{Attempt, Layout, System};
use super::dense::{self, Shape};
use crate::arena::Arena;
use crate::declare::{ALL_CPUS, BEST_ISA, Words, main_row, pick};

pub struct Linpack;

const PARAMETERS: &[Parameter] =
    &dense::parameters("Number of equations and unknowns; the matrix takes 8 n^2 bytes.", "5000");

static SPEC: WorkloadSpec = dense::spec(
    Words {
        id: "cpu.linpack",
        title: "LINPACK",
        summary: "The rate at which all threads together solve a dense system of linear equations: \
                  A x = b.",
        detail: "A and b hold random numbers between -1/2 and 1/2, new for each trial. Timed: the \
                 LU factorisation of A (Gaussian elimination with partial pivoting, b included) \
                 and the back substitution. Generating A and b is not timed. As in HPL, the solver \
                 chooses the matrix layout: groups of 8 columns, one row of a group per 64-byte \
                 line. Exchanging two rows then moves whole lines, and no operand is copied before \
                 it is multiplied. One thread factors each panel recursively as soon as its \
                 columns are up to date, while the other threads still update the rest \
                 (look-ahead). Threads take chunks of columns in order and wait only for what they \
                 need. proofmark counts 2/3 n^3 + 2 n^2 operations. Verification: after each trial \
                 proofmark generates A and b again. The residual |A x - b| / (eps (|A| |x| + |b|) \
                 n), eps = 2^-53, must be below 16, the HPL threshold. One trial is one complete \
                 solve, so trials with small n are short.",
        method: 1,
    },
    PARAMETERS,
    ROLE,
);

const ROLE: Role = Role {
    main_rows: Cow::Borrowed(
        const {
            &[main_row(
                5,
                "LINPACK",
                const { &[ALL_CPUS, pick(key::MATRIX_SIZE, PickedValue::Largest), BEST_ISA] },
            )]
        },
    ),
    ..Role::NONE
};

impl Workload for Linpack {
    fn spec(&self) -> &'static WorkloadSpec {
        &SPEC
    }

    fn resolve_auto(&self, params: Params, host: &Host) -> Vec<Params> {
        dense::resolve_auto(params, host, 256)
    }

    fn configure(&self, params: &Params) -> Result<Box<dyn Configuration>, Refusal> {
        Ok(Box::new(Parsed(Shape::from_params(&SPEC.id, params)?)))
    }

    fn verification(&self) -> &'static str {
        "the residual, with A and b generated again"
    }
}

struct Parsed(Shape);

impl Configuration for Parsed {
    fn needs(&self) -> Needs {
        dense::needs(&self.0, Layout::new(self.0.n).elements(), 2.0 / 3.0)
    }

    fn setup(self: Box<Self>) -> Result<Box<dyn Setup>, Refusal> {
        let (shape, bytes) = (self.0, self.needs().memory_bytes);
        let arena = dense::arena(&SPEC.id, bytes, &shape)?;
        #[allow(unsafe_code)] // The system works on memory of the arena.
        // SAFETY: only this configuration uses the arena while it lives. The arena is large enough
        // for the layout and aligned to far more than a line.
        let system = unsafe { System::at(arena.base().cast(), shape) };
        let (seed, solution) = (AtomicU64::new(0), Mutex::new(None));
        Ok(Box::new(Point(Arc::new(State { arena, bytes, shape, system, seed, solution }))))
    }
}

struct State {
    arena: Arc<Arena>,
    bytes: u64,
    shape: Shape,
    system: System,
    seed: AtomicU64,
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
        *lock(&self.0.solution) = None;
        Ok(())
    }

    fn solution(&self) -> Option<Solution> {
        lock(&self.0.solution).clone()
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

struct SolveLoad {
    state: Arc<State>,
    index: usize,
    attempt: Arc<Attempt>,
    clock: ClockSamples,
    /// True if a run solved the system.
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

    fn begin(&mut self) {
        self.outcome = Ok(false);
    }

    fn run(&mut self, iterations: u64) {
        if self.outcome != Ok(false) {
            return; // Each trial has one system to solve.
        }
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
        // A random matrix is practically never singular, so this is a computation error.
        if !self.outcome.map_err(|singular| singular.to_string())? {
            return Ok(0);
        }
        let solution = self.state.system.check(&self.attempt, self.index, self.element());
        if !solution.normalised_residual.is_finite() {
            return Err("the solution contains numbers that are not finite".to_owned());
        }
        if self.index == 0 {
            let mut kept = lock(&self.state.solution);
            *kept = Some(solution);
        }
        Ok(1) // The check `residual` applies the threshold.
    }
}
