//! From what was typed to the points that are measured.

mod fit;
mod references;
mod values;

use std::collections::BTreeMap;

use anyhow::Result;
use proofmark_engine::{Kernel, LEAST_TRIALS, warm_trials};
use proofmark_kernels::{ALL, find};
use proofmark_model::{Finding, Host, KernelSpec, Knob, Params, Plan, Policy, Subsystem, nearest};

use crate::cli::{RunArgs, Trials};
use crate::error::Usage;
use crate::profile::{LONGEST_RUN, Profile};
use proofmark_reference::Installed;

pub use fit::FINDINGS;
pub use references::FINDINGS as REFERENCE_FINDINGS;
pub use references::{Cpus, NoReference, seconds as tools_s};

use fit::Gathering;
use references::{Asked, Choice};
use values::combinations;

/// Least duration of a trial under a CPU quota, in seconds. The kernel deals out a
/// quota by periods of, as a rule, 100 ms: a trial of one period may see all of a
/// period's share or none of it.
const QUOTA_TRIAL_S: f64 = 0.5;

/// Least duration of a trial under a cgroup's limit of I/O, in seconds. The kernel deals
/// it out by slices of 100 ms (Linux `block/blk-throttle.c`), so that a trial takes a
/// whole number of them: half a slice more or less must be no more than 1 %.
const IO_LIMIT_TRIAL_S: f64 = 5.0;

/// Values for knobs that the command line set, by kernel id (or any) and knob.
#[derive(Debug, Default)]
struct Overrides {
    any: BTreeMap<&'static str, Vec<String>>,
    by_kernel: BTreeMap<(String, String), Vec<String>>,
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
        policy.point_s = None; // Who fixes the number waits for it.
    }
    if let Some(budget) = args.budget {
        policy.budget_s = Some(budget.min(LONGEST_RUN).as_secs_f64());
    }
    lengthen(&mut policy, host);
    let plan = Plan { profile: profile.name.clone(), policy, ..Plan::default() };
    let asked = Asked::parse(&args.reference, args.no_reference)?;
    let mut gathering = Gathering { host, planned: Planned::of(plan) };
    let mut marked = Vec::new();
    for text in &profile.points {
        let kernel = named(&text.kernel)
            .map_err(|e| Usage::error(format!("profile {}: {e}", profile.name)))?;
        for knob in text.knobs.keys() {
            known_knob(kernel.spec(), knob)
                .map_err(|e| Usage::error(format!("profile {}: {e}", profile.name)))?;
        }
        if chosen.iter().any(|c| c == &text.kernel) {
            let knobs = text.knobs.iter().map(|(k, v)| (k.clone(), v.texts())).collect();
            let combinations = combinations(kernel.spec(), &knobs, &overrides, host)?;
            let kept = gathering.keep(kernel, combinations);
            marked.extend(kept.into_iter().filter(|_| text.reference));
        }
    }
    // A kernel that was named but is not in the profile runs with its defaults.
    for id in &chosen {
        if args.names.contains(id) && !profile.points.iter().any(|p| &p.kernel == id) {
            let kernel = named(id)?;
            let none = BTreeMap::new();
            let combinations = combinations(kernel.spec(), &none, &overrides, host)?;
            gathering.keep(kernel, combinations);
        }
    }
    let mut planned = gathering.planned;
    if planned.plan.points.is_empty() {
        let reasons = [planned.unsupported, planned.left_out].concat();
        return Err(Usage::error(format!("nothing to measure: {}", reasons.join("; "))));
    }
    // Of what was named every point counts.
    let kernels = if args.names.is_empty() { Vec::new() } else { chosen };
    Choice { asked: &asked, kernels: &kernels, marked: &marked, host }.make(&mut planned);
    references::share_budget(&mut planned, args.budget.is_some());
    references::lengthen(&mut planned.plan);
    Ok(planned)
}

/// Whether a kernel of the subsystem is asked for; on this machine it may be left out.
///
/// # Errors
/// As [`plan`].
pub fn asks_for(args: &RunArgs, subsystem: Subsystem) -> Result<bool> {
    let (chosen, profile) = asked(args)?;
    let member = |id: &str| find(id).is_some_and(|k| k.spec().subsystem == subsystem);
    let runs =
        |id: &String| args.names.contains(id) || profile.points.iter().any(|p| &p.kernel == id);
    Ok(chosen.iter().any(|id| member(id) && runs(id)))
}

/// The kernels that were chosen, and the profile.
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
        for kernel in ALL.iter().filter(|k| k.spec().subsystem == Subsystem::Disk) {
            let id = &kernel.spec().id;
            let trial_s = policy.trial_s_for(id).max(IO_LIMIT_TRIAL_S);
            policy.trial_s_of.insert(id.to_string(), trial_s);
        }
    }
}

/// Ids of the kernels that the names mean; of all, if there are none.
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
                    "this version has no {name} kernels; see 'proofmark list kernels'"
                )));
            }
        } else {
            chosen.push(named(name)?.spec().id.to_string());
        }
    }
    Ok(chosen)
}

/// The kernel of that id, or an error with the nearest.
fn named(id: &str) -> Result<&'static dyn Kernel> {
    find(id).ok_or_else(|| {
        let names = ALL.iter().map(|k| k.spec().id.as_ref());
        let names = names.chain(Subsystem::ALL.iter().map(|s| s.as_str()));
        Usage::error(unknown("kernel or subsystem", id, names, "proofmark list kernels"))
    })
}

fn known_knob<'a>(spec: &'a KernelSpec, name: &str) -> Result<&'a Knob> {
    spec.knob(name).ok_or_else(|| {
        let names = spec.knobs.iter().map(|k| k.name.as_ref());
        let what = format!("knob of {}", spec.id);
        Usage::error(unknown(&what, name, names, &format!("proofmark explain {}", spec.id)))
    })
}

/// `no kernel 'cpu.flop'; did you mean 'cpu.flops'?`
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
        overrides.any.extend(Params::THREADS.map(|knob| (knob, list(threads))));
    }
    if !args.block_size.is_empty() {
        let has = ALL.iter().any(|k| k.spec().knob("block_size").is_some());
        if !has {
            return Err(Usage::error("--block-size: no kernel of this version has a block size"));
        }
        let sizes = args.block_size.iter().map(u64::to_string).collect();
        overrides.any.insert("block_size", sizes);
    }
    for text in &args.set {
        let form = || {
            Usage::error(format!("--set {text}: write KERNEL.KNOB=VALUE, as in cpu.flops.isa=avx2"))
        };
        let (path, values) = text.split_once('=').ok_or_else(form)?;
        let (kernel, knob) = path.rsplit_once('.').ok_or_else(form)?;
        known_knob(named(kernel)?.spec(), knob)?;
        overrides.by_kernel.insert((kernel.to_owned(), knob.to_owned()), list(values));
    }
    Ok(overrides)
}

/// Seconds that a plan takes with the least and with the greatest number of
/// trials, warm-up included; the budget may cut the latter short.
pub fn estimate(plan: &Plan) -> (f64, f64) {
    const WARM_UP_S: f64 = 0.05;
    const BETWEEN_S: f64 = 0.006;
    let policy = &plan.policy;
    let (mut least, mut most) = (0.0, 0.0);
    for point in &plan.points {
        let seconds = find(&point.kernel).map(|k| k.trial_seconds(&point.params, policy));
        let trial = seconds.unwrap_or(0.0) + BETWEEN_S;
        // Of a problem that is solved whole a warm-up takes whole trials, too.
        let whole = point.params.int(Params::SIZE).is_some();
        let warm_up =
            if whole { trial * warm_trials(trial) } else { policy.trial_s_for(&point.kernel) };
        let warm = WARM_UP_S + warm_up;
        // As the engine does: a point that had its time stops, but not before it has the least.
        let in_time = policy.point_s_for(&point.kernel).map_or(f64::INFINITY, |s| s / trial);
        let trials = |n: u32| f64::from(n).min(in_time.ceil().max(LEAST_TRIALS as f64));
        least += warm + trial * trials(policy.min_trials);
        most += warm + trial * trials(policy.max_trials);
    }
    (least, policy.budget_s.map_or(most, |b| most.min(b.max(least))))
}

#[cfg(test)]
mod tests {
    use proofmark_model::Point;

    use super::*;

    #[test]
    fn a_problem_that_is_solved_whole_warms_up_whole() {
        let solve = |n: u64| {
            let params = Params::default().with("threads", 1).with("n", n).with("isa", "sse2");
            Point { kernel: "cpu.linpack".to_owned(), params }
        };
        let least = |points: Vec<Point>| {
            let policy = Policy { min_trials: 3, max_trials: 3, ..Policy::default() };
            estimate(&Plan { policy, points, ..Plan::default() }).0
        };
        let seconds =
            |p: &Point| find(&p.kernel).unwrap().trial_seconds(&p.params, &Policy::default());
        let large = solve(20_000);
        let one = seconds(&large);
        assert!(one > 2.0, "{one}: two seconds of warm-up are one trial");
        let all = least(vec![large]);
        assert!(all > 4.0 * one && all < 4.0 * one + 1.0, "{all} s of {one} s each");
        let small = solve(100);
        let one = seconds(&small);
        assert!(one < 0.05, "{one}");
        let all = least(vec![small]);
        assert!(all > 6.0 * one && all < 6.0 * one + 0.2, "{all} s of {one} s each");
    }

    #[test]
    fn a_point_that_had_its_time_is_counted_with_the_trials_that_it_always_gets() {
        let params = Params::default().with("threads", 1).with("n", 20_000).with("isa", "sse2");
        let points = vec![Point { kernel: "cpu.linpack".to_owned(), params }];
        let of = |point_s| {
            let policy = Policy { point_s, ..Policy::default() };
            estimate(&Plan { policy, points: points.clone(), ..Plan::default() })
        };
        let (least, most) = of(Some(0.1));
        assert_eq!(least, most);
        let (eight, thirty) = of(None);
        // One warm-up; then 3 trials, or 8 to 30.
        assert!((eight / least - 9.0 / 4.0).abs() < 0.05, "{eight} and {least}");
        assert!((thirty / least - 31.0 / 4.0).abs() < 0.1, "{thirty} and {least}");
    }
}
