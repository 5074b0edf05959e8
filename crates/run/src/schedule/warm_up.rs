//! Warm-up of configurations whose trials are not cut into slices.

use proofmark_engine::{Request, Session, Workload};
use proofmark_model::Ending;

use super::State;
use crate::event::Event;
use crate::steady::{AGREEING, is_steady};

/// Timed seconds after which a configuration is warm: a longer trial becomes steady within itself.
const WARM_S: f64 = 2.0;

/// Number of warm-up trials of so many seconds each.
pub fn warm_trials(seconds: f64) -> f64 {
    (WARM_S / seconds).ceil().clamp(1.0, AGREEING as f64)
}

/// Estimated seconds of the warm-up trials; none where each trial has its own warm-up.
pub fn warm_up_s(workload: &dyn Workload, turn_s: f64) -> f64 {
    let has_slices = workload.spec().work.cut().has_slices();
    if has_slices { 0.0 } else { turn_s * warm_trials(turn_s) }
}

impl State<'_, '_, '_> {
    /// Takes the warm-up trials of a configuration.
    pub(super) fn warm(&mut self, place: usize, session: &mut dyn Session) -> Result<(), Ending> {
        if self.has_slices(place) {
            return Ok(());
        }
        let target = self.policy().target_for(self.measurements[place].subsystem);
        self.limit_waiting(place);
        let mut begun = self.means.clock.now();
        warm_up(session, target, |values| {
            self.measurements[place].warmup = values.to_vec();
            self.notify(Event::Warm, place);
            let now = self.means.clock.now();
            self.note_warm_up(place, now - std::mem::replace(&mut begun, now));
            self.has_time_for(place)
        })
    }
}

/// Takes warm-up trials until they are steady; `seen` gets the values so far and may end it.
pub(super) fn warm_up(
    session: &mut dyn Session,
    target: f64,
    mut seen: impl FnMut(&[f64]) -> Result<(), Ending>,
) -> Result<(), Ending> {
    let (mut values, mut warm_s) = (Vec::new(), 0.0);
    while warm_s < WARM_S && !is_steady(&values, target) {
        let trial = session.take(Request::Warm)?.trial;
        warm_s += trial.seconds;
        values.push(trial.value);
        seen(&values)?;
    }
    Ok(())
}
