//! Selects the hot loop for the parameters of a configuration. Shared by the CPU loop workloads.

use std::borrow::Cow;

use proofmark_engine::{Amount, Configuration, Load, Needs, Refusal, Setup};
use proofmark_model::{Parameter, Params, Role, Subsystem, Unit, WorkloadSpec, key, word};

use super::isa::{Element, Isa, OnThisCpu};
use super::law::Law;
use super::work::{Variant, Work};
use crate::declare::{
    Words, choice_parameter, count_parameter, interleaved, rate, threads_parameter, words,
};
use crate::params;

pub(super) const THREADS: Parameter =
    threads_parameter("Threads, each pinned to a CPU; all run the same loop.", "1");

pub(super) const fn isa_parameter(choices: &'static [Cow<'static, str>]) -> Parameter {
    choice_parameter(key::ISA, "Instruction set of the loop.", choices, "scalar")
}

pub(super) const fn type_parameter(
    choices: &'static [Cow<'static, str>],
    default: &'static str,
) -> Parameter {
    choice_parameter(key::NUMBER_TYPE, "Number type.", choices, default)
}

pub(super) const MIX: Parameter = choice_parameter(
    key::MIX,
    "Operations per iteration: add16 (16 additions) or arith17 (5 additions, 4 subtractions, 4 \
     multiplications, 2 divisions, 2 comparisons).",
    const { &words(["add16", "arith17"]) },
    "add16",
);

pub(super) const ITERATIONS: Parameter = count_parameter(
    key::ITERATIONS,
    "Total iterations of the loop, divided among the threads.",
    1..=1_000_000_000_000,
    "1000000000",
);

/// Returns the declaration of a workload that computes in registers.
pub(super) const fn spec(
    words: Words,
    unit: Unit,
    parameters: &'static [Parameter],
    ceilings: &'static [Cow<'static, str>],
    role: Role,
) -> WorkloadSpec {
    let what = (Subsystem::Cpu, unit);
    interleaved(rate(words, what, parameters, None, ceilings, proofmark_model::Work::CORE, role))
}

/// Returns the hot loop of a table that the parameters name. `mixed`: the parameters name a mix.
pub(super) fn find(
    workload: &str,
    table: &[Variant],
    params: &Params,
    mixed: bool,
) -> Result<Variant, Refusal> {
    let types = Element::ALL.map(|element| (element.name(), element));
    let element = params::choice(params, key::NUMBER_TYPE, &types)?;
    let divides =
        mixed && params::choice(params, key::MIX, &[(word::ADD16, false), (word::ARITH17, true)])?;
    if divides && element == Element::I64 && params.get(key::ISA) == Some(Isa::Avx2.name()) {
        let reason = "arith17 has no avx2: there is no vector division of integers";
        return Err(Refusal(reason.to_owned()));
    }
    let isa = Isa::for_this_cpu(params)?;
    let fits = |v: &&Variant| {
        (v.isa, v.element, matches!(v.law, Law::Arithmetic { .. })) == (isa, element, divides)
    };
    table.iter().find(fits).copied().ok_or_else(|| {
        let (isa, name) = (isa.name(), element.name());
        Refusal(format!("{workload} has no {isa} loop for {name} on this architecture"))
    })
}

/// Returns how many of these threads can run at the same time.
pub(super) fn concurrent_threads(threads: u64) -> f64 {
    let cpus = std::thread::available_parallelism().map_or(1, |n| n.get() as u64);
    threads.clamp(1, cpus) as f64
}

/// A loop and the amount of it that a trial runs.
pub(super) struct Task {
    pub(super) variant: Variant,
    pub(super) amount: Amount,
    pub(super) threads: u64,
}

impl Configuration for Task {
    /// Estimates the seconds of a mix at 4 GHz: 4 plain additions per cycle, or 1 operation with
    /// divisions.
    fn needs(&self) -> Needs {
        let Amount::Total(iterations) = self.amount else { return Needs::default() };
        let divides = matches!(self.variant.law, Law::Arithmetic { .. });
        let cycles = if divides { 17.0 } else { 4.0 };
        let seconds = iterations as f64 * cycles / 4e9 / concurrent_threads(self.threads);
        Needs { fixed_s: Some(seconds), ..Needs::default() }
    }

    fn setup(self: Box<Self>) -> Result<Box<dyn Setup>, Refusal> {
        Ok(self)
    }
}

impl Setup for Task {
    fn amount(&self) -> Amount {
        self.amount
    }

    fn work_per_iteration(&self) -> f64 {
        self.variant.operations() as f64
    }

    fn thread(&self, _: usize, _: usize) -> Result<Box<dyn Load>, Refusal> {
        Ok(Box::new(Work::new(self.variant)))
    }
}

#[cfg(test)]
mod tests {
    use proofmark_engine::Workload;

    use super::super::{FLOPS, IOPS, MIX_FLOAT, MIX_INT};
    use super::*;
    use crate::params::testing::{WorkloadExt, params, prove};

    #[test]
    fn every_supported_point_proves_its_work_on_every_thread() {
        for workload in [&FLOPS, &IOPS, &MIX_INT, &MIX_FLOAT] {
            let mut ran = 0;
            let id = &workload.spec().id;
            for params in workload.spec().choices(params("threads=2 iterations=1000001")) {
                let setup = match workload.setup(&params) {
                    Ok(setup) => setup,
                    Err(refusal) => {
                        eprintln!("skipped {id} {params:?}: {refusal}");
                        assert_eq!(workload.refusal(&params), Some(refusal.0));
                        continue;
                    }
                };
                let each = match setup.amount() {
                    Amount::Calibrated => 100_001,
                    Amount::Total(n) => n / 2,
                    Amount::Whole => unreachable!("no such workload here"),
                };
                prove(&*setup, 2, &[each, 1, 7], &format!("{id} {params:?}"));
                ran += 1;
            }
            assert!(ran >= 2, "{id} ran {ran} points");
        }
    }

    #[test]
    fn unsupported_parameters_are_refused_with_the_reason() {
        for (workload, words, reason) in [
            (&FLOPS, "isa=mmx type=f64", "isa has no value 'mmx'"),
            (&FLOPS, "isa=scalar type=f16", "type has no value 'f16'"),
            (
                &FLOPS,
                "isa=scalar type=i64",
                "cpu.flops has no scalar loop for i64 on this architecture",
            ),
            (&FLOPS, "type=f64", "isa is not set"),
            (
                &MIX_INT,
                "isa=avx2 type=i64 mix=arith17 iterations=10",
                "arith17 has no avx2: there is no vector division of integers",
            ),
            (&MIX_INT, "isa=scalar type=i64 mix=add16", "iterations is not set"),
        ] {
            assert_eq!(workload.refusal(&params(words)).as_deref(), Some(reason), "{words}");
        }
        for isa in Isa::ALL {
            let refusal = FLOPS.refusal(&params("type=f64").with(key::ISA, isa.name()));
            let reason = format!("this CPU does not support {}", isa.name());
            assert_eq!(refusal, (!isa.is_supported()).then_some(reason));
        }
    }

    #[test]
    fn a_trial_of_a_mix_takes_as_long_as_its_iterations() {
        for (iterations, seconds) in [(1_000_000_000_u64, 1.0), (2_000_000_000, 2.0)] {
            let mix =
                params("mix=add16 threads=1 isa=scalar type=f64").with(key::ITERATIONS, iterations);
            assert_eq!(MIX_FLOAT.needs(&mix).fixed_s, Some(seconds));
            assert_eq!(FLOPS.refusal(&mix), None);
            assert_eq!(FLOPS.needs(&mix).fixed_s, None);
        }
    }

    #[test]
    fn the_mixes_hold_the_operations_of_their_names() {
        for (words, operations) in [
            ("isa=scalar mix=add16", 16.0),
            ("isa=scalar mix=arith17", 17.0),
            ("isa=avx2 mix=add16", 64.0),
            ("isa=avx2 mix=arith17", 68.0),
        ] {
            match MIX_FLOAT.setup(&params(&format!("{words} type=f64 iterations=1000"))) {
                Ok(setup) => {
                    assert_eq!(setup.work_per_iteration(), operations, "{words}");
                    assert_eq!(setup.amount(), Amount::Total(1_000));
                }
                Err(refusal) => eprintln!("skipped {words}: {refusal}"),
            }
        }
    }
}
