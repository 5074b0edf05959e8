//! `proofmark explain`: the meaning of an id.

use std::collections::BTreeMap;

use anyhow::Result;
use proofmark_judge::checks::Class;
use proofmark_model::{
    Host, Parameter, ParameterKind, Plan, Probe, WorkloadSpec, and_list, format_size,
};
use proofmark_reference::Tool;
use proofmark_run::{PlanRequest, Usage, look, loopback_network, plan, takes, unknown};

use crate::command::ids::{self, Entry};
use crate::error::{self, Outcome, usage};
use crate::text::{columns, print, terminal_options, wrap};

pub fn run(id: &str) -> Result<Outcome> {
    // A check and a rule of the audit that look for the same fault share an id.
    let texts: Vec<String> = ids::all().filter(|e| e.id() == id).map(text).collect();
    if texts.is_empty() {
        return Err(usage(unknown("id", id, ids::all().map(Entry::id), "proofmark list")));
    }
    print(&texts.join("\n"))?;
    Ok(Outcome::Done)
}

fn text(entry: Entry) -> String {
    match entry {
        Entry::Workload(spec) => explain_workload(spec),
        Entry::Check(c) => explain((c.id, c.title, c.about)) + "\n" + &class(c.class),
        Entry::Profile(name, toml) => explain_profile(name, toml),
        Entry::Tool(tool) => {
            let d = tool.description();
            explain((d.id, d.title, d.about)) + &compared_with(tool)
        }
        Entry::Words(words) => explain(words) + &example(words.0),
    }
}

/// Returns the text after a term: the example of the audit, the list of exit statuses.
fn example(id: &str) -> String {
    match id {
        "audit" => explain_audit(),
        "exit_status" => {
            let rows = columns(error::STATUSES.iter().map(|s| (s.number(), s.line())));
            format!("\n{}", wrap(&rows, width(), "         "))
        }
        _ => String::new(),
    }
}

const WIDEST: usize = 90;

fn paragraph(text: &str) -> String {
    wrap(text, width(), "")
}

fn width() -> usize {
    terminal_options().width.clamp(40, WIDEST)
}

/// Returns a profile's text after comments on its size on this machine. All of it is TOML, to be
/// saved, changed and run.
fn explain_profile(name: &str, text: &str) -> String {
    let here = here(name).map_or_else(
        |e| format!("# On this machine it cannot run: {}\n", e.to_string().replace('\n', " ")),
        |(points, takes)| format!("# On this machine: {points} configurations; {takes}.\n"),
    );
    format!(
        "{here}# To list them: proofmark run --profile {name} --dry-run\n\
         # To change it: proofmark explain {name} > mine.toml; proofmark run --profile mine.toml\n\n\
         {text}"
    )
}

/// Returns the number of a profile's configurations on this machine, over loopback, and their time.
fn here(profile: &str) -> Result<(usize, String), Usage> {
    let plan = planned(profile, &this_host())?;
    Ok((plan.points.len(), times(&plan)))
}

/// Returns this machine, with its loopback as the network.
pub fn this_host() -> Host {
    let mut host = look(None);
    host.network = Probe::known(loopback_network(), "this machine's own routes");
    host
}

/// Returns the plan of a profile on a machine.
pub fn planned(profile: &str, host: &Host) -> Result<Plan, Usage> {
    let request = PlanRequest { profile: profile.to_owned(), ..PlanRequest::default() };
    Ok(plan(&request, host)?.plan)
}

/// Returns the time of a plan without and with its reference tools.
pub fn times(plan: &Plan) -> String {
    let alone = Plan { references: BTreeMap::new(), ..plan.clone() };
    let tools = and_list(plan.references.keys());
    match tools.is_empty() {
        true => takes(plan),
        false => {
            let [own, all] = [takes(&alone), takes(plan)];
            format!("{own} without reference tools, {all} with {tools}")
        }
    }
}

/// Returns an example of published figures with their machine, then the words that both may have.
fn explain_audit() -> String {
    let mut text = String::new();
    for (name, example) in proofmark_audit::EXAMPLE {
        text += &format!("\nExample: {name}\n\n{example}");
    }
    text += "\nproofmark audit figures.csv --machine machines.toml\n\n";
    for line in proofmark_audit::guide().lines() {
        text += &match line.starts_with(' ') {
            _ if line.is_empty() => "\n".to_owned(),
            true => wrap(line, width(), "      "),
            false => paragraph(line),
        };
    }
    text
}

fn explain((id, title, about): (&str, &str, &str)) -> String {
    format!("{id}: {title}\n\n{}", paragraph(about))
}

/// Lists the tests of a tool that do the same work as workloads; empty without any.
fn compared_with(tool: &dyn Tool) -> String {
    if tool.description().same_work.is_empty() {
        return String::new();
    }
    let mut text = "\nCompared with these workloads, by test:\n".to_owned();
    for same in tool.description().same_work {
        text += &format!("  {}: {}", same.test, same.workload);
        if let Some(when) = &same.when {
            text += &format!(" with {}={}", when.parameter, when.value);
        }
        text.push('\n');
    }
    text
}

fn class(class: Class) -> String {
    let asks = match class {
        Class::Claim { .. } => "does the result measure what its name says?",
        Class::Disturbance { .. } => {
            "did a named cause change the headline figure by more than the tolerance (`proofmark explain \
             valid`)? If so it is suspect, else a note. Time that windows leave out \
             is a note."
        }
        Class::Context => "what is worth knowing with the result?",
    };
    let mut text = wrap(&format!("Class: {}: {asks}\n", class.as_str()), width(), "  ");
    if let Class::Claim { partial: Some(why) } = class {
        text += &wrap(&format!("Suspect instead of invalid where {why}.\n"), width(), "  ");
    }
    text
}

fn explain_workload(spec: &WorkloadSpec) -> String {
    let (summary, detail) = (paragraph(&spec.summary), paragraph(&spec.detail));
    let mut text = format!("{}: {}\n\n{summary}\n{detail}", spec.id, spec.title);
    text += &format!("\nUnit: {}\n", spec.unit);
    let method = format!(
        "Method: {} (results of different methods are not comparable and are not compared)\n",
        spec.method
    );
    text += &wrap(&method, width(), "  ");
    if !spec.parameters.is_empty() {
        text += "\nParameters, set with --set WORKLOAD.PARAMETER=VALUE:\n";
    }
    for parameter in spec.parameters.iter() {
        let (range, default) = (range(parameter), default(parameter));
        let line =
            format!("  {}: {} ({range}; default {default})", parameter.name, parameter.about);
        text += &wrap(&line, width(), "      ");
    }
    text += &format!("\nCeilings: {}\n", spec.ceilings.join(", "));
    text
}

fn default(parameter: &Parameter) -> String {
    match (&parameter.kind, parameter.default.parse()) {
        (ParameterKind::Size { .. }, Ok(bytes)) => format_size(bytes),
        _ => parameter.default.to_string(),
    }
}

fn range(parameter: &Parameter) -> String {
    match &parameter.kind {
        ParameterKind::Count { min, max } => format!("{min} to {max}"),
        ParameterKind::Size { min, max } => {
            format!("{} to {}", format_size(*min), format_size(*max))
        }
        ParameterKind::Choice(choices) => choices.join(", "),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::command::list::tests::OnlyRead;

    #[test]
    fn a_tool_without_the_work_of_a_workload_has_no_heading_of_workloads() {
        assert_eq!(compared_with(&OnlyRead), "");
        let fio = proofmark_reference::find("fio").unwrap();
        assert!(compared_with(fio).starts_with("\nCompared with these workloads, by test:\n  "));
    }
}
