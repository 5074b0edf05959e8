//! `proofmark endure`: one kernel over time.

use anyhow::Result;
use proofmark_model::{Host, Probe, Subsystem};

use crate::cli::EndureArgs;
use crate::error::{Outcome, Usage};
use crate::far::Far;
use crate::machine;
use crate::measuring::{Asked, carry_out, tell};
use crate::plan::endure;

/// Runs the command.
///
/// # Errors
/// A usage error of one line; or that the result cannot be written.
pub fn run(args: &EndureArgs) -> Result<Outcome> {
    let mut host = machine::look(args.disk_path.as_deref());
    let far = far_end(args, &mut host)?;
    if args.disk_path.is_some() && host.storage.get().is_none() {
        return Err(Usage::error(format!("--disk-path: {}", host.storage.origin())));
    }
    let planned = endure(args, &host)?;
    tell(&host, &planned, far.as_ref());
    let asked = Asked {
        far,
        out: args.out.as_deref(),
        json: args.json.as_deref(),
        history: &args.history,
        tools_most_s: None,
    };
    carry_out(host, planned, &asked)
}

/// The far end of a network kernel: this machine.
fn far_end(args: &EndureArgs, host: &mut Host) -> Result<Option<Far>> {
    let kernel = proofmark_kernels::find(&args.kernel);
    if kernel.is_none_or(|k| k.spec().subsystem != Subsystem::Network) {
        return Ok(None);
    }
    let far = Far::loopback()?;
    host.network = Probe::known(far.network().clone(), "the far end, and this machine's routes");
    Ok(Some(far))
}
