//! `mean_outside_trials`: a mean that its trials cannot have.

use proofmark_model::{Finding, Severity};

use super::{Examination, Rule};
use crate::units::power_of_1024;
use crate::{Figure, Sheet, Statistic};

/// Tolerance of a printed number: often three digits, the last of which may be a zero.
const PRINTED: f64 = 0.005;

pub(super) const RULE: Rule = Rule {
    id: "mean_outside_trials",
    title: "mean outside its own trials",
    about: "A mean or median lies between the smallest and the largest of its trials, to the \
            printed digits. A mean outside by more than 0.5 % is suspect: it or a trial was \
            misprinted, or it was computed from other trials.",
    advice: "Compute it again from all trials, and print those.",
    needs: "a mean and all its trials, numbered from 0 or 1",
    examination: Examination::FindFault(examine),
};

fn examine(sheet: &Sheet, figure: &Figure) -> Option<Finding> {
    let trials = sheet.trials(figure).filter(|_| figure.statistic == Statistic::Mean)?;
    let (mean, trials) = trials.in_unit_of(figure)?;
    let digits = trials.rounding + figure.rounding() * mean;
    let least = trials.least * (1.0 - PRINTED) - digits;
    let most = trials.most * (1.0 + PRINTED) + digits;
    (mean < least || mean > most).then(|| {
        let mixed = power_of_1024(mean / trials.mean);
        let mixed = mixed.map_or("", |_| "; 1000 and 1024 are mixed");
        let message = format!(
            "the mean, {mean}, is outside the range of its {:.0} trials, {} to {}{mixed}",
            trials.count, trials.least, trials.most
        );
        let finding = RULE.finding(Severity::Suspect, message);
        finding.with("least", trials.least).with("most", trials.most)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{MACHINE, flagged};

    #[test]
    fn a_mean_lies_among_its_trials() {
        let trials = [(1, "3.1e9"), (2, "3.3e9"), (3, "3.2e9")]
            .map(|(n, v)| format!("memory copy throughput {v} trial={n}"));
        for (mean, outside) in [
            ("3.2e9 trial=mean", false),
            ("3.31e9 trial=mean", false),
            ("3.4e9 trial=mean", true),
            ("2.9e9 trial=median", true),
            ("2.9e9 trial=min", false),
            ("2.9e9 trial=mean threads=2", false),
            // In another unit, and rounded to its digits.
            ("3e9 trial=mean printed=3 unit=GB/s", false),
            ("5e9 trial=mean printed=5.01 unit=GB/s", true),
        ] {
            let mean = format!("memory copy throughput {mean}");
            let [first, second, third] = trials.clone();
            let rows = [first, second, third, mean.clone()];
            assert_eq!(flagged(&RULE, MACHINE, &rows), [false, false, false, outside], "{mean}");
            assert_eq!(flagged(&RULE, MACHINE, &[&trials[0], &mean]), [false; 2], "one trial");
            // Trials are missing from the table, or these are of two tables.
            for (from, to) in [("trial=3", "trial=9"), ("trial=3", "trial=1")] {
                let rows = rows.clone().map(|row| row.replace(from, to));
                assert_eq!(flagged(&RULE, MACHINE, &rows), [false; 4], "{to}");
            }
        }
    }
}
