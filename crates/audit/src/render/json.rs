//! The audit for programs: one JSON object.

use proofmark_model::{Finding, Verdict};
use serde::Serialize;

use super::{Summary, summary};
use crate::{Judged, Sheet};

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
    line: u64,
    subsystem: &'static str,
    tool: &'a str,
    operation: &'a str,
    metric: &'a str,
    block_size_bytes: Option<u64>,
    threads: Option<u64>,
    trial: &'a str,
    value: f64,
    unit_as_written: &'a str,
    value_si: Option<f64>,
    si_unit: &'a str,
    verdict: Verdict,
    /// Id of the rule that explains the verdict.
    reason: Option<&'a str>,
    findings: &'a [Finding],
}

/// The text, which ends in a line break.
///
/// # Errors
/// If it cannot be written as JSON.
pub fn render(sheet: &Sheet, judged: &[Judged]) -> Result<String, serde_json::Error> {
    let rows = sheet.figures().iter().zip(judged).map(|(f, j)| Row {
        line: f.line,
        subsystem: f.subsystem.as_str(),
        tool: &f.tool,
        operation: &f.operation,
        metric: &f.metric_name,
        block_size_bytes: f.block,
        threads: f.threads,
        trial: &f.statistic_name,
        value: f.value,
        unit_as_written: &f.unit,
        value_si: f.si,
        si_unit: &f.si_unit,
        verdict: j.verdict,
        reason: j.reason().map(|r| r.check.as_ref()),
        findings: &j.findings,
    });
    let document = Document { schema: SCHEMA, summary: summary(judged), figures: rows.collect() };
    let mut text = serde_json::to_string_pretty(&document)?;
    text.push('\n');
    Ok(text)
}
