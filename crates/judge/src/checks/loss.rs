//! Loss that a disturbance caused, from the trials with it and those without.
//!
//! A share of a resource is no loss: its cost depends on which threads wait for which. If enough
//! trials had no disturbance, their median is the figure that the run would have had.

use proofmark_model::{Measurement, Severity, Trial, median, median_interval};

/// Share of a resource taken from a trial from which it counts as disturbed.
const DISTURBED_FROM: f64 = 0.05;

/// True if others took so large a share that the trial was disturbed.
pub(super) fn is_disturbed(taken: Option<f64>) -> bool {
    taken.is_some_and(|share| share > DISTURBED_FROM)
}

/// Share of the headline that was lost.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Loss {
    /// What the disturbed trials lost of all time. What slowed others is not by the disturbance.
    pub(super) value: f64,
    /// Width of the interval of the undisturbed trials' median.
    pub(super) width: f64,
    /// The interval of what the figure lacks of the undisturbed trials' median: the disturbance may
    /// have lasted longer than it shows.
    low: f64,
    high: f64,
}

impl Loss {
    /// Derives the loss, if some trials are disturbed and enough are not; `taken` gives the share
    /// that others took of a trial.
    pub(super) fn from_trials(
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
        let (usual, ends) = (median(&rest)?, median_interval(&rest)?);
        let width = crate::width::width(usual, ends);
        let lost = |t: &Trial| t.seconds * (1.0 - m.unit.rate(t.value) / usual);
        let lost_s: f64 = m.trials.iter().filter(|t| !without(t)).map(lost).sum();
        let value = lost_s / m.trials.iter().map(|t| t.seconds).sum::<f64>();
        let loss = |usual: f64| Some(1.0 - rate / usual).filter(|loss| loss.is_finite());
        let (low, high) = (loss(ends[0])?, loss(ends[1])?);
        value.is_finite().then_some(Self { value, width, low, high })
    }

    /// The severity of the loss that the same trials show.
    pub(super) fn shown(
        m: &Measurement,
        taken: impl Fn(&Trial) -> Option<f64>,
    ) -> Option<Severity> {
        Self::from_trials(m, taken)?.severity(m)
    }

    /// A note if even the largest loss is within the tolerance, suspect if the smallest is not;
    /// `None` if unknown.
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

    /// Random reads of which the first `disturbed` trials were disturbed, at that share of the
    /// rate.
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
        Loss::from_trials(m, |t| t.conditions.other_cpu_s)?.severity(m)
    }

    #[test]
    fn the_trials_without_it_show_what_was_lost() {
        assert_eq!(weighed(&read(1, 0.5)), Some(Severity::Note), "5 % of ten trials");
        assert_eq!(weighed(&read(4, 0.1)), Some(Severity::Suspect), "36 %");
        assert_eq!(weighed(&read(4, 0.375)), None, "24.9 % or 25.1 %");
        assert_eq!(weighed(&read(5, 0.1)), None, "five are too few");
        assert_eq!(weighed(&read(0, 0.1)), None, "all without");
        let value = |m: &Measurement| {
            Loss::from_trials(m, |t| t.conditions.other_cpu_s).map(|loss| loss.value).unwrap()
        };
        assert!((value(&read(4, 0.1)) - 0.36).abs() < 0.01);
        // Recorded: a trial without it stalled for seven times its length.
        let stalled = each(read(1, 0.9), |i, t| {
            if i == 9 {
                (t.seconds, t.value) = (7.0 * t.seconds, t.value / 7.0);
            }
        });
        assert!((0.0..0.02).contains(&value(&stalled)), "{}", value(&stalled));
    }
}
