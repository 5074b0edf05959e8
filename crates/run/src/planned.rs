//! What planning makes: the plan, and what a user should know about it first.

use std::collections::BTreeMap;

use proofmark_model::{Finding, Plan, Point};
use proofmark_reference::Installed;

/// What is to be measured, and what a user should know about it first.
#[derive(Debug, Default)]
pub struct Planned {
    /// The plan.
    pub plan: Plan,
    /// What this machine does not have and the plan therefore does without.
    pub unsupported: Vec<String>,
    /// What it has, but not enough of, or not where it was looked for.
    pub left_out: Vec<String>,
    /// What runs otherwise than planned.
    pub findings: Vec<Finding>,
    /// What the plan does not hold of its reference tools.
    pub tools: PlannedTools,
}

/// What a plan does not hold of its reference tools.
#[derive(Debug, Clone, Default)]
pub struct PlannedTools {
    /// As they were found here, by name.
    pub installed: BTreeMap<String, Installed>,
    /// Why tools do not run at a point, by its place in the plan.
    pub missing: BTreeMap<usize, NoReference>,
    /// Seconds that all pairs may take together; `None`: as long as they take.
    pub most_s: Option<f64>,
}

/// Why tools do not run at a point.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct NoReference {
    /// Those that were asked for and cannot do its work, with the reason.
    pub refused: Vec<(String, String)>,
    /// Why there is none, should none run.
    pub why: String,
}

impl Planned {
    /// Adds a finding, once.
    pub(crate) fn add(&mut self, finding: Finding) {
        if !self.findings.iter().any(|f| f.message == finding.message) {
            self.findings.push(finding);
        }
    }

    /// Keeps these points of the plan, in order, with what belongs to them.
    pub(crate) fn keep(&mut self, keeps: impl FnMut(usize, &Point) -> bool) {
        let Self { plan, tools, .. } = self;
        let places = keep(plan, keeps);
        tools.installed.retain(|name, _| plan.references.contains_key(name));
        let reasons = std::mem::take(&mut tools.missing).into_iter();
        tools.missing =
            reasons.filter_map(|(place, why)| Some((*places.get(&place)?, why))).collect();
    }
}

/// Keeps these points of a plan, in order, with what belongs to them; the new place of each.
pub(crate) fn keep(
    plan: &mut Plan,
    mut keeps: impl FnMut(usize, &Point) -> bool,
) -> BTreeMap<usize, usize> {
    let mut places = BTreeMap::new();
    let mut points = Vec::new();
    for (place, point) in plan.points.drain(..).enumerate() {
        if keeps(place, &point) {
            places.insert(place, points.len());
            points.push(point);
        }
    }
    plan.points = points;
    let move_to = |point: &mut usize| places.get(point).map(|now| *point = *now).is_some();
    plan.series.retain_mut(|s| move_to(&mut s.point));
    plan.references.values_mut().for_each(|all| all.retain_mut(|r| move_to(&mut r.point)));
    plan.references.retain(|_, all| !all.is_empty());
    places
}
