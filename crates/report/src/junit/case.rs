//! One result as a test case.

use proofmark_model::{Ending as Ended, Finding, Measurement, Severity, Verdict};

use super::document::{Case, Cause, Ending, Properties, text};
use crate::view::why_no_trials;

/// Maximum time of a case; only untrusted input has longer sums.
const LONGEST_S: f64 = 1e9;

pub fn from_measurement(m: &Measurement) -> Case {
    let seconds = m.trials.iter().fold(0.0, |sum, t| sum + t.seconds);
    let mut properties = vec![("verdict", m.verdict.to_string())];
    if let Some(s) = &m.summary {
        properties.extend([("headline", number(s.value())), ("unit", m.unit.to_string())]);
    }
    properties.extend(m.precision.map(|p| ("half_width", number(p.half_width))));
    properties.extend(m.efficiency.map(|e| ("efficiency", number(e))));
    properties.push(("trials", m.trials.len().to_string()));
    Case {
        name: name(m),
        class: Some(text(&m.workload)),
        seconds: Some(if seconds.is_nan() { 0.0 } else { seconds.clamp(0.0, LONGEST_S) }),
        properties: Some(Properties::new(properties)),
        ending: ending(m),
        output: (!m.findings.is_empty()).then(|| list(m.findings.iter())),
    }
}

/// Returns the parameters, or `default` without any.
fn name(m: &Measurement) -> String {
    let parameters = m.params.0.iter().map(|(name, v)| text(&format!("{name}={v}")));
    let parameters: Vec<String> = parameters.collect();
    if parameters.is_empty() { "default".to_owned() } else { parameters.join(" ") }
}

fn ending(m: &Measurement) -> Option<Ending> {
    let cause = |kind| Cause::new(kind, text(&why_no_trials(m)));
    match &m.ending {
        Ended::Crashed { .. } => Some(Ending::Error(cause("crashed"))),
        Ended::Limited { .. } => Some(Ending::Error(cause("limited"))),
        Ended::Unverified { .. } => Some(Ending::Error(cause("unverified"))),
        Ended::Refused { .. } => Some(Ending::Skipped(cause("refused"))),
        Ended::Interrupted { .. } | Ended::Unfinished if m.summary.is_none() => {
            Some(Ending::Skipped(cause("interrupted")))
        }
        _ if m.verdict == Verdict::Invalid => Some(worst(m.findings.iter()).unwrap_or_else(|| {
            Ending::Failure(Cause::new("invalid", "the run file gives no reason".to_owned()))
        })),
        _ => None,
    }
}

/// Returns a failure for the first finding that makes a result invalid.
pub fn worst<'a>(mut findings: impl Iterator<Item = &'a Finding>) -> Option<Ending> {
    let worst = findings.find(|f| f.severity == Severity::Invalid)?;
    Some(Ending::Failure(Cause::new(&text(&worst.check), text(&worst.message))))
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
