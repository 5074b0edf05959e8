//! Time of the reference tools of a plan, and which of them it leaves.

use std::collections::BTreeMap;

use proofmark_model::{Params, Plan, PlannedReference, Point, Unit, format_seconds, key};

use super::task;
use crate::planned::{NoReference, Planned};
use crate::registry::{in_rounds, needs};
use crate::schedule::warm_trials;

/// Maximum runs of a tool per configuration: the interval of 8 ratios is their 2nd to their 7th.
const RUNS: u32 = 8;

/// Minimum runs of a tool per configuration.
const FEWEST: u32 = 3;

/// Makes the tools that nobody requested fit into so many seconds. The others are left out and named.
pub(super) fn within(planned: &mut Planned, most_s: f64) {
    for (tool, pair) in trim(planned, most_s) {
        let workload = &planned.plan.points[pair.point].workload;
        let why = format!(
            "{tool} is not compared with {workload}: {FEWEST} pairs take about {}, and all \
             reference tools together have {}; name it with --reference",
            format_seconds(pair.run_s * f64::from(FEWEST)),
            format_seconds(most_s)
        );
        planned.left_out.push(why.clone());
        planned.tools.missing.insert(pair.point, NoReference { refused: Vec::new(), why });
    }
    let kept = &planned.plan.references;
    planned.tools.installed.retain(|tool, _| kept.contains_key(tool));
}

/// All pairs of a plan with their tools, the most important first: the first tool of a configuration
/// before further ones, then one configuration of each workload, then the shortest.
pub fn by_importance(plan: &Plan) -> Vec<(String, PlannedReference)> {
    let all = plan.references.iter();
    let mut pairs: Vec<(String, PlannedReference)> =
        all.flat_map(|(tool, at)| at.iter().map(|r| (tool.clone(), r.clone()))).collect();
    pairs.sort_by(|a, b| a.1.run_s.total_cmp(&b.1.run_s));
    let mut seen: BTreeMap<(String, &str), usize> = BTreeMap::new();
    let nth = |(tool, pair): &(String, PlannedReference)| {
        let workload = plan.points.get(pair.point).map_or("", |point| &point.workload);
        let count = seen.entry((tool.clone(), workload)).or_default();
        *count += 1;
        *count
    };
    let places: Vec<usize> = pairs.iter().map(nth).collect();
    let mut pairs: Vec<_> = places.into_iter().zip(pairs).collect();
    pairs.sort_by_key(|(nth, (_, pair))| (pair.second, *nth));
    pairs.into_iter().map(|(_, pair)| pair).collect()
}

/// Makes all tools together fit into so many seconds, the most important first. Each has an even share
/// of the remaining time and at least three runs. Returns the pairs that are left out.
pub fn trim(planned: &mut Planned, most_s: f64) -> Vec<(String, PlannedReference)> {
    let pairs = by_importance(&planned.plan);
    let (mut left_s, mut waiting) = (most_s, pairs.len());
    planned.plan.references.clear();
    let mut out = Vec::new();
    for (tool, mut pair) in pairs {
        let share_s = left_s / waiting as f64;
        waiting -= 1;
        let fewest = FEWEST.min(pair.runs);
        pair.runs = pair.runs.min(((share_s / pair.run_s) as u32).max(fewest));
        let takes_s = pair.run_s * f64::from(pair.runs);
        if takes_s <= left_s {
            left_s -= takes_s;
            planned.plan.references.entry(tool).or_default().push(pair);
        } else {
            out.push((tool, pair));
        }
    }
    // In the order of the configurations, as planned.
    planned.plan.references.values_mut().for_each(|all| all.sort_by_key(|r| r.point));
    out
}

/// Estimates again how long each pair takes, after trials have become shorter.
pub fn estimate_again(plan: &mut Plan, usable_cpus: u64) {
    let cpus: Vec<u32> = (0..usable_cpus as u32).collect();
    let mut references = std::mem::take(&mut plan.references);
    for (name, all) in &mut references {
        let Some(tool) = proofmark_reference::find(name) else { continue };
        for pair in all {
            let Some(at) = plan.points.get(pair.point) else { continue };
            if let Some(task) = task(plan, at, tool, &cpus, tool.shortest()) {
                pair.run_s = pair.run_s.min(tool.takes(&task) + ours_s(at, task.seconds));
            }
        }
    }
    plan.references = references;
}

/// Makes the trials of workloads with tools last as long as the tools need for exact results.
pub fn lengthen(plan: &mut Plan) {
    for (name, all) in &plan.references {
        let Some(tool) = proofmark_reference::find(name) else { continue };
        let shortest_s = tool.shortest();
        for workload in all.iter().filter_map(|r| plan.points.get(r.point)).map(|p| &p.workload) {
            if shortest_s > plan.policy.trial_s_for(workload) {
                plan.policy.trial_s_of.insert(workload.clone(), shortest_s);
            }
        }
    }
}

/// The number of runs of a tool that take `run_s` each; `None`: too few fit into the time.
pub(super) fn runs(run_s: f64, most_s: f64, max_trials: u32) -> Option<u32> {
    let most = RUNS.min(max_trials);
    let in_time = (most_s / run_s.max(1e-3)) as u32;
    (in_time >= FEWEST.min(most)).then_some(in_time.min(most))
}

/// Seconds of the tools of a plan.
pub fn seconds(plan: &Plan) -> f64 {
    plan.references.values().flatten().map(|r| r.run_s * f64::from(r.runs)).sum()
}

/// Seconds of our own trial of a pair, with its set-up.
pub(super) fn ours_s(point: &Point, trial_s: f64) -> f64 {
    // Rates at which a host gives a guest new memory and at which a disk takes a file, in B/s.
    const MEMORY: f64 = 2e9;
    const DISK: f64 = 5e8;
    let needs = needs(point);
    let warm = if in_rounds(&point.workload) { 0.0 } else { warm_trials(trial_s) };
    needs.memory_bytes as f64 / MEMORY + needs.disk_bytes as f64 / DISK + trial_s * (1.0 + warm)
}

/// Units of work per second of an ordinary machine, used before any measurement.
pub(super) fn usual_rate(unit: Unit, params: &Params) -> f64 {
    const OPERATIONS: f64 = 1e4;
    match unit {
        // An I/O of a few bytes is no faster than one of many.
        Unit::BytePerSecond if params.has(key::FILE_SIZE) => {
            (OPERATIONS * params.block_bytes().unwrap_or(1.0)).min(3e8)
        }
        Unit::BytePerSecond | Unit::BitPerSecond => 1e10,
        Unit::FlopPerSecond => 1e11,
        Unit::OpPerSecond => OPERATIONS,
        // Loads of some nanoseconds.
        _ => 1e8,
    }
}
