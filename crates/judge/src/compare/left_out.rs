//! Results that the time limit of a run left out. They are not gone: the run did not try them, or had
//! no time left for them.

use proofmark_model::{
    Ending, LeftOut, Measurement, Point, Run, format_count, format_seconds, key,
};

use super::all_cpus::{self, is_on_all};
use super::pairs::{Pair, sizeless, threadless};

/// When and how a run's time limit left out a result.
pub(super) struct Omission {
    pub(super) when: LeftOut,
    /// What follows `left out in B for its time limit of 45 s`.
    more: String,
}

/// Returns how B's time limit left out a result that A has; `None` if it did not.
pub(super) fn in_b([a, b]: [&Run; 2], pair: &Pair) -> Option<Omission> {
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

/// Returns how the plan of `other` left out a result of `has` for its time limit, by sizes that the
/// machines set, too, and with fewer iterations.
pub(super) fn by_plan([has, other]: [&Run; 2], m: &Measurement) -> Option<Omission> {
    other.plan.policy.budget_s?;
    let spec = [has, other].into_iter().find_map(|run| run.workloads.get(&m.workload));
    let of_workload = |p: &&Point| p.workload == m.workload;
    let wanted = sizeless(spec, &m.params);
    let on_all = all_cpus::counts([has, other]).filter(|[own, _]| is_on_all(&m.params, *own));
    let is_it = |p: &Point| {
        let params = sizeless(spec, &p.params);
        let is_all = on_all.is_some_and(|[_, cpus]| is_on_all(&p.params, cpus));
        params == wanted || is_all && threadless(&params) == threadless(&wanted)
    };
    if other.plan.left_out.iter().filter(of_workload).any(is_it) {
        return Some(Omission { when: LeftOut::Plan, more: String::new() });
    }
    let asked = m.params.get(key::ITERATIONS)?;
    let fewer = |p: &Point| {
        let now = p.params.get(key::ITERATIONS).filter(|now| *now < asked)?;
        let same = p.params.clone().with(key::ITERATIONS, asked) == m.params;
        same.then_some(now)
    };
    let now = other.plan.points.iter().filter(of_workload).find_map(fewer)?;
    let more = format!(", which measured {} iterations instead", format_count(now));
    Some(Omission { when: LeftOut::Plan, more })
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
