//! `proofmark endure`: one workload over time.

use anyhow::Result;
use proofmark_model::{Host, Probe, Subsystem};

use crate::cli::EndureArgs;
use crate::error::{Outcome, Usage};
use crate::machine;
use crate::measuring::{Asked, carry_out, tell};
use crate::plan::endure;
use crate::server::ServerSide;

/// Runs the command.
///
/// # Errors
/// A usage error of one line; or that the result cannot be written.
pub fn run(args: &EndureArgs) -> Result<Outcome> {
    let mut host = machine::look(args.disk_path.as_deref());
    let server = server(args, &mut host)?;
    if args.disk_path.is_some() && host.storage.get().is_none() {
        return Err(Usage::error(format!("--disk-path: {}", host.storage.origin())));
    }
    let planned = endure(args, &host)?;
    tell(&host, &planned, server.as_ref());
    let asked = Asked {
        server,
        out: args.out.as_deref(),
        json: args.json.as_deref(),
        history: &args.history,
        tools_most_s: None,
    };
    carry_out(host, planned, &asked)
}

/// The server of a network workload: this machine.
fn server(args: &EndureArgs, host: &mut Host) -> Result<Option<ServerSide>> {
    let workload = proofmark_workloads::find(&args.workload);
    if workload.is_none_or(|k| k.spec().subsystem != Subsystem::Network) {
        return Ok(None);
    }
    let server = ServerSide::loopback()?;
    host.network = Probe::known(server.network().clone(), "the server and this machine's routes");
    Ok(Some(server))
}
