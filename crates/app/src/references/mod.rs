//! Runs the tools that people already trust beside our points: when a point has its trials, a trial
//! more of ours and a run of a tool that does the same work, in turn, so that both see the same
//! machine. Ours is taken by a worker made for it, as a tool is a process made for its run: memory
//! that was kept while others came and went is not what it was, least of all in a virtual machine.

mod process;

use std::cell::Cell;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::PathBuf;
use std::rc::Rc;
use std::time::{Duration, Instant};

use anyhow::Result;
use proofmark_engine::{Clock, Launcher, Left, Monotonic, Stop, Watch, once};
use proofmark_model::{
    Conditions, Ending, Finding, Host, Measurement, Params, Plan, Policy, Ratio, Reference,
    Severity, Subsystem, Timestamp, Trial, Verdict, summarise,
};
use proofmark_reference::{Figure, Installed, Task, Tool};
use proofmark_workloads::disk::ToolFile;
use proofmark_workloads::find;

use crate::measuring::own_program;
use crate::plan::{Cpus, NoReference};
use process::Place;

/// Id, title and meaning of what can be found about a tool beside a point.
pub const FINDINGS: &[(&str, &str, &str)] = &[(
    FAILED,
    "A reference tool failed",
    "A reference tool did not start, ended with an error, took far too long, or printed no figure \
    for the work. Its earlier runs are kept; proofmark's own result is unchanged. Run the command \
    by hand to see more.",
)];
const FAILED: &str = "reference.failed";

/// Longest that a run of a tool may take: so many times what it should, and at least so long.
const PATIENCE_TIMES: f64 = 10.0;
const PATIENCE_S: f64 = 30.0;

/// Time without what the tools took: what a budget of our own trials is spent by.
#[derive(Debug, Clone, Default)]
pub struct OwnTime(Rc<Cell<f64>>);

impl Clock for OwnTime {
    fn now(&self) -> f64 {
        Monotonic.now() - self.0.get()
    }
}

impl OwnTime {
    /// Does what is not ours.
    fn without<T>(&self, work: impl FnOnce() -> T) -> T {
        let begun = Instant::now();
        let result = work();
        self.0.set(self.0.get() + begun.elapsed().as_secs_f64());
        result
    }
}

/// What the tools need of this machine.
#[derive(Debug, Clone)]
pub struct Machine {
    /// This program as it runs a tool: see [`process::Place::wrapper`].
    pub wrapper: Vec<OsString>,
    /// CPUs that may be used, in the order of use.
    pub cpus: Vec<u32>,
    /// cpu.stat files that tell of throttling.
    pub cpu_stat: Vec<PathBuf>,
    /// Folder whose disk is measured.
    pub disk_path: Option<PathBuf>,
    /// Block devices at the bottom of that disk.
    pub devices: Vec<String>,
}

impl Machine {
    /// As the host tells.
    ///
    /// # Errors
    /// If this program's own file cannot be found.
    pub fn of(host: &Host) -> Result<Self> {
        let storage = host.storage.get();
        Ok(Self {
            wrapper: vec![own_program()?.into(), "tool".into()],
            cpus: host.limits.usable_cpus.clone(),
            cpu_stat: host.limits.cpu_stat.iter().map(PathBuf::from).collect(),
            disk_path: storage.map(|s| PathBuf::from(&s.path)),
            devices: storage.into_iter().flat_map(|s| s.leaves()).map(|d| d.name.clone()).collect(),
        })
    }
}

/// The tools of a run.
pub struct Tools<'a> {
    machine: &'a Machine,
    launcher: &'a dyn Launcher,
    policy: Policy,
    stop: &'a Stop,
    own_time: OwnTime,
    /// Seconds of all tools together from which on no run begins; `None`: as long as they take.
    most_s: Option<f64>,
    /// By the point's place in the plan.
    beside: BTreeMap<usize, Vec<Repetition>>,
    /// Why others do not run, by the point's place.
    missing: BTreeMap<usize, NoReference>,
    /// The file of the point on a disk that is being repeated, or why there is none.
    file: Option<Result<ToolFile, String>>,
}

/// One tool beside one point.
struct Repetition {
    tool: &'static dyn Tool,
    installed: Installed,
    /// Runs at most.
    most: usize,
    /// Seconds that one should take.
    run_s: f64,
    /// Our values and its trials, in turn.
    ours: Vec<f64>,
    theirs: Vec<Trial>,
    params: Params,
    version: Option<String>,
    command: String,
    failed: Option<String>,
}

impl<'a> Tools<'a> {
    /// Those of a plan; of each the program must have been found.
    pub fn new(
        plan: &Plan,
        installed: &BTreeMap<String, Installed>,
        missing: BTreeMap<usize, NoReference>,
        (machine, launcher, stop): (&'a Machine, &'a dyn Launcher, &'a Stop),
    ) -> Self {
        let mut beside: BTreeMap<usize, Vec<Repetition>> = BTreeMap::new();
        for (name, planned) in &plan.references {
            let found = proofmark_reference::find(name).zip(installed.get(name));
            let Some((tool, installed)) = found else { continue };
            for r in planned {
                let new = Repetition::new(tool, installed.clone(), r.runs as usize, r.run_s);
                beside.entry(r.point).or_default().push(new);
            }
        }
        let (policy, own_time) = (plan.policy.clone(), OwnTime::default());
        Self {
            machine,
            launcher,
            policy,
            stop,
            own_time,
            most_s: None,
            beside,
            missing,
            file: None,
        }
    }

    /// The same, that take no longer than so many seconds together, by little.
    #[must_use]
    pub fn within(self, most_s: Option<f64>) -> Self {
        Self { most_s, ..self }
    }

    /// The clock that stands still while a tool runs.
    pub fn own_time(&self) -> OwnTime {
        self.own_time.clone()
    }

    /// Whether any tool repeats the point.
    pub fn has_reference(&self, index: usize) -> bool {
        self.beside.contains_key(&index)
    }

    /// Repeats a point that has its trials, with each of its tools.
    pub fn repeat(&mut self, index: usize, m: &Measurement, tell: &dyn Fn(&str)) -> Left {
        let Some(mut all) = self.beside.remove(&index) else { return Left::Warm };
        let has_trials = matches!(m.ending, Ending::Complete | Ending::Budget);
        if has_trials && self.stop.stopped_by().is_none() {
            self.own_time.clone().without(|| {
                self.launcher.release_idle_worker();
                self.file = self.tool_file(m);
                self.take_turns(&mut all, m, tell);
                self.file = None;
            });
        }
        self.beside.insert(index, all);
        Left::Cold
    }

    fn take_turns(&self, all: &mut [Repetition], m: &Measurement, tell: &dyn Fn(&str)) {
        let most = all.iter().map(|r| r.most).max().unwrap_or(0);
        for turn in 1..=most {
            for r in all.iter_mut().filter(|r| r.failed.is_none() && r.most >= turn) {
                if self.stop.stopped_by().is_some() {
                    return;
                }
                tell(&format!("{turn} of {} with {}", r.most, r.tool.id()));
                r.failed = self.pair(r, m).err().filter(|_| self.stop.stopped_by().is_none());
            }
        }
    }

    /// The file of a point on a disk, for its tools.
    fn tool_file(&self, m: &Measurement) -> Option<Result<ToolFile, String>> {
        let bytes = find(&m.workload).map_or(0, |k| k.disk_bytes(&m.params));
        let folder = self.machine.disk_path.clone().unwrap_or_else(|| PathBuf::from("."));
        let made = || {
            let file = ToolFile::new(&folder, bytes).map_err(|refusal| refusal.0)?;
            file.make_ready(m.params.text("cache")).map_err(|e| format!("its file: {e}"))?;
            Ok(file)
        };
        (bytes > 0).then(made)
    }

    /// A trial of ours, and a run of the tool.
    fn pair(&self, r: &mut Repetition, m: &Measurement) -> Result<(), String> {
        if self.most_s.is_some_and(|most| self.own_time.0.get() + r.run_s > most) {
            return Err("the reference tools' time is used up (--budget)".to_owned());
        }
        let target = self.policy.target_for(m.subsystem);
        let ours = once(self.launcher, &m.point(), target);
        // Its memory and its file are not to lie beside the tool's.
        self.launcher.release_idle_worker();
        let ours = ours.map_err(|ending| why_none(&ending))?;
        let trial = self.one(r, m, &ours)?;
        r.ours.push(ours.value);
        r.theirs.push(trial);
        Ok(())
    }

    /// One run of a tool.
    fn one(&self, r: &mut Repetition, m: &Measurement, ours: &Trial) -> Result<Trial, String> {
        let runner = r.tool.runner();
        let spec = find(&m.workload).map(|k| k.spec()).ok_or("the workload is not known")?;
        let test = r.tool.test_for(spec, &m.params).ok_or("it has no such work")?;
        let cpus = Cpus::of(&m.point(), &self.machine.cpus);
        let file = match &self.file {
            None => PathBuf::from("/"),
            Some(file) => file.as_ref().map_err(Clone::clone)?.path(),
        };
        let port = process::free_port().map_err(|e| format!("there is no free port: {e}"))?;
        let task = Task {
            spec,
            test,
            params: &m.params,
            seconds: ours.seconds,
            work: ours.work,
            cpus: &cpus.client,
            file: &file,
            port,
        };
        let invocation = runner.invocation(&r.installed, &task)?;
        r.command = process::shown(&r.installed.program, &invocation, &cpus.client, &file);
        let limit = (runner.takes(&task).max(r.run_s) * PATIENCE_TIMES).max(PATIENCE_S);
        let place = Place {
            wrapper: &self.machine.wrapper,
            client: &cpus.client,
            server: &cpus.server,
            port,
            stop: self.stop,
            limit: Duration::from_secs_f64(limit),
        };
        let devices = match m.subsystem {
            Subsystem::Disk => &self.machine.devices[..],
            _ => &[],
        };
        let watch = Watch::begin(&cpus.both(), &self.machine.cpu_stat, devices);
        let (started, begun) = (Timestamp::now(), Instant::now());
        let text = process::run(&r.installed.program, &invocation, &place);
        let wall_s = begun.elapsed().as_secs_f64();
        let (conditions, device) = watch.end();
        // Nothing that it wrote is to reach the device during our next trial.
        if let Some(Ok(file)) = &self.file {
            file.make_ready(m.params.text("cache")).map_err(|e| format!("its file: {e}"))?;
        }
        let output = r.tool.parse(&text?).map_err(|e| format!("its output: {e}"))?;
        r.version = output.version.clone();
        let figure =
            runner.figure(&task, output).ok_or("its output holds no figure of this work")?;
        r.params = figure.params.clone();
        let mut trial = trial_of(&figure, m)?;
        if !runner.tells_time() {
            // The whole run's time, and the work that goes with it at the rate that is told.
            trial.work *= wall_s / trial.seconds;
            trial.seconds = wall_s;
        }
        let conditions = share_of(&conditions, trial.seconds / wall_s);
        let device = device.or(trial.device.clone());
        Ok(Trial { started, conditions, device, ..trial })
    }

    /// Adds what the tools measured to the measurement of a point.
    pub fn fill(&self, index: usize, m: &mut Measurement) {
        let all = self.beside.get(&index).map_or(&[][..], Vec::as_slice);
        m.references = all.iter().filter_map(|r| r.reference(m)).collect();
        m.findings.extend(all.iter().filter_map(Repetition::finding));
        let none = self.missing.get(&index).cloned().unwrap_or_default();
        let without = all.iter().filter(|r| r.theirs.is_empty());
        let without = without.map(|r| (r.tool.id().to_owned(), r.why_none()));
        let each: Vec<_> = none.refused.into_iter().chain(without).collect();
        if m.references.is_empty() {
            let told: Vec<_> = each.iter().map(|(tool, why)| format!("{tool}: {why}")).collect();
            let why = if told.is_empty() { none.why } else { told.join("; ") };
            m.missing.insert("references".to_owned(), why);
        }
        m.missing.extend(each.into_iter().map(|(tool, why)| (format!("references.{tool}"), why)));
    }
}

/// The part of what happened in a whole run that falls to its timed part, if it was the same all
/// the time.
fn share_of(whole: &Conditions, part: f64) -> Conditions {
    let part = part.min(1.0);
    let scaled = |seconds: Option<f64>| seconds.map(|s| s * part);
    Conditions {
        steal_s: scaled(whole.steal_s),
        throttled_s: scaled(whole.throttled_s),
        ..whole.clone()
    }
}

/// Why our own trial of a pair was not to be had.
fn why_none(ending: &Ending) -> String {
    let why = match ending {
        Ending::Refused { reason } | Ending::Unverified { reason } => reason.clone(),
        Ending::Crashed { detail, .. } => format!("the worker died: {detail}"),
        Ending::Interrupted { by } => format!("stopped by {by}"),
        Ending::Complete | Ending::Budget | Ending::Unfinished => "it ended".to_owned(),
    };
    format!("proofmark's own trial before it failed: {why}")
}

/// The one trial of a figure, if it is of the measurement's kind.
fn trial_of(figure: &Figure, m: &Measurement) -> Result<Trial, String> {
    if figure.unit != m.unit {
        return Err(format!("its figure is in {}, not in {}", figure.unit, m.unit));
    }
    let trial = figure.trials.first().ok_or("its figure has no value")?;
    if !(trial.value.is_finite() && trial.value > 0.0) {
        return Err(format!("its figure is {}", trial.value));
    }
    Ok(trial.clone())
}

impl Repetition {
    fn new(tool: &'static dyn Tool, installed: Installed, most: usize, run_s: f64) -> Self {
        Self {
            tool,
            installed,
            most,
            run_s,
            ours: Vec::new(),
            theirs: Vec::new(),
            params: Params::default(),
            version: None,
            command: String::new(),
            failed: None,
        }
    }

    /// Why it has no figure.
    fn why_none(&self) -> String {
        self.failed.clone().unwrap_or_else(|| "it did not run".to_owned())
    }

    fn reference(&self, m: &Measurement) -> Option<Reference> {
        let trials: Vec<f64> = self.theirs.iter().map(|t| t.value).collect();
        let summary = summarise(&trials)?;
        let ratios: Vec<f64> = self.ours.iter().zip(&trials).map(|(a, b)| a / b).collect();
        let ratio = summarise(&ratios)?;
        Some(Reference {
            tool: self.tool.id().to_owned(),
            version: self.version.clone().unwrap_or_else(|| self.installed.version.clone()),
            command: self.command.clone(),
            value: summary.median,
            trials,
            ours: self.ours.clone(),
            ratio: Ratio { median: ratio.median, ci95: ratio.ci95 },
            summary: Some(summary),
            counts: self.counts(m).unwrap_or_default().to_owned(),
            params: self.params.clone(),
            evidence: self.theirs.clone(),
            efficiency: None,
            findings: Vec::new(),
            verdict: Verdict::Valid,
        })
    }

    /// What its figure counts.
    fn counts(&self, m: &Measurement) -> Option<&'static str> {
        let spec = find(&m.workload)?.spec();
        self.tool.runner().counts(self.tool.test_for(spec, &m.params)?)
    }

    fn finding(&self) -> Option<Finding> {
        let why = self.failed.as_ref()?;
        let command = if self.command.is_empty() { self.tool.id() } else { &self.command };
        Some(Finding::new(
            FAILED,
            Severity::Note,
            format!("{} failed: {why}", self.tool.id()),
            format!("run it by hand to see more: {command}"),
        ))
    }
}

#[cfg(test)]
mod tests;
