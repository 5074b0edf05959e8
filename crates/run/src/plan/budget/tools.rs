//! Fewer reference tools, one by one.

use std::collections::BTreeMap;

use proofmark_model::{Finding, Plan, PlannedReference, Point, counted};

use super::{BUDGET, Budgets, Step};
use crate::plan::references;
use crate::planned::{FurtherPairs, Planned};

/// Part of the budget that tools keep which the request or the profile names.
const NAMED_PART: f64 = 0.25;

/// The part of the budget that tools keep: those that nobody named keep none.
pub(in crate::plan) fn kept_part(planned: &Planned) -> f64 {
    if planned.tools.are_named { NAMED_PART } else { 0.0 }
}

impl Step<'_> {
    /// Leaves out tools until the rest takes at most half of the budget. Described at the end.
    pub(super) fn half_for_tools(&mut self) -> Option<String> {
        references::trim(self.planned, self.budget_s / 2.0);
        None
    }

    /// Leaves out tools until the plan fits, or the rest takes the part of the budget that they
    /// keep. Shorter trials may have made time for more. Described at the end.
    pub(super) fn fewer_tools(&mut self) -> Option<String> {
        let own_s = self.needed_s() - references::seconds(self.plan());
        self.trim_asked((self.budget_s - own_s).max(kept_part(self.planned) * self.budget_s));
        None
    }

    /// Plans as many of the requested tools as fit into so many seconds, and half of the budget.
    fn trim_asked(&mut self, most_s: f64) {
        self.planned.plan.references = self.asked_tools();
        references::estimate_again(&mut self.planned.plan, self.planned.usable_cpus);
        references::trim(self.planned, most_s.clamp(0.0, self.budget_s / 2.0));
    }

    /// The requested tools of the configurations that the plan still has.
    fn asked_tools(&self) -> BTreeMap<String, Vec<PlannedReference>> {
        let now = |r: &PlannedReference| {
            let asked = self.asked.points.get(r.point)?;
            let point = self.plan().points.iter().position(|point| point == asked)?;
            Some(PlannedReference { point, ..r.clone() })
        };
        let all = self.asked.references.iter();
        let all = all.map(|(tool, at)| (tool.clone(), at.iter().filter_map(now).collect()));
        all.filter(|(_, at): &(_, Vec<_>)| !at.is_empty()).collect()
    }

    /// The requested pairs of which the plan has fewer or none.
    pub(super) fn further_pairs(&mut self) -> Vec<FurtherPairs> {
        let asked = self.asked_tools();
        let planned = std::mem::replace(&mut self.planned.plan.references, asked);
        references::estimate_again(&mut self.planned.plan, self.planned.usable_cpus);
        let all = references::by_importance(&self.planned.plan);
        let further = |(tool, pairs): (String, PlannedReference)| {
            let now = planned.get(&tool).into_iter().flatten().find(|r| r.point == pairs.point);
            let has_fewer = now.is_none_or(|r| r.runs < pairs.runs);
            let installed = self.planned.tools.installed.get(&tool).filter(|_| has_fewer)?.clone();
            Some(FurtherPairs { tool, installed, pairs, left_out: now.is_none() })
        };
        let mut further: Vec<FurtherPairs> = all.into_iter().filter_map(further).collect();
        further.sort_by_key(|pairs| !pairs.left_out);
        self.planned.plan.references = planned;
        further
    }

    /// Brings tools back for which later steps made time.
    pub(super) fn more_tools(&mut self) {
        let asked = self.asked_tools();
        let count = asked.values().map(Vec::len).sum::<usize>();
        if count == self.plan().references.values().map(Vec::len).sum::<usize>() {
            return;
        }
        let own_s = self.needed_s() - references::seconds(self.plan());
        self.trim_asked(self.budget_s - own_s);
    }
}

/// Names the tools that are left out, each with a budget that holds it: `fio at 1 configuration:
/// --budget 34m takes it`. Their configurations get that as the reason.
pub(super) fn explain(
    planned: &mut Planned,
    asked: &Plan,
    budgets: &mut Budgets,
) -> Option<String> {
    let is_out = |(tool, point): &(&String, &Point)| !has(planned, tool, point);
    let out: Vec<(&String, &Point)> = pairs(asked).filter(is_out).collect();
    let mut counts: BTreeMap<&String, u64> = BTreeMap::new();
    for (tool, point) in out {
        *counts.entry(tool).or_default() += 1;
        let Some(place) = planned.plan.points.iter().position(|p| p == point) else { continue };
        let takes = budgets.sufficient(|planned| has(planned, tool, point));
        let takes =
            takes.map_or_else(String::new, |budget| format!("; --budget {budget} takes it"));
        let why = format!("left out for the time limit{takes}");
        let none = planned.tools.missing.entry(place).or_default();
        none.why = format!("{tool}: {why}");
        none.refused.push((tool.clone(), why));
    }
    let mut line = |(tool, count): (&String, u64)| {
        let all = |planned: &Planned| {
            pairs(asked).filter(|(t, _)| *t == tool).all(|(_, point)| has(planned, tool, point))
        };
        let takes = match budgets.sufficient(all) {
            Some(budget) if count == 1 => format!(": --budget {budget} takes it"),
            Some(budget) => format!(": --budget {budget} takes them"),
            None => String::new(),
        };
        format!("{tool} at {}{takes}", counted(count, "configuration"))
    };
    let lines: Vec<String> = counts.into_iter().map(&mut line).collect();
    (!lines.is_empty()).then(|| format!("{LEFT_OUT}{UNLESS}: {}", lines.join("; ")))
}

/// The start of the line about tools that are left out, and its condition before the run.
const LEFT_OUT: &str = "reference tools left out";
const UNLESS: &str = ", unless time remains";

/// Corrects the line about tools after a run, which may have taken their pairs in the time that
/// remained. `left`: the tools that took none, each with its number of configurations.
pub(crate) fn correct(findings: &mut Vec<Finding>, left: &BTreeMap<String, u64>) {
    let Some(at) = findings.iter().position(|f| f.check == BUDGET && f.message.contains(LEFT_OUT))
    else {
        return;
    };
    if left.is_empty() {
        findings.remove(at);
        return;
    }
    let budget = findings[at].message.split(LEFT_OUT).next().unwrap_or_default();
    let each = left.iter().map(|(tool, n)| format!("{tool} at {}", counted(*n, "configuration")));
    findings[at].message = format!("{budget}{LEFT_OUT}: {}", each.collect::<Vec<_>>().join("; "));
}

/// The tools of a plan, each with a configuration that it repeats.
fn pairs(plan: &Plan) -> impl Iterator<Item = (&String, &Point)> {
    let at = |tool, r: &PlannedReference| Some((tool, plan.points.get(r.point)?));
    plan.references.iter().flat_map(move |(tool, all)| all.iter().filter_map(move |r| at(tool, r)))
}

fn has(planned: &Planned, tool: &str, point: &Point) -> bool {
    pairs(&planned.plan).any(|(t, p)| t == tool && p == point)
}
