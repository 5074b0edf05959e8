//! Audit of published figures: a table of numbers and facts about the machine, without the program
//! that measured them.
//!
//! Each rule of [`rules::ALL`] examines one figure of a [`Sheet`] and may look up all others;
//! [`audit`] gives each a verdict. Rules rest on physics and arithmetic (a link's rate, a clock's
//! cycle, a copied column), never on who published the figures. This crate does no I/O.

mod columns;
mod directions;
mod equal_columns;
mod facts;
mod figure;
mod guide;
mod index;
mod machine;
mod products;
mod quantity;
pub mod render;
mod row;
pub mod rules;
mod series;
mod sheet;
mod table;
mod tallies;
mod trials;
mod units;
mod words;

use proofmark_model::{Finding, Severity, Verdict};
use serde::Serialize;

pub use facts::{choose, read_machines};
pub use figure::Figure;
pub use guide::{EXAMPLE, guide};
pub use machine::Machine;
pub use quantity::{Metric, Statistic};
pub use rules::{Examination, Outcome, Rule};
pub use sheet::Sheet;
pub use table::read_figures;

/// Reason why a file is refused: the line and what is wrong there.
#[derive(Debug, PartialEq, thiserror::Error)]
#[error("{0}")]
pub struct InputError(String);

/// Verdict and findings of one figure.
#[derive(Debug, Clone, PartialEq)]
pub struct Judged {
    /// Verdict of the worst finding. `Valid` is a pass only if the figure was `checked`.
    pub verdict: Verdict,
    /// Findings in the order of [`rules::ALL`]: causes before their effects.
    pub findings: Vec<Finding>,
    /// True if a rule found a fault or could compare the figure with a limit.
    pub checked: bool,
    /// Facts that rules lacked; not empty if the figure was not checked.
    pub missing: Vec<Missing>,
}

/// Fact that a rule lacked to check a figure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub struct Missing {
    /// Id of the rule; `None` if no rule applies to such a figure.
    pub rule: Option<&'static str>,
    /// The missing fact, as a sentence.
    pub what: &'static str,
}

impl Judged {
    /// Returns the finding that explains the verdict: the first cause among the worst findings.
    pub fn reason(&self) -> Option<&Finding> {
        let worst = self.findings.iter().map(|f| f.severity).max()?;
        self.findings.iter().find(|f| f.severity == worst)
    }

    /// Returns the verdict as a word, or `not checked`.
    pub fn verdict_word(&self) -> &'static str {
        if self.checked { self.verdict.as_str() } else { NOT_CHECKED }
    }
}

/// Word for a figure that no rule could check.
const NOT_CHECKED: &str = "not checked";

/// Judges every figure, in the order of the file.
pub fn audit(sheet: &Sheet) -> Vec<Judged> {
    sheet.figures().iter().map(|figure| judge(sheet, figure)).collect()
}

fn judge(sheet: &Sheet, figure: &Figure) -> Judged {
    let (mut findings, mut missing, mut passed) = (Vec::new(), Vec::new(), false);
    for rule in rules::ALL {
        match rule.examine(sheet, figure) {
            Some(Outcome::Found(finding)) => findings.push(finding),
            Some(Outcome::Missing(what)) => missing.push(Missing { rule: Some(rule.id), what }),
            Some(Outcome::Passed) => passed = true,
            None => {}
        }
    }
    let checked = passed || !findings.is_empty();
    if !checked && missing.is_empty() {
        let what = match (figure.metric, figure.si) {
            (Metric::Other, _) => "no rule reads this metric",
            (_, None) => "the unit cannot be converted, and value_si is empty",
            _ => "no rule bounds such a figure",
        };
        missing.push(Missing { rule: None, what });
    }
    Judged { verdict: Verdict::from_findings(&findings), findings, checked, missing }
}

/// Returns the worst verdict of all figures; `Valid` for none.
pub fn worst(judged: &[Judged]) -> Verdict {
    judged.iter().map(|j| j.verdict).max().unwrap_or(Verdict::Valid)
}

/// Returns the severity of exceeding a limit by this factor. A factor of 4 cannot be noise; a
/// factor of 2 can, on a shared machine.
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
        // Both the unit is suspect and, in any unit, the rate above the link.
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

    #[test]
    fn a_figure_that_no_rule_could_look_at_has_not_passed() {
        let standing = |facts: &str, rows: &[&str]| {
            let rows: String = rows.iter().map(|row| testing::row(row)).collect();
            let sheet = Sheet::new(testing::machine(facts), testing::figures(&rows));
            let judged = audit(&sheet).pop().unwrap();
            (judged.verdict_word(), judged.missing.first().map(|m| m.what))
        };
        const READ: &str = "disk seq_read throughput 7.7e9";
        const CLOCK: &str = "clock_hz_nominal = 2e9\n";
        const TCP: &str = "network tcp throughput 9e8";
        for (facts, rows, expected) in [
            (
                CLOCK,
                &[READ][..],
                Some("no disk_link_bytes_per_s or disk_limit_bytes_per_s is declared"),
            ),
            ("disk_link_bytes_per_s = 8e9", &[READ], None),
            ("disk_limit_bytes_per_s = 8e9", &[READ], None),
            (
                "disk_limit_bytes_per_s = 8e9",
                &["disk read latency 1e-4 block=4096"],
                Some("no disk_link_bytes_per_s is declared"),
            ),
            (
                "disk_link_bytes_per_s = 8e9",
                &["disk stat rate 9000"],
                Some("block_size_bytes is empty, so the bytes per second are unknown"),
            ),
            ("disk_limit_operations_per_s = 9000", &["disk randread rate 8000"], None),
            (CLOCK, &[TCP], Some("no network_link_bits_per_s is declared")),
            ("network_link_bits_per_s = 1e9", &[TCP], None),
            (CLOCK, &["memory read latency 1e-7"], None),
            (
                "cpus = 2",
                &["memory read latency 1e-7"],
                Some("no clock_hz_nominal or clock_hz_running is declared"),
            ),
            (CLOCK, &["network udp jitter 1e-5"], Some("no rule reads this metric")),
            (CLOCK, &["cpu crc rate 1e9"], Some("no rule bounds such a figure")),
            ("cpus = 2", &["cpu crc rate 2e9 threads=2", "cpu crc rate 1e9"], None),
            (
                CLOCK,
                &["cpu crc rate 1e6 trial=sd"],
                Some("not all trials of the deviation are in the table"),
            ),
        ] {
            let word = if expected.is_some() { "not checked" } else { "valid" };
            assert_eq!(standing(facts, rows).0, word, "{facts} {rows:?}");
            if expected.is_some() {
                assert_eq!(standing(facts, rows).1, expected, "{facts} {rows:?}");
            }
        }
        // A limit that the machine lacks is reported even if the figure passed another one.
        let random = ["disk randread rate 80000 block=4096"];
        let without = Some("no disk_limit_operations_per_s is declared");
        assert_eq!(standing("disk_link_bytes_per_s = 8e9", &random), ("valid", without));
        // Above the rate of any single drive.
        assert_eq!(standing("", &["disk read throughput 2e10"]).0, "suspect");
    }
}
