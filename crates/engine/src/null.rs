//! Workloads that do nothing, to test the engine with.

use std::borrow::Cow;

use proofmark_model::{Better, Params, Role, Subsystem, Unit, Work, WorkloadSpec};

use crate::workload::{Amount, Load, Refusal, Setup, Workload};

const fn spec(id: &'static str, unit: Unit, interleave: bool) -> WorkloadSpec {
    WorkloadSpec {
        id: Cow::Borrowed(id),
        title: Cow::Borrowed("Nothing"),
        summary: Cow::Borrowed("Does nothing."),
        detail: Cow::Borrowed("Counts its iterations and does nothing else."),
        method: 1,
        subsystem: Subsystem::Cpu,
        unit,
        better: Better::Higher,
        parameters: Cow::Borrowed(&[]),
        ceilings: Cow::Borrowed(&[]),
        axis: None,
        interleave,
        work: Work::CORE,
        role: Role::NONE,
    }
}

static NULL_SPEC: WorkloadSpec = spec("test.null", Unit::OpPerSecond, true);
static WRONG_SPEC: WorkloadSpec = spec("test.wrong", Unit::OpPerSecond, true);
static TIME_SPEC: WorkloadSpec = spec("test.time", Unit::Second, false);

/// Counts its iterations.
pub(crate) static NULL: Null = Null { spec: &NULL_SPEC, wrong: false };
/// Finds its own result wrong.
pub(crate) static WRONG: Null = Null { spec: &WRONG_SPEC, wrong: true };
/// Tells the time of an operation; measured by itself.
pub(crate) static TIME: Null = Null { spec: &TIME_SPEC, wrong: false };
pub(crate) struct Null {
    spec: &'static WorkloadSpec,
    wrong: bool,
}

impl Workload for Null {
    fn spec(&self) -> &'static WorkloadSpec {
        self.spec
    }
    fn supports(&self, _: &Params) -> Result<(), Refusal> {
        Ok(())
    }
    fn setup(&self, params: &Params) -> Result<Box<dyn Setup>, Refusal> {
        Ok(Box::new(NullSetup { total: params.int("iterations").unwrap_or(1), wrong: self.wrong }))
    }
}

struct NullSetup {
    total: u64,
    wrong: bool,
}

impl Setup for NullSetup {
    fn amount(&self) -> Amount {
        Amount::Total(self.total)
    }
    fn work_per_iteration(&self) -> f64 {
        2.0
    }
    fn thread(&self, _: usize, _: usize) -> Result<Box<dyn Load>, Refusal> {
        Ok(Box::new(NullLoad { done: 0, wrong: self.wrong }))
    }
}

struct NullLoad {
    done: u64,
    wrong: bool,
}

impl Load for NullLoad {
    fn run(&mut self, iterations: u64) {
        self.done = std::hint::black_box(iterations);
    }
    fn verify(&mut self) -> Result<u64, String> {
        if self.wrong { Err("expected 1, found 2".to_owned()) } else { Ok(self.done) }
    }
}
