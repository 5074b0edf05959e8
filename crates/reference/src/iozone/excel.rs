//! The second account of a listing (`-R` repeats the matrix as a report for each test), and
//! IOzone's own warnings at the end of a run.

use proofmark_model::{Severity, key};

use super::work::{KB, Scale};
use crate::Figure;
use crate::findings::contradicts;
use crate::printed::{Rounded, agree};

/// The reports by title, with the matrix's name of each test.
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

/// The relative error of a rate in whole numbers.
const ROUNDED: f64 = 1e-3;

/// The report that the current lines belong to.
#[derive(Default)]
pub(super) struct Excel {
    test: Option<&'static str>,
    /// The record sizes of the columns, in kB.
    records: Vec<u64>,
}

impl Excel {
    /// Reads a line; `false` if it belongs to no such report. `figures` are those of the run.
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
                // In microseconds the figure is a time.
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

/// Adds a finding if the report differs from the matrix.
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
    let message = format!("the matrix has {shown:.0}, but the report for Excel has {printed}");
    figure.findings.push(contradicts(Severity::Invalid, message));
}

/// Returns IOzone's warning about its figures: severity, text, and the largest affected file in
/// bytes.
pub(super) fn warning(text: &str) -> Option<(Severity, String, u64)> {
    let sizes = text.strip_prefix("reported inaccurate results. Sizes ");
    let (severity, most) = match sizes {
        // The line before is "Timer resolution is poor. Some small transfers may have".
        Some(sizes) => {
            (Severity::Suspect, sizes.split(' ').next()?.parse::<u64>().ok()?.checked_mul(KB)?)
        }
        None if text.starts_with("The test completed too quickly") => (Severity::Suspect, u64::MAX),
        None if text.starts_with(INVALID) => (Severity::Invalid, u64::MAX),
        None => return None,
    };
    Some((severity, format!("IOzone warns: {}", text.trim_end_matches('.')), most))
}

/// The warning of -V, which verifies the data that it reads.
const INVALID: &str = "Performance measurements are invalid in this mode";
