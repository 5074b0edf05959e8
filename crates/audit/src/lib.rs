//! Checks published figures: a table of numbers and the facts about the machine, without the
//! program that made them. Each rule of [`rules::ALL`] looks at one figure of a [`Sheet`] among all
//! others; [`audit`] puts a verdict on each. No I/O happens here. Rules rest on physics and
//! arithmetic alone (a link's rate, a clock's cycle, a copied column), never on who published the
//! figures.

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
pub use rules::{Look, Outcome, Rule};
pub use sheet::Sheet;
pub use table::read_figures;

/// Why a file was refused: its line, and what is wrong there.
#[derive(Debug, PartialEq, thiserror::Error)]
#[error("{0}")]
pub struct InputError(String);

/// The findings about one figure.
#[derive(Debug, Clone, PartialEq)]
pub struct Judged {
    /// The worst finding decides. `Valid` is a pass only if the figure was `checked`.
    pub verdict: Verdict,
    /// In the order of [`rules::ALL`], which is that of causes: cause before effect.
    pub findings: Vec<Finding>,
    /// Whether a rule found something, or could hold the figure against anything.
    pub checked: bool,
    /// What kept rules from looking at it; not empty if it was not checked.
    pub missing: Vec<Missing>,
}

/// What kept a rule from looking at a figure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub struct Missing {
    /// The rule's id; `None`: no rule is about such a figure.
    pub rule: Option<&'static str>,
    /// What is not there, as a sentence.
    pub what: &'static str,
}

impl Judged {
    /// The finding that explains the verdict: of the worst ones the first cause.
    pub fn reason(&self) -> Option<&Finding> {
        let worst = self.findings.iter().map(|f| f.severity).max()?;
        self.findings.iter().find(|f| f.severity == worst)
    }

    /// The word for how it stands: its verdict, or `not checked`.
    pub fn standing(&self) -> &'static str {
        if self.checked { self.verdict.as_str() } else { NOT_CHECKED }
    }
}

/// How a figure stands that no rule could look at.
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
    Judged { verdict: Verdict::of(&findings), findings, checked, missing }
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

    #[test]
    fn a_figure_that_no_rule_could_look_at_has_not_passed() {
        let standing = |facts: &str, rows: &[&str]| {
            let rows: String = rows.iter().map(|row| testing::row(row)).collect();
            let sheet = Sheet::new(testing::machine(facts), testing::figures(&rows));
            let judged = audit(&sheet).pop().unwrap();
            (judged.standing(), judged.missing.first().map(|m| m.what))
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
        // A limit that the machine lacks is named where another one let the figure pass.
        let random = ["disk randread rate 80000 block=4096"];
        let without = Some("no disk_limit_operations_per_s is declared");
        assert_eq!(standing("disk_link_bytes_per_s = 8e9", &random), ("valid", without));
        // Above what one drive carries at all.
        assert_eq!(standing("", &["disk read throughput 2e10"]).0, "suspect");
    }
}
