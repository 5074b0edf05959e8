//! `population_deviation`: the deviation of a population, printed for a sample.

use proofmark_model::{Finding, Severity};

use super::Rule;
use crate::{Sheet, Statistic};

/// Printed deviations have two digits or more.
const PRINTED: f64 = 0.01;

/// Trials that are all the same have a deviation of 0, or of what rounding leaves.
const ROUNDING: f64 = 1e-9;

pub(super) const RULE: Rule = Rule {
    id: "population_deviation",
    title: "population deviation used for a sample",
    about: "Trials are a sample, so the deviation must divide by n - 1. Dividing by n makes it too \
            small by sqrt(n / (n - 1)): 22 % with three trials. The error is known exactly, so \
            this is a note and the figure is valid. The rule examines 2 to 20 trials, where the \
            two differ by more than the printed digits.",
    examine,
};

fn examine(sheet: &Sheet, index: usize) -> Option<Finding> {
    let figure = sheet.figure(index).filter(|f| f.statistic == Statistic::Deviation)?;
    let trials = Some(sheet.trials(index)).filter(|t| (2..=20).contains(&t.len()))?;
    let values: Vec<f64> = trials.iter().filter_map(|i| Some(sheet.figure(*i)?.value)).collect();
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let squares: f64 = values.iter().map(|v| (v - mean).powi(2)).sum();
    let (population, sample) = ((squares / n).sqrt(), (squares / (n - 1.0)).sqrt());
    if sample <= mean * ROUNDING {
        return None;
    }
    ((figure.value / population - 1.0).abs() <= PRINTED).then(|| {
        Finding::new(
            RULE.id,
            Severity::Note,
            format!(
                "the deviation divides by {n:.0} instead of {:.0}; the sample deviation is \
                     {sample:.4}",
                n - 1.0
            ),
            "Divide by n - 1.",
        )
        .with("sample_deviation", sample)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{MACHINE, flagged};

    #[test]
    fn a_sample_divides_by_one_less() {
        let of = |deviation: &str| {
            let trials: String =
                (1..=3).map(|n| format!("cpu,x,giops,rate,,1,{n},{n},G,{n}e9,ops/s\n")).collect();
            let row = format!("cpu,x,giops,rate,,1,stddev,{deviation},G,,ops/s\n");
            flagged(&RULE, MACHINE, &format!("{trials}{row}"))
        };
        assert_eq!(of("0.8165"), [false, false, false, true]);
        assert_eq!(of("1.0"), [false; 4]);
        assert_eq!(of("0.5"), [false; 4]);
    }

    #[test]
    fn what_rounding_leaves_is_no_deviation() {
        let trial = |n: u32| format!("cpu,x,giops,rate,,1,{n},0.1,G,,ops/s\n");
        let rows = format!("{}{}{}", trial(1), trial(2), trial(3));
        let mean = (0.1_f64 + 0.1 + 0.1) / 3.0;
        let left = (0.1 - mean).abs();
        assert!(left > 0.0);
        let row = format!("cpu,x,giops,rate,,1,sd,{left:e},G,,ops/s\n");
        assert_eq!(flagged(&RULE, MACHINE, &(rows + &row)), [false; 4]);
    }
}
