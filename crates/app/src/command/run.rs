//! `proofmark run`: measure, judge, report.

use anyhow::Result;
use proofmark_model::{Host, Plan, Probe, Subsystem, format_seconds};

use crate::cli::RunArgs;
use crate::error::{Outcome, Usage};
use crate::machine;
use crate::measuring::{Asked, carry_out, tell};
use crate::plan::{asks_for, plan, takes, tools_s};
use crate::server::ServerSide;
use crate::text::{print, say};

/// Runs the command.
pub fn run(args: &RunArgs) -> Result<Outcome> {
    let mut host = machine::look(args.disk_path.as_deref());
    let server = server(args, &mut host)?;
    host.limits.declared.extend(args.limit.iter().cloned());
    if args.disk_path.is_some() && host.storage.get().is_none() {
        return Err(Usage::error(format!("--disk-path: {}", host.storage.origin())));
    }
    let planned = plan(args, &host)?;
    // What "all" leaves out on this machine is no news; what was asked for by name is.
    let unsupported = planned.unsupported.iter().filter(|_| args.dry_run || !args.set.is_empty());
    for reason in unsupported {
        say(&format!("proofmark: skipped: {reason}"));
    }
    tell(&host, &planned, server.as_ref());
    if args.dry_run {
        print(&dry_run(&planned.plan))?;
        return Ok(Outcome::Done);
    }
    let asked = Asked {
        server,
        out: args.out.as_deref(),
        json: args.json.as_deref(),
        history: &args.history,
        // What a user allows is for all; a budget of the profile is for our trials alone.
        tools_most_s: args.budget.map(|_| tools_s(&planned.plan)),
    };
    carry_out(host, planned, &asked)
}

/// The server, if any network workload is to run. Without a peer, whatever keeps this
/// machine from being its own server costs the network workloads, not the run.
fn server(args: &RunArgs, host: &mut Host) -> Result<Option<ServerSide>> {
    if !asks_for(args, Subsystem::Network)? {
        return match &args.peer {
            Some(_) => Err(Usage::error("--peer: this run measures no network workload")),
            None => Ok(None),
        };
    }
    let server = match &args.peer {
        Some(address) => ServerSide::peer(args, address)
            .map_err(|e| Usage::error(format!("--peer: {e:#}")))
            .map(Some)?,
        None => {
            ServerSide::loopback().map_err(|e| host.network = Probe::missing(format!("{e:#}"))).ok()
        }
    };
    if let Some(server) = &server {
        host.network =
            Probe::known(server.network().clone(), "the server and this machine's routes");
    }
    Ok(server)
}

/// The targets of the plan's subsystems: `2 %`, or `2 % (disk 5 %)`.
fn targets(plan: &Plan) -> String {
    let policy = &plan.policy;
    let mut text = format!("{} %", policy.target * 100.0);
    for (subsystem, target) in &policy.target_of {
        text += &format!(" ({subsystem} {} %)", target * 100.0);
    }
    text
}

/// The configurations of a plan and their estimated duration.
fn dry_run(plan: &Plan) -> String {
    let policy = &plan.policy;
    let mut text = String::new();
    for (index, point) in plan.points.iter().enumerate() {
        let here = plan.references.iter().filter(|(_, all)| all.iter().any(|r| r.point == index));
        let names: Vec<_> = here.map(|(name, _)| name.as_str()).collect();
        text += &point.to_string();
        if let Some(series) = plan.series_of(index) {
            let [every, length] = [series.every_s, series.for_s].map(format_seconds);
            text += &format!("  (every {every} for {length})");
        }
        if !names.is_empty() {
            text += &format!("  (reference: {})", names.join(", "));
        }
        text.push('\n');
    }
    let trials = if policy.min_trials == policy.max_trials {
        format!("{} trials", policy.min_trials)
    } else {
        format!(
            "{} to {} trials, until the interval is within {}",
            policy.min_trials,
            policy.max_trials,
            targets(plan)
        )
    };
    text += &format!(
        "\n{} configurations of profile {}; {trials} each; {}\n",
        plan.points.len(),
        plan.profile,
        takes(plan)
    );
    text
}
