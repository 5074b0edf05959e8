//! Matches the results of two runs.
//!
//! Results match by workload and parameters, and a series only with a series: a run may have both.
//! The rest match again without sizes that the machine set, such as arrays of four times its
//! last-level cache, if that leaves one candidate. The number of threads is no such parameter: all of
//! 4 CPUs and all of 8 are two configurations, which match as those of the whole machine (`all_cpus`).
//! Instruction sets that one CPU lacks match as the best of each (`instruction_sets`).

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, VecDeque};

use proofmark_model::{
    AUTO, Measurement, ParameterKind, Params, Point, Run, WorkloadSpec, format_size, key,
};

/// A result of both runs, or of one.
#[derive(Debug, Clone)]
pub(super) enum Pair<'a> {
    Both(&'a Measurement, &'a Measurement, Match),
    OnlyA(&'a Measurement),
    OnlyB(&'a Measurement),
}

/// The parameters in which two matched results differ.
#[derive(Debug, Clone, Default)]
pub(super) struct Match {
    /// Sizes that the machines set differently; empty if none.
    pub(super) sizes: String,
    /// The instruction sets of A and of B, if each is the best of its machine.
    pub(super) best: Option<[String; 2]>,
    /// The numbers of CPUs of A and of B, if the results are on all of each and these differ.
    pub(super) cpus: Option<[u64; 2]>,
}

impl<'a> Pair<'a> {
    /// Returns true if one of the runs has a figure.
    pub(super) fn has_figure(&self) -> bool {
        match self {
            Self::Both(a, b, _) => a.summary.is_some() || b.summary.is_some(),
            Self::OnlyA(m) | Self::OnlyB(m) => m.summary.is_some(),
        }
    }

    /// The result of A.
    pub(super) fn in_a(&self) -> Option<&'a Measurement> {
        match *self {
            Self::Both(m, ..) | Self::OnlyA(m) => Some(m),
            Self::OnlyB(_) => None,
        }
    }
}

/// All results of both, in the order of A, then those that only B has.
pub(super) fn pairs<'a>(runs: [&'a Run; 2], letters: [char; 2]) -> Vec<Pair<'a>> {
    matched(runs, letters, runs.map(|run| run.measurements.iter().collect()), false)
}

/// The same of some results. With `on_all`, whatever their number of threads is.
pub(super) fn matched<'a>(
    runs: [&'a Run; 2],
    letters: [char; 2],
    [of_a, of_b]: [Vec<&'a Measurement>; 2],
    on_all: bool,
) -> Vec<Pair<'a>> {
    let params = |m: &'a Measurement| match on_all {
        true => Cow::Owned(threadless(&m.params)),
        false => Cow::Borrowed(&m.params),
    };
    let key = |m: &'a Measurement| (m.workload.as_str(), params(m), m.series.is_some());
    let mut left: BTreeMap<(&str, Cow<Params>, bool), VecDeque<usize>> = BTreeMap::new();
    for (i, m) in of_b.iter().enumerate() {
        left.entry(key(m)).or_default().push_back(i);
    }
    let mut pair = |m| match left.get_mut(&key(m)).and_then(VecDeque::pop_front) {
        Some(i) => Pair::Both(m, of_b[i], Match::default()),
        None => Pair::OnlyA(m),
    };
    let mut out: Vec<Pair> = of_a.into_iter().map(&mut pair).collect();
    let rest: BTreeSet<usize> = left.into_values().flatten().collect();
    let rest: Vec<_> = rest.iter().map(|i| of_b[*i]).collect();
    let rest = by_size(runs, letters, &mut out, rest, on_all);
    out.extend(rest.into_iter().map(Pair::OnlyB));
    out
}

/// A workload, its parameters without sizes, and true for a series.
type Key<'a> = (&'a str, Params, bool);

/// The configurations that a run left out.
fn left_out(run: &Run) -> impl Iterator<Item = Key<'_>> {
    let key = |p: &'_ Point| sizeless(run.workloads.get(&p.workload), &p.params);
    run.plan.left_out.iter().map(move |p| (&*p.workload, key(p), false))
}

/// Matches the rest without the sizes that the machine set; returns the results that only B has.
fn by_size<'a>(
    [a, b]: [&'a Run; 2],
    letters: [char; 2],
    pairs: &mut [Pair<'a>],
    mut rest: Vec<&'a Measurement>,
    on_all: bool,
) -> Vec<&'a Measurement> {
    let key = |run: &'a Run, m: &'a Measurement| -> Key<'a> {
        let params = without_sizes(run, m);
        let params = if on_all { threadless(&params) } else { params };
        (&m.workload, params, m.series.is_some())
    };
    let mut of_a: BTreeMap<Key, Vec<usize>> = BTreeMap::new();
    for (i, pair) in pairs.iter().enumerate() {
        if let Pair::OnlyA(m) = pair {
            of_a.entry(key(a, m)).or_default().push(i);
        }
    }
    let mut of_b: BTreeMap<Key, u32> = BTreeMap::new();
    for m in &rest {
        *of_b.entry(key(b, m)).or_default() += 1;
    }
    // A run that left out one of several sizes was asked for them: its machine set none.
    let several: BTreeSet<Key> = [a, b].into_iter().flat_map(left_out).collect();
    rest.retain(|m| {
        let k = key(b, m);
        match of_a.get(&k).map(Vec::as_slice) {
            Some([i]) if of_b.get(&k) == Some(&1) && !several.contains(&k) => {
                if let Pair::OnlyA(other) = pairs[*i] {
                    let sizes = describe_sizes([other, m], letters);
                    let how = Match { sizes, ..Match::default() };
                    pairs[*i] = Pair::Both(other, m, how);
                }
                false
            }
            _ => true,
        }
    });
    rest
}

/// Parameters of a result without the sizes that the machine set.
pub(super) fn without_sizes(run: &Run, m: &Measurement) -> Params {
    sizeless(run.workloads.get(&m.workload), &m.params)
}

/// The declaration of a workload by the first of two runs that has one.
pub(super) fn spec_of<'a>(runs: [&'a Run; 2], workload: &str) -> Option<&'a WorkloadSpec> {
    runs.into_iter().find_map(|run| run.workloads.get(workload))
}

/// Parameters without the sizes that machines set.
pub(super) fn sizeless(spec: Option<&WorkloadSpec>, params: &Params) -> Params {
    let sizes = set_by_machine(spec);
    let mut params = params.clone();
    params.0.retain(|name, _| !sizes.contains(&name.as_str()));
    params
}

/// Parameters without the number of threads.
pub(super) fn threadless(params: &Params) -> Params {
    let mut params = params.clone();
    params.0.remove(key::THREADS.name());
    params
}

/// Sizes that the machine sets, unless the workload's results differ by them.
fn set_by_machine(spec: Option<&WorkloadSpec>) -> Vec<&str> {
    let Some(spec) = spec else { return Vec::new() };
    let auto = spec.parameters.iter().filter(|k| {
        k.default == AUTO
            && matches!(k.kind, ParameterKind::Size { .. })
            && spec.axis.as_deref() != Some(&*k.name)
    });
    auto.map(|k| &*k.name).collect()
}

/// Describes the sizes that differ: `array size 512 MiB in A, 1 GiB in B`.
pub(super) fn describe_sizes([a, b]: [&Measurement; 2], [letter_a, letter_b]: [char; 2]) -> String {
    let size = |m: &Measurement, name: &str| {
        m.params.number(name).map_or_else(|| "not set".to_owned(), format_size)
    };
    let names = a.params.0.keys().chain(b.params.0.keys().filter(|n| a.params.named(n).is_none()));
    let parts: Vec<String> = names
        .filter(|n| key::ISA != ***n && key::THREADS != ***n)
        .filter(|n| a.params.named(n) != b.params.named(n))
        .map(|n| {
            let name = n.replace('_', " ");
            format!("{name} {} in {letter_a}, {} in {letter_b}", size(a, n), size(b, n))
        })
        .collect();
    parts.join("; ")
}
