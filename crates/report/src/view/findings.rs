//! Groups findings of one cause over many configurations. Messages that differ only in their
//! numbers become one message with ranges.

use std::collections::BTreeMap;

use proofmark_model::{Finding, Host, Run, Severity};
use serde::Serialize;

use super::label::Group;
use super::merge_messages::{Kind, merged};
use super::text::{and_list, clean, counted, joined, stop};

/// Maximum number of places that are named.
const NAMED: usize = 4;
/// Maximum number of workloads that are named in few words.
const NAMED_BRIEFLY: usize = 3;

/// One place where a finding was made.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Place {
    /// `FP peak, 2 CPUs, avx2`, or `the host`.
    pub at: String,
    /// The message at this place.
    pub message: String,
    /// `name = value`, one per figure.
    pub evidence: Vec<String>,
}

/// One finding over all the places where it was made.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct FindingGroup {
    /// Id of the check.
    pub check: String,
    /// The tool whose result has the finding; `None` for proofmark's own results.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool: Option<String>,
    /// The severity.
    pub severity: Severity,
    /// The cause in a sentence, after the tool's name if it concerns a tool. Over several places,
    /// its numbers are ranges.
    pub sentence: String,
    /// The message without its numbers.
    #[serde(skip)]
    pub kind: Kind,
    /// True if the message is the same at every place.
    pub uniform: bool,
    /// The advice.
    pub advice: String,
    /// `FP peak (3 results)`: the places; on the first screen, the rows.
    pub place: String,
    /// The places in few words: `FP peak (3 results), Commit and 4 more workloads`.
    #[serde(skip)]
    pub briefly: String,
    /// Every place.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub places: Vec<Place>,
}

impl FindingGroup {
    /// Returns true if the severity is above a note and the finding concerns proofmark's own
    /// results.
    pub fn is_problem(&self) -> bool {
        self.severity > Severity::Note && self.tool.is_none()
    }
}

/// A finding and where it was made.
struct Found<'a> {
    /// The workload's title, or `the host`.
    place: String,
    /// The result's name; that of the place where it is no result.
    at: String,
    /// The tool whose result has the finding.
    tool: Option<String>,
    finding: &'a Finding,
}

impl<'a> Found<'a> {
    fn at(place: &str, finding: &'a Finding) -> Self {
        let [place, at] = [place, place].map(str::to_owned);
        Self { place, at, tool: None, finding }
    }
}

/// Signs and words of the severities.
pub fn severity_mark(severity: Severity) -> &'static str {
    match severity {
        Severity::Note => "i note",
        Severity::NotRun => "- not run",
        Severity::Suspect => "! suspect",
        Severity::Invalid => "✗ invalid",
    }
}

/// All findings of a run: worst first, then those with the most places.
pub fn for_run(run: &Run) -> Vec<FindingGroup> {
    let mut found: Vec<Found> = Vec::new();
    found.extend(run.findings.iter().map(|f| Found::at("the run", f)));
    found.extend(run.host.findings.iter().map(|f| Found::at("the host", f)));
    let groups = super::label::groups(run);
    for group in &groups {
        found.extend(found_in(group));
    }
    gather(&found)
}

/// The findings about the machine itself.
pub fn findings_of_host(host: &Host) -> Vec<FindingGroup> {
    let found: Vec<Found> = host.findings.iter().map(|f| Found::at("the host", f)).collect();
    gather(&found)
}

/// The findings of one workload.
pub fn for_workload(group: &Group) -> Vec<FindingGroup> {
    gather(&found_in(group).collect::<Vec<_>>())
}

/// Findings in proofmark's results and in those of reference tools.
fn found_in<'a>(group: &'a Group) -> impl Iterator<Item = Found<'a>> {
    group.all.iter().flat_map(move |m| {
        let at = group.title_of(m);
        let ours = m.findings.iter().map(|f| (None, f));
        let theirs = m.references.iter().flat_map(|r| r.findings.iter().map(move |f| (Some(r), f)));
        ours.chain(theirs).map(move |(reference, finding)| Found {
            place: group.heading(),
            at: at.clone(),
            tool: reference.map(|r| clean(&r.tool)),
            finding,
        })
    })
}

fn gather(found: &[Found]) -> Vec<FindingGroup> {
    type Key<'a> = (Severity, Option<&'a str>, &'a str, &'a str, Kind);
    let mut groups: BTreeMap<Key, Vec<&Found>> = BTreeMap::new();
    for item in found {
        let f = item.finding;
        let kind = Kind::of_message(&clean(&f.message));
        let key = (f.severity, item.tool.as_deref(), &*f.check, &*f.advice, kind);
        groups.entry(key).or_default().push(item);
    }
    let groups = groups.into_iter().filter_map(|((.., kind), items)| group(&items, kind));
    let mut out: Vec<FindingGroup> = groups.collect();
    out.sort_by(|a, b| {
        b.severity
            .cmp(&a.severity)
            .then(a.tool.is_some().cmp(&b.tool.is_some()))
            .then(b.places.len().cmp(&a.places.len()))
            .then(a.check.cmp(&b.check))
    });
    out
}

fn group(items: &[&Found], kind: Kind) -> Option<FindingGroup> {
    let (tool, first) = items.first().map(|i| (i.tool.clone(), i.finding))?;
    let places = items.iter().map(|i| Place {
        at: i.at.clone(),
        message: clean(&i.finding.message),
        evidence: i
            .finding
            .evidence
            .iter()
            .map(|(name, value)| clean(&format!("{name} = {}", evidence(value))))
            .collect(),
    });
    let whose = tool.as_ref().map_or_else(String::new, |tool| format!("{tool}: "));
    let messages: Vec<String> = items.iter().map(|i| clean(&i.finding.message)).collect();
    let sentence = stop(&format!("{whose}{}", merged(messages.iter().map(String::as_str))));
    let uniform = items.iter().all(|i| i.finding.message == first.message);
    Some(FindingGroup {
        check: clean(&first.check),
        tool,
        severity: first.severity,
        sentence,
        kind,
        uniform,
        advice: clean(&first.advice),
        place: name_places(items),
        briefly: briefly(items),
        places: places.collect(),
    })
}

/// Names a few results; for more, counts those of each workload.
fn name_places(items: &[&Found]) -> String {
    let mut by_workload: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for item in items {
        by_workload.entry(&item.place).or_default().push(&item.at);
    }
    let part = |(workload, names): (&str, Vec<&str>)| match names.as_slice() {
        few if few.len() == 1 || items.len() <= NAMED => few.join("; "),
        many => format!("{workload} ({})", counted(many.len() as u64, "result")),
    };
    joined(by_workload.into_iter().map(part), "; ")
}

/// Names the first workloads and counts the others: `FP peak (3 results), Commit and 4 more
/// workloads`.
fn briefly(items: &[&Found]) -> String {
    let mut counts: BTreeMap<&str, u64> = BTreeMap::new();
    items.iter().for_each(|item| *counts.entry(&item.place).or_default() += 1);
    let named = counts.iter().map(|(place, count)| match count {
        1 => (*place).to_owned(),
        n => format!("{place} ({})", counted(*n, "result")),
    });
    let more = counts.len().saturating_sub(NAMED_BRIEFLY) as u64;
    and_list(named.take(NAMED_BRIEFLY).chain((more > 0).then(|| counted(more, "more workload"))))
}

/// A figure of the evidence; text is without its quotes.
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
