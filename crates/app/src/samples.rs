//! The raw samples of series, in `samples.jsonl` of the run's folder: what a crash leaves.
//!
//! A JSON object a line, written and flushed when the sample is taken:
//!
//! - `point`: place of the point in the plan, from 0;
//! - `at_s`: when the sample began, in seconds after the first one of its point did;
//! - `value`, `seconds`, `work`, `started`, and `verified`, `moved`, `background`, `conditions`, `device`,
//!   `file`, `network`, `solution`: those of a trial in the run file. What is not known is left
//!   out: `{"point":0,"at_s":12.0,"value":6.4e10,"conditions":{"clock_hz":3.4e9},...}`.
//!
//! The run file is saved more and more seldom the longer a series is, since a save takes time
//! from what is measured. So [`complete`] reads the samples of a run that did not end by itself
//! from here. A line that is torn or holds no sample is left out.

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

/// Longest line, in bytes: a longer one is written without its streams' state, and is not read.
const LONGEST_LINE: usize = 16 << 10;

/// Bytes of a line, about: what a line of one thread or stream takes, and each further one.
const LINE: u64 = 1 << 10;
const LINE_A_THREAD: u64 = 128;

/// Most bytes that are read of a file: years of samples.
const LARGEST: u64 = 16 << 30;

#[derive(Debug, Serialize, Deserialize)]
struct Line {
    point: usize,
    at_s: f64,
    #[serde(flatten)]
    trial: Trial,
}

/// Bytes that the samples of a plan take, about, and a little more rather than less.
pub fn estimate(plan: &Plan) -> u64 {
    let bytes = |series: &PlannedSeries| {
        let threads = plan.points.get(series.point).map_or(1, |p| p.params.threads());
        let line = LINE + LINE_A_THREAD * threads.saturating_sub(1);
        (series.for_s / series.every_s).ceil() as u64 * line.min(LONGEST_LINE as u64)
    };
    plan.series.iter().map(bytes).sum()
}

pub struct SampleLog<'a> {
    path: PathBuf,
    file: Option<File>,
    /// Whether the last line may be torn.
    torn: bool,
    tell: &'a dyn Fn(&str),
    /// Whether a failure to write was reported; the run goes on without.
    has_failed: bool,
}

impl<'a> SampleLog<'a> {
    /// Into that folder, as soon as there is a sample.
    pub fn new(folder: &Path, tell: &'a dyn Fn(&str)) -> Self {
        let path = folder.join(SAMPLES_FILE);
        Self { path, file: None, torn: false, tell, has_failed: false }
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
            (self.tell)(&format!("cannot write {SAMPLES_FILE} ({e}); the run continues"));
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

/// Completes a run that did not end by itself with the samples that its folder holds beyond
/// those of the run file. A run without a series is left as it is.
pub fn complete(run: &mut RawRun, folder: &Path) {
    if run.ended.is_some() || run.imported.is_some() || run.plan.series.is_empty() {
        return;
    }
    let path = folder.join(SAMPLES_FILE);
    // A pipe would wait for its other end for ever.
    let file = path.metadata().is_ok_and(|m| m.is_file()).then(|| File::open(&path));
    let Some(Ok(file)) = file else { return };
    let mut all: Vec<Restored> =
        run.plan.series.iter().filter_map(|s| Restored::of(run, s)).collect();
    read(file, &mut all);
    let mut known = std::mem::take(&mut run.measurements);
    for restored in all {
        restored.put(run, &mut known);
    }
    run.measurements = known;
}

/// A series as the lines have it.
struct Restored {
    planned: PlannedSeries,
    samples: Samples,
    /// With the first sample.
    series: Option<RawSeries>,
    trials: Vec<Trial>,
}

impl Restored {
    /// Nothing yet; `None` for a point that is not of the plan or of no workload of the run.
    fn of(run: &RawRun, planned: &PlannedSeries) -> Option<Self> {
        let workload = &run.plan.points.get(planned.point)?.workload;
        let samples = Samples::new(run.workloads.get(workload)?.unit);
        Some(Self { planned: planned.clone(), samples, series: None, trials: Vec::new() })
    }

    fn add(&mut self, trial: Trial) {
        let begin = || Samples::begin(&self.planned, trial.started);
        let series = self.series.get_or_insert_with(begin);
        self.samples.add(series, &mut self.trials, trial);
    }

    /// Puts it into the measurement of its point, if that has fewer samples and was not finished.
    fn put(self, run: &RawRun, known: &mut Vec<RawMeasurement>) {
        let (Some(series), Some(point)) = (self.series, run.plan.points.get(self.planned.point))
        else {
            return;
        };
        // The same point may be in the run a second time, measured in trials.
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
        // A sample took time and did work: what a stranger wrote need not have.
        let Trial { value, seconds, work, .. } = line.trial;
        let sound = [value, seconds, work].iter().all(|v| v.is_finite() && *v > 0.0);
        if let Some(restored) = restored.filter(|_| line.at_s.is_finite() && sound) {
            restored.add(line.trial);
        }
    }
}

#[cfg(test)]
mod tests;
