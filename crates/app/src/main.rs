//! The binary `proofmark`: parses the arguments and runs the command.

mod cli;
mod command;
mod core_dumps;
mod environment;
mod error;
mod finish;
mod formats;
mod habits;
mod history_file;
mod limit;
mod measuring;
mod newest;
mod output;
mod price;
mod progress;
mod quiet;
mod request;
mod samples;
mod signals;
mod signs;
mod stored;
mod system_limits;
mod text;
mod this_program;
mod usage_hints;
mod word_hints;
mod writer;

use std::process::ExitCode;
use std::sync::LazyLock;

use clap::FromArgMatches as _;
use cli::{Cli, Command};
use error::Outcome;
use proofmark_engine::ReportingAllocator;
use system_limits::{explained, within_limits};

#[global_allocator]
static ALLOCATOR: ReportingAllocator = ReportingAllocator;

fn main() -> ExitCode {
    LazyLock::force(&this_program::STARTED);
    within_limits(work)
}

fn work() -> ExitCode {
    let parsed = cli::command().try_get_matches().and_then(|m| Cli::from_arg_matches(&m));
    let cli = match parsed {
        Ok(cli) => cli,
        Err(error) => return report_usage_error(&error),
    };
    if let Some(before) = before(&cli.command) {
        text::set_progress_mode(before.progress);
    }
    if measures_or_serves(&cli.command) {
        // If the system refuses, the code that needs more files reports it.
        let _ = proofmark_process::raise_open_files();
    }
    let result = match &cli.command {
        Command::Run(args) => command::run::run(args),
        Command::Endure(args) => command::endure::run(args),
        Command::Noise(args) => command::noise::run(args),
        Command::Compare(args) => command::compare::run(args),
        Command::Check(args) => command::check::run(args),
        Command::History(args) => command::history::run(args),
        Command::Fleet(command) => command::fleet::run(command),
        Command::Completions { shell } => command::completions::run(*shell),
        Command::RunsToComplete => command::completions::print_runs(),
        Command::Man { out } => command::man::run(out.as_deref()),
        Command::Info(args) => command::info::run(args),
        Command::List { topic } => command::list::run(*topic),
        Command::Explain { id } => command::explain::run(id),
        Command::Audit(args) => command::audit::run(args),
        Command::Import(args) => command::import::run(args),
        Command::Report(args) => command::report::run(args),
        Command::Serve(args) => command::serve::run(args),
        Command::Schema { object } => command::schema::run(*object),
        Command::Worker => command::worker::run(),
        Command::Tool(args) => command::tool::run(args),
    };
    result.map_or_else(
        |error| {
            text::say(&format!("proofmark: {}", explained(&format!("{error:#}"))));
            error::status_of(&error)
        },
        |outcome: Outcome| outcome.into(),
    )
}

/// The options of a command that measures this machine.
fn before(command: &Command) -> Option<&cli::Before> {
    match command {
        Command::Run(args) => Some(&args.before),
        Command::Endure(args) => Some(&args.before),
        Command::Noise(args) => Some(&args.before),
        _ => None,
    }
}

fn measures_or_serves(command: &Command) -> bool {
    use Command::{Endure, Fleet, Noise, Run, Serve, Worker};
    matches!(command, Run(_) | Endure(_) | Noise(_) | Serve(_) | Worker | Fleet(_))
}

/// Prints help and version as they are, and an error of clap in one line.
fn report_usage_error(error: &clap::Error) -> ExitCode {
    use clap::error::ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand as NoCommand;
    if !error.use_stderr() {
        let printed = text::print_help(error);
        return if printed.is_ok() { ExitCode::SUCCESS } else { ExitCode::FAILURE };
    }
    if error.kind() == NoCommand {
        error.exit(); // The whole text is from `cli.rs`.
    }
    let typed: Vec<String> =
        std::env::args_os().skip(1).map(|a| a.to_string_lossy().into_owned()).collect();
    let line = usage_hints::line(error, &typed);
    let line = line.unwrap_or_else(|| in_one_line(&error.render().to_string()));
    text::say(&format!("proofmark: {line}"));
    ExitCode::from(error::Code::Usage as u8)
}

/// Puts clap's message, without its usage, into one line: joins paragraphs by `; `, lists by `, `.
fn in_one_line(text: &str) -> String {
    let text = text.strip_prefix("error: ").unwrap_or(text);
    let mut joined = String::new();
    let mut separator = "";
    for line in text.lines().map(str::trim) {
        if line.starts_with("Usage:") || line.starts_with("For more") {
            break;
        }
        if line.is_empty() {
            separator = "; ";
            continue;
        }
        joined.push_str(if joined.is_empty() { "" } else { separator });
        joined.push_str(line);
        separator = match line.ends_with(':') {
            true => " ",
            false if separator == " " || separator == ", " => ", ",
            false => "; ",
        };
    }
    joined
}
