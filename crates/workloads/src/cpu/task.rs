//! Selects the hot loop for the parameters of a point; all CPU workloads share it.

use std::borrow::Cow;

use proofmark_engine::{Amount, Load, Refusal, Setup};
use proofmark_model::{Parameter, ParameterKind, Params};

use super::isa::{Element, Isa};
use super::law::Law;
use super::work::{Variant, Work};
use crate::declare::threads_parameter;

pub(super) const THREADS: Parameter =
    threads_parameter("Threads, each pinned to a CPU; all run the same loop.", "1");

/// The `isa` parameter with these choices.
pub(super) const fn isa_parameter(choices: &'static [Cow<'static, str>]) -> Parameter {
    Parameter {
        name: Cow::Borrowed("isa"),
        about: Cow::Borrowed("Instruction set of the loop."),
        kind: ParameterKind::Choice(Cow::Borrowed(choices)),
        default: Cow::Borrowed("scalar"),
    }
}

/// The `type` parameter with these choices.
pub(super) const fn type_parameter(
    choices: &'static [Cow<'static, str>],
    default: &'static str,
) -> Parameter {
    Parameter {
        name: Cow::Borrowed("type"),
        about: Cow::Borrowed("Number type."),
        kind: ParameterKind::Choice(Cow::Borrowed(choices)),
        default: Cow::Borrowed(default),
    }
}

pub(super) const MIX: Parameter = Parameter {
    name: Cow::Borrowed("mix"),
    about: Cow::Borrowed(
        "Operations per iteration: add16 (16 additions) or arith17 (5 additions, 4 subtractions, 4 \
         multiplications, 2 divisions, 2 comparisons).",
    ),
    kind: ParameterKind::Choice(Cow::Borrowed(MIXES)),
    default: Cow::Borrowed("add16"),
};

const MIXES: &[Cow<'static, str>] = &[Cow::Borrowed("add16"), Cow::Borrowed("arith17")];

pub(super) const ITERATIONS: Parameter = Parameter {
    name: Cow::Borrowed("iterations"),
    about: Cow::Borrowed("Total iterations of the loop, divided among the threads."),
    kind: ParameterKind::Count { min: 1, max: 1_000_000_000_000 },
    default: Cow::Borrowed("1000000000"),
};

/// The loop of a peak workload.
pub(super) fn peak(workload: &str, table: &[Variant], params: &Params) -> Result<Variant, Refusal> {
    find(workload, table, params, |_| true)
}

/// The loop of a mix workload.
pub(super) fn mix(workload: &str, table: &[Variant], params: &Params) -> Result<Variant, Refusal> {
    match text(params, "mix")? {
        "add16" => find(workload, table, params, |law| matches!(law, Law::Sum { .. })),
        "arith17" => find(workload, table, params, |law| matches!(law, Law::Arithmetic { .. })),
        other => Err(Refusal(format!("{workload} has no mix '{other}'"))),
    }
}

fn find(
    workload: &str,
    table: &[Variant],
    params: &Params,
    law: impl Fn(&Law) -> bool,
) -> Result<Variant, Refusal> {
    let (isa, element) = (text(params, "isa")?, text(params, "type")?);
    let Some(isa) = Isa::parse(isa) else {
        return Err(Refusal(format!("{workload} has no instruction set '{isa}'")));
    };
    let Some(element) = Element::parse(element) else {
        return Err(Refusal(format!("{workload} has no type '{element}'")));
    };
    if !isa.is_supported() {
        return Err(Refusal(format!("this CPU does not support {}", isa.name())));
    }
    table.iter().find(|v| v.isa == isa && v.element == element && law(&v.law)).copied().ok_or_else(
        || {
            let (isa, element) = (isa.name(), element.name());
            Refusal(format!("{workload} has no {isa} loop for {element} on this architecture"))
        },
    )
}

fn text<'a>(params: &'a Params, parameter: &str) -> Result<&'a str, Refusal> {
    params.text(parameter).ok_or_else(|| Refusal(format!("{parameter} is not set")))
}

/// The total of a mix workload.
pub(super) fn total(params: &Params) -> Result<Amount, Refusal> {
    let iterations = params.int("iterations");
    iterations.map(Amount::Total).ok_or_else(|| Refusal("iterations is not set".to_owned()))
}

/// Estimated duration of a trial of a mix workload, at 4 GHz: 4 plain additions per cycle, 1
/// operation per cycle of a mix with divisions.
pub(super) fn nominal_seconds(params: &Params) -> Option<f64> {
    let cpus = std::thread::available_parallelism().map_or(1, |n| n.get() as u64);
    let together = params.threads().clamp(1, cpus) as f64;
    let cycles = if params.text("mix")? == "arith17" { 17.0 } else { 4.0 };
    Some(params.int("iterations")? as f64 * cycles / 4e9 / together)
}

/// What the threads of a point share: which loop they run.
pub(super) struct Task {
    pub(super) variant: Variant,
    pub(super) amount: Amount,
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

    use super::super::{Flops, Iops, MixFloat, MixInt};
    use super::*;

    #[test]
    fn every_supported_point_proves_its_work_on_every_thread() {
        for workload in [&Flops as &dyn Workload, &Iops, &MixInt, &MixFloat] {
            let mut ran = 0;
            let fixed = Params::default().with("threads", 2).with("iterations", 1_000_001);
            for params in workload.spec().choices(fixed) {
                let id = &workload.spec().id;
                if let Err(refusal) = workload.supports(&params) {
                    eprintln!("skipped {id} {params:?}: {refusal}");
                    assert!(workload.setup(&params).is_err());
                    continue;
                }
                let setup = workload.setup(&params).unwrap();
                let each = match setup.amount() {
                    Amount::Calibrated => 100_001,
                    Amount::Total(n) => n / 2,
                    Amount::Whole => unreachable!("no such workload here"),
                };
                std::thread::scope(|scope| {
                    for index in 0..2 {
                        let setup = &setup;
                        scope.spawn(move || {
                            let mut load = setup.thread(index, 2).unwrap();
                            for n in [each, 1, 7] {
                                load.run(n);
                                assert_eq!(load.verify(), Ok(n), "{id} {params:?}", params = n);
                            }
                        });
                    }
                });
                ran += 1;
            }
            assert!(ran >= 2, "{} ran {ran} points", workload.spec().id);
        }
    }

    #[test]
    fn what_cannot_run_is_refused_with_the_reason() {
        let point = |isa: &str, of: &str| Params::default().with("isa", isa).with("type", of);
        let refused =
            |workload: &dyn Workload, p: &Params| workload.supports(p).unwrap_err().to_string();
        assert_eq!(refused(&Flops, &point("mmx", "f64")), "cpu.flops has no instruction set 'mmx'");
        assert_eq!(refused(&Flops, &point("scalar", "f16")), "cpu.flops has no type 'f16'");
        assert!(refused(&Flops, &point("scalar", "i64")).contains("no scalar loop for i64"));
        assert_eq!(refused(&Flops, &Params::default()), "isa is not set");
        let division = point("avx2", "i64").with("mix", "arith17").with("iterations", 10);
        assert!(refused(&MixInt, &division).contains("no vector division of integers"));
        assert_eq!(
            refused(&MixInt, &point("scalar", "i64").with("mix", "add16")),
            "iterations is not set"
        );
    }

    #[test]
    fn an_isa_that_is_not_here_is_refused() {
        for isa in Isa::ALL {
            let params = Params::default().with("isa", isa.name()).with("type", "f64");
            let refusal = Flops.supports(&params);
            assert_eq!(refusal.is_ok(), isa.is_supported(), "{isa:?}: {refusal:?}");
            if !isa.is_supported() {
                let text = refusal.unwrap_err().to_string();
                assert_eq!(text, format!("this CPU does not support {}", isa.name()));
            }
        }
    }

    #[test]
    fn a_trial_of_a_mix_takes_as_long_as_its_iterations() {
        let seconds = |n: u64| {
            let mix = Params::default().with("mix", "add16").with("iterations", n);
            MixInt.nominal_seconds(&mix.with("threads", 1))
        };
        assert_eq!(seconds(1_000_000_000), Some(1.0));
        assert_eq!(seconds(2_000_000_000), Some(2.0));
        assert_eq!(Flops.nominal_seconds(&Params::default()), None);
    }

    #[test]
    fn the_mixes_hold_the_operations_of_their_names() {
        for (isa, mix, operations) in [
            ("scalar", "add16", 16.0),
            ("scalar", "arith17", 17.0),
            ("avx2", "add16", 64.0),
            ("avx2", "arith17", 68.0),
        ] {
            let params = Params::default()
                .with("isa", isa)
                .with("type", "f64")
                .with("mix", mix)
                .with("iterations", 1_000);
            match MixFloat.setup(&params) {
                Ok(setup) => {
                    assert_eq!(setup.work_per_iteration(), operations);
                    assert_eq!(setup.amount(), Amount::Total(1_000));
                }
                Err(refusal) => eprintln!("skipped {isa} {mix}: {refusal}"),
            }
        }
    }
}
