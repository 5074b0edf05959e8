//! Chooses the reference tools of each configuration, and how often they run.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use proofmark_model::{
    Finding, Host, Plan, PlannedReference, Point, Severity, format_seconds, format_size, or_list,
};
use proofmark_reference::{ALL, Installed, Task, Tool};

use crate::cpus::Cpus;
use crate::error::{Usage, unknown};
use crate::planned::{NoReference, Planned};
use crate::profile::Reference;
use crate::registry::{find, needs, trial_s};
use crate::request::ToolChoice;
use crate::tool::{NO_KNOWN_TOOL, test_for, tools_for};
pub use time::{by_importance, estimate_again, lengthen, seconds, trim};
use time::{ours_s, runs, usual_rate, within};

mod time;

/// Id, title and meaning of the findings about the tools of a plan.
pub const FINDINGS: &[(&str, &str, &str)] = &[(
    ABSENT,
    "A reference tool is not installed",
    "The request or the profile names a reference tool that is not installed; proofmark measures without it. proofmark \
    downloads nothing: install the named package, or put the tool on the PATH. `proofmark list \
    references` shows the installed tools.",
)];
const ABSENT: &str = "plan.reference";

/// Maximum seconds of all runs of a tool for one configuration.
const LONGEST_S: f64 = 240.0;

/// Maximum seconds of all tools together where the user requested none.
const LONGEST_UNASKED_S: f64 = 60.0;

/// Maximum number of workloads that a line names.
const NAMED: usize = 3;

/// Maximum number of reasons why a tool repeats no configuration.
const REASONS: usize = 2;

/// Placeholder for the file of a configuration, which does not exist yet.
const ANY_FILE: &str = "/proc/self/exe";

/// The named tools; `None`: at each marked configuration the first installed tool.
pub type Asked = Option<Vec<&'static str>>;

/// Reads the tools of a request; the error has the nearest name.
pub fn asked(choice: &ToolChoice) -> Result<Asked, Usage> {
    let ids = || ALL.iter().map(|t| t.id());
    let named = |name: &String| {
        ids().find(|id| id == name).ok_or_else(|| {
            let text = unknown("tool", name, ids().chain(["all"]), "proofmark list references");
            Usage(format!("--reference: {text}"))
        })
    };
    Ok(match choice {
        ToolChoice::None => Some(Vec::new()),
        ToolChoice::Marked => None,
        ToolChoice::Named(names) if names == &["all"] => Some(ids().collect()),
        ToolChoice::Named(names) => Some(names.iter().map(named).collect::<Result<_, _>>()?),
    })
}

/// Tools that a profile names, by the place of the configuration; empty: the first installed tool.
pub type Marked = BTreeMap<usize, Vec<String>>;

/// Marks configurations for the tools that the profile names.
pub fn mark(marked: &mut Marked, points: &[usize], reference: &Reference) {
    let names = match reference {
        Reference::First(false) => return,
        Reference::First(true) => &[],
        Reference::Named(names) => names.all(),
    };
    for point in points {
        marked.entry(*point).or_default().extend(names.iter().cloned());
    }
}

/// The inputs of the choice of tools.
pub struct Choice<'a> {
    /// The tools of the request.
    pub asked: &'a Asked,
    /// Workloads whose configurations all have tools, not only the marked ones.
    pub workloads: &'a [String],
    /// The configurations that the profile marks.
    pub marked: &'a Marked,
    /// The machine.
    pub host: &'a Host,
}

impl Choice<'_> {
    /// Plans the tools for the configurations that they can repeat.
    pub fn make(&self, planned: &mut Planned) {
        let mut refused: BTreeMap<usize, Vec<(String, String)>> = BTreeMap::new();
        let mut absent = Vec::new();
        for tool in ALL.iter().filter(|tool| self.asks_for(**tool)) {
            let points = self.points_of(*tool, &planned.plan);
            if points.is_empty() {
                if self.names_alone(tool.id()) {
                    planned.left_out.push(self.unfit(tool.id(), &planned.plan));
                }
                continue;
            }
            let (id, installed) = (tool.id().to_owned(), tool.installed());
            let (mut fitting, mut reasons) = (0, BTreeSet::new());
            for point in points {
                let fits = installed.as_ref().map_or_else(
                    || Err(format!("not installed ({})", tool.description().package)),
                    |installed| self.fits(*tool, installed, &planned.plan, point),
                );
                match fits {
                    Ok(fit) => {
                        fitting += 1;
                        planned.plan.references.entry(id.clone()).or_default().push(fit);
                    }
                    Err(why) => {
                        reasons.insert(why.clone());
                        refused.entry(point).or_default().push((id.clone(), why));
                    }
                }
            }
            if fitting == 0 && installed.is_some() && self.names_alone(&id) {
                let reasons: Vec<String> = reasons.into_iter().take(REASONS).collect();
                planned.left_out.push(format!("{id}: {}", reasons.join("; or ")));
            }
            match installed {
                Some(installed) => drop(planned.tools.installed.insert(id, installed)),
                None if self.names(&id) => {
                    absent.push(format!("{id} ({})", tool.description().package));
                }
                None => {}
            }
        }
        if !absent.is_empty() {
            planned.add(Finding::new(
                ABSENT,
                Severity::Note,
                format!("not installed, so not run: {}", absent.join(", ")),
                "install the packages, or build the tools and put them on the PATH",
            ));
        }
        self.explain(planned, refused);
        planned.tools.are_named =
            self.asked.is_some() || self.marked.values().any(|names| !names.is_empty());
        if !planned.tools.are_named {
            within(planned, LONGEST_UNASKED_S);
        }
    }

    fn asks_for(&self, tool: &dyn Tool) -> bool {
        self.asked.as_ref().is_none_or(|names| names.contains(&tool.id()))
    }

    /// True if the request or the profile names the tool.
    fn names(&self, tool: &str) -> bool {
        self.asked.is_some() || self.marked.values().flatten().any(|name| name == tool)
    }

    /// True if the request names the tool, not all of them.
    fn names_alone(&self, tool: &str) -> bool {
        let names = self.asked.as_ref().filter(|names| names.len() < ALL.len());
        names.is_some_and(|names| names.contains(&tool))
    }

    /// The line about a tool that repeats no configuration, with those that do.
    fn unfit(&self, tool: &str, plan: &Plan) -> String {
        let mut fitting: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
        for (at, point) in plan.points.iter().enumerate() {
            if self.wants(at, plan) || (0..plan.points.len()).all(|at| !self.wants(at, plan)) {
                let known = fitting.entry(&point.workload).or_default();
                let more = tools_for(point).into_iter();
                known.extend(more.filter(|tool| !known.contains(tool)).collect::<Vec<_>>());
            }
        }
        let (none, some): (Vec<_>, Vec<_>) =
            fitting.iter().partition(|(_, tools)| tools.is_empty());
        let each = some.iter().map(|(workload, tools)| format!("{workload}: {}", or_list(*tools)));
        let none = none.iter().map(|(workload, _)| format!("{workload}: no known tool"));
        let all: Vec<String> = each.chain(none).collect();
        let more = all.len().saturating_sub(NAMED);
        let more = if more > 0 { format!("; and {more} more") } else { String::new() };
        let named = all[..all.len().min(NAMED)].join("; ");
        format!("{tool} does the work of no configuration here. Tools for {named}{more}")
    }

    fn wants(&self, point: usize, plan: &Plan) -> bool {
        let is_named = || self.workloads.contains(&plan.points[point].workload);
        self.marked.contains_key(&point) || (self.asked.is_some() && is_named())
    }

    /// Places of the configurations that the tool can repeat and that need another tool.
    fn points_of(&self, tool: &dyn Tool, plan: &Plan) -> Vec<usize> {
        let open = |point: &usize| match self.marked.get(point) {
            _ if self.asked.is_some() => true,
            Some(names) if !names.is_empty() => names.iter().any(|name| name == tool.id()),
            _ => !plan.references.values().flatten().any(|r| r.point == *point),
        };
        let counts = |point: &usize| test_for(tool, &plan.points[*point]).is_some();
        let wanted = (0..plan.points.len()).filter(|point| self.wants(*point, plan));
        wanted.filter(open).filter(counts).collect()
    }

    /// Plans the runs of a tool for one configuration, or says why there are none.
    fn fits(
        &self,
        tool: &dyn Tool,
        installed: &Installed,
        plan: &Plan,
        point: usize,
    ) -> Result<PlannedReference, String> {
        let at = &plan.points[point];
        let cpus = Cpus::for_point(at, &self.host.limits.usable_cpus);
        let shortest_s = tool.shortest();
        let task = task(plan, at, tool, &cpus.own, shortest_s).ok_or("it has no such work")?;
        tool.invocation(installed, &task)?;
        self.has_room(at, tool.memory(&task))?;
        let run_s = tool.takes(&task) + ours_s(at, task.seconds);
        let runs = runs(run_s, LONGEST_S, plan.policy.trials_for(&at.workload).1);
        let runs = runs.ok_or_else(|| format!("a pair takes about {}", format_seconds(run_s)))?;
        let names = self.marked.get(&point).map_or(&[][..], Vec::as_slice);
        let second = self.asked.is_none() && names.iter().position(|n| n == tool.id()) > Some(0);
        Ok(PlannedReference { point, runs, run_s, second })
    }

    /// Checks the space for a tool's memory, and for its file in addition to ours.
    fn has_room(&self, point: &Point, memory: u64) -> Result<(), String> {
        let free = self.host.usable_memory();
        if memory > free {
            let [memory, free] = [memory, free].map(format_size);
            return Err(format!("it needs {memory} of memory; {free} is available"));
        }
        let files = needs(point).disk_bytes.saturating_mul(2);
        if files > self.host.usable_disk() {
            let files = format_size(files);
            return Err(format!(
                "its file and proofmark's need {files}, more than half of the free space"
            ));
        }
        Ok(())
    }

    /// Keeps the reasons why tools do not run.
    fn explain(&self, planned: &mut Planned, mut refused: BTreeMap<usize, Vec<(String, String)>>) {
        for point in 0..planned.plan.points.len() {
            let refused = refused.remove(&point).unwrap_or_default();
            let each: Vec<_> = refused.iter().map(|(id, why)| format!("{id}: {why}")).collect();
            let is_wanted = self.wants(point, &planned.plan);
            let why = match (self.asked, is_wanted) {
                _ if !each.is_empty() => each.join("; "),
                (Some(names), _) if names.is_empty() => {
                    "no reference tool was requested".to_owned()
                }
                (asked, is_wanted) => {
                    let tools = tools_for(&planned.plan.points[point]);
                    match (tools.is_empty(), asked.as_ref().filter(|_| is_wanted)) {
                        (true, _) => NO_KNOWN_TOOL.to_owned(),
                        (_, Some(asked)) => {
                            let others = format!("; {} would", or_list(&tools));
                            format!("{}: no such work{others}", or_list(asked))
                        }
                        (_, None) => format!(
                            "name a tool with --reference, and this workload, to compare them: {}",
                            or_list(&tools)
                        ),
                    }
                }
            };
            // A missing tool matters little where the user requested none.
            let refused = if self.asked.is_none() { Vec::new() } else { refused };
            planned.tools.missing.insert(point, NoReference { refused, why });
        }
    }
}

/// The task of a tool at a configuration, before any trial.
fn task<'a>(
    plan: &Plan,
    point: &'a Point,
    tool: &dyn Tool,
    cpus: &'a [u32],
    shortest_s: f64,
) -> Option<Task<'a>> {
    let workload = find(&point.workload)?;
    let seconds = trial_s(plan, point).max(shortest_s);
    Some(Task {
        spec: workload.spec(),
        test: test_for(tool, point)?,
        params: &point.params,
        seconds,
        work: seconds * usual_rate(workload.spec().unit, &point.params),
        cpus,
        file: Path::new(if needs(point).disk_bytes > 0 { ANY_FILE } else { "/" }),
        port: 0,
    })
}

#[cfg(test)]
mod tests;
