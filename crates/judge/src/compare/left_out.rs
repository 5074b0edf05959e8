//! Results that the time limit of a run left out. They are not gone: the run did not try them, or had
//! no time left for them.

use std::collections::BTreeSet;

use proofmark_model::{
    Ending, Finding, LeftOut, Measurement, Params, Point, Run, format_count, format_seconds, key,
};

use super::all_cpus::{self, is_on_all};
use super::pairs::{Pair, sizeless, spec_of, threadless};

/// The finding about what a time limit reduced in a plan.
const BUDGET: &str = "plan.budget";

/// When and how a run's time limit left out a result.
pub(super) struct Omission {
    pub(super) when: LeftOut,
    /// What follows `left out in B for its time limit of 45 s`.
    more: String,
}

/// Returns how B's time limit left out a usable result of A; `None` if it did not.
pub(super) fn in_b([a, b]: [&Run; 2], pair: &Pair) -> Option<Omission> {
    pair.in_a().filter(|m| m.verdict.is_usable())?;
    match *pair {
        Pair::OnlyA(m) => by_plan([a, b], m),
        Pair::Both(_, m, _) => match m.ending {
            Ending::LeftOut { needs_s } if m.summary.is_none() => {
                let needs = format_seconds(needs_s);
                let more = format!(", which left no time for it (about {needs})");
                Some(Omission { when: LeftOut::Run, more })
            }
            _ => None,
        },
        Pair::OnlyB(_) => None,
    }
}

/// Returns how the plan of `other` left out a result of `has` for its time limit, or gave it fewer
/// iterations.
pub(super) fn by_plan([has, other]: [&Run; 2], m: &Measurement) -> Option<Omission> {
    other.plan.policy.budget_s?;
    let left_out = |params: &Params| {
        let mut all = other.plan.left_out.iter();
        all.any(|p| p.workload == m.workload && p.params == *params)
    };
    let by_machine = || by_machine([has, other], m).is_some_and(left_out);
    if left_out(&m.params) || by_machine() || on_all_cpus([has, other], m) {
        return Some(Omission { when: LeftOut::Plan, more: String::new() });
    }
    let now = fewer_iterations(other, m)?;
    let more = format!(", which measured {} iterations instead", format_count(now));
    Some(Omission { when: LeftOut::Plan, more })
}

/// Returns true if `other` left out the result on all of its CPUs that a result of `has` on all CPUs
/// would be compared with.
fn on_all_cpus([has, other]: [&Run; 2], m: &Measurement) -> bool {
    let spec = spec_of([has, other], &m.workload);
    let plain = |params: &Params| threadless(&sizeless(spec, params));
    let Some([own, cpus]) = all_cpus::counts([has, other]) else { return false };
    let is_it = |p: &Point| {
        let same_work = p.workload == m.workload && plain(&p.params) == plain(&m.params);
        same_work && is_on_all(&p.params, cpus)
    };
    is_on_all(&m.params, own) && other.plan.left_out.iter().any(is_it)
}

/// Returns the parameters of the configuration of `other` that differs from a result of `has` only by
/// sizes that machines set. Each run has only one such configuration: a user who names sizes may name
/// several.
fn by_machine<'a>([has, other]: [&'a Run; 2], m: &Measurement) -> Option<&'a Params> {
    let spec = spec_of([has, other], &m.workload);
    let wanted = sizeless(spec, &m.params);
    let only = |run: &'a Run| {
        let measured = run.measurements.iter().map(|m| (&m.workload, &m.params));
        let planned = run.plan.points.iter().chain(&run.plan.left_out);
        let all = measured.chain(planned.map(|p| (&p.workload, &p.params)));
        let alike = all.filter(|(workload, params)| {
            **workload == m.workload && sizeless(spec, params) == wanted
        });
        let alike: BTreeSet<&Params> = alike.map(|(_, params)| params).collect();
        alike.first().copied().filter(|_| alike.len() == 1)
    };
    only(has)?;
    only(other)
}

/// Returns the iterations of the configuration of `other` to which its time limit reduced those of
/// `m`. Only the text of a finding has both numbers: the user may have asked for fewer.
fn fewer_iterations(other: &Run, m: &Measurement) -> Option<u64> {
    let asked = m.params.get(key::ITERATIONS)?;
    let reduced_to = |p: &Point| {
        let now = p.params.get(key::ITERATIONS).filter(|now| *now < asked)?;
        let same = p.params.clone().with(key::ITERATIONS, asked) == m.params;
        (same && p.workload == m.workload).then_some(now)
    };
    let now = other.plan.points.iter().find_map(reduced_to)?;
    let line = format!("iterations of {} {asked} -> {now}", m.workload);
    let has_line = |f: &Finding| f.message.split([',', ':']).any(|part| part.trim() == line);
    other.findings.iter().any(|f| f.check == BUDGET && has_line(f)).then_some(now)
}

impl Omission {
    /// Returns `left out in B for its time limit of 45 s`.
    pub(super) fn reason(&self, letter: char, run: &Run) -> String {
        format!("left out in {letter} for its {}{}", limit(run), self.more)
    }
}

/// Returns `time limit of 45 s`.
pub(super) fn limit(run: &Run) -> String {
    let seconds = run.plan.policy.budget_s.map(format_seconds);
    seconds.map_or_else(|| "time limit".to_owned(), |s| format!("time limit of {s}"))
}
