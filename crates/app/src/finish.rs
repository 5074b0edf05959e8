//! How a run ends: its files, what is printed, the exit status.

use anyhow::{Context as _, Result};
use proofmark_model::{Run, Tool, Verdict};
use proofmark_report::terminal;
use proofmark_run::RunFile as _;

use crate::cli::{HistoryFile, ResultFiles};
use crate::error::Outcome;
use crate::output::{Output, is_stdout, write_file};
use crate::text::{print, print_data, say, terminal_options};
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

/// Writes everything and prints the answers and the findings, even if a file cannot be written. A
/// run goes into the history, if there is one; what was imported was not measured by this machine.
pub fn finish(
    results: &ResultFiles,
    run: &Run,
    output: &Output,
    history: Option<&HistoryFile>,
) -> Result<Outcome> {
    let json = results.json.as_deref();
    let to_stdout = json.is_some_and(is_stdout);
    let saved = output
        .save(run)
        .with_context(|| format!("cannot write to {}", output.dir().display()))
        .and_then(|()| output.save_reports(run))
        .and_then(|()| match json.filter(|_| !to_stdout) {
            Some(path) => write_file(path, &serde_json::to_vec_pretty(run)?),
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
