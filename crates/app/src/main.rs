//! The binary `proofmark`: arguments -> plan -> run. Wiring only, and the only
//! place that knows every crate.

mod cli;
mod command;
mod error;
mod machine;
mod output;
mod plan;
mod profile;
mod progress;
mod recorder;
mod signals;
mod text;

use std::process::ExitCode;

use clap::Parser;
use cli::{Cli, Command};
use error::Outcome;

fn main() -> ExitCode {
    let cli = Cli::parse();
    let result = match &cli.command {
        Command::Run(args) => command::run::run(args),
        Command::Info(args) => command::info::run(args),
        Command::List(args) => command::list::run(args),
        Command::Explain(args) => command::explain::run(args),
        Command::Report(args) => command::report::run(args),
        Command::Schema => command::schema::run(),
        Command::Worker => command::worker::run(),
    };
    result.map_or_else(
        |error| {
            text::say(&format!("proofmark: {error:#}"));
            error::status(&error)
        },
        |outcome: Outcome| outcome.into(),
    )
}
