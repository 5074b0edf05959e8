//! Judges and keeps a run while it goes on.

use std::time::{Duration, Instant};

use proofmark_engine::{Observer, Phase};
use proofmark_judge::{Context, judge};
use proofmark_model::{Ending, Measurement, Run};

use crate::output::Output;
use crate::progress::Progress;

/// Longest time between two savings while trials are taken: what a `kill -9` costs at most.
const SAVE_EVERY: Duration = Duration::from_secs(1);

/// Keeps the run up to date, on disk and on the terminal.
pub struct Recorder<'a> {
    run: Run,
    output: &'a Output,
    progress: Progress,
    saved: Instant,
    /// Whether a failure to save was told; the run goes on without.
    told: bool,
}

impl<'a> Recorder<'a> {
    /// A recorder of a run that begins now.
    pub fn new(run: Run, output: &'a Output, progress: Progress) -> Self {
        Self { run, output, progress, saved: Instant::now(), told: false }
    }

    /// Takes over what has a trial or has ended, judged.
    fn update(&mut self, measurements: &[Measurement]) {
        let known: Vec<Measurement> = measurements
            .iter()
            .filter(|m| !m.trials.is_empty() || ended_by_itself(&m.ending))
            .cloned()
            .collect();
        self.run.measurements = judged(&self.run, &known);
    }

    fn save(&mut self) {
        self.saved = Instant::now();
        if let Err(e) = self.output.save(&self.run) {
            if !self.told {
                self.progress.say(&format!("cannot save the run ({e}); measuring goes on"));
            }
            self.told = true;
        }
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

/// Every measurement judged in the light of the others. Twice, because checks that
/// compare points must know how the other point was judged.
fn judged(run: &Run, known: &[Measurement]) -> Vec<Measurement> {
    let once = |others: &[Measurement]| -> Vec<Measurement> {
        others
            .iter()
            .map(|m| match run.kernels.get(&m.kernel) {
                None => m.clone(),
                Some(spec) => {
                    let (host, policy) = (&run.host, &run.plan.policy);
                    judge(&Context { host, spec, policy, others }, m.clone())
                }
            })
            .collect()
    };
    once(&once(known))
}

impl Observer for Recorder<'_> {
    fn step(&mut self, phase: Phase, measurements: &[Measurement], index: usize, done: usize) {
        self.progress.step(phase, &measurements[index], done);
        if phase != Phase::Warm
            && (done == measurements.len() || self.saved.elapsed() >= SAVE_EVERY)
        {
            self.update(measurements);
            self.save();
        }
    }
}
