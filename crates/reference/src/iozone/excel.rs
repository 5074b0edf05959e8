//! What a listing says twice: with `-R` it repeats the matrix, a report for each test. And what
//! IOzone itself says of a run at its end.

use proofmark_model::{Severity, key};

use super::work::{KB, Scale};
use crate::Figure;
use crate::findings::contradicts;
use crate::printed::{Rounded, agree};

/// Reports by their titles, in the words of the matrix.
const REPORTS: &[(&str, &str)] = &[
    ("Writer report", "write"),
    ("Re-writer report", "rewrite"),
    ("Reader report", "read"),
    ("Re-Reader report", "reread"),
    ("Random read report", "random read"),
    ("Random write report", "random write"),
    ("Backward read report", "bkwd read"),
    ("Record rewrite report", "record rewrite"),
    ("Stride read report", "stride read"),
    ("Fwrite report", "fwrite"),
    ("Re-Fwrite report", "frewrite"),
    ("Re-fwrite report", "frewrite"),
    ("Fread report", "fread"),
    ("Re-Fread report", "freread"),
    ("Re-fread report", "freread"),
];

/// Share by which a rate may be off that is printed in whole numbers.
const ROUNDED: f64 = 1e-3;

/// The report that the lines so far are of.
#[derive(Default)]
pub(super) struct Excel {
    test: Option<&'static str>,
    /// Sizes of the columns' records, in kB.
    records: Vec<u64>,
}

impl Excel {
    /// Reads a line; `false` if it is of no such report. `figures` are those of the run.
    pub(super) fn line(&mut self, scale: Scale, text: &str, figures: &mut [Figure]) -> bool {
        let title = text.strip_prefix('"').and_then(|text| text.strip_suffix('"')).map(str::trim);
        let report = REPORTS.iter().find(|(report, _)| title == Some(*report));
        if let Some((_, test)) = report {
            *self = Self { test: Some(test), records: Vec::new() };
            return true;
        }
        let Some(test) = self.test.filter(|_| text.starts_with('"')) else { return false };
        let words =
            || text.split_whitespace().map(|word| word.trim_matches('"').parse::<u64>().ok());
        if text.ends_with('"') {
            self.records = words().flatten().collect();
            return true;
        }
        let mut numbers = words();
        let Some(Some(file)) = numbers.next() else { return false };
        for (record, printed) in self.records.iter().zip(numbers) {
            let of = |figure: &&mut Figure| {
                // In microseconds its figure is a time.
                let name = figure.test.strip_suffix(".time").unwrap_or(&figure.test);
                name == test
                    && figure.params.get(key::FILE_SIZE) == file.checked_mul(KB)
                    && figure.params.get(key::BLOCK_SIZE) == record.checked_mul(KB)
            };
            let Some(printed) = printed.filter(|printed| *printed > 0) else { continue };
            if let Some(figure) = figures.iter_mut().rev().find(of) {
                compare(scale, *record, printed, figure);
            }
        }
        true
    }
}

/// Notes what the report has otherwise than the matrix.
fn compare(scale: Scale, record: u64, printed: u64, figure: &mut Figure) {
    let Some(value) = figure.trials.first().map(|trial| trial.value) else { return };
    let shown = match scale {
        Scale::Kb => value / KB as f64,
        Scale::Operations => value / (record * KB) as f64,
        Scale::Microseconds => value * 1e6,
    };
    if agree(shown, Rounded { value: printed as f64, off: 1.0 }, ROUNDED) {
        return;
    }
    let message = format!("the matrix has {shown:.0}, the report for Excel {printed}");
    figure.findings.push(contradicts(Severity::Invalid, message));
}

/// What IOzone says against its figures: how much that weighs, and up to which file size in bytes.
pub(super) fn warning(text: &str) -> Option<(Severity, String, u64)> {
    let sizes = text.strip_prefix("reported inaccurate results. Sizes ");
    let (severity, most) = match sizes {
        // After "Timer resolution is poor. Some small transfers may have".
        Some(sizes) => {
            (Severity::Suspect, sizes.split(' ').next()?.parse::<u64>().ok()?.checked_mul(KB)?)
        }
        None if text.starts_with("The test completed too quickly") => (Severity::Suspect, u64::MAX),
        None if text.starts_with(INVALID) => (Severity::Invalid, u64::MAX),
        None => return None,
    };
    Some((severity, format!("IOzone says: {}", text.trim_end_matches('.')), most))
}

/// With -V, which verifies what it reads.
const INVALID: &str = "Performance measurements are invalid in this mode";
