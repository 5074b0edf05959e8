//! What a tool's figure counts and is compared with, its version, its command lines; and why one did not run.

use std::collections::BTreeMap;

use proofmark_model::{Measurement, Reference, Run};
use serde::Serialize;

use super::Compared;
use crate::view::label::{Group, why_missing};
use crate::view::text::{and_list, clean, plural, stop};

/// What begins the names of the missing parts that say why a tool has no figure.
const OF_TOOL: &str = "references.";

/// Points or workloads that are named.
const NAMED: usize = 4;

/// A command line and where it was used.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Command {
    /// The points, or how many; empty where the workload has but one.
    pub at: String,
    /// As it was started.
    pub line: String,
}

/// One tool of one version.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ToolNote {
    /// `fio 3.33`.
    pub name: String,
    /// What its figure counts, each once; none where it said nothing of it.
    pub counts: Vec<String>,
    /// How it was started, each command line once.
    pub commands: Vec<Command>,
}

impl ToolNote {
    /// `fio 3.33 counts bytes of whole requests.`
    pub fn sentence(&self) -> String {
        match self.counts.as_slice() {
            [] => stop(&self.name),
            counts => stop(&format!("{} counts {}", self.name, counts.join("; "))),
        }
    }
}

/// The tools, in the order of rows.
pub fn for_tools(group: &Group, compared: &[Compared]) -> Vec<ToolNote> {
    let name = |(_, r): &Compared| clean(format!("{} {}", r.tool, r.version).trim());
    let mut names: Vec<String> = Vec::new();
    for name in compared.iter().map(name) {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    let one = |tool: String| {
        let of: Vec<Compared> = compared.iter().copied().filter(|p| name(p) == tool).collect();
        let mut counts: Vec<String> = Vec::new();
        for (_, r) in &of {
            let text = clean(r.counts.trim()).trim_end_matches('.').to_owned();
            for text in [text, figure(r)] {
                if !text.is_empty() && !counts.contains(&text) {
                    counts.push(text);
                }
            }
        }
        ToolNote { commands: commands(group, &of), name: tool, counts }
    };
    names.into_iter().map(one).collect()
}

/// Which figures the pairs compare.
fn figure(r: &Reference) -> String {
    let ours = "what each proofmark trial delivered (all work over all time)";
    format!("{}, compared with {ours}", r.printed.words())
}

fn commands(group: &Group, of: &[Compared]) -> Vec<Command> {
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
        return plural(points.len() as u64, "configuration");
    }
    let names: Vec<String> = points.iter().map(|m| group.short(m)).collect();
    names.into_iter().filter(|n| !n.is_empty()).collect::<Vec<_>>().join("; ")
}

/// Tools that were to run and have no figure, and points without any, with the reasons; nothing in
/// a run that was to have no tools.
pub fn lacking(group: &Group) -> Vec<String> {
    if !had_tools(group.run) || nothing_reported(group) {
        return Vec::new();
    }
    let mut by_reason: BTreeMap<(String, String), Vec<&Measurement>> = BTreeMap::new();
    for m in &group.all {
        let of_tools: Vec<(&str, &String)> = m
            .missing
            .iter()
            .filter_map(|(part, why)| Some((part.strip_prefix(OF_TOOL)?, why)))
            .collect();
        for (tool, why) in &of_tools {
            let key = (format!("{} has no result", clean(tool)), clean(why));
            by_reason.entry(key).or_default().push(m);
        }
        if of_tools.is_empty() && m.references.is_empty() {
            let why = why_missing(m, "references", "no reason was recorded");
            by_reason.entry(("No reference tool ran".to_owned(), why)).or_default().push(m);
        }
    }
    let sentence = |((what, why), points): ((String, String), Vec<&Measurement>)| {
        let at = match whereabouts(group, &points) {
            at if at.is_empty() || points.len() == group.all.len() => String::new(),
            at => format!(" ({at})"),
        };
        stop(&format!("{what}{at}: {why}"))
    };
    by_reason.into_iter().map(sentence).collect()
}

/// The workloads for which no tool ran, without a recorded reason, in one sentence; nothing in
/// a run that was to have no tools.
pub fn unexplained(groups: &[Group]) -> Option<String> {
    groups.first().filter(|g| had_tools(g.run))?;
    let none = |g: &&Group| !g.all.is_empty() && nothing_reported(g);
    let names: Vec<String> = groups.iter().filter(none).map(Group::name).collect();
    let named = match names.len() {
        0 => return None,
        n if n > NAMED => plural(n as u64, "workload"),
        _ => and_list(&names),
    };
    Some(format!("No reference tool ran for {named}; no reason was recorded."))
}

/// Whether no point of a workload has a tool or a reason for having none.
fn nothing_reported(group: &Group) -> bool {
    group.all.iter().all(|m| {
        let reason = |(part, why): (&String, &String)| {
            part.starts_with(OF_TOOL) || (part == "references" && !why.is_empty())
        };
        m.references.is_empty() && !m.missing.iter().any(reason)
    })
}

/// Whether any tool was to run, or was asked for, at any configuration.
fn had_tools(run: &Run) -> bool {
    let at = |m: &Measurement| {
        !m.references.is_empty() || m.missing.keys().any(|part| part.starts_with(OF_TOOL))
    };
    !run.plan.references.is_empty() || run.measurements.iter().any(at)
}
