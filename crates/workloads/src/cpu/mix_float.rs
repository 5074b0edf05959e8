//! `cpu.mix.float`: the published floating-point instruction mixes.

use std::borrow::Cow;

use proofmark_engine::{Refusal, Setup, Workload};
use proofmark_model::{Better, Parameter, Params, Subsystem, Unit, WorkloadSpec};

use super::native;
use super::task::{self, Task};

/// The workload `cpu.mix.float`.
pub struct MixFloat;

const ISAS: &[Cow<'static, str>] = &[Cow::Borrowed("scalar"), Cow::Borrowed("avx2")];

const TYPES: &[Cow<'static, str>] = &[Cow::Borrowed("f64")];

const PARAMETERS: &[Parameter] = &[
    task::THREADS,
    task::MIX,
    task::isa_parameter(ISAS),
    task::type_parameter(TYPES, "f64"),
    task::ITERATIONS,
];

static SPEC: WorkloadSpec = WorkloadSpec {
    id: Cow::Borrowed("cpu.mix.float"),
    title: Cow::Borrowed("Floating-point instruction mix"),
    summary: Cow::Borrowed(
        "The rate of a fixed mix of floating-point operations, a fixed number of \
         iterations divided among the threads.",
    ),
    detail: Cow::Borrowed(
        "One pass of the loop is one iteration. add16 adds 16 times, to independent \
         registers. arith17 does 5 additions, 4 subtractions, 4 multiplications, 2 \
         divisions and 2 comparisons: a counter is multiplied by 3 and divided by 3, \
         another by 7, each quotient is compared with its counter, added to a sum and \
         the counter subtracted from it; x * 2 - 3 and x / 2 + 7 (by multiplication \
         with 1/2) stay at their fixed points 3 and 14. The dividends change at each \
         iteration and every result is exact. Counting the loop and moving operands is \
         not counted; a comparison counts as one operation. avx2 does every operation \
         on 4 lanes and each lane counts. The total of iterations is fixed and divided \
         among the threads (strong scaling). The final counters must stand for the \
         same number of iterations, and sums, fixed points and, with avx2, the \
         comparisons must hold what that number gives.",
    ),
    subsystem: Subsystem::Cpu,
    unit: Unit::OpPerSecond,
    better: Better::Higher,
    parameters: Cow::Borrowed(PARAMETERS),
    ceilings: Cow::Borrowed(&[Cow::Borrowed("cpu.mix")]),
    axis: None,
    interleave: true,
};

impl Workload for MixFloat {
    fn spec(&self) -> &'static WorkloadSpec {
        &SPEC
    }

    fn supports(&self, params: &Params) -> Result<(), Refusal> {
        self.setup(params).map(drop)
    }

    fn setup(&self, params: &Params) -> Result<Box<dyn Setup>, Refusal> {
        let variant = task::mix(&SPEC.id, native::MIX_FLOAT, params)?;
        Ok(Box::new(Task { variant, amount: task::total(params)? }))
    }

    fn nominal_seconds(&self, params: &Params) -> Option<f64> {
        task::nominal_seconds(params)
    }
}
