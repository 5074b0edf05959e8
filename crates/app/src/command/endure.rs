//! `proofmark endure`: one workload over time.

use anyhow::Result;
use proofmark_run::Machine;

use crate::cli::EndureArgs;
use crate::error::Outcome;
use crate::measuring::{Shown, carry_out, print_before_run};
use crate::quiet;

pub fn run(args: &EndureArgs) -> Result<Outcome> {
    let request = args.request();
    let machine = Machine::for_endure(&request)?;
    let planned = proofmark_run::endure(&request, &machine.host)?;
    print_before_run(&machine, &planned);
    let waited = quiet::look(&machine.host, args.before)?;
    let shown = Shown { waited, ..Shown::RUN };
    carry_out(machine, planned, (&args.results, Some(&args.history)), shown)
}
