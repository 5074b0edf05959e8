//! The arguments of the commands that measure this machine.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use proofmark_model::{Limit, Subsystem, parse_duration};
use proofmark_peer::Address;

use super::shared::{Before, HistoryFile, ResultFiles};
use crate::limit::{self, Trials};

#[derive(Debug, Args)]
pub struct RunArgs {
    /// Subsystems or workloads to measure
    #[arg(value_name = "NAME", help = names())]
    pub names: Vec<String>,
    /// Short run, at most 45 s
    #[arg(long, conflicts_with = "profile")]
    pub quick: bool,
    /// Set of workloads and settings
    ///
    /// A name that `proofmark list profiles` prints, or a TOML file [default: default]
    #[arg(long, value_name = "NAME|FILE")]
    pub profile: Option<String>,
    /// Time limit of the run, such as 1m
    ///
    /// The command ends within it, reports included; --wait-quiet does not count. proofmark takes
    /// fewer and shorter trials, then leaves work out and lists it. A result has at least 8 rounds,
    /// or 3 trials of loads that cannot be cut into rounds
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
    /// For a run of one workload also without its name: isa=avx2,scalar. `proofmark explain
    /// WORKLOAD` lists the parameters
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
    /// Names, or all: for the named workloads, or where the profile marks them [default: one
    /// installed tool where the profile marks it]
    #[arg(long, value_name = "TOOL,...", value_delimiter = ',')]
    pub reference: Vec<String>,
    /// Run no reference tool
    #[arg(hide_short_help = true, long, conflicts_with = "reference")]
    pub no_reference: bool,
    /// Known limit, such as disk.read=160MB/s
    #[arg(long, long_help = limits(), value_name = "NAME=VALUE", value_parser = limit::parse)]
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
    #[arg(long, conflicts_with = "json")]
    pub dry_run: bool,
    #[command(flatten)]
    pub history: HistoryFile,
    #[command(flatten)]
    pub repeat: Repeat,
    /// Take one of several runs in this directory, and end with the parent (used by run --repeat)
    #[arg(long, hide = true, value_name = "DIR")]
    pub for_repeat: Option<PathBuf>,
}

/// Several runs, one after the other.
#[derive(Debug, Clone, Default, Args)]
pub struct Repeat {
    /// Number of runs, each in its own directory
    ///
    /// The report over all gives each figure's median of runs, with an interval over runs. After a
    /// stop: --resume DIR
    #[arg(long, value_name = "N", value_parser = limit::runs)]
    pub repeat: Option<u32>,
    /// Time between the starts of two runs, such as 20m
    ///
    /// Runs over hours show what changes between hours, as an interval of one run cannot [default: each
    /// begins when the one before ends]
    #[arg(hide_short_help = true, long, value_name = "TIME", value_parser = parse_duration)]
    pub every: Option<Duration>,
    /// Spread the runs over this time, such as 6h
    ///
    /// With --repeat N or --every TIME, which give the rest; alone, as many runs as fit
    #[arg(hide_short_help = true, long = "for", value_name = "TIME", value_parser = parse_duration)]
    pub length: Option<Duration>,
    /// Do the rest of the runs of this directory, after a stop, a crash or a reboot
    ///
    /// The directory has the arguments. A run that was cut off is moved aside and done again
    #[arg(hide_short_help = true, long, value_name = "DIR", exclusive = true)]
    pub resume: Option<PathBuf>,
}

/// Returns the help of the names.
fn names() -> String {
    let subsystems = Subsystem::ALL.map(Subsystem::as_str).join(", ");
    format!("{subsystems}, or workloads (cpu.flops) [default: all]")
}

/// Returns the long help of `--limit`.
fn limits() -> String {
    let names = Limit::ALL.map(Limit::name).join(", ");
    format!(
        "Known limit of disk, memory or network, such as disk.read=160MB/s\n\nA ceiling of the results. \
         memory.dram is the rate of all sockets' memory: 76.8GB/s for two channels of DDR5-4800. \
         Names: {names}"
    )
}

#[derive(Debug, Args)]
pub struct EndureArgs {
    /// A workload that `proofmark list workloads` prints
    #[arg(value_name = "WORKLOAD")]
    pub workload: String,
    /// Time to measure, such as 8h; at least 10s
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
    /// Time to measure, at least 1s
    #[arg(long = "for", value_name = "TIME", default_value = "30s", value_parser = parse_duration)]
    pub length: Duration,
    /// Print every cause and finding
    #[arg(long)]
    pub all: bool,
    #[command(flatten)]
    pub before: Before,
    #[command(flatten)]
    pub results: ResultFiles,
}
