//! The comparison as CSV: one row per result of each run after A.

use proofmark_model::{
    ComparedFigure, ComparedPercentile, ComparedPoint, Comparison, Number, Ratio, Side,
};

use crate::RenderError;
use crate::csv::{Cell, Columns, fixed, names, parameters, write};

/// A result of one comparison.
struct Row {
    a: Side,
    b: Side,
    point: ComparedPoint,
}

/// Columns before the parameters.
const RUNS: &Columns<Row> = &[
    ("run", |r| r.b.letter.to_string().into()),
    ("run_name", |r| (&*r.b.name).into()),
    ("run_machine", |r| (&*r.b.machine).into()),
    ("baseline_name", |r| (&*r.a.name).into()),
    ("baseline_machine", |r| (&*r.a.machine).into()),
    ("subsystem", |r| r.point.subsystem.as_str().into()),
    ("workload", |r| (&*r.point.workload).into()),
    ("result", |r| (&*r.point.title).into()),
    ("main_result", |r| r.point.main_row.map(|_| r.point.title.as_str()).into()),
];

/// Columns after the parameters.
const FIGURES: &Columns<Row> = &[
    ("unit", |r| r.point.unit.as_str().into()),
    ("better", |r| r.point.better.as_str().into()),
    ("figure", |r| r.point.figure.map(|kind| kind.as_str()).into()),
    ("baseline", |r| value(&r.point, r.point.a.as_ref())),
    ("value", |r| value(&r.point, r.point.b.as_ref())),
    ("baseline_verdict", |r| verdict(r.point.a.as_ref())),
    ("verdict", |r| verdict(r.point.b.as_ref())),
    ("ratio", |r| r.point.headline.as_ref().map(|h| h.value).into()),
    ("ratio_ci95_low", |r| end(r.point.headline.as_ref(), 0)),
    ("ratio_ci95_high", |r| end(r.point.headline.as_ref(), 1)),
    ("margin", |r| r.point.headline.as_ref().map(|h| h.margin).into()),
    ("runs_needed", |r| {
        let between = r.point.headline.as_ref().and_then(|h| h.between_runs.as_ref());
        between.and_then(|runs| runs.needs).into()
    }),
    ("outcome", |r| r.point.outcome().as_str().into()),
    ("baseline_delivered", |r| delivered(r.point.a.as_ref())),
    ("delivered", |r| delivered(r.point.b.as_ref())),
    ("delivered_ratio", |r| r.point.delivered.as_ref().map(|d| d.value).into()),
    ("delivered_ratio_ci95_low", |r| end(r.point.delivered.as_ref(), 0)),
    ("delivered_ratio_ci95_high", |r| end(r.point.delivered.as_ref(), 1)),
    ("delivered_outcome", |r| r.point.delivered.as_ref().map(|d| d.outcome.as_str()).into()),
    ("baseline_p50_s", |r| percentile(&r.point, "p50").map(|p| p.a).into()),
    ("p50_s", |r| percentile(&r.point, "p50").map(|p| p.b).into()),
    ("baseline_p99_s", |r| percentile(&r.point, "p99").map(|p| p.a).into()),
    ("p99_s", |r| percentile(&r.point, "p99").map(|p| p.b).into()),
    ("baseline_per_price", |r| r.point.per_price.as_ref().map(|money| money.a).into()),
    ("per_price", |r| r.point.per_price.as_ref().map(|money| money.b).into()),
    ("per_price_ratio", |r| per_price(&r.point).map(|figure| figure.value).into()),
    ("per_price_ratio_ci95_low", |r| end(per_price(&r.point), 0)),
    ("per_price_ratio_ci95_high", |r| end(per_price(&r.point), 1)),
    ("per_price_outcome", |r| per_price(&r.point).map(|figure| figure.outcome.as_str()).into()),
    ("gone", |r| r.point.gone().into()),
    ("not_measured", |r| r.point.is_left_out().into()),
    ("reason", |r| (&*r.point.reason).into()),
];

fn value(p: &ComparedPoint, number: Option<&Number>) -> Cell {
    number.and_then(|n| n.summary.figure(p.figure.unwrap_or(n.summary.headline)).value).into()
}

fn delivered(number: Option<&Number>) -> Cell {
    number.and_then(|n| n.summary.delivered.value).into()
}

fn percentile<'a>(p: &'a ComparedPoint, name: &str) -> Option<&'a ComparedPercentile> {
    p.percentiles.iter().find(|one| one.percentile == name)
}

fn verdict(number: Option<&Number>) -> Cell {
    number.map(|n| n.verdict.as_str()).into()
}

fn end(figure: Option<&ComparedFigure>, at: usize) -> Cell {
    let ends = figure.and_then(|ComparedFigure { ratio: Ratio { ci95, .. }, .. }| *ci95);
    ends.map(|ends| ends[at]).into()
}

fn per_price(p: &ComparedPoint) -> Option<&ComparedFigure> {
    p.per_price.as_ref().map(|money| &money.compared)
}

/// The rows of all comparisons, in their order.
pub fn csv(all: &[Comparison]) -> Result<String, RenderError> {
    let rows: Vec<Row> = all
        .iter()
        .flat_map(|c| {
            c.points.iter().map(|p| Row { a: c.a.clone(), b: c.b.clone(), point: p.clone() })
        })
        .collect();
    let taken = names(RUNS).chain(names(FIGURES)).map(str::to_owned).collect();
    let all = rows.iter().map(|r| &r.point.params);
    let parameters = parameters(all, |r: &Row| &r.point.params, &taken);
    let columns: Vec<_> = fixed(RUNS).chain(parameters).chain(fixed(FIGURES)).collect();
    write(&columns, rows.iter())
}
