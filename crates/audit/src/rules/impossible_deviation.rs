//! `impossible_deviation`: a deviation that its trials cannot have.

use proofmark_model::{Finding, Pace, Severity};

use super::{Examination, Rule};
use crate::{Figure, Metric, Sheet, Statistic};

/// Tolerance of a printed deviation: two digits or more.
const PRINTED: f64 = 0.01;
/// Maximum ratio to the mean. The deviation of n numbers from 0 up is at most sqrt(n) x mean. So a
/// ratio of 3 takes ten trials, nine of them about 0.
const TIMES_THE_MEAN: f64 = 3.0;

pub(super) const RULE: Rule = Rule {
    id: "impossible_deviation",
    title: "deviation that the trials cannot have",
    about: "The sample deviation of n trials is at most half their range x sqrt(n / (n - 1)), \
            with half of them at each end. A larger one is suspect. If the trials are not in the \
            table, a deviation more than 3 times its mean is suspect, for rates and for latencies \
            of CPU or memory. The deviation of n values of at least 0 is at most sqrt(n) x mean, \
            so it would need ten trials, nine of them 0.",
    advice: "Compute it again from all trials, in the unit of the mean.",
    needs: "a deviation and all its trials, or its mean",
    examination: Examination::FindFault(examine),
};

fn examine(sheet: &Sheet, figure: &Figure) -> Option<Finding> {
    if figure.statistic != Statistic::Deviation {
        return None;
    }
    against_trials(sheet, figure).or_else(|| against_mean(sheet, figure))
}

fn against_trials(sheet: &Sheet, figure: &Figure) -> Option<Finding> {
    let (deviation, trials) = sheet.trials(figure)?.in_unit_of(figure)?;
    let range = trials.most - trials.least + 2.0 * trials.rounding;
    let most = range / 2.0 * (trials.count / (trials.count - 1.0)).sqrt();
    let digits = figure.rounding() * deviation;
    (deviation > most * (1.0 + PRINTED) + digits).then(|| {
        let message = format!(
            "the deviation is {deviation}, but {:.0} trials from {} to {} allow at most {most:.4}",
            trials.count, trials.least, trials.most
        );
        RULE.finding(Severity::Suspect, message).with("most", most)
    })
}

/// Applies only to deviations over trials. For a device's latency, tools print the deviation over
/// its many operations; latencies of CPUs and memory are timed in loops.
fn against_mean(sheet: &Sheet, figure: &Figure) -> Option<Finding> {
    let over_trials = match figure.metric {
        Metric::Rate | Metric::Throughput => true,
        Metric::Latency => figure.subsystem.info().pace != Pace::Device,
        Metric::Other => false,
    };
    let mean = sheet.mean(figure).filter(|_| over_trials)?;
    let (deviation, mean) = match figure.unit == mean.unit {
        true => (figure.value, mean.value),
        false => (figure.size()?, mean.size()?),
    };
    (deviation > TIMES_THE_MEAN * mean).then(|| {
        let needed = (deviation / mean).powi(2);
        let message = format!(
            "the deviation is {:.1} times the mean; that needs at least {needed:.0} trials",
            deviation / mean
        );
        RULE.finding(Severity::Suspect, message).with("trials_needed", needed)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{MACHINE, flagged};

    #[test]
    fn a_deviation_is_bounded_by_the_range() {
        let trials = [(1, 3000), (2, 3200), (3, 3100), (4, 3000)]
            .map(|(n, v)| format!("disk read rate {v} trial={n}"));
        for (deviation, impossible) in
            [("95.7 trial=sd", false), ("115 trial=std", false), ("125 trial=sd", true)]
        {
            let rows = [&trials[..], &[format!("disk read rate {deviation}")]].concat();
            assert_eq!(flagged(&RULE, MACHINE, &rows).pop(), Some(impossible), "{deviation}");
        }
    }

    #[test]
    fn a_deviation_is_bounded_by_the_mean() {
        for (mean, deviation, impossible) in [
            ("disk read rate 300 trial=mean", "disk read rate 3000 trial=sd", true),
            ("disk read rate 300 trial=", "disk read rate 3000 trial=sd", true),
            ("disk read rate 300 trial=p99", "disk read rate 3000 trial=sd", false),
            ("disk read rate 300 trial=mean", "disk read rate 400 trial=sd", false),
            ("disk read rate 300 trial=mean", "disk write rate 3000 trial=sd", false),
            // A deviation over operations: one may be very late.
            ("disk read latency 1e-4 trial=mean", "disk read latency 1e-3 trial=sd", false),
            ("memory read latency 1e-7 trial=mean", "memory read latency 1e-6 trial=sd", true),
            (
                "memory read throughput 1e-4 trial=mean printed=0.1 unit=kB/s",
                "memory read throughput 1e-3 trial=sd printed=1 unit=B/s",
                true,
            ),
        ] {
            assert_eq!(flagged(&RULE, MACHINE, &[mean, deviation]), [false, impossible]);
        }
    }
}
