//! `cpu.iops`: the most integer additions a second, by instruction set.

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
    summary: Cow::Borrowed(
        "The most integer additions a second that one instruction set gives, on \
         numbers held in registers.",
    ),
    detail: Cow::Borrowed(
        "One register is added to many independent others, so that no instruction \
         waits for another and no memory is touched. Each addition of each lane is one \
         operation. The addend is a register and not a constant in the instruction, \
         which recent cores add without executing anything. On x86-64 the loop is \
         assembly, instruction by instruction; elsewhere it is plain Rust kept from \
         being folded. Every lane starts from a value of its own and the addend is a \
         large odd number, so that the final values, modulo 2^64 or 2^32, give back \
         the exact number of additions; every lane must agree.",
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
