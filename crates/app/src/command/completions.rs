//! `proofmark completions`: a script made from the definitions of the command line.
//!
//! The script offers every id of this version. The parser takes ids as free text, so that the
//! program can refuse an unknown one with the nearest name.

use std::collections::BTreeSet;

use anyhow::Result;
use clap::builder::PossibleValuesParser;
use clap::{Arg, Command, CommandFactory, ValueHint};
use clap_complete::Shell as Script;
use proofmark_run::BUILT_IN;
use proofmark_store::{Filter, Store};

use crate::cli::{Cli, Shell};
use crate::command::explain;
use crate::error::Outcome;
use crate::output::RUN_FILE;
use crate::text::print_data;
use crate::{formats, history_file};

pub fn run(shell: Shell) -> Result<Outcome> {
    let mut script = Vec::new();
    let mut command = command();
    let kind = match shell {
        Shell::Bash => Script::Bash,
        Shell::Zsh => Script::Zsh,
        Shell::Fish => Script::Fish,
    };
    clap_complete::generate(kind, &mut command, "proofmark", &mut script);
    let script = String::from_utf8_lossy(&script).into_owned();
    let script = match shell {
        Shell::Bash => bash_with_runs(&script),
        Shell::Zsh => zsh_with_runs(&script),
        Shell::Fish => {
            let values: String = command.get_subcommands().filter_map(fish_values).collect();
            fish_with_runs(&script) + &values
        }
    };
    print_data(&script)?;
    Ok(Outcome::Done)
}

/// Prints what names a run: directories below this one that hold one, and the latest numbers of the
/// history. The scripts call it. A problem prints nothing, since a shell is waiting.
pub fn print_runs() -> Result<Outcome> {
    let folders = std::fs::read_dir(".").into_iter().flatten().flatten();
    let is_run = |entry: &std::fs::DirEntry| entry.path().join(RUN_FILE).is_file();
    let names = folders.filter(is_run).filter_map(|entry| entry.file_name().into_string().ok());
    let mut names: Vec<String> = names.collect();
    names.sort();
    let store = history_file::file(None).ok().and_then(|path| Store::open_existing(&path).ok()?);
    let latest = Filter { last: Some(LATEST), ..Filter::default() };
    let past = store.and_then(|store| store.runs(&latest).ok()).unwrap_or_default();
    let numbers = past.iter().map(|run| run.id.to_string());
    let lines: String = names.into_iter().chain(numbers).map(|name| name + "\n").collect();
    print_data(&lines)?;
    Ok(Outcome::Done)
}

/// Numbers of the history that are offered.
const LATEST: u32 = 20;

/// Commands whose positional arguments are runs, and options of these that take one.
const TAKE_RUNS: [&str; 3] = ["report", "compare", "check"];

/// Adds runs to bash's script: they replace what it offers for the positional arguments.
fn bash_with_runs(script: &str) -> String {
    let script = script.replace("_proofmark() {", "_proofmark_words() {");
    let commands = TAKE_RUNS.join("|");
    let function = format!(
        r#"
_proofmark() {{
    local cur="${{COMP_WORDS[COMP_CWORD]}}" prev="${{COMP_WORDS[COMP_CWORD-1]}}"
    _proofmark_words "$@"
    case "${{COMP_WORDS[1]}}" in
        {commands}) ;;
        history) [[ "$prev" == --add ]] || return 0 ;;
        *) return 0 ;;
    esac
    [[ "$cur" == -* ]] && return 0
    case "$prev" in
        --against|--add|--all) ;;
        -*) return 0 ;;
    esac
    COMPREPLY=( $(compgen -W "$("${{COMP_WORDS[0]}}" runs-to-complete 2>/dev/null)" -- "$cur") $(compgen -f -- "$cur") )
    local IFS=$'
'
    COMPREPLY=( $(printf '%s
' "${{COMPREPLY[@]}}" | sort -u) )
}}
"#
    );
    // Before the script's last statement, which tells bash of the function.
    match script.rfind(
        "
if [[",
    ) {
        Some(at) => format!("{}{function}{}", &script[..at], &script[at..]),
        None => script + &function,
    }
}

/// The hint of arguments that take a run: clap's scripts then call functions for names of users, in
/// whose place they get runs.
const RUN: ValueHint = ValueHint::Username;

fn zsh_with_runs(script: &str) -> String {
    const FUNCTION: &str = r#"
_proofmark_runs() {
    local -a runs
    runs=(${(f)"$(proofmark runs-to-complete 2>/dev/null)"})
    compadd -a runs
    _files
}
"#;
    // The first line must stay the first.
    let (first, rest) = script.split_once('\n').unwrap_or((script, ""));
    format!("{first}\n{FUNCTION}{}", rest.replace(":_users'", ":_proofmark_runs'"))
}

fn fish_with_runs(script: &str) -> String {
    const FUNCTION: &str = "
function __proofmark_runs
    proofmark runs-to-complete 2>/dev/null
    __fish_complete_path (commandline -ct)
end
";
    let script = script.replace("(__fish_complete_users)", "(__proofmark_runs)");
    let line = |name: &&str| {
        format!(
            "complete -c proofmark -n \"__fish_proofmark_using_subcommand {name}\" -f -a \"(__proofmark_runs)\"\n"
        )
    };
    let lines: String = TAKE_RUNS.iter().map(line).collect();
    format!("{FUNCTION}{script}{lines}")
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
    let commands: Vec<Command> =
        full.get_subcommands().filter(shown).map(|c| with_ids("", c)).collect();
    Command::new("proofmark").version(env!("CARGO_PKG_VERSION")).subcommands(commands)
}

/// Copies a command with its own commands, and adds the ids that its arguments take. `within` are the
/// words before its name.
fn with_ids(within: &str, from: &Command) -> Command {
    let about = from.get_about().cloned().unwrap_or_default();
    let name = from.get_name().to_owned();
    let path = format!("{within} {name}").trim_start().to_owned();
    let shown = from.get_arguments().filter(|a| !a.is_hide_set() && a.get_id() != "help");
    let args: Vec<Arg> = shown.map(|a| with_values(&path, a.clone())).collect();
    let inner = from.get_subcommands().filter(|c| !c.is_hide_set() && c.get_name() != "help");
    let inner: Vec<Command> = inner.map(|c| with_ids(&path, c)).collect();
    Command::new(name).about(about).args(args).subcommands(inner)
}

/// Adds the ids that an argument takes. An argument that takes a run completes runs and paths.
fn with_values(command: &str, arg: Arg) -> Arg {
    match (command, arg.get_id().as_str()) {
        ("compare", "runs") | ("check", "run" | "against") | ("report", "run") => {
            arg.value_hint(RUN)
        }
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
        ("run" | "history" | "fleet run", "profile") => {
            BUILT_IN.iter().map(|(name, _)| *name).collect()
        }
        ("run", "reference") => ["all"].into_iter().chain(tools()).collect(),
        ("import", "tool") => tools().collect(),
        ("report", "format") => proofmark_report::ALL.iter().map(|f| f.id).collect(),
        ("compare", "format") => formats::COMPARE.to_vec(),
        ("check", "format") => formats::CHECK.to_vec(),
        ("history", "format") => formats::HISTORY.to_vec(),
        ("fleet report", "format") => formats::FLEET.to_vec(),
        ("explain", "id") => {
            explain::names().filter(is_word).collect::<BTreeSet<_>>().into_iter().collect()
        }
        _ => return None,
    })
}

/// Returns true for a name without spaces and signs that shells read: `CPU (copying)` is none.
fn is_word(name: &&str) -> bool {
    name.chars().all(|c| c.is_ascii_alphanumeric() || "._-+".contains(c))
}
