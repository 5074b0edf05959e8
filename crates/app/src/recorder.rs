//! Keeps a run while it goes on: on disk, on the terminal, and with the tools beside its points.

use proofmark_engine::{Clock, Left, Observer, Phase};
use proofmark_model::{Measurement, Run, Trial};

use crate::output::Output;
use crate::progress::Progress;
use crate::record::Record;
use crate::references::Tools;
use crate::samples::{SAMPLES_FILE, SampleLog};

/// Keeps the run up to date, on disk and on the terminal, and has the tools repeat its points.
pub struct Recorder<'a> {
    record: Record<'a>,
    tools: Tools<'a>,
    progress: Progress,
    log: SampleLog,
    /// Whether a failure to write a sample was told.
    told_of_samples: bool,
    /// Whether a failure to save was told; the run goes on without.
    told: bool,
}

impl<'a> Recorder<'a> {
    /// A recorder of a run that begins now.
    pub fn new(
        run: Run,
        output: &'a Output,
        clock: &'a dyn Clock,
        tools: Tools<'a>,
        progress: Progress,
    ) -> Self {
        Self {
            record: Record::new(run, output, clock),
            tools,
            progress,
            log: SampleLog::new(output.dir()),
            told_of_samples: false,
            told: false,
        }
    }

    /// Judges and saves what is known.
    fn keep(&mut self, measurements: &[Measurement]) {
        let tools = &self.tools;
        if let Err(e) = self.record.save(measurements, &|place, m| tools.fill(place, m)) {
            if !self.told {
                self.progress.say(&format!("cannot save the run ({e}); the run continues"));
            }
            self.told = true;
        }
    }

    /// The run with all that was measured.
    pub fn finish(mut self, measurements: &[Measurement]) -> Run {
        self.progress.finish();
        let tools = &self.tools;
        self.record.update(measurements, &|place, m| tools.fill(place, m));
        self.record.into_run()
    }
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
                if self.tools.has_reference(index) && self.record.is_affordable(measurements) {
                    self.keep(measurements);
                }
                self.tools.repeat(index, m, &|what| self.progress.beside(what, m))
            }
            _ => Left::Warm,
        };
        if matches!(phase, Phase::Trial | Phase::Done)
            && (done == measurements.len() || self.record.is_due(measurements))
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
