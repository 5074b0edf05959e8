//! `proofmark run`: measure, judge, report.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Context as _, Result};
use proofmark_engine::{Idle, Schedule, Stop, Workers};
use proofmark_kernels::find;
use proofmark_model::{
    Host, Plan, Point, Probe, Run, SCHEMA, StorageKind, Subsystem, Timestamp, format_seconds,
};
use proofmark_reference::Installed;

use crate::cli::RunArgs;
use crate::error::{Outcome, Usage};
use crate::far::{Far, Served, session_for};
use crate::finish::{finish, tool, try_json};
use crate::output::Output;
use crate::plan::{NoReference, Planned, asks_for, estimate, plan, tools_s};
use crate::profile::LONGEST_RUN;
use crate::progress::Progress;
use crate::recorder::Recorder;
use crate::references::{Machine, Tools};
use crate::text::{print, say};
use crate::{machine, signals};

/// Longest silence of a worker: at least this, and at least so many times the
/// expected duration of a trial, since a machine may be that much slower.
const PATIENCE_S: f64 = 120.0;
const PATIENCE_TIMES: f64 = 50.0;

/// Bytes a second that the slowest disk takes while a file is laid out.
const SLOWEST_DISK: f64 = 2e6;

/// Runs the command.
pub fn run(args: &RunArgs) -> Result<Outcome> {
    let mut host = machine::look(args.disk_path.as_deref());
    let far = far_end(args, &mut host)?;
    host.limits.declared.extend(args.limit.iter().cloned());
    if args.disk_path.is_some() && host.storage.get().is_none() {
        return Err(Usage::error(format!("--disk-path: {}", host.storage.origin())));
    }
    let mut planned = plan(args, &host)?;
    // What "all" leaves out on this machine is no news; what was asked for by name is.
    let unsupported = planned.unsupported.iter().filter(|_| args.dry_run || !args.set.is_empty());
    for reason in unsupported.chain(&planned.left_out) {
        say(&format!("proofmark: left out: {reason}"));
    }
    for finding in &planned.findings {
        say(&format!("proofmark: {}", finding.message));
    }
    if let Some(line) = no_disk(&host, &planned.plan) {
        say(&line);
    }
    if let Some(line) = far.as_ref().and_then(|far| far.too_short(&planned.plan)) {
        say(&line);
    }
    if args.dry_run {
        print(&dry_run(&planned.plan))?;
        return Ok(Outcome::Done);
    }
    let stop = Stop::default();
    let stopper = stop.clone();
    signals::on_signals(move |signal| stopper.stop(signal)).context("cannot handle signals")?;
    let started = Timestamp::now();
    let output = Output::create(args.out.as_deref(), &planned.plan, started)?;
    try_json(args.json.as_deref())?;
    let tools = Found {
        installed: std::mem::take(&mut planned.tools),
        missing: std::mem::take(&mut planned.no_reference),
        // What a user allows is for all; a budget of the profile is for our trials alone.
        most_s: args.budget.map(|_| tools_s(&planned.plan)),
    };
    let run = measure(begin(host, planned, started), tools, far.as_ref(), &output, &stop)?;
    finish(args.json.as_deref(), &run, &output)
}

/// The far end, if any network kernel is to run. Without a peer, whatever keeps this
/// machine from being its own far end costs the network kernels, not the run.
fn far_end(args: &RunArgs, host: &mut Host) -> Result<Option<Far>> {
    if !asks_for(args, Subsystem::Network)? {
        return match &args.peer {
            Some(_) => Err(Usage::error("--peer: no network kernel is to be measured")),
            None => Ok(None),
        };
    }
    let far = match &args.peer {
        Some(address) => Far::peer(args, address)
            .map_err(|e| Usage::error(format!("--peer: {e:#}")))
            .map(Some)?,
        None => Far::loopback().map_err(|e| host.network = Probe::missing(format!("{e:#}"))).ok(),
    };
    if let Some(far) = &far {
        host.network =
            Probe::known(far.network().clone(), "the far end, and this machine's routes");
    }
    Ok(far)
}

/// What a person should know before a folder in memory is measured as a disk.
fn no_disk(host: &Host, plan: &Plan) -> Option<String> {
    let storage = host.storage.get().filter(|s| s.kind == StorageKind::Memory)?;
    let on_disk = |p: &Point| find(&p.kernel).is_some_and(|k| k.disk_bytes(&p.params) > 0);
    plan.points.iter().any(on_disk).then(|| {
        format!(
            "proofmark: {} lies in memory ({}), which is no disk; name another folder with --disk-path",
            storage.path, storage.file_system
        )
    })
}

/// The run file before anything is measured.
fn begin(host: Host, planned: Planned, started: Timestamp) -> Run {
    let Planned { plan, findings, .. } = planned;
    let kernels: BTreeMap<_, _> = plan
        .points
        .iter()
        .filter_map(|p| find(&p.kernel))
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
        kernels,
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

fn measure(run: Run, tools: Found, far: Option<&Far>, output: &Output, stop: &Stop) -> Result<Run> {
    output.save(&run).with_context(|| format!("cannot write to {}", output.dir().display()))?;
    let plan = run.plan.clone();
    let longest = plan
        .points
        .iter()
        .filter_map(|p| Some(find(&p.kernel)?.trial_seconds(&p.params, &plan.policy)))
        .fold(plan.policy.trial_s, f64::max)
        .min(LONGEST_RUN.as_secs_f64());
    let largest_file =
        plan.points.iter().filter_map(|p| Some(find(&p.kernel)?.disk_bytes(&p.params))).max();
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
                + largest_file.unwrap_or(0) as f64 / SLOWEST_DISK,
        ),
        stop: stop.clone(),
        idle: Idle::default(),
    };
    let launcher = Served { far, session: session_for(&plan), workers: &workers };
    let progress = Progress::new(plan.points.len(), estimate(&plan).1 + tools_s(&plan));
    let most_s = tools.most_s;
    let tools = Tools::new(&plan, &tools.installed, tools.missing, (&machine, &launcher, stop));
    let tools = tools.within(most_s);
    let clock = tools.own_time();
    let mut recorder = Recorder::new(run, output, tools, progress);
    let schedule = Schedule { plan: &plan, find: &find, launcher: &launcher, clock: &clock, stop };
    let measurements = schedule.run(&mut recorder);
    let mut run = recorder.finish(&measurements);
    if let Some(reason) = far.and_then(Far::ended) {
        say(&format!(
            "proofmark: the session with the far end is over ({reason}); what was measured before it \
             ended is kept; look at `proofmark serve` there, and run again"
        ));
    }
    run.interrupted = stop.stopped_by();
    run.ended = Some(Timestamp::now());
    Ok(run)
}

/// This program's own file, which its children run; without /proc, as it was called.
pub fn own_program() -> Result<PathBuf> {
    std::env::current_exe().or_else(|e| {
        let called = std::env::args_os().next().map(PathBuf::from).unwrap_or_default();
        called.canonicalize().with_context(|| {
            format!("cannot find this program's own file ({e}); call it by its path")
        })
    })
}

/// The targets of the plan's subsystems: `2 %`, or `2 % (disk 5 %)`.
fn targets(plan: &Plan) -> String {
    let policy = &plan.policy;
    let mut text = format!("{} %", policy.target * 100.0);
    for (subsystem, target) in &policy.target_of {
        text += &format!(" ({subsystem} {} %)", target * 100.0);
    }
    text
}

/// The points of a plan and the time that they take.
fn dry_run(plan: &Plan) -> String {
    let policy = &plan.policy;
    let (least, most) = estimate(plan);
    let tools_s = tools_s(plan);
    let (least, most) = (least + tools_s, most + tools_s);
    let mut text = String::new();
    for (index, point) in plan.points.iter().enumerate() {
        let here = plan.references.iter().filter(|(_, all)| all.iter().any(|r| r.point == index));
        let names: Vec<_> = here.map(|(name, _)| name.as_str()).collect();
        text += &match names.is_empty() {
            true => format!("{point}\n"),
            false => format!("{point}  (beside it: {})\n", names.join(", ")),
        };
    }
    let trials = if policy.min_trials == policy.max_trials {
        format!("{} trials", policy.min_trials)
    } else {
        format!(
            "{} to {} trials, until the interval is within {}",
            policy.min_trials,
            policy.max_trials,
            targets(plan)
        )
    };
    text += &format!(
        "\n{} points of profile {}; {trials} each; about {} to {}\n",
        plan.points.len(),
        plan.profile,
        format_seconds(least),
        format_seconds(most)
    );
    text
}
