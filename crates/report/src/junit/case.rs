//! One point as a test case.

use proofmark_model::{Ending as Ended, Finding, Measurement, Severity, Verdict};

use super::document::{Case, Ending, Outcome};
use crate::view::{clean, why_no_trials};

/// Longest time of a case; only untrusted input has longer sums.
const LONGEST_S: f64 = 1e9;

/// The case of a measurement.
pub fn from_measurement(m: &Measurement) -> Case {
    let seconds = m.trials.iter().fold(0.0, |sum, t| sum + t.seconds);
    let seconds = if seconds.is_nan() { 0.0 } else { seconds.clamp(0.0, LONGEST_S) };
    let mut properties = vec![("verdict", m.verdict.as_str().to_owned())];
    if let Some(s) = &m.summary {
        properties.push(("headline", number(s.value())));
        properties.push(("unit", m.unit.as_str().to_owned()));
    }
    properties.extend(m.precision.map(|p| ("half_width", number(p.half_width))));
    properties.extend(m.efficiency.map(|e| ("efficiency", number(e))));
    properties.push(("trials", m.trials.len().to_string()));
    Case {
        name: name(m),
        class: Some(text(&m.workload)),
        seconds: Some(seconds),
        properties,
        outcome: outcome(m),
        output: (!m.findings.is_empty()).then(|| said(m.findings.iter())),
    }
}

/// The parameters, or `default` where there are none.
fn name(m: &Measurement) -> String {
    let parameters =
        m.params.0.iter().map(|(name, v)| format!("{}={}", text(name), text(&v.to_string())));
    let parameters: Vec<String> = parameters.collect();
    if parameters.is_empty() { "default".to_owned() } else { parameters.join(" ") }
}

fn outcome(m: &Measurement) -> Option<Outcome> {
    match &m.ending {
        Ended::Crashed { .. } => Some(Outcome::new(Ending::Error, "crashed", why(m))),
        Ended::Unverified { .. } => Some(Outcome::new(Ending::Error, "unverified", why(m))),
        Ended::Refused { .. } => Some(Outcome::new(Ending::Skipped, "refused", why(m))),
        Ended::Interrupted { .. } | Ended::Unfinished if m.summary.is_none() => {
            Some(Outcome::new(Ending::Skipped, "interrupted", why(m)))
        }
        _ if m.verdict == Verdict::Invalid => {
            let worst = m.findings.iter().find(|f| f.severity == Severity::Invalid);
            let (check, message) = worst.map_or_else(
                || ("invalid".to_owned(), "the run file gives no reason".to_owned()),
                |f| (text(&f.check), text(&f.message)),
            );
            Some(Outcome::new(Ending::Failure, &check, message))
        }
        _ => None,
    }
}

fn why(m: &Measurement) -> String {
    text(&why_no_trials(m))
}

/// Findings, one per line, with their advice.
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
