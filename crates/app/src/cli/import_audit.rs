//! The arguments of the commands that check figures of other tools and of publications.

use std::path::PathBuf;

use clap::Args;

use super::shared::ResultFiles;

#[derive(Debug, Args)]
#[command(after_help = "\
Of fio and iperf3 it reads JSON, not text: fio --output-format=json, iperf3 -J.
'proofmark list references' says what it reads of each tool, 'proofmark explain TOOL' more.")]
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
    /// Only for output that comes from this machine
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
    /// Write figures and findings as JSON; - prints it
    #[arg(long, value_name = "FILE|-")]
    pub json: Option<PathBuf>,
    /// Write figures and verdicts as CSV; - prints it
    #[arg(long, value_name = "FILE|-")]
    pub csv: Option<PathBuf>,
    /// Exit status 3 also if a figure is suspect
    #[arg(long)]
    pub strict: bool,
}
