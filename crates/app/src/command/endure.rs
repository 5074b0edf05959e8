//! `proofmark endure`: one workload over time.

use anyhow::Result;
use proofmark_run::{Machine, endure};

use crate::cli::EndureArgs;
use crate::error::Outcome;
use crate::measuring::{carry_out, tell};

pub fn run(args: &EndureArgs) -> Result<Outcome> {
    let request = args.request();
    let machine = Machine::for_endure(&request)?;
    let planned = endure(&request, &machine.host)?;
    tell(&machine, &planned);
    carry_out(machine, planned, &args.results, &args.history)
}
