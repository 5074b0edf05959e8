//! Lines over the workload's axis, and over the threads.

use proofmark_model::{Measurement, Params, Subsystem, Verdict};
use serde::Serialize;

use super::across::{Across, Rule, Tick};
use super::panels::{Panel, panels};
use super::{Mark, drawable, mark, mark_of_time, noun, title};
use crate::view::label::Group;
use crate::view::num::Scale;
use crate::view::saturation::{self, RING};
use crate::view::text::plural;

/// Lines in one chart.
pub const LINES: usize = 6;
/// Times the least value that the greatest is where only a logarithm shows both.
pub const SPAN: f64 = 20.0;

/// What an arrow means.
const FALL: &str = "Arrow: the rate fell from the burst rate to the sustained rate.";

/// A value at its place.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Spot {
    /// Place on the axis, 0 at the left end and 1 at the right one.
    pub at: f64,
    /// The axis' value in words.
    pub x: String,
    /// The value.
    pub mark: Mark,
    /// Whether the line saturates there.
    pub saturates: bool,
}

/// One line.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Series {
    /// Name in the legend.
    pub name: String,
    /// Its values from left to right.
    pub spots: Vec<Spot>,
}

/// Values over an axis.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct LineChart {
    /// Title.
    pub title: String,
    /// What a reader would see, in words.
    pub description: String,
    /// Label of the values' axis.
    pub unit: String,
    /// Whether that axis is logarithmic.
    pub log: bool,
    /// Whether the ceilings of a line are one line.
    pub joined: bool,
    /// What lies from left to right.
    pub axis: String,
    /// Labels from left to right.
    pub ticks: Vec<Tick>,
    /// Where the usable CPUs end, or the caches.
    pub rules: Vec<Rule>,
    /// What the rules are; empty without any.
    pub key: String,
    /// Lines, the one with the highest value first.
    pub series: Vec<Series>,
    /// What is left out and why; empty if nothing is.
    pub left_out: String,
}

/// The line charts of one workload: over its axis; over the threads where there is none,
/// and for block sizes also where these are few enough for a line each, as published.
pub fn lines(group: &Group, scale: &Scale) -> Vec<LineChart> {
    let drawn = drawable(group, scale);
    let mut out = Vec::new();
    let mut few = true;
    let shown = Shown::As(scale);
    if group.axis != "threads"
        && let Some(across) = Across::for_parameter(group, group.axis, &drawn)
    {
        few = across.ticks(group).len() <= LINES && group.axis == "block_size";
        out.extend(over(group, shown, &across, &drawn, &[group.axis], ""));
    }
    if few && let Some(across) = Across::for_parameter(group, "threads", &drawn) {
        out.extend(over(group, shown, &across, &drawn, &["threads"], ""));
    }
    out
}

/// What the values are.
#[derive(Clone, Copy)]
pub enum Shown<'a> {
    /// As measured, on this scale.
    As(&'a Scale),
    /// I/Os per second, each of the point's own block size.
    Iops(&'a dyn Fn(&Measurement) -> Option<Scale>),
    /// The median time of single operations.
    Time(&'a Scale),
}

impl Shown<'_> {
    fn mark(self, group: &Group, m: &Measurement) -> Option<Mark> {
        match self {
            Self::As(scale) => mark(group, m, scale),
            Self::Iops(scale) => mark(group, m, &scale(m)?),
            Self::Time(scale) => mark_of_time(group, m, scale),
        }
    }

    fn label(self, panel: &Panel) -> String {
        let of = |m: &&Measurement| match self {
            Self::As(scale) | Self::Time(scale) => Some(scale.clone()),
            Self::Iops(scale) => scale(m),
        };
        panel.members.iter().find_map(of).map_or_else(String::new, |s| s.label().to_owned())
    }

    fn noun(self, group: &Group) -> &'static str {
        match self {
            Self::As(_) => noun(group),
            Self::Iops(_) => "IOPS",
            Self::Time(_) => "p50",
        }
    }
}

/// Charts of these measurements, no more lines in each than a reader can follow. `said` are
/// the parameters on the axis and in `name`, which the title holds.
pub fn over<'a>(
    group: &Group<'a>,
    shown: Shown,
    across: &Across<'a>,
    drawn: &[&'a Measurement],
    said: &[&'a str],
    name: &str,
) -> Vec<LineChart> {
    let panels = panels(group, drawn, said, LINES);
    let named = |p: &Panel| {
        let names = [name, &p.name].into_iter().filter(|n| !n.is_empty());
        names.collect::<Vec<_>>().join(", ")
    };
    panels.iter().map(|p| chart(group, shown, across, p, &named(p))).collect()
}

fn chart(group: &Group, shown: Shown, across: &Across, panel: &Panel, name: &str) -> LineChart {
    let rings = saturation::points(group, &panel.members);
    let rings = if across.is_n() { rings } else { Vec::new() };
    let mut series: Vec<Series> = Vec::new();
    for m in &panel.members {
        let name = group.short_without(m, &panel.said);
        let place = across.place(group, m).zip(shown.mark(group, m));
        let Some(((at, x), mut mark)) = place else { continue };
        let saturates = rings.iter().any(|ring| std::ptr::eq(*ring, *m));
        if saturates {
            mark.about.push_str(", saturates here");
        }
        let spot = Spot { at, x, mark, saturates };
        match series.iter_mut().find(|s| s.name == name) {
            Some(s) => s.spots.push(spot),
            None => series.push(Series { name, spots: vec![spot] }),
        }
    }
    let top = |s: &Series| s.spots.iter().map(|m| m.mark.value).fold(f64::NEG_INFINITY, f64::max);
    series.sort_by(|a, b| top(b).total_cmp(&top(a)));
    for s in &mut series {
        s.spots.sort_by(|a, b| a.at.total_cmp(&b.at));
        if s.name.is_empty() {
            s.name = "figure".to_owned();
        }
    }
    let more = series.len().saturating_sub(LINES);
    series.truncate(LINES);
    let (rules, mut key) = across.rules(group);
    if series.iter().flat_map(|s| &s.spots).any(|s| s.mark.fall.is_some()) {
        key = format!("{FALL} {key}").trim_end().to_owned();
    }
    if series.iter().flat_map(|s| &s.spots).any(|s| s.saturates) {
        key = format!("{RING} {key}").trim_end().to_owned();
    }
    let (noun, unit) = (shown.noun(group), shown.label(panel));
    LineChart {
        title: title(group, &format!("{noun} by {}", what(across)), name),
        description: describe(&series, across, &unit),
        unit,
        log: wide(group, &series),
        joined: across.is_n(),
        axis: across.label.clone(),
        ticks: across.ticks(group),
        rules,
        key,
        left_out: if more > 0 {
            format!("{} with a lower {noun}: in the table.", plural(more as u64, "more line"))
        } else {
            String::new()
        },
        series,
    }
}

/// The axis in a title.
fn what<'a>(across: &'a Across) -> &'a str {
    match across.parameter {
        _ if across.is_background() => "load",
        Params::SIZE => Params::SIZE,
        _ => &across.label,
    }
}

/// Rates of a CPU are compared with their ceilings and with zero; where memory is
/// a hundred times slower than a cache, both show on a logarithmic axis only.
fn wide(group: &Group, series: &[Series]) -> bool {
    let values = || series.iter().flat_map(|s| &s.spots).map(|s| s.mark.value);
    let (low, high) = (values().fold(f64::INFINITY, f64::min), values().fold(0.0, f64::max));
    let cpu = group.all.iter().any(|m| m.subsystem == Subsystem::Cpu);
    !cpu && low > 0.0 && high > SPAN * low
}

fn describe(series: &[Series], across: &Across, unit: &str) -> String {
    let (by, at) = match across.parameter {
        "threads" => ("number of threads", "with"),
        "streams" => ("number of streams", "with"),
        Params::SIZE => (Params::SIZE, "at"),
        _ => (across.label.as_str(), "at"),
    };
    let parts: Vec<String> = series
        .iter()
        .map(|s| {
            let values: Vec<String> = s
                .spots
                .iter()
                .map(|Spot { x, mark, saturates, .. }| {
                    let doubt = match mark.verdict {
                        Verdict::Valid => String::new(),
                        other => format!(" ({other})"),
                    };
                    let ring = if *saturates { " (saturates)" } else { "" };
                    format!("{} {at} {x}{doubt}{ring}", mark.text)
                })
                .collect();
            format!("{}: {}", s.name, values.join(", "))
        })
        .collect();
    format!("Figures in {unit} by {by}. {}.", parts.join(". "))
}
