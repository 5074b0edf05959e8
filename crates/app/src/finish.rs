//! How a run ends: its files, what is printed, the exit status.

use std::path::Path;

use anyhow::{Context as _, Result};
use proofmark_model::{Run, Tool, Verdict};
use proofmark_report::terminal;
use proofmark_run::RunFile as _;

use crate::cli::HistoryFile;
use crate::error::Outcome;
use crate::output::Output;
use crate::text::{print, print_data, say, terminal_options};
use crate::writer::{try_named, write_named};
use crate::{past, signals};

/// This program, as a run file names it.
pub fn tool() -> Tool {
    let build = if cfg!(debug_assertions) { "debug" } else { "release" };
    Tool {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        commit: option_env!("PROOFMARK_COMMIT").map(str::to_owned),
        build: format!("{build}, {}-{}", std::env::consts::ARCH, std::env::consts::OS),
    }
}

/// Whether the JSON can be written to the file that was named, before anything is done.
///
/// # Errors
/// If it cannot.
pub fn try_json(json: Option<&Path>) -> Result<()> {
    match json.filter(|p| *p != Path::new("-")) {
        Some(path) => {
            try_named(path, b"").with_context(|| format!("cannot write {}", path.display()))
        }
        None => Ok(()),
    }
}

/// Writes everything and prints the answers and the findings; what was measured reaches the terminal
/// even if a file cannot be written. The run goes into the history, if there is one for it: what
/// was imported has none, since this machine did not measure it.
///
/// # Errors
/// If a file cannot be written.
pub fn finish(
    json: Option<&Path>,
    run: &Run,
    output: &Output,
    history: Option<&HistoryFile>,
) -> Result<Outcome> {
    let to_stdout = json == Some(Path::new("-"));
    let saved = output
        .save(run)
        .with_context(|| format!("cannot write to {}", output.dir().display()))
        .and_then(|()| output.save_reports(run))
        .and_then(|()| match json.filter(|_| !to_stdout) {
            Some(path) => write_named(path, &serde_json::to_vec_pretty(run)?)
                .with_context(|| format!("cannot write {}", path.display())),
            None => Ok(()),
        });
    let printed = match to_stdout {
        true => print_data(&format!("{}\n", serde_json::to_string_pretty(run)?)),
        false => print(&terminal::brief(run, &terminal_options())),
    };
    if let Some(history) = history {
        past::keep(run, output.dir(), history);
    }
    printed?;
    saved?;
    say(&format!("Report: {}", output.page().display()));
    say(&format!("Every table here: proofmark report {}", output.dir().display()));
    Ok(outcome(run))
}

fn outcome(run: &Run) -> Outcome {
    if let Some(signal) = run.interrupted.as_deref().and_then(signals::number) {
        return Outcome::Stopped(signal);
    }
    match run.verdict() {
        None => Outcome::Failed,
        Some(Verdict::Valid) if run.interrupted.is_none() => Outcome::Done,
        Some(_) => Outcome::Doubtful,
    }
}
