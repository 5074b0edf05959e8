//! Which tools run beside which points, and how often.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::Result;
use proofmark_kernels::find;
use proofmark_model::{Finding, Plan, Point, Severity, Subsystem, format_seconds};
use proofmark_reference::{ALL, Beside, Installed, Task, Tool};

use super::{Planned, unknown};
use crate::error::Usage;

/// Most runs of a tool beside one point: with 8 pairs the interval of a ratio leaves out the
/// least and the greatest.
const PAIRS: u32 = 8;

/// Fewest runs that are worth it.
const FEWEST: u32 = 3;

/// Longest that a tool may take beside one point, all runs together, in seconds; and where nobody
/// asked for it.
const LONGEST_S: f64 = 240.0;
const LONGEST_UNASKED_S: f64 = 60.0;

/// Work of a trial of a second before any has been measured: more than a machine does.
const UNKNOWN_WORK: f64 = 1e12;

/// Stands for the file of a point that there is not yet.
const ANY_FILE: &str = "/proc/self/exe";

/// What was asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Asked {
    /// Beside each point the first tool that is installed.
    Marked,
    /// These, all of them beside each point.
    Named(Vec<&'static str>),
}

impl Asked {
    /// From the arguments: nothing, `none`, `all`, or names.
    ///
    /// # Errors
    /// A [`Usage`] with the nearest name.
    pub fn parse(names: &[String], none: bool) -> Result<Self> {
        let runnable = || ALL.iter().filter(|t| t.beside().is_some()).map(|t| t.id());
        let named = |name: &String| match name.as_str() {
            "all" => Ok(runnable().collect()),
            "none" => Ok(Vec::new()),
            name => match runnable().find(|id| *id == name) {
                Some(id) => Ok(vec![id]),
                None if proofmark_reference::find(name).is_some() => {
                    Err(Usage::error(format!("--reference {name}: only its files are read")))
                }
                None => {
                    let text = unknown("tool", name, runnable(), "proofmark list references");
                    Err(Usage::error(format!("--reference: {text}")))
                }
            },
        };
        match names {
            _ if none => Ok(Self::Named(Vec::new())),
            [] => Ok(Self::Marked),
            names => {
                let all: Vec<Vec<_>> = names.iter().map(named).collect::<Result<_>>()?;
                Ok(Self::Named(all.concat()))
            }
        }
    }
}

/// Why tools do not run beside a point.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct NoReference {
    /// Those that were asked for and cannot do its work, with the reason.
    pub refused: Vec<(String, String)>,
    /// Why there is none, should none run.
    pub why: String,
}

/// CPUs of a program that repeats a point: those that our threads have.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cpus {
    /// Its own.
    pub near: Vec<u32>,
    /// Those of its other end.
    pub far: Vec<u32>,
}

impl Cpus {
    /// Of a point, of those that may be used.
    pub fn of(point: &Point, usable: &[u32]) -> Self {
        let subsystem = find(&point.kernel).map(|k| k.spec().subsystem);
        let (near, far) = match subsystem {
            Some(Subsystem::Network) => {
                proofmark_kernels::network::beside(point.params.text("placement"), usable)
            }
            // Threads that wait for a device are not pinned.
            Some(Subsystem::Disk) | None => (usable.to_vec(), Vec::new()),
            Some(_) => {
                let threads = usize::try_from(point.params.threads()).unwrap_or(usize::MAX);
                (usable.iter().copied().take(threads).collect(), Vec::new())
            }
        };
        Self { near, far }
    }

    /// All of them.
    pub fn both(&self) -> Vec<u32> {
        let more = self.far.iter().filter(|cpu| !self.near.contains(cpu));
        self.near.iter().chain(more).copied().collect()
    }
}

/// A tool with its program, or what would bring it.
struct Known {
    tool: &'static dyn Tool,
    beside: &'static dyn Beside,
    installed: Option<Installed>,
}

/// Puts the tools that were asked for beside the points that they can repeat: those that the
/// profile marks, and where tools are named all of the kernels that are named, too.
pub fn choose(
    planned: &mut Planned,
    (asked, kernels): (&Asked, &[String]),
    marked: &[usize],
    usable: &[u32],
) {
    let points = planned.plan.points.clone();
    let is_named =
        |index: usize| matches!(asked, Asked::Named(_)) && kernels.contains(&points[index].kernel);
    let wanted = |index: usize| is_named(index) || marked.contains(&index);
    let mut reasons: BTreeMap<usize, Vec<(String, String)>> = BTreeMap::new();
    let mut absent = Vec::new();
    for known in known(asked, &points, &wanted) {
        let id = known.tool.id();
        for (index, point) in points.iter().enumerate().filter(|(i, _)| wanted(*i)) {
            let has_one = *asked == Asked::Marked
                && planned.plan.references.values().any(|points| points.contains(&index));
            if has_one || known.beside.counts(&point.kernel).is_none() {
                continue;
            }
            match fits(&known, &planned.plan, index, (asked, usable)) {
                Ok(()) => {
                    planned.plan.references.entry(id.to_owned()).or_default().push(index);
                    lengthen(&mut planned.plan, &point.kernel, known.beside.shortest());
                }
                Err(why) => reasons.entry(index).or_default().push((id.to_owned(), why)),
            }
        }
        match known.installed {
            Some(installed) => drop(planned.tools.insert(id.to_owned(), installed)),
            None => absent.push(format!("{id} ({})", known.beside.package())),
        }
    }
    if matches!(asked, Asked::Named(_)) && !absent.is_empty() {
        planned.add(Finding::new(
            "plan.reference",
            Severity::Note,
            format!("not installed, so not run beside our points: {}", absent.join(", ")),
            "install them, or build one and put it on the PATH",
        ));
    }
    for index in 0..points.len() {
        let refused = reasons.remove(&index).unwrap_or_default();
        let why = match refused.is_empty() {
            false => refused
                .iter()
                .map(|(id, why)| format!("{id}: {why}"))
                .collect::<Vec<_>>()
                .join("; "),
            true if *asked == Asked::Named(Vec::new()) => "no tool was asked for".to_owned(),
            true if wanted(index) => "no tool that is known does this work".to_owned(),
            true => {
                "none runs beside this point unless its kernel is named with --reference".to_owned()
            }
        };
        planned.no_reference.insert(index, NoReference { refused, why });
    }
}

/// Takes the tools' time out of a budget that the user named; the profiles' own budgets are for
/// our trials alone. Without room for our trials, no tool runs.
pub fn share_budget(planned: &mut Planned, is_users: bool) {
    let Some(budget_s) = planned.plan.policy.budget_s.filter(|_| is_users) else { return };
    let tools_s = seconds(&planned.plan);
    if tools_s <= budget_s / 2.0 {
        planned.plan.policy.budget_s = Some(budget_s - tools_s);
        return;
    }
    planned.plan.references.clear();
    planned.tools.clear();
    let why = format!(
        "the tools beside the points would take about {} of the {} that the run may take",
        format_seconds(tools_s),
        format_seconds(budget_s)
    );
    for none in planned.no_reference.values_mut() {
        *none = NoReference { refused: Vec::new(), why: why.clone() };
    }
    planned.left_out.push(format!("{why}; name fewer with --reference, or raise --budget"));
}

/// Makes a kernel's trials last at least so long.
fn lengthen(plan: &mut Plan, kernel: &str, shortest_s: f64) {
    let trial_s = plan.policy.trial_s_for(kernel);
    if shortest_s > trial_s {
        plan.policy.trial_s_of.insert(kernel.to_owned(), shortest_s);
    }
}

/// The tools that were asked for and can repeat any of the wanted points, in the order of the list.
fn known(asked: &Asked, points: &[Point], wanted: &dyn Fn(usize) -> bool) -> Vec<Known> {
    let is_asked = |id: &str| match asked {
        Asked::Marked => true,
        Asked::Named(names) => names.contains(&id),
    };
    let of = |tool: &&'static dyn Tool| Some((*tool, tool.beside()?));
    let mut all = Vec::new();
    for (tool, beside) in ALL.iter().filter(|t| is_asked(t.id())).filter_map(of) {
        let any =
            points.iter().enumerate().any(|(i, p)| wanted(i) && beside.counts(&p.kernel).is_some());
        if any {
            all.push(Known { tool, beside, installed: beside.installed() });
        }
    }
    all
}

/// Whether a tool repeats a point, or why not.
fn fits(
    known: &Known,
    plan: &Plan,
    index: usize,
    (asked, usable): (&Asked, &[u32]),
) -> Result<(), String> {
    let installed = known
        .installed
        .as_ref()
        .ok_or_else(|| format!("not installed ({})", known.beside.package()))?;
    let point = &plan.points[index];
    let cpus = Cpus::of(point, usable);
    let task = task(plan, point, &cpus.near, known.beside);
    known.beside.invocation(installed, &task)?;
    let takes = known.beside.takes(&task);
    let pairs = pairs(plan, index, known.tool);
    let unasked = *asked == Asked::Marked;
    if pairs.is_none_or(|n| unasked && takes * f64::from(n) > LONGEST_UNASKED_S) {
        return Err(format!("one run takes about {}", format_seconds(takes)));
    }
    Ok(())
}

/// A point as a tool is to repeat it, before anything is known of it.
fn task<'a>(plan: &Plan, point: &'a Point, cpus: &'a [u32], beside: &dyn Beside) -> Task<'a> {
    let kernel = find(&point.kernel);
    let seconds = kernel.map_or(0.0, |k| k.trial_seconds(&point.params, &plan.policy));
    let seconds = seconds.max(beside.shortest());
    Task {
        kernel: &point.kernel,
        params: &point.params,
        seconds,
        work: seconds * UNKNOWN_WORK,
        cpus,
        file: Path::new(if kernel.is_some_and(|k| k.disk_bytes(&point.params) > 0) {
            ANY_FILE
        } else {
            "/"
        }),
        port: 0,
    }
}

/// How many runs of a tool stand beside a point; `None` where too few have time.
pub fn pairs(plan: &Plan, index: usize, tool: &dyn Tool) -> Option<u32> {
    let beside = tool.beside()?;
    let takes = beside.takes(&task(plan, plan.points.get(index)?, &[], beside));
    let most = PAIRS.min(plan.policy.max_trials);
    let in_time = (LONGEST_S / takes.max(1e-3)) as u32;
    (in_time >= FEWEST.min(most)).then_some(in_time.min(most))
}

/// Seconds that the tools of a plan take.
pub fn seconds(plan: &Plan) -> f64 {
    let mut sum = 0.0;
    for (name, points) in &plan.references {
        let Some(tool) = proofmark_reference::find(name) else { continue };
        for index in points {
            let takes = tool
                .beside()
                .zip(plan.points.get(*index))
                .map(|(b, p)| b.takes(&task(plan, p, &[], b)));
            let pairs = pairs(plan, *index, tool).unwrap_or(0).min(plan.policy.min_trials);
            sum += takes.unwrap_or(0.0) * f64::from(pairs);
        }
    }
    sum
}

#[cfg(test)]
mod tests;
