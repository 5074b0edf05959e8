//! From what was typed to the points that are measured.

use std::collections::BTreeMap;

use anyhow::Result;
use proofmark_engine::{Kernel, Refusal};
use proofmark_kernels::{ALL, find};
use proofmark_model::{
    AUTO, Finding, Host, KernelSpec, Knob, KnobKind, Param, Params, Plan, Point, Severity,
    Subsystem, format_size, nearest, parse_size,
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

/// Id, title and meaning of what a plan itself can have to tell.
pub const FINDINGS: &[(&str, &str, &str)] = &[(
    "plan.shrunk",
    "Less data than planned",
    "The memory that is available, or that the cgroup's limit leaves, cannot hold what the plan \
     asked for, so a point runs with less: memory of a benchmark must never push out other \
     programs. Where that leaves too little to defeat the caches, the point's own checks say so. \
     Raise the limit, stop other programs, or ask for sizes that fit.",
)];

/// What is to be measured, and what a user should know about it first.
#[derive(Debug)]
pub struct Planned {
    /// The plan.
    pub plan: Plan,
    /// What this machine does not have and the plan therefore does without.
    pub unsupported: Vec<String>,
    /// What does not fit into its memory.
    pub too_large: Vec<String>,
    /// What runs with less data than planned.
    pub findings: Vec<Finding>,
}

/// Points that are being gathered, with what is told about them.
struct Gathering<'a> {
    host: &'a Host,
    planned: Planned,
}

/// Makes the plan of a run.
///
/// # Errors
/// A [`Usage`] of one line that says what was wrong, with the nearest name.
pub fn plan(args: &RunArgs, host: &Host) -> Result<Planned> {
    let limits = &host.limits;
    let usable_cpus = limits.usable_cpus.len().max(1);
    let chosen = chosen(&args.names)?;
    let name = if args.quick { "quick" } else { args.profile.as_deref().unwrap_or("default") };
    let profile = Profile::load(name)?;
    let overrides = overrides(args)?;
    let subsystems = chosen.iter().filter_map(|id| Some(find(id)?.spec().subsystem)).collect();
    let mut policy = profile.policy(&subsystems);
    if let Trials::Fixed(n) = args.trials {
        (policy.min_trials, policy.max_trials) = (n, n);
    }
    if let Some(budget) = args.budget {
        policy.budget_s = Some(budget.min(LONGEST_RUN).as_secs_f64());
    }
    if limits.cpu_quota.get().is_some_and(|q| q.cpus.is_some()) {
        for trial_s in policy.trial_s_of.values_mut().chain([&mut policy.trial_s]) {
            *trial_s = trial_s.max(QUOTA_TRIAL_S);
        }
    }
    let plan = Plan { profile: profile.name.clone(), policy, points: Vec::new() };
    let planned =
        Planned { plan, unsupported: Vec::new(), too_large: Vec::new(), findings: Vec::new() };
    let mut gathering = Gathering { host, planned };
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
            gathering.keep(kernel, combinations);
        }
    }
    // A kernel that was named but is not in the profile runs with its defaults.
    for id in &chosen {
        if args.names.contains(id) && !profile.points.iter().any(|p| &p.kernel == id) {
            let kernel = named(id)?;
            let none = BTreeMap::new();
            let combinations = combinations(kernel.spec(), &none, &overrides, usable_cpus)?;
            gathering.keep(kernel, combinations);
        }
    }
    let planned = gathering.planned;
    if planned.plan.points.is_empty() {
        let reasons = [planned.unsupported, planned.too_large].concat();
        return Err(Usage::error(format!("nothing to measure: {}", reasons.join("; "))));
    }
    Ok(planned)
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

impl Gathering<'_> {
    /// Adds the points that this machine can run, once each, and the reasons why it
    /// cannot run the others.
    fn keep(&mut self, kernel: &'static dyn Kernel, combinations: Vec<Params>) {
        for params in combinations {
            let params = kernel.settle(params, self.host);
            let id = kernel.spec().id.to_string();
            if let Err(Refusal(reason)) = kernel.supports(&params) {
                tell(&mut self.planned.unsupported, format!("{id}: {reason}"));
            } else if let Some(params) = self.fitted(kernel, params) {
                let point = Point { kernel: id, params };
                if !self.planned.plan.points.contains(&point) {
                    self.planned.plan.points.push(point);
                }
            }
        }
    }

    /// The point with as much data as fits into memory.
    fn fitted(&mut self, kernel: &'static dyn Kernel, params: Params) -> Option<Params> {
        let (room, needed) = (self.host.usable_memory(), kernel.memory_bytes(&params));
        if needed <= room {
            return Some(params);
        }
        let id = &kernel.spec().id;
        let cause =
            format!("{} of memory needed, {} may be used", format_size(needed), format_size(room));
        let smaller = kernel.shrunk(&params, room).filter(|p| kernel.memory_bytes(p) <= room);
        let Some(smaller) = smaller else {
            let point = Point { kernel: id.to_string(), params };
            tell(&mut self.planned.too_large, format!("{point}: {cause}"));
            return None;
        };
        let changed: Vec<String> = kernel
            .spec()
            .knobs
            .iter()
            .filter_map(|k| {
                let (old, new) = (params.int(&k.name)?, smaller.int(&k.name)?);
                (old != new).then(|| {
                    format!("{} {} instead of {}", k.name, format_size(new), format_size(old))
                })
            })
            .collect();
        let message = format!("{id}: {}: {cause}", changed.join(", "));
        if !self.planned.findings.iter().any(|f| f.message == message) {
            let advice = "raise the memory limit, stop other programs, or ask for sizes that fit";
            let finding = Finding::new(FINDINGS[0].0, Severity::Note, message, advice)
                .with("needed_bytes", needed)
                .with("usable_bytes", room);
            self.planned.findings.push(finding);
        }
        Some(smaller)
    }
}

/// Adds a line that is not there yet.
fn tell(lines: &mut Vec<String>, line: String) {
    if !lines.contains(&line) {
        lines.push(line);
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
            (_, AUTO) if knob.default == AUTO => values.push(Param::from(AUTO)),
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
        let usual = policy.trial_s_for(&point.kernel);
        let trial = fixed.unwrap_or(usual) + BETWEEN_S;
        let warm = WARM_UP_S + usual;
        least += warm + trial * f64::from(policy.min_trials);
        most += warm + trial * f64::from(policy.max_trials);
    }
    (least, policy.budget_s.map_or(most, |b| most.min(b.max(least))))
}
