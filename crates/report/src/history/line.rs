//! A configuration of a workload on one machine over time.

use std::collections::BTreeSet;

use proofmark_model::{
    Better, FigureKind, LevelChange, Param, ParameterKind, PastFigure, PastPoint, Unit,
    WorkloadSpec, format_count, format_size,
};

use crate::view::{Scale, clean, figure_word};

/// One configuration on one machine, in trials or sampled over time.
#[derive(Debug, Clone, PartialEq)]
pub struct Line<'a> {
    /// Parameters, machine and method that distinguish it from other lines; empty if it is the only
    /// one.
    pub name: String,
    pub better: Better,
    /// Name of the figure that the line follows: delivered, which shows what a run lost. Of a unit
    /// that counts no work it is the headline, or `figure` where runs differ in that.
    pub figure: &'static str,
    /// Name of the headline where that is another figure.
    pub headline: Option<&'static str>,
    /// One scale for all its values.
    pub scale: Scale,
    /// Oldest first.
    pub moments: Vec<Moment<'a>>,
    /// Changes of its level, oldest first.
    pub changes: Vec<&'a LevelChange>,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Moment<'a> {
    pub point: &'a PastPoint,
    /// The figure that the line follows; `None` if the run has none.
    pub value: Option<f64>,
    /// Its 95 % interval.
    pub ci95: Option<[f64; 2]>,
    /// Change since the previous value that is not invalid: 0.1 for a tenth more. `None` without
    /// one, or where one of the two cannot be compared.
    pub change: Option<f64>,
}

impl Moment<'_> {
    /// Returns `3 levels`, in place of an interval: the value is at none of them.
    pub fn several_levels(&self) -> Option<String> {
        self.point.levels.filter(|n| *n > 1).map(|n| format!("{} levels", format_count(n)))
    }
}

/// The name and the description of a machine. A run may lack the name (`--anonymous`), and a name may
/// pass to another machine.
type Machine<'a> = (Option<&'a str>, &'a str);

fn machine(point: &PastPoint) -> Machine<'_> {
    (point.host.as_deref(), &point.machine)
}

/// Returns the lines of these results in their order: by configuration, and the machines of each by
/// name.
pub fn lines<'a>(
    points: &'a [PastPoint],
    changes: &'a [LevelChange],
    spec: Option<&'a WorkloadSpec>,
) -> Vec<Line<'a>> {
    let key = |p: &PastPoint| (p.method_version, p.unit, p.better, p.over_time);
    let name = names(points, spec);
    let mut lines = Vec::new();
    for results in points.chunk_by(|a, b| a.params == b.params && key(a) == key(b)) {
        let machines: BTreeSet<Machine> = results.iter().map(machine).collect();
        for here in machines {
            let all: Vec<&PastPoint> = results.iter().filter(|p| machine(p) == here).collect();
            let Some(first) = all.first() else { continue };
            let is_here = |change: &&LevelChange| {
                let LevelChange { params, over_time, host, machine, .. } = change;
                (host.as_deref(), &**machine) == here
                    && (params, over_time) == (&first.params, &first.over_time)
            };
            let changes = changes.iter().filter(is_here).collect();
            lines.push(Line { changes, ..line(name(first), first, &all) });
        }
    }
    lines
}

fn line<'a>(name: String, first: &PastPoint, all: &[&'a PastPoint]) -> Line<'a> {
    let headline = figure_word(all.iter().map(|p| p.headline));
    let delivered = FigureKind::Delivered.as_str();
    let (figure, read): (_, Read) = match PastPoint::follow_delivered(all) {
        true => (delivered, |p| p.followed(true)),
        false => (headline, |p| p.followed(false)),
    };
    Line {
        name,
        better: first.better,
        figure,
        headline: Some(headline).filter(|word| *word != figure),
        scale: scale(all, read, first.unit),
        moments: moments(all, read),
        changes: Vec::new(),
    }
}

/// Returns a figure of a result and its interval.
type Read = fn(&PastPoint) -> Option<PastFigure>;

/// Returns the names of lines: those of parameters, unit, method and machine that differ.
fn names<'a>(
    points: &'a [PastPoint],
    spec: Option<&'a WorkloadSpec>,
) -> impl Fn(&PastPoint) -> String + 'a {
    let parameters = varying(points);
    let units = differ(points, |p| p.unit.as_str());
    let sampling = differ(points, |p| p.over_time);
    let methods = differ(points, |p| p.method_version);
    let machines = [differ(points, |p| p.host.as_deref()), differ(points, |p| &*p.machine)];
    move |p| {
        let value = |name: &&str| Some(parameter_words(spec, name, p.params.named(name)?));
        let mut name: Vec<String> = parameters.iter().filter_map(value).collect();
        name.extend(units.then(|| format!("in {}", p.unit)));
        name.extend((p.over_time && sampling).then(|| OVER_TIME.to_owned()));
        name.extend(methods.then(|| format!("method {}", p.method_version)));
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

/// The method of a result without trials.
const OVER_TIME: &str = "sampled over time";

/// Returns true if the results differ in what `read` returns.
fn differ<'a, T: PartialEq>(points: &'a [PastPoint], read: impl Fn(&'a PastPoint) -> T) -> bool {
    points.windows(2).any(|pair| read(&pair[0]) != read(&pair[1]))
}

/// Returns the scale of the results. An invalid one does not set it unless all are.
fn scale(points: &[&PastPoint], read: Read, unit: Unit) -> Scale {
    let none = points.iter().all(|p| !p.verdict.is_usable());
    let counted = points.iter().filter(|p| none || p.verdict.is_usable());
    Scale::for_largest(counted.filter_map(|p| Some(read(p)?.value)), unit)
}

fn moments<'a>(points: &[&'a PastPoint], read: Read) -> Vec<Moment<'a>> {
    let mut before: Option<f64> = None;
    let moment = |point: &&'a PastPoint| {
        let figure = read(point);
        let value = figure.map(|f| f.value).filter(|_| point.verdict.is_usable());
        let change = before.zip(value).map(|(before, value)| value / before - 1.0);
        before = value.filter(|v| v.is_finite() && *v > 0.0).or(before);
        Moment {
            point,
            value: figure.map(|f| f.value),
            ci95: figure.and_then(|f| f.ci95),
            change: change.filter(|c| c.is_finite()),
        }
    };
    points.iter().map(moment).collect()
}

/// Returns `isa avx2, threads 2, sampled over time`: what all results share; empty without any.
pub fn shared(points: &[PastPoint], spec: Option<&WorkloadSpec>) -> String {
    let differing = varying(points);
    let Some(first) = points.first() else { return String::new() };
    let same = first.params.0.iter().filter(|(name, _)| !differing.contains(&name.as_str()));
    let parameters = same.map(|(name, value)| parameter_words(spec, name, value));
    let sampled = points.iter().all(|p| p.over_time).then(|| OVER_TIME.to_owned());
    parameters.chain(sampled).collect::<Vec<_>>().join(", ")
}

/// Returns the parameters that differ, or that some results lack, sorted by name.
fn varying(points: &[PastPoint]) -> Vec<&str> {
    let all: BTreeSet<&str> = points.iter().flat_map(|p| p.params.0.keys()).map(|n| &**n).collect();
    all.into_iter().filter(|name| differ(points, |p| p.params.named(name))).collect()
}

/// Returns a parameter and its value in words: `block size 4 KiB`.
fn parameter_words(spec: Option<&WorkloadSpec>, parameter: &str, value: &Param) -> String {
    let kind = spec.and_then(|s| s.parameter(parameter)).map(|k| &k.kind);
    let value = match (kind, value) {
        (Some(ParameterKind::Size { .. }), Param::Int(bytes)) => format_size(*bytes),
        (_, Param::Int(n)) => format_count(*n),
        (_, other) => clean(&other.to_string()),
    };
    format!("{} {value}", clean(parameter))
}
