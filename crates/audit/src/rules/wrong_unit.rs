//! `wrong_unit`: a number whose unit does not say what it is.

use proofmark_model::{Finding, Severity};

use super::Rule;
use crate::{Figure, Metric, Sheet, units};

/// Numbers in base units are often rounded to three digits.
const PRINTED: f64 = 0.01;

/// Whether a unit in small letters is that of something by the bit or byte: `ns/b`, `us per byte`.
fn by_the_byte(unit: &str) -> bool {
    let by = unit.rsplit_once('/').or_else(|| unit.rsplit_once(" per "));
    by.is_some_and(|(_, what)| matches!(what.trim(), "b" | "bit" | "bits" | "byte" | "bytes"))
}

pub(super) const RULE: Rule = Rule {
    id: "wrong_unit",
    title: "wrong unit",
    about: "The printed number times its unit must equal the number in base units, with a factor \
            of 1000 or 1024. A latency per bit or per byte is not the time of an operation.",
    advice: "Check which unit was meant: bits or bytes, 1000 or 1024.",
    examine,
};

fn examine(_: &Sheet, figure: &Figure) -> Option<Finding> {
    let unit = figure.unit.to_ascii_lowercase();
    if figure.metric == Metric::Latency && by_the_byte(&unit) {
        return Some(Finding::new(
            RULE.id,
            Severity::Invalid,
            "a time per bit or byte is a reciprocal rate, not a latency",
            "Print the time of one operation and its size.",
        ));
    }
    let si = figure.si?;
    let factors = units::factors(&figure.unit, &figure.si_unit)?;
    let fits = |f: &f64| (figure.value * f - si).abs() <= PRINTED * si.abs();
    (!factors.iter().any(fits)).then(|| {
        let message = "the number and its unit do not give the number in base units";
        let factor = if figure.value > 0.0 { si / figure.value } else { 0.0 };
        RULE.finding(Severity::Suspect, message).with("factor", factor)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{INVALID, MACHINE, SUSPECT, judges};

    #[test]
    fn number_and_unit_give_the_base_unit() {
        let expected = [
            ("disk r throughput 1e8 printed=100 unit=MB/s", None),
            ("disk r throughput 104857600 printed=100 unit=MB/s", None),
            ("network tcp throughput 2.02e10 printed=2.35 unit=Gb/s", SUSPECT),
            ("disk r throughput 8e8 printed=100 unit=MB/s", SUSPECT),
            ("memory r latency 5e-3 printed=5 unit=ms/bit", INVALID),
            ("memory r latency 5e-3 printed=5 unit=ms", None),
            ("memory r latency 5e-3 printed=5 unit=us", SUSPECT),
            ("memory r throughput 5 unit=parsecs", None),
        ];
        judges(&RULE, MACHINE, &expected);
    }

    #[test]
    fn only_bits_and_bytes_are_no_operations() {
        for unit in ["ms/bit", "ns / b", "us per byte"] {
            assert!(by_the_byte(unit), "{unit}");
        }
        for unit in ["ms", "ms/block", "us/batch", "ms per block"] {
            assert!(!by_the_byte(unit), "{unit}");
        }
    }
}
