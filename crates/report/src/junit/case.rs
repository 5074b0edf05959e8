//! One result as a test case.

use std::time::Duration;

use proofmark_model::{Ending, Finding, Measurement, Severity, Verdict};
use quick_junit::{Property, TestCase, TestCaseStatus};

use super::document::{case, error, failure, skipped, text};
use crate::view::{delivered, why_no_trials};

/// Maximum time of a case; only untrusted input has longer sums.
const LONGEST_S: f64 = 1e9;

pub fn from_measurement(m: &Measurement) -> TestCase {
    let seconds = m.trials.iter().fold(0.0, |sum, t| sum + t.seconds);
    let seconds = if seconds.is_nan() { 0.0 } else { seconds.clamp(0.0, LONGEST_S) };
    let mut properties = vec![("verdict", m.verdict.to_string())];
    if let Some(s) = &m.summary {
        properties.extend([("headline", number(s.value())), ("unit", m.unit.to_string())]);
    }
    let delivered = delivered(m).and_then(|figure| figure.value);
    properties.extend(delivered.map(|value| ("delivered", number(value))));
    properties.extend(m.precision.map(|p| ("half_width", number(p.half_width))));
    properties.extend(m.efficiency.map(|e| ("efficiency", number(e))));
    properties.push(("trials", m.trials.len().to_string()));
    let mut case = case(&name(m), &m.workload, status(m));
    case.set_time(Duration::from_secs_f64(seconds));
    case.add_properties(properties.into_iter().map(|(name, value)| Property::new(name, value)));
    if !m.findings.is_empty() {
        case.set_system_out(list(m.findings.iter()));
    }
    case
}

/// Returns the parameters, or `default` without any.
fn name(m: &Measurement) -> String {
    let parameters = m.params.0.iter().map(|(name, v)| format!("{name}={v}"));
    let parameters: Vec<String> = parameters.collect();
    if parameters.is_empty() { "default".to_owned() } else { parameters.join(" ") }
}

fn status(m: &Measurement) -> TestCaseStatus {
    let why = why_no_trials(m);
    let skipped = |kind: &str| {
        let mut status = skipped(&why);
        status.set_type(kind);
        status
    };
    match &m.ending {
        Ending::Crashed { .. } => error("crashed", &why),
        Ending::Limited { .. } => error("limited", &why),
        Ending::Unverified { .. } => error("unverified", &why),
        Ending::Refused { .. } => skipped("refused"),
        Ending::Interrupted { .. } | Ending::Unfinished if m.summary.is_none() => {
            skipped("interrupted")
        }
        _ if m.verdict == Verdict::Invalid => worst(m.findings.iter())
            .unwrap_or_else(|| failure("invalid", "the run file gives no reason")),
        _ => TestCaseStatus::success(),
    }
}

/// Returns a failure for the first finding that makes a result invalid.
pub fn worst<'a>(mut findings: impl Iterator<Item = &'a Finding>) -> Option<TestCaseStatus> {
    let worst = findings.find(|f| f.severity == Severity::Invalid)?;
    Some(failure(&worst.check, &worst.message))
}

/// Lists findings, one per line, with their advice.
pub fn list<'a>(findings: impl Iterator<Item = &'a Finding>) -> String {
    let line = |f: &Finding| {
        let weight = match f.severity {
            Severity::Note => "note",
            Severity::NotRun => "not run",
            Severity::Suspect => "suspect",
            Severity::Invalid => "invalid",
        };
        text(&format!("{weight}: {}: {} ({})", f.check, f.message, f.advice)) + "\n"
    };
    findings.map(line).collect()
}

/// Writes a number with every digit.
fn number(value: f64) -> String {
    if value.is_finite() { value.to_string() } else { "unknown".to_owned() }
}
