//! `cpu.iops`: peak integer addition rate, by instruction set.

use std::borrow::Cow;

use proofmark_engine::{Amount, Refusal, Setup, Workload};
use proofmark_model::{Better, Parameter, Params, Subsystem, Unit, WorkloadSpec};

use super::native;
use super::task::{self, Task};

/// The workload `cpu.iops`.
pub struct Iops;

const ISAS: &[Cow<'static, str>] = &[
    Cow::Borrowed("scalar"),
    Cow::Borrowed("sse2"),
    Cow::Borrowed("avx2"),
    Cow::Borrowed("avx512"),
];

const TYPES: &[Cow<'static, str>] = &[Cow::Borrowed("i64"), Cow::Borrowed("i32")];

const PARAMETERS: &[Parameter] =
    &[task::THREADS, task::isa_parameter(ISAS), task::type_parameter(TYPES, "i64")];

static SPEC: WorkloadSpec = WorkloadSpec {
    id: Cow::Borrowed("cpu.iops"),
    title: Cow::Borrowed("Integer peak"),
    summary: Cow::Borrowed("Peak rate of integer additions on registers, by instruction set."),
    detail: Cow::Borrowed(
        "The loop adds one register to many independent others. No instruction waits for another, \
         and no memory is touched. Each addition of each lane counts as one operation. The addend \
         is in a register: recent cores execute additions of a constant without using an execution \
         port. On x86-64 the loop is assembly. On other architectures it is Rust that the compiler \
         cannot simplify. Verification: every lane starts from its own value, and the addend is a \
         large odd number. The final values, modulo 2^64 or 2^32, give the exact number of \
         additions. All lanes must agree.",
    ),
    subsystem: Subsystem::Cpu,
    unit: Unit::OpPerSecond,
    better: Better::Higher,
    parameters: Cow::Borrowed(PARAMETERS),
    ceilings: Cow::Borrowed(&[Cow::Borrowed("cpu.peak")]),
    axis: None,
    interleave: true,
};

impl Workload for Iops {
    fn spec(&self) -> &'static WorkloadSpec {
        &SPEC
    }

    fn supports(&self, params: &Params) -> Result<(), Refusal> {
        self.setup(params).map(drop)
    }

    fn setup(&self, params: &Params) -> Result<Box<dyn Setup>, Refusal> {
        let variant = task::peak(&SPEC.id, native::IOPS, params)?;
        Ok(Box::new(Task { variant, amount: Amount::Calibrated }))
    }
}
