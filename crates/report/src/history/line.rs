//! A point of a workload on one machine over time.

use std::collections::BTreeSet;

use proofmark_model::{
    Better, FigureKind, Param, ParameterKind, PastPoint, Unit, WorkloadSpec, format_count,
    format_size,
};

use crate::view::{Scale, clean, figure_word};

/// One point on one machine, in trials or sampled over time.
#[derive(Debug, Clone, PartialEq)]
pub struct Line<'a> {
    /// What identifies it: parameters, the machine, how it was measured; empty if it is
    /// the only line.
    pub name: String,
    pub better: Better,
    /// What its value is: a figure's name, or `figure` where runs differ in that.
    pub headline: &'static str,
    /// One scale for all its values.
    pub scale: Scale,
    /// Oldest first.
    pub moments: Vec<Moment<'a>>,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Moment<'a> {
    pub point: &'a PastPoint,
    /// What became of the last one before it that is not invalid: 0.1 for a tenth more. `None`
    /// where there is none, or where this one or that is no number to hold another against.
    pub change: Option<f64>,
}

impl Moment<'_> {
    /// `3 levels`, in place of an interval: the value is none of them.
    pub fn several_levels(&self) -> Option<String> {
        self.point.levels.filter(|n| *n > 1).map(|n| format!("{} levels", format_count(n)))
    }

    /// What the run got, where the headline is another figure.
    pub fn delivered(&self) -> Option<f64> {
        let other = self.point.headline != FigureKind::Delivered && self.point.unit.is_work();
        self.point.delivered.filter(|_| other).map(|figure| figure.value)
    }
}

/// Which machine a point was measured on: its own name, and what it is. A run that was added from
/// its file has no name, and a name may pass to another machine.
type Machine<'a> = (Option<&'a str>, &'a str);

fn machine(point: &PastPoint) -> Machine<'_> {
    (point.host.as_deref(), &point.machine)
}

/// The lines of these points, in the order in which they come: point by point, and the machines of
/// each by name.
pub fn lines<'a>(points: &'a [PastPoint], spec: Option<&'a WorkloadSpec>) -> Vec<Line<'a>> {
    let key = |p: &PastPoint| (p.method, p.unit, p.better, p.over_time);
    let name = names(points, spec);
    let mut lines = Vec::new();
    for of_point in points.chunk_by(|a, b| a.params == b.params && key(a) == key(b)) {
        let machines: BTreeSet<Machine> = of_point.iter().map(machine).collect();
        for here in machines {
            let all: Vec<&PastPoint> = of_point.iter().filter(|p| machine(p) == here).collect();
            let Some(first) = all.first() else { continue };
            lines.push(Line {
                name: name(first),
                better: first.better,
                headline: figure_word(all.iter().map(|p| p.headline)),
                scale: scale(&all, first.unit),
                moments: moments(&all),
            });
        }
    }
    lines
}

/// What tells the lines of these points apart: parameters, unit, way, method and machine, as much of
/// them as differs.
fn names<'a>(
    points: &'a [PastPoint],
    spec: Option<&'a WorkloadSpec>,
) -> impl Fn(&PastPoint) -> String + 'a {
    let parameters = varying(points);
    let units = differ(points, |p| p.unit.as_str());
    let ways = differ(points, |p| p.over_time);
    let methods = differ(points, |p| p.method);
    let machines = [differ(points, |p| p.host.as_deref()), differ(points, |p| &*p.machine)];
    move |p| {
        let value = |name: &&str| Some(said(spec, name, p.params.named(name)?));
        let mut name: Vec<String> = parameters.iter().filter_map(value).collect();
        name.extend(units.then(|| format!("in {}", p.unit)));
        name.extend((p.over_time && ways).then(|| OVER_TIME.to_owned()));
        name.extend(methods.then(|| format!("method {}", p.method)));
        let host = p.host.as_deref().map_or_else(|| "an unnamed machine".to_owned(), clean);
        name.extend(match machines {
            [false, false] => None,
            [true, false] => Some(format!("on {host}")),
            [false, true] => Some(format!("on {}", clean(&p.machine))),
            [true, true] => Some(format!("on {host} ({})", clean(&p.machine))),
        });
        name.join(", ")
    }
}

/// How a point was measured, where it is not in trials.
const OVER_TIME: &str = "sampled over time";

/// Whether points differ in that.
fn differ<'a, T: PartialEq>(points: &'a [PastPoint], read: impl Fn(&'a PastPoint) -> T) -> bool {
    points.windows(2).any(|pair| read(&pair[0]) != read(&pair[1]))
}

/// An invalid result does not set the scale.
fn scale(points: &[&PastPoint], unit: Unit) -> Scale {
    let none = points.iter().all(|p| !p.verdict.is_usable());
    let counted = points.iter().filter(|p| none || p.verdict.is_usable());
    Scale::for_largest(counted.map(|p| p.value), unit)
}

fn moments<'a>(points: &[&'a PastPoint]) -> Vec<Moment<'a>> {
    let mut before: Option<f64> = None;
    let moment = |point: &&'a PastPoint| {
        let value = Some(point.value).filter(|_| point.verdict.is_usable());
        let change = before.zip(value).map(|(before, value)| value / before - 1.0);
        before = value.filter(|v| v.is_finite() && *v > 0.0).or(before);
        Moment { point, change: change.filter(|c| c.is_finite()) }
    };
    points.iter().map(moment).collect()
}

/// `isa avx2, threads 2`: the parameters that are the same at all points, and whether all were sampled
/// over time; empty without any.
pub fn shared(points: &[PastPoint], spec: Option<&WorkloadSpec>) -> String {
    let differing = varying(points);
    let Some(first) = points.first() else { return String::new() };
    let same = first.params.0.iter().filter(|(name, _)| !differing.contains(&name.as_str()));
    let parameters = same.map(|(name, value)| said(spec, name, value));
    let way = points.iter().all(|p| p.over_time).then(|| OVER_TIME.to_owned());
    parameters.chain(way).collect::<Vec<_>>().join(", ")
}

/// Parameters that differ between points, or that not all of them have, sorted by name.
fn varying(points: &[PastPoint]) -> Vec<&str> {
    let all: BTreeSet<&str> = points.iter().flat_map(|p| p.params.0.keys()).map(|n| &**n).collect();
    all.into_iter().filter(|name| differ(points, |p| p.params.named(name))).collect()
}

/// A parameter and its value as one would say it.
fn said(spec: Option<&WorkloadSpec>, parameter: &str, value: &Param) -> String {
    let kind = spec.and_then(|s| s.parameter(parameter)).map(|k| &k.kind);
    let value = match (kind, value) {
        (Some(ParameterKind::Size { .. }), Param::Int(bytes)) => format_size(*bytes),
        (_, Param::Int(n)) => format_count(*n),
        (_, other) => clean(&other.to_string()),
    };
    format!("{} {value}", clean(parameter))
}
