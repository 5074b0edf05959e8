//! A run on this machine with its workers, server and reference tools.

use std::path::PathBuf;
use std::time::Duration;

use proofmark_engine::{
    ClocksMoment, Idle, Launcher as _, RawClock, Request, SharedWorker, Stop, Workers,
};
use proofmark_judge::judge;
use proofmark_model::{Finding, Host, Plan, Point, RawRun, Run, SCHEMA, Timestamp, Tool, Trial};

use crate::error::RunError;
use crate::event::Observer;
use crate::measure::{Means, measure};
use crate::other_programs::Others;
use crate::planned::PlannedTools;
use crate::process::own_program;
use crate::programs::Programs;
use crate::record::RunFile;
use crate::registry::{declarations, find, needs, trial_s};
use crate::request::LONGEST_RUN;
use crate::reread_machine::look_again;
use crate::schedule::Deadline;
use crate::server::{Served, ServerSide, session_for};
use crate::system_limits;

/// Patience for a silent worker: at least these seconds, and this many times the expected duration
/// of a trial, since a machine may be that much slower.
const PATIENCE_S: f64 = 120.0;
const PATIENCE_TIMES: f64 = 50.0;

/// Bytes per second that the slowest disk writes while a file is laid out.
const SLOWEST_DISK: f64 = 2e6;

/// Inputs of a run on this machine.
#[derive(Clone, Copy)]
pub struct Live<'a> {
    /// The server of its network workloads, if there is one.
    pub server: Option<&'a ServerSide>,
    /// Stops the run.
    pub stop: &'a Stop,
    /// The file in which the run is saved.
    pub file: &'a dyn RunFile,
    /// Prints a line for the user.
    pub print_line: &'a dyn Fn(&str),
    /// The time limit that ends the run, if one does.
    pub deadline: Option<&'a Deadline>,
}

/// Creates the run before anything is measured. `findings` concern the run as a whole.
pub fn begin(
    host: Host,
    plan: Plan,
    findings: Vec<Finding>,
    tool: Tool,
    started: Timestamp,
) -> RawRun {
    let workloads = declarations(&plan.points);
    Run {
        schema: SCHEMA.into(),
        tool,
        started,
        ended: None,
        interrupted: None,
        imported: None,
        label: None,
        anonymous: false,
        host,
        plan,
        workloads,
        measurements: Vec::new(),
        cpu_placements: Vec::new(),
        programs: Vec::new(),
        programs_of_one_cpu: None,
        between_runs: Vec::new(),
        clocks: None,
        findings,
    }
}

/// Measures a plan on this machine and judges it. Fails if this program's file is not found.
pub fn measure_here(
    run: RawRun,
    tools: PlannedTools,
    live: &Live,
    observers: &mut [&mut dyn Observer],
) -> Result<Run, RunError> {
    let Live { server, stop, file, print_line, deadline } = *live;
    let workers = workers(&run.host, &run.plan, stop)?;
    let launcher = Served { server, session: session_for(&run.plan), workers: &workers };
    let programs = Programs::new(&workers);
    let means = Means {
        find: &find,
        memory_bytes: run.host.usable_memory(),
        launcher: &launcher,
        find_tool: &proofmark_reference::find,
        tools: &programs,
        clock: &RawClock,
        stop,
        file,
        print_line,
        deadline,
    };
    let begun = ClocksMoment::now();
    let mut others = Others::new(&RawClock);
    let mut all: Vec<&mut dyn Observer> = vec![&mut others];
    all.extend(observers.iter_mut().map(|o| &mut **o as &mut dyn Observer));
    let mut run = measure(run, tools, &means, &mut all);
    (run.programs, run.programs_of_one_cpu) = others.finish();
    look_again(&mut run, ClocksMoment::now().since(begun));
    Ok(judge(&run))
}

/// Trials that try a configuration out: one alone may coincide with a pause of the machine.
const TRIED: usize = 5;

/// Takes some trials of a configuration in a worker of its own. An error is the reason why there
/// are none.
pub fn try_out(host: &Host, plan: &Plan, stop: &Stop, point: &Point) -> Result<Vec<Trial>, String> {
    let workers = workers(host, plan, stop).map_err(|e| e.to_string())?;
    let taken = workers.launch(point).and_then(|mut session| {
        let taken = (0..TRIED).map(|_| Ok(session.take(Request::Trial)?.trial));
        taken.collect::<Result<Vec<_>, _>>()
    });
    taken.map_err(|ending| ending.words())
}

fn workers(host: &Host, plan: &Plan, stop: &Stop) -> Result<Workers, RunError> {
    let storage = host.storage.get();
    Ok(Workers {
        program: own_program()?,
        arguments: vec!["worker".to_owned()],
        environment: Vec::new(),
        cpus: host.limits.usable_cpus.clone(),
        cpu_stat: host.limits.cpu_stat.iter().map(PathBuf::from).collect(),
        disk_path: storage.map(|s| PathBuf::from(&s.path)),
        devices: storage.into_iter().flat_map(|s| s.leaves()).map(|d| d.name.clone()).collect(),
        policy: plan.policy.clone(),
        patience: patience(plan),
        system_state: system_limits::state,
        stop: stop.clone(),
        idle: Idle::default(),
        shared: SharedWorker::default(),
    })
}

/// Returns how long a worker may be silent.
fn patience(plan: &Plan) -> Duration {
    let longest_run_s = LONGEST_RUN.as_secs_f64();
    let longest = plan
        .points
        .iter()
        .map(|point| trial_s(plan, point))
        .fold(plan.policy.trial_s, f64::max)
        .min(longest_run_s);
    // A worker is silent until it has the whole sample.
    let sample_s = plan.series.iter().map(|s| s.every_s).fold(0.0, f64::max);
    let largest_file = plan.points.iter().map(|point| needs(point).disk_bytes).max().unwrap_or(0);
    Duration::from_secs_f64(
        PATIENCE_S.max(PATIENCE_TIMES * longest)
            + sample_s.min(longest_run_s)
            + largest_file as f64 / SLOWEST_DISK,
    )
}
