//! What a disturbance cost, from the trials themselves: those with it against those without.
//!
//! A share of a resource is no loss: what it costs depends on who waits for whom. Where enough trials
//! were without the disturbance, their median is what the figure would be.

use proofmark_model::{Measurement, Severity, Trial, median, median_interval};

/// Share of a resource that others take from a trial from which on it counts as disturbed.
const DISTURBED_FROM: f64 = 0.05;

/// Whether a trial was disturbed, of which others took this share.
pub(super) fn is_disturbed(taken: Option<f64>) -> bool {
    taken.is_some_and(|share| share > DISTURBED_FROM)
}

/// The share of the headline that was lost, with its interval.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Loss {
    pub(super) value: f64,
    /// How wide the interval of the other trials' median is.
    pub(super) width: f64,
    low: f64,
    high: f64,
}

impl Loss {
    /// Of trials of which others took this share, if some are disturbed, and enough are not.
    pub(super) fn of_trials(
        m: &Measurement,
        taken: impl Fn(&Trial) -> Option<f64>,
    ) -> Option<Self> {
        let without = |t: &&Trial| !is_disturbed(taken(t));
        let rest: Vec<f64> =
            m.trials.iter().filter(without).map(|t| m.unit.rate(t.value)).collect();
        if rest.len() == m.trials.len() {
            return None;
        }
        let rate = m.unit.rate(m.summary.as_ref()?.value());
        // Fewer than 6 trials have no interval of their median.
        let (middle, ends) = (median(&rest)?, median_interval(&rest)?);
        let width = crate::width::width(middle, ends);
        let of = |usual: f64| Some(1.0 - rate / usual).filter(|loss| loss.is_finite());
        Some(Self { value: of(middle)?, width, low: of(ends[0])?, high: of(ends[1])? })
    }

    /// What the same trials show it to weigh, if they show it.
    pub(super) fn shown(
        m: &Measurement,
        taken: impl Fn(&Trial) -> Option<f64>,
    ) -> Option<Severity> {
        Self::of_trials(m, taken)?.severity(m)
    }

    /// What it weighs: a note if even the greatest loss is within the tolerance, suspect if the least
    /// is not; `None` if that is not known.
    pub(super) fn severity(self, m: &Measurement) -> Option<Severity> {
        let tolerance = m.subsystem.info().tolerance;
        match self {
            Self { high, .. } if high <= tolerance => Some(Severity::Note),
            Self { low, .. } if low > tolerance => Some(Severity::Suspect),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::*;

    /// Random reads of which so many trials, at this share of the rate, were disturbed.
    fn read(disturbed: usize, rate: f64) -> Measurement {
        let m = each(rand_read(1), |i, t| {
            if i < disturbed {
                t.value *= rate;
                t.work *= rate;
                t.conditions.other_cpu_s = Some(1.0);
            } else {
                t.conditions.other_cpu_s = None;
            }
        });
        let summary = proofmark_model::summarise_trials(
            proofmark_model::Cut::Single,
            m.unit,
            &m.trials,
            false,
        );
        Measurement { summary, ..m }
    }

    fn weighed(m: &Measurement) -> Option<Severity> {
        Loss::of_trials(m, |t| t.conditions.other_cpu_s)?.severity(m)
    }

    #[test]
    fn the_trials_without_it_show_what_was_lost() {
        assert_eq!(weighed(&read(1, 0.5)), Some(Severity::Note), "5 % of ten trials");
        assert_eq!(weighed(&read(4, 0.1)), Some(Severity::Suspect), "36 %");
        assert_eq!(weighed(&read(4, 0.375)), None, "24.9 % or 25.1 %");
        assert_eq!(weighed(&read(5, 0.1)), None, "five are too few");
        assert_eq!(weighed(&read(0, 0.1)), None, "all without");
        let loss = Loss::of_trials(&read(4, 0.1), |t| t.conditions.other_cpu_s).unwrap();
        assert!((loss.value - 0.36).abs() < 0.01, "{loss:?}");
    }
}
