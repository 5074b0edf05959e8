//! Findings, the same one over many points gathered into one.

use std::collections::BTreeMap;

use proofmark_model::{Finding, Host, Run, Severity};
use serde::Serialize;

use super::label::Group;
use super::text::{clean, plural, stop};

/// Places that are told by name.
const NAMED: usize = 4;

/// Where a finding was made.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Place {
    /// `avx2, f64, 2 threads`, or `the host`.
    pub at: String,
    /// The message there.
    pub message: String,
    /// `name = value`, one a figure.
    pub evidence: Vec<String>,
}

/// One finding over all the points where it was made.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct FindingGroup {
    /// Id of the check.
    pub check: String,
    /// How much it weighs.
    pub severity: Severity,
    /// The cause, as found at the first place.
    pub message: String,
    /// That as a sentence, and whether the other places have messages of their own.
    pub sentence: String,
    /// True if the message is the same at every place.
    pub uniform: bool,
    /// What to do about it.
    pub advice: String,
    /// `cpu.flops at 3 points: ...`.
    pub where_: String,
    /// Every place.
    pub places: Vec<Place>,
}

/// Signs and words of the severities.
pub fn severity_mark(severity: Severity) -> &'static str {
    match severity {
        Severity::Note => "i note",
        Severity::Suspect => "! suspect",
        Severity::Invalid => "✗ invalid",
    }
}

/// All findings of a run: worst first, then those at most places.
pub fn all(run: &Run) -> Vec<FindingGroup> {
    let mut found: Vec<(String, String, &Finding)> = Vec::new();
    for f in &run.findings {
        found.push(("the run".to_owned(), String::new(), f));
    }
    for f in &run.host.findings {
        found.push(("the host".to_owned(), String::new(), f));
    }
    let groups = super::kernel::groups(run);
    for group in &groups {
        found.extend(of_group(group));
    }
    gather(&found)
}

/// The findings about the machine itself.
pub fn of_host(host: &Host) -> Vec<FindingGroup> {
    let found: Vec<_> =
        host.findings.iter().map(|f| ("the host".to_owned(), String::new(), f)).collect();
    gather(&found)
}

/// The findings of one kernel.
pub fn of_kernel(group: &Group) -> Vec<FindingGroup> {
    gather(&of_group(group).collect::<Vec<_>>())
}

fn of_group<'a>(group: &'a Group) -> impl Iterator<Item = (String, String, &'a Finding)> {
    group.all.iter().flat_map(move |m| {
        let at = group.short(m);
        m.findings.iter().map(move |f| (clean(group.id), at.clone(), f))
    })
}

fn gather(found: &[(String, String, &Finding)]) -> Vec<FindingGroup> {
    type Key<'a> = (Severity, &'a str, &'a str);
    let mut groups: BTreeMap<Key, Vec<&(String, String, &Finding)>> = BTreeMap::new();
    for item in found {
        let f = item.2;
        groups.entry((f.severity, &f.check, &f.advice)).or_default().push(item);
    }
    let mut out: Vec<FindingGroup> = groups.into_values().filter_map(|i| group(&i)).collect();
    out.sort_by(|a, b| {
        b.severity
            .cmp(&a.severity)
            .then(b.places.len().cmp(&a.places.len()))
            .then(a.check.cmp(&b.check))
    });
    out
}

fn group(items: &[&(String, String, &Finding)]) -> Option<FindingGroup> {
    let (_, _, first) = items.first()?;
    let places = items.iter().map(|(kernel, at, f)| Place {
        at: if at.is_empty() { kernel.clone() } else { format!("{kernel}: {at}") },
        message: clean(&f.message),
        evidence: f
            .evidence
            .iter()
            .map(|(name, value)| clean(&format!("{name} = {}", evidence(value))))
            .collect(),
    });
    let message = clean(&first.message);
    let uniform = items.iter().all(|(_, _, f)| f.message == first.message);
    let like = if uniform { "" } else { "; alike at the others" };
    let sentence = match message.strip_suffix('.') {
        Some(open) => format!("{open}{like}."),
        None => stop(&format!("{message}{like}")),
    };
    Some(FindingGroup {
        check: clean(&first.check),
        severity: first.severity,
        message,
        sentence,
        uniform,
        advice: clean(&first.advice),
        where_: whereabouts(items),
        places: places.collect(),
    })
}

/// Few places by name, of more the points of each kernel counted.
fn whereabouts(items: &[&(String, String, &Finding)]) -> String {
    let mut by_kernel: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for (kernel, at, _) in items {
        by_kernel.entry(kernel).or_default().push(at);
    }
    let parts: Vec<String> = by_kernel
        .iter()
        .map(|(kernel, points)| match points.as_slice() {
            [""] => (*kernel).to_owned(),
            few if few.len() == 1 || items.len() <= NAMED => {
                format!("{kernel} ({})", few.join("; "))
            }
            many => format!("{kernel} ({})", plural(many.len() as u64, "point")),
        })
        .collect();
    parts.join(", ")
}

/// A figure of the evidence: text without its quotes.
fn evidence(value: &serde_json::Value) -> String {
    match value {
        serde_json::Value::String(s) => s.clone(),
        serde_json::Value::Number(n) => match n.as_f64() {
            Some(v) if !n.is_u64() && !n.is_i64() => super::num::plain(v),
            _ => n.to_string(),
        },
        other => other.to_string(),
    }
}
