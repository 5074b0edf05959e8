//! Arguments that several commands take.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use proofmark_model::parse_duration;

use crate::limit;

/// Where the results of a run go.
#[derive(Debug, Args)]
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
    /// It stands in reports, history and comparisons
    #[arg(long, value_name = "TEXT", value_parser = limit::label)]
    pub label: Option<String>,
    /// Leave out host, process and path names
    #[arg(hide_short_help = true, long)]
    pub anonymous: bool,
    #[command(flatten)]
    pub exit: ExitRules,
}

/// What a command that measures does first.
#[derive(Debug, Clone, Copy, Default, Args)]
pub struct Before {
    /// Wait up to this time for a quiet machine
    ///
    /// Quiet: CPU use below 5 % and steal below 1 %
    #[arg(hide_short_help = true, long, value_name = "TIME", value_parser = parse_duration)]
    pub wait_quiet: Option<Duration>,
}

/// What exit status 0 needs besides results that are not invalid.
#[derive(Debug, Clone, Copy, Default, Args)]
pub struct ExitRules {
    /// Exit status 3 also if a result is suspect
    #[arg(hide_short_help = true, long)]
    pub strict: bool,
    /// Exit status 3 also if ± is wider, such as 2%
    ///
    /// ± is half the 95 % interval
    #[arg(hide_short_help = true, long, value_name = "SHARE", value_parser = limit::share)]
    pub precision: Option<f64>,
}

/// Where the history is.
#[derive(Debug, Args)]
pub struct HistoryPlace {
    /// Database of past runs
    ///
    /// [default: $PROOFMARK_HISTORY, or ~/.local/share/proofmark/history.db]
    #[arg(hide_short_help = true, long, value_name = "FILE")]
    pub history: Option<PathBuf>,
}

/// Where a run goes in the history.
#[derive(Debug, Args)]
pub struct HistoryFile {
    #[command(flatten)]
    pub place: HistoryPlace,
    /// Do not add this run to the history
    #[arg(hide_short_help = true, long, conflicts_with = "history")]
    pub no_history: bool,
}
