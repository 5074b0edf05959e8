//! `proofmark run --repeat`: whole runs, spread over time.
//!
//! Each run is a process of its own, with the arguments that the user typed: a crash costs one run, and
//! each run has its own time limit. Between the runs this process sleeps. During one it waits for the
//! run's output to end, and wakes four times a second for signals.

mod folder;
mod timing;

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, anyhow};
use proofmark_engine::Stop;
use proofmark_model::{Run, Timestamp, Verdict, format_seconds};
use proofmark_process::{ChildProcess, Exit, Line, StartOptions, Stream};
use proofmark_run::own_program;

use crate::cli::{Repeat, ResultFiles};
use crate::error::{Code, Outcome, usage};
use crate::output::new_folder;
use crate::signals;
use crate::text::say;
use crate::this_program::tool;
use folder::{Found, REPEAT_FILE, Repeated};
use timing::Timing;

/// Time that a stopped run has to save and report what it measured.
const GRACE: Duration = Duration::from_secs(30);
/// Time between two looks at the signals.
const STEP: Duration = Duration::from_millis(250);
/// Longest line of a run's output, which is not shown.
const LONGEST_LINE: usize = 1 << 16;
/// Runs in a row that may fail: after these the others would, too.
const MOST_FAILURES: u32 = 3;

/// Several runs that were asked for, before the first.
pub(super) struct Asked {
    timing: Timing,
    run_s: f64,
}

impl Asked {
    /// Reads the options, for runs of so many seconds; `None` for one run.
    pub(super) fn new(options: &Repeat, results: &ResultFiles, run_s: f64) -> Result<Option<Self>> {
        let Some(timing) = Timing::new(options, run_s)? else { return Ok(None) };
        if results.json.is_some() {
            return Err(usage(
                "--json is of one run; with --repeat each directory has its run.json",
            ));
        }
        Ok(Some(Self { timing, run_s }))
    }

    /// Describes number, distance and duration.
    pub(super) fn words(&self) -> String {
        self.timing.words(self.run_s)
    }

    /// Carries out all runs.
    pub(super) fn carry_out(&self, out: Option<&Path>) -> Result<Outcome> {
        let repeated = Repeated::new(tool(), self.timing, typed()?)?;
        let dir = match out {
            Some(dir) => {
                folder::create(dir)?;
                dir.to_path_buf()
            }
            None => new_folder("proofmark", Path::new(""), Timestamp::now())?,
        };
        repeated.save(&dir)?;
        say(&format!("proofmark: {}", self.words()));
        all_runs(&repeated, &dir, self.run_s)
    }
}

/// The arguments after the word `run`. A file keeps them, so they must be UTF-8.
fn typed() -> Result<Vec<String>> {
    let text = |argument: OsString| {
        argument.into_string().map_err(|argument| {
            usage(format!("'{}' is not UTF-8, as --repeat needs", argument.to_string_lossy()))
        })
    };
    std::env::args_os().skip(2).map(text).collect()
}

/// Carries out those runs of a directory that did not end.
pub(super) fn resume(dir: &Path) -> Result<Outcome> {
    let repeated = Repeated::read(dir)?;
    if let Some([was, is]) = repeated.tool.differing(&tool()) {
        return Err(usage(format!(
            "--resume: the runs in that directory are of proofmark {was}, this is proofmark {is}"
        )));
    }
    let dir = std::path::absolute(dir).context("cannot determine the current directory")?;
    all_runs(&repeated, &dir, f64::NAN)
}

/// Seconds of the run, from its own start and end.
fn seconds(run: &Run) -> Option<f64> {
    Some(run.ended?.since(run.started)).filter(|s| *s > 0.0)
}

/// The runs of a directory while they are carried out.
struct Runs<'a> {
    repeated: &'a Repeated,
    dir: &'a Path,
    stop: Stop,
    /// Expected seconds of a run: of the plan, or of the last run that ended.
    run_s: f64,
    /// Start of the last run of this process.
    last: Option<Instant>,
}

fn all_runs(repeated: &Repeated, dir: &Path, run_s: f64) -> Result<Outcome> {
    let stop = Stop::default();
    let stopper = stop.clone();
    signals::on_signals(move |signal| stopper.stop(signal)).context("cannot handle signals")?;
    let mut runs = Runs { repeated, dir, stop, run_s, last: None };
    let open = runs.open()?;
    let (mut failures, mut status) = (0, Outcome::Done);
    for (place, number) in open.iter().copied().enumerate() {
        if !runs.wait(number, (open.len() - place) as u32) {
            return Ok(runs.stopped());
        }
        match runs.carry_out(number)? {
            None => return Ok(runs.stopped()),
            Some(Exit::Status(code)) if code == Code::Done as i32 => failures = 0,
            Some(Exit::Status(code)) if code == Code::Invalid as i32 => {
                failures = 0;
                // A run that failed is worse.
                status = if status == Outcome::Done { Outcome::Invalid } else { status };
            }
            // The run has said what is wrong with the arguments.
            Some(Exit::Status(code)) if code == Code::Usage as i32 => {
                return Ok(Outcome::Status(code));
            }
            Some(exit) => {
                (failures, status) = (failures + 1, Outcome::Failed);
                say(&format!("proofmark: run {number} {exit}"));
                if failures == MOST_FAILURES {
                    return Err(anyhow!(
                        "{MOST_FAILURES} runs in a row failed; {}",
                        runs.how_to_continue()
                    ));
                }
            }
        }
    }
    finish(repeated, dir, status)
}

impl Runs<'_> {
    /// Returns the numbers of the runs that did not end, and prints how many did.
    fn open(&mut self) -> Result<Vec<u32>> {
        let mut open = Vec::new();
        let mut done = 0;
        for number in 1..=self.repeated.timing.runs {
            let own = self.repeated.run_directory(self.dir, number);
            match folder::find(&own) {
                Found::Ended(run) => {
                    done += 1;
                    self.run_s = seconds(&run).unwrap_or(self.run_s);
                    continue;
                }
                Found::Absent => {}
                Found::Stopped => {
                    if let Some(kept) = folder::move_aside(&own)? {
                        say(&format!(
                            "proofmark: run {number} was stopped; kept in {}",
                            kept.display()
                        ));
                    }
                }
            }
            open.push(number);
        }
        if done > 0 {
            say(&format!("proofmark: {done} of {} runs are done", self.repeated.timing.runs));
        }
        Ok(open)
    }

    /// Waits until a run is to begin, and prints when all end. Returns false if a signal came.
    fn wait(&mut self, number: u32, left: u32) -> bool {
        let Timing { runs, every } = self.repeated.timing;
        let pause = |last: Instant| every.unwrap_or_default().saturating_sub(last.elapsed());
        let wait = self.last.map_or(Duration::ZERO, pause);
        let left_s = self.repeated.timing.left_s(left, wait, self.run_s);
        let mut line = format!("proofmark: run {number} of {runs}");
        if wait > STEP {
            line += &format!(" begins in {}", format_seconds(wait.as_secs_f64()));
        }
        if left_s.is_finite() {
            let end = Timestamp::now().after(left_s);
            line +=
                &end.map_or_else(String::new, |e| format!("; the last ends about {}", e.display()));
        }
        say(&line);
        let begun = Instant::now();
        while begun.elapsed() < wait && self.stop.stopped_by().is_none() {
            std::thread::sleep(STEP.min(wait.saturating_sub(begun.elapsed())));
        }
        self.last = Some(Instant::now());
        self.stop.stopped_by().is_none()
    }

    /// Carries out one run; `None` if a signal stopped it.
    fn carry_out(&mut self, number: u32) -> Result<Option<Exit>> {
        let own = self.repeated.run_directory(self.dir, number);
        // The run's directory counts from the one in which the user typed, as other paths do.
        let out = std::path::absolute(&own).context("cannot determine the current directory")?;
        let mut command = Command::new(own_program()?);
        command.args(["run", "--for-repeat"]).arg(&out).args(&self.repeated.arguments);
        command.current_dir(&self.repeated.directory);
        let options = StartOptions {
            output: Stream::Lines(LONGEST_LINE),
            errors: Stream::Inherited,
            grace: GRACE,
            ..StartOptions::default()
        };
        let begun = Instant::now();
        let mut child = ChildProcess::start(&mut command, options)
            .with_context(|| format!("cannot start run {number}"))?;
        loop {
            if self.stop.stopped_by().is_some() {
                child.end(GRACE);
                return Ok(None);
            }
            if matches!(child.line(STEP), Line::End) {
                break;
            }
        }
        let exit = child.wait(GRACE).map(|ended| ended.exit);
        let exit = exit.ok_or_else(|| anyhow!("run {number} closed its output and did not end"))?;
        if exit.is_success() {
            self.run_s = begun.elapsed().as_secs_f64();
        }
        // A signal for the whole terminal may have reached the run first.
        Ok((self.stop.stopped_by().is_none()).then_some(exit))
    }

    fn how_to_continue(&self) -> String {
        format!("what ended is kept; to continue: proofmark run --resume {}", self.dir.display())
    }

    fn stopped(&self) -> Outcome {
        say(&format!("proofmark: stopped; {}", self.how_to_continue()));
        let signal = self.stop.stopped_by();
        Outcome::Stopped(signal.as_deref().and_then(signals::number).unwrap_or(2))
    }
}

/// Returns the runs that ended in a directory of `run --repeat`; `None` for another one.
pub(super) fn ended_runs(dir: &Path) -> Option<Result<Vec<PathBuf>>> {
    dir.join(REPEAT_FILE).is_file().then(|| Repeated::read(dir)?.ended_runs(dir))
}

/// Reports all runs that ended together.
fn finish(repeated: &Repeated, dir: &Path, status: Outcome) -> Result<Outcome> {
    let verdict = super::group::report_all(dir, &repeated.ended_runs(dir)?)?;
    Ok(match status {
        Outcome::Done if verdict == Some(Verdict::Invalid) => Outcome::Invalid,
        status => status,
    })
}
