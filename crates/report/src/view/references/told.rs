//! What a tool's figure counts, its version, its command lines; and why one did not run.

use std::collections::BTreeMap;

use proofmark_model::{Finding, Measurement};
use serde::Serialize;

use super::Pair;
use crate::view::label::{Group, why_missing, why_no_trials};
use crate::view::text::{clean, plural, stop};

/// The finding that a tool failed, which begins with its name.
const FAILED: &str = "reference.failed";

/// Points that are told by name.
const NAMED: usize = 4;

/// A command line and where it was used.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Command {
    /// The points, or how many; empty where the kernel has but one.
    pub at: String,
    /// As it was started.
    pub line: String,
}

/// One tool of one version.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Told {
    /// `fio 3.33`.
    pub name: String,
    /// What its figure counts, each once; none where it said nothing of it.
    pub counts: Vec<String>,
    /// How it was started, each command line once.
    pub commands: Vec<Command>,
}

impl Told {
    /// `fio 3.33 counts bytes of whole requests.`
    pub fn sentence(&self) -> String {
        match self.counts.as_slice() {
            [] => stop(&self.name),
            counts => stop(&format!("{} counts {}", self.name, counts.join("; "))),
        }
    }
}

/// The tools, in the order of rows.
pub fn all(group: &Group, pairs: &[Pair]) -> Vec<Told> {
    let name = |(_, r): &Pair| clean(format!("{} {}", r.tool, r.version).trim());
    let mut names: Vec<String> = Vec::new();
    for name in pairs.iter().map(name) {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    let one = |tool: String| {
        let of: Vec<Pair> = pairs.iter().copied().filter(|p| name(p) == tool).collect();
        let mut counts: Vec<String> = Vec::new();
        for (_, r) in &of {
            let text = clean(r.counts.trim()).trim_end_matches('.').to_owned();
            if !text.is_empty() && !counts.contains(&text) {
                counts.push(text);
            }
        }
        Told { commands: commands(group, &of), name: tool, counts }
    };
    names.into_iter().map(one).collect()
}

fn commands(group: &Group, of: &[Pair]) -> Vec<Command> {
    let mut lines: Vec<(String, Vec<&Measurement>)> = Vec::new();
    for (m, r) in of {
        let line = clean(&r.command);
        match lines.iter_mut().find(|(known, _)| *known == line) {
            Some((_, points)) => points.push(*m),
            None => lines.push((line, vec![*m])),
        }
    }
    lines.into_iter().map(|(line, m)| Command { at: whereabouts(group, &m), line }).collect()
}

/// Few points by name, of more their number.
fn whereabouts(group: &Group, points: &[&Measurement]) -> String {
    if points.len() > NAMED {
        return plural(points.len() as u64, "point");
    }
    let names: Vec<String> = points.iter().map(|m| group.short(m)).collect();
    names.into_iter().filter(|n| !n.is_empty()).collect::<Vec<_>>().join("; ")
}

/// Points of the kernel without a tool, and tools of the plan without a figure, with the reasons;
/// nothing in a run that had no tools.
pub fn lacking(group: &Group) -> Vec<String> {
    let plan = &group.run.plan;
    let used = |m: &Measurement| !m.references.is_empty();
    if plan.references.is_empty() && !group.run.measurements.iter().any(used) {
        return Vec::new();
    }
    let mut by_reason: BTreeMap<(String, String), Vec<&Measurement>> = BTreeMap::new();
    for m in &group.all {
        let planned = |places: &[usize]| {
            let mut points = places.iter().filter_map(|at| plan.points.get(*at));
            points.any(|p| p.kernel == m.kernel && p.params == m.params)
        };
        let here = plan.references.iter().filter(|(_, at)| planned(at));
        let tools: Vec<&str> = here.map(|(tool, _)| tool.as_str()).collect();
        let without = |tool: &&&str| m.references.iter().all(|r| r.tool != **tool);
        for tool in tools.iter().filter(without) {
            let key = (format!("{} has no figure", clean(tool)), why_no_figure(m, tool));
            by_reason.entry(key).or_default().push(m);
        }
        for (part, why) in &m.missing {
            if let Some(tool) = part.strip_prefix("references.") {
                let key = (format!("{} did not run", clean(tool)), clean(why));
                by_reason.entry(key).or_default().push(m);
            }
        }
        if tools.is_empty() && m.references.is_empty() {
            let why = why_missing(m, "references", "no reason recorded");
            by_reason.entry(("No tool ran".to_owned(), why)).or_default().push(m);
        }
    }
    let sentence = |((what, why), points): ((String, String), Vec<&Measurement>)| {
        let at = match whereabouts(group, &points) {
            at if at.is_empty() || points.len() == group.all.len() => String::new(),
            at => format!(" ({at})"),
        };
        stop(&format!("{what} beside it{at}: {why}"))
    };
    by_reason.into_iter().map(sentence).collect()
}

/// Why a tool that was to run beside a point has no figure there.
fn why_no_figure(m: &Measurement, tool: &str) -> String {
    let failed = |f: &&Finding| f.check == FAILED && f.message.starts_with(tool);
    let named = format!("{tool} beside it failed: ");
    match m.findings.iter().find(failed) {
        Some(f) => clean(f.message.strip_prefix(&named).unwrap_or(&f.message)),
        None if m.summary.is_none() => why_no_trials(m),
        None => why_missing(m, "references", "no reason recorded"),
    }
}
