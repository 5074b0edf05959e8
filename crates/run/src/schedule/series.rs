//! A configuration over time: a sample at each tick, by a clock that does not drift.
//!
//! Ticks are on a grid from the first start on. So sample 86,400 of a day begins when the day ends,
//! however long each took. If a slow machine ends a sample after the next tick, the schedule skips
//! that tick instead of moving all later ones. Samples follow each other without a pause: see
//! `worker::span`.

use proofmark_engine::{Request, Samples, Session, Taken};
use proofmark_model::{Ending, PlannedSeries, Timestamp, Trial};

use super::State;
use crate::event::Event;

/// Parts of a sample: enough to end near a tick on a machine that became five times slower.
const PARTS: f64 = 10.0;
/// Minimum and maximum seconds of a part. The time between two is up to a millisecond.
const PART_S: [f64; 2] = [0.02, 0.25];

/// Returns the seconds of one part, for samples that begin every `every_s` seconds.
fn part_s(every_s: f64) -> f64 {
    (every_s / PARTS).clamp(PART_S[0], PART_S[1])
}

/// Returns the end of a sample that begins at `at_s`: the next tick that is at least half a tick
/// away.
fn next_tick(at_s: f64, every_s: f64) -> f64 {
    ((at_s / every_s + 0.5).floor() + 1.0) * every_s
}

impl State<'_, '_, '_> {
    /// Samples a configuration for as long as the plan requires.
    pub(super) fn endure(&mut self, place: usize, planned: &PlannedSeries) {
        let begun = self.means.clock.now();
        let ending = match self.set_up(place) {
            Ok(mut session) => match self.warm(place, session.as_mut()) {
                Ok(()) => self.samples(place, planned, session.as_mut()),
                Err(ending) => ending,
            },
            Err(ending) => ending,
        };
        self.away_s += self.means.clock.now() - begun;
        self.end(place, ending);
        self.take_pairs(place);
    }

    /// Takes samples until the time is over. Returns how the series ended.
    fn samples(
        &mut self,
        place: usize,
        planned: &PlannedSeries,
        session: &mut dyn Session,
    ) -> Ending {
        let every_s = planned.every_s.max(1e-3);
        let for_s = self.series_s(place, planned);
        let begun = self.means.clock.now();
        let mut samples = Samples::new(self.measurements[place].unit);
        self.measurements[place].series = Some(Samples::begin(planned, Timestamp::now()));
        loop {
            if let Some(ending) = self.stopped() {
                return ending;
            }
            let at_s = self.means.clock.now() - begun;
            // Less than half a tick is too short for a sample.
            if at_s + 0.5 * every_s >= for_s && at_s > 0.0 {
                let is_whole = for_s >= planned.for_s;
                return if is_whole { Ending::Complete } else { Ending::Budget };
            }
            let until_s = next_tick(at_s, every_s).min(for_s.max(every_s));
            let micros = |s: f64| (s * 1e6) as u64;
            let request =
                Request::Span { part_us: micros(part_s(every_s)), span_us: micros(until_s - at_s) };
            self.limit_waiting(place);
            let Taken { mut trial, latency } = match session.take(request) {
                Ok(taken) => taken,
                Err(ending) => return ending,
            };
            self.measurements[place].latency = latency;
            // From the clock that does not jump, since the wall clock may be set.
            let series = self.measurements[place].series.as_ref();
            trial.started = series.and_then(|s| s.started.after(at_s)).unwrap_or(trial.started);
            self.keep(place, &mut samples, at_s, trial);
        }
    }

    fn keep(&mut self, place: usize, samples: &mut Samples, at_s: f64, trial: Trial) {
        let m = &mut self.measurements[place];
        let mut trials = std::mem::take(&mut m.trials);
        if let Some(series) = &mut m.series {
            samples.add(series, &mut trials, trial.clone());
        }
        m.trials = trials;
        self.notify(Event::Sample { at_s, trial: &trial }, place);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_lie_on_a_grid() {
        assert_eq!(
            [0.0, 0.4, 0.96, 1.04, 1.49].map(|at| next_tick(at, 1.0)),
            [1.0, 1.0, 2.0, 2.0, 2.0]
        );
        assert_eq!(next_tick(7.3, 1.0), 8.0, "a sample that took six ticks does not move the rest");
        assert_eq!(next_tick(86_400.02, 1.0), 86_401.0);
    }

    #[test]
    fn parts_are_a_tenth_of_a_sample_within_bounds() {
        assert_eq!([0.1, 1.0, 60.0].map(part_s), [0.02, 0.1, 0.25]);
    }
}
