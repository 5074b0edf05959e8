//! Result of planning: the plan, and notices for the user.

use std::collections::BTreeMap;

use proofmark_model::{Finding, Plan, PlannedReference, Point};
use proofmark_reference::Installed;

/// The plan, and notices for the user.
#[derive(Debug, Clone, Default)]
pub struct Planned {
    /// The plan.
    pub plan: Plan,
    /// Lines about what the plan omits because this machine lacks a feature.
    pub unsupported: Vec<String>,
    /// Lines about what it omits because the machine has too little of a resource, or none in the
    /// expected place.
    pub left_out: Vec<String>,
    /// Line about what the time limit leaves out, unless time remains.
    pub left_out_for_time: Option<String>,
    /// Findings about changes of the plan.
    pub findings: Vec<Finding>,
    /// Data about the reference tools that are not in the plan.
    pub tools: PlannedTools,
    /// The table of the profile to which each configuration belongs.
    pub tables: Vec<usize>,
    /// CPUs of the machine that the run may use.
    pub usable_cpus: u64,
    /// Rank of each configuration, then of each that is left out, 0 for the most wanted; `None`: no
    /// time limit ends the run.
    pub ranks: Option<Vec<usize>>,
}

/// Data about the reference tools that are not in the plan.
#[derive(Debug, Clone, Default)]
pub struct PlannedTools {
    /// Tools that were found here, by name.
    pub installed: BTreeMap<String, Installed>,
    /// Reasons why tools do not run, by the configuration's index in the plan.
    pub missing: BTreeMap<usize, NoReference>,
    /// Maximum total seconds of all pairs; `None`: no limit.
    pub most_s: Option<f64>,
    /// Seconds of the time limit that the tools keep, whatever else takes longer than estimated.
    pub kept_s: f64,
    /// True if the request or the profile names tools.
    pub are_named: bool,
    /// Pairs for which the plan has no time, the most important first. They are taken in the time that
    /// remains in the end.
    pub further: Vec<FurtherPairs>,
}

/// Pairs of a tool and a configuration that a time limit left out or made fewer.
#[derive(Debug, Clone)]
pub struct FurtherPairs {
    /// Name of the tool.
    pub tool: String,
    /// The tool as found here.
    pub installed: Installed,
    /// All its pairs, those of the plan included.
    pub pairs: PlannedReference,
    /// True if the plan has none of them.
    pub left_out: bool,
}

/// Reasons why tools do not run for a configuration.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct NoReference {
    /// Requested tools that cannot do its work, with the reason.
    pub refused: Vec<(String, String)>,
    /// The reason if no tool runs.
    pub why: String,
}

impl Planned {
    /// Adds a finding, once.
    pub(crate) fn add(&mut self, finding: Finding) {
        if !self.findings.iter().any(|f| f.message == finding.message) {
            self.findings.push(finding);
        }
    }

    /// Notes that the configurations at these places, the last of which are new, belong to a table.
    pub(crate) fn add_to_table(&mut self, table: usize, places: &[usize]) {
        let last = places.iter().copied().max().map_or(0, |place| place + 1);
        self.tables.resize(last.max(self.tables.len()), table);
    }

    /// Keeps these configurations and notes the others as left out for the time limit, in front of
    /// those that were before.
    pub(crate) fn leave_out(&mut self, mut keeps: impl FnMut(usize, &Point) -> bool) {
        let mut out = Vec::new();
        self.keep(|place, point| {
            let kept = keeps(place, point);
            if !kept {
                out.push(point.clone());
            }
            kept
        });
        self.plan.left_out.splice(0..0, out);
    }

    /// Keeps these configurations of the plan, in order, with their data.
    pub(crate) fn keep(&mut self, keeps: impl FnMut(usize, &Point) -> bool) {
        let Self { plan, tools, tables, .. } = self;
        let places = keep(plan, keeps);
        let mut place = 0..;
        tables.retain(|_| place.next().is_some_and(|place| places.contains_key(&place)));
        let reasons = std::mem::take(&mut tools.missing).into_iter();
        tools.missing =
            reasons.filter_map(|(place, why)| Some((*places.get(&place)?, why))).collect();
    }
}

/// Keeps these configurations of a plan, in order, with their data. Returns the new index of each.
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
