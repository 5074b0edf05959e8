//! The configuration that fills a row, among the measured or the planned ones of a workload.

use super::{Pick, PickedValue};
use crate::{Key, Params, WorkloadSpec};

/// A configuration, measured or planned.
pub trait Configured: Copy {
    /// Its parameters.
    fn params(&self) -> &Params;

    /// The one with the best figure; if none is measured, the one that is expected to be best.
    fn best(all: &[Self]) -> Option<Self>;
}

/// Picks the configuration that fills a row of a workload on a machine with so many usable CPUs. Of
/// several that fit, it is the first.
pub fn pick<C: Configured>(
    (spec, cpus): (Option<&WorkloadSpec>, u64),
    picks: &[Pick],
    mut left: Vec<C>,
) -> Option<C> {
    let named = |name: &str| picks.iter().any(|p| p.parameter == name);
    let narrow = |left: Vec<C>, pick: &Pick| {
        keep(left, |c, all| pick.value.holds(&pick.parameter, c, all, cpus))
    };
    let is_fixed = |pick: &&Pick| matches!(pick.value, PickedValue::Is(_));
    for pick in picks.iter().filter(is_fixed) {
        left = narrow(left, pick);
    }
    for parameter in spec.map_or(&[][..], |s| &s.parameters).iter().filter(|p| !named(&p.name)) {
        let is_default = |c: &C| value(c, &parameter.name).is_some_and(|v| v == parameter.default);
        if !Params::counts_threads(&parameter.name) {
            left = keep(left, |c, _| is_default(c));
        }
    }
    // Over all numbers of threads, so that a failed result does not leave its row to another
    // instruction set.
    for pick in picks.iter().filter(|p| p.value == PickedValue::Best) {
        let wanted = C::best(&left).and_then(|c| value(&c, &pick.parameter));
        left = keep(left, |c, _| value(c, &pick.parameter) == wanted);
    }
    for pick in picks.iter().filter(|p| !is_fixed(p)) {
        left = narrow(left, pick);
    }
    for name in Params::THREADS.map(Key::name).into_iter().filter(|name| !named(name)) {
        left = keep(left, |c, all| PickedValue::UsableCpus.holds(name, c, all, cpus));
    }
    let axis = spec.and_then(|s| s.axis.as_deref());
    if let Some(axis) = axis.filter(|axis| !named(axis) && !Params::counts_threads(axis)) {
        left = keep(left, |c, all| PickedValue::Largest.holds(axis, c, all, cpus));
    }
    left.first().copied()
}

/// Keeps those for which `holds` is true; all if it is true for none.
fn keep<C: Configured>(all: Vec<C>, holds: impl Fn(&C, &[C]) -> bool) -> Vec<C> {
    let kept: Vec<_> = all.iter().copied().filter(|c| holds(c, &all)).collect();
    if kept.is_empty() { all } else { kept }
}

fn value<C: Configured>(c: &C, parameter: &str) -> Option<String> {
    c.params().named(parameter).map(ToString::to_string)
}

fn number<C: Configured>(c: &C, parameter: &str) -> Option<u64> {
    match Params::counts_threads(parameter) {
        true => Some(c.params().threads()),
        false => c.params().number(parameter),
    }
}

impl PickedValue {
    fn holds<C: Configured>(&self, parameter: &str, c: &C, all: &[C], cpus: u64) -> bool {
        let numbers = || all.iter().filter_map(|c| number(c, parameter));
        let is = |wanted: Option<u64>| wanted.is_some() && number(c, parameter) == wanted;
        match self {
            Self::Is(wanted) => value(c, parameter).is_some_and(|v| v == *wanted),
            Self::Smallest => is(numbers().min()),
            Self::Largest => is(numbers().max()),
            Self::UsableCpus => is(numbers().filter(|n| *n <= cpus).max().or(numbers().min())),
            Self::Best => true,
        }
    }
}
