//! The command line: names, types and help of every argument.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Parser, Subcommand, ValueEnum};
use proofmark_model::{parse_duration, parse_size};

use crate::error::statuses_in_words;
use crate::limit;

mod fleet;
mod import_audit;
mod measure;
mod results;
mod shared;

pub use fleet::{FleetCommand, FleetNodeArgs, FleetReportArgs, FleetRunArgs};
pub use import_audit::{AuditArgs, ImportArgs};
pub use measure::{EndureArgs, NoiseArgs, Repeat, RunArgs};
pub use results::{CheckArgs, CompareArgs, HistoryArgs, ReportArgs};
pub use shared::{Before, ExitRules, HistoryFile, ProgressMode, ResultFiles};

/// Measure how fast this machine is, and check every result.
#[derive(Debug, Parser)]
#[command(name = "proofmark", version, about, max_term_width = 100)]
#[command(
    help_template = "{about}\n\n{usage-heading} {usage}\n\nCommands:\n{subcommands}{after-help}"
)]
#[command(after_help = format!("Exit status: {}", statuses_in_words()))]
pub struct Cli {
    /// The command to run.
    #[command(subcommand)]
    pub command: Command,
}

/// The commands.
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
        /// Topic to list [default: print the topics]
        topic: Option<Listing>,
    },
    /// Explain a word of a report, or `environment`: the variables
    Explain {
        /// A word of a report, or one that `proofmark list TOPIC` prints, or environment
        id: String,
    },
    /// Report the newest run, or another one
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
    /// Print the JSON schema of a run file, or of another object
    Schema {
        /// The object
        #[arg(default_value = "run")]
        object: SchemaOf,
    },
    /// Print a shell completion script
    Completions {
        /// The shell
        shell: Shell,
    },
    /// Print the manual page, or write all pages (--out DIR)
    Man {
        /// Directory for the pages of all commands [default: print the main page]
        #[arg(long, value_name = "DIR")]
        out: Option<PathBuf>,
    },
    /// Print the runs that a shell offers (used by the completion scripts)
    #[command(hide = true)]
    RunsToComplete,
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
pub struct ServeArgs {
    /// Address to listen on
    ///
    /// 0.0.0.0 or :: accepts other machines on every interface. The default port is 5277
    #[arg(long, value_name = "ADDRESS[:PORT]", default_value = "127.0.0.1", value_parser = limit::bind)]
    pub bind: SocketAddr,
    /// File with the key; created if missing [default: ~/.config/proofmark/key]
    #[arg(long, value_name = "FILE")]
    pub key_file: Option<PathBuf>,
    /// Maximum time of one run
    #[arg(long, value_name = "TIME", default_value = "1h", value_parser = parse_duration)]
    pub max_time: Duration,
    /// Maximum bytes that one run sends and receives
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

/// The topics of `proofmark list`.
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
    /// Other findings: about a machine, a plan or an import
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
    /// All topics, in the order in which they are printed.
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

/// The objects with a JSON schema.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum SchemaOf {
    /// A run file
    Run,
    /// Past runs: `history --format json`
    History,
    /// `compare --format json`
    Comparison,
    /// `report --format json` of a directory of `run --repeat`
    Group,
    /// `fleet report --format json`
    FleetReport,
}

/// The shells with completions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Shell {
    /// A file to source
    Bash,
    /// A file `_proofmark` in a folder of fpath
    Zsh,
    /// A file to source
    Fish,
}

/// Returns the definition of the command line, for the parser and the help.
pub fn command() -> clap::Command {
    let mut command = <Cli as clap::CommandFactory>::command();
    command.build();
    command.mut_subcommand("help", |help| help.hide(true))
}
