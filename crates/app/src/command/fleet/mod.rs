//! `proofmark fleet`: measures many machines in rounds, and finds the slow ones.

mod duration;
mod node;
mod pair_server;
mod report;
mod run;
mod slurm;

use anyhow::Result;

use crate::cli::FleetCommand;
use crate::error::Outcome;

pub fn run(command: &FleetCommand) -> Result<Outcome> {
    match command {
        FleetCommand::Run(args) => run::run(args),
        FleetCommand::Report(args) => report::run(args),
        FleetCommand::Node(args) => node::run(args),
    }
}
