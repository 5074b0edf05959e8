//! The arguments of `proofmark fleet`.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Subcommand, value_parser};
use proofmark_fleet::Subnet;
use proofmark_fleet::launch::NodeLabels;
use proofmark_model::{FLEET_ROUNDS, Pairs, or_list, parse_duration};

use crate::formats;
use crate::limit;

/// The commands of `proofmark fleet`.
#[derive(Debug, Subcommand)]
pub enum FleetCommand {
    /// Measure many machines in rounds and report the slow ones
    Run(Box<FleetRunArgs>),
    /// Print the report of a measured fleet
    Report(FleetReportArgs),
    /// Measure the tasks that arrive on standard input (used by fleet run)
    #[command(hide = true)]
    Node(FleetNodeArgs),
}

#[derive(Debug, Args)]
#[command(group(clap::ArgGroup::new("launcher").args(["ssh", "slurm", "kubernetes"]).required(true)))]
pub struct FleetRunArgs {
    /// Reach the nodes by ssh: n1,n2 or n[1-32]
    ///
    /// Or a file with one host per line. Your ssh configuration applies (ports and jump hosts belong
    /// there), host keys are checked, and ssh never prompts
    #[arg(long, value_name = "HOSTS|FILE")]
    pub ssh: Option<String>,
    /// Reach the nodes by Slurm
    ///
    /// In the current allocation, or in a new one
    #[arg(long)]
    pub slurm: bool,
    /// Reach the nodes of a Kubernetes cluster
    ///
    /// A Job puts a pod on each, and kubectl exec runs proofmark in it
    #[arg(long, requires = "image")]
    pub kubernetes: bool,
    /// Number of nodes
    ///
    /// Slurm: of the new allocation. Kubernetes [default: all that are ready]
    #[arg(short = 'N', long, value_name = "N", conflicts_with = "ssh", value_parser = value_parser!(u32).range(1..))]
    pub nodes: Option<u32>,
    /// Path of an identical proofmark on the nodes
    ///
    /// [default: copy this one, and remove it afterwards]
    #[arg(hide_short_help = true, long, value_name = "PATH", conflicts_with = "kubernetes")]
    pub program: Option<String>,
    /// Time limit until all nodes have started
    ///
    /// [default: 2m plus 1s per node]
    #[arg(hide_short_help = true, long, value_name = "TIME", value_parser = parse_duration)]
    pub start_limit: Option<Duration>,
    /// Set of workloads and settings
    ///
    /// A name that `proofmark list profiles` prints, or a TOML file. Its network workloads are
    /// measured only with --pairs
    #[arg(long, help_heading = "Measurement", value_name = "NAME|FILE", default_value = "screen")]
    pub profile: String,
    #[arg(
        long,
        help_heading = "Measurement",
        value_name = "N",
        default_value_t = *FLEET_ROUNDS.start(),
        value_parser = rounds,
        help = format!("Rounds over all nodes, {}", rounds_text())
    )]
    pub rounds: u32,
    /// Target time of the first pass
    ///
    /// No limit of the command: it shortens rounds and skips none. It applies if all nodes measure at once
    #[arg(hide_short_help = true, long, help_heading = "Measurement", value_name = "TIME", value_parser = parse_duration)]
    pub budget: Option<Duration>,
    /// Nodes measured at the same time [default: all]
    ///
    /// With --pairs: half as many pairs, at least one
    #[arg(long, help_heading = "Measurement", value_name = "N", value_parser = value_parser!(u32).range(1..))]
    pub at_once: Option<u32>,
    #[arg(
        long,
        help_heading = "Measurement",
        value_name = "N|all",
        value_parser = pairs,
        help = "Also measure the network between nodes",
        long_help = format!(
            "Also measure the network between nodes\n\nEach with N others ({}), or with all. It tells \
             slow nodes from slow links",
            rounds_text()
        )
    )]
    pub pairs: Option<Pairs>,
    /// The network that --pairs measures, such as 10.1.0.0/16
    ///
    /// Name it where nodes have several [default: the address that ssh used, else the first that
    /// answers]
    #[arg(
        hide_short_help = true,
        long,
        help_heading = "Measurement",
        value_name = "SUBNET",
        requires = "pairs"
    )]
    pub subnet: Option<Subnet>,
    /// Directory on the nodes whose disk to measure
    ///
    /// [default: the first of $TMPDIR, /var/tmp and the current one that is on a disk]
    #[arg(long, help_heading = "Measurement", value_name = "DIR")]
    pub disk_path: Option<PathBuf>,
    /// Also measure disks that other nodes may use (network storage)
    #[arg(hide_short_help = true, long, help_heading = "Measurement")]
    pub shared_storage: bool,
    /// Directory for the report [default: fleet-TIME]
    #[arg(long, help_heading = "Output", value_name = "DIR", conflicts_with = "resume")]
    pub out: Option<PathBuf>,
    /// Name of the fleet, in reports
    #[arg(hide_short_help = true, long, help_heading = "Output", value_name = "TEXT", value_parser = limit::label)]
    pub label: Option<String>,
    /// Continue the stopped fleet in DIR
    ///
    /// Give the same options as for the stopped run
    #[arg(long, help_heading = "Output", value_name = "DIR")]
    pub resume: Option<PathBuf>,
    /// With --resume: measure these nodes again, such as repaired ones
    ///
    /// Their earlier results do not count any more, in either pass and in pairs. The second pass is
    /// decided anew
    #[arg(
        hide_short_help = true,
        long,
        help_heading = "Output",
        value_name = "NODES",
        requires = "resume"
    )]
    pub again: Option<String>,
    /// Print every node by name, and whole texts
    #[arg(long, help_heading = "Output")]
    pub all: bool,
    /// Print the expected time and the command of a node, or the Job, and stop
    ///
    /// With --all, the commands of all nodes. For a Job without -N, kubectl counts the ready nodes
    #[arg(long, help_heading = "Output")]
    pub dry_run: bool,
    /// ssh with your options, split as in a shell, such as 'ssh -p 2222'
    #[arg(
        hide_short_help = true,
        long,
        help_heading = "ssh",
        value_name = "COMMAND",
        default_value = "ssh",
        requires = "ssh"
    )]
    pub ssh_command: String,
    /// Slurm: names of its nodes, such as n[1-32]
    #[arg(
        hide_short_help = true,
        long,
        help_heading = "Slurm",
        value_name = "NODES",
        requires = "slurm"
    )]
    pub nodelist: Option<String>,
    /// Slurm: partition of the nodes
    #[arg(
        hide_short_help = true,
        long,
        help_heading = "Slurm",
        value_name = "NAME",
        requires = "slurm"
    )]
    pub partition: Option<String>,
    /// Slurm: another option of salloc, such as --account=hpc
    #[arg(
        hide_short_help = true,
        long,
        help_heading = "Slurm",
        value_name = "OPTION",
        requires = "slurm",
        allow_hyphen_values = true
    )]
    pub slurm_option: Vec<String>,
    /// Kubernetes: image of proofmark that the cluster can pull
    #[arg(
        hide_short_help = true,
        long,
        help_heading = "Kubernetes",
        value_name = "IMAGE",
        requires = "kubernetes"
    )]
    pub image: Option<String>,
    /// Kubernetes: labels of the nodes, such as pool=gpu,zone=a
    #[arg(
        hide_short_help = true,
        long,
        help_heading = "Kubernetes",
        value_name = "LABEL=VALUE,...",
        requires = "kubernetes"
    )]
    pub selector: Option<NodeLabels>,
    /// Kubernetes: namespace of the Job
    #[arg(
        hide_short_help = true,
        long,
        help_heading = "Kubernetes",
        value_name = "NAME",
        requires = "kubernetes"
    )]
    pub namespace: Option<String>,
    /// Kubernetes: a taint that the pods tolerate
    #[arg(
        hide_short_help = true,
        long,
        help_heading = "Kubernetes",
        value_name = "KEY[=VALUE][:EFFECT]",
        requires = "kubernetes"
    )]
    pub toleration: Vec<String>,
    /// kubectl with your options, such as 'kubectl --context lab'
    #[arg(
        hide_short_help = true,
        long,
        help_heading = "Kubernetes",
        value_name = "COMMAND",
        default_value = "kubectl",
        requires = "kubernetes"
    )]
    pub kubectl: String,
}

fn rounds_text() -> String {
    format!("{} to {}", FLEET_ROUNDS.start(), FLEET_ROUNDS.end())
}

fn rounds(typed: &str) -> Result<u32, String> {
    let known = typed.parse().ok().filter(|rounds| FLEET_ROUNDS.contains(rounds));
    known.ok_or_else(|| format!("write a number from {}", rounds_text()))
}

/// Parses `8` or `all`.
fn pairs(typed: &str) -> Result<Pairs, String> {
    match rounds(typed) {
        Ok(rounds) => Ok(Pairs::Rounds(rounds)),
        _ if typed == "all" => Ok(Pairs::All),
        Err(range) => Err(format!("{range}, or all")),
    }
}

#[derive(Debug, Args)]
pub struct FleetReportArgs {
    /// The fleet's directory
    pub dir: PathBuf,
    /// Output format
    #[arg(long, default_value = "terminal", help = or_list(&formats::FLEET))]
    pub format: String,
    /// Write to this file
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,
    /// Print every node by name, and whole texts, in a terminal
    #[arg(long)]
    pub all: bool,
}

#[derive(Debug, Args)]
pub struct FleetNodeArgs {
    /// The launcher's name of this node [default: $SLURMD_NODENAME]
    #[arg(long, value_name = "NAME")]
    pub name: Option<String>,
    /// Remove this program's file, which the launcher copied
    #[arg(long)]
    pub copied: bool,
    /// Wait for another process of this container to start, at most SECONDS, and to end
    #[arg(long, value_name = "SECONDS")]
    pub idle: Option<u64>,
}
