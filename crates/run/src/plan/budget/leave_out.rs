//! Leaves out configurations, the least wanted first, until the rest fits into the time.

use proofmark_model::{Finding, Plan, Point, Severity, counted, format_seconds};

use super::super::estimate::{fewest_s, measured_s};
use super::super::rank::{Want, by_rank};
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

/// Leaves out configurations until the rest fits into `most_s`, a profile's own time: the most wanted
/// stay, and one that does not fit leaves its time to others.
pub(crate) fn leave_out(planned: &mut Planned, most_s: f64) {
    fill(planned, most_s, fitting);
}

/// Leaves out configurations until the rest fits into a budget. A longer one holds what a shorter one
/// holds, and more.
pub(in crate::plan) fn leave_out_of_budget(planned: &mut Planned, budget_s: f64) {
    fill(planned, budget_s, entering);
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

/// Chooses configurations of a plan that fit into so many seconds, at least one, from all by rank.
/// Returns the places in the order in which they are given up again, from the end.
type Choose = fn(&Costs, by_rank: &[(usize, Want)], most_s: f64) -> Vec<usize>;

/// Keeps the configurations that are chosen. The others are left out, the most wanted first.
fn fill(planned: &mut Planned, most_s: f64, choose: Choose) {
    if least_s(&planned.plan) <= most_s || planned.plan.points.len() < 2 {
        return;
    }
    let order = by_rank(planned);
    let mut chosen = choose(&Costs::new(&planned.plan), &order, most_s);
    let kept = |chosen: &[usize]| {
        let mut kept = vec![false; order.len()];
        chosen.iter().for_each(|place| kept[*place] = true);
        kept
    };
    // Files that follow each other in the plan are estimated better there.
    let takes_s = |chosen: &[usize]| {
        let (mut rest, kept) = (planned.plan.clone(), kept(chosen));
        crate::planned::keep(&mut rest, |place, _| kept[place]);
        least_s(&rest)
    };
    while chosen.len() > 1 && takes_s(&chosen) > most_s {
        chosen.pop();
    }
    let kept = kept(&chosen);
    let points = &planned.plan.points;
    let out = order.iter().filter(|(place, _)| !kept[*place]);
    let out: Vec<Point> = out.map(|(place, _)| points[*place].clone()).collect();
    planned.keep(|place, _| kept[place]);
    planned.plan.left_out.splice(0..0, out);
}

/// The seconds of the configurations of a plan.
struct Costs<'a> {
    plan: &'a Plan,
    needs: Vec<set_up::SetUp>,
    /// Without set-up and tools.
    own_s: Vec<f64>,
    tools_s: Vec<f64>,
}

impl<'a> Costs<'a> {
    fn new(plan: &'a Plan) -> Self {
        let least = |p: &Point| find(&p.workload).map_or(0, |w| least_trials(w, &plan.policy));
        let places = 0..plan.points.len();
        let own_s: Vec<f64> = places.map(|place| measured_s(plan, place, &least)).collect();
        let mut tools_s = vec![0.0; own_s.len()];
        for r in plan.references.values().flatten() {
            tools_s[r.point] += r.run_s * f64::from(r.runs);
        }
        Self { plan, needs: set_up::needs(plan, &find), own_s, tools_s }
    }

    /// Seconds of a configuration with its tools, where others have prepared some of its data.
    fn seconds(&self, place: usize, prepared: &Prepared) -> f64 {
        self.alone(place, prepared) + self.tools_s[place]
    }

    /// The same without tools.
    fn alone(&self, place: usize, prepared: &Prepared) -> f64 {
        prepared.seconds(self.plan, place, &self.needs[place]) + self.own_s[place]
    }

    fn add(&self, place: usize, prepared: &mut Prepared) {
        prepared.add(self.plan, place, &self.needs[place]);
    }
}

/// The configurations that fit, most wanted first. One that does not fit leaves its time to others.
fn fitting(costs: &Costs, by_rank: &[(usize, Want)], most_s: f64) -> Vec<usize> {
    let (mut prepared, mut left_s) = (Prepared::default(), most_s);
    let places: Vec<usize> = by_rank.iter().map(|(place, _)| *place).collect();
    let mut fits = |place: &usize| {
        let all_s = costs.seconds(*place, &prepared);
        let fits = all_s <= left_s;
        if fits {
            costs.add(*place, &mut prepared);
            left_s -= all_s;
        }
        fits
    };
    let fitting: Vec<usize> = places.iter().copied().filter(|place| fits(place)).collect();
    // A run has a result, however long it takes.
    if fitting.is_empty() { places[..1].to_vec() } else { fitting }
}

/// Largest part of all so far that one configuration takes when it enters, unless it is modest.
fn largest_part(want: Want) -> f64 {
    match want {
        Want::FirstRow => 0.75,
        Want::Row | Want::FurtherRow => 1.0 / 3.0,
        Want::Table | Want::Workload | Want::Further(_) => 1.0 / 6.0,
    }
}

/// A modest configuration takes at most so many times what the first quartile of all takes.
const MODEST: f64 = 2.0;

/// The configurations that fit, in the order in which they enter a plan as its time grows. That order
/// does not depend on the time, so a longer time holds what a shorter one holds. The most wanted
/// enters next. A long one waits until the others take long enough: no budget holds it alone. Tools, of
/// which a budget takes a part, do not change the order.
fn entering(costs: &Costs, by_rank: &[(usize, Want)], budget_s: f64) -> Vec<usize> {
    let mut prepared = Prepared::default();
    let mut each_s: Vec<f64> = by_rank.iter().map(|(p, _)| costs.alone(*p, &prepared)).collect();
    each_s.sort_by(f64::total_cmp);
    let modest_s = MODEST * each_s[(each_s.len() - 1) / 4];
    let (mut waiting, mut entered) = (by_rank.to_vec(), Vec::new());
    // Without and with tools.
    let [mut alone_s, mut taken_s] = [0.0; 2];
    while !waiting.is_empty() {
        let cost_s = |(place, _): &(usize, Want)| costs.alone(*place, &prepared);
        let enters = |one: &(usize, Want)| {
            let seconds = cost_s(one);
            seconds <= modest_s.max(largest_part(one.1) * (alone_s + seconds))
        };
        let shortest = || {
            let all = waiting.iter().map(cost_s).enumerate();
            all.min_by(|a, b| a.1.total_cmp(&b.1)).map_or(0, |(at, _)| at)
        };
        let next = waiting.iter().position(enters).unwrap_or_else(shortest);
        alone_s += cost_s(&waiting[next]);
        taken_s += costs.seconds(waiting[next].0, &prepared);
        // A run has a result, however long it takes.
        if taken_s > budget_s && !entered.is_empty() {
            break;
        }
        let (place, _) = waiting.remove(next);
        costs.add(place, &mut prepared);
        entered.push(place);
    }
    entered
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
