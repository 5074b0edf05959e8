//! The end of the time limit. Estimates decide what begins; this ends what takes far longer.

use std::time::Duration;

use proofmark_model::Ending;

use super::State;
use super::limit::Progress;

impl State<'_, '_, '_> {
    /// Lets the worker of a configuration, or a tool, not outlast the time limit. Without a result, the
    /// only configuration that is set up is waited for.
    pub(super) fn limit_waiting(&self, place: usize) {
        let Some(limit) = &self.limit else { return };
        let all = || 0..limit.progress.len();
        let is_begun = |other: &usize| {
            *other != place && matches!(limit.progress[*other], Progress::Begun { .. })
        };
        let first_s = match limit.has_result || all().any(|p| self.has_minimum(p)) {
            true => Some(0.0),
            // Time for the first result stays.
            false => all()
                .filter(is_begun)
                .map(|other| limit.needs_s(self.plan, other, &limit.prepared))
                .reduce(f64::min),
        };
        let left_s = |first_s: f64| limit.reported_from() - self.means.clock.now() - first_s;
        let left = first_s.map(|first_s| Duration::from_secs_f64(left_s(first_s).max(0.0)));
        self.means.stop.set_time_left(left);
    }

    /// Adds what a configuration needs further to the time for which its worker was waited for.
    pub(super) fn with_rest(&self, place: usize, ending: Ending) -> Ending {
        match ending {
            Ending::LeftOut { needs_s } => {
                let rest_s = self.needs().map_or(0.0, |needs| needs.seconds[place]);
                Ending::LeftOut { needs_s: needs_s + rest_s }
            }
            ending => ending,
        }
    }
}
