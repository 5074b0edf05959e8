//! What is drawn: lines over an axis, and bars by instruction set.
//!
//! The parameters decide, not the workload's name. A workload names the parameter that its charts
//! show from left to right, and has one line a combination of the other parameters; one
//! measured at two or more values of `isa` has bars against their ceilings. A chart
//! with more lines than a reader can follow is split by one of the parameters.

mod across;
mod bars;
mod lines;
mod panels;
mod parameters;
pub mod workloads;

use proofmark_model::{Measurement, Subsystem, Summary, Unit, Verdict};
use serde::Serialize;

pub use self::across::{Rule, Tick};
pub use self::bars::{Bar, BarChart, bars};
pub use self::lines::{LINES, LineChart, SPAN, Series, Spot};
use super::disk::{fall, fall_phrase, way};
use super::label::{Group, interval};
use super::num::{Scale, percent};
use super::operation;
use super::verdict_mark;

/// Values on the axis beyond which a chart shows nothing.
pub const AXIS: f64 = 1e7;

/// One measured value, on the chart's scale.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Mark {
    /// The headline figure.
    pub value: f64,
    /// The same as it is printed.
    pub text: String,
    /// Point, value, interval, ceiling and verdict in words.
    pub about: String,
    /// 95 % interval.
    pub interval: Option<[f64; 2]>,
    /// Ceiling.
    pub ceiling: Option<f64>,
    /// Where the rate fell: what it began with and what lasted.
    pub fall: Option<[f64; 2]>,
    /// Verdict.
    pub verdict: Verdict,
}

/// The line charts of one workload.
pub fn lines(group: &Group, scale: &Scale) -> Vec<LineChart> {
    match group.all.first().map(|m| m.subsystem) {
        Some(Subsystem::Disk | Subsystem::Network) => parameters::lines(group, scale),
        _ => lines::lines(group, scale),
    }
}

/// Parameters that another one decides, so that points along it may differ in them too: one
/// I/O at a time needs no engine for many, and each depth has one engine.
pub fn follows<'a>(group: &Group<'a>, parameter: &str) -> Option<&'a str> {
    let engine = group.varying.iter().copied().find(|n| *n == "engine")?;
    let depth = |m: &Measurement| m.params.get("queue_depth").cloned();
    let one_each = group.all.iter().all(|a| {
        let same = |b: &&&Measurement| depth(a) == depth(b) && way(a) == way(b);
        group.all.iter().filter(same).all(|b| a.params.get(engine) == b.params.get(engine))
    });
    (parameter == "queue_depth" && one_each).then_some(engine)
}

/// Measurements that have a place on the axis.
pub fn drawable<'a>(group: &Group<'a>, scale: &Scale) -> Vec<&'a Measurement> {
    let fits = |m: &&Measurement| {
        m.summary.as_ref().is_some_and(|s| {
            let v = scale.scaled(s.value());
            v.is_finite() && v.abs() < AXIS
        })
    };
    group.all.iter().copied().filter(fits).collect()
}

pub fn mark(group: &Group, m: &Measurement, scale: &Scale) -> Option<Mark> {
    let s = m.summary.as_ref()?;
    let on_axis = |v: f64| {
        let v = scale.scaled(v);
        (v.is_finite() && v.abs() < AXIS).then_some(v)
    };
    Some(Mark {
        value: on_axis(s.value())?,
        text: scale.number(s.value())?,
        about: about(group, scale, m, s),
        interval: interval(m).and_then(|[a, b]| Some([on_axis(a)?, on_axis(b)?])),
        ceiling: m.ceiling.as_ref().and_then(|c| on_axis(c.value)),
        fall: fall(m).and_then(|[a, b]| Some([on_axis(a)?, on_axis(b)?])),
        verdict: m.verdict,
    })
}

/// The median time of a point's single operations.
fn mark_of_time(group: &Group, m: &Measurement, scale: &Scale) -> Option<Mark> {
    let value = scale.scaled(m.latency.as_ref()?.p50);
    Some(Mark {
        value: Some(value).filter(|v| v.is_finite() && v.abs() < AXIS)?,
        text: scale.number(m.latency.as_ref()?.p50)?,
        about: format!(
            "{}: {}, {}",
            group.short(m),
            operation::phrase(m)?,
            verdict_mark(m.verdict)
        ),
        interval: None,
        ceiling: None,
        fall: None,
        verdict: m.verdict,
    })
}

/// What a pointer shows over a mark.
fn about(group: &Group, scale: &Scale, m: &Measurement, s: &Summary) -> String {
    let interval = interval(m).and_then(|i| scale.interval(i));
    let near = m.efficiency.and_then(percent);
    let ceiling = m.ceiling.as_ref().and_then(|c| scale.with_label(c.value));
    let parts = [
        scale.with_label(s.value()),
        Some(interval.map_or_else(|| "no interval".to_owned(), |i| format!("95 % interval {i}"))),
        match (near, ceiling) {
            (Some(near), Some(ceiling)) => Some(format!("{near} % of its ceiling of {ceiling}")),
            (None, Some(ceiling)) => Some(format!("ceiling {ceiling}")),
            _ => None,
        },
        Some(verdict_mark(m.verdict).to_owned()),
        fall_phrase(m, scale),
        group.oversubscribed(m).then(|| "oversubscribed".to_owned()),
    ];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    match group.short(m) {
        point if point.is_empty() => parts.join(", "),
        point => format!("{point}: {}", parts.join(", ")),
    }
}

/// What a value is called.
fn noun(group: &Group) -> &'static str {
    match group.all.first().map(|m| m.unit) {
        Some(Unit::Second) => "latency",
        _ => "rate",
    }
}

/// The title of a chart: the workload, what is drawn, and of which points.
pub fn title(group: &Group, what: &str, name: &str) -> String {
    let workload = group.heading();
    if name.is_empty() {
        format!("{workload}: {what}")
    } else {
        format!("{workload}: {what} ({name})")
    }
}
