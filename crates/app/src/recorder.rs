//! Judges and keeps a run while it goes on.

use std::time::{Duration, Instant};

use proofmark_engine::{Left, Observer, Phase};
use proofmark_judge::judge_measurements;
use proofmark_model::{Ending, Measurement, Run, Trial};

use crate::output::Output;
use crate::progress::Progress;
use crate::references::Tools;
use crate::samples::{SAMPLES_FILE, SampleLog};

/// Longest time between two savings while trials are taken: what a `kill -9` costs at most.
const SAVE_EVERY: Duration = Duration::from_secs(1);

/// Judging and saving a long series takes time from what is measured: a hundredth at most. What
/// a `kill -9` costs then lies in the log of samples.
const SAVE_SHARE: u32 = 100;

/// Keeps the run up to date, on disk and on the terminal, and has the tools repeat its points.
pub struct Recorder<'a> {
    run: Run,
    output: &'a Output,
    tools: Tools<'a>,
    progress: Progress,
    saved: Instant,
    /// How long the last update and saving took.
    saving: Duration,
    log: SampleLog,
    /// Whether a failure to write a sample was told.
    told_of_samples: bool,
    /// Whether a failure to save was told; the run goes on without.
    told: bool,
}

impl<'a> Recorder<'a> {
    /// A recorder of a run that begins now.
    pub fn new(run: Run, output: &'a Output, tools: Tools<'a>, progress: Progress) -> Self {
        Self {
            run,
            output,
            tools,
            progress,
            saved: Instant::now(),
            saving: Duration::ZERO,
            log: SampleLog::new(output.dir()),
            told_of_samples: false,
            told: false,
        }
    }

    /// Takes over what has a trial or has ended, judged.
    fn update(&mut self, measurements: &[Measurement]) {
        let known: Vec<Measurement> = measurements
            .iter()
            .enumerate()
            .filter(|(_, m)| !m.trials.is_empty() || ended_by_itself(&m.ending))
            .map(|(index, m)| self.tools.fill(index, m.clone()))
            .collect();
        self.run.measurements = judged(&self.run, &known);
    }

    /// Judges and saves what is known.
    fn keep(&mut self, measurements: &[Measurement]) {
        let begun = Instant::now();
        self.update(measurements);
        self.save();
        self.saving = begun.elapsed();
    }

    /// How long the run file may be behind what is measured.
    fn save_every(&self, m: &Measurement) -> Duration {
        match m.series {
            Some(_) => SAVE_EVERY.max(self.saving * SAVE_SHARE),
            None => SAVE_EVERY,
        }
    }

    fn save(&mut self) {
        if let Err(e) = self.output.save(&self.run) {
            if !self.told {
                self.progress.say(&format!("cannot save the run ({e}); the run continues"));
            }
            self.told = true;
        }
        self.saved = Instant::now();
    }

    /// The run with all that was measured.
    pub fn finish(mut self, measurements: &[Measurement]) -> Run {
        self.progress.finish();
        self.update(measurements);
        self.run
    }
}

/// Whether a point without a trial is worth keeping: it has something to tell.
fn ended_by_itself(ending: &Ending) -> bool {
    matches!(ending, Ending::Crashed { .. } | Ending::Refused { .. } | Ending::Unverified { .. })
}

/// These measurements, judged as the run's.
pub fn judged(run: &Run, known: &[Measurement]) -> Vec<Measurement> {
    let mut all = known.to_vec();
    judge_measurements(run, &mut all);
    all
}

impl Observer for Recorder<'_> {
    fn step(
        &mut self,
        phase: Phase,
        measurements: &[Measurement],
        index: usize,
        done: usize,
    ) -> Left {
        let m = &measurements[index];
        self.progress.step(phase, m, done);
        let left = match phase {
            Phase::Done => {
                // Pairs take minutes: what was measured is not to wait for them.
                if self.tools.has_reference(index) {
                    self.keep(measurements);
                }
                self.tools.repeat(index, m, &|what| self.progress.beside(what, m))
            }
            _ => Left::Warm,
        };
        if matches!(phase, Phase::Trial | Phase::Done)
            && (done == measurements.len() || self.saved.elapsed() >= self.save_every(m))
        {
            self.keep(measurements);
        }
        left
    }

    fn sampled(&mut self, index: usize, m: &Measurement, at_s: f64, sample: &Trial) {
        if let Err(e) = self.log.add(index, at_s, sample) {
            if !self.told_of_samples {
                self.progress.say(&format!("cannot write {SAMPLES_FILE} ({e}); the run continues"));
            }
            self.told_of_samples = true;
        }
        self.progress.sampled(m, at_s, sample);
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use std::collections::BTreeMap;

    use proofmark_model::{Conditions, Params, Plan, Policy, SCHEMA, Timestamp, Tool, Trial};

    use super::*;

    /// `cpu.iops` at that rate, on so many threads; `throttled_s` in each of 6 trials of a second.
    fn measured(threads: u64, rate: f64, throttled_s: f64) -> Measurement {
        let spec = proofmark_workloads::find("cpu.iops").unwrap().spec();
        let params =
            Params::default().with("threads", threads).with("isa", "scalar").with("type", "i64");
        let trial = Trial {
            value: rate,
            seconds: 1.0,
            work: rate,
            moved: None,
            background: None,
            started: Timestamp::from_millis(0).unwrap(),
            conditions: Conditions { throttled_s: Some(throttled_s), ..Conditions::default() },
            device: None,
            file: None,
            network: None,
            solution: None,
        };
        let mut m = Measurement::new(spec, params);
        m.trials = vec![trial; 6];
        m.summary = proofmark_model::summarise(&[rate; 6]);
        m.ending = Ending::Complete;
        m
    }

    pub(crate) fn run() -> Run {
        let policy = Policy { min_trials: 6, max_trials: 6, ..Policy::default() };
        let spec = proofmark_workloads::find("cpu.iops").unwrap().spec();
        Run {
            schema: SCHEMA.into(),
            tool: Tool { version: String::new(), commit: None, build: String::new() },
            started: Timestamp::from_millis(0).unwrap(),
            ended: None,
            interrupted: None,
            imported: None,
            host: crate::machine::look(None),
            plan: Plan { profile: "test".to_owned(), policy, ..Plan::default() },
            workloads: BTreeMap::from([(spec.id.to_string(), spec.clone())]),
            measurements: Vec::new(),
            findings: Vec::new(),
        }
    }

    fn scaling_found(one_is_throttled: bool) -> bool {
        let throttled = if one_is_throttled { 0.9 } else { 0.0 };
        let known = [measured(1, 1e9, throttled), measured(2, 9e9, 0.0)];
        let judged = judged(&run(), &known);
        judged[1].findings.iter().any(|f| f.check == "scaling")
    }

    #[test]
    fn checks_that_compare_points_see_them_judged() {
        assert!(scaling_found(false), "nine times the rate with two threads");
        assert!(!scaling_found(true), "the one-thread point was itself throttled");
    }
}
