//! `mixed_prefixes`: one number printed with prefixes of 1000 and of 1024.

use proofmark_model::{Finding, Severity};

use super::{Examination, Rule};
use crate::units::power_of_1024;
use crate::{Figure, Metric, Sheet};

/// Maximum of numbers examined per point and statistic; no report has as many.
const MAX_COMPARED: usize = 8;

pub(super) const RULE: Rule = Rule {
    id: "mixed_prefixes",
    title: "1000 and 1024 mixed",
    about: "The same throughput in two units must be one number. If the two differ by a power of \
            1.024 (2.4 %, 4.9 %, 7.4 %), to 0.3 %, one was converted with 1024 and the other with \
            1000. The numbers do not show which of the two is right.",
    advice: "Convert both from the bytes and seconds measured: MB is 1000 x 1000 B, MiB 1024 x 1024.",
    needs: "the same throughput twice, in different units",
    examination: Examination::FindFault(examine),
};

fn examine(sheet: &Sheet, figure: &Figure) -> Option<Finding> {
    let rate = figure.size().filter(|_| figure.metric == Metric::Throughput)?;
    let others =
        sheet.same_number(figure).take(MAX_COMPARED).filter(|other| other.unit != figure.unit);
    let ratios = others.filter_map(|other| Some((other, rate / other.size()?)));
    // With coarse digits, a difference by rounding may look like a power of 1.024.
    let digits = |other: &Figure| figure.rounding() + other.rounding();
    let mut ratios = ratios.filter(|(other, ratio)| (ratio - 1.0).abs() > digits(other));
    let (other, power) = ratios.find_map(|(other, ratio)| Some((other, power_of_1024(ratio)?)))?;
    let message = format!(
        "1000 and 1024 are mixed: it is 1.024^{power} times the figure in {} (line {})",
        proofmark_model::clean(&other.unit),
        other.line
    );
    Some(RULE.finding(Severity::Suspect, message).with("line", other.line).with("power", power))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{MACHINE, flagged};

    #[test]
    fn the_same_number_in_two_units_is_one() {
        let megabytes = "memory triad throughput 7.35e9 printed=7350 unit=MB/s";
        for (other, mixed) in [
            // 7350 / 1024 called GB/s.
            ("memory triad throughput 7.178e9 printed=7.178 unit=GB/s", true),
            ("memory triad throughput 7.009e9 printed=7.009 unit=GB/s", true),
            ("memory triad throughput 7.35e9 printed=7.35 unit=GB/s", false),
            // Rounded.
            ("memory triad throughput 7.2e9 printed=7 unit=GB/s", false),
            // Another run, in the same unit.
            ("memory triad throughput 7.178e9 printed=7178 unit=MB/s", false),
            ("memory triad throughput 7.2e9 printed=7.2 unit=GB/s", false),
            ("memory copy throughput 7.178e9 printed=7.178 unit=GB/s", false),
            ("memory triad throughput 7.178e9 printed=7.178 unit=GB/s trial=2", false),
        ] {
            assert_eq!(flagged(&RULE, MACHINE, &[megabytes, other]), [mixed; 2], "{other}");
        }
    }
}
