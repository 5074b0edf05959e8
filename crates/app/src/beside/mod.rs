//! Runs the tools that people already trust beside our points: after each of our trials
//! one run of each tool that does the same work, so that both see the same machine.

mod process;

use std::cell::Cell;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::time::{Duration, Instant};

use anyhow::Result;
use proofmark_engine::{Clock, Monotonic, Stop, Watch, summarise};
use proofmark_kernels::disk::LentFile;
use proofmark_kernels::find;
use proofmark_model::{
    Conditions, Ending, Finding, Host, Measurement, Params, Plan, Ratio, Reference, Severity,
    Subsystem, Timestamp, Trial,
};
use proofmark_reference::{Figure, Installed, Task, Tool};

use crate::command::run::own_program;
use crate::plan::{Cpus, NoReference, pairs};
use process::Place;

/// Id, title and meaning of what can be found about a tool beside a point.
pub const FINDINGS: &[(&str, &str, &str)] = &[(
    FAILED,
    "A tool beside the point failed",
    "A tool that was to repeat the point did not start, ended with an error, took far longer than \
     it should, or put out what holds no figure of that work. Its runs until then are kept, and \
     our own number is not touched. Run the command by hand to see more.",
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

/// What the tools need of this machine.
#[derive(Debug, Clone)]
pub struct Machine {
    /// This program as it puts a tool on its CPUs: see [`process::Place::wrapper`].
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
    stop: &'a Stop,
    own_time: OwnTime,
    /// By the point's place in the plan.
    pairs: BTreeMap<usize, Vec<Pairs>>,
    /// Why others do not run, by the point's place.
    missing: BTreeMap<usize, NoReference>,
    file: Option<LentFile>,
}

/// One tool beside one point.
struct Pairs {
    tool: &'static dyn Tool,
    installed: Installed,
    /// How many are taken.
    most: usize,
    /// Our trials and its own, in turn.
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
        (machine, stop): (&'a Machine, &'a Stop),
    ) -> Self {
        let mut pairs_of: BTreeMap<usize, Vec<Pairs>> = BTreeMap::new();
        for (name, points) in &plan.references {
            let found = proofmark_reference::find(name).zip(installed.get(name));
            let Some((tool, installed)) = found else { continue };
            for index in points {
                let most = pairs(plan, *index, tool).unwrap_or(0) as usize;
                pairs_of.entry(*index).or_default().push(Pairs::new(tool, installed.clone(), most));
            }
        }
        let own_time = OwnTime::default();
        Self { machine, stop, own_time, pairs: pairs_of, missing, file: None }
    }

    /// The clock that stands still while a tool runs.
    pub fn own_time(&self) -> OwnTime {
        self.own_time.clone()
    }

    /// Repeats the trial that this point has just taken, with each of its tools.
    pub fn repeat(&mut self, index: usize, m: &Measurement, tell: &dyn Fn(&str)) {
        let Some(mut all) = self.pairs.remove(&index) else { return };
        let ended_well = matches!(m.ending, Ending::Unfinished | Ending::Complete | Ending::Budget);
        if let Some(ours) = m.trials.last().filter(|_| ended_well) {
            let begun = Instant::now();
            for pairs in all.iter_mut().filter(|p| p.lacks(m.trials.len())) {
                tell(pairs.tool.id());
                self.run(pairs, m, ours);
            }
            self.own_time.0.set(self.own_time.0.get() + begun.elapsed().as_secs_f64());
        }
        self.pairs.insert(index, all);
    }

    fn run(&mut self, pairs: &mut Pairs, m: &Measurement, ours: &Trial) {
        let stopped = |_: &String| self.stop.stopped_by().is_none();
        match self.one(pairs, m, ours) {
            Ok(trial) => {
                pairs.ours.push(ours.value);
                pairs.theirs.push(trial);
            }
            Err(why) => pairs.failed = Some(why).filter(stopped),
        }
    }

    /// One run of a tool.
    fn one(&mut self, pairs: &mut Pairs, m: &Measurement, ours: &Trial) -> Result<Trial, String> {
        let beside = pairs.tool.beside().ok_or("it cannot be run")?;
        let cpus = Cpus::of(&m.point(), &self.machine.cpus);
        let file = self.file_for(m)?;
        let port = process::free_port().map_err(|e| format!("there is no free port: {e}"))?;
        let task = Task {
            kernel: &m.kernel,
            params: &m.params,
            seconds: ours.seconds,
            work: ours.work,
            cpus: &cpus.near,
            file: &file,
            port,
        };
        let invocation = beside.invocation(&pairs.installed, &task)?;
        pairs.command = process::shown(&pairs.installed.program, &invocation.arguments);
        let limit = (beside.takes(&task) * PATIENCE_TIMES).max(PATIENCE_S);
        let place = Place {
            wrapper: &self.machine.wrapper,
            near: &cpus.near,
            far: &cpus.far,
            port,
            stop: self.stop,
            limit: Duration::from_secs_f64(limit),
        };
        let (started, on_disk) = (Timestamp::now(), m.subsystem == Subsystem::Disk);
        let devices = if on_disk { &self.machine.devices[..] } else { &[] };
        let watch = Watch::begin(&cpus.both(), &self.machine.cpu_stat, devices);
        let begun = Instant::now();
        let text = process::run(&pairs.installed.program, &invocation, &place)?;
        let (conditions, device) = watch.end();
        let wall_s = begun.elapsed().as_secs_f64();
        let output = pairs.tool.parse(&text).map_err(|e| format!("its output: {e}"))?;
        pairs.version = output.version.clone();
        let figure =
            beside.figure(&task, output).ok_or("its output holds no figure of this work")?;
        pairs.params = figure.params.clone();
        let trial = trial_of(&figure, m)?;
        let conditions = share_of(&conditions, trial.seconds / wall_s);
        Ok(Trial { started, conditions, device: device.or(trial.device.clone()), ..trial })
    }

    /// The file of a point on the disk, ready for a run.
    fn file_for(&mut self, m: &Measurement) -> Result<PathBuf, String> {
        let bytes = find(&m.kernel).map_or(0, |k| k.disk_bytes(&m.params));
        let folder = self.machine.disk_path.as_deref().unwrap_or(Path::new("."));
        if self.file.as_ref().is_none_or(|f| f.size() != bytes) {
            // The old one gives up its space first.
            self.file = None;
        }
        if bytes == 0 {
            return Ok(PathBuf::from("/"));
        }
        let file = match self.file.take() {
            Some(file) => file,
            None => LentFile::new(folder, bytes).map_err(|refusal| refusal.0)?,
        };
        file.make_ready(m.params.text("cache")).map_err(|e| format!("its file: {e}"))?;
        Ok(self.file.insert(file).path())
    }

    /// Adds what the tools measured to the measurement of a point.
    #[must_use]
    pub fn fill(&self, index: usize, mut m: Measurement) -> Measurement {
        let all = self.pairs.get(&index).map_or(&[][..], Vec::as_slice);
        m.references = all.iter().filter_map(|p| p.reference(&m.kernel)).collect();
        m.findings.extend(all.iter().filter_map(Pairs::finding));
        let none = self.missing.get(&index).cloned().unwrap_or_default();
        if m.references.is_empty() {
            m.missing.insert("references".to_owned(), none.why);
        } else {
            let refused = none.refused.into_iter();
            m.missing.extend(refused.map(|(tool, why)| (format!("references.{tool}"), why)));
        }
        m
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

impl Pairs {
    fn new(tool: &'static dyn Tool, installed: Installed, most: usize) -> Self {
        Self {
            tool,
            installed,
            most,
            ours: Vec::new(),
            theirs: Vec::new(),
            params: Params::default(),
            version: None,
            command: String::new(),
            failed: None,
        }
    }

    /// Whether our trial of that number has no partner, and is to have one.
    fn lacks(&self, trial: usize) -> bool {
        self.failed.is_none() && self.theirs.len() < self.most && self.theirs.len() + 1 == trial
    }

    fn reference(&self, kernel: &str) -> Option<Reference> {
        let trials: Vec<f64> = self.theirs.iter().map(|t| t.value).collect();
        let summary = summarise(&trials)?;
        let ratios: Vec<f64> = self.ours.iter().zip(&trials).map(|(a, b)| a / b).collect();
        let ratio = summarise(&ratios)?;
        let counts = self.tool.beside().and_then(|b| b.counts(kernel)).unwrap_or_default();
        Some(Reference {
            tool: self.tool.id().to_owned(),
            version: self.version.clone().unwrap_or_else(|| self.installed.version.clone()),
            command: self.command.clone(),
            value: summary.median,
            trials,
            ratio: Ratio { median: ratio.median, ci95: ratio.ci95 },
            summary: Some(summary),
            counts: counts.to_owned(),
            params: self.params.clone(),
            evidence: self.theirs.clone(),
            efficiency: None,
            findings: Vec::new(),
            verdict: proofmark_model::Verdict::Valid,
        })
    }

    fn finding(&self) -> Option<Finding> {
        let why = self.failed.as_ref()?;
        let command = if self.command.is_empty() { self.tool.id() } else { &self.command };
        Some(Finding::new(
            FAILED,
            Severity::Note,
            format!("{} beside it failed: {why}", self.tool.id()),
            format!("run it by hand to see more: {command}"),
        ))
    }
}

#[cfg(test)]
mod tests;
