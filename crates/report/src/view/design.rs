//! Describes what was measured and how, from the plan and the workloads' declarations.

use std::collections::{BTreeMap, BTreeSet};

use proofmark_model::{Measurement, Subsystem, format_seconds, key};
use serde::Serialize;

use super::label::{Group, by_subsystem, parameter_value, spoken};
use super::text::{agree, and_list, clean, counted, enclosed, joined, stop};

/// The design of one subsystem's measurements.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Design {
    /// `cpu`, `memory`, `disk` or `network`.
    pub subsystem: &'static str,
    /// The subsystem's title: `CPU`.
    pub title: &'static str,
    /// The sentences of the description.
    pub sentences: Vec<String>,
    /// One `Floating-point peak (cpu.flops): what it measures` per workload.
    pub workloads: Vec<String>,
}

/// Parameters whose values are listed, in this order; the others are listed with their workloads.
const LISTED: [&str; 5] = [
    key::THREADS.name(),
    key::STREAMS.name(),
    key::BLOCK_SIZE.name(),
    key::FILE_SIZE.name(),
    key::DATA_SIZE.name(),
];

pub fn describe(groups: &[Group]) -> Vec<Design> {
    let one = |(part, groups): (Subsystem, Vec<&Group>)| Design {
        subsystem: part.as_str(),
        title: part.info().title,
        sentences: sentences(part, &groups),
        workloads: groups.iter().map(|g| workload(g)).collect(),
    };
    by_subsystem(groups).into_iter().map(one).collect()
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
        counted(ids.len() as u64, "workload"),
        counted(every.len() as u64, "measured configuration"),
        parameters(groups)
    )];
    if every.is_empty() || run.imported.is_some() {
        return out;
    }
    let more = [
        trials(&every, groups),
        strong_scaling(groups),
        over_time(&every),
        specific_to(part, &every),
    ];
    out.extend(more.into_iter().chain([verifications(&every), tools(&every)]).flatten());
    out
}

/// `: threads 1, 2 and 4; block size 8 B and 8 KiB`.
fn parameters(groups: &[&Group]) -> String {
    let lists = LISTED.iter().map(|parameter| {
        let of = |g: &Group, m: &Measurement| {
            let value = m.params.number(parameter)?;
            Some((value, parameter_value(g.spec, parameter, &value.into())))
        };
        let values = groups.iter().flat_map(|g| g.all.iter().filter_map(|m| of(g, m)));
        // If two declarations differ, the first decides how a value is written.
        let values: BTreeMap<u64, String> = values.collect::<Vec<_>>().into_iter().rev().collect();
        enclosed(&format!("{} ", spoken(parameter)), &and_list(values.into_values()), "")
    });
    enclosed(": ", &joined(lists, "; "), "")
}

/// The number and length of the trials.
fn trials(every: &[&Measurement], groups: &[&Group]) -> Option<String> {
    let counts: BTreeSet<usize> = every
        .iter()
        .filter(|m| m.series.is_none() && !m.trials.is_empty())
        .map(|m| m.trials.len())
        .collect();
    let (least, most) = (*counts.first()?, *counts.last()?);
    let count = match least == most {
        true => counted(least as u64, "trial"),
        false => format!("{least} to {most} trials"),
    };
    let policy = &groups.first()?.run.plan.policy;
    // Sampled configurations have no trials, and a trial with fixed work lasts as long as its work
    // takes.
    let in_trials = groups.iter().filter(|g| !g.over_time && !g.all.is_empty());
    let (fixed, timed): (Vec<&Group>, Vec<&Group>) =
        in_trials.copied().partition(|g| g.all.iter().any(|m| fixed_work(m)));
    let asked: BTreeSet<String> = timed
        .iter()
        .map(|g| policy.trial_s_for(g.id))
        .filter(|s| s.is_finite() && *s > 0.0)
        .map(format_seconds)
        .collect();
    let length = enclosed(", each planned for ", &joined(asked, " or "), " or more");
    let ids: BTreeSet<String> = fixed.iter().map(|g| clean(g.id)).collect();
    let but = enclosed("; those of ", &and_list(ids), " last as long as their work takes");
    Some(format!("Each configuration has {count}{length}{but}."))
}

/// Returns true if a trial is a fixed amount of work, however long it takes.
fn fixed_work(m: &Measurement) -> bool {
    let p = &m.params;
    let amounts = [p.get(key::MATRIX_SIZE), p.get(key::ITERATIONS), p.get(key::AMOUNT)];
    amounts.iter().any(Option::is_some)
}

/// Names the workloads whose fixed work is divided among the threads.
fn strong_scaling(groups: &[&Group]) -> Option<String> {
    let fixed =
        groups.iter().filter(|g| g.all.iter().any(|m| m.params.get(key::ITERATIONS).is_some()));
    let fixed: BTreeSet<String> = fixed.map(|g| clean(g.id)).collect();
    let why = " are divided among the threads.";
    unless_empty(enclosed("Strong scaling: the iterations of ", &and_list(fixed), why))
}

/// The sentence, unless it is empty.
fn unless_empty(sentence: String) -> Option<String> {
    Some(sentence).filter(|s| !s.is_empty())
}

fn over_time(every: &[&Measurement]) -> Option<String> {
    let sampled: Vec<&Measurement> = every.iter().copied().filter(|m| m.series.is_some()).collect();
    let series = sampled.first()?.series.as_ref()?;
    let each = |v: f64| if v.is_finite() && v > 0.0 { format_seconds(v) } else { "-".to_owned() };
    let count = sampled.len() as u64;
    Some(format!(
        "{} {} sampled over time: every {} for {}.",
        counted(count, "configuration"),
        agree(count, ["was", "were"]),
        each(series.every_s),
        each(series.for_s)
    ))
}

/// Sentences that only one subsystem has.
fn specific_to(part: Subsystem, every: &[&Measurement]) -> Option<String> {
    match part.info() {
        info if info.uses_block_devices => {
            let paths: BTreeSet<String> =
                every.iter().filter_map(|m| super::disk::io_path(m)).collect();
            unless_empty(enclosed("I/O of the file: ", &joined(paths, "; "), "."))
        }
        info if info.has_server => {
            let loopback = every.iter().filter(|m| super::network::over_loopback(m)).count();
            Some(match loopback {
                0 => "Client and server are separate machines.".to_owned(),
                n if n == every.len() => {
                    "All over loopback: client and server run on this machine, without a network."
                        .to_owned()
                }
                n => format!(
                    "{} over loopback (no network), {} to another machine.",
                    counted(n as u64, "configuration"),
                    every.len() - n
                ),
            })
        }
        _ => None,
    }
}

fn verifications(every: &[&Measurement]) -> Option<String> {
    let kinds = every.iter().filter_map(|m| Some(clean(&m.verification.as_ref()?.kind)));
    unless_empty(enclosed("Independent verification of the work: ", &with_counts(kinds), "."))
}

fn tools(every: &[&Measurement]) -> Option<String> {
    let references = every.iter().flat_map(|m| &m.references);
    let tools = references.map(|r| clean(format!("{} {}", r.tool, r.version).trim()));
    unless_empty(enclosed("Reference tools that ran the same work: ", &with_counts(tools), "."))
}

/// Each name with the number of its configurations.
fn with_counts(names: impl Iterator<Item = String>) -> String {
    let mut counts: BTreeMap<String, u64> = BTreeMap::new();
    names.for_each(|name| *counts.entry(name).or_default() += 1);
    let each = counts.iter().map(|(name, n)| format!("{name} ({})", counted(*n, "configuration")));
    and_list(each)
}
