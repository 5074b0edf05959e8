//! Carries a plan out: from the points to the finished report, for `run` and for `endure`.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context as _, Result, anyhow};
use proofmark_engine::{Idle, Monotonic, Schedule, Stop, Workers};
use proofmark_model::{Host, Plan, PlannedSeries, Point, Run, SCHEMA, StorageKind, Timestamp};
use proofmark_reference::Installed;
use proofmark_workloads::find;

use crate::cli::HistoryFile;
use crate::error::Outcome;
use crate::finish::{finish, tool, try_json};
use crate::output::{self, Output};
use crate::plan::{NoReference, Planned, estimate, tools_s};
use crate::profile::LONGEST_RUN;
use crate::progress::Progress;
use crate::record::RunFile as _;
use crate::recorder::Recorder;
use crate::references::{Machine, Tools};
use crate::room::{Needs, Watch, look_ahead};
use crate::samples;
use crate::server::{Served, ServerSide, session_for};
use crate::signals;
use crate::text::say;

/// Longest silence of a worker: at least this, and at least so many times the
/// expected duration of a trial, since a machine may be that much slower.
const PATIENCE_S: f64 = 120.0;
const PATIENCE_TIMES: f64 = 50.0;

/// Bytes a second that the slowest disk takes while a file is laid out.
const SLOWEST_DISK: f64 = 2e6;

/// What a user asked for beside the plan.
pub struct Asked<'a> {
    /// The server, if there is one.
    pub server: Option<ServerSide>,
    /// Folder for the report.
    pub out: Option<&'a Path>,
    /// File for the run as JSON.
    pub json: Option<&'a Path>,
    /// Where the history is.
    pub history: &'a HistoryFile,
    /// Seconds that the tools may take together; `None`: as long as they take.
    pub tools_most_s: Option<f64>,
}

/// Says what a person should know of a plan before it is carried out.
pub fn tell(host: &Host, planned: &Planned, server: Option<&ServerSide>) {
    for reason in &planned.left_out {
        say(&format!("proofmark: skipped: {reason}"));
    }
    for finding in &planned.findings {
        say(&format!("proofmark: {}", finding.message));
    }
    if let Some(line) = no_disk(host, &planned.plan) {
        say(&line);
    }
    if let Some(line) = server.and_then(|server| server.too_short(&planned.plan)) {
        say(&line);
    }
}

/// Bytes of the files that a point makes.
fn disk_bytes(point: &Point) -> u64 {
    find(&point.workload).map_or(0, |workload| workload.disk_bytes(&point.params))
}

/// What a person should know before a folder in memory is measured as a disk.
fn no_disk(host: &Host, plan: &Plan) -> Option<String> {
    let storage = host.storage.get().filter(|s| s.kind == StorageKind::Memory)?;
    plan.points.iter().any(|point| disk_bytes(point) > 0).then(|| {
        format!(
            "proofmark: warning: {} is in memory ({}), not on a disk; name another directory with \
            --disk-path",
            storage.path, storage.file_system
        )
    })
}

/// Measures what is planned, judges it and writes the report.
///
/// # Errors
/// If the result cannot be written, told before anything is measured where that can be known.
pub fn carry_out(host: Host, mut planned: Planned, asked: &Asked) -> Result<Outcome> {
    let stop = Stop::default();
    let stopper = stop.clone();
    // The second signal ends the run however a tool or a worker hangs. Both end too: each has set a
    // parent-death signal. What was measured is in the file that was saved.
    signals::on_signals(move |signal| stopper.stop(signal)).context("cannot handle signals")?;
    let started = Timestamp::now();
    let output = Output::create(asked.out, &planned.plan, started)?;
    // The file may be meant for that folder.
    try_json(asked.json).inspect_err(|_| output.discard())?;
    let watch = watch(&host, &planned.plan, &output, &stop)?;
    let tools = Found {
        installed: std::mem::take(&mut planned.tools),
        missing: std::mem::take(&mut planned.no_reference),
        most_s: asked.tools_most_s,
    };
    let run = measure(begin(host, planned, started), tools, asked.server.as_ref(), &output, &stop)?;
    if let Some(line) = watch.as_ref().and_then(Watch::found) {
        say(&format!("proofmark: {line}"));
    }
    finish(asked.json, &run, &output, Some(asked.history))
}

/// Says what a series will write, and watches the disks that it writes to.
fn watch(host: &Host, plan: &Plan, output: &Output, stop: &Stop) -> Result<Option<Watch>> {
    let on_disk = |series: &PlannedSeries| plan.points.get(series.point).map_or(0, disk_bytes) > 0;
    let disk = host.storage.get().map(|s| Path::new(&s.path));
    let disk = disk.filter(|_| plan.series.iter().any(on_disk));
    let needs = Needs { samples: samples::estimate(plan), at_the_end: output::room(plan) as u64 };
    let lines = look_ahead(plan, needs, output.dir(), disk).map_err(|why| {
        output.discard();
        anyhow!(why)
    })?;
    lines.iter().for_each(|line| say(&format!("proofmark: {line}")));
    let watch = || Watch::begin(output.dir(), needs.at_the_end, disk, stop.clone());
    Ok((!lines.is_empty()).then(watch))
}

/// The run file before anything is measured.
fn begin(host: Host, planned: Planned, started: Timestamp) -> Run {
    let Planned { plan, findings, .. } = planned;
    let workloads: BTreeMap<_, _> = plan
        .points
        .iter()
        .filter_map(|p| find(&p.workload))
        .map(|k| (k.spec().id.to_string(), k.spec().clone()))
        .collect();
    Run {
        schema: SCHEMA.into(),
        tool: tool(),
        started,
        ended: None,
        interrupted: None,
        imported: None,
        host,
        plan,
        workloads,
        measurements: Vec::new(),
        findings,
    }
}

/// What of the tools is not kept in the plan.
struct Found {
    /// By name.
    installed: BTreeMap<String, Installed>,
    /// Why there are none, by the place of a point.
    missing: BTreeMap<usize, NoReference>,
    /// Seconds that they may take together.
    most_s: Option<f64>,
}

fn measure(
    run: Run,
    tools: Found,
    server: Option<&ServerSide>,
    output: &Output,
    stop: &Stop,
) -> Result<Run> {
    output.save(&run).with_context(|| format!("cannot write to {}", output.dir().display()))?;
    let plan = run.plan.clone();
    let longest = plan
        .points
        .iter()
        .filter_map(|p| Some(find(&p.workload)?.trial_seconds(&p.params, &plan.policy)))
        .fold(plan.policy.trial_s, f64::max)
        .min(LONGEST_RUN.as_secs_f64());
    // A worker that takes a sample says nothing until it has it.
    let sample_s = plan.series.iter().map(|s| s.every_s).fold(0.0, f64::max);
    let largest_file = plan.points.iter().map(disk_bytes).max();
    let machine = Machine::of(&run.host)?;
    let workers = Workers {
        program: own_program()?,
        arguments: vec!["worker".to_owned()],
        environment: Vec::new(),
        cpus: machine.cpus.clone(),
        cpu_stat: machine.cpu_stat.clone(),
        disk_path: machine.disk_path.clone(),
        devices: machine.devices.clone(),
        policy: plan.policy.clone(),
        patience: Duration::from_secs_f64(
            PATIENCE_S.max(PATIENCE_TIMES * longest)
                + sample_s.min(LONGEST_RUN.as_secs_f64())
                + largest_file.unwrap_or(0) as f64 / SLOWEST_DISK,
        ),
        stop: stop.clone(),
        idle: Idle::default(),
    };
    let launcher = Served { server, session: session_for(&plan), workers: &workers };
    let progress = Progress::new(plan.points.len(), estimate(&plan).1 + tools_s(&plan));
    let most_s = tools.most_s;
    let tools = Tools::new(&plan, &tools.installed, tools.missing, (&machine, &launcher, stop));
    let tools = tools.within(most_s);
    let clock = tools.own_time();
    let mut recorder = Recorder::new(run, output, &Monotonic, tools, progress);
    let schedule = Schedule { plan: &plan, find: &find, launcher: &launcher, clock: &clock, stop };
    let measurements = schedule.run(&mut recorder);
    let mut run = recorder.finish(&measurements);
    if let Some(reason) = server.and_then(|server| server.ended_after(&measurements)) {
        say(&format!(
            "proofmark: the session with the server ended ({reason}); earlier results are kept; \
            check `proofmark serve` there, then run again"
        ));
    }
    run.interrupted = stop.stopped_by();
    run.ended = Some(Timestamp::now());
    Ok(run)
}

/// This program's own file, which its children run; without /proc, as the kernel was told to run
/// it: the name by which it was called may be that of another file in the current folder.
pub fn own_program() -> Result<PathBuf> {
    std::env::current_exe().or_else(|e| {
        let run = OsStr::from_bytes(rustix::param::linux_execfn().to_bytes());
        Path::new(run).canonicalize().with_context(|| {
            format!("cannot find this program's own file ({e}); call it by its path")
        })
    })
}
