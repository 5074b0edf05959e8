//! Leaves out configurations, the least wanted first, until the rest fits into the time.

use proofmark_model::{Finding, Plan, Point, Severity, counted, format_seconds};

use super::super::estimate::{fewest_s, measured_s};
use super::super::rank::ranks;
use super::super::references;
use super::super::titles::{Title, titles};
use super::quota::{QUOTA, is_limited};
use super::{ADVICE, BUDGET};
use crate::planned::Planned;
use crate::registry::find;
use crate::schedule::least_trials;
use crate::set_up::{self, Prepared};

/// Maximum number of configurations that a message names one by one.
const NAMED: usize = 12;

/// Leaves out configurations until the rest fits into `budget_s`.
pub(crate) fn leave_out(planned: &mut Planned, budget_s: f64) {
    fill(planned, budget_s);
}

/// Describes before the run what the time limit leaves out; `None`: nothing.
pub(crate) fn describe(planned: &Planned) -> Option<String> {
    let plan = &planned.plan;
    let names = names(plan, planned.usable_cpus)?;
    let unless = if planned.ranks.is_some() { ", unless time remains" } else { "" };
    Some(format!("for {}{unless}: {names}", limit(plan)))
}

/// The finding about what the time limit left out of a run that has ended; `None`: nothing.
pub(crate) fn finding(plan: &Plan, usable_cpus: u64) -> Option<Finding> {
    let message = left_out_for_time(plan, usable_cpus)?;
    let (check, advice) = match is_limited(plan) {
        true => (QUOTA, "raise --budget, name fewer workloads, or raise the quota (cpu.max)"),
        false => (BUDGET, ADVICE),
    };
    Some(Finding::new(check, Severity::Note, message, advice))
}

/// Names what the time limit left out of the plan of a run that has ended; `None`: nothing.
pub fn left_out_for_time(plan: &Plan, usable_cpus: u64) -> Option<String> {
    Some(format!("left out for {}: {}", limit(plan), names(plan, usable_cpus)?))
}

/// The time limit of a plan, with the quota that makes it short.
fn limit(plan: &Plan) -> String {
    let time = plan.policy.budget_s.map(format_seconds).unwrap_or_default();
    match plan.policy.quota.filter(|_| is_limited(plan)) {
        Some(rounds) => {
            format!("the time limit of {time} under the CPU quota ({})", rounds.quota.words())
        }
        None => format!("the time limit of {time}"),
    }
}

/// The names of what a plan leaves out; `None`: nothing.
fn names(plan: &Plan, usable_cpus: u64) -> Option<String> {
    let all = plan.points.len()..plan.points.len() + plan.left_out.len();
    let places: Vec<usize> = all.collect();
    (!places.is_empty()).then(|| words(&titles(plan, usable_cpus), &places))
}

/// Leaves out configurations where a CPU quota makes the plan too long.
pub(crate) fn leave_out_under_quota(planned: &mut Planned, budget_s: f64) {
    if is_limited(&planned.plan) {
        leave_out(planned, budget_s);
    }
}

/// Seconds of the least that the schedule takes, with the planned tools.
pub(super) fn least_s(plan: &Plan) -> f64 {
    fewest_s(plan) + references::seconds(plan)
}

/// Keeps the configurations that are wanted most and fit into the time, at least one. The others
/// are left out, the most wanted first.
pub(super) fn fill(planned: &mut Planned, budget_s: f64) {
    if least_s(&planned.plan) <= budget_s || planned.plan.points.len() < 2 {
        return;
    }
    let ranks = ranks(planned);
    let mut order: Vec<usize> = (0..ranks.len()).collect();
    order.sort_by_key(|place| ranks[*place]);
    let (mut kept, costs_s) = fitting(&planned.plan, &order, budget_s);
    // Files that follow each other in the plan are estimated better there.
    loop {
        let mut rest = planned.plan.clone();
        crate::planned::keep(&mut rest, |place, _| kept[place]);
        let mut over_s = least_s(&rest) - budget_s;
        let mut count = rest.points.len();
        if over_s <= 0.0 || count < 2 {
            break;
        }
        for place in order.iter().rev().copied() {
            if kept[place] && over_s > 0.0 && count > 1 {
                (kept[place], count) = (false, count - 1);
                over_s -= costs_s[place];
            }
        }
    }
    let points = &planned.plan.points;
    let out = order.iter().filter(|place| !kept[**place]).map(|place| points[*place].clone());
    let out: Vec<Point> = out.collect();
    planned.keep(|place, _| kept[place]);
    planned.plan.left_out.splice(0..0, out);
}

/// The configurations that fit, most wanted first, and their seconds. One that does not fit leaves its
/// time to others.
fn fitting(plan: &Plan, order: &[usize], budget_s: f64) -> (Vec<bool>, Vec<f64>) {
    let needs = set_up::needs(plan, &find);
    let mut tools = vec![0.0; plan.points.len()];
    for r in plan.references.values().flatten() {
        tools[r.point] += r.run_s * f64::from(r.runs);
    }
    let least = |p: &Point| find(&p.workload).map_or(0, |w| least_trials(w, &plan.policy));
    let (mut prepared, mut left_s) = (Prepared::default(), budget_s);
    let mut kept = vec![false; plan.points.len()];
    let mut costs_s = vec![0.0; plan.points.len()];
    for place in order.iter().copied() {
        let trials_s = measured_s(plan, place, &least) + tools[place];
        let all_s = prepared.seconds(plan, place, &needs[place]) + trials_s;
        costs_s[place] = all_s;
        if all_s <= left_s {
            prepared.add(plan, place, &needs[place]);
            left_s -= all_s;
            kept[place] = true;
        }
    }
    // A run has a result, however long it takes.
    if !kept.contains(&true) {
        kept[order[0]] = true;
    }
    (kept, costs_s)
}

/// Names the configurations at these places of a plan, or where they are many, counts them by
/// workload.
pub(crate) fn words(titles: &[Title], places: &[usize]) -> String {
    let titles = || places.iter().filter_map(|place| titles.get(*place));
    if places.len() <= NAMED {
        return titles().map(|title| title.whole.as_str()).collect::<Vec<_>>().join("; ");
    }
    let mut counts: Vec<(&str, usize)> = Vec::new();
    for title in titles() {
        match counts.iter_mut().find(|(known, _)| *known == title.workload) {
            Some((_, n)) => *n += 1,
            None => counts.push((&title.workload, 1)),
        }
    }
    let all = counted(places.len(), "configuration");
    let counts: Vec<_> = counts.into_iter().map(|(name, n)| format!("{name} ({n})")).collect();
    format!("{all}: {}", counts.join(", "))
}

#[cfg(test)]
mod tests;
