//! Raw trials, one a row, for spreadsheets and statistics programs.
//!
//! Where reference tools ran, their trials follow proofmark's, and columns say whose each
//! is: `proofmark`, or the tool's name with its version and command line. The parameters of such a row
//! are those of the point; the verdict is that of the tool's number.
//!
//! The unit of `value` and `work` is in a column of its own, since one file holds
//! several workloads; every other column names its unit at the end of its name. A
//! measurement without trials has one row that says why. RFC 4180; text that a
//! spreadsheet would take for a formula gets an apostrophe in front, as OWASP
//! ("CSV Injection") advises.

mod network;
mod reference;
mod solution;

use std::collections::BTreeSet;

use proofmark_model::{FileState, Measurement, Run, Trial, Unit};

use self::reference::Whose;
use crate::view::{clean, trial_iops, why_no_trials};
use crate::{Format, Options, RenderError};

/// See the module.
#[derive(Debug, Clone, Copy)]
pub struct Csv;

/// Columns between the parameters and the conditions.
const TRIAL: [&str; 11] = [
    "trial",
    "value",
    "unit",
    "iops",
    "seconds_s",
    "work",
    "work_unit",
    "moved_bytes",
    "background_bytes_per_s",
    "started_utc",
    "verdict",
];

/// Columns of [`proofmark_model::Conditions`], in the order of [`conditions`].
const CONDITIONS: [&str; 14] = [
    "clock_hz",
    "clock_spread",
    "clock_disagreement",
    "steal_s",
    "throttled_s",
    "other_cpu_s",
    "own_cpu_s",
    "involuntary_switches",
    "migrations",
    "minor_faults",
    "major_faults",
    "swapped_pages",
    "huge_pages_share",
    "misplaced_pages_share",
];

/// Columns of [`proofmark_model::DeviceTraffic`] and [`FileState`], in the
/// order of [`disk`].
const DISK: [&str; 17] = [
    "device_read_bytes",
    "device_written_bytes",
    "device_reads",
    "device_writes",
    "device_flushes",
    "device_busy_s",
    "device_in_flight_s",
    "own_read_bytes",
    "own_written_bytes",
    "asked_read_bytes",
    "asked_written_bytes",
    "file_direct",
    "file_size_bytes",
    "file_unwritten_share",
    "file_cached_share",
    "file_entropy_bits",
    "file_flushed",
];

impl Format for Csv {
    fn id(&self) -> &'static str {
        "csv"
    }

    fn file(&self) -> Option<&'static str> {
        Some("report.csv")
    }

    fn about(&self) -> &'static str {
        "One row per trial, for spreadsheets and statistics programs."
    }

    fn render(&self, run: &Run, _: &Options) -> Result<String, RenderError> {
        let parameters: BTreeSet<&str> =
            run.measurements.iter().flat_map(|m| m.params.0.keys()).map(String::as_str).collect();
        let mut writer = ::csv::Writer::from_writer(Vec::new());
        let mut header = vec!["workload".to_owned(), "subsystem".to_owned()];
        let shared = reference::any(run);
        if shared {
            header.extend(reference::COLUMNS.map(str::to_owned));
        }
        header.extend(parameters.iter().map(|k| guarded(k)));
        header.extend(TRIAL.iter().chain(&CONDITIONS).chain(&DISK).map(|s| (*s).to_owned()));
        header.extend(network::columns());
        header.extend(solution::COLUMNS.map(str::to_owned));
        header.push("missing".to_owned());
        writer.write_record(&header).map_err(failed)?;
        for m in &run.measurements {
            let ours = shared.then(|| Whose::ours(run));
            if m.trials.is_empty() {
                writer.write_record(row(m, &parameters, ours, None)).map_err(failed)?;
            }
            let own = m.trials.iter().enumerate().map(|t| (ours, Shot::from_trial(t)));
            let theirs = m.references.iter().flat_map(reference::shots);
            for (whose, shot) in own.chain(theirs) {
                writer.write_record(row(m, &parameters, whose, Some(shot))).map_err(failed)?;
            }
        }
        let bytes = writer.into_inner().map_err(|e| RenderError::Csv(e.to_string()))?;
        String::from_utf8(bytes).map_err(|e| RenderError::Csv(e.to_string()))
    }
}

fn failed(error: ::csv::Error) -> RenderError {
    RenderError::Csv(error.to_string())
}

/// One trial of a row.
struct Shot<'a> {
    /// From 0.
    at: usize,
    value: f64,
    /// All else that is known of it.
    trial: Option<&'a Trial>,
}

impl<'a> Shot<'a> {
    fn from_trial((at, trial): (usize, &'a Trial)) -> Self {
        Self { at, value: trial.value, trial: Some(trial) }
    }
}

/// One record; without a trial, one that says why there is none.
fn row(
    m: &Measurement,
    parameters: &BTreeSet<&str>,
    whose: Option<Whose>,
    shot: Option<Shot>,
) -> Vec<String> {
    let mut out = vec![guarded(&m.workload), m.subsystem.to_string()];
    out.extend(whose.into_iter().flat_map(|w| w.cells()));
    out.extend(
        parameters
            .iter()
            .map(|k| m.params.get(k).map_or_else(String::new, |v| guarded(&v.to_string()))),
    );
    let verdict = whose.and_then(|w| w.verdict).unwrap_or(m.verdict);
    let trial = shot.as_ref().and_then(|s| s.trial);
    out.extend([
        shot.as_ref().map_or_else(String::new, |s| (s.at + 1).to_string()),
        number(shot.as_ref().map(|s| s.value)),
        m.unit.to_string(),
        number(shot.as_ref().and_then(|s| trial_iops(m, s.value))),
        number(trial.map(|t| t.seconds)),
        number(trial.map(|t| t.work)),
        work_unit(m.unit).to_owned(),
        number(trial.and_then(|t| t.moved)),
        number(trial.and_then(|t| t.background)),
        trial.map_or_else(String::new, |t| t.started.to_string()),
        verdict.to_string(),
    ]);
    match trial {
        Some(t) => {
            out.extend(conditions(t));
            out.extend(disk(t));
            out.extend(network::cells(t));
            out.extend(solution::cells(t));
        }
        None => {
            let columns = CONDITIONS.len()
                + DISK.len()
                + network::columns().count()
                + solution::COLUMNS.len();
            out.extend(std::iter::repeat_n(String::new(), columns));
        }
    }
    out.push(match shot {
        Some(_) => String::new(),
        None => guarded(&why_no_trials(m)),
    });
    out
}

fn conditions(t: &Trial) -> [String; 14] {
    let c = &t.conditions;
    [
        number(c.clock_hz),
        number(c.clock_spread),
        number(c.clock_disagreement),
        number(c.steal_s),
        number(c.throttled_s),
        number(c.other_cpu_s),
        number(c.own_cpu_s),
        count(c.involuntary_switches),
        count(c.migrations),
        count(c.minor_faults),
        count(c.major_faults),
        count(c.swapped_pages),
        number(c.huge_pages),
        number(c.misplaced_pages),
    ]
}

fn disk(t: &Trial) -> [String; 17] {
    let flag = |v: Option<bool>| v.map_or_else(String::new, |v| v.to_string());
    let (d, f) = (t.device.as_ref(), t.file.as_ref());
    [
        count(d.map(|d| d.read_bytes)),
        count(d.map(|d| d.written_bytes)),
        count(d.map(|d| d.reads)),
        count(d.map(|d| d.writes)),
        count(d.and_then(|d| d.flushes)),
        number(d.map(|d| d.busy_s)),
        number(d.map(|d| d.in_flight_s)),
        count(d.and_then(|d| d.own_read_bytes)),
        count(d.and_then(|d| d.own_written_bytes)),
        count(f.map(|f| f.asked_read_bytes)),
        count(f.map(|f| f.asked_written_bytes)),
        flag(f.and_then(|f| f.direct)),
        count(f.map(|f| f.size_bytes)),
        number(f.and_then(|f| f.unwritten)),
        number(f.and_then(|f| f.cached)),
        number(f.and_then(|f| f.entropy_bits)),
        flag(f.map(FileState::flushed)),
    ]
}

/// A count; empty where there is none.
fn count(value: Option<u64>) -> String {
    value.map_or_else(String::new, |v| v.to_string())
}

/// The shortest text that reads back as the same number; empty where there is none.
fn number(value: Option<f64>) -> String {
    match value {
        Some(v) if v.is_finite() && v != 0.0 && !(1e-4..1e15).contains(&v.abs()) => {
            format!("{v:e}")
        }
        Some(v) if v.is_finite() => format!("{v}"),
        _ => String::new(),
    }
}

/// What is counted in a trial whose rate has this unit.
fn work_unit(unit: Unit) -> &'static str {
    match unit {
        Unit::FlopPerSecond => "FLOP",
        Unit::OpPerSecond | Unit::Second => "op",
        Unit::Hertz => "cycle",
        Unit::BytePerSecond => "B",
        Unit::BitPerSecond => "bit",
    }
}

/// Text that no spreadsheet takes for a formula.
pub(crate) fn guarded(text: &str) -> String {
    let text = clean(text);
    if text.trim_start().starts_with(['=', '+', '-', '@']) { format!("'{text}") } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formulas_are_defused_and_numbers_left_alone() {
        for bad in ["=1+1", "+1", "-cmd|' /C calc'!A0", "@SUM(A1)", "\t=1", " =1"] {
            assert!(guarded(bad).starts_with('\''), "{bad:?}");
        }
        assert_eq!(guarded("avx2+fma"), "avx2+fma");
        assert_eq!(number(Some(-1.5)), "-1.5");
        assert_eq!(number(Some(1e300)), "1e300");
        assert_eq!(number(Some(0.0)), "0");
        assert_eq!(number(Some(f64::NAN)), "");
    }
}
