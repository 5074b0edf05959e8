//! Keeps the run file up to date while a run goes on.

use proofmark_engine::Clock;
use proofmark_model::{Measurement, Run};

use crate::event::{Event, Observer, Step};
use crate::record::{Record, RunFile};

/// Judges and saves what is known.
pub(crate) struct Recorder<'a> {
    record: Record<'a>,
    /// Says a line to the user.
    tell: &'a dyn Fn(&str),
    /// Whether a failure to save was reported; the run goes on without.
    has_failed: bool,
}

impl<'a> Recorder<'a> {
    /// Of a run that begins now.
    pub(crate) fn new(
        run: Run,
        file: &'a dyn RunFile,
        clock: &'a dyn Clock,
        tell: &'a dyn Fn(&str),
    ) -> Self {
        Self { record: Record::new(run, file, clock), tell, has_failed: false }
    }

    /// The run with all that was measured, judged.
    pub(crate) fn finish(mut self, measurements: &[Measurement]) -> Run {
        self.record.update(measurements);
        self.record.into_run()
    }
}

impl Observer for Recorder<'_> {
    fn observe(&mut self, step: &Step) {
        let is_due = match step.event {
            Event::SetUp | Event::Warm => false,
            Event::Trial | Event::Sample { .. } | Event::Done => {
                self.record.is_due(step.measurements)
            }
            // Pairs take minutes: what was measured is not to wait for them.
            Event::Pair { turn: 1, .. } => true,
            Event::Pair { .. } => self.record.is_affordable(step.measurements),
        };
        if is_due
            && let Err(e) = self.record.save(step.measurements)
            && !std::mem::replace(&mut self.has_failed, true)
        {
            (self.tell)(&format!("cannot save the run ({e}); the run continues"));
        }
    }
}
