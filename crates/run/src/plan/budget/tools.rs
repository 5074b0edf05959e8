//! Fewer reference tools, one by one.

use std::collections::BTreeMap;

use proofmark_model::{PlannedReference, counted};

use super::{Step, needed_s, typed};
use crate::plan::references::{self, by_importance};

/// Part of the budget that tools keep which the request or the profile names.
const NAMED_PART: f64 = 0.25;

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
        self.trim_asked((self.budget_s - own_s).max(self.kept_part() * self.budget_s));
        None
    }

    /// Plans as many of the requested tools as fit into so many seconds, and half of the budget.
    fn trim_asked(&mut self, most_s: f64) {
        self.planned.plan.references = self.asked_tools();
        references::estimate_again(&mut self.planned.plan, self.planned.usable_cpus);
        references::trim(self.planned, most_s.clamp(0.0, self.budget_s / 2.0));
    }

    /// The part of the budget that tools keep: those that nobody named keep none.
    fn kept_part(&self) -> f64 {
        if self.planned.tools.are_named { NAMED_PART } else { 0.0 }
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

    /// Names the tools that are left out, each with a budget that holds it: `fio at 3
    /// configurations: --budget 34m takes it`. Their configurations get that as the reason.
    pub(super) fn explain_tools(&mut self) -> Option<String> {
        let own_s = needed_s(&self.asked) - references::seconds(&self.asked);
        let mut out: BTreeMap<String, (usize, f64)> = BTreeMap::new();
        let mut tools_s = 0.0;
        for (tool, asked) in by_importance(&self.asked) {
            tools_s += asked.run_s * f64::from(asked.runs);
            let place = self.asked.points.get(asked.point).and_then(|asked| {
                let points = &self.planned.plan.points;
                points.iter().position(|point| point == asked)
            });
            let mut kept = self.plan().references.get(&tool).into_iter().flatten();
            if kept.any(|r| Some(r.point) == place) {
                continue;
            }
            // Tools get at most half of a budget. They keep a part of it at configurations that stay.
            let kept_s = place.map_or(f64::INFINITY, |_| tools_s / self.kept_part());
            let needs_s = (own_s + tools_s).max(2.0 * tools_s).min(kept_s);
            let (count, most_s) = out.entry(tool.clone()).or_default();
            (*count, *most_s) = (*count + 1, needs_s.max(*most_s));
            if let Some(place) = place {
                let why =
                    format!("left out for the time limit; --budget {} takes it", typed(needs_s));
                let none = self.planned.tools.missing.entry(place).or_default();
                none.why = format!("{tool}: {why}");
                none.refused.push((tool, why));
            }
        }
        let kept = &self.planned.plan.references;
        self.planned.tools.installed.retain(|tool, _| kept.contains_key(tool));
        let line = |(tool, (count, needs_s)): (String, (usize, f64))| {
            let at = counted(count, "configuration");
            format!("{tool} at {at}: --budget {} takes it", typed(needs_s))
        };
        let lines: Vec<String> = out.into_iter().map(line).collect();
        (!lines.is_empty()).then(|| format!("reference tools left out: {}", lines.join("; ")))
    }
}
