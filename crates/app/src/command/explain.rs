//! `proofmark explain`: anything that has an id, in words.

use anyhow::Result;
use proofmark_host::FINDINGS as HOST_FINDINGS;
use proofmark_judge::bottleneck;
use proofmark_judge::checks::Class;
use proofmark_judge::reread::FINDINGS as READ_FINDINGS;
use proofmark_model::{Parameter, ParameterKind, Probe, WorkloadSpec, format_size};
use proofmark_reference::Tool;
use proofmark_run::{
    AFTERWARDS_FINDINGS, BUDGET_FINDINGS, BUILT_IN, PLAN_FINDINGS, PlanRequest, REFERENCE_FINDINGS,
    TOOL_FINDINGS, Usage, look, loopback_network, plan, takes, unknown,
};

use crate::command::import::FINDINGS as IMPORT_FINDINGS;
use crate::command::terms::TERMS;
use crate::error::{Outcome, usage};
use crate::text::{print, terminal_options, wrap};

pub fn run(id: &str) -> Result<Outcome> {
    if let Some((name, text)) = BUILT_IN.iter().find(|(name, _)| *name == id) {
        print(&explain_profile(name, text))?;
        return Ok(Outcome::Done);
    }
    if id == "audit" {
        print(&explain_audit())?;
        return Ok(Outcome::Done);
    }
    let tool = proofmark_reference::find(id).map(compared_with);
    let workload = proofmark_workloads::find(id).map(|k| explain_workload(k.spec()));
    let check = proofmark_judge::checks::find(id);
    let check = check.map(|c| explain((c.id, c.title, c.about)) + "\n" + &class(c.class));
    // A check and a rule of the audit may look for the same, and have one name.
    let others = words().filter(|(name, _, _)| *name == id).map(explain);
    let texts: Vec<String> = workload.into_iter().chain(check).chain(others).chain(tool).collect();
    if texts.is_empty() {
        return Err(usage(unknown("id", id, ids(), "proofmark list")));
    }
    print(&texts.join("\n"))?;
    Ok(Outcome::Done)
}

const WIDEST: usize = 90;

fn paragraph(text: &str) -> String {
    wrap(text, width(), "")
}

fn width() -> usize {
    terminal_options().width.clamp(40, WIDEST)
}

/// Every id that can be explained: of workloads, of checks, of what else has words, of profiles.
pub fn ids() -> impl Iterator<Item = &'static str> {
    let workloads = proofmark_workloads::ALL.iter().map(|k| k.spec().id.as_ref());
    let checks = proofmark_judge::checks::ALL.iter().map(|c| c.id);
    workloads
        .chain(checks)
        .chain(words().map(|(name, _, _)| name))
        .chain(BUILT_IN.iter().map(|(name, _)| *name))
}

/// A profile as it is on this machine, then its own text; all TOML, to be kept, changed and run.
fn explain_profile(name: &str, text: &str) -> String {
    let here = here(name).map_or_else(
        |e| format!("# On this machine it cannot run: {}\n", e.to_string().replace('\n', " ")),
        |(points, takes)| format!("# On this machine: {points} configurations, {takes}.\n"),
    );
    format!(
        "{here}# To list them: proofmark run --profile {name} --dry-run\n\
         # To change it: proofmark explain {name} > mine.toml; proofmark run --profile mine.toml\n\n\
         {text}"
    )
}

/// The points of a profile on this machine, over loopback, and the time that they take, in words.
fn here(profile: &str) -> Result<(usize, String), Usage> {
    let mut host = look(None);
    host.network = Probe::known(loopback_network(), "this machine's own routes");
    let request = PlanRequest { profile: profile.to_owned(), ..PlanRequest::default() };
    let plan = plan(&request, &host)?.plan;
    Ok((plan.points.len(), takes(&plan)))
}

/// A table of published figures and its machine's file by example, then the words that they may hold.
fn explain_audit() -> String {
    let mut text = "audit: how published figures are checked\n".to_owned();
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

/// The tests of a tool that do the work of workloads.
fn compared_with(tool: &dyn Tool) -> String {
    let mut text = "Compared with these workloads, by test:\n".to_owned();
    for same in tool.description().same_work {
        text += &format!("  {}: {}", same.test, same.workload);
        if let Some(when) = &same.when {
            text += &format!(" with {}={}", when.parameter, when.value);
        }
        text.push('\n');
    }
    text
}

/// Id, title and meaning of everything but workloads and checks.
fn words() -> impl Iterator<Item = (&'static str, &'static str, &'static str)> {
    let ceilings = proofmark_judge::ceilings::ALL.iter().map(|c| (c.id, c.title, c.about));
    let tools =
        proofmark_reference::ALL.iter().map(|t| t.description()).map(|d| (d.id, d.title, d.about));
    let rules = proofmark_audit::rules::ALL.iter().map(|r| (r.id, r.title, r.about));
    let formats = proofmark_report::ALL.iter().map(|f| (f.id, "report format", f.about));
    let bottlenecks = bottleneck::WORDS.iter();
    let bottlenecks =
        bottlenecks.map(|(id, about)| (*id, "bottleneck: what limited a result", *about));
    let named = ceilings.chain(tools).chain(rules).chain(formats).chain(bottlenecks);
    named.chain(findings().copied()).chain(TERMS.iter().copied())
}

/// What can be found about the host, the plan, a tool and an import: id, title and meaning.
fn findings() -> impl Iterator<Item = &'static (&'static str, &'static str, &'static str)> {
    let plan = PLAN_FINDINGS.iter().chain(REFERENCE_FINDINGS).chain(BUDGET_FINDINGS);
    let run = plan.chain(AFTERWARDS_FINDINGS);
    HOST_FINDINGS.iter().chain(run).chain(TOOL_FINDINGS).chain(IMPORT_FINDINGS).chain(READ_FINDINGS)
}

fn class(class: Class) -> String {
    let asks = match class {
        Class::Claim { .. } => "does the result measure what its name says?",
        Class::Disturbance { .. } => {
            "did a named cause change the headline figure by more than the tolerance (CPU 2 %, memory \
             10 %, disk and network 25 %)? If so it is suspect, else a note. Time that windows leave out \
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
