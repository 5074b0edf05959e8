//! `trend`: the trials rise or fall from first to last.

use proofmark_model::{Finding, Measurement, Severity};

use super::{Check, percent};
use crate::Context;
use crate::statistics::{kendall_score, median, theil_sen};

/// Fewer trials than this are in order by chance too often: 6 of 6 in 1 of 360.
const LEAST_TRIALS: usize = 8;
/// Two-sided 1 % of the normal distribution.
const SCORE: f64 = 2.576;
/// A drift this small is no matter beside the target of 2 %.
const DRIFT: f64 = 0.02;

pub(super) struct Trend;

impl Check for Trend {
    fn id(&self) -> &'static str {
        "trend"
    }

    fn title(&self) -> &'static str {
        "Trend over the trials"
    }

    fn about(&self) -> &'static str {
        "Whether the trials rise or fall in order: Kendall's test at the 1 % level and the Theil-Sen \
         slope, from 8 trials on. A significant trend of more than 2 % from the first trial to the \
         last is suspect: the machine was warming up, throttling or getting busier, and the median \
         describes no steady state. Warm up longer, or let the machine cool down."
    }

    fn examine(&self, _: &Context, m: &Measurement) -> Option<Finding> {
        let values: Vec<f64> = m.trials.iter().map(|t| t.value).filter(|v| v.is_finite()).collect();
        if values.len() < LEAST_TRIALS {
            return None;
        }
        let score = kendall_score(&values)?;
        let drift = theil_sen(&values)? * (values.len() - 1) as f64 / median(&values)?;
        if !drift.is_finite() || score.abs() < SCORE || drift.abs() <= DRIFT {
            return None;
        }
        let way = if drift > 0.0 { "rise" } else { "fall" };
        Some(
            Finding::new(
                self.id(),
                Severity::Suspect,
                format!("the trials {way} by {} from first to last", percent(drift.abs())),
                "warm up longer, let the machine cool down, or look for what else began or ended",
            )
            .with("drift", drift)
            .with("kendall_score", score),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{around, flops, severity, with_values};

    fn drifting(total: f64) -> Measurement {
        let values: Vec<f64> = around(60e9)
            .iter()
            .enumerate()
            .map(|(i, v)| v * (1.0 + total * i as f64 / 9.0))
            .collect();
        with_values(flops(1), &values)
    }

    #[test]
    fn a_drift_is_suspect() {
        assert_eq!(severity(&Trend, drifting(-0.04)), Some(Severity::Suspect));
        assert_eq!(severity(&Trend, drifting(0.04)), Some(Severity::Suspect));
    }

    #[test]
    fn a_small_drift_few_trials_and_noise_are_silent() {
        assert_eq!(severity(&Trend, drifting(0.01)), None);
        assert_eq!(severity(&Trend, flops(1)), None);
        let mut few = drifting(-0.2);
        few.trials.truncate(7);
        assert_eq!(severity(&Trend, few), None);
        let mut wild = around(60e9);
        wild[9] *= 0.5;
        assert_eq!(severity(&Trend, with_values(flops(1), &wild)), None);
    }
}
