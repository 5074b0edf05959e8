//! Shrinks a plan that takes longer than the budget. Steps run in order until the rest fits, each with
//! a line about what it changed. Then time that is left goes back to trials and series.

use std::collections::{BTreeMap, BTreeSet};

use proofmark_model::{Finding, Plan, PlannedSeries, Point, Policy, Severity, format_seconds, key};

use super::estimate::{point_s, seconds};
use super::references;
use crate::planned::Planned;

mod leave_out;
mod quota;
mod sufficient;
mod tools;
mod trials;

#[cfg(test)]
pub(super) use leave_out::leave_out_of_budget;
pub use leave_out::left_out_for_time;
pub(super) use leave_out::{describe, leave_out, leave_out_under_quota};
pub(crate) use leave_out::{finding as left_out_finding, words};
pub(super) use quota::shorten_rounds as shorten_rounds_under_quota;
use sufficient::Budgets;
pub(crate) use tools::correct as correct_tools_left_out;
pub(super) use tools::kept_part;

/// Id, title and meaning of the findings of a budget.
pub const FINDINGS: &[(&str, &str, &str)] = &[
    quota::FINDING,
    (
        BUDGET,
        "Less work than planned, to meet the budget",
        "The plan takes longer than the budget. proofmark reduces work in this order until the plan \
    fits: reference tools beyond half of the budget; trials, down to three, and rounds, down to \
    eight; time of series, down to 60 s each; large problems that take over 5 % of the budget each; \
    files over 2 GiB; the length of rounds, down to 20 ms, and of other trials, down to a fifth or 0.5 s; \
    iterations, from the published 10^9 to a tenth; file sizes between the others; further \
    reference tools, one by one, down to a quarter of the budget for those that were named; all problems but the smallest; thread counts between the minimum \
    and the maximum, except one per CPU; time of series, down to 10 s; then configurations. Those that fill a row of \
    the summary stay longest, then one of each table of the profile. One that takes more than twice the lower quartile enters when it is at most a sixth of the plan (a row of the \
    summary a third, the first row of a subsystem three quarters). That order does not depend on the budget, so a longer one \
    seldom loses a configuration. The rest is measured in full. \
    What is left out is measured if time remains in the end. \
    If the machine is slower than estimated, configurations are left out during the run as well \
    (`proofmark explain left_out`). Raise --budget, or name fewer workloads.",
    ),
];
pub(crate) const BUDGET: &str = "plan.budget";
pub(crate) const ADVICE: &str = "raise --budget, or name fewer workloads";

/// Shortest series of the first and of the last step that shortens them, in seconds.
const SERIES_S: [f64; 2] = [60.0, 10.0];

/// Maximum share of the budget for one large problem.
const SHARE: f64 = 0.05;

/// Larger files are left out first, in bytes.
const LARGE_FILE: u64 = 2 * GIB;
const GIB: u64 = 1 << 30;

/// Mixes of more iterations do a tenth of them.
const ITERATIONS: u64 = 100_000_000;

/// One in so many small file sizes stays.
const FILE_SIZES: usize = 4;

struct Step<'a> {
    planned: &'a mut Planned,
    /// The plan as requested.
    asked: Plan,
    budget_s: f64,
    /// Makes trials as long as this machine's limits require.
    lengthen: &'a dyn Fn(&mut Policy),
}

/// The steps, in order. Each does something only while the plan takes longer than the budget.
const STEPS: [fn(&mut Step) -> Option<String>; 13] = [
    |s| s.half_for_tools(),
    |s| s.fewer_trials(),
    |s| s.shorter_series(SERIES_S[0]),
    |s| s.without_problems(|s, _, place| s.point_s(place) > s.budget_s * SHARE),
    |s| s.without_files(|size, _| size > LARGE_FILE),
    |s| s.shorter_trials(),
    |s| s.fewer_iterations(),
    |s| s.without_files(|size, place| size < GIB && place % FILE_SIZES != 0),
    |s| s.fewer_tools(),
    |s| s.without_problems(|_, n, _| n > 0),
    |s| s.fewer_threads(),
    |s| s.shorter_series(SERIES_S[1]),
    |s| s.fewer_configurations(),
];

/// Makes a plan fit into a user's budget, with a finding for each step; if none suffices, a finding
/// states the time that is still needed.
pub(super) fn shrink(planned: &mut Planned, budget_s: f64, lengthen: &dyn Fn(&mut Policy)) {
    let asked = planned.plan.clone();
    let mut step = Step { planned, asked, budget_s, lengthen };
    let mut lines = Vec::new();
    for shrink in STEPS {
        if !step.fits() {
            lines.extend(shrink(&mut step));
        }
    }
    step.more_trials();
    step.more_tools();
    step.longer_series();
    lines.extend(step.describe_trials());
    lines.extend(step.describe_series());
    if !step.fits() {
        let least = format_seconds(step.needed_s());
        lines.push(format!("even so the plan takes about {least}"));
    }
    let further = step.further_pairs();
    let Planned { plan, tools, .. } = &mut *step.planned;
    tools.further = further;
    tools.installed.retain(|tool, _| plan.references.contains_key(tool));
    for line in lines {
        reduced(step.planned, budget_s, &line);
    }
}

/// Adds the finding about something that the budget reduces.
fn reduced(planned: &mut Planned, budget_s: f64, line: &str) {
    // The user's, of which the start and the end of the command take a part.
    let budget = format_seconds(planned.plan.policy.budget_s.unwrap_or(budget_s));
    let message = format!("for the budget of {budget}: {line}");
    planned.add(Finding::new(BUDGET, Severity::Note, message, ADVICE));
}

/// Makes the plan of a budget, with the budgets that hold what it lacks of the plan as requested.
pub(super) fn plan_with_advice(
    asked: &Planned,
    budget_s: f64,
    plan_within: &dyn Fn(f64) -> Planned,
) -> Planned {
    let mut planned = plan_within(budget_s);
    let mut budgets = Budgets::new(plan_within, budget_s);
    let rounds = quota::describe(&planned.plan, &asked.plan);
    let tools = tools::explain(&mut planned, &asked.plan, &mut budgets);
    for line in rounds.into_iter().chain(tools) {
        reduced(&mut planned, budget_s, &line);
    }
    if !is_whole(&planned, asked)
        && let Some(budget) = budgets.sufficient(|planned| is_whole(planned, asked))
    {
        let message = format!("{ALL} {budget}");
        planned.add(Finding::new(BUDGET, Severity::Note, message, ADVICE));
    }
    planned
}

/// True if the budget changes nothing of the plan as requested.
fn is_whole(planned: &Planned, asked: &Planned) -> bool {
    let budget_s = asked.plan.policy.budget_s;
    let policy = Policy { budget_s, ..planned.plan.policy.clone() };
    Plan { policy, ..planned.plan.clone() } == asked.plan && planned.findings == asked.findings
}

/// Start of the line with the budget that reduces nothing.
const ALL: &str = "nothing is reduced or left out with --budget";

impl Step<'_> {
    fn plan(&self) -> &Plan {
        &self.planned.plan
    }

    /// Seconds of the plan with its minimum of trials, and its tools.
    fn needed_s(&self) -> f64 {
        needed_s(self.plan())
    }

    fn fits(&self) -> bool {
        self.needed_s() <= self.budget_s
    }

    /// Seconds of one configuration with its tools.
    fn point_s(&self, place: usize) -> f64 {
        let plan = self.plan();
        let at = plan.references.values().flatten().filter(|r| r.point == place);
        let tools_s: f64 = at.map(|r| r.run_s * f64::from(r.runs)).sum();
        point_s(plan, place, &|p| plan.policy.trials_for(&p.workload).0) + tools_s
    }

    /// Leaves out the configurations that are wanted least.
    fn fewer_configurations(&mut self) -> Option<String> {
        leave_out::leave_out_of_budget(self.planned, self.budget_s);
        None
    }

    /// Shortens the series. Reported at the end, since [`Step::longer_series`] may undo it.
    fn shorter_series(&mut self, least_s: f64) -> Option<String> {
        for series in &mut self.planned.plan.series {
            series.for_s = series.for_s.min(least_s.max(10.0 * series.every_s));
        }
        None
    }

    /// Divides the time that is left equally among the series, in whole tens of seconds.
    fn longer_series(&mut self) {
        let count = self.plan().series.len().max(1);
        let left = (self.budget_s - self.needed_s()).max(0.0);
        let each = (left / count as f64 / 10.0).floor() * 10.0;
        let asked = &self.asked;
        let Plan { points, series, .. } = &mut self.planned.plan;
        for series in series {
            let is_its = |a: &&PlannedSeries| {
                asked.points.get(a.point) == points.get(series.point) && a.every_s == series.every_s
            };
            let all = asked.series.iter().filter(is_its).map(|a| a.for_s);
            series.for_s = (series.for_s + each).min(all.fold(series.for_s, f64::max));
        }
    }

    fn describe_series(&self) -> Option<String> {
        let longest = |all: &[PlannedSeries]| all.iter().map(|s| s.for_s).fold(0.0, f64::max);
        let total = |all: &[PlannedSeries]| all.iter().map(|s| s.for_s).sum::<f64>();
        let (asked, now) = (&self.asked.series, &self.plan().series);
        (!now.is_empty() && total(now) < total(asked)).then(|| {
            let [from, to] = [longest(asked), longest(now)].map(|s| format!("{s:.0} s"));
            format!("series {from} -> {to}")
        })
    }

    /// Leaves out large problems, the largest first; the smallest of a workload stays.
    fn without_problems(&mut self, goes: fn(&Self, u64, usize) -> bool) -> Option<String> {
        while !self.fits() {
            let size = |p: &Point| p.params.get(key::MATRIX_SIZE);
            let points = &self.plan().points;
            let least = |p: &Point| {
                points.iter().filter(|q| q.workload == p.workload).filter_map(size).min()
            };
            let large = |place: &usize| {
                let p = &points[*place];
                size(p).is_some_and(|n| least(p).is_some_and(|l| n > l) && goes(self, n, *place))
            };
            let place = (0..points.len()).filter(large).max_by_key(|place| size(&points[*place]));
            let Some(point) = place.map(|place| points[place].clone()) else { break };
            let n = size(&point)?;
            self.planned.leave_out(|_, p| p.workload != point.workload || size(p) != Some(n));
        }
        None
    }

    /// Leaves out files by their size and the rank of the size.
    fn without_files(&mut self, goes: fn(u64, usize) -> bool) -> Option<String> {
        let size = |p: &Point| p.params.get(key::FILE_SIZE);
        let sizes: BTreeSet<u64> = self.plan().points.iter().filter_map(size).collect();
        let sizes = sizes.into_iter().enumerate().filter(|(place, size)| goes(*size, *place));
        let sizes: Vec<u64> = sizes.map(|(_, size)| size).collect();
        let gone = |p: &Point| size(p).is_some_and(|s| sizes.contains(&s));
        // A plan of such files alone keeps them.
        if !self.plan().points.iter().all(gone) {
            self.planned.leave_out(|_, p| !gone(p));
        }
        None
    }

    fn fewer_iterations(&mut self) -> Option<String> {
        let mut lines = BTreeSet::new();
        for point in &mut self.planned.plan.points {
            let Some(from) = point.params.get(key::ITERATIONS).filter(|n| *n > ITERATIONS) else {
                continue;
            };
            let to = (from / 10).max(ITERATIONS);
            point.params = point.params.clone().with(key::ITERATIONS, to);
            lines.insert(format!("iterations of {} {from} -> {to}", point.workload));
        }
        let changes = lines.into_iter().collect::<Vec<_>>().join(", ");
        // Configurations that are now equal become one.
        let mut seen: Vec<(Point, bool)> = Vec::new();
        let series: BTreeSet<usize> = self.plan().series.iter().map(|s| s.point).collect();
        self.planned.keep(|place, p| {
            let this = (p.clone(), series.contains(&place));
            let new = !seen.contains(&this);
            seen.push(this);
            new
        });
        (!changes.is_empty()).then(|| format!("{changes}: less work than published"))
    }

    /// Keeps the minimum and the maximum number of threads of each workload, and one per CPU.
    fn fewer_threads(&mut self) -> Option<String> {
        let mut ranges: BTreeMap<String, (u64, u64)> = BTreeMap::new();
        for p in &self.plan().points {
            let n = p.params.threads();
            let (least, most) = ranges.entry(p.workload.clone()).or_insert((n, n));
            (*least, *most) = ((*least).min(n), (*most).max(n));
        }
        let series: BTreeSet<Point> =
            self.plan().series.iter().map(|s| self.plan().points[s.point].clone()).collect();
        let cpus = self.planned.usable_cpus;
        self.planned.leave_out(|_, p| {
            let n = p.params.threads();
            n == cpus
                || ranges.get(&p.workload).is_none_or(|(least, most)| n == *least || n == *most)
                || series.contains(p)
        });
        None
    }
}

/// Seconds of a plan with its minimum of trials, and its tools.
fn needed_s(plan: &Plan) -> f64 {
    seconds(plan, |p| plan.policy.trials_for(&p.workload).0) + references::seconds(plan)
}

#[cfg(test)]
mod tests;
