//! A run without a machine: fake time, workloads, workers and tool.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::io;
use std::rc::Rc;
use std::sync::LazyLock;

use proofmark_engine::{
    Clock, Configuration, Launcher, Needs, Refusal, Request, Session, Setup, Stop, Taken, Workload,
};
use proofmark_model::testing::{self, spec, trial};
use proofmark_model::{
    Account, Ending, Host, Pace, Params, Point, Policy, Printed, Probe, RawMeasurement, Round, Run,
    Storage, Trial, Unit, Work, WorkloadSpec, key,
};
use proofmark_reference::{
    Description, Figure, Installed, Invocation, Malformed, Output, ReferenceRunner, SameWork, Task,
    Tool,
};

use crate::record::RunFile;
use crate::tool::{ToolRun, ToolRunner, ToolSession, ToolTask};

/// Time that advances only when something takes it.
#[derive(Clone, Default)]
pub(crate) struct FakeClock(Rc<Cell<f64>>);

impl FakeClock {
    pub(crate) fn pass(&self, seconds: f64) {
        self.0.set(self.0.get() + seconds);
    }
}

impl Clock for FakeClock {
    fn now(&self) -> f64 {
        self.0.get()
    }
}

/// A workload that no worker ever sets up.
pub(crate) struct FakeWorkload {
    spec: &'static WorkloadSpec,
    fixed_s: Option<f64>,
}

impl Workload for FakeWorkload {
    fn spec(&self) -> &'static WorkloadSpec {
        self.spec
    }
    fn configure(&self, params: &Params) -> Result<Box<dyn Configuration>, Refusal> {
        Ok(Box::new(FakeConfiguration(Needs {
            memory_bytes: params.number("bytes").unwrap_or(0),
            shared_memory: params.word("shares").map(str::to_owned),
            fixed_s: self.fixed_s,
            ..Needs::default()
        })))
    }
}

struct FakeConfiguration(Needs);

impl Configuration for FakeConfiguration {
    fn needs(&self) -> Needs {
        self.0.clone()
    }
    fn setup(self: Box<Self>) -> Result<Box<dyn Setup>, Refusal> {
        Err(Refusal("it is made up".to_owned()))
    }
}

/// Id, unit, pace, true if measured together with its neighbours, and timed seconds of a trial.
static ALL: LazyLock<[FakeWorkload; 6]> = LazyLock::new(|| {
    [
        ("test.null", Unit::OpPerSecond, Pace::Device, true, None),
        // A copy that may have its own number of trials.
        ("test.short", Unit::OpPerSecond, Pace::Device, true, None),
        ("test.time", Unit::Second, Pace::Device, false, None),
        ("test.brief", Unit::OpPerSecond, Pace::Device, false, Some(1e-3)),
        // Workloads whose trials are cut into rounds.
        ("cpu.rounds", Unit::OpPerSecond, Pace::Core, false, None),
        ("memory.rounds", Unit::OpPerSecond, Pace::Memory, false, None),
    ]
    .map(|(id, unit, pace, interleave, fixed_s)| {
        let work = Work { pace, ..Work::CORE };
        let spec = Box::leak(Box::new(WorkloadSpec { interleave, work, ..spec(id, unit) }));
        FakeWorkload { spec, fixed_s }
    })
});

pub(crate) fn find(id: &str) -> Option<&'static dyn Workload> {
    ALL.iter().find(|w| w.spec.id == id).map(|w| w as &dyn Workload)
}

pub(crate) fn point(workload: &str, threads: u64) -> Point {
    Point { workload: workload.to_owned(), params: Params::default().with(key::THREADS, threads) }
}

/// A configuration whose trials take `ms` milliseconds.
pub(crate) fn lasting(workload: &str, ms: u64) -> Point {
    let point = point(workload, 1);
    Point { params: point.params.with_named("ms", ms), ..point }
}

pub(crate) fn policy(min: u32, max: u32, budget_s: Option<f64>) -> Policy {
    let target_of = BTreeMap::new();
    let (min_trials, max_trials) = (min, max);
    Policy { target: 0.02, target_of, min_trials, max_trials, budget_s, ..Policy::default() }
}

/// An action on the machine. A configuration is named by its threads.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Act {
    Launch(u64),
    /// A launch in one worker with others.
    LaunchTogether(u64),
    Take(u64, Request),
    /// The end of the idle worker.
    Release,
    Tool(u64),
}

pub(crate) type Log = Rc<RefCell<Vec<Act>>>;

/// The value of a trial, by the configuration's threads and the trial's number, starting at 1.
pub(crate) type Values = fn(point: u64, trial: usize) -> Result<f64, Ending>;

/// Workers by a script. A trial takes one second, with `test.time` three, or the milliseconds of
/// the parameter `ms`; the first takes `first_ms` more. Set-up takes `set_up_ms` milliseconds. Each trial has the next value.
#[derive(Clone)]
pub(crate) struct Script {
    pub(crate) clock: FakeClock,
    pub(crate) log: Log,
    pub(crate) values: Values,
    /// Changes a trial, by the number of its worker's launch, starting at 1.
    pub(crate) spoil: fn(launch: usize, &mut Trial),
    /// Configuration and trial at which the run is stopped.
    pub(crate) stop_at: Option<(u64, usize)>,
    /// Configuration and trial that takes so many seconds.
    pub(crate) slow: Option<(u64, usize, f64)>,
    pub(crate) stop: Stop,
}

impl Script {
    pub(crate) fn new(values: Values) -> Self {
        let (clock, log, stop) = (FakeClock::default(), Log::default(), Stop::default());
        Self { clock, log, values, spoil: |_, _| (), stop_at: None, slow: None, stop }
    }
}

struct Actor {
    script: Script,
    launch: usize,
    point: u64,
    seconds: f64,
    /// Further seconds of the first trial.
    first_s: f64,
    trial: usize,
    unit: Unit,
    in_rounds: bool,
}

impl Script {
    /// Lets time pass for a worker, which is ended when it is waited for no longer.
    fn wait(&self, seconds: f64) -> Result<(), Ending> {
        match self.stop.time_left().map(|left| left.as_secs_f64()) {
            Some(left_s) if left_s < seconds => {
                self.clock.pass(left_s);
                Err(Ending::LeftOut { needs_s: left_s })
            }
            _ => {
                self.clock.pass(seconds);
                Ok(())
            }
        }
    }

    fn begin(&self, point: &Point, act: fn(u64) -> Act) -> Result<Box<dyn Session>, Ending> {
        let usual = if point.workload == "test.time" { 3.0 } else { 1.0 };
        let unit = if usual == 3.0 { Unit::Second } else { Unit::OpPerSecond };
        let parameter_s = |name| point.params.number(name).map(|ms| ms as f64 / 1000.0);
        let seconds = parameter_s("ms").unwrap_or(usual);
        let first_s = parameter_s("first_ms").unwrap_or(0.0);
        let threads = point.params.threads();
        self.wait(parameter_s("set_up_ms").unwrap_or(0.0))?;
        self.log.borrow_mut().push(act(threads));
        let is_launch = |act: &&Act| matches!(act, Act::Launch(_) | Act::LaunchTogether(_));
        let launch = self.log.borrow().iter().filter(is_launch).count();
        let in_rounds = find(&point.workload).is_some_and(|w| w.spec().work.cut().has_slices());
        let script = self.clone();
        let actor =
            Actor { script, launch, point: threads, seconds, first_s, trial: 0, unit, in_rounds };
        Ok(Box::new(actor))
    }
}

impl Launcher for Script {
    fn launch(&self, point: &Point) -> Result<Box<dyn Session>, Ending> {
        self.begin(point, Act::Launch)
    }

    fn launch_together(&self, point: &Point) -> Result<Box<dyn Session>, Ending> {
        self.begin(point, Act::LaunchTogether)
    }

    fn release_idle_worker(&self) {
        self.log.borrow_mut().push(Act::Release);
    }
}

impl Session for Actor {
    fn take(&mut self, request: Request) -> Result<Taken, Ending> {
        self.script.log.borrow_mut().push(Act::Take(self.point, request));
        let seconds = match request {
            // As many trials as fit, at least one.
            Request::Span { span_us, .. } => (span_us as f64 * 1e-6).max(self.seconds),
            Request::Warm | Request::Trial => self.seconds,
        };
        let seconds = match self.script.slow {
            Some((point, trial, seconds))
                if (point, trial) == (self.point, self.trial + 1) && request != Request::Warm =>
            {
                seconds
            }
            _ => seconds,
        };
        self.script.wait(seconds + std::mem::take(&mut self.first_s))?;
        let value = match request {
            Request::Warm => 100.0,
            Request::Trial | Request::Span { .. } => {
                self.trial += 1;
                if self.script.stop_at == Some((self.point, self.trial)) {
                    self.script.stop.stop("SIGINT");
                }
                (self.script.values)(self.point, self.trial)?
            }
        };
        let mut trial = Trial {
            verified: Some(Account { claimed: value, counted: value }),
            ..Trial::new(self.unit, value, seconds)
        };
        if self.in_rounds {
            trial.rounds = vec![round(value, seconds)];
        }
        (self.script.spoil)(self.launch, &mut trial);
        Ok(Taken { trial, latency: None })
    }
}

/// A round without gaps.
fn round(value: f64, seconds: f64) -> Round {
    let (typical, attainable) = (Some(value), Some(value));
    Round { seconds, delivered: value, typical, attainable, clean_s: seconds, ..Round::default() }
}

/// A disk that keeps all saved runs, and may be full.
#[derive(Default)]
pub(crate) struct Disk {
    pub(crate) saved: RefCell<Vec<Run>>,
    pub(crate) is_full: bool,
}

impl RunFile for Disk {
    fn save(&self, run: &Run) -> io::Result<()> {
        if self.is_full {
            return Err(io::ErrorKind::StorageFull.into());
        }
        self.saved.borrow_mut().push(run.clone());
        Ok(())
    }
}

/// A fake tool: a line of shell that prints a rate.
pub(crate) struct FakeTool {
    pub(crate) description: Description,
    pub(crate) script: String,
    /// Seconds of its shortest run, and seconds that each run takes.
    pub(crate) shortest_s: f64,
    pub(crate) takes_s: f64,
    pub(crate) memory: u64,
}

/// Work of the fake tools.
const LINPACK: &[SameWork] = &[SameWork { test: "LINPACK", workload: "cpu.linpack", when: None }];

impl FakeTool {
    pub(crate) const fn new(id: &'static str) -> Self {
        let (title, package, about) = ("a tool that is made up", "Debian: none", "For tests.");
        let printed = Printed::Mean;
        let (reads, same_work) = ("its text", LINPACK);
        let description = Description { id, printed, title, package, reads, same_work, about };
        Self { description, script: String::new(), shortest_s: 0.0, takes_s: 0.01, memory: 0 }
    }
}

static FAKE: FakeTool = FakeTool::new("fake");
static OTHER: FakeTool = FakeTool::new("other");

pub(crate) fn find_tool(id: &str) -> Option<&'static dyn Tool> {
    [&FAKE, &OTHER].into_iter().find(|tool| tool.description.id == id).map(|tool| tool as &dyn Tool)
}

impl Tool for FakeTool {
    fn description(&self) -> &Description {
        &self.description
    }
    fn recognises(&self, _: &str) -> bool {
        false
    }
    fn read(&self, text: &str) -> Result<Output, Malformed> {
        let value = text.trim().parse().map_err(|_| Malformed::at(1, "no number"))?;
        let spec = proofmark_workloads::find("cpu.linpack").map(|k| k.spec());
        let spec = spec.ok_or_else(|| Malformed::at(1, "no workload"))?;
        let figure = Figure {
            test: "LINPACK".into(),
            comparable: true,
            title: String::new(),
            subsystem: spec.subsystem,
            unit: spec.unit,
            better: spec.better,
            params: Params::default().with_named("depth", 7),
            trials: vec![trial(value, 1.0)],
            latency: None,
            proof: None,
            lack: None,
            findings: Vec::new(),
        };
        Ok(Output { figures: vec![figure], ..Output::default() })
    }
}

impl ReferenceRunner for FakeTool {
    fn installed(&self) -> Option<Installed> {
        None
    }
    fn counts(&self, _: &str) -> Option<&'static str> {
        Some("what it likes")
    }
    fn invocation(&self, _: &Installed, task: &Task) -> Result<Invocation, String> {
        if task.work < 1.0 {
            return Err("there is no work".to_owned());
        }
        let script = format!("{}; : {}", self.script, task.work);
        Ok(Invocation { arguments: vec!["-c".to_owned(), script], ..Invocation::default() })
    }
    fn shortest(&self) -> f64 {
        self.shortest_s
    }
    fn memory(&self, _: &Task) -> u64 {
        self.memory
    }
    fn takes(&self, task: &Task) -> f64 {
        assert!(task.seconds >= self.shortest_s, "our trials last as long");
        self.takes_s
    }
    fn reports_time(&self) -> bool {
        false
    }
}

/// The machine of the test, detected once.
pub(crate) fn this_machine() -> Host {
    static HOST: LazyLock<Host> = LazyLock::new(|| crate::machine::look(None));
    HOST.clone()
}

/// A machine with known memory and CPUs only.
pub(crate) fn host(memory: u64, cpus: Vec<u32>) -> Host {
    let mut host = Host::unknown("test");
    host.memory.available_bytes = Probe::known(memory, "test");
    host.memory.total_bytes = Probe::known(memory, "test");
    host.limits.memory_bytes = Probe::known(None, "test");
    host.limits.usable_cores = cpus.len().div_ceil(2) as u32;
    host.limits.usable_cpus = cpus;
    host
}

/// A disk with this many free bytes.
pub(crate) fn storage(free_bytes: u64) -> Probe<Storage> {
    Probe::known(Storage { free_bytes, ..testing::storage(Vec::new()) }, "test")
}

pub(crate) fn installed() -> Installed {
    Installed { program: "/bin/sh".into(), version: "1.5".to_owned() }
}

/// Runs of a tool by a script. Each takes `seconds`. The value of its trial, or the reason why
/// there is none, depends on the number of the run, starting at 1.
pub(crate) struct FakeRunner {
    pub(crate) script: Script,
    pub(crate) seconds: f64,
    pub(crate) values: fn(run: usize) -> Result<f64, String>,
    /// Changes its trial.
    pub(crate) spoil: fn(&mut Trial),
    /// Number of the run at which the whole run is stopped.
    pub(crate) stop_at: Option<usize>,
    runs: Cell<usize>,
}

impl FakeRunner {
    pub(crate) fn new(script: &Script, seconds: f64) -> Self {
        let values = |_| Ok(50.0);
        let (script, spoil) = (script.clone(), |_: &mut Trial| ());
        Self { script, seconds, values, spoil, stop_at: None, runs: Cell::new(0) }
    }
}

impl ToolRunner for FakeRunner {
    fn begin<'a>(&'a self, _: &RawMeasurement) -> Box<dyn ToolSession + 'a> {
        Box::new(self)
    }
}

impl ToolSession for &FakeRunner {
    fn run(&mut self, task: &ToolTask) -> ToolRun {
        let runner = *self;
        runner.runs.set(runner.runs.get() + 1);
        runner.script.log.borrow_mut().push(Act::Tool(task.m.params.threads()));
        runner.script.clock.pass(runner.seconds);
        if runner.stop_at == Some(runner.runs.get()) {
            runner.script.stop.stop("SIGTERM");
        }
        let value = (runner.values)(runner.runs.get());
        ToolRun {
            command: Some("fake --run".to_owned()),
            ..ToolRun::new(value.map(|v| {
                let mut trial = trial(v, 1.0);
                (runner.spoil)(&mut trial);
                trial
            }))
        }
    }
}
