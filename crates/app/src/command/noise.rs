//! `proofmark noise`: what takes CPU time, and how vCPUs are placed on cores.

use std::time::Duration;

use anyhow::Result;
use proofmark_report::terminal;
use proofmark_run::{Machine, plan};

use crate::cli::NoiseArgs;
use crate::error::{Outcome, usage};
use crate::finish::Printed;
use crate::measuring::{Shown, carry_out, print_before_run};
use crate::quiet;

/// Minimum time: eight rounds.
const SHORTEST: Duration = Duration::from_secs(1);

pub fn run(args: &NoiseArgs) -> Result<Outcome> {
    if args.length < SHORTEST {
        return Err(usage("--for must be at least 1s"));
    }
    let request = args.request();
    let machine = Machine::for_run(&request)?;
    let planned = plan(&request, &machine.host)?;
    print_before_run(&machine, &planned);
    let printed: Printed = match args.all {
        true => |run: &_, options: &_, _: &_| terminal::noise_in_full(run, options),
        false => |run: &_, options: &_, _: &_| terminal::noise(run, options),
    };
    let waited = quiet::look(&machine.host, args.before)?;
    let shown = Shown { printed, live: true, waited };
    carry_out(machine, planned, (&args.results, None), shown)
}
