//! A run without a machine: time, workloads, workers and a tool that are made up.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::sync::LazyLock;

use proofmark_engine::{Clock, Launcher, Refusal, Request, Session, Setup, Stop, Taken, Workload};
use proofmark_model::testing::{spec, trial};
use proofmark_model::{
    Account, Ending, Measurement, Params, Point, Policy, Solution, Trial, Unit, WorkloadSpec,
};
use proofmark_reference::{
    Description, Installed, Invocation, Malformed, Output, ReferenceRunner, Task, Tool,
};

use crate::tool::{ToolRun, ToolRunner, ToolSession, ToolTask};

/// Time that moves only when something takes it.
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
    nominal_s: Option<f64>,
}

impl Workload for FakeWorkload {
    fn spec(&self) -> &'static WorkloadSpec {
        self.spec
    }
    fn supports(&self, _: &Params) -> Result<(), Refusal> {
        Ok(())
    }
    fn nominal_seconds(&self, _: &Params) -> Option<f64> {
        self.nominal_s
    }
    fn setup(&self, _: &Params) -> Result<Box<dyn Setup>, Refusal> {
        Err(Refusal("it is made up".to_owned()))
    }
}

fn workload(id: &str, unit: Unit, interleave: bool, nominal_s: Option<f64>) -> FakeWorkload {
    let spec = Box::leak(Box::new(WorkloadSpec { interleave, ..spec(id, unit) }));
    FakeWorkload { spec, nominal_s }
}

/// Measured together with its neighbours.
static NULL: LazyLock<FakeWorkload> =
    LazyLock::new(|| workload("test.null", Unit::OpPerSecond, true, None));
/// The same, which may have a number of trials of its own.
static SHORT: LazyLock<FakeWorkload> =
    LazyLock::new(|| workload("test.short", Unit::OpPerSecond, true, None));
/// A time, measured by itself.
static TIME: LazyLock<FakeWorkload> =
    LazyLock::new(|| workload("test.time", Unit::Second, false, None));
/// Says that a millisecond of its trials is timed; measured by itself.
static BRIEF: LazyLock<FakeWorkload> =
    LazyLock::new(|| workload("test.brief", Unit::OpPerSecond, false, Some(1e-3)));

pub(crate) fn find(id: &str) -> Option<&'static dyn Workload> {
    Some(match id {
        "test.time" => &*TIME,
        "test.brief" => &*BRIEF,
        "test.short" => &*SHORT,
        _ => &*NULL,
    })
}

pub(crate) fn point(workload: &str, threads: u64) -> Point {
    Point { workload: workload.to_owned(), params: Params::default().with("threads", threads) }
}

pub(crate) fn policy(min: u32, max: u32, budget_s: Option<f64>) -> Policy {
    Policy { min_trials: min, max_trials: max, budget_s, ..Policy::default() }
}

/// What was done to the machine. A point is named by its threads.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Act {
    Launch(u64),
    Take(u64, Request),
    /// The worker that waited was ended.
    Release,
    Tool(u64),
}

/// All that was done, in order.
pub(crate) type Log = Rc<RefCell<Vec<Act>>>;

/// The value of a point's trial, by the point's threads and the trial's number, from 1.
pub(crate) type Values = fn(point: u64, trial: usize) -> Result<f64, Ending>;

/// Workers by a script. Every point takes a second a trial, those of `test.time` three, those with
/// the parameter `ms` so many milliseconds, and has its next value; those with the parameter `n`
/// have a solution, of as many equations as they had values.
#[derive(Clone)]
pub(crate) struct Script {
    pub(crate) clock: FakeClock,
    pub(crate) log: Log,
    pub(crate) values: Values,
    /// Stopped in the trial of that point and number.
    pub(crate) stop_at: Option<(u64, usize)>,
    pub(crate) stop: Stop,
}

impl Script {
    pub(crate) fn new(values: Values) -> Self {
        let (clock, log, stop) = (FakeClock::default(), Log::default(), Stop::default());
        Self { clock, log, values, stop_at: None, stop }
    }
}

struct Actor {
    script: Script,
    point: u64,
    seconds: f64,
    trial: usize,
    solves: bool,
    unit: Unit,
}

impl Launcher for Script {
    fn launch(&self, point: &Point) -> Result<Box<dyn Session>, Ending> {
        let usual = if point.workload == "test.time" { 3.0 } else { 1.0 };
        let unit = if usual == 3.0 { Unit::Second } else { Unit::OpPerSecond };
        let seconds = point.params.int("ms").map_or(usual, |ms| ms as f64 / 1000.0);
        let (threads, solves) = (point.params.threads(), point.params.int("n").is_some());
        self.log.borrow_mut().push(Act::Launch(threads));
        let script = self.clone();
        Ok(Box::new(Actor { script, point: threads, seconds, trial: 0, solves, unit }))
    }

    fn release_idle_worker(&self) {
        self.log.borrow_mut().push(Act::Release);
    }
}

impl Session for Actor {
    fn take(&mut self, request: Request) -> Result<Taken, Ending> {
        self.script.log.borrow_mut().push(Act::Take(self.point, request));
        let seconds = match request {
            // As many trials as fit, and one in any case.
            Request::Span { span_us, .. } => (span_us as f64 * 1e-6).max(self.seconds),
            Request::Warm | Request::Trial => self.seconds,
        };
        self.script.clock.pass(seconds);
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
        let trial = Trial {
            verified: Some(Account { claimed: value, counted: value }),
            solution: self.solves.then(|| solution(self.trial as u64)),
            ..Trial::new(self.unit, value, seconds)
        };
        Ok(Taken { trial, latency: None })
    }
}

pub(crate) fn solution(n: u64) -> Solution {
    Solution { n, leading_dimension: 8, alignment: 64, residual: 0.0, normalised_residual: 0.5 }
}

/// A tool of which only the name is used.
pub(crate) struct FakeTool(Description);

static FAKE: FakeTool = fake("fake");
static OTHER: FakeTool = fake("other");

const fn fake(id: &'static str) -> FakeTool {
    FakeTool(Description {
        id,
        title: "a tool that is made up",
        package: "none",
        about: "For tests.",
    })
}

pub(crate) fn find_tool(id: &str) -> Option<&'static dyn Tool> {
    [&FAKE, &OTHER].into_iter().find(|tool| tool.0.id == id).map(|tool| tool as &dyn Tool)
}

impl Tool for FakeTool {
    fn description(&self) -> &Description {
        &self.0
    }
    fn recognises(&self, _: &str) -> bool {
        false
    }
    fn parse(&self, _: &str) -> Result<Output, Malformed> {
        Err(Malformed::at(1, "it never runs"))
    }
}

impl ReferenceRunner for FakeTool {
    fn installed(&self) -> Option<Installed> {
        None
    }
    fn counts(&self, _: &str) -> Option<&'static str> {
        Some("what it likes")
    }
    fn invocation(&self, _: &Installed, _: &Task) -> Result<Invocation, String> {
        Err("it never runs".to_owned())
    }
    fn takes(&self, _: &Task) -> f64 {
        1.0
    }
}

pub(crate) fn installed() -> Installed {
    Installed { program: "/bin/fake".into(), version: "1.5".to_owned() }
}

/// Runs of a tool by a script: each takes so many seconds, and its trial's value is the number of the
/// run, from 1, or the script says why there is none.
pub(crate) struct FakeRunner {
    pub(crate) script: Script,
    pub(crate) seconds: f64,
    pub(crate) values: fn(run: usize) -> Result<f64, String>,
    /// Stopped in the run of that number.
    pub(crate) stop_at: Option<usize>,
    runs: Cell<usize>,
}

impl FakeRunner {
    pub(crate) fn new(script: &Script, seconds: f64) -> Self {
        let values = |_| Ok(50.0);
        Self { script: script.clone(), seconds, values, stop_at: None, runs: Cell::new(0) }
    }
}

impl ToolRunner for FakeRunner {
    fn begin<'a>(&'a self, _: &Measurement) -> Box<dyn ToolSession + 'a> {
        Box::new(FakeSession(self))
    }
}

struct FakeSession<'a>(&'a FakeRunner);

impl ToolSession for FakeSession<'_> {
    fn run(&mut self, task: &ToolTask) -> ToolRun {
        let runner = self.0;
        runner.runs.set(runner.runs.get() + 1);
        runner.script.log.borrow_mut().push(Act::Tool(task.m.params.threads()));
        runner.script.clock.pass(runner.seconds);
        if runner.stop_at == Some(runner.runs.get()) {
            runner.script.stop.stop("SIGTERM");
        }
        let value = (runner.values)(runner.runs.get());
        ToolRun {
            command: Some("fake --run".to_owned()),
            ..ToolRun::with(value.map(|v| trial(v, 1.0)))
        }
    }
}
