//! One point as a test case.

use std::time::Duration;

use proofmark_model::{Ending, Finding, Measurement, Severity, Verdict};
use quick_junit::{NonSuccessKind, TestCase, TestCaseStatus};

use crate::view::{clean, why_no_trials};

/// Longest time that is told of a case; sums beyond are a stranger's.
const LONGEST_S: f64 = 1e9;

/// The case of a measurement.
pub fn of(m: &Measurement) -> TestCase {
    let mut case = TestCase::new(name(m), status(m));
    case.set_classname(text(&m.workload));
    let seconds: f64 = m.trials.iter().map(|t| t.seconds).sum();
    let seconds = if seconds.is_nan() { 0.0 } else { seconds.clamp(0.0, LONGEST_S) };
    case.set_time(Duration::from_secs_f64(seconds));
    case.add_property(("verdict", m.verdict.as_str()));
    if let Some(s) = &m.summary {
        case.add_property(("median", number(s.median).as_str()));
        case.add_property(("unit", m.unit.as_str()));
    }
    if let Some(e) = m.efficiency {
        case.add_property(("efficiency", number(e).as_str()));
    }
    case.add_property(("trials", m.trials.len().to_string().as_str()));
    if !m.findings.is_empty() {
        case.set_system_out(said(m.findings.iter()));
    }
    case
}

/// The parameters, or `default` where there are none.
fn name(m: &Measurement) -> String {
    let parameters =
        m.params.0.iter().map(|(name, v)| format!("{}={}", text(name), text(&v.to_string())));
    let parameters: Vec<String> = parameters.collect();
    if parameters.is_empty() { "default".to_owned() } else { parameters.join(" ") }
}

fn status(m: &Measurement) -> TestCaseStatus {
    let of = |kind, ty: &str, message: String| {
        let mut status = TestCaseStatus::non_success(kind);
        status.set_type(ty).set_message(message);
        status
    };
    match &m.ending {
        Ending::Crashed { .. } => of(NonSuccessKind::Error, "crashed", why(m)),
        Ending::Unverified { .. } => of(NonSuccessKind::Error, "unverified", why(m)),
        Ending::Refused { .. } => skipped("refused", why(m)),
        Ending::Interrupted { .. } | Ending::Unfinished if m.summary.is_none() => {
            skipped("interrupted", why(m))
        }
        _ if m.verdict == Verdict::Invalid => {
            let worst = m.findings.iter().find(|f| f.severity == Severity::Invalid);
            let (check, message) = worst.map_or_else(
                || ("invalid".to_owned(), "the run file does not say why".to_owned()),
                |f| (text(&f.check), text(&f.message)),
            );
            of(NonSuccessKind::Failure, &check, message)
        }
        _ => TestCaseStatus::success(),
    }
}

fn skipped(ty: &str, message: String) -> TestCaseStatus {
    let mut status = TestCaseStatus::skipped();
    status.set_type(ty).set_message(message);
    status
}

fn why(m: &Measurement) -> String {
    text(&why_no_trials(m))
}

/// Findings, one a line, with what to do.
pub fn said<'a>(findings: impl Iterator<Item = &'a Finding>) -> String {
    let line = |f: &Finding| {
        let weight = match f.severity {
            Severity::Note => "note",
            Severity::Suspect => "suspect",
            Severity::Invalid => "invalid",
        };
        format!("{weight}: {}: {} ({})\n", text(&f.check), text(&f.message), text(&f.advice))
    };
    findings.map(line).collect()
}

/// A number with every digit.
fn number(value: f64) -> String {
    if value.is_finite() { value.to_string() } else { "unknown".to_owned() }
}

/// Text of characters that XML 1.0 allows: what steers a terminal is gone, and so are the two
/// code points that are no characters.
pub fn text(from: &str) -> String {
    clean(from).replace(['\u{fffe}', '\u{ffff}'], "")
}
