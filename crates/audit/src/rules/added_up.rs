//! `added_up`: STREAM's four workloads added up as one bandwidth.

use proofmark_model::{Finding, Severity, Subsystem};

use super::Rule;
use crate::{Metric, Sheet};

/// A sum of four figures of three digits or more.
const PRINTED: f64 = 0.005;
/// STREAM's workloads.
const WORKLOADS: [&str; 4] = ["copy", "scale", "add", "triad"];

pub(super) const RULE: Rule = Rule {
    id: "added_up",
    title: "STREAM's four operations added up as one bandwidth",
    about: "STREAM's four operations run one after the other, and each uses the whole bandwidth. A \
            figure that equals the sum of the four, to the printed digits (0.5 %), is four times a \
            bandwidth.",
    examine,
};

fn examine(sheet: &Sheet, index: usize) -> Option<Finding> {
    let figure = sheet.figure(index)?;
    let rate = figure.level().filter(|_| figure.is(Subsystem::Memory, Metric::Throughput))?;
    let mut sum = 0.0;
    for workload in WORKLOADS {
        sum += sheet.partner(index, workload, Metric::Throughput)?.level()?;
    }
    ((rate / sum - 1.0).abs() <= PRINTED).then(|| {
        Finding::new(
            RULE.id,
            Severity::Invalid,
            "the figure is the sum of copy, scale, add and triad, which run one after the other",
            "Print each by itself, and use triad for the machine.",
        )
        .with("sum_bytes_per_s", sum)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{MACHINE, flagged};

    #[test]
    fn four_bandwidths_are_no_bandwidth() {
        let row = |operation: &str, value: f64| {
            format!("memory,stream,{operation},throughput,,1,max,{value},GB/s,{value}e9,bytes/s\n")
        };
        let four =
            [row("copy", 5.0), row("scale", 5.1), row("add", 6.2), row("triad", 6.0)].concat();
        let of = |total: f64| {
            *flagged(&RULE, MACHINE, &format!("{four}{}", row("total", total))).last().unwrap()
        };
        assert!(of(22.3));
        assert!(!of(6.2));
        assert!(!flagged(&RULE, MACHINE, &four).contains(&true));
    }
}
