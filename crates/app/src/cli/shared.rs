//! Arguments that several commands take.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use proofmark_model::parse_duration;

use crate::limit;

/// Where the results of a run go.
#[derive(Debug, Args)]
pub struct ResultFiles {
    /// Directory for the report; it must hold no run and no report.html, report.md or report.csv
    /// [default: proofmark-TIME]
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Also write the run as JSON to a file; - prints it instead of the table
    #[arg(long, value_name = "FILE|-")]
    pub json: Option<PathBuf>,
    /// Name of the machine or the run, in reports, history and comparisons [default: the host name]
    #[arg(long, value_name = "TEXT", value_parser = limit::label)]
    pub label: Option<String>,
    /// Leave out host, process and path names
    #[arg(long)]
    pub anonymous: bool,
    #[command(flatten)]
    pub exit: ExitRules,
}

/// What a command that measures does first.
#[derive(Debug, Clone, Copy, Default, Args)]
pub struct Before {
    /// Before measuring, wait up to this time until CPU use is below 5 % and steal below 1 %
    #[arg(long, value_name = "TIME", value_parser = parse_duration)]
    pub wait_quiet: Option<Duration>,
}

/// What exit status 0 needs besides results that are not invalid.
#[derive(Debug, Clone, Copy, Default, Args)]
pub struct ExitRules {
    /// Exit status 3 also if a result is suspect
    #[arg(long)]
    pub strict: bool,
    /// Exit status 3 also if half a result's 95 % interval is wider than this fraction, such as 2%
    #[arg(long, value_name = "FRACTION", value_parser = limit::share)]
    pub precision: Option<f64>,
}

/// Where the history is.
#[derive(Debug, Args)]
pub struct HistoryPlace {
    /// Database of past runs [default: $PROOFMARK_HISTORY, or ~/.local/share/proofmark/history.db]
    #[arg(long, value_name = "FILE")]
    pub history: Option<PathBuf>,
}

/// Where a run goes in the history.
#[derive(Debug, Args)]
pub struct HistoryFile {
    #[command(flatten)]
    pub place: HistoryPlace,
    /// Do not add this run to the history
    #[arg(long, conflicts_with = "history")]
    pub no_history: bool,
}
