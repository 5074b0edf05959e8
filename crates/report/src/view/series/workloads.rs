//! Lines of several workloads in one chart: a line per workload, or a kind of its points.

use std::collections::BTreeSet;

use proofmark_model::{Measurement, Verdict};

use super::across::Tick;
use super::lines::{LINES, LineChart, SPAN, Series, Spot};
use super::{AXIS, Mark, mark};
use crate::view::label::{Group, interval};
use crate::view::num::Scale;
use crate::view::operation;
use crate::view::text::plural;
use crate::view::verdict_mark;

/// Labels under the axis.
const TICKS: usize = 8;

/// What a line shows of a point.
#[derive(Debug, Clone, Copy)]
pub enum Value {
    /// Its value.
    Rate,
    /// The median time of its single operations.
    P50,
    /// The time of so many units of work at its rate: `amount / rate`.
    TimeOf(fn(&Group, &Measurement) -> Option<f64>),
}

impl Value {
    /// In base units.
    pub fn read(self, group: &Group, m: &Measurement) -> Option<f64> {
        let value = match self {
            Self::Rate => m.summary.as_ref()?.value(),
            Self::P50 => m.latency.as_ref()?.p50,
            Self::TimeOf(amount) => amount(group, m)? / m.summary.as_ref()?.value(),
        };
        Some(value).filter(|v| v.is_finite() && *v > 0.0)
    }

    fn interval(self, group: &Group, m: &Measurement) -> Option<[f64; 2]> {
        let [low, high] = interval(m)?;
        let sides = match self {
            Self::Rate => [low, high],
            Self::P50 => return None,
            Self::TimeOf(amount) => [amount(group, m)? / high, amount(group, m)? / low],
        };
        sides.iter().all(|v| v.is_finite()).then_some(sides)
    }

    fn mark(self, group: &Group, m: &Measurement, scale: &Scale) -> Option<Mark> {
        if matches!(self, Self::Rate) {
            // Nobody could distinguish the ceilings of many workloads in one chart.
            return mark(group, m, scale).map(|mark| Mark { ceiling: None, fall: None, ..mark });
        }
        let on_axis = |v: f64| Some(scale.scaled(v)).filter(|v| v.is_finite() && v.abs() < AXIS);
        let value = self.read(group, m)?;
        let interval = self.interval(group, m).and_then(|[a, b]| Some([on_axis(a)?, on_axis(b)?]));
        let point = match group.short(m) {
            point if point.is_empty() => group.heading(),
            point => format!("{}, {point}", group.heading()),
        };
        Some(Mark {
            value: on_axis(value)?,
            text: scale.number(value)?,
            about: format!("{point}: {}, {}", scale.with_label(value)?, verdict_mark(m.verdict)),
            interval,
            ceiling: None,
            fall: None,
            verdict: m.verdict,
        })
    }
}

/// One line: its name and its points.
pub struct Line<'g, 'a> {
    /// Name in the legend.
    pub name: String,
    /// Whose points they are.
    pub group: &'g Group<'a>,
    /// Place on the axis in its own unit, and the point.
    pub points: Vec<(u64, &'a Measurement)>,
}

/// What a chart across workloads says of itself.
pub struct About<'s> {
    /// Title.
    pub title: &'s str,
    /// Label of the axis from left to right.
    pub axis: &'s str,
    /// How a place on that axis is written.
    pub place: fn(u64) -> String,
    /// What the values are.
    pub value: Value,
    /// What to know of it; empty if nothing.
    pub key: &'s str,
}

/// The chart; `None` without a line of two places.
pub fn chart(about: &About, lines: &[Line]) -> Option<LineChart> {
    let value = about.value;
    let drawn: Vec<&Line> =
        lines.iter().filter(|l| places(std::iter::once(*l)).len() > 1).collect();
    let places: Vec<u64> = places(drawn.iter().copied()).into_iter().collect();
    let points = || drawn.iter().flat_map(|l| l.points.iter().map(|(_, m)| (l.group, *m)));
    let unit = points().next()?.1.unit;
    let values: Vec<f64> = points().filter_map(|(g, m)| value.read(g, m)).collect();
    let scale = match value {
        Value::Rate => Scale::for_values(&values, unit),
        Value::P50 => operation::scale(points().filter_map(|(_, m)| m.latency.as_ref())),
        Value::TimeOf(_) => Scale::for_values(&values, proofmark_model::Unit::Second),
    };
    let at = |x: u64| {
        let i = places.iter().position(|p| *p == x)?;
        Some((i as f64 + 0.5) / places.len() as f64)
    };
    let mut series: Vec<Series> = Vec::new();
    for line in &drawn {
        let spot = |(x, m): &(u64, &Measurement)| {
            let mark = value.mark(line.group, m, &scale)?;
            Some(Spot { at: at(*x)?, x: (about.place)(*x), mark, saturates: false })
        };
        let mut spots: Vec<Spot> = line.points.iter().filter_map(spot).collect();
        spots.sort_by(|a, b| a.at.total_cmp(&b.at));
        if spots.len() > 1 {
            series.push(Series { name: line.name.clone(), spots });
        }
    }
    (!series.is_empty()).then_some(())?;
    let top = |s: &Series| s.spots.iter().map(|m| m.mark.value).fold(f64::NEG_INFINITY, f64::max);
    series.sort_by(|a, b| top(b).total_cmp(&top(a)));
    let more = series.len().saturating_sub(LINES);
    series.truncate(LINES);
    let values = || series.iter().flat_map(|s| &s.spots).map(|s| s.mark.value);
    let (low, high) = (values().fold(f64::INFINITY, f64::min), values().fold(0.0, f64::max));
    let log = low > 0.0 && high > SPAN * low;
    Some(LineChart {
        title: about.title.to_owned(),
        description: describe(&series, about, scale.label()),
        unit: scale.label().to_owned(),
        log,
        joined: false,
        axis: about.axis.to_owned(),
        ticks: places
            .iter()
            .step_by(places.len().div_ceil(TICKS).max(1))
            .filter_map(|x| Some(Tick { at: at(*x)?, label: (about.place)(*x) }))
            .collect(),
        rules: Vec::new(),
        key: about.key.to_owned(),
        left_out: match more {
            0 => String::new(),
            more => {
                format!("{}: in the sections of their workloads.", plural(more as u64, "more line"))
            }
        },
        series,
    })
}

fn places<'l>(lines: impl Iterator<Item = &'l Line<'l, 'l>>) -> BTreeSet<u64> {
    lines.flat_map(|l| &l.points).map(|(x, _)| *x).collect()
}

fn describe(series: &[Series], about: &About, unit: &str) -> String {
    let doubt = |v: Verdict| match v {
        Verdict::Valid => String::new(),
        other => format!(" ({other})"),
    };
    let one = |s: &Series| {
        let values: Vec<String> = s
            .spots
            .iter()
            .map(|p| format!("{} at {}{}", p.mark.text, p.x, doubt(p.mark.verdict)))
            .collect();
        format!("{}: {}", s.name, values.join(", "))
    };
    let all: Vec<String> = series.iter().map(one).collect();
    format!("In {unit} by {}. {}.", about.axis, all.join(". "))
}
