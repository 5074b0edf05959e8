//! For spreadsheets: one row per run, or one row per result. RFC 4180; text that a spreadsheet would
//! take for a formula gets an apostrophe in front, as OWASP ("CSV Injection") advises.

use std::collections::BTreeSet;

use proofmark_model::{Better, PastFigure, PastPoint, PastRun};

use crate::RenderError;
use crate::csv::guarded;

const RUN: [&str; 11] = [
    "run",
    "started_utc",
    "ended_utc",
    "host",
    "machine",
    "profile",
    "version",
    "valid",
    "suspect",
    "invalid",
    "path",
];

/// Before the parameters, and after them.
const POINT: [&str; 5] = ["run", "started_utc", "host", "machine", "workload"];
const NUMBER: [&str; 18] = [
    "method",
    "over_time",
    "n",
    "headline",
    "value",
    "ci95_low",
    "ci95_high",
    "attainable",
    "attainable_ci95_low",
    "attainable_ci95_high",
    "delivered",
    "delivered_ci95_low",
    "delivered_ci95_high",
    "levels",
    "unit",
    "better",
    "efficiency",
    "verdict",
];

pub fn runs(runs: &[PastRun]) -> Result<String, RenderError> {
    let row = |r: &PastRun| {
        vec![
            r.id.to_string(),
            r.started.to_string(),
            r.ended.map_or_else(String::new, |t| t.to_string()),
            guarded(r.host.as_deref().unwrap_or("")),
            guarded(&r.machine),
            guarded(&r.profile),
            guarded(&r.version),
            r.valid.to_string(),
            r.suspect.to_string(),
            r.invalid.to_string(),
            guarded(&r.path),
        ]
    };
    table(RUN.map(str::to_owned).to_vec(), runs.iter().map(row))
}

pub fn points(points: &[PastPoint]) -> Result<String, RenderError> {
    let parameters: BTreeSet<&str> =
        points.iter().flat_map(|p| p.params.0.keys()).map(String::as_str).collect();
    let mut head = POINT.map(str::to_owned).to_vec();
    head.extend(parameters.iter().map(|parameter| guarded(parameter)));
    head.extend(NUMBER.map(str::to_owned));
    let row = |p: &PastPoint| {
        let mut row = vec![
            p.run.to_string(),
            p.started.to_string(),
            guarded(p.host.as_deref().unwrap_or("")),
            guarded(&p.machine),
            guarded(&p.workload),
        ];
        let value = |parameter: &&str| p.params.get(parameter).map(|v| guarded(&v.to_string()));
        row.extend(parameters.iter().map(|parameter| value(parameter).unwrap_or_default()));
        let better = match p.better {
            Better::Higher => "higher",
            Better::Lower => "lower",
        };
        row.extend([
            p.method.to_string(),
            p.over_time.to_string(),
            p.n.to_string(),
            p.headline.as_str().to_owned(),
        ]);
        row.extend(figure(Some(PastFigure { value: p.value, ci95: p.ci95 })));
        row.extend([p.attainable, p.delivered].into_iter().flat_map(figure));
        row.extend([
            p.levels.map_or_else(String::new, |n| n.to_string()),
            p.unit.to_string(),
            better.to_owned(),
            number(p.efficiency),
            p.verdict.to_string(),
        ]);
        row
    };
    table(head, points.iter().map(row))
}

/// A figure and the ends of its interval.
fn figure(figure: Option<PastFigure>) -> [String; 3] {
    let ends = figure.and_then(|f| f.ci95);
    [figure.map(|f| f.value), ends.map(|[low, _]| low), ends.map(|[_, high]| high)].map(number)
}

fn table(
    head: Vec<String>,
    rows: impl Iterator<Item = Vec<String>>,
) -> Result<String, RenderError> {
    let failed = |error: ::csv::Error| RenderError::Csv(error.to_string());
    let mut writer =
        ::csv::WriterBuilder::new().terminator(::csv::Terminator::CRLF).from_writer(Vec::new());
    writer.write_record(&head).map_err(failed)?;
    for row in rows {
        writer.write_record(&row).map_err(failed)?;
    }
    let bytes = writer.into_inner().map_err(|e| RenderError::Csv(e.to_string()))?;
    String::from_utf8(bytes).map_err(|e| RenderError::Csv(e.to_string()))
}

/// The shortest text that reads back as the same number; empty where there is none.
fn number(value: Option<f64>) -> String {
    value.filter(|v| v.is_finite()).map_or_else(String::new, |v| format!("{v:e}"))
}
