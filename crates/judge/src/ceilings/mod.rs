//! Theoretical ceilings: formulas whose inputs state their sources. One file per rule.

mod cpu_boost;
mod cpu_mix;
mod cpu_peak;
#[cfg(any(test, feature = "faults"))]
mod device_peak;
mod disk_limit;
mod disk_link;
mod memory_cache;
mod memory_core;
mod memory_dram;
mod memory_limit;
mod memory_load_use;
mod modules;
mod network_limit;
mod network_link;
mod network_loopback;
mod parts;
mod unreported;

use std::collections::BTreeMap;

use proofmark_model::{Better, Bottleneck, Ceiling, Measurement};

use crate::{Capacity, Context};

pub(crate) use cpu_mix::operations_per_cycle as mix_operations_per_cycle;
pub(crate) use cpu_peak::Peak;
pub(crate) use memory_cache::l1_bytes;
pub(crate) use parts::{CLOCK_INPUT, Formula, clocks, input, input_of, input_of_our_loops, quota};

/// A rule that derives a ceiling.
pub struct CeilingRule {
    /// Id, as workloads name it in their `ceilings`.
    pub id: &'static str,
    /// Title for lists.
    pub title: &'static str,
    /// Explanation for users: the limit, the formula, the sources of its inputs, and the
    /// uncertainty.
    pub about: &'static str,
    /// Returns the ceiling of a result, or the reason why there is none.
    pub derive: Derive,
    /// Returns a value that certainly cannot be exceeded, mostly the ceiling itself; it may be too
    /// loose for an efficiency.
    pub bound: Derive,
    /// Returns the bottleneck of a result near the ceiling; the text begins its evidence:
    /// `98.5 % of the ceiling`. `None` for a ceiling that is always too vague for a share.
    pub bottleneck: Option<fn(&Ceiling, &Capacity, &str) -> Bottleneck>,
}

/// Returns true if a ceiling is a configured limit, not a property of the machine.
pub(crate) fn is_limit(ceiling: &Ceiling) -> bool {
    [disk_limit::RULE.id, memory_limit::RULE.id, network_limit::RULE.id]
        .contains(&ceiling.id.as_str())
}

/// Derives a ceiling of a result.
pub type Derive = fn(&Context, &Measurement) -> Result<Ceiling, String>;

/// Every rule.
pub const ALL: &[&CeilingRule] = &[
    &cpu_peak::RULE,
    &cpu_mix::RULE,
    &cpu_boost::RULE,
    &memory_cache::RULE,
    &memory_core::RULE,
    &memory_dram::RULE,
    &memory_limit::RULE,
    &memory_load_use::RULE,
    &disk_limit::RULE,
    &disk_link::RULE,
    &network_limit::RULE,
    &network_link::RULE,
    &network_loopback::RULE,
];

/// The rule with that id. Tests also have that of `device.ops`.
pub fn find(id: &str) -> Option<&'static CeilingRule> {
    #[cfg(any(test, feature = "faults"))]
    const OF_TESTS: &[&CeilingRule] = &[&device_peak::RULE];
    #[cfg(not(any(test, feature = "faults")))]
    const OF_TESTS: &[&CeilingRule] = &[];
    ALL.iter().chain(OF_TESTS).copied().find(|rule| rule.id == id)
}

/// The tightest ceiling of the workload's list that can be derived, or the reasons why none can. One
/// that is too vague for a share counts only where all are.
pub fn derive(ctx: &Context, m: &Measurement) -> Result<Ceiling, String> {
    if ctx.imported { unreported::derive(ctx, m) } else { derive_as_reported(ctx, m) }
}

fn derive_as_reported(ctx: &Context, m: &Measurement) -> Result<Ceiling, String> {
    let declared = ctx.spec(m).map_or(&[][..], |spec| &spec.ceilings);
    if declared.is_empty() {
        return Err("this workload declares no ceiling".to_owned());
    }
    let mut derived: Vec<Ceiling> = Vec::new();
    let mut reasons: Vec<(&str, String)> = Vec::new();
    for id in declared {
        let reason = match find(id).map(|rule| (rule.derive)(ctx, m)) {
            Some(Ok(c)) if usable(&c) => {
                derived.push(c);
                continue;
            }
            Some(Ok(c)) => format!("the formula gives {}", c.value),
            Some(Err(reason)) => reason,
            None => "no such ceiling".to_owned(),
        };
        reasons.push((id, reason));
    }
    if derived.iter().any(|c| !c.is_vague()) {
        derived.retain(|c| !c.is_vague());
    }
    tightest(m.better, derived).ok_or_else(|| join_reasons(&reasons))
}

/// Joins the reasons with the ids of their ceilings; a reason that all share has no ids.
fn join_reasons(reasons: &[(&str, String)]) -> String {
    let mut all: Vec<(Vec<&str>, &str)> = Vec::new();
    for (id, reason) in reasons {
        match all.iter_mut().find(|(_, known)| known == reason) {
            Some((ids, _)) => ids.push(id),
            None => all.push((vec![id], reason)),
        }
    }
    if let [(ids, why)] = &all[..]
        && ids.len() > 1
    {
        return (*why).to_owned();
    }
    let each: Vec<String> =
        all.iter().map(|(ids, why)| format!("{}: {why}", ids.join(", "))).collect();
    each.join("; ")
}

fn tightest(better: Better, ceilings: Vec<Ceiling>) -> Option<Ceiling> {
    let by_value = |a: &Ceiling, b: &Ceiling| a.value.total_cmp(&b.value);
    match better {
        Better::Higher => ceilings.into_iter().min_by(by_value),
        Better::Lower => ceilings.into_iter().max_by(by_value),
    }
}

/// The certain bounds of a result from each of its rules, however loose.
pub(crate) fn bounds(ctx: &Context, m: &Measurement) -> Vec<Ceiling> {
    if !ctx.imported {
        return bounds_as_reported(ctx, m);
    }
    let all = unreported::candidates(ctx, m);
    let mut each: BTreeMap<String, Ceiling> = BTreeMap::new();
    for c in all.iter().flat_map(|m| bounds_as_reported(ctx, m)) {
        let loosest = each.entry(c.id.clone()).or_insert_with(|| c.clone());
        if is_looser(m.better, &c, loosest) {
            *loosest = c;
        }
    }
    each.into_values().collect()
}

/// Returns true if ceiling `a` is looser than `b`.
fn is_looser(better: Better, a: &Ceiling, b: &Ceiling) -> bool {
    match better {
        Better::Higher => a.value > b.value,
        Better::Lower => a.value < b.value,
    }
}

fn bounds_as_reported(ctx: &Context, m: &Measurement) -> Vec<Ceiling> {
    let declared = ctx.spec(m).map_or(&[][..], |spec| &spec.ceilings);
    let rules = declared.iter().filter_map(|id| find(id));
    rules.filter_map(|rule| (rule.bound)(ctx, m).ok()).filter(usable).collect()
}

fn usable(c: &Ceiling) -> bool {
    c.value.is_finite() && c.value > 0.0 && c.uncertainty.is_finite() && c.uncertainty >= 0.0
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::*;

    #[test]
    fn the_tightest_is_taken_in_any_order() {
        let (h, policy) = (host_with_caches(), policy());
        let others = [latency(1 << 30, 1e-7)];
        for order in [["memory.core", "memory.dram"], ["memory.dram", "memory.core"]] {
            let mut spec = spec("memory.read");
            spec.ceilings = order.iter().map(|id| (*id).into()).collect();
            let with = |others: &[Measurement]| {
                derive(&context(&h, &spec, &policy, others), &stream("read", 1)).unwrap().id
            };
            assert_eq!(with(&others), "memory.core", "48 lines in 100 ns are 31 GB/s");
            assert_eq!(with(&[]), "memory.dram", "358 GB/s, if the latency is unknown");
            // The lines in flight may allow twice as much; the bus is known.
            let metal = bare(host_with_caches());
            let known = derive(&context(&metal, &spec, &policy, &others), &stream("read", 1));
            assert_eq!(known.unwrap().id, "memory.dram", "a share of it shows something");
            let all = bounds(&context(&h, &spec, &policy, &others), &stream("read", 1));
            assert_eq!(all.len(), 2);
        }
    }

    #[test]
    fn where_less_is_better_the_highest_floor_is_taken() {
        let floor = |value: f64| Ceiling {
            id: String::new(),
            value,
            unit: "s".to_owned(),
            formula: String::new(),
            inputs: Vec::new(),
            uncertainty: 0.0,
        };
        let both = || vec![floor(1e-9), floor(3e-9)];
        assert_eq!(tightest(Better::Lower, both()).map(|c| c.value), Some(3e-9));
        assert_eq!(tightest(Better::Higher, both()).map(|c| c.value), Some(1e-9));
    }

    #[test]
    fn the_reasons_of_all_are_kept_when_none_can_be_derived() {
        let (mut h, policy, spec) = (host_with_caches(), policy(), spec("memory.read"));
        h = with_design(h, "unheard_of");
        let why = derive(&context(&h, &spec, &policy, &[]), &stream("read", 1)).unwrap_err();
        let declared = "memory.limit: no rate is declared (--limit memory.dram)";
        assert!(why.starts_with("memory.core, memory.dram: no table"), "{why}");
        assert!(why.ends_with(declared), "{why}");
        let same = ("memory.dram", "a".to_owned());
        assert_eq!(join_reasons(&[("memory.core", "a".to_owned()), same]), "a");
        let (read, other) = (("memory.core", "a".to_owned()), ("memory.dram", "b".to_owned()));
        assert_eq!(join_reasons(&[read.clone(), other]), "memory.core: a; memory.dram: b");
        assert_eq!(join_reasons(&[read]), "memory.core: a");
    }
}
