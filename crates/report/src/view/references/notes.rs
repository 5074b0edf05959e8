//! Notes on reference tools: what their figures count, versions, command lines, and why one did not
//! run.

use proofmark_model::{Measurement, Reference, Run};

use super::Compared;
use crate::view::block::{Item, Rich, Tone};
use crate::view::grouping::{distinct, grouped};
use crate::view::label::{Group, why_missing};
use crate::view::text::{and_list, clean, counted, enclosed, joined, stop};

/// Prefix of the missing parts that hold the reason why a tool has no figure.
const TOOL_PREFIX: &str = "references.";

/// Maximum number of configurations or workloads that are named.
const NAMED: usize = 4;

/// A command line and where it was used.
#[derive(Debug)]
pub struct Command {
    /// The configurations, or their number; empty where the workload has only one.
    pub at: String,
    /// The command line as it was started.
    pub line: String,
}

/// A tool in one version.
#[derive(Debug)]
pub struct ToolNote {
    /// `fio 3.33`.
    pub name: String,
    /// Texts on what the tool's figure counts, each once; empty where the tool states nothing.
    pub counts: Vec<String>,
    /// The command lines, each once.
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

/// An entry of a list: the tool, what it counts, and its command lines.
impl From<ToolNote> for Item {
    fn from(tool: ToolNote) -> Self {
        let counts = tool.counts.iter().map(|counts| Rich::from(format!("counts {counts}")));
        let command =
            |c: &Command| Rich::from(enclosed("", &c.at, ": ")).and(Tone::Code, c.line.as_str());
        let texts = counts.chain(tool.commands.iter().map(command)).collect();
        Self { term: tool.name, texts }
    }
}

/// The tools of a workload, in the order of rows.
pub fn for_tools(group: &Group, compared: &[Compared]) -> Vec<ToolNote> {
    let name = |r: &Reference| clean(format!("{} {}", r.tool, r.version).trim());
    let one = |(name, of): (String, Vec<Compared>)| {
        let counts = of.iter().flat_map(|(_, r)| {
            [clean(r.counts.trim()).trim_end_matches('.').to_owned(), figure(r)]
        });
        let lines = grouped(of.iter().map(|(m, r)| (clean(&r.command), *m))).into_iter();
        let commands = lines.map(|(line, m)| Command { at: name_points(group, &m), line });
        let counts = distinct(counts.filter(|text| !text.is_empty()));
        ToolNote { commands: commands.collect(), name, counts }
    };
    grouped(compared.iter().map(|c| (name(c.1), *c))).into_iter().map(one).collect()
}

/// The figures that the pairs compare.
fn figure(r: &Reference) -> String {
    let ours = "what each proofmark trial delivered (all work over all time)";
    format!("{}, compared with {ours}", r.printed.words())
}

/// Names a few configurations; of more, gives their number.
fn name_points(group: &Group, points: &[&Measurement]) -> String {
    if points.len() > NAMED {
        return counted(points.len() as u64, "configuration");
    }
    joined(points.iter().map(|m| group.short(m)), "; ")
}

/// Names tools without a figure and configurations without a tool, with the reasons. Empty for a
/// run that was to use no tools.
pub fn missing_tools(group: &Group) -> Vec<String> {
    if !had_tools(group.run) || nothing_reported(group) {
        return Vec::new();
    }
    let reasons = group.all.iter().flat_map(|m| {
        let of_tools = m.missing.iter().filter_map(|(part, why)| {
            let tool = part.strip_prefix(TOOL_PREFIX)?;
            Some((format!("{} has no result", clean(tool)), clean(why)))
        });
        let mut reasons: Vec<(String, String)> = of_tools.collect();
        if reasons.is_empty() && m.references.is_empty() {
            let why = why_missing(m, "references", "no reason was recorded");
            reasons.push(("No reference tool ran".to_owned(), why));
        }
        reasons.into_iter().map(move |reason| (reason, *m))
    });
    let mut by_reason = grouped(reasons);
    by_reason.sort_by(|a, b| a.0.cmp(&b.0));
    let sentence = |((what, why), points): ((String, String), Vec<&Measurement>)| {
        let everywhere = points.len() == group.all.len();
        let at = if everywhere { String::new() } else { name_points(group, &points) };
        let at = enclosed(" (", &at, ")");
        stop(&format!("{what}{at}: {why}"))
    };
    by_reason.into_iter().map(sentence).collect()
}

/// One sentence on the workloads for which no tool ran and no reason was recorded. `None` for a run
/// that was to use no tools.
pub fn unexplained(groups: &[Group]) -> Option<String> {
    groups.first().filter(|g| had_tools(g.run))?;
    let none = |g: &&Group| !g.all.is_empty() && nothing_reported(g);
    let names: Vec<String> = groups.iter().filter(none).map(Group::name).collect();
    let named = match names.len() {
        0 => return None,
        n if n > NAMED => counted(n as u64, "workload"),
        _ => and_list(names),
    };
    Some(format!("No reference tool ran for {named}; no reason was recorded."))
}

/// Returns true if no configuration of a workload has a tool or a reason for having none.
fn nothing_reported(group: &Group) -> bool {
    group.all.iter().all(|m| {
        let reason = |(part, why): (&String, &String)| {
            part.starts_with(TOOL_PREFIX) || (part == "references" && !why.is_empty())
        };
        m.references.is_empty() && !m.missing.iter().any(reason)
    })
}

/// Returns true if a tool was planned or requested for any configuration.
fn had_tools(run: &Run) -> bool {
    let at = |m: &Measurement| {
        !m.references.is_empty() || m.missing.keys().any(|part| part.starts_with(TOOL_PREFIX))
    };
    !run.plan.references.is_empty() || run.measurements.iter().any(at)
}
