//! Matches the best instruction sets of two machines that do not have the same ones.
//!
//! AVX-512 of A has no counterpart on a B that ends at AVX2, and none of an ARM machine's sets has
//! one on x86. Each machine would run a program with its best set, so the best of each are
//! compared. The other sets that only one machine has are left out.

use std::collections::{BTreeMap, BTreeSet};

use proofmark_model::{Measurement, Params, Run, best, key};

use super::pairs::{Match, Pair, describe_sizes, without_sizes};

/// What the results of a group share: the workload, all parameters but the instruction set and
/// sizes that the machine set, and whether they are over time.
type Key<'a> = (&'a str, Params, bool);

/// The results of A and of B in one group.
type Group<'a> = [Vec<&'a Measurement>; 2];

/// Replaces results that only one run has by a pair of the best of each, where their instruction
/// sets differ.
pub(super) fn by_best<'a>(
    runs: [&'a Run; 2],
    letters: [char; 2],
    pairs: Vec<Pair<'a>>,
) -> Vec<Pair<'a>> {
    let mut out = pairs;
    for group in groups(runs).values() {
        let own: [BTreeSet<&str>; 2] = [0, 1].map(|side| sets(runs[side], group, side));
        let lone =
            |m: &Measurement, side: usize| set(m).is_some_and(|set| !own[1 - side].contains(set));
        let differ = (0..2).any(|side| group[side].iter().any(|m| lone(m, side)));
        let unique = (0..2).all(|side| {
            let measured: BTreeSet<_> = group[side].iter().map(|m| set(m)).collect();
            measured.len() == group[side].len()
        });
        let [Some(a), Some(b)] = [best(&group[0]), best(&group[1])] else { continue };
        if !differ || !unique {
            continue;
        }
        let is_in = |m: &'a Measurement, side: usize| {
            group[side].iter().any(|one| std::ptr::eq(*one, m)) && lone(m, side)
        };
        let place = out.iter().position(|p| p.in_a().is_some_and(|m| std::ptr::eq(m, a)));
        let place = place.unwrap_or(out.len());
        if set(a) != set(b) {
            let named = [a, b].map(|m| set(m).unwrap_or_default().to_owned());
            let how = Match { sizes: describe_sizes([a, b], letters), best: Some(named) };
            out.insert(place, Pair::Both(a, b, how));
        }
        out.retain(|pair| match pair {
            Pair::Both(..) => true,
            Pair::OnlyA(m) => !is_in(m, 0),
            Pair::OnlyB(m) => !is_in(m, 1),
        });
    }
    out
}

/// The results with an instruction set, by what they share.
fn groups<'a>(runs: [&'a Run; 2]) -> BTreeMap<Key<'a>, Group<'a>> {
    let mut groups: BTreeMap<Key, Group> = BTreeMap::new();
    for (side, run) in runs.into_iter().enumerate() {
        for m in run.measurements.iter().filter(|m| set(m).is_some()) {
            let mut params = without_sizes(run, m);
            params.0.remove(key::ISA.name());
            let key = (m.workload.as_str(), params, m.series.is_some());
            groups.entry(key).or_default()[side].push(m);
        }
    }
    groups
}

/// The instruction sets that a run measured in a group, or planned for its workload.
fn sets<'a>(run: &'a Run, group: &Group<'a>, side: usize) -> BTreeSet<&'a str> {
    let workload = group.iter().flatten().next().map(|m| m.workload.as_str());
    let planned = run.plan.points.iter().filter(|p| Some(p.workload.as_str()) == workload);
    let planned = planned.filter_map(|p| p.params.get(key::ISA));
    group[side].iter().filter_map(|m| set(m)).chain(planned).collect()
}

fn set(m: &Measurement) -> Option<&str> {
    m.params.get(key::ISA)
}
