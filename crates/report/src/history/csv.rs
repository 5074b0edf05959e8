//! CSV for spreadsheets: one row per run, or one row per result.

use std::collections::BTreeMap;

use proofmark_model::{PastFigure, PastPoint, PastRun};

use crate::RenderError;
use crate::csv::{Cell, Columns, fixed, names, parameters, write};

const RUN: &Columns<PastRun> = &[
    ("run", |r| r.id.to_string().into()),
    ("run_id", |r| r.started.to_string().into()),
    ("started_utc", |r| r.started.to_string().into()),
    ("ended_utc", |r| r.ended.map(|t| t.to_string()).into()),
    ("host", |r| r.host.as_deref().into()),
    ("label", |r| r.label.as_deref().into()),
    ("machine", |r| (&*r.machine).into()),
    ("profile", |r| (&*r.profile).into()),
    ("version", |r| (&*r.version).into()),
    ("valid", |r| r.verdicts.valid.into()),
    ("coarse", |r| r.verdicts.coarse.into()),
    ("no_interval", |r| r.verdicts.no_interval.into()),
    ("not_run", |r| r.verdicts.not_run.into()),
    ("suspect", |r| r.verdicts.suspect.into()),
    ("invalid", |r| r.verdicts.invalid.into()),
    ("path", |r| (&*r.path).into()),
    ("missing", |r| missing(&r.missing)),
];

/// Columns before the parameters.
const POINT: &Columns<PastPoint> = &[
    ("run", |p| p.run.to_string().into()),
    ("run_id", |p| p.started.to_string().into()),
    ("started_utc", |p| p.started.to_string().into()),
    ("host", |p| p.host.as_deref().into()),
    ("label", |p| p.label.as_deref().into()),
    ("machine", |p| (&*p.machine).into()),
    ("workload", |p| (&*p.workload).into()),
];

/// Columns after the parameters.
const NUMBER: &Columns<PastPoint> = &[
    ("method_version", |p| u64::from(p.method_version).into()),
    ("over_time", |p| p.over_time.into()),
    ("trials", |p| p.trials.into()),
    ("headline", |p| p.headline.as_str().into()),
    ("value", |p| p.value.into()),
    ("ci95_low", |p| p.ci95.map(|[low, _]| low).into()),
    ("ci95_high", |p| p.ci95.map(|[_, high]| high).into()),
    ("attainable", |p| p.attainable.map(|f| f.value).into()),
    ("attainable_ci95_low", |p| end(p.attainable, 0)),
    ("attainable_ci95_high", |p| end(p.attainable, 1)),
    ("delivered", |p| p.delivered.map(|f| f.value).into()),
    ("delivered_ci95_low", |p| end(p.delivered, 0)),
    ("delivered_ci95_high", |p| end(p.delivered, 1)),
    ("levels", |p| p.levels.into()),
    ("unit", |p| p.unit.as_str().into()),
    ("better", |p| p.better.as_str().into()),
    ("efficiency", |p| p.efficiency.into()),
    ("ceiling_reliance", |p| p.efficiency.map(|_| p.reliance.as_str()).into()),
    ("verdict", |p| p.verdict.as_str().into()),
    ("missing", |p| missing(&p.missing)),
];

/// Returns the reasons why cells are empty: `label: ...; host: ...`.
fn missing(reasons: &BTreeMap<String, String>) -> Cell {
    let reasons = reasons.iter().map(|(field, why)| format!("{field}: {why}"));
    reasons.collect::<Vec<_>>().join("; ").into()
}

fn end(figure: Option<PastFigure>, at: usize) -> Cell {
    figure.and_then(|f| f.ci95).map(|ends| ends[at]).into()
}

pub fn runs(runs: &[PastRun]) -> Result<String, RenderError> {
    write(&fixed(RUN).collect::<Vec<_>>(), runs.iter())
}

pub fn points(points: &[PastPoint]) -> Result<String, RenderError> {
    let taken = names(POINT).chain(names(NUMBER)).map(str::to_owned).collect();
    let all = points.iter().map(|p| &p.params);
    let parameters = parameters(all, |p: &PastPoint| &p.params, &taken);
    let columns: Vec<_> = fixed(POINT).chain(parameters).chain(fixed(NUMBER)).collect();
    write(&columns, points.iter())
}
