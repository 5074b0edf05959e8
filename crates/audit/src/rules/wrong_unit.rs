//! `wrong_unit`: a number that does not fit its unit.

use proofmark_model::{Finding, Severity};

use super::{Examination, Rule};
use crate::quantity::Base;
use crate::units::power_of_1024;
use crate::{Figure, Metric, Sheet};

/// Tolerance of base units, which are often rounded to three digits.
const PRINTED: f64 = 0.01;

pub(super) const RULE: Rule = Rule {
    id: "wrong_unit",
    title: "wrong unit",
    about: "The printed number times its unit must equal the number in base units, with a factor \
            of 1000 or 1024. A latency per bit or per byte is not the time of an operation.",
    advice: "Check which unit was meant: bits or bytes, 1000 or 1024.",
    needs: "value, unit_as_written, value_si",
    examination: Examination::FindFault(examine),
};

fn examine(_: &Sheet, figure: &Figure) -> Option<Finding> {
    let unit = figure.written.as_ref()?;
    if figure.metric == Metric::Latency && unit.base == Base::TimePerByte {
        return Some(Finding::new(
            RULE.id,
            Severity::Invalid,
            "a time per bit or byte is a reciprocal rate, not a latency",
            "Print the time of one operation and its size.",
        ));
    }
    let si = figure.si?;
    let factors = unit.factors(figure.base?)?;
    let fits = |f: &f64| (figure.value * f - si).abs() <= PRINTED * si.abs();
    (!factors.iter().any(fits)).then(|| {
        let mixed = factors.iter().find_map(|f| power_of_1024(figure.value * f / si));
        let mixed = mixed.map_or("", |_| "; 1000 and 1024 are mixed");
        let message = format!("value x unit_as_written differs from value_si{mixed}");
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
            ("disk r throughput 1e8 printed=100 unit=MiB/s", SUSPECT),
            ("memory r latency 5e-3 printed=5 unit=ms/bit", INVALID),
            ("memory r latency 5e-3 printed=5 unit=ms", None),
            ("memory r latency 5e-3 printed=5 unit=us", SUSPECT),
            ("memory r latency 5 printed=10 unit=cycles", None),
            ("cpu r rate 5e9 printed=5 unit=GFLOPS", None),
            ("cpu r rate 5e9 printed=5 unit=TFLOPS", SUSPECT),
        ];
        judges(&RULE, MACHINE, &expected);
    }
}
