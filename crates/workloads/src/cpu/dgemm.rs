//! `cpu.dgemm`: the product of two dense matrices.

use std::sync::Arc;

use proofmark_engine::{
    Amount, ClockSamples, Configuration, Load, Needs, Placement, Refusal, Setup, Workload,
};
use proofmark_model::{Host, Parameter, Params, Role, WorkloadSpec};

use super::dense::gemm::{Gemm, Layout};
use super::dense::{self, Shape};
use crate::arena::Arena;
use crate::declare::Words;

pub struct Dgemm;

const PARAMETERS: &[Parameter] = &dense::parameters(
    "Rows and columns of each matrix; the three matrices take 24 n^2 bytes.",
    "4000",
);

static SPEC: WorkloadSpec = dense::spec(
    Words {
        id: "cpu.dgemm",
        title: "Matrix product",
        summary: "The rate at which all threads together multiply two dense matrices: C = A B.",
        detail: "A and B hold random numbers between -1/2 and 1/2. All three matrices are stored \
                 row by row. Each thread computes its own rectangle of C. It copies blocks of B, \
                 which stay in the L2 cache, into groups of 8 columns; one row of a group is one \
                 64-byte line. It reads A in place and keeps the sums in registers. The copying is \
                 timed. proofmark counts 2 n^3 operations. Verification: after each trial \
                 proofmark generates A and B again and compares C v with A (B v) for a new random \
                 vector v. An element of C that is wrong by more than rounding makes its row \
                 differ.",
        // Version 1 kept the sums of most AVX-512 loops in memory, not in registers.
        method: 2,
    },
    PARAMETERS,
    ROLE,
);

const ROLE: Role = Role::NONE;

impl Workload for Dgemm {
    fn spec(&self) -> &'static WorkloadSpec {
        &SPEC
    }

    fn resolve_auto(&self, params: Params, host: &Host) -> Vec<Params> {
        dense::resolve_auto(params, host, 400)
    }

    fn configure(&self, params: &Params) -> Result<Box<dyn Configuration>, Refusal> {
        Ok(Box::new(Parsed(Shape::from_params(&SPEC.id, params)?)))
    }

    fn verification(&self) -> &'static str {
        "the product with a random vector"
    }
}

struct Parsed(Shape);

impl Configuration for Parsed {
    fn needs(&self) -> Needs {
        dense::needs(&self.0, Layout::new(&self.0).elements(), 2.0)
    }

    fn setup(self: Box<Self>) -> Result<Box<dyn Setup>, Refusal> {
        let (shape, bytes) = (self.0, self.needs().memory_bytes);
        let arena = dense::arena(&SPEC.id, bytes, &shape)?;
        #[allow(unsafe_code)] // The product works on memory of the arena.
        // SAFETY: only this configuration uses the arena while it lives. The arena is large enough
        // for the layout and aligned to far more than a line.
        let gemm = unsafe { Gemm::at(arena.base().cast(), shape) };
        Ok(Box::new(Point(Arc::new(State { arena, bytes, shape, gemm }))))
    }
}

struct State {
    arena: Arc<Arena>,
    bytes: u64,
    shape: Shape,
    gemm: Gemm,
}

struct Point(Arc<State>);

impl Setup for Point {
    fn amount(&self) -> Amount {
        Amount::Whole
    }

    fn work_per_iteration(&self) -> f64 {
        2.0 * (self.0.shape.n as f64).powi(3) / self.0.shape.threads as f64
    }

    fn begin_trial(&self) -> Result<(), Refusal> {
        self.0.gemm.begin();
        Ok(())
    }

    fn placement(&self) -> Placement {
        self.0.arena.placement(self.0.bytes)
    }

    fn thread(&self, index: usize, _: usize) -> Result<Box<dyn Load>, Refusal> {
        self.0.gemm.fill(index);
        let (state, clock) = (Arc::clone(&self.0), ClockSamples::default());
        Ok(Box::new(ProductLoad { state, index, clock, ran: 0 }))
    }
}

struct ProductLoad {
    state: Arc<State>,
    index: usize,
    clock: ClockSamples,
    ran: u64,
}

impl Load for ProductLoad {
    fn prepare(&mut self, _: u64) {
        self.state.gemm.clear(self.index);
        dense::warm(&self.state.shape);
    }

    fn begin(&mut self) {
        self.ran = 0;
    }

    fn run(&mut self, iterations: u64) {
        if self.ran == 0 {
            self.clock.begin();
        }
        self.ran += iterations;
        for _ in 0..iterations {
            self.state.gemm.multiply(self.index, &mut self.clock);
        }
    }

    fn clock_samples(&self) -> Option<&ClockSamples> {
        Some(&self.clock)
    }

    fn verify(&mut self) -> Result<u64, String> {
        if self.ran > 0 {
            self.state.gemm.check(self.index)?;
        }
        Ok(self.ran)
    }
}
