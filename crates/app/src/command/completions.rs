//! `proofmark completions`: a script made from the definitions of the command line.
//!
//! The script offers every id of this version. The parser takes ids as free text, so that the
//! program can refuse an unknown one with the nearest name.

use anyhow::Result;
use clap::builder::PossibleValuesParser;
use clap::{Arg, Command, CommandFactory, ValueHint};
use clap_complete::Shell as Script;
use proofmark_run::BUILT_IN;

use crate::cli::{Cli, Shell};
use crate::command::ids::{self, Entry};
use crate::error::Outcome;
use crate::formats;
use crate::text::print_data;

pub fn run(shell: Shell) -> Result<Outcome> {
    let mut script = Vec::new();
    let mut command = command();
    let kind = match shell {
        Shell::Bash => Script::Bash,
        Shell::Zsh => Script::Zsh,
        Shell::Fish => Script::Fish,
    };
    clap_complete::generate(kind, &mut command, "proofmark", &mut script);
    let mut script = String::from_utf8_lossy(&script).into_owned();
    if shell == Shell::Fish {
        script.extend(command.get_subcommands().filter_map(fish_values));
    }
    print_data(&script)?;
    Ok(Outcome::Done)
}

/// Returns fish completions of a command's positional arguments, which clap's script leaves out.
fn fish_values(command: &Command) -> Option<String> {
    let values: Vec<String> = command
        .get_positionals()
        .flat_map(Arg::get_possible_values)
        .map(|v| v.get_name().to_owned())
        .collect();
    let name = command.get_name();
    (!values.is_empty()).then(|| {
        let values = values.join(" ");
        format!(
            "complete -c proofmark -n \"__fish_proofmark_using_subcommand {name}\" -a \"{values}\"\n"
        )
    })
}

/// Returns the command line without hidden parts, and with the ids that its arguments take.
fn command() -> Command {
    let mut full = Cli::command();
    full.build();
    let shown = |c: &&Command| !c.is_hide_set() && c.get_name() != "help";
    let commands: Vec<Command> = full.get_subcommands().filter(shown).map(with_ids).collect();
    Command::new("proofmark").version(env!("CARGO_PKG_VERSION")).subcommands(commands)
}

/// Copies a command, and adds the ids that its arguments take.
fn with_ids(from: &Command) -> Command {
    let about = from.get_about().cloned().unwrap_or_default();
    let name = from.get_name().to_owned();
    let shown = from.get_arguments().filter(|a| !a.is_hide_set() && a.get_id() != "help");
    let args: Vec<Arg> = shown.map(|a| with_values(&name, a.clone())).collect();
    Command::new(name).about(about).args(args)
}

/// Adds the ids that an argument takes. An argument that takes a run completes a path.
fn with_values(command: &str, arg: Arg) -> Arg {
    match (command, arg.get_id().as_str()) {
        ("compare", "runs") | ("check", "run" | "against") => arg.value_hint(ValueHint::AnyPath),
        (command, id) => match values(command, id) {
            Some(values) => arg.value_parser(PossibleValuesParser::new(values)),
            None => arg,
        },
    }
}

/// Returns the ids that an argument takes, by the names of the command and of the argument.
fn values(command: &str, arg: &str) -> Option<Vec<&'static str>> {
    let workloads = || proofmark_workloads::ALL.iter().map(|k| k.spec().id.as_ref());
    let tools = || proofmark_reference::ALL.iter().map(|t| t.id());
    Some(match (command, arg) {
        ("run", "names") => {
            let subsystems = proofmark_model::Subsystem::ALL.iter().map(|s| s.as_str());
            subsystems.chain(workloads()).collect()
        }
        ("endure" | "history", "workload") => workloads().collect(),
        ("run" | "history", "profile") => BUILT_IN.iter().map(|(name, _)| *name).collect(),
        ("run", "reference") => ["all"].into_iter().chain(tools()).collect(),
        ("import", "tool") => tools().collect(),
        ("report", "format") => proofmark_report::ALL.iter().map(|f| f.id).collect(),
        ("compare", "format") => formats::COMPARE.to_vec(),
        ("check", "format") => formats::CHECK.to_vec(),
        ("history", "format") => formats::HISTORY.to_vec(),
        ("explain", "id") => ids::all().map(Entry::id).collect(),
        _ => return None,
    })
}
