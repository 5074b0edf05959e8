//! `proofmark run`, and `proofmark endure`, one workload over time: measure, judge, report.

use anyhow::Result;
use proofmark_model::{Plan, format_seconds};
use proofmark_run::{Machine, plan, takes};

use crate::cli::{EndureArgs, RunArgs};
use crate::error::Outcome;
use crate::measuring::{carry_out, tell};
use crate::text::{print, say};

pub fn run(args: &RunArgs) -> Result<Outcome> {
    let request = args.request();
    let machine = Machine::for_run(&request)?;
    let planned = plan(&request, &machine.host)?;
    // What "all" leaves out on this machine is no news; what was asked for by name is.
    let unsupported = planned.unsupported.iter().filter(|_| args.dry_run || !args.set.is_empty());
    for reason in unsupported {
        say(&format!("proofmark: skipped: {reason}"));
    }
    tell(&machine, &planned);
    if args.dry_run {
        print(&dry_run(&planned.plan))?;
        return Ok(Outcome::Done);
    }
    carry_out(machine, planned, &args.results, &args.history)
}

pub fn endure(args: &EndureArgs) -> Result<Outcome> {
    let request = args.request();
    let machine = Machine::for_endure(&request)?;
    let planned = proofmark_run::endure(&request, &machine.host)?;
    tell(&machine, &planned);
    carry_out(machine, planned, &args.results, &args.history)
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
            "{} to {} trials, until after 8, 12 or 20 the interval is within {}",
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
