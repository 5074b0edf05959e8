//! The command line: names, types and help of every argument.

use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Parser, Subcommand, ValueEnum};
use proofmark_model::{parse_duration, parse_size};
use proofmark_peer::{Address, DEFAULT_PORT};

use crate::command::{check, compare, history};

/// Measures how fast this machine is, and proves every number.
#[derive(Debug, Parser)]
#[command(name = "proofmark", version, about, max_term_width = 100)]
#[command(after_help = "\
Exit status: 0 all valid; 1 the run failed; 2 usage; 3 done, but something is suspect or
invalid; 4 slower than the baseline; 128 + n stopped by signal n, what was measured until then
is kept.

Sizes as in fio: 8KB is 8192 bytes, and so are 8k and 8KiB. Durations: 250ms, 30s, 5m.")]
pub struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// What to do.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Measure, judge, and write a report
    Run(Box<RunArgs>),
    /// Measure one kernel over time: a sample each second, what changed and when
    Endure(EndureArgs),
    /// Show the machine as it was found, with its ceilings
    Info(InfoArgs),
    /// List what there is
    List(ListArgs),
    /// Explain anything that `list` prints by its id
    Explain(ExplainArgs),
    /// Make a report from a run file
    Report(ReportArgs),
    /// Hold one run against another, point by point
    Compare(CompareArgs),
    /// Hold a run against a baseline, for CI: exit status 4 if something got slower
    Check(CheckArgs),
    /// List past runs, or draw a measurement over time
    History(HistoryArgs),
    /// Judge what another tool measured, from its output
    Import(ImportArgs),
    /// Judge figures that somebody else published
    Audit(AuditArgs),
    /// Be the far end of network runs of other machines, until stopped
    Serve(ServeArgs),
    /// Print the JSON schema of a run file
    Schema,
    /// Print a script that completes commands and ids in a shell
    Completions(CompletionsArgs),
    /// Print a manual page, or write all of them to a folder
    Man(ManArgs),
    /// Measure one point when told to on standard input (used by run)
    #[command(hide = true)]
    Worker,
    /// Become another program that ends with its parent (used by run)
    #[command(hide = true)]
    Tool(ToolArgs),
}

/// Arguments of `tool`.
#[derive(Debug, Args)]
pub struct ToolArgs {
    /// A CPU that it may use; all, if none is named
    #[arg(long)]
    pub cpu: Vec<u32>,
    /// The program and its arguments
    #[arg(last = true)]
    pub command: Vec<std::ffi::OsString>,
}

/// Arguments of `run`.
#[derive(Debug, Args)]
pub struct RunArgs {
    /// Subsystems (cpu, memory, disk, network) or kernels (cpu.flops) to measure; all, if none is named
    #[arg(value_name = "NAME")]
    pub names: Vec<String>,
    /// A first look in under a minute: short for --profile quick
    #[arg(long, conflicts_with = "profile")]
    pub quick: bool,
    /// Points and policy: a name that `proofmark list profiles` prints, or a TOML file [default: default]
    #[arg(long, value_name = "NAME|FILE")]
    pub profile: Option<String>,
    /// Time that the run may take: points get fewer trials, down to three, then the run does without
    /// something, and says what
    #[arg(long, value_name = "TIME", value_parser = parse_duration)]
    pub budget: Option<Duration>,
    /// Numbers of threads, such as 1,2,4,8 or all
    #[arg(long, value_name = "N,...")]
    pub threads: Option<String>,
    /// Block sizes, such as 8B,8KB,8MB, for the kernels that have them
    #[arg(long, value_name = "SIZE,...", value_delimiter = ',', value_parser = parse_size)]
    pub block_size: Vec<u64>,
    /// Set a knob: cpu.flops.isa=avx2,scalar
    #[arg(long, value_name = "KERNEL.KNOB=VALUE,...")]
    pub set: Vec<String>,
    /// Folder whose disk is measured, in a file without a name [default: the current folder]
    #[arg(long, value_name = "DIR")]
    pub disk_path: Option<PathBuf>,
    /// Far end of the network kernels, where `proofmark serve` runs [default: this machine's loopback]
    #[arg(long, value_name = "HOST[:PORT]")]
    pub peer: Option<Address>,
    /// File with the key that the far end has too [default: ~/.config/proofmark/key]
    #[arg(long, value_name = "FILE")]
    pub key_file: Option<PathBuf>,
    /// Tools to run beside what is named, or else the points that the profile marks, as far as they
    /// can repeat it [default: one that is installed, beside the points that the profile marks]
    #[arg(long, value_name = "NAME,...|all", value_delimiter = ',')]
    pub reference: Vec<String>,
    /// Run no tool beside the points
    #[arg(long, conflicts_with = "reference")]
    pub no_reference: bool,
    /// What the provider promises, as a ceiling: disk.read=160MB/s, disk.read_iops=3000
    #[arg(long, value_name = "NAME=VALUE", value_parser = crate::limit::parse)]
    pub limit: Vec<(String, f64)>,
    /// A fixed number of trials, or auto: until the interval is narrow enough
    #[arg(long, value_name = "N|auto", default_value = "auto", value_parser = parse_trials)]
    pub trials: Trials,
    /// Folder for the report; it must hold no run and no report.html, report.md or report.csv
    /// [default: proofmark-TIME]
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Also write the run as JSON to a file, or with - to standard output instead of the table
    #[arg(long, value_name = "FILE|-")]
    pub json: Option<PathBuf>,
    /// Print the points and the time they take, and stop
    #[arg(long)]
    pub dry_run: bool,
    #[command(flatten)]
    pub history: HistoryFile,
}

/// Arguments of `serve`.
#[derive(Debug, Args)]
pub struct ServeArgs {
    /// Address to listen on, with a port if it is not to be 5277; 0.0.0.0 or :: for all
    #[arg(long, value_name = "ADDRESS[:PORT]", default_value = "127.0.0.1", value_parser = parse_bind)]
    pub bind: SocketAddr,
    /// File with the key; made if it is not there [default: ~/.config/proofmark/key]
    #[arg(long, value_name = "FILE")]
    pub key_file: Option<PathBuf>,
    /// Longest that one run may take
    #[arg(long, value_name = "TIME", default_value = "1h", value_parser = parse_duration)]
    pub max_time: Duration,
    /// Most bytes that one run may send and receive
    #[arg(long, value_name = "SIZE", default_value = "100TB", value_parser = parse_size)]
    pub max_bytes: u64,
    /// Serve the run whose child this is, and end with it (used by run)
    #[arg(long, hide = true)]
    pub for_run: bool,
}

/// An IP address with or without a port.
fn parse_bind(text: &str) -> Result<SocketAddr, String> {
    let bare = text.strip_prefix('[').and_then(|t| t.strip_suffix(']')).unwrap_or(text);
    let with_default = |ip: IpAddr| SocketAddr::new(ip, DEFAULT_PORT);
    text.parse().or_else(|_| bare.parse().map(with_default)).map_err(|_| {
        "write an IP address of this machine, such as 10.0.0.5, 10.0.0.5:6000 or 0.0.0.0".to_owned()
    })
}

/// How many trials.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Trials {
    /// As many as the interval needs.
    Auto,
    /// This many.
    Fixed(u32),
}

fn parse_trials(text: &str) -> Result<Trials, String> {
    match text {
        "auto" => Ok(Trials::Auto),
        _ => match text.parse::<u32>() {
            Ok(n @ 1..=1000) => Ok(Trials::Fixed(n)),
            _ => Err("write a number from 1 to 1000, or auto".to_owned()),
        },
    }
}

/// Arguments of `info`.
#[derive(Debug, Args)]
pub struct InfoArgs {
    /// Folder whose disk is looked at [default: the current folder]
    #[arg(long, value_name = "DIR")]
    pub disk_path: Option<PathBuf>,
    /// For programs
    #[arg(long)]
    pub json: bool,
}

/// Arguments of `list`.
#[derive(Debug, Args)]
pub struct ListArgs {
    /// What to list
    pub what: Listing,
}

/// What can be listed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Listing {
    /// Workloads
    Kernels,
    /// What every number, and the host, is checked for
    Checks,
    /// Theoretical limits
    Ceilings,
    /// Named plans
    Profiles,
    /// Formats of a report
    Formats,
    /// Tools whose outputs can be imported
    References,
    /// What published figures are audited for
    Rules,
}

/// Arguments of `explain`.
#[derive(Debug, Args)]
pub struct ExplainArgs {
    /// Id, as `proofmark list` prints them
    pub id: String,
}

/// Arguments of `import`.
#[derive(Debug, Args)]
pub struct ImportArgs {
    /// The tool's output, or - for standard input
    #[arg(value_name = "FILE|-")]
    pub file: PathBuf,
    /// The tool, as `proofmark list references` prints them [default: by what the output looks like]
    #[arg(long, value_name = "NAME")]
    pub tool: Option<String>,
    /// It was measured on this machine: hold it against this machine's ceilings
    #[arg(long)]
    pub here: bool,
    /// Folder for the report; it must hold no run and no report.html, report.md or report.csv
    /// [default: proofmark-TIME]
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Also write the run as JSON to a file, or with - to standard output instead of the table
    #[arg(long, value_name = "FILE|-")]
    pub json: Option<PathBuf>,
}

/// Arguments of `audit`.
#[derive(Debug, Args)]
pub struct AuditArgs {
    /// The figures, as CSV: subsystem, tool, operation, metric, block_size_bytes, threads, trial,
    /// value, unit_as_written, value_si, si_unit
    #[arg(value_name = "FILE.csv")]
    pub file: PathBuf,
    /// What is known of the machines that they were measured on, as TOML: a table each
    #[arg(long, value_name = "FILE.toml")]
    pub machine: PathBuf,
    /// Table of the machine [default: the one that is named like the CSV, or the only one]
    #[arg(long, value_name = "NAME")]
    pub name: Option<String>,
    /// Print every figure, not only the summary and what was found
    #[arg(long)]
    pub all: bool,
    /// Write every figure with its findings as JSON to a file, or with - to standard output
    #[arg(long, value_name = "FILE|-")]
    pub json: Option<PathBuf>,
    /// Write every figure with its verdict as CSV to a file, or with - to standard output
    #[arg(long, value_name = "FILE|-")]
    pub csv: Option<PathBuf>,
}

/// Arguments of `endure`.
#[derive(Debug, Args)]
pub struct EndureArgs {
    /// Kernel, as `proofmark list kernels` prints them
    #[arg(value_name = "KERNEL")]
    pub kernel: String,
    /// How long, such as 10m, 8h, 3d; from 10s
    #[arg(long = "for", value_name = "TIME", default_value = "10m", value_parser = parse_duration)]
    pub length: Duration,
    /// From the start of one sample to that of the next
    #[arg(long, value_name = "TIME", default_value = "1s", value_parser = parse_duration)]
    pub every: Duration,
    /// Number of threads, or all
    #[arg(long, value_name = "N")]
    pub threads: Option<String>,
    /// Block size, such as 8KB, if the kernel has one
    #[arg(long, value_name = "SIZE", value_parser = parse_size)]
    pub block_size: Option<u64>,
    /// Set a knob: isa=avx2, or as a run takes it, cpu.flops.isa=avx2
    #[arg(long, value_name = "KNOB=VALUE")]
    pub set: Vec<String>,
    /// Folder whose disk is measured, in a file without a name [default: the current folder]
    #[arg(long, value_name = "DIR")]
    pub disk_path: Option<PathBuf>,
    /// Folder for the report; it must hold no run and no report.html, report.md or report.csv
    /// [default: proofmark-TIME]
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Also write the run as JSON to a file, or with - to standard output instead of the table
    #[arg(long, value_name = "FILE|-")]
    pub json: Option<PathBuf>,
    #[command(flatten)]
    pub history: HistoryFile,
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
    /// Keep this run out of the history
    #[arg(long, conflicts_with = "history")]
    pub no_history: bool,
}

/// Arguments of `compare`.
#[derive(Debug, Args)]
pub struct CompareArgs {
    /// The run to hold the other against: a run file, its folder, or a number of the history
    #[arg(value_name = "A")]
    pub a: String,
    /// The run that is compared with it
    #[arg(value_name = "B")]
    pub b: String,
    /// How it is laid out
    #[arg(long, default_value = "terminal", help = one_of(&compare::FORMATS))]
    pub format: String,
    /// Write to this file instead of standard output
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,
    /// Print every point, not only those that differ
    #[arg(long)]
    pub all: bool,
    /// Differences up to this share say nothing, such as 0.03 or 3% [default: by subsystem, and by how
    /// much the points of both runs differ from each other]
    #[arg(long, value_name = "SHARE", value_parser = compare::share)]
    pub margin: Option<f64>,
    #[command(flatten)]
    pub history: HistoryPlace,
}

/// Arguments of `check`.
#[derive(Debug, Args)]
pub struct CheckArgs {
    /// The run to check: a run file, its folder, or a number of the history
    #[arg(value_name = "RUN")]
    pub run: String,
    /// The baseline
    #[arg(long, value_name = "RUN")]
    pub against: String,
    /// Differences up to this share say nothing, as for compare
    #[arg(long, value_name = "SHARE", value_parser = compare::share)]
    pub margin: Option<f64>,
    /// How it is laid out
    #[arg(long, default_value = "terminal", help = one_of(&check::FORMATS))]
    pub format: String,
    /// Write to this file instead of standard output
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,
    #[command(flatten)]
    pub history: HistoryPlace,
}

/// Arguments of `history`.
#[derive(Debug, Args)]
pub struct HistoryArgs {
    /// Kernel whose measurements are drawn over time [default: list the runs]
    #[arg(value_name = "KERNEL")]
    pub kernel: Option<String>,
    /// Only points with this knob: threads=2, or cpu.flops.threads=2 as for run
    #[arg(long, value_name = "KNOB=VALUE,...")]
    pub set: Vec<String>,
    /// Only runs of the machine of this name [default: all]
    #[arg(long, value_name = "NAME")]
    pub host: Option<String>,
    /// Only runs of this profile
    #[arg(long, value_name = "NAME")]
    pub profile: Option<String>,
    /// Only runs that began within this time, such as 7d
    #[arg(long, value_name = "TIME", value_parser = parse_duration)]
    pub within: Option<Duration>,
    /// Most runs to list, the newest
    #[arg(long, value_name = "N", default_value_t = 20)]
    pub last: u32,
    /// How it is laid out
    #[arg(long, default_value = "terminal", help = one_of(&history::FORMATS))]
    pub format: String,
    /// Write to this file instead of standard output
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,
    /// Add these runs first: run files, or folders that hold them; a kernel stands before them
    #[arg(long, value_name = "RUN", num_args = 1..)]
    pub add: Vec<PathBuf>,
    #[command(flatten)]
    pub history: HistoryPlace,
}

/// `terminal, json or html`.
fn one_of(ids: &[&str]) -> String {
    match ids {
        [rest @ .., last] if !rest.is_empty() => format!("{} or {last}", rest.join(", ")),
        _ => ids.concat(),
    }
}

/// Arguments of `completions`.
#[derive(Debug, Args)]
pub struct CompletionsArgs {
    /// The shell
    pub shell: Shell,
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

/// Arguments of `man`.
#[derive(Debug, Args)]
pub struct ManArgs {
    /// Folder that gets a page for each command [default: print the main page]
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
}

/// Arguments of `report`.
#[derive(Debug, Args)]
pub struct ReportArgs {
    /// A run file (run.json), or the folder that holds one
    pub run: PathBuf,
    /// Format, as `proofmark list formats` prints them
    #[arg(long, default_value = "terminal")]
    pub format: String,
    /// Write to this file instead of standard output
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,
}
