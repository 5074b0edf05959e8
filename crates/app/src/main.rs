//! The binary `proofmark`: arguments -> plan -> run. Wiring only, and the only
//! place that knows every crate.

mod cli;
mod command;
mod error;
mod far;
mod finish;
mod limit;
mod machine;
mod output;
mod plan;
mod profile;
mod progress;
mod recorder;
mod references;
mod signals;
mod text;

use std::process::ExitCode;

use clap::Parser;
use cli::{Cli, Command};
use error::Outcome;

fn main() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => return mistyped(&error),
    };
    let result = match &cli.command {
        Command::Run(args) => command::run::run(args),
        Command::Info(args) => command::info::run(args),
        Command::List(args) => command::list::run(args),
        Command::Explain(args) => command::explain::run(args),
        Command::Audit(args) => command::audit::run(args),
        Command::Import(args) => command::import::run(args),
        Command::Report(args) => command::report::run(args),
        Command::Serve(args) => command::serve::run(args),
        Command::Schema => command::schema::run(),
        Command::Worker => command::worker::run(),
        Command::Tool(args) => command::tool::run(args),
    };
    result.map_or_else(
        |error| {
            text::say(&format!("proofmark: {error:#}"));
            error::status(&error)
        },
        |outcome: Outcome| outcome.into(),
    )
}

/// What clap has to say: help and version as they are, a mistake in one line.
fn mistyped(error: &clap::Error) -> ExitCode {
    use clap::error::ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand as NoCommand;
    if !error.use_stderr() || error.kind() == NoCommand {
        error.exit();
    }
    let text = error.render().to_string();
    let lines: Vec<&str> = text
        .lines()
        .map(str::trim)
        .take_while(|l| !l.starts_with("Usage:") && !l.starts_with("For more"))
        .filter(|l| !l.is_empty())
        .collect();
    let line = lines.join("; ");
    text::say(&format!("proofmark: {}", line.strip_prefix("error: ").unwrap_or(&line)));
    ExitCode::from(2)
}
