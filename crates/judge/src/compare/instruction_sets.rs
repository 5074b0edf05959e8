//! Matches the best instruction sets of two machines that do not have the same ones.
//!
//! AVX-512 of A has no counterpart on a B that ends at AVX2, and none of an ARM machine's sets has
//! one on x86. Each machine would run a program with its best set, so the best of each are
//! compared. The other results whose set the other CPU lacks are left out, and counted.
//!
//! A CPU lacks a set that its features exclude. A set that it can run and that was not measured is
//! missing: its results stay.

use std::collections::BTreeMap;

use proofmark_model::{Isa, Measurement, Params, Run, best, key};

use super::all_cpus::{self, computes, is_on_all};
use super::pairs::{Match, Pair, describe_sizes, threadless, without_sizes};

/// What the results of a group share: the workload, all parameters but the instruction set and
/// sizes that the machine set, whether they are over time, and whether they are on all CPUs of machines
/// that differ in these.
type Key<'a> = (&'a str, Params, bool, bool);

/// The results of A and of B in one group.
type Group<'a> = [Vec<&'a Measurement>; 2];

/// The matched results.
pub(super) struct Matched<'a> {
    pub(super) pairs: Vec<Pair<'a>>,
    /// Instruction sets of the results of A and of B that are left out, one for each result.
    pub(super) left_out: [Vec<&'a str>; 2],
}

/// Replaces results of sets that the other CPU lacks by a pair of the best of each.
pub(super) fn by_best<'a>(
    runs: [&'a Run; 2],
    letters: [char; 2],
    pairs: Vec<Pair<'a>>,
) -> Matched<'a> {
    let mut out = Matched { pairs, left_out: [const { Vec::new() }; 2] };
    let cpus = all_cpus::counts(runs);
    for ((.., on_all), group) in &groups(runs, cpus) {
        let lone = |m: &Measurement, side: usize| {
            of_set(&group[1 - side], set(m)).is_none()
                && lacks(runs[1 - side], runs[side], set(m).unwrap_or_default())
        };
        let lone = [0, 1].map(|side| {
            let lone = group[side].iter().filter(|m| lone(m, side));
            lone.map(|m| std::ptr::from_ref(*m)).collect::<Vec<_>>()
        });
        let [Some(a), Some(b)] = [best(&group[0]), best(&group[1])] else { continue };
        if lone.iter().all(Vec::is_empty)
            || !group.iter().all(|results| is_each_once(results))
            || !is_best_known(b, [&group[1], &group[0]], &lone[0])
            || !is_best_known(a, [&group[0], &group[1]], &lone[1])
        {
            continue;
        }
        if set(a) != set(b) {
            let named = [a, b].map(|m| set(m).unwrap_or_default().to_owned());
            let sizes = describe_sizes([a, b], letters);
            let how = Match { sizes, best: Some(named), cpus: cpus.filter(|_| *on_all) };
            let place = out.pairs.iter().position(|p| p.in_a().is_some_and(|m| std::ptr::eq(m, a)));
            // After the pair of the same set, where there is one.
            let place = place.map_or(out.pairs.len(), |place| place + 1);
            out.pairs.insert(place, Pair::Both(a, b, how));
        }
        let left_out = &mut out.left_out;
        out.pairs.retain(|pair| {
            let (m, side) = match *pair {
                Pair::Both(..) => return true,
                Pair::OnlyA(m) => (m, 0),
                Pair::OnlyB(m) => (m, 1),
            };
            let is_best = set(a) != set(b) && std::ptr::eq(m, [a, b][side]);
            let is_left_out = !is_best && lone[side].contains(&std::ptr::from_ref(m));
            if is_left_out {
                left_out[side].extend(set(m));
            }
            !is_best && !is_left_out
        });
    }
    out
}

/// The results with an instruction set, by what they share. Those on all CPUs are in two groups where
/// the machines do not have as many.
fn groups<'a>(runs: [&'a Run; 2], cpus: Option<[u64; 2]>) -> BTreeMap<Key<'a>, Group<'a>> {
    let mut groups: BTreeMap<Key, Group> = BTreeMap::new();
    for (side, run) in runs.into_iter().enumerate() {
        for m in run.measurements.iter().filter(|m| set(m).is_some()) {
            let mut params = without_sizes(run, m);
            params.0.remove(key::ISA.name());
            let key = |params, on_all| (m.workload.as_str(), params, m.series.is_some(), on_all);
            let is_on_all = cpus.is_some_and(|cpus| is_on_all(&m.params, cpus[side]));
            if is_on_all && computes(m.subsystem) {
                groups.entry(key(threadless(&params), true)).or_default()[side].push(m);
            }
            groups.entry(key(params, false)).or_default()[side].push(m);
        }
    }
    groups
}

/// Returns true if the CPU of a run cannot run an instruction set that another run measured. Where
/// the features are unknown, the architecture decides.
fn lacks(run: &Run, other: &Run, set: &str) -> bool {
    let has_flag = |run: &Run, flag: &str| {
        let flags = run.host.cpu.isa.get();
        flags.map(|flags| flags.iter().any(|one| one == flag))
    };
    match Isa::named(set) {
        Some(Isa::Scalar) => false,
        Some(isa) => {
            let is_missing = |flag: &&str| has_flag(run, flag) == Some(false);
            run.host.cpu.arch != "x86_64" || isa.flags().iter().any(is_missing)
        }
        // A set of another version of the program, such as `sve`: known by its flag alone.
        None => has_flag(other, set) == Some(true) && has_flag(run, set) == Some(false),
    }
}

/// Returns true if no set was measured twice, as with two sizes.
fn is_each_once(results: &[&Measurement]) -> bool {
    results.iter().enumerate().all(|(i, m)| of_set(&results[..i], set(m)).is_none())
}

/// Returns true if the best result of a run is known to be that of its machine. It is not where the
/// run lacks the result of a set that its CPU has, and that is faster in the other run. Where the
/// other run cannot tell, a wider set counts as faster.
fn is_best_known(
    own_best: &Measurement,
    [own, other]: [&[&Measurement]; 2],
    lone_in_other: &[*const Measurement],
) -> bool {
    let same = of_set(other, set(own_best));
    let mut missing = other.iter().filter(|m| {
        of_set(own, set(m)).is_none() && !lone_in_other.contains(&std::ptr::from_ref(**m))
    });
    let width = |m: &Measurement| Isa::ALL.iter().position(|isa| Some(isa.name()) == set(m));
    missing.all(|m| match same {
        Some(same) => best(&[same, *m]).is_some_and(|best| std::ptr::eq(best, same)),
        None => width(m).zip(width(own_best)).is_none_or(|(missing, own)| missing < own),
    })
}

fn of_set<'a>(results: &[&'a Measurement], wanted: Option<&str>) -> Option<&'a Measurement> {
    results.iter().copied().find(|m| set(m) == wanted)
}

fn set(m: &Measurement) -> Option<&str> {
    m.params.get(key::ISA)
}
