//! Makes a plan of a request: the configurations to measure, and how.

mod announce;
mod budget;
mod endure;
mod estimate;
mod fit;
mod intervals;
mod lengthen;
mod rank;
mod references;
mod select;
#[cfg(test)]
mod tests;
mod time_limit;
mod titles;
mod values;

use std::collections::BTreeSet;

use proofmark_model::{Host, Plan, Policy, Subsystem};

use crate::error::Usage;
use crate::planned::Planned;
use crate::profile::{PointText, Profile};
use crate::registry::subsystem;
use crate::request::{LONGEST_RUN, PlanRequest};
use crate::set_up::memory_rate;

pub use announce::announcements;
pub(crate) use budget::{ADVICE, BUDGET, correct_tools_left_out, left_out_finding, words};
pub use budget::{FINDINGS as BUDGET_FINDINGS, left_out_for_time};
pub use endure::endure;
pub use estimate::{estimate, takes, takes_alone};
pub use fit::FINDINGS;
pub use intervals::{contradictions, without_interval};
pub use references::{FINDINGS as REFERENCE_FINDINGS, seconds as tools_s};
pub use titles::{Title, titles};
pub use values::{check_value, typed_parameter};

use fit::Gathering;
use lengthen::lengthen;
use references::{Choice, Marked, mark};
use select::chosen;
pub(crate) use select::named;
use time_limit::TimeLimit;
use values::{combinations, overrides};

/// Makes the plan of a run on a machine; an error says in one line what is wrong with the request.
pub fn plan(request: &PlanRequest, host: &Host) -> Result<Planned, Usage> {
    let asked = requested(request, host)?;
    Ok(TimeLimit { request, host, asked: &asked }.plan())
}

/// Makes the plan as requested, without its time limit.
fn requested(request: &PlanRequest, host: &Host) -> Result<Planned, Usage> {
    let (chosen, profile) = asked(request)?;
    let tools = references::asked(&request.tools)?;
    let plan = Plan {
        profile: profile.name.clone(),
        policy: policy(request, &profile, &chosen, host),
        ..Plan::default()
    };
    let usable_cpus = host.limits.usable_cpus.len() as u64;
    let planned = Planned { plan, usable_cpus, ..Planned::default() };
    let mut gathering = Gathering { host, planned };
    let marked = gather(request, &chosen, &profile, &mut gathering)?;
    let mut planned = gathering.planned;
    if planned.plan.points.is_empty() {
        return Err(nothing_to_measure(planned));
    }
    lengthen(&mut planned.plan.policy, host, &planned.plan.points);
    // With workloads named, all their configurations have reference tools.
    let workloads = if request.names.is_empty() { Vec::new() } else { chosen };
    Choice { asked: &tools, workloads: &workloads, marked: &marked, host }.make(&mut planned);
    references::lengthen(&mut planned.plan);
    Ok(planned)
}

/// The error of a plan without a configuration.
fn nothing_to_measure(planned: Planned) -> Usage {
    let reasons = match [planned.unsupported, planned.left_out].concat() {
        none if none.is_empty() => {
            format!(
                "profile {} has no configuration of the requested workloads",
                planned.plan.profile
            )
        }
        reasons => reasons.join("; "),
    };
    Usage(format!("nothing to measure: {reasons}"))
}

/// The subsystems of the requested workloads; some may be left out on this machine.
pub fn subsystems(request: &PlanRequest) -> Result<BTreeSet<Subsystem>, Usage> {
    let (chosen, profile) = asked(request)?;
    let measured = measured(request, &chosen, &profile);
    Ok(measured.into_iter().filter_map(subsystem).collect())
}

/// The chosen workloads that the user named or the profile has.
fn measured<'a>(request: &PlanRequest, chosen: &'a [String], profile: &Profile) -> Vec<&'a str> {
    let is_measured = |id: &&String| {
        request.names.contains(id) || profile.points.iter().any(|p| p.workload == **id)
    };
    chosen.iter().filter(is_measured).map(String::as_str).collect()
}

/// The chosen workloads and the profile.
fn asked(request: &PlanRequest) -> Result<(Vec<String>, Profile), Usage> {
    Ok((chosen(&request.names)?, Profile::load(&request.profile)?))
}

/// The number and duration of trials.
fn policy(request: &PlanRequest, profile: &Profile, chosen: &[String], host: &Host) -> Policy {
    let subsystems = chosen.iter().filter_map(|id| subsystem(id)).collect();
    let mut policy = profile.policy(&subsystems);
    if let Some(n) = request.trials {
        (policy.min_trials, policy.max_trials) = (n, n);
        policy.trials_of.clear();
        policy.point_s = None; // A fixed number of trials has no time limit.
    }
    if let Some(budget) = request.budget {
        policy.budget_s = Some(budget.min(LONGEST_RUN).as_secs_f64());
    }
    policy.memory_rate = Some(memory_rate(host));
    lengthen(&mut policy, host, &[]);
    policy
}

/// Gathers the chosen configurations of the profile; returns which of them it marks for tools.
fn gather(
    request: &PlanRequest,
    chosen: &[String],
    profile: &Profile,
    gathering: &mut Gathering,
) -> Result<Marked, Usage> {
    let overrides = overrides(&request.parameters, &measured(request, chosen, profile))?;
    let mut marked = Marked::new();
    // A named workload that the profile lacks runs with its defaults.
    let is_extra = |id: &&String| {
        request.names.contains(id) && !profile.points.iter().any(|p| p.workload == **id)
    };
    let extra =
        |id: &String| PointText { workload: id.clone(), table: usize::MAX, ..PointText::default() };
    let extra: Vec<_> = chosen.iter().filter(is_extra).map(extra).collect();
    for text in profile.points.iter().chain(&extra) {
        let workload = named(&text.workload)?;
        if chosen.contains(&text.workload) {
            let parameters = text.parameters.iter().map(|(k, v)| (k.clone(), v.texts())).collect();
            let host = gathering.host;
            let combinations = combinations(workload.spec(), &parameters, &overrides, host)?;
            let kept = gathering.keep(workload, combinations, text.series);
            gathering.planned.add_to_table(text.table, &kept);
            mark(&mut marked, &kept, &text.reference);
        }
    }
    Ok(marked)
}
