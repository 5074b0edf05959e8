//! What was measured and how, in sentences from the plan and the workloads' declarations.

use std::collections::{BTreeMap, BTreeSet};

use proofmark_model::{Measurement, Subsystem, format_seconds};
use serde::Serialize;

use super::label::{Group, parameter_value, spoken};
use super::part;
use super::text::{and_list, clean, plural, stop};

/// The design of one subsystem's measurements.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Design {
    /// `cpu`, `memory`, `disk` or `network`.
    pub subsystem: &'static str,
    /// The same for people: `CPU`.
    pub title: &'static str,
    /// A sentence or two each.
    pub sentences: Vec<String>,
    /// `Floating-point peak (cpu.flops): what it measures`, a workload each.
    pub workloads: Vec<String>,
}

/// Parameters whose values are listed, in this order; the others are with their workloads.
const LISTED: [&str; 5] = ["threads", "streams", "block_size", "file_size", "data_size"];

/// The design of a run.
pub fn describe(groups: &[Group]) -> Vec<Design> {
    let one = |(part, all): (Subsystem, Vec<(usize, &Group)>)| {
        let groups: Vec<&Group> = all.into_iter().map(|(_, g)| g).collect();
        Design {
            subsystem: part.as_str(),
            title: part.title(),
            sentences: sentences(part, &groups),
            workloads: groups.iter().map(|g| workload(g)).collect(),
        }
    };
    part::each(groups).into_iter().map(one).collect()
}

fn workload(group: &Group) -> String {
    let what = group.spec.map_or_else(
        || "The run file does not hold its declaration.".to_owned(),
        |s| stop(&clean(&s.summary)),
    );
    format!("{} ({}): {what}", group.heading(), clean(group.id))
}

fn sentences(part: Subsystem, groups: &[&Group]) -> Vec<String> {
    let Some(first) = groups.first() else { return Vec::new() };
    let run = first.run;
    let every: Vec<&Measurement> = groups.iter().flat_map(|g| g.all.iter().copied()).collect();
    let ids: BTreeSet<&str> = groups.iter().map(|g| g.id).collect();
    let planned = run.plan.points.iter().filter(|p| ids.contains(&*p.workload)).count();
    let of = match planned > every.len() {
        true => format!(" of {planned} planned"),
        false => String::new(),
    };
    let mut out = vec![format!(
        "{}, {}{of}{}.",
        plural(ids.len() as u64, "workload"),
        plural(every.len() as u64, "measured configuration"),
        parameters(groups)
    )];
    if every.is_empty() || run.imported.is_some() {
        return out;
    }
    out.extend(trials(&every, groups));
    out.extend(strong(groups));
    out.extend(over_time(&every));
    out.extend(part_of(part, &every));
    out.extend(verifications(&every));
    out.extend(tools(&every));
    out
}

/// `: threads 1, 2 and 4; block size 8 B and 8 KiB`.
fn parameters(groups: &[&Group]) -> String {
    let lists = LISTED.iter().filter_map(|parameter| {
        let mut values: BTreeMap<u64, String> = BTreeMap::new();
        for g in groups {
            for m in &g.all {
                if let Some(v) = m.params.int(parameter) {
                    values
                        .entry(v)
                        .or_insert_with(|| parameter_value(g.spec, parameter, &v.into()));
                }
            }
        }
        let values: Vec<String> = values.into_values().collect();
        (!values.is_empty()).then(|| format!("{} {}", spoken(parameter), and_list(&values)))
    });
    let lists: Vec<String> = lists.collect();
    if lists.is_empty() { String::new() } else { format!(": {}", lists.join("; ")) }
}

/// How many trials of what length there were.
fn trials(every: &[&Measurement], groups: &[&Group]) -> Option<String> {
    let counts: BTreeSet<usize> = every
        .iter()
        .filter(|m| m.series.is_none() && !m.trials.is_empty())
        .map(|m| m.trials.len())
        .collect();
    let (least, most) = (*counts.first()?, *counts.last()?);
    let count = match least == most {
        true => plural(least as u64, "trial"),
        false => format!("{least} to {most} trials"),
    };
    let policy = &groups.first()?.run.plan.policy;
    // What is sampled has no trials, and a trial whose work is fixed lasts as long as that takes.
    let in_trials = groups.iter().filter(|g| !g.over_time && !g.all.is_empty());
    let (fixed, timed): (Vec<&Group>, Vec<&Group>) =
        in_trials.copied().partition(|g| g.all.iter().any(|m| fixed_work(m)));
    let asked: BTreeSet<String> = timed
        .iter()
        .map(|g| policy.trial_s_for(g.id))
        .filter(|s| s.is_finite() && *s > 0.0)
        .map(format_seconds)
        .collect();
    let asked: Vec<String> = asked.into_iter().collect();
    let length = match asked.is_empty() {
        true => String::new(),
        false => format!(", each planned for {} or more", asked.join(" or ")),
    };
    let ids: BTreeSet<String> = fixed.iter().map(|g| clean(g.id)).collect();
    let ids: Vec<String> = ids.into_iter().collect();
    let but = match ids.is_empty() {
        true => String::new(),
        false => format!("; those of {} last as long as their work takes", and_list(&ids)),
    };
    Some(format!("Each configuration has {count}{length}{but}."))
}

/// Whether a trial is so much work, however long it takes.
fn fixed_work(m: &Measurement) -> bool {
    ["n", "iterations", "amount"].iter().any(|parameter| m.params.int(parameter).is_some())
}

/// Fixed work that is divided among the threads.
fn strong(groups: &[&Group]) -> Option<String> {
    let fixed: Vec<String> = groups
        .iter()
        .filter(|g| g.all.iter().any(|m| m.params.int("iterations").is_some()))
        .map(|g| clean(g.id))
        .collect();
    let fixed: Vec<String> = fixed.into_iter().collect::<BTreeSet<_>>().into_iter().collect();
    (!fixed.is_empty()).then(|| {
        format!(
            "Strong scaling: the iterations of {} are divided among the threads.",
            and_list(&fixed)
        )
    })
}

fn over_time(every: &[&Measurement]) -> Option<String> {
    let sampled: Vec<&Measurement> = every.iter().copied().filter(|m| m.series.is_some()).collect();
    let series = sampled.first()?.series.as_ref()?;
    let each = |v: f64| if v.is_finite() && v > 0.0 { format_seconds(v) } else { "-".to_owned() };
    Some(format!(
        "{} sampled over time, for {} every {}.",
        plural(sampled.len() as u64, "configuration"),
        each(series.for_s),
        each(series.every_s)
    ))
}

/// What is specific to one subsystem.
fn part_of(part: Subsystem, every: &[&Measurement]) -> Option<String> {
    match part {
        Subsystem::Disk => {
            let ways: BTreeSet<String> = every.iter().filter_map(|m| super::disk::way(m)).collect();
            let ways: Vec<String> = ways.into_iter().collect();
            (!ways.is_empty())
                .then(|| format!("The file was read and written {}.", ways.join("; ")))
        }
        Subsystem::Network => {
            let loopback = every.iter().filter(|m| super::network::over_loopback(m)).count();
            Some(match loopback {
                0 => "Client and server are separate machines.".to_owned(),
                n if n == every.len() => {
                    "All over loopback: client and server run on this machine, without a network."
                        .to_owned()
                }
                n => format!(
                    "{} over loopback (no network), {} to another machine.",
                    plural(n as u64, "configuration"),
                    every.len() - n
                ),
            })
        }
        _ => None,
    }
}

fn verifications(every: &[&Measurement]) -> Option<String> {
    let mut kinds: BTreeMap<String, u64> = BTreeMap::new();
    for w in every.iter().filter_map(|m| m.verification.as_ref()) {
        *kinds.entry(clean(&w.kind)).or_default() += 1;
    }
    let named: Vec<String> =
        kinds.iter().map(|(kind, n)| format!("{kind} ({})", plural(*n, "configuration"))).collect();
    (!named.is_empty())
        .then(|| format!("Independent verification of the work: {}.", and_list(&named)))
}

fn tools(every: &[&Measurement]) -> Option<String> {
    let mut tools: BTreeMap<String, u64> = BTreeMap::new();
    for r in every.iter().flat_map(|m| &m.references) {
        *tools.entry(clean(format!("{} {}", r.tool, r.version).trim())).or_default() += 1;
    }
    let named: Vec<String> =
        tools.iter().map(|(tool, n)| format!("{tool} ({})", plural(*n, "configuration"))).collect();
    (!named.is_empty())
        .then(|| format!("Reference tools that ran the same work: {}.", and_list(&named)))
}
