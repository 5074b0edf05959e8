//! Checks published figures: a table of numbers and the facts about the machine, without the
//! program that made them. Each rule of [`rules::ALL`] looks at one figure of a [`Sheet`] among all
//! others; [`audit`] puts a verdict on each. No I/O happens here. Rules rest on physics and
//! arithmetic alone (a link's rate, a clock's cycle, a copied column), never on who published the
//! figures.

mod directions;
mod equal_columns;
mod figure;
mod machine;
mod products;
pub mod render;
pub mod rules;
mod series;
mod sheet;
mod tallies;
mod units;

use proofmark_model::{Finding, Severity, Verdict};

pub use figure::{Figure, Metric, Statistic, read_figures};
pub use machine::{Machine, choose, read_machines};
pub use rules::Rule;
pub use sheet::Sheet;

/// Why a file was refused: its line, and what is wrong there.
#[derive(Debug, PartialEq, thiserror::Error)]
#[error("{0}")]
pub struct InputError(String);

/// The findings about one figure.
#[derive(Debug, Clone, PartialEq)]
pub struct Judged {
    /// The worst finding decides.
    pub verdict: Verdict,
    /// In the order of [`rules::ALL`], which is that of causes: cause before effect.
    pub findings: Vec<Finding>,
}

impl Judged {
    /// The finding that explains the verdict: of the worst ones the first cause.
    pub fn reason(&self) -> Option<&Finding> {
        let worst = self.findings.iter().map(|f| f.severity).max()?;
        self.findings.iter().find(|f| f.severity == worst)
    }
}

/// Judges every figure, in the order of the file.
pub fn audit(sheet: &Sheet) -> Vec<Judged> {
    let judged = |figure| {
        let found = rules::ALL.iter().filter_map(|rule| (rule.examine)(sheet, figure));
        let findings: Vec<Finding> = found.collect();
        Judged { verdict: Verdict::of(&findings), findings }
    };
    sheet.figures().iter().map(judged).collect()
}

/// The worst verdict of all figures; `Valid` of none.
pub fn worst(judged: &[Judged]) -> Verdict {
    judged.iter().map(|j| j.verdict).max().unwrap_or(Verdict::Valid)
}

/// How far the evidence goes beyond its limit decides between the two: a factor of four is
/// no noise, a factor of two on a shared machine may be.
fn severity(factor: f64) -> Severity {
    if factor >= 4.0 { Severity::Invalid } else { Severity::Suspect }
}

#[cfg(test)]
mod testing;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_worst_finding_decides_and_its_first_cause_is_the_reason() {
        // The unit is suspect, and the rate, whatever its unit, above the link.
        let rows = "disk,x,r,throughput,,1,1,100,MB/s,8e8,bytes/s\n\
                    disk,x,r,throughput,,1,1,100,MB/s,2e8,bytes/s\n\
                    disk,x,r,throughput,,1,1,100,MB/s,1e8,bytes/s\n";
        let sheet = Sheet::new(testing::machine(testing::MACHINE), testing::figures(rows));
        let judged = audit(&sheet);
        let reasons: Vec<_> =
            judged.iter().map(|j| (j.verdict, j.reason().map(|f| f.check.as_ref()))).collect();
        assert_eq!(
            reasons,
            [
                (Verdict::Invalid, Some("page_cache")),
                (Verdict::Suspect, Some("wrong_unit")),
                (Verdict::Valid, None),
            ]
        );
        assert_eq!(judged.first().map(|j| j.findings.len()), Some(2));
        assert_eq!(worst(&judged), Verdict::Invalid);
        assert_eq!(worst(&[]), Verdict::Valid);
    }
}
