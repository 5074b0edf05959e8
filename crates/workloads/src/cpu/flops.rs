//! `cpu.flops`: the most floating-point operations a second, by instruction set.

use std::borrow::Cow;

use proofmark_engine::{Amount, Refusal, Setup, Workload};
use proofmark_model::{Better, Parameter, Params, Subsystem, Unit, WorkloadSpec};

use super::native;
use super::task::{self, Task};

/// The workload `cpu.flops`.
pub struct Flops;

const ISAS: &[Cow<'static, str>] = &[
    Cow::Borrowed("scalar"),
    Cow::Borrowed("sse2"),
    Cow::Borrowed("avx2"),
    Cow::Borrowed("avx2+fma"),
    Cow::Borrowed("avx512"),
];

const TYPES: &[Cow<'static, str>] = &[Cow::Borrowed("f64"), Cow::Borrowed("f32")];

const PARAMETERS: &[Parameter] =
    &[task::THREADS, task::isa_parameter(ISAS), task::type_parameter(TYPES, "f64")];

static SPEC: WorkloadSpec = WorkloadSpec {
    id: Cow::Borrowed("cpu.flops"),
    title: Cow::Borrowed("Floating-point peak"),
    summary: Cow::Borrowed(
        "The most additions and multiplications a second that one instruction set \
         gives, on numbers held in registers.",
    ),
    detail: Cow::Borrowed(
        "Many independent registers are each multiplied by 1 and have 1 added, so that \
         no instruction waits for another and no memory is touched. scalar, sse2 and \
         avx2 use a multiplication and an addition, as many of one as of the other; \
         avx2+fma and avx512 use one fused instruction for both. Each multiplication \
         and each addition of each lane is one operation, so a fused instruction on 4 \
         lanes is 8. On x86-64 the loop is assembly, instruction by instruction; \
         elsewhere it is plain Rust kept from being folded. Every lane starts from a \
         value of its own and must end exactly one higher for each addition; the \
         iterations are counted from these values, at least every 8388608 additions, \
         before an f32 would stop counting exactly.",
    ),
    subsystem: Subsystem::Cpu,
    unit: Unit::FlopPerSecond,
    better: Better::Higher,
    parameters: Cow::Borrowed(PARAMETERS),
    ceilings: Cow::Borrowed(&[Cow::Borrowed("cpu.peak")]),
    axis: None,
    interleave: true,
};

impl Workload for Flops {
    fn spec(&self) -> &'static WorkloadSpec {
        &SPEC
    }

    fn supports(&self, params: &Params) -> Result<(), Refusal> {
        self.setup(params).map(drop)
    }

    fn setup(&self, params: &Params) -> Result<Box<dyn Setup>, Refusal> {
        let variant = task::peak(&SPEC.id, native::FLOPS, params)?;
        Ok(Box::new(Task { variant, amount: Amount::Calibrated }))
    }
}
