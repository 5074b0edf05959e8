//! A point of a workload on one machine over time.

use std::collections::BTreeSet;

use proofmark_model::{
    Better, FigureKind, Param, ParameterKind, PastPoint, Timestamp, Unit, Verdict, WorkloadSpec,
    format_count, format_size,
};

use crate::view::{Scale, clean, figure_word};

/// One point on one machine, in trials or sampled over time.
#[derive(Debug, Clone, PartialEq)]
pub struct Line {
    /// What identifies it: parameters, the machine, how it was measured; empty if it is
    /// the only line.
    pub name: String,
    /// Which direction is good.
    pub better: Better,
    /// What its value is: a figure's name, or `figure` where runs differ in that.
    pub headline: &'static str,
    /// One scale for all its values.
    pub scale: Scale,
    /// Oldest first.
    pub moments: Vec<Moment>,
}

/// What one run measured.
#[derive(Debug, Clone, PartialEq)]
pub struct Moment {
    /// The run's number.
    pub run: i64,
    /// When the run began.
    pub started: Timestamp,
    /// The headline figure, in the base unit.
    pub value: f64,
    /// Its 95 % interval.
    pub ci95: Option<[f64; 2]>,
    /// What the run got, where the headline is another figure.
    pub delivered: Option<f64>,
    /// Levels that it had while it was sampled over time, if they are several: the value is none
    /// of them.
    pub levels: Option<u64>,
    /// What became of the last one before it that is not invalid: 0.1 for a tenth more. `None`
    /// where there is none, or where this one or that is no number to hold another against.
    pub change: Option<f64>,
    /// Measured / ceiling.
    pub efficiency: Option<f64>,
    /// What its checks made of it.
    pub verdict: Verdict,
}

impl Moment {
    /// `3 levels`, in place of an interval.
    pub fn several_levels(&self) -> Option<String> {
        self.levels.map(|n| format!("{} levels", format_count(n)))
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
pub fn lines(points: &[PastPoint], spec: Option<&WorkloadSpec>) -> Vec<Line> {
    let parameters = varying(points);
    let units: BTreeSet<&str> = points.iter().map(|p| p.unit.as_str()).collect();
    let machines: BTreeSet<Machine> = points.iter().map(machine).collect();
    let methods: BTreeSet<u32> = points.iter().map(|p| p.method).collect();
    let both_ways = points.iter().any(|p| p.over_time) && points.iter().any(|p| !p.over_time);
    let same = |a: &PastPoint, b: &PastPoint| {
        let key = |p: &PastPoint| (p.method, p.unit, p.better, p.over_time);
        a.params == b.params && key(a) == key(b)
    };
    let mut lines = Vec::new();
    for of_point in points.chunk_by(same) {
        let here: BTreeSet<Machine> = of_point.iter().map(machine).collect();
        for here in here {
            let of_line: Vec<&PastPoint> = of_point.iter().filter(|p| machine(p) == here).collect();
            let Some(first) = of_line.first() else { continue };
            let on = on(here, &machines);
            let way = first.over_time.then(|| OVER_TIME.to_owned()).filter(|_| both_ways);
            let unit = (units.len() > 1).then(|| format!("in {}", first.unit));
            let method = (methods.len() > 1).then(|| format!("method {}", first.method));
            let values = parameters.iter().filter_map(|parameter| {
                Some(format!(
                    "{} {}",
                    clean(parameter),
                    value(spec, parameter, first.params.get(parameter)?)
                ))
            });
            let name: Vec<String> = values.chain(unit).chain(way).chain(method).chain(on).collect();
            lines.push(Line {
                name: name.join(", "),
                better: first.better,
                headline: figure_word(of_line.iter().map(|p| p.headline)),
                scale: scale(&of_line, first.unit),
                moments: moments(&of_line),
            });
        }
    }
    lines
}

/// How a point was measured, where it is not in trials.
const OVER_TIME: &str = "sampled over time";

/// `on node1 (A CPU, 2 CPUs, 16 GiB)`: as much of it as differs; `None` where there is one machine.
fn on((host, what): Machine, all: &BTreeSet<Machine>) -> Option<String> {
    let (hosts, kinds): (BTreeSet<_>, BTreeSet<_>) = all.iter().copied().unzip();
    let name = host.map_or_else(|| "an unnamed machine".to_owned(), clean);
    match (hosts.len() > 1, kinds.len() > 1) {
        (false, false) => None,
        (true, false) => Some(format!("on {name}")),
        (false, true) => Some(format!("on {}", clean(what))),
        (true, true) => Some(format!("on {name} ({})", clean(what))),
    }
}

/// An invalid result does not set the scale.
fn scale(points: &[&PastPoint], unit: Unit) -> Scale {
    let usable = || points.iter().filter(|p| p.verdict != Verdict::Invalid).map(|p| p.value);
    match usable().next() {
        Some(_) => Scale::for_largest(usable(), unit),
        None => Scale::for_largest(points.iter().map(|p| p.value), unit),
    }
}

fn moments(points: &[&PastPoint]) -> Vec<Moment> {
    let mut before: Option<f64> = None;
    let moment = |p: &&PastPoint| {
        let usable = p.verdict != Verdict::Invalid;
        let change = before.filter(|_| usable).map(|b| p.value / b - 1.0);
        if usable && p.value.is_finite() && p.value > 0.0 {
            before = Some(p.value);
        }
        Moment {
            run: p.run,
            started: p.started,
            value: p.value,
            ci95: p.ci95,
            delivered: p
                .delivered
                .filter(|_| p.headline != FigureKind::Delivered)
                .map(|figure| figure.value),
            levels: p.levels.filter(|n| *n > 1),
            change: change.filter(|c| c.is_finite()),
            efficiency: p.efficiency,
            verdict: p.verdict,
        }
    };
    points.iter().map(moment).collect()
}

/// `isa avx2, threads 2`: the parameters that are the same at all points, and whether all were sampled
/// over time; empty without any.
pub fn shared(points: &[PastPoint], spec: Option<&WorkloadSpec>) -> String {
    let differing = varying(points);
    let Some(first) = points.first() else { return String::new() };
    let same =
        first.params.0.iter().filter(|(parameter, _)| !differing.contains(&parameter.as_str()));
    let parameters =
        same.map(|(parameter, v)| format!("{} {}", clean(parameter), value(spec, parameter, v)));
    let way = points.iter().all(|p| p.over_time).then(|| OVER_TIME.to_owned());
    parameters.chain(way).collect::<Vec<_>>().join(", ")
}

/// Parameters that differ between points, or that not all of them have, sorted by name.
fn varying(points: &[PastPoint]) -> Vec<&str> {
    let all: BTreeSet<&String> = points.iter().flat_map(|p| p.params.0.keys()).collect();
    let differs = |parameter: &&String| {
        let mut values = points.iter().map(|p| p.params.get(parameter));
        let first = values.next();
        values.any(|v| Some(v) != first)
    };
    all.into_iter().filter(differs).map(String::as_str).collect()
}

/// A parameter's value as one would say it.
fn value(spec: Option<&WorkloadSpec>, parameter: &str, value: &Param) -> String {
    let kind = spec.and_then(|s| s.parameter(parameter)).map(|k| &k.kind);
    match (kind, value) {
        (Some(ParameterKind::Size { .. }), Param::Int(bytes)) => format_size(*bytes),
        (_, Param::Int(n)) => format_count(*n),
        (_, other) => clean(&other.to_string()),
    }
}
