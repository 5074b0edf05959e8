//! Arguments that several commands take.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, ValueEnum};
use proofmark_model::parse_duration;

use crate::limit;

/// The files that a run writes.
#[derive(Debug, Clone, Args)]
pub struct ResultFiles {
    /// Directory for the report
    ///
    /// It must hold no run and no report.html, report.md or report.csv [default: proofmark-TIME]
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Also write the run as JSON; - prints it
    #[arg(long, value_name = "FILE|-")]
    pub json: Option<PathBuf>,
    /// Name of the run [default: the host name]
    ///
    /// Reports, history and comparisons show it
    #[arg(long, value_name = "TEXT", value_parser = limit::label)]
    pub label: Option<String>,
    /// Leave out host, process and path names
    #[arg(hide_short_help = true, long)]
    pub anonymous: bool,
    #[command(flatten)]
    pub exit: ExitRules,
}

/// Forms of progress on standard error.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub enum ProgressMode {
    /// A bar in a terminal, else lines
    #[default]
    Auto,
    /// A line for each finished configuration
    Plain,
    /// Warnings and errors only
    None,
    /// JSON lines; `proofmark explain progress` has the fields
    Jsonl,
}

/// The wait before a measurement, and what standard error shows meanwhile.
#[derive(Debug, Clone, Copy, Default, Args)]
pub struct Before {
    /// Wait up to this time for a quiet machine
    ///
    /// Quiet: CPU use below 5 % and steal below 1 %
    #[arg(hide_short_help = true, long, value_name = "TIME", value_parser = parse_duration)]
    pub wait_quiet: Option<Duration>,
    /// Measure nothing if the machine is not quiet
    ///
    /// Exit status 1; with --wait-quiet, only after that wait
    #[arg(hide_short_help = true, long)]
    pub require_quiet: bool,
    /// Progress on standard error
    #[arg(hide_short_help = true, long, value_name = "MODE", default_value = "auto")]
    pub progress: ProgressMode,
}

/// Further conditions of exit status 0.
#[derive(Debug, Clone, Copy, Default, Args)]
pub struct ExitRules {
    /// Exit status 3 also if a result is suspect
    #[arg(hide_short_help = true, long)]
    pub strict: bool,
    /// Exit status 3 also if ± exceeds this, such as 2%
    ///
    /// ± is half the 95 % interval
    #[arg(hide_short_help = true, long, value_name = "SHARE", value_parser = limit::share)]
    pub precision: Option<f64>,
}

/// The location of the history.
#[derive(Debug, Args)]
pub struct HistoryPlace {
    /// Database of past runs
    ///
    /// [default: $PROOFMARK_HISTORY, or ~/.local/share/proofmark/history.db]
    #[arg(hide_short_help = true, long, value_name = "FILE")]
    pub history: Option<PathBuf>,
}

/// The history to which a run is added.
#[derive(Debug, Args)]
pub struct HistoryFile {
    #[command(flatten)]
    pub place: HistoryPlace,
    /// Do not add this run to the history
    #[arg(hide_short_help = true, long, conflicts_with = "history")]
    pub no_history: bool,
}
