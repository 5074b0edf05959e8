//! `cpu.flops`: peak floating-point rate, by instruction set.

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
        "Peak rate of additions and multiplications on registers, by instruction set.",
    ),
    detail: Cow::Borrowed(
        "The loop multiplies many independent registers by 1 and adds 1 to them. No instruction \
         waits for another, and no memory is touched. scalar, sse2 and avx2 run equal numbers of \
         multiplications and additions. avx2+fma and avx512 use fused multiply-adds. Each \
         multiplication and each addition of each lane counts as one operation, so a fused \
         instruction on 4 lanes counts 8. On x86-64 the loop is assembly. On other architectures \
         it is Rust that the compiler cannot simplify. Verification: every lane starts from its \
         own value and must end exactly 1 higher per addition. proofmark derives the number of \
         iterations from these values, at least once per 8388608 additions, while f32 still counts \
         exactly.",
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
