//! `population_deviation`: a population's deviation printed for a sample.

use proofmark_model::Severity;

use super::{Examination, Outcome, Rule};
use crate::{Figure, Sheet, Statistic};

/// Tolerance of a printed deviation: two digits or more.
const PRINTED: f64 = 0.01;

/// Rounding error of the deviation of equal trials, which is 0.
const ROUNDING: f64 = 1e-9;

pub(super) const RULE: Rule = Rule {
    id: "population_deviation",
    title: "population deviation used for a sample",
    about: "Trials are a sample, so the deviation must divide by n - 1. Dividing by n makes it too \
            small by sqrt(n / (n - 1)): 22 % with three trials. The error is known exactly, so \
            this is a note and the figure is valid. The rule examines 2 to 20 trials, where the \
            two differ by more than the printed digits.",
    advice: "Divide by n - 1.",
    needs: "a deviation and all its trials, 2 to 20",
    examination: Examination::Compare(examine),
};

fn examine(sheet: &Sheet, figure: &Figure) -> Option<Outcome> {
    if figure.statistic != Statistic::Deviation {
        return None;
    }
    let Some(trials) = sheet.trials(figure) else {
        return Some(Outcome::Missing("not all trials of the deviation are in the table"));
    };
    let (deviation, trials) = trials.in_unit_of(figure)?;
    let n = trials.count;
    let (sample, population) = trials.deviations();
    let judged = (2.0..=20.0).contains(&n) && sample > trials.mean * ROUNDING;
    let found = (judged && (deviation / population - 1.0).abs() <= PRINTED).then(|| {
        let message = format!(
            "the deviation divides by {n:.0} instead of {:.0}; the sample deviation is {sample:.4}",
            n - 1.0
        );
        RULE.finding(Severity::Note, message).with("sample_deviation", sample)
    });
    Some(Outcome::new(found, None))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{MACHINE, flagged};

    #[test]
    fn a_sample_divides_by_one_less() {
        // The rounding error of three equal trials is no deviation.
        let left = (0.1_f64 - (0.1 + 0.1 + 0.1) / 3.0).abs();
        assert!(left > 0.0);
        for (trials, deviation, of_population) in [
            ([1.0, 2.0, 3.0], 0.8165, true),
            ([1.0, 2.0, 3.0], 1.0, false),
            ([1.0, 2.0, 3.0], 0.5, false),
            ([0.1; 3], left, false),
        ] {
            let trials = trials.iter().zip(1..);
            let mut rows: Vec<String> =
                trials.map(|(v, n)| format!("cpu giops rate {v} trial={n}")).collect();
            rows.push(format!("cpu giops rate {deviation:e} trial=sd"));
            let flagged = flagged(&RULE, MACHINE, &rows);
            assert_eq!(flagged, [false, false, false, of_population], "{deviation}");
        }
    }
}
