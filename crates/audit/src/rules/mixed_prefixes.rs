//! `mixed_prefixes`: 1000 in one place and 1024 in another for the same number.

use proofmark_model::{Finding, Severity};

use super::{Look, Rule};
use crate::units::power_of_1024;
use crate::{Figure, Metric, Sheet};

/// Most numbers of a point and statistic that are looked at; no report has as many.
const MOST: usize = 8;

pub(super) const RULE: Rule = Rule {
    id: "mixed_prefixes",
    title: "1000 and 1024 mixed",
    about: "The same throughput in two units must be one number. If the two differ by a power of \
            1.024 (2.4 %, 4.9 %, 7.4 %), to 0.3 %, one was converted with 1024 and the other with \
            1000. Which of the two is right the numbers do not say.",
    advice: "Convert both from the bytes and seconds measured: MB is 1000 x 1000 B, MiB 1024 x 1024.",
    needs: "the same throughput twice, in different units",
    look: Look::ForFault(examine),
};

fn examine(sheet: &Sheet, figure: &Figure) -> Option<Finding> {
    let rate = figure.size().filter(|_| figure.metric == Metric::Throughput)?;
    let others = sheet.same_number(figure).take(MOST).filter(|other| other.unit != figure.unit);
    let ratios = others.filter_map(|other| Some((other, rate / other.size()?)));
    // What is within the printed digits may be a power of 1.024 as well.
    let digits = |other: &Figure| figure.rounding() + other.rounding();
    let mut ratios = ratios.filter(|(other, ratio)| (ratio - 1.0).abs() > digits(other));
    let (other, power) = ratios.find_map(|(other, ratio)| Some((other, power_of_1024(ratio)?)))?;
    let message = format!(
        "it is 1.024^{power} of the same figure in {} (line {})",
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
