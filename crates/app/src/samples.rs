//! The log of a series' raw samples, `samples.jsonl` in the run's directory, which survives a
//! crash.
//!
//! Each line is a JSON object, written and flushed when the sample is taken:
//!
//! - `point`: index of the configuration in the plan, from 0;
//! - `at_s`: start of the sample, in seconds after the start of the first one of its configuration;
//! - `value`, `seconds`, `work`, `started`, and `verified`, `moved`, `background`, `conditions`,
//!   `device`, `file`, `network`, `solution`: those of a trial in the run file. Unknown values are
//!   left out: `{"point":0,"at_s":12.0,"value":6.4e10,"conditions":{"clock_hz":3.4e9},...}`.
//!
//! The longer a series, the less often the run file is saved, since a save takes time from the
//! measurement. So [`complete`] reads the samples of an interrupted run from this log. It skips
//! lines that are incomplete or no sample.

use std::fs::File;
use std::io::{self, BufRead as _, BufReader, Read, Write as _};
use std::path::{Path, PathBuf};

use proofmark_engine::Samples;
use proofmark_model::{Ending, Plan, PlannedSeries, RawMeasurement, RawRun, RawSeries, Trial};
use proofmark_run::{Event, Observer, Step};
use proofmark_workloads::find;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::writer::append_new;

/// Name of the file in a run's folder.
pub const SAMPLES_FILE: &str = "samples.jsonl";

/// Maximum bytes of a line that is read. A longer one is written without its streams' state.
const LONGEST_LINE: usize = 16 << 10;

/// Approximate bytes of a line: with one thread or stream, and per further one.
const LINE: u64 = 1 << 10;
const LINE_PER_THREAD: u64 = 128;

/// Maximum bytes that are read of a file: years of samples.
const LARGEST: u64 = 16 << 30;

#[derive(Debug, Serialize, Deserialize)]
struct Line {
    point: usize,
    at_s: f64,
    #[serde(flatten)]
    trial: Trial,
}

/// Estimates the bytes of a plan's samples, rather too many than too few.
pub fn estimate(plan: &Plan) -> u64 {
    let bytes = |series: &PlannedSeries| {
        let threads = plan.points.get(series.point).map_or(1, |p| p.params.threads());
        let line = LINE + LINE_PER_THREAD * threads.saturating_sub(1);
        (series.for_s / series.every_s).ceil() as u64 * line.min(LONGEST_LINE as u64)
    };
    plan.series.iter().map(bytes).sum()
}

pub struct SampleLog<'a> {
    path: PathBuf,
    file: Option<File>,
    /// True if the last line may be incomplete.
    torn: bool,
    report: &'a dyn Fn(&str),
    /// True if a failed write was reported. The run continues without the log.
    has_failed: bool,
}

impl<'a> SampleLog<'a> {
    /// Writes into that directory, from the first sample on. `report` prints a failure.
    pub fn new(folder: &Path, report: &'a dyn Fn(&str)) -> Self {
        let path = folder.join(SAMPLES_FILE);
        Self { path, file: None, torn: false, report, has_failed: false }
    }

    fn add(&mut self, point: usize, at_s: f64, sample: &Trial) -> io::Result<()> {
        let mut text = line(point, at_s, sample)?;
        if self.torn {
            text.insert(0, '\n');
        }
        let file = match &mut self.file {
            Some(file) => file,
            none => {
                let file = append_new(&self.path)?;
                none.insert(file)
            }
        };
        // One write, so that a kill leaves a whole line or none.
        let written = file.write_all(text.as_bytes()).and_then(|()| file.flush());
        self.torn = written.is_err();
        written
    }
}

impl Observer for SampleLog<'_> {
    fn observe(&mut self, step: &Step) {
        if let Event::Sample { at_s, trial } = step.event
            && let Err(e) = self.add(step.place, at_s, trial)
            && !std::mem::replace(&mut self.has_failed, true)
        {
            (self.report)(&format!("cannot write {SAMPLES_FILE} ({e}); the run continues"));
        }
    }
}

fn line(point: usize, at_s: f64, sample: &Trial) -> io::Result<String> {
    let text = |trial: Trial| {
        let mut value = serde_json::to_value(Line { point, at_s, trial })?;
        drop_nulls(&mut value);
        serde_json::to_string(&value).map(|text| text + "\n")
    };
    let whole = text(sample.clone())?;
    if whole.len() <= LONGEST_LINE {
        return Ok(whole);
    }
    let mut short = sample.clone();
    if let Some(network) = &mut short.network {
        network.streams.clear();
    }
    Ok(text(short)?)
}

fn drop_nulls(value: &mut Value) {
    if let Value::Object(map) = value {
        map.retain(|_, v| !v.is_null());
        map.values_mut().for_each(drop_nulls);
    }
}

/// Adds to an interrupted run the samples that its directory has beyond the run file's. A run
/// without a series stays unchanged.
pub fn complete(run: &mut RawRun, folder: &Path) {
    if run.ended.is_some() || run.imported.is_some() || run.plan.series.is_empty() {
        return;
    }
    let path = folder.join(SAMPLES_FILE);
    // To open a pipe would wait for its writer.
    let file = path.metadata().is_ok_and(|m| m.is_file()).then(|| File::open(&path));
    let Some(Ok(file)) = file else { return };
    let mut all: Vec<Restored> =
        run.plan.series.iter().filter_map(|s| Restored::from_plan(run, s)).collect();
    read(file, &mut all);
    let mut known = std::mem::take(&mut run.measurements);
    for restored in all {
        restored.put(run, &mut known);
    }
    run.measurements = known;
}

/// A series restored from the log.
struct Restored {
    planned: PlannedSeries,
    samples: Samples,
    /// Set by the first sample.
    series: Option<RawSeries>,
    trials: Vec<Trial>,
}

impl Restored {
    /// Starts without samples. `None` for a configuration that the plan lacks or of no workload of
    /// the run.
    fn from_plan(run: &RawRun, planned: &PlannedSeries) -> Option<Self> {
        let workload = &run.plan.points.get(planned.point)?.workload;
        let samples = Samples::new(run.workloads.get(workload)?.unit);
        Some(Self { planned: planned.clone(), samples, series: None, trials: Vec::new() })
    }

    fn add(&mut self, trial: Trial) {
        let begin = || Samples::begin(&self.planned, trial.started);
        let series = self.series.get_or_insert_with(begin);
        self.samples.add(series, &mut self.trials, trial);
    }

    /// Replaces the samples of the unfinished measurement of its configuration, if that has fewer.
    fn put(self, run: &RawRun, known: &mut Vec<RawMeasurement>) {
        let (Some(series), Some(point)) = (self.series, run.plan.points.get(self.planned.point))
        else {
            return;
        };
        // The run may have the same configuration a second time, measured in trials.
        let planned =
            |s: &RawSeries| s.for_s == self.planned.for_s && s.every_s == self.planned.every_s;
        let place = known
            .iter()
            .position(|m| m.series.as_ref().is_some_and(planned) && m.point() == *point);
        let Some(spec) = run.workloads.get(&point.workload) else { return };
        let place = place.unwrap_or_else(|| {
            known.push(RawMeasurement::new(spec, point.params.clone()));
            known.len() - 1
        });
        let m = &mut known[place];
        let has = m.series.as_ref().map_or(0, |s| s.samples);
        if m.ending != Ending::Unfinished || has >= series.samples {
            return;
        }
        m.counted_by = find(&m.workload).map(|workload| workload.verification().to_owned());
        m.trials = self.trials;
        m.series = Some(series);
    }
}

/// Reads the lines that are samples of these series.
fn read(file: impl Read, all: &mut [Restored]) {
    let mut file = BufReader::new(file.take(LARGEST));
    let mut line = Vec::new();
    loop {
        line.clear();
        let read = file.by_ref().take(LONGEST_LINE as u64 + 1).read_until(b'\n', &mut line);
        if !matches!(read, Ok(n) if n > 0) {
            return;
        }
        let Ok(line) = serde_json::from_slice::<Line>(&line) else { continue };
        let restored = all.iter_mut().find(|r| r.planned.point == line.point);
        // A sample took time and did work. Untrusted input may claim otherwise.
        let Trial { value, seconds, work, .. } = line.trial;
        let sound = [value, seconds, work].iter().all(|v| v.is_finite() && *v > 0.0);
        if let Some(restored) = restored.filter(|_| line.at_s.is_finite() && sound) {
            restored.add(line.trial);
        }
    }
}

#[cfg(test)]
mod tests;
