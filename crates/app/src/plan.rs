//! From what was typed to the points that are measured.

use std::collections::BTreeMap;

use anyhow::Result;
use proofmark_engine::{Kernel, Refusal};
use proofmark_kernels::{ALL, find};
use proofmark_model::{
    KernelSpec, Knob, KnobKind, Limits, Param, Params, Plan, Point, Subsystem, nearest, parse_size,
};

use crate::cli::{RunArgs, Trials};
use crate::error::Usage;
use crate::profile::{LONGEST_RUN, Profile};

/// Least duration of a trial under a CPU quota, in seconds. The kernel deals out a
/// quota by periods of, as a rule, 100 ms: a trial of one period may see all of a
/// period's share or none of it.
const QUOTA_TRIAL_S: f64 = 0.5;

/// Values for knobs that the command line set, by kernel id (or any) and knob.
#[derive(Debug, Default)]
struct Overrides {
    any: BTreeMap<&'static str, Vec<String>>,
    by_kernel: BTreeMap<(String, String), Vec<String>>,
}

/// Makes the plan of a run, and says what this machine cannot run of it and why.
///
/// # Errors
/// A [`Usage`] of one line that says what was wrong, with the nearest name.
pub fn plan(args: &RunArgs, limits: &Limits) -> Result<(Plan, Vec<String>)> {
    let usable_cpus = limits.usable_cpus.len().max(1);
    let chosen = chosen(&args.names)?;
    let name = if args.quick { "quick" } else { args.profile.as_deref().unwrap_or("default") };
    let profile = Profile::load(name)?;
    let overrides = overrides(args)?;
    let mut policy = profile.policy();
    if let Trials::Fixed(n) = args.trials {
        (policy.min_trials, policy.max_trials) = (n, n);
    }
    if let Some(budget) = args.budget {
        policy.budget_s = Some(budget.min(LONGEST_RUN).as_secs_f64());
    }
    if limits.cpu_quota.get().is_some_and(|q| q.cpus.is_some()) {
        policy.trial_s = policy.trial_s.max(QUOTA_TRIAL_S);
    }
    let (mut points, mut left_out) = (Vec::new(), Vec::new());
    for text in &profile.points {
        let kernel = named(&text.kernel)
            .map_err(|e| Usage::error(format!("profile {}: {e}", profile.name)))?;
        for knob in text.knobs.keys() {
            known_knob(kernel.spec(), knob)
                .map_err(|e| Usage::error(format!("profile {}: {e}", profile.name)))?;
        }
        if chosen.iter().any(|c| c == &text.kernel) {
            let knobs = text.knobs.iter().map(|(k, v)| (k.clone(), v.texts())).collect();
            let combinations = combinations(kernel.spec(), &knobs, &overrides, usable_cpus)?;
            keep(kernel, combinations, &mut points, &mut left_out);
        }
    }
    // A kernel that was named but is not in the profile runs with its defaults.
    for id in &chosen {
        if args.names.contains(id) && !profile.points.iter().any(|p| &p.kernel == id) {
            let kernel = named(id)?;
            let none = BTreeMap::new();
            let combinations = combinations(kernel.spec(), &none, &overrides, usable_cpus)?;
            keep(kernel, combinations, &mut points, &mut left_out);
        }
    }
    if points.is_empty() {
        return Err(Usage::error(format!("nothing to measure: {}", left_out.join("; "))));
    }
    Ok((Plan { profile: profile.name, policy, points }, left_out))
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
        overrides.any.insert("threads", list(threads));
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

/// Every combination of the kernel's knobs that was asked for.
fn combinations(
    spec: &KernelSpec,
    profile: &BTreeMap<String, Vec<String>>,
    overrides: &Overrides,
    usable_cpus: usize,
) -> Result<Vec<Params>> {
    let mut combinations = vec![Params::default()];
    for knob in spec.knobs.iter() {
        let name = knob.name.as_ref();
        let default = vec![knob.default.to_string()];
        let texts = overrides
            .by_kernel
            .get(&(spec.id.to_string(), name.to_owned()))
            .or_else(|| overrides.any.get(name))
            .or_else(|| profile.get(name))
            .unwrap_or(&default);
        let values = values(spec, knob, texts, usable_cpus)?;
        combinations = combinations
            .iter()
            .flat_map(|c| values.iter().map(|v| c.clone().with(name, v.clone())))
            .collect();
    }
    Ok(combinations)
}

/// Adds the points that this machine can run, once each, and the reasons why it
/// cannot run the others.
fn keep(
    kernel: &'static dyn Kernel,
    combinations: Vec<Params>,
    points: &mut Vec<Point>,
    left_out: &mut Vec<String>,
) {
    for params in combinations {
        let point = Point { kernel: kernel.spec().id.to_string(), params };
        match kernel.supports(&point.params) {
            Ok(()) if !points.contains(&point) => points.push(point),
            Ok(()) => {}
            Err(Refusal(reason)) => {
                let reason = format!("{}: {reason}", point.kernel);
                if !left_out.contains(&reason) {
                    left_out.push(reason);
                }
            }
        }
    }
}

/// The values of a knob from what was typed.
fn values(
    spec: &KernelSpec,
    knob: &Knob,
    texts: &[String],
    usable_cpus: usize,
) -> Result<Vec<Param>> {
    let mut values = Vec::new();
    for text in texts {
        match (&knob.kind, text.as_str()) {
            (KnobKind::Count { .. }, "all") if knob.name == "threads" => {
                values.push(Param::Int(usable_cpus as u64));
            }
            (KnobKind::Choice(choices), "all") => {
                values.extend(choices.iter().map(|c| Param::from(c.as_ref())));
            }
            _ => values.push(
                value(knob, text)
                    .map_err(|e| Usage::error(format!("{}.{}: {e}", spec.id, knob.name)))?,
            ),
        }
    }
    let mut seen = Vec::new();
    values.retain(|v| {
        let new = !seen.contains(v);
        seen.push(v.clone());
        new
    });
    Ok(values)
}

/// One value of a knob, held against its type and range; the error is one line.
fn value(knob: &Knob, text: &str) -> Result<Param, String> {
    let in_range = |n: u64, min: u64, max: u64| {
        if (min..=max).contains(&n) {
            Ok(Param::Int(n))
        } else {
            Err(format!("{text} is out of range; it goes from {min} to {max}"))
        }
    };
    match &knob.kind {
        KnobKind::Count { min, max } => match text.replace('_', "").parse::<u64>() {
            Ok(n) => in_range(n, *min, *max),
            Err(_) => Err(format!("'{text}' is not a whole number from {min} to {max}")),
        },
        KnobKind::Size { min, max } => {
            in_range(parse_size(text).map_err(|e| e.to_string())?, *min, *max)
        }
        KnobKind::Choice(choices) => match choices.iter().find(|c| *c == text) {
            Some(choice) => Ok(Param::from(choice.as_ref())),
            None => Err(format!("'{text}' is none of {}", choices.join(", "))),
        },
    }
}

/// Seconds that a plan takes with the least and with the greatest number of
/// trials, warm-up included; the budget may cut the latter short.
pub fn estimate(plan: &Plan) -> (f64, f64) {
    const WARM_UP_S: f64 = 0.05;
    const BETWEEN_S: f64 = 0.006;
    let policy = &plan.policy;
    let (mut least, mut most) = (0.0, 0.0);
    for point in &plan.points {
        let fixed = find(&point.kernel).and_then(|k| k.nominal_seconds(&point.params));
        let trial = fixed.unwrap_or(policy.trial_s) + BETWEEN_S;
        let warm = WARM_UP_S + policy.trial_s;
        least += warm + trial * f64::from(policy.min_trials);
        most += warm + trial * f64::from(policy.max_trials);
    }
    (least, policy.budget_s.map_or(most, |b| most.min(b.max(least))))
}
