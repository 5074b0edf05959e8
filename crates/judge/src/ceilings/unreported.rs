//! Ceilings of imported results whose output lacks parameters, such as the number of threads: the
//! greatest that this machine allows.

use std::collections::BTreeSet;

use proofmark_model::{Ceiling, Host, Isa, Key, Measurement, Params, key};

use super::{derive_as_reported, is_looser};
use crate::Context;

/// Derives the ceiling of an imported result: the greatest that this machine allows for the
/// parameters that its output lacks (threads, instruction set). Fails like [`super::derive`].
pub(super) fn derive(ctx: &Context, m: &Measurement) -> Result<Ceiling, String> {
    let all = candidates(ctx, m);
    let derived = all.iter().map(|m| derive_as_reported(ctx, m)).reduce(|best, other| {
        match (&best, &other) {
            (Ok(a), Ok(b)) if is_looser(m.better, b, a) => other,
            (Err(_), Ok(_)) => other,
            _ => best,
        }
    });
    let mut ceiling = derived.unwrap_or_else(|| derive_as_reported(ctx, m))?;
    let unknown = all.iter().flat_map(|with| with.params.0.keys());
    let unknown: BTreeSet<_> = unknown.filter(|name| m.params.named(name).is_none()).collect();
    if let Some(first) = ceiling.inputs.first_mut() {
        for name in unknown {
            let note =
                format!("the output does not report its {name}: the most that this machine has");
            first.note = [&*first.note, &*note].join("; ").trim_start_matches("; ").to_owned();
        }
    }
    Ok(ceiling)
}

/// The imported result with values for the parameters that its output lacks: all usable CPUs, and
/// each instruction set of this machine.
pub(super) fn candidates(ctx: &Context, m: &Measurement) -> Vec<Measurement> {
    let cpus = ctx.host.limits.usable_cpus.len() as u64;
    let threads = Params::THREADS.into_iter().find(|key| lacks(ctx, m, *key));
    let params = match threads {
        Some(key) => m.params.clone().with(key, cpus),
        None => m.params.clone(),
    };
    let with = |params| Measurement { params, ..m.clone() };
    match lacks(ctx, m, key::ISA) {
        false => vec![with(params)],
        true => isas(ctx.host).map(|isa| with(params.clone().with(key::ISA, isa.name()))).collect(),
    }
}

/// Returns true if the workload has the parameter but the result lacks it.
fn lacks<T>(ctx: &Context, m: &Measurement, key: Key<T>) -> bool {
    !m.params.has(key) && ctx.spec(m).is_some_and(|spec| spec.has(key))
}

/// The instruction sets of the workloads that this machine has, the widest first.
fn isas(host: &Host) -> impl Iterator<Item = Isa> {
    let has = |flag: &&str| host.cpu.isa.get().is_some_and(|all| all.iter().any(|f| f == flag));
    Isa::ALL.into_iter().rev().filter(move |isa| isa.flags().iter().all(has))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::checks;
    use crate::testing::*;

    #[test]
    fn unreported_parameters_give_the_greatest_ceiling() {
        let host = host();
        let mut bare = linpack(2000, 1);
        bare.params.0.remove(key::ISA.name());
        bare.params.0.remove(key::THREADS.name());
        let ctx = context_on(&host);
        assert!(derive_as_reported(&ctx, &bare).is_err(), "no isa");
        let found = derive(&ctx, &bare).unwrap();
        let all = host.limits.usable_cpus.len() as u64;
        let of = |isa: Isa| {
            let m = with_param(linpack(2000, all), "isa", isa.name());
            derive_as_reported(&ctx, &m).unwrap().value
        };
        let best = isas(&host).map(of).fold(0.0, f64::max);
        assert!((found.value - best).abs() < 1.0, "{} {best}", found.value);
        assert!(found.inputs[0].note.contains("does not report its threads"));
        let ctx = Context { imported: true, ..ctx };
        let above =
            |m: &Measurement| checks::find("above_ceiling").unwrap().examine.for_ours()(&ctx, m);
        let rated = |share: f64| {
            let value = share * best;
            each(bare.clone(), |_, t| (t.value, t.seconds) = (value, t.work / value))
        };
        assert!(above(&rated(0.9)).is_none() && above(&rated(2.0)).is_some());
        // A reported parameter counts.
        let known = derive(&ctx, &linpack(2000, 1)).unwrap();
        assert!(known.value < found.value);
    }
}
