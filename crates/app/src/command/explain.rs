//! `proofmark explain`: one kernel, check or ceiling in words.

use anyhow::Result;
use proofmark_host::FINDINGS as HOST_FINDINGS;
use proofmark_model::{KernelSpec, Knob, KnobKind, format_size};

use crate::cli::ExplainArgs;
use crate::error::{Outcome, Usage};
use crate::plan::{FINDINGS as PLAN_FINDINGS, unknown};
use crate::text::print;

/// Runs the command.
pub fn run(args: &ExplainArgs) -> Result<Outcome> {
    let id = args.id.as_str();
    let text = if let Some(kernel) = proofmark_kernels::find(id) {
        explain_kernel(kernel.spec())
    } else if let Some(check) = proofmark_judge::checks::ALL.iter().find(|c| c.id() == id) {
        format!("{id}: {}\n\n{}\n", check.title(), check.about())
    } else if let Some(ceiling) = proofmark_judge::ceilings::ALL.iter().find(|c| c.id() == id) {
        format!("{id}: {}\n\n{}\n", ceiling.title(), ceiling.about())
    } else if let Some((_, title, about)) = findings().find(|(f, _, _)| *f == id) {
        format!("{id}: {title}\n\n{about}\n")
    } else {
        let names = proofmark_kernels::ALL.iter().map(|k| k.spec().id.as_ref());
        let names = names.chain(proofmark_judge::checks::ALL.iter().map(|c| c.id()));
        let names = names.chain(proofmark_judge::ceilings::ALL.iter().map(|c| c.id()));
        let names = names.chain(findings().map(|(f, _, _)| *f));
        return Err(Usage::error(unknown("id", id, names, "proofmark list kernels")));
    };
    print(&text)?;
    Ok(Outcome::Done)
}

/// What can be found about the host and the plan: id, title and meaning.
fn findings() -> impl Iterator<Item = &'static (&'static str, &'static str, &'static str)> {
    HOST_FINDINGS.iter().chain(PLAN_FINDINGS)
}

fn explain_kernel(spec: &KernelSpec) -> String {
    let mut text = format!("{}: {}\n\n{}\n\n{}\n", spec.id, spec.title, spec.summary, spec.detail);
    text += &format!("\nUnit: {}\n", spec.unit);
    if !spec.knobs.is_empty() {
        text += "\nKnobs, set with --set KERNEL.KNOB=VALUE:\n";
    }
    for knob in spec.knobs.iter() {
        text += &format!(
            "  {}: {} ({}; default {})\n",
            knob.name,
            knob.about,
            range(knob),
            default(knob)
        );
    }
    text += &format!("\nCeilings: {}\n", spec.ceilings.join(", "));
    text
}

/// The default as a person writes it.
fn default(knob: &Knob) -> String {
    match (&knob.kind, knob.default.parse()) {
        (KnobKind::Size { .. }, Ok(bytes)) => format_size(bytes),
        _ => knob.default.to_string(),
    }
}

fn range(knob: &Knob) -> String {
    match &knob.kind {
        KnobKind::Count { min, max } => format!("{min} to {max}"),
        KnobKind::Size { min, max } => format!("{} to {}", format_size(*min), format_size(*max)),
        KnobKind::Choice(choices) => choices.join(", "),
    }
}
