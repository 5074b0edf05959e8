//! From what was typed to the points that are measured.

mod budget;
mod endure;
mod estimate;
mod fit;
#[cfg(test)]
mod many_cpus;
mod references;
mod values;

use std::collections::BTreeMap;

use anyhow::Result;
use proofmark_engine::Workload;
use proofmark_model::{
    Finding, Host, Parameter, Params, Plan, Policy, Probe, Subsystem, WorkloadSpec, nearest,
};
use proofmark_workloads::{ALL, find};

use crate::cli::{Cli, Command, RunArgs, Trials};
use crate::error::Usage;
use crate::profile::{LONGEST_RUN, Profile};
use proofmark_reference::Installed;

pub use budget::FINDINGS as BUDGET_FINDINGS;
use clap::Parser as _;
pub use endure::endure;
pub use estimate::{estimate, takes};
pub use fit::FINDINGS;
pub use references::FINDINGS as REFERENCE_FINDINGS;
pub use references::{Cpus, NoReference, seconds as tools_s};

use fit::Gathering;
use references::{Asked, Choice, Marked, mark};
use values::combinations;
pub use values::{check_value, typed_parameter};

/// Least duration of a trial under a CPU quota, in seconds. The kernel deals out a
/// quota by periods of, as a rule, 100 ms: a trial of one period may see all of a
/// period's share or none of it.
const QUOTA_TRIAL_S: f64 = 0.5;

/// Least duration of a trial under a cgroup's limit of I/O, in seconds. The kernel deals
/// it out by slices of 100 ms (Linux `block/blk-throttle.c`), so that a trial takes a
/// whole number of them: half a slice more or less must be no more than 1 %.
const IO_LIMIT_TRIAL_S: f64 = 5.0;

/// Values for parameters that the command line set, by workload id (or any) and parameter.
#[derive(Debug, Default)]
struct Overrides {
    any: BTreeMap<&'static str, Vec<String>>,
    by_workload: BTreeMap<(String, String), Vec<String>>,
}

/// What is to be measured, and what a user should know about it first.
#[derive(Debug)]
pub struct Planned {
    /// The plan.
    pub plan: Plan,
    /// What this machine does not have and the plan therefore does without.
    pub unsupported: Vec<String>,
    /// What it has, but not enough of, or not where it was looked for.
    pub left_out: Vec<String>,
    /// What runs otherwise than planned.
    pub findings: Vec<Finding>,
    /// The tools of the plan as they were found here, by name.
    pub tools: BTreeMap<String, Installed>,
    /// By the place of a point in the plan: why tools do not run beside it.
    pub no_reference: BTreeMap<usize, NoReference>,
}

impl Planned {
    fn of(plan: Plan) -> Self {
        Self {
            plan,
            unsupported: Vec::new(),
            left_out: Vec::new(),
            findings: Vec::new(),
            tools: BTreeMap::new(),
            no_reference: BTreeMap::new(),
        }
    }

    /// Adds a finding, once.
    fn add(&mut self, finding: Finding) {
        if !self.findings.iter().any(|f| f.message == finding.message) {
            self.findings.push(finding);
        }
    }
}

/// Makes the plan of a run.
///
/// # Errors
/// A [`Usage`] of one line that says what was wrong, with the nearest name.
pub fn plan(args: &RunArgs, host: &Host) -> Result<Planned> {
    let (chosen, profile) = self::asked(args)?;
    let overrides = overrides(args)?;
    let subsystems = chosen.iter().filter_map(|id| Some(find(id)?.spec().subsystem)).collect();
    let mut policy = profile.policy(&subsystems);
    if let Trials::Fixed(n) = args.trials {
        (policy.min_trials, policy.max_trials) = (n, n);
        policy.trials_of.clear();
        policy.point_s = None; // Who fixes the number waits for it.
    }
    if let Some(budget) = args.budget {
        policy.budget_s = Some(budget.min(LONGEST_RUN).as_secs_f64());
    }
    lengthen(&mut policy, host);
    let plan = Plan { profile: profile.name.clone(), policy, ..Plan::default() };
    let asked = Asked::parse(&args.reference, args.no_reference)?;
    let mut gathering = Gathering { host, planned: Planned::of(plan) };
    let mut marked = Marked::new();
    for text in &profile.points {
        let workload = named(&text.workload)
            .map_err(|e| Usage::error(format!("profile {}: {e}", profile.name)))?;
        for parameter in text.parameters.keys() {
            known_parameter(workload.spec(), parameter)
                .map_err(|e| Usage::error(format!("profile {}: {e}", profile.name)))?;
        }
        if chosen.iter().any(|c| c == &text.workload) {
            let parameters = text.parameters.iter().map(|(k, v)| (k.clone(), v.texts())).collect();
            let combinations = combinations(workload.spec(), &parameters, &overrides, host)?;
            let kept = gathering.keep(workload, combinations, text.series);
            mark(&mut marked, &kept, &text.reference);
        }
    }
    // A workload that was named but is not in the profile runs with its defaults.
    for id in &chosen {
        if args.names.contains(id) && !profile.points.iter().any(|p| &p.workload == id) {
            let workload = named(id)?;
            let none = BTreeMap::new();
            let combinations = combinations(workload.spec(), &none, &overrides, host)?;
            gathering.keep(workload, combinations, None);
        }
    }
    let mut planned = gathering.planned;
    if planned.plan.points.is_empty() {
        let reasons = [planned.unsupported, planned.left_out].concat();
        return Err(Usage::error(format!("nothing to measure: {}", reasons.join("; "))));
    }
    // Of what was named every point counts.
    let workloads = if args.names.is_empty() { Vec::new() } else { chosen };
    Choice { asked: &asked, workloads: &workloads, marked: &marked, host }.make(&mut planned);
    if let Some(budget_s) = planned.plan.policy.budget_s.filter(|_| args.budget.is_some()) {
        budget::shrink(&mut planned, budget_s, &|policy| lengthen(policy, host));
    }
    references::share_budget(&mut planned, args.budget.is_some());
    references::lengthen(&mut planned.plan);
    Ok(planned)
}

/// Points of a profile on this machine, and the time that they take, in words: what a run over
/// loopback would have.
///
/// # Errors
/// As [`plan`].
pub fn here(profile: &str) -> Result<(usize, String)> {
    let cli = Cli::try_parse_from(["proofmark", "run", "--profile", profile])?;
    let Command::Run(args) = cli.command else { anyhow::bail!("no run") };
    let mut host = crate::machine::look(None);
    // Kept while the plan is made: without a server there are no network points.
    let server = asks_for(&args, Subsystem::Network)?.then(crate::server::ServerSide::loopback);
    if let Some(Ok(server)) = &server {
        host.network = Probe::known(server.network().clone(), "the server");
    }
    let plan = plan(&args, &host)?.plan;
    Ok((plan.points.len(), takes(&plan)))
}

/// Whether a workload of the subsystem is asked for; on this machine it may be left out.
///
/// # Errors
/// As [`plan`].
pub fn asks_for(args: &RunArgs, subsystem: Subsystem) -> Result<bool> {
    let (chosen, profile) = asked(args)?;
    let member = |id: &str| find(id).is_some_and(|k| k.spec().subsystem == subsystem);
    let runs =
        |id: &String| args.names.contains(id) || profile.points.iter().any(|p| &p.workload == id);
    Ok(chosen.iter().any(|id| member(id) && runs(id)))
}

/// The workloads that were chosen, and the profile.
fn asked(args: &RunArgs) -> Result<(Vec<String>, Profile)> {
    let name = if args.quick { "quick" } else { args.profile.as_deref().unwrap_or("default") };
    Ok((chosen(&args.names)?, Profile::load(name)?))
}

/// Makes trials as long as the limits of this process deal things out.
fn lengthen(policy: &mut Policy, host: &Host) {
    if host.limits.cpu_quota.get().is_some_and(|q| q.cpus.is_some()) {
        for trial_s in policy.trial_s_of.values_mut().chain([&mut policy.trial_s]) {
            *trial_s = trial_s.max(QUOTA_TRIAL_S);
        }
    }
    let limited = |number: &str| {
        host.limits.io.get().is_some_and(|limits| limits.iter().any(|l| l.device == number))
    };
    let devices = || host.storage.get().into_iter().flat_map(|s| &s.devices);
    if devices().any(|d| limited(&d.number)) {
        for workload in ALL.iter().filter(|k| k.spec().subsystem == Subsystem::Disk) {
            let id = &workload.spec().id;
            let trial_s = policy.trial_s_for(id).max(IO_LIMIT_TRIAL_S);
            policy.trial_s_of.insert(id.to_string(), trial_s);
        }
    }
}

/// Ids of the workloads that the names mean; of all, if there are none.
fn chosen(names: &[String]) -> Result<Vec<String>> {
    let ids = || ALL.iter().map(|k| k.spec().id.to_string());
    if names.is_empty() {
        return Ok(ids().collect());
    }
    let mut chosen = Vec::new();
    for name in names {
        if let Some(subsystem) = Subsystem::ALL.iter().find(|s| s.as_str() == name) {
            let before = chosen.len();
            let members = ALL.iter().filter(|k| k.spec().subsystem == *subsystem);
            chosen.extend(members.map(|k| k.spec().id.to_string()));
            if chosen.len() == before {
                return Err(Usage::error(format!(
                    "this version has no {name} workloads; see 'proofmark list workloads'"
                )));
            }
        } else {
            chosen.push(named_or_subsystem(name)?.spec().id.to_string());
        }
    }
    Ok(chosen)
}

/// The workload of that id, or an error with the nearest; a subsystem is none.
fn named(id: &str) -> Result<&'static dyn Workload> {
    const SEE: &str = "proofmark list workloads";
    if Subsystem::ALL.iter().any(|s| s.as_str() == id) {
        let why = format!("'{id}' is a subsystem; name one of its workloads, see '{SEE}'");
        return Err(Usage::error(why));
    }
    let names = ALL.iter().map(|k| k.spec().id.as_ref());
    find(id).ok_or_else(|| Usage::error(unknown("workload", id, names, SEE)))
}

/// The workload of that id; else an error with the nearest of all that could be typed in its place.
fn named_or_subsystem(id: &str) -> Result<&'static dyn Workload> {
    let names = ALL.iter().map(|k| k.spec().id.as_ref());
    let names = names.chain(Subsystem::ALL.iter().map(|s| s.as_str()));
    let see = "proofmark list workloads";
    find(id).ok_or_else(|| Usage::error(unknown("workload or subsystem", id, names, see)))
}

fn known_parameter<'a>(spec: &'a WorkloadSpec, name: &str) -> Result<&'a Parameter> {
    spec.parameter(name).ok_or_else(|| {
        let names = spec.parameters.iter().map(|k| k.name.as_ref());
        let what = format!("parameter of {}", spec.id);
        Usage::error(unknown(&what, name, names, &format!("proofmark explain {}", spec.id)))
    })
}

/// `no workload 'cpu.flop'; did you mean 'cpu.flops'?`
pub fn unknown<'a>(
    what: &str,
    typed: &str,
    names: impl Iterator<Item = &'a str>,
    see: &str,
) -> String {
    match nearest(typed, names) {
        Some(name) => format!("no {what} '{typed}'; did you mean '{name}'?"),
        None => format!("no {what} '{typed}'; see '{see}'"),
    }
}

fn overrides(args: &RunArgs) -> Result<Overrides> {
    let mut overrides = Overrides::default();
    let list = |text: &str| text.split(',').map(|v| v.trim().to_owned()).collect::<Vec<_>>();
    if let Some(threads) = &args.threads {
        overrides.any.extend(Params::THREADS.map(|parameter| (parameter, list(threads))));
    }
    if !args.block_size.is_empty() {
        let has = ALL.iter().any(|k| k.spec().parameter("block_size").is_some());
        if !has {
            return Err(Usage::error("--block-size: none of the workloads has a block size"));
        }
        let sizes = args.block_size.iter().map(u64::to_string).collect();
        overrides.any.insert("block_size", sizes);
    }
    for text in &args.set {
        let form = || {
            Usage::error(format!(
                "--set {text}: write WORKLOAD.PARAMETER=VALUE, as in cpu.flops.isa=avx2"
            ))
        };
        let (path, values) = text.split_once('=').ok_or_else(form)?;
        let (workload, parameter) = path.rsplit_once('.').ok_or_else(form)?;
        known_parameter(named(workload)?.spec(), parameter)?;
        overrides.by_workload.insert((workload.to_owned(), parameter.to_owned()), list(values));
    }
    Ok(overrides)
}
