//! The command line: names, types and help of every argument.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Parser, Subcommand, ValueEnum};
use proofmark_model::{Subsystem, parse_duration, parse_size};
use proofmark_peer::Address;

use crate::error::statuses_in_words;
use crate::formats;
use crate::limit::{self, Trials};

mod fleet;
mod shared;

pub use fleet::{FleetCommand, FleetNodeArgs, FleetReportArgs, FleetRunArgs};
pub use shared::{Before, ExitRules, HistoryFile, HistoryPlace, ResultFiles};

/// Measure how fast this machine is, and check every result.
#[derive(Debug, Parser)]
#[command(name = "proofmark", version, about, max_term_width = 100)]
#[command(
    help_template = "{about}\n\n{usage-heading} {usage}\n\nCommands:\n{subcommands}{after-help}"
)]
#[command(after_help = format!("Exit status: {}", statuses_in_words()))]
pub struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// What to do.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Run benchmarks, check the results, write a report
    Run(Box<RunArgs>),
    /// Measure one workload over time, and find what changed and when
    Endure(EndureArgs),
    /// Show what takes CPU time, and how vCPUs are placed on cores
    Noise(NoiseArgs),
    /// Show this machine and its theoretical limits (ceilings)
    Info(InfoArgs),
    /// List workloads, checks, profiles and other ids
    List {
        /// What to list [default: print the topics]
        what: Option<Listing>,
    },
    /// Explain a word of a report: a workload, a check, a verdict, ...
    Explain {
        /// A word of a report, or one that `proofmark list TOPIC` prints
        id: String,
    },
    /// Write a report from a run file
    Report(ReportArgs),
    /// Compare two or more runs
    Compare(CompareArgs),
    /// Check a run against a baseline or requirements, for CI
    Check(CheckArgs),
    /// List past runs, or show one workload's results over time
    History(HistoryArgs),
    /// Measure many machines, and find the slow ones and why
    #[command(subcommand)]
    Fleet(FleetCommand),
    /// Check the results of another tool, from its output
    Import(ImportArgs),
    /// Check published figures
    Audit(AuditArgs),
    /// Run the server for other machines' network tests
    Serve(ServeArgs),
    /// Print the JSON schema of a run file
    Schema,
    /// Print a shell completion script
    Completions {
        /// The shell
        shell: Shell,
    },
    /// Print the manual page, or write all pages to a directory
    Man {
        /// Directory for the pages of all commands [default: print the main page]
        #[arg(long, value_name = "DIR")]
        out: Option<PathBuf>,
    },
    /// Measure the jobs that arrive on standard input (used by run)
    #[command(hide = true)]
    Worker,
    /// Run a program that is stopped when its parent ends (used by run)
    #[command(hide = true)]
    Tool(ToolArgs),
}

#[derive(Debug, Args)]
pub struct ToolArgs {
    /// A CPU the program may use [default: all]
    #[arg(long)]
    pub cpu: Vec<u32>,
    /// The program and its arguments
    #[arg(last = true)]
    pub command: Vec<std::ffi::OsString>,
}

#[derive(Debug, Args)]
pub struct RunArgs {
    /// Subsystems or workloads to measure
    #[arg(value_name = "NAME", help = names())]
    pub names: Vec<String>,
    /// Short run, at most 45 s
    #[arg(long, conflicts_with = "profile")]
    pub quick: bool,
    /// What to measure and how often
    ///
    /// A name that `proofmark list profiles` prints, or a TOML file [default: default]
    #[arg(long, value_name = "NAME|FILE")]
    pub profile: Option<String>,
    /// Time limit of the run, such as 1m
    ///
    /// proofmark takes fewer trials (at least 8 of CPU and memory loads, 3 of others), then skips work
    /// and lists it
    #[arg(long, value_name = "TIME", value_parser = parse_duration)]
    pub budget: Option<Duration>,
    /// Thread counts, such as 1,2,4 or all
    #[arg(long, value_name = "N,...")]
    pub threads: Option<String>,
    /// Block sizes, such as 4KB,1MB
    #[arg(long, value_name = "SIZE,...")]
    pub block_size: Option<String>,
    /// Set a parameter: cpu.flops.isa=avx2,scalar
    ///
    /// For a run of one workload also without its name: isa=avx2,scalar. `proofmark explain WORKLOAD`
    /// lists the parameters
    #[arg(long, value_name = "NAME=VALUE,...")]
    pub set: Vec<String>,
    /// Directory whose disk to measure
    ///
    /// proofmark writes an unlinked temporary file there [default: the current one]
    #[arg(long, value_name = "DIR")]
    pub disk_path: Option<PathBuf>,
    /// Machine where `proofmark serve` runs
    ///
    /// The server for the network workloads [default: this machine, over loopback]
    #[arg(long, value_name = "HOST[:PORT]")]
    pub peer: Option<Address>,
    /// File with the key that the server uses [default: ~/.config/proofmark/key]
    #[arg(hide_short_help = true, long, value_name = "FILE")]
    pub key_file: Option<PathBuf>,
    /// Reference tools to compare with
    ///
    /// Names, or all: for the named workloads, or where the profile marks them [default: one installed
    /// tool where the profile marks it]
    #[arg(long, value_name = "TOOL,...", value_delimiter = ',')]
    pub reference: Vec<String>,
    /// Run no reference tool
    #[arg(hide_short_help = true, long, conflicts_with = "reference")]
    pub no_reference: bool,
    /// Provider's limit, such as disk.read=160MB/s
    ///
    /// It is used as a ceiling. Other names: disk.read_iops=3000
    #[arg(long, value_name = "NAME=VALUE", value_parser = limit::parse)]
    pub limit: Vec<(String, f64)>,
    /// Number of trials of each result
    ///
    /// auto: until the interval is narrow enough
    #[arg(hide_short_help = true, long, value_name = "N|auto", default_value = "auto", value_parser = limit::trials)]
    pub trials: Trials,
    #[command(flatten)]
    pub before: Before,
    #[command(flatten)]
    pub results: ResultFiles,
    /// Print the plan and its duration, then stop
    #[arg(long)]
    pub dry_run: bool,
    #[command(flatten)]
    pub history: HistoryFile,
}

/// What can be named for a run.
fn names() -> String {
    let subsystems = Subsystem::ALL.map(Subsystem::as_str).join(", ");
    format!("{subsystems}, or workloads (cpu.flops) [default: all]")
}

#[derive(Debug, Args)]
pub struct ServeArgs {
    /// Address to listen on
    ///
    /// 0.0.0.0 or :: accepts other machines on every interface. The default port is 5277
    #[arg(long, value_name = "ADDRESS[:PORT]", default_value = "127.0.0.1", value_parser = limit::bind)]
    pub bind: SocketAddr,
    /// File with the key; created if missing [default: ~/.config/proofmark/key]
    #[arg(long, value_name = "FILE")]
    pub key_file: Option<PathBuf>,
    /// Longest time for one run
    #[arg(long, value_name = "TIME", default_value = "1h", value_parser = parse_duration)]
    pub max_time: Duration,
    /// Most bytes one run may send and receive
    #[arg(long, value_name = "SIZE", default_value = "100TB", value_parser = parse_size)]
    pub max_bytes: u64,
    /// Serve only the parent process and end with it (used by run)
    #[arg(long, hide = true)]
    pub for_run: bool,
}

#[derive(Debug, Args)]
pub struct InfoArgs {
    /// Directory whose disk to describe [default: the current one]
    #[arg(long, value_name = "DIR")]
    pub disk_path: Option<PathBuf>,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// What can be listed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Listing {
    /// Workloads
    Workloads,
    /// Checks of every result
    Checks,
    /// Theoretical limits
    Ceilings,
    /// Resources that limit a result
    Bottlenecks,
    /// What else can be found about a machine, a plan or an import
    Findings,
    /// Named sets of workloads and settings
    Profiles,
    /// Report formats
    Formats,
    /// Reference tools whose output can be imported
    References,
    /// Rules for published figures
    Rules,
    /// Verdicts, figures, columns, exit statuses
    Terms,
}

impl Listing {
    /// All, in the order in which they are printed.
    pub const ALL: [Self; 10] = [
        Self::Workloads,
        Self::Checks,
        Self::Ceilings,
        Self::Bottlenecks,
        Self::Findings,
        Self::Profiles,
        Self::Formats,
        Self::References,
        Self::Rules,
        Self::Terms,
    ];
}

#[derive(Debug, Args)]
pub struct ImportArgs {
    /// The tool's output; - reads standard input
    #[arg(value_name = "FILE|-")]
    pub file: PathBuf,
    /// The tool, if it is not recognised by its output
    ///
    /// A name that `proofmark list references` prints
    #[arg(long, value_name = "NAME")]
    pub tool: Option<String>,
    /// Compare with this machine's ceilings
    ///
    /// Say so only if the output comes from this machine
    #[arg(long)]
    pub here: bool,
    #[command(flatten)]
    pub results: ResultFiles,
}

#[derive(Debug, Args)]
#[command(after_help = "\
'proofmark explain audit' has the words of both files, and an example.")]
pub struct AuditArgs {
    /// The figures
    ///
    /// Columns: subsystem, tool, operation, metric, value, unit_as_written; and, where known,
    /// block_size_bytes, threads, trial, value_si, si_unit, note
    #[arg(value_name = "FILE.csv")]
    pub file: PathBuf,
    /// The machines they were measured on
    ///
    /// One TOML table per machine
    #[arg(long, value_name = "FILE.toml")]
    pub machine: PathBuf,
    /// The machine's table in the TOML file
    ///
    /// [default: the one with the name of the CSV file, or the only one]
    #[arg(long, value_name = "NAME")]
    pub name: Option<String>,
    /// Print every figure, not only problems
    #[arg(long)]
    pub all: bool,
    /// Write figures and findings as JSON; - prints
    #[arg(long, value_name = "FILE|-")]
    pub json: Option<PathBuf>,
    /// Write figures and verdicts as CSV; - prints
    #[arg(long, value_name = "FILE|-")]
    pub csv: Option<PathBuf>,
    /// Exit status 3 also if a figure is suspect
    #[arg(long)]
    pub strict: bool,
}

#[derive(Debug, Args)]
pub struct EndureArgs {
    /// A workload that `proofmark list workloads` prints
    #[arg(value_name = "WORKLOAD")]
    pub workload: String,
    /// How long to measure, such as 8h; at least 10s
    #[arg(long = "for", value_name = "TIME", default_value = "10m", value_parser = parse_duration)]
    pub length: Duration,
    /// Time between the starts of two samples
    #[arg(long, value_name = "TIME", default_value = "1s", value_parser = parse_duration)]
    pub every: Duration,
    /// Number of threads, or all
    ///
    /// [default: the largest number of a run]
    #[arg(long, value_name = "N")]
    pub threads: Option<String>,
    /// Block size, such as 8KB, if the workload has one
    #[arg(long, value_name = "SIZE")]
    pub block_size: Option<String>,
    /// Set a parameter: isa=avx2 or cpu.flops.isa=avx2
    #[arg(long, value_name = "NAME=VALUE")]
    pub set: Vec<String>,
    /// Directory whose disk to measure
    ///
    /// proofmark writes an unlinked temporary file there [default: the current one]
    #[arg(long, value_name = "DIR")]
    pub disk_path: Option<PathBuf>,
    #[command(flatten)]
    pub before: Before,
    #[command(flatten)]
    pub results: ResultFiles,
    #[command(flatten)]
    pub history: HistoryFile,
}

#[derive(Debug, Args)]
pub struct NoiseArgs {
    /// How long to measure, at least 1s
    #[arg(long = "for", value_name = "TIME", default_value = "30s", value_parser = parse_duration)]
    pub length: Duration,
    #[command(flatten)]
    pub before: Before,
    #[command(flatten)]
    pub results: ResultFiles,
}

#[derive(Debug, Args)]
pub struct CompareArgs {
    /// Runs; the first is the baseline
    ///
    /// Run files, their directories, or their numbers in `proofmark history`
    #[arg(value_name = "RUN", required = true, num_args = 2..)]
    pub runs: Vec<String>,
    /// Output format
    #[arg(long, default_value = "terminal", help = formats::one_of(&formats::COMPARE))]
    pub format: String,
    /// Write to this file
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,
    /// Print also results that do not differ
    #[arg(long)]
    pub all: bool,
    /// Ignore differences up to this, such as 3%
    ///
    /// [default: by subsystem and by the variation within both runs]
    #[arg(long, value_name = "SHARE", value_parser = limit::margin)]
    pub margin: Option<f64>,
    #[command(flatten)]
    pub history: HistoryPlace,
}

#[derive(Debug, Args)]
pub struct CheckArgs {
    /// The run to check
    ///
    /// A run file, its directory, or its number in `proofmark history`
    #[arg(value_name = "RUN")]
    pub run: String,
    /// The baseline, a run too
    #[arg(long, value_name = "RUN", required_unless_present_any = ["require", "require_file"])]
    pub against: Option<String>,
    /// A condition, such as 'disk.fsync.p99<10ms'
    ///
    /// The whole 95 % interval must meet it. If the limit lies within the interval, the requirement is
    /// undecided (exit status 5). It tests the workload's last row on the first screen, such as all CPUs
    /// or the deepest queue. With parameters in brackets, as in 'cpu.flops[threads=1]>=50GFLOP/s', it
    /// tests every result that has them. It is about delivered, unless another statistic is named:
    /// attainable, typical, efficiency, iops, mean, p50, p90, p99, p999, max
    #[arg(long, value_name = "REQUIREMENT")]
    pub require: Vec<String>,
    /// TOML file with requirements
    ///
    /// As in require = ["disk.fsync.p99<10ms"]
    #[arg(long, value_name = "FILE")]
    pub require_file: Option<PathBuf>,
    /// Ignore differences up to this, such as 3%
    ///
    /// [default: as in compare]
    #[arg(long, value_name = "SHARE", value_parser = limit::margin)]
    pub margin: Option<f64>,
    /// Output format
    #[arg(long, default_value = "terminal", help = formats::one_of(&formats::CHECK))]
    pub format: String,
    /// Write to this file
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,
    #[command(flatten)]
    pub history: HistoryPlace,
}

#[derive(Debug, Args)]
pub struct HistoryArgs {
    /// Workload to show over time [default: all runs]
    #[arg(value_name = "WORKLOAD")]
    pub workload: Option<String>,
    /// Only results with this parameter: threads=2
    #[arg(long, value_name = "NAME=VALUE,...")]
    pub set: Vec<String>,
    /// Only runs of the machine with this name
    #[arg(long, value_name = "NAME")]
    pub host: Option<String>,
    /// Only runs of this profile
    #[arg(long, value_name = "NAME")]
    pub profile: Option<String>,
    /// Only runs that began in this time, such as 7d
    #[arg(long, value_name = "TIME", value_parser = parse_duration)]
    pub within: Option<Duration>,
    /// List only this many runs
    #[arg(long, value_name = "N", default_value_t = 20)]
    pub last: u32,
    /// Output format
    #[arg(long, default_value = "terminal", help = formats::one_of(&formats::HISTORY))]
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

/// A shell with completions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Shell {
    /// A file to source
    Bash,
    /// A file `_proofmark` in a folder of fpath
    Zsh,
    /// A file to source
    Fish,
}

#[derive(Debug, Args)]
pub struct ReportArgs {
    /// A run file (run.json) or its directory
    pub run: PathBuf,
    /// A format that `proofmark list formats` prints
    #[arg(long, default_value = "terminal")]
    pub format: String,
    /// Write to this file
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,
}

/// The command line as it is parsed and as its help is printed.
pub fn command() -> clap::Command {
    let mut command = <Cli as clap::CommandFactory>::command();
    command.build();
    command.mut_subcommand("help", |help| help.hide(true))
}
