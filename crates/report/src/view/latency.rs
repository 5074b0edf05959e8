//! The time of single operations: percentiles, distributions, and what the time grows
//! to as the queue gets deeper.

use std::collections::BTreeSet;

use proofmark_model::{Latency, Measurement, Subsystem, Verdict};
use serde::Serialize;

use super::keyed::{caption, keyed, keys};
use super::label::like;
use super::label::{Group, why_missing, why_no_trials};
use super::num::Scale;
use super::series::{LINES, follows, title};
use super::table::{Cell, Table};
use super::text::plural;
use super::verdict_mark;
use super::{disk, network, operation};

/// Least step of the cumulative share, in percent, that a line shows.
const STEP: f64 = 0.1;
/// Latency-throughput curves of one workload.
const CURVES: usize = 4;
/// Times on the axis, in its unit, beyond which a chart shows nothing.
const AXIS: f64 = 1e7;

/// What the times of I/Os are.
const IO_TIME: &str = "The time of one I/O from before its submission until its completion is seen, over \
    all trials. With several in flight, it includes waiting for the others.";

/// An axis of numbers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Along {
    /// What it shows, with its unit.
    pub label: String,
    /// Whether equal factors, not equal steps, are at equal distances.
    pub log: bool,
}

/// A point of a curve that has a sign and a label.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Point {
    /// Place in the axes' units, from left to right and upwards.
    pub at: [f64; 2],
    /// Its printed label; empty without one.
    pub label: String,
    /// In words.
    pub about: String,
    /// Verdict of its measurement, where the legend does not give that of the whole curve.
    pub verdict: Option<Verdict>,
}

/// One curve.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Curve {
    /// Name in the legend.
    pub name: String,
    /// Its corners in the axes' units.
    pub line: Vec<[f64; 2]>,
    /// What is marked on it.
    pub points: Vec<Point>,
}

/// Curves over an axis of numbers.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct LatencyChart {
    /// Title.
    pub title: String,
    /// What a reader would see, in words.
    pub description: String,
    /// From left to right.
    pub x: Along,
    /// Upwards.
    pub y: Along,
    /// The curves.
    pub curves: Vec<Curve>,
    /// What the marks are.
    pub key: String,
    /// What is left out and why; empty if nothing is.
    pub left_out: String,
}

/// What the times of round trips are.
const ROUND_TRIP: &str = "The time from before the message is sent until its whole answer has arrived, \
    over all trials. It is the full round trip, not half of it.";

/// What the times of connections are.
const CONNECTION: &str =
    "The time from before the socket is created until the server's first byte arrives.";

/// What the times of a workload are, and the term under which that is explained.
fn meaning(group: &Group) -> Option<(&'static str, &'static str)> {
    let m = group.all.first()?;
    match m.subsystem {
        Subsystem::Disk => Some(("p50 and the other times", IO_TIME)),
        Subsystem::Network if network::round_trips(m) => Some(("times of round trips", ROUND_TRIP)),
        Subsystem::Network => Some(("times of connections", CONNECTION)),
        _ => None,
    }
}

/// The cell of one of the times of single operations, or why there is none.
pub fn percentile(
    m: &Measurement,
    scale: &Scale,
    table: &mut Table,
    read: impl Fn(&Latency) -> Option<f64>,
) -> Cell {
    let text = m.latency.as_ref().and_then(read).and_then(|v| scale.number(v));
    table.maybe(text, || match m.latency {
        None => "its operations were not timed individually".to_owned(),
        Some(_) => "too few operations for this percentile".to_owned(),
    })
}

/// Percentiles of every point that has them; empty where none has.
pub fn table(group: &Group) -> Table {
    let scale = operation::scale(group.all.iter().filter_map(|m| m.latency.as_ref()));
    let mut table = keyed(group, caption(group, "times of single operations"), &[]);
    // A narrow page always has p50 and p99.
    for (name, spare) in
        [("min", 4), ("mean", 3), ("p50", 0), ("p90", 4), ("p99", 0), ("p99.9", 1), ("max", 1)]
    {
        table = table.measured(name, scale.label()).spare(spare);
        if let Some((term, about)) = meaning(group).filter(|_| name == "p50") {
            table = table.explained(term, about);
        }
    }
    table = table.number("count").spare(3);
    if group.all.iter().all(|m| m.latency.is_none()) {
        return table;
    }
    for m in &group.all {
        let mut cells = keys(group, m, &mut table, &[]);
        let Some(count) = m.latency.as_ref().map(|l| l.count) else {
            let none = table.missing(match m.summary {
                None => why_no_trials(m),
                Some(_) => why_missing(m, "latency", "its operations were not timed individually"),
            });
            cells.resize(table.columns.len(), none);
            table.push(cells);
            continue;
        };
        let times: [fn(&Latency) -> Option<f64>; 7] = [
            |l| Some(l.min),
            |l| Some(l.mean),
            |l| Some(l.p50),
            |l| l.p90,
            |l| l.p99,
            |l| l.p999,
            |l| Some(l.max),
        ];
        cells.extend(times.map(|read| percentile(m, &scale, &mut table, read)));
        cells.push(Cell::text(proofmark_model::format_count(count)));
        table.push(cells);
    }
    table
}

/// The distributions: of the best number and those that differ from it by the workload's
/// axis, then of the others, as many as a chart holds.
pub fn distribution(group: &Group) -> Option<LatencyChart> {
    let timed: Vec<(&Measurement, &Latency)> = group
        .all
        .iter()
        .filter_map(|m| m.latency.as_ref().map(|l| (*m, l)))
        .filter(|(_, l)| l.buckets.len() > 1)
        .collect();
    let scale = operation::scale(timed.iter().map(|(_, l)| *l));
    let mut curves: Vec<Curve> = in_order(group, &timed)
        .into_iter()
        .filter_map(|(m, l)| cumulative(group, &scale, m, l))
        .collect();
    if curves.is_empty() {
        return None;
    }
    let more = curves.len().saturating_sub(LINES);
    curves.truncate(LINES);
    Some(LatencyChart {
        title: title(group, "distribution of operation times", ""),
        description: format!("Cumulative share of operations by time. {}.", describe(&curves)),
        x: Along { label: format!("time, {}", scale.label()), log: true },
        y: Along { label: "% of operations".to_owned(), log: false },
        curves,
        key: "Markers: p50, p99 and p99.9, where there are enough operations.".to_owned(),
        left_out: if more > 0 {
            format!("{}: in the table.", plural(more as u64, "more distribution"))
        } else {
            String::new()
        },
    })
}

/// What the points of all curves say.
fn describe(curves: &[Curve]) -> String {
    let points = curves.iter().flat_map(|c| &c.points);
    points.map(|p| p.about.as_str()).collect::<Vec<_>>().join("; ")
}

/// The best number's series first, thinned to what a chart holds, then the rest.
fn in_order<'a>(
    group: &Group<'a>,
    timed: &[(&'a Measurement, &'a Latency)],
) -> Vec<(&'a Measurement, &'a Latency)> {
    let all: Vec<&Measurement> = timed.iter().map(|(m, _)| *m).collect();
    let hero = group.answer().map(|(m, _)| m);
    let series = hero.map_or_else(Vec::new, |m| like(&all, m, &along(group, group.axis)));
    let near = |m: &Measurement| series.iter().any(|s| std::ptr::eq(*s, m));
    let (near, far): (Vec<_>, Vec<_>) = timed.iter().copied().partition(|(m, _)| near(m));
    let step = |i: usize| i * (near.len() - 1) / (LINES - 1);
    let thin: BTreeSet<usize> = match near.len() {
        few if few <= LINES => (0..few).collect(),
        _ => (0..LINES).map(step).collect(),
    };
    let (first, rest): (Vec<_>, Vec<_>) =
        near.iter().copied().enumerate().partition(|(i, _)| thin.contains(i));
    first.into_iter().chain(rest).map(|(_, t)| t).chain(far).collect()
}

/// The parameters that differ along an axis: itself, and those that it decides.
fn along<'a>(group: &Group<'a>, parameter: &'a str) -> Vec<&'a str> {
    let mut parameters = vec![parameter];
    parameters.extend(follows(group, parameter));
    parameters
}

fn cumulative(group: &Group, scale: &Scale, m: &Measurement, l: &Latency) -> Option<Curve> {
    let on_axis = |v: f64| Some(scale.scaled(v)).filter(|v| *v > 1.0 / AXIS && *v < AXIS);
    let total: f64 = l.buckets.iter().map(|b| b.count as f64).sum();
    let mut line: Vec<[f64; 2]> = on_axis(l.min).map(|x| [x, 0.0]).into_iter().collect();
    let mut below = 0.0;
    for b in &l.buckets {
        below += b.count as f64;
        let share = below / total * 100.0;
        let shown = line.last().map_or(-STEP, |p| p[1]);
        let at_left = line.last().is_some_and(|p| scale.scaled(b.upto) < p[0]);
        if !at_left && (share - shown >= STEP || below >= total) {
            line.extend(on_axis(b.upto).map(|x| [x, share]));
        }
    }
    let name = group.short(m);
    let points = [("p50", Some(l.p50), 50.0), ("p99", l.p99, 99.0), ("p99.9", l.p999, 99.9)];
    let points: Vec<Point> = points
        .into_iter()
        .filter_map(|(percentile, value, share)| {
            Some(Point {
                at: [on_axis(value?)?, share],
                label: String::new(),
                about: format!("{name}: {percentile} {}", scale.with_label(value?)?),
                verdict: None,
            })
        })
        .collect();
    let name = match m.verdict {
        Verdict::Valid => name,
        other => format!("{name} ({})", verdict_mark(other)),
    };
    (line.len() > 1 && !points.is_empty()).then_some(Curve { name, line, points })
}

/// Latency over throughput, a chart a sweep of the queue depth: that of the best number
/// first.
pub fn curves(group: &Group, scale: &Scale) -> Vec<LatencyChart> {
    const DEPTH: &str = "queue_depth";
    let asked: Vec<&Measurement> =
        group.all.iter().copied().filter(|m| disk::distance(m).is_some()).collect();
    let hero = group.answer().map(|(m, _)| m);
    let but = along(group, DEPTH);
    let mut sweeps: Vec<Vec<&Measurement>> = Vec::new();
    for m in hero.into_iter().chain(asked.iter().copied()) {
        if !sweeps.iter().flatten().any(|known| std::ptr::eq(*known, m)) {
            sweeps.push(like(&asked, m, &but));
        }
    }
    sweeps.iter().filter_map(|s| sweep(group, scale, s, &but)).take(CURVES).collect()
}

/// One sweep of the queue depth.
fn sweep(
    group: &Group,
    scale: &Scale,
    members: &[&Measurement],
    but: &[&str],
) -> Option<LatencyChart> {
    let mut members: Vec<(u64, &Measurement)> =
        members.iter().filter_map(|m| Some((m.params.int("queue_depth")?, *m))).collect();
    members.sort_by_key(|(depth, _)| *depth);
    let first = members.first()?.1;
    let counted = disk::chart_iops(members.iter().map(|(_, m)| *m));
    let rate = counted(first).unwrap_or_else(|| scale.clone());
    let times = operation::scale(members.iter().filter_map(|(_, m)| m.latency.as_ref()));
    let of = |name: &str, read: fn(&Latency) -> Option<f64>| -> Curve {
        let points = members.iter().filter_map(|(depth, m)| {
            let (s, time) = (m.summary.as_ref()?, read(m.latency.as_ref()?)?);
            let at = [rate.scaled(s.value()), times.scaled(time)];
            at.iter().all(|v| v.is_finite() && (0.0..AXIS).contains(v)).then_some(())?;
            Some(Point {
                at,
                label: if name == "p50" { depth.to_string() } else { String::new() },
                about: format!(
                    "queue depth {depth}: {name} {} at {}, {}",
                    times.with_label(time)?,
                    rate.with_label(s.value())?,
                    verdict_mark(m.verdict)
                ),
                verdict: Some(m.verdict),
            })
        });
        let points: Vec<Point> = points.collect();
        let line = points.iter().map(|p| p.at).collect();
        Curve { name: name.to_owned(), line, points }
    };
    let curves: Vec<Curve> = [of("p50", |l| Some(l.p50)), of("p99", |l| l.p99)].into();
    let curves: Vec<Curve> = curves.into_iter().filter(|c| c.points.len() > 1).collect();
    if curves.is_empty() {
        return None;
    }
    Some(LatencyChart {
        title: title(group, "latency by throughput", &group.short_without(first, but)),
        description: format!("Latency as the queue gets deeper. {}.", describe(&curves)),
        x: Along { label: rate.label().to_owned(), log: false },
        y: Along { label: times.label().to_owned(), log: wide(&curves) },
        curves,
        key: "Labels: I/Os in flight per thread.".to_owned(),
        left_out: String::new(),
    })
}

/// Whether the times differ so much that only a logarithm shows all.
fn wide(curves: &[Curve]) -> bool {
    let times = || curves.iter().flat_map(|c| &c.points).map(|p| p.at[1]);
    let (low, high) = (times().fold(f64::INFINITY, f64::min), times().fold(0.0, f64::max));
    low > 0.0 && high > super::series::SPAN * low
}
