//! Carries out the plans of `run`, `endure` and `noise`: directory, signals, progress.

use std::path::Path;
use std::time::Duration;

use anyhow::{Context as _, Result, anyhow};
use proofmark_engine::Stop;
use proofmark_judge::{between_runs, judge};
use proofmark_model::{Host, Plan, PlannedSeries, Point, RawRun, StorageKind, Timestamp};
use proofmark_report::terminal;
use proofmark_run::{
    Deadline, Live, Machine, OutputBytes, Planned, RunFile as _, SpaceWatch, TryOut, announcements,
    begin, estimate, look_ahead, measure_here, needs, titles, tools_s, try_out,
};

use crate::cli::{HistoryFile, ResultFiles};
use crate::error::Outcome;
use crate::finish::{Printed, finish};
use crate::history_file;
use crate::output::{self, Output};
use crate::progress::Progress;
use crate::samples::{self, SampleLog};
use crate::signals;
use crate::system_limits::explained;
use crate::text::{say, say_left_out};
use crate::this_program::{STARTED, tool};

/// Prints skipped work, findings and warnings before a plan is carried out.
pub fn print_before_run(machine: &Machine, planned: &Planned) {
    for reason in planned.left_out.iter().chain(&planned.left_out_for_time) {
        say_left_out(reason);
    }
    for finding in &planned.findings {
        say(&format!("proofmark: {}", finding.message));
    }
    for line in announcements(&planned.plan, &machine.host) {
        say(&format!("proofmark: {line}"));
    }
    if let Some(line) = no_disk(&machine.host, &planned.plan) {
        say(&line);
    }
    if let Some(line) = machine.server.as_ref().and_then(|s| s.too_short(&planned.plan)) {
        say(&line);
    }
}

/// Returns the warning that the directory to measure as a disk is in memory.
fn no_disk(host: &Host, plan: &Plan) -> Option<String> {
    let storage = host.storage.get().filter(|s| s.kind == StorageKind::Memory)?;
    plan.points.iter().any(|point| needs(point).disk_bytes > 0).then(|| {
        format!(
            "proofmark: warning: {} is in memory ({}), not on a disk; name another directory with \
            --disk-path",
            storage.path, storage.file_system
        )
    })
}

/// The output of a run.
#[derive(Clone, Copy)]
pub struct Shown {
    /// Renders the results at the end.
    pub printed: Printed,
    /// True if the progress shows what takes time from the threads, round by round.
    pub live: bool,
    /// The wait for a quiet machine, which no time limit counts.
    pub waited: Duration,
}

impl Shown {
    /// The output of `run`: summary and findings.
    pub const RUN: Self = Self { printed: terminal::brief, live: false, waited: Duration::ZERO };
}

/// Measures, judges and reports a plan; measures nothing if the result could not be written.
pub fn carry_out(
    machine: Machine,
    planned: Planned,
    (results, history): (&ResultFiles, Option<&HistoryFile>),
    shown: Shown,
) -> Result<Outcome> {
    let Machine { host, server } = machine;
    let Planned { plan, findings, tools, ranks, .. } = planned;
    let stop = Stop::default();
    let stopper = stop.clone();
    // The second signal ends the run even if a tool or a worker hangs. Both end with it, by their
    // parent-death signal. The results so far are in the file saved last.
    signals::on_signals(move |signal| stopper.stop(signal)).context("cannot handle signals")?;
    let started = Timestamp::now();
    let output = Output::create(results, &plan, started)?;
    let watch = watch(&host, &plan, &output, &stop)?;
    let begun = begin(host, plan, findings, tool(), started);
    let run = RawRun { label: results.label.clone(), ..begun };
    let earlier = history.map_or_else(Vec::new, |history| history_file::earlier(&run, history));
    let run = RawRun { between_runs: between_runs(&run, &earlier), ..run };
    output
        .save(&judge(&run))
        .with_context(|| format!("cannot write to {}", output.dir().display()))?;
    let takes_s = estimate(&run.plan).1 + tools_s(&run.plan);
    let titles = titles(&run.plan, run.host.limits.usable_cpus.len() as u64);
    let progress = Progress::new(titles, run.plan.points.len(), takes_s, shown.live);
    let report = |line: &str| progress.say(&explained(line));
    let ahead_s = STARTED.elapsed().saturating_sub(shown.waited).as_secs_f64();
    let deadline = ranks.map(|ranks| Deadline { ahead_s, ranks });
    let live = Live {
        server: server.as_ref(),
        stop: &stop,
        file: &output,
        print_line: &report,
        deadline: deadline.as_ref(),
    };
    let mut samples = SampleLog::new(output.dir(), &report);
    let run = measure_here(run, tools, &live, &mut [&mut &progress, &mut samples])?;
    progress.finish();
    if let Some(reason) = server.as_ref().and_then(|s| s.ended_after(&run.measurements)) {
        say(&format!(
            "proofmark: the session with the server ended ({reason}); earlier results are kept; \
            check `proofmark serve` there, then run again"
        ));
    }
    if let Some(line) = watch.as_ref().and_then(SpaceWatch::found) {
        say(&format!("proofmark: {line}"));
    }
    finish(results, &run, (&output, history), shown.printed)
}

/// Prints how much a series will write, and watches the disks that it writes to.
fn watch(host: &Host, plan: &Plan, output: &Output, stop: &Stop) -> Result<Option<SpaceWatch>> {
    let on_disk = |series: &PlannedSeries| {
        plan.points.get(series.point).map_or(0, |point| needs(point).disk_bytes) > 0
    };
    let disk = host.storage.get().map(|s| Path::new(&s.path));
    let disk = disk.filter(|_| plan.series.iter().any(on_disk));
    let needs =
        OutputBytes { samples: samples::estimate(plan), at_the_end: output::room(plan) as u64 };
    let try_out = |point: &Point| try_out(host, plan, stop, point);
    let writes = disk.map(|disk| (disk, &try_out as TryOut));
    let lines = look_ahead(plan, needs, output.dir(), writes).map_err(|why| {
        output.discard();
        anyhow!(why)
    })?;
    lines.iter().for_each(|line| say(&format!("proofmark: {line}")));
    let watch = || SpaceWatch::begin(output.dir(), needs.at_the_end, disk, stop.clone());
    let watch = (!lines.is_empty()).then(watch).transpose();
    watch.context("cannot start a thread")
}
