//! `added_up`: the sum of STREAM's four workloads given as one bandwidth.

use proofmark_model::{Finding, Severity, Subsystem};

use super::{Examination, Rule};
use crate::series::Key;
use crate::units::power_of_1024;
use crate::{Figure, Metric, Sheet};

/// Tolerance of a sum of four figures with at least three digits.
const PRINTED: f64 = 0.005;
/// STREAM's workloads.
const WORKLOADS: [&str; 4] = ["copy", "scale", "add", "triad"];

pub(super) const RULE: Rule = Rule {
    id: "added_up",
    title: "STREAM's four operations added up as one bandwidth",
    about: "STREAM's four operations run one after the other, and each uses the whole bandwidth. A \
            figure that equals the sum of the four, to the printed digits (0.5 %), is four times a \
            bandwidth. So is one that is off the sum by a power of 1.024: it was converted with \
            1024 in place of 1000, or the other way.",
    advice: "Print each by itself, and use triad for the machine.",
    needs: "copy, scale, add and triad of the same tool",
    examination: Examination::FindFault(examine),
};

fn examine(sheet: &Sheet, figure: &Figure) -> Option<Finding> {
    let rate = figure.level().filter(|_| figure.is(Subsystem::Memory, Metric::Throughput))?;
    let mut sum = 0.0;
    for workload in WORKLOADS {
        let key = Key { work: workload.to_owned(), ..Key::from_figure(figure) };
        sum += sheet.summary(figure, &key)?.level()?;
    }
    let converted = power_of_1024(rate / sum);
    ((rate / sum - 1.0).abs() <= PRINTED || converted.is_some()).then(|| {
        let mixed = converted.map_or("", |_| "; 1000 and 1024 are mixed as well");
        let message = format!(
            "the figure is the sum of copy, scale, add and triad, which never run at the same \
             time{mixed}"
        );
        RULE.finding(Severity::Invalid, message).with("sum_bytes_per_s", sum)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{MACHINE, flagged};

    #[test]
    fn four_bandwidths_are_no_bandwidth() {
        for (total, is_sum) in [
            ("22.3e9", true),
            ("21.78e9", true),
            ("23.38e9", true),
            ("22.0e9", false),
            ("6.2e9", false),
        ] {
            let rows = [("copy", "5e9"), ("scale", "5.1e9"), ("add", "6.2e9"), ("triad", "6e9")];
            let rows = [&rows[..], &[("total", total)]].concat();
            let rows: Vec<_> =
                rows.iter().map(|(o, v)| format!("memory {o} throughput {v} trial=max")).collect();
            assert_eq!(flagged(&RULE, MACHINE, &rows), [false, false, false, false, is_sum]);
            let row = format!("memory total throughput {total} trial=mean");
            let rows = [&rows[..4], &[row]].concat();
            assert_eq!(flagged(&RULE, MACHINE, &rows), [false, false, false, false, is_sum]);
        }
    }
}
