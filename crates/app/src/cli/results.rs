//! The arguments of the commands that read runs.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use proofmark_judge::requirements::named_statistics;
use proofmark_model::{or_list, parse_duration};

use super::shared::HistoryPlace;
use crate::formats;
use crate::limit;

#[derive(Debug, Args)]
pub struct ReportArgs {
    /// The run [default: the newest]
    ///
    /// A run file, its directory, or its number in `proofmark history`. The newest is the run of
    /// the newest directory proofmark-* here; without one, the newest of the history
    #[arg(value_name = "RUN")]
    pub run: Option<String>,
    /// A format that `proofmark list formats` prints
    #[arg(long, default_value = "terminal")]
    pub format: String,
    /// Every finding, and the results of each workload; terminal and markdown are short otherwise
    ///
    /// The short text has at most 100 lines in a terminal, and 60,000 characters as Markdown. Single
    /// trials (as Exp 1, Average, Std Dev where their number is fixed: run --trials N), windows and both
    /// ends of a network are too long for a terminal: markdown with --all and html have them
    #[arg(long)]
    pub all: bool,
    /// Write to this file
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,
    /// Write each chart of the page as an SVG file to this directory, and list the files
    ///
    /// Each file has its title, axes and legend on a white background. A missing directory is created;
    /// existing files are not replaced
    #[arg(long, value_name = "DIR", conflicts_with_all = ["format", "all", "out"])]
    pub charts: Option<PathBuf>,
    #[command(flatten)]
    pub history: HistoryPlace,
}

#[derive(Debug, Args)]
pub struct CompareArgs {
    /// Runs; the first is the baseline
    ///
    /// Run files, their directories, or numbers in `proofmark history`. A side may be several runs: a
    /// `run --repeat` directory, a query of the history (label=old,within=7d; also host, profile,
    /// last), or the runs before and after --
    #[arg(value_name = "RUN", required = true)]
    pub runs: Vec<String>,
    /// Runs of the other side: compare A1 A2 A3 A4 -- B1 B2 B3 B4
    #[arg(value_name = "RUN", last = true)]
    pub others: Vec<String>,
    /// Output format
    #[arg(long, default_value = "terminal", help = or_list(&formats::COMPARE))]
    pub format: String,
    /// Write to this file
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,
    /// Also print results that do not differ
    #[arg(long)]
    pub all: bool,
    /// Ignore differences up to this, such as 3%
    ///
    /// [default: 2% where the variation between runs is known, else by subsystem and by the variation
    /// within both runs]
    #[arg(long, value_name = "SHARE", value_parser = limit::margin)]
    pub margin: Option<f64>,
    /// Price of a machine, such as A=0.17/h
    ///
    /// Adds figures per unit of money. RUN is A, B, ... in the order of the runs, or a label or
    /// host name; without it the prices belong to the runs in order. Also $0.17/h, 4 EUR/day,
    /// 95/month, 1100/year. Needs a price for each run, all in one currency
    #[arg(long, value_name = "RUN=AMOUNT/h")]
    pub price: Vec<String>,
    #[command(flatten)]
    pub history: HistoryPlace,
}

#[derive(Debug, Args)]
pub struct CheckArgs {
    /// The run to check
    ///
    /// A run file, its directory, or its number in `proofmark history`; several runs as in compare
    #[arg(value_name = "RUN")]
    pub run: String,
    /// The baseline run, or last-good
    ///
    /// A run file, its directory, its number in `proofmark history`, or last-good: the newest good
    /// earlier run of this machine and profile in the history. A good run has no invalid result, and none
    /// that is slower than in the good run before it, or gone. The exit status is 4 if a result is slower
    /// or gone, or the mean of a subsystem slower. It is 5 if others alone made results slower (other_cpu, shared_device, ...), with an
    /// undecided result, or without a baseline in the history
    #[arg(long, value_name = "RUN", required_unless_present_any = ["require", "require_file"])]
    pub against: Option<String>,
    /// A condition, such as 'disk.fsync.p99<10ms'
    #[arg(long, value_name = "REQUIREMENT", long_help = require_help())]
    pub require: Vec<String>,
    /// TOML file with requirements
    ///
    /// Such as require = ["disk.fsync.p99<10ms"]
    #[arg(long, value_name = "FILE")]
    pub require_file: Option<PathBuf>,
    /// Ignore differences up to this, such as 3%
    ///
    /// [default: as in compare]
    #[arg(long, value_name = "SHARE", value_parser = limit::margin)]
    pub margin: Option<f64>,
    /// Output format
    #[arg(long, default_value = "terminal", help = or_list(&formats::CHECK))]
    pub format: String,
    /// Write to this file
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,
    #[command(flatten)]
    pub history: HistoryPlace,
}

fn require_help() -> String {
    format!(
        "A condition, such as 'disk.fsync.p99<10ms'\n\nThe whole 95 % interval must meet it. If the \
         limit lies within the interval, the requirement is undecided (exit status 5): measure again \
         on a quiet machine (run --wait-quiet) or with more --trials, or set a limit outside it. So is a figure that \
         misses the limit, and may meet it without what others took. It tests the workload's last row on the first screen, such as all CPUs or the deepest queue. With \
         parameters in brackets, as in 'cpu.flops[threads=1]>=50GFLOP/s', it tests every result that \
         has them. It tests delivered, unless another statistic is named: {}",
        named_statistics()
    )
}

#[derive(Debug, Args)]
pub struct HistoryArgs {
    /// Workload to show over time [default: all runs]
    #[arg(value_name = "WORKLOAD")]
    pub workload: Option<String>,
    /// Only results with this parameter: threads=2
    #[arg(long, value_name = "NAME=VALUE,...")]
    pub set: Vec<String>,
    /// Only runs of the machine with this host name
    #[arg(long, value_name = "NAME")]
    pub host: Option<String>,
    /// Only runs with this label (`run --label`)
    #[arg(long, value_name = "TEXT")]
    pub label: Option<String>,
    /// Only runs of this profile
    #[arg(long, value_name = "NAME")]
    pub profile: Option<String>,
    /// Only runs that began in this time, such as 7d
    #[arg(long, value_name = "TIME", value_parser = parse_duration)]
    pub within: Option<Duration>,
    /// List only this many runs
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = limit::count)]
    pub last: u32,
    /// Output format
    #[arg(long, default_value = "terminal", help = or_list(&formats::HISTORY))]
    pub format: String,
    /// Write to this file
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,
    /// Add these runs first
    ///
    /// Run files or their directories. Name a workload before this option
    #[arg(long, value_name = "RUN", num_args = 1..)]
    pub add: Vec<PathBuf>,
    #[command(flatten)]
    pub history: HistoryPlace,
}
