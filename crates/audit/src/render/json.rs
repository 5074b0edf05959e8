//! The audit for programs: one JSON object.

use proofmark_model::Finding;
use serde::Serialize;

use super::{Summary, summary};
use crate::{Figure, Judged, Missing, Sheet};

/// Name and version of this form.
pub const SCHEMA: &str = "proofmark.audit/1";

#[derive(Serialize)]
struct Document<'a> {
    schema: &'static str,
    summary: Summary,
    figures: Vec<Row<'a>>,
}

#[derive(Serialize)]
struct Row<'a> {
    #[serde(flatten)]
    figure: &'a Figure,
    verdict: String,
    /// Id of the rule that explains the verdict.
    reason: Option<&'a str>,
    findings: &'a [Finding],
    /// Facts that rules lacked.
    missing: &'a [Missing],
}

/// Renders the audit as JSON with a final line break.
pub fn render(sheet: &Sheet, judged: &[Judged]) -> Result<String, serde_json::Error> {
    let rows = sheet.figures().iter().zip(judged).map(|(figure, j)| Row {
        figure,
        verdict: super::id(j),
        reason: j.reason().map(|r| r.check.as_ref()),
        findings: &j.findings,
        missing: &j.missing,
    });
    let document = Document { schema: SCHEMA, summary: summary(judged), figures: rows.collect() };
    let mut text = serde_json::to_string_pretty(&document)?;
    text.push('\n');
    Ok(text)
}
