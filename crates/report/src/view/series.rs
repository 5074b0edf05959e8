//! What is drawn: rate by threads, and bars by instruction set.
//!
//! The knobs decide, not the kernel's name. A kernel measured at two or more thread
//! counts has a line chart with one line a combination of the other knobs; one
//! measured at two or more values of `isa` has bars against their ceilings. A chart
//! with more lines than a reader can follow is split by one of the knobs.

use std::collections::BTreeSet;

use proofmark_model::{Measurement, Param, Summary, Verdict};
use serde::Serialize;

use super::headline::best;
use super::label::Group;
use super::num::{Scale, percent};
use super::text::{clean, plural};
use super::verdict_mark;

/// Lines in one chart.
pub const LINES: usize = 6;
/// Bars in one chart.
pub const BARS: usize = 12;
/// Charts of one kind for one kernel.
const PANELS: usize = 6;
/// Values on the axis beyond which a chart shows nothing.
const AXIS: f64 = 1e7;

/// One measured value, on the chart's scale.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Mark {
    /// Position on the axis of categories, from 0.
    pub at: usize,
    /// Median.
    pub value: f64,
    /// The median as it is printed.
    pub text: String,
    /// Point, value, interval, ceiling and verdict in words.
    pub about: String,
    /// 95 % interval.
    pub interval: Option<[f64; 2]>,
    /// Ceiling.
    pub ceiling: Option<f64>,
    /// Verdict.
    pub verdict: Verdict,
}

/// One line.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Series {
    /// Name in the legend.
    pub name: String,
    /// Its values, by position.
    pub marks: Vec<Mark>,
}

/// Where the usable CPUs end on an axis of thread counts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct CpuLimit {
    /// Categories before it: those whose threads have a CPU each.
    pub after: usize,
    /// `2 CPUs`.
    pub label: String,
}

/// Rate by threads.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct LineChart {
    /// Title.
    pub title: String,
    /// What a reader would see, in words.
    pub description: String,
    /// Label of the values' axis.
    pub unit: String,
    /// Thread counts, in order.
    pub categories: Vec<String>,
    /// Where the usable CPUs end, if the thread counts go beyond them.
    pub cpus: Option<CpuLimit>,
    /// Lines, best first.
    pub series: Vec<Series>,
    /// What is left out and why; empty if nothing is.
    pub left_out: String,
}

/// One bar.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Bar {
    /// Name beside it.
    pub name: String,
    /// Value, interval, ceiling and verdict.
    pub mark: Mark,
    /// Efficiency in percent, without the sign.
    pub efficiency: Option<String>,
}

/// Bars against their ceilings.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct BarChart {
    /// Title.
    pub title: String,
    /// What a reader would see, in words.
    pub description: String,
    /// Label of the values' axis.
    pub unit: String,
    /// Bars from the top.
    pub bars: Vec<Bar>,
    /// What is left out and why; empty if nothing is.
    pub left_out: String,
}

/// The line charts of one kernel.
pub fn lines(group: &Group, scale: &Scale) -> Vec<LineChart> {
    let drawn: Vec<&Measurement> = drawable(group, scale);
    let threads: BTreeSet<u64> = drawn.iter().map(|m| m.params.threads()).collect();
    if !group.varying.contains(&"threads") || threads.len() < 2 {
        return Vec::new();
    }
    let threads: Vec<u64> = threads.into_iter().collect();
    let panels = panels(group, &drawn, &["threads"], LINES);
    panels.iter().map(|p| line_chart(group, scale, p, &threads)).collect()
}

/// The bar charts of one kernel.
pub fn bars(group: &Group, scale: &Scale) -> Vec<BarChart> {
    let drawn = drawable(group, scale);
    let isas: BTreeSet<Option<&str>> = drawn.iter().map(|m| m.params.text("isa")).collect();
    let Some((hero, _)) = best(group, &drawn) else { return Vec::new() };
    if !group.varying.contains(&"isa") || isas.len() < 2 {
        return Vec::new();
    }
    let threads = hero.params.threads();
    let same: Vec<&Measurement> =
        drawn.into_iter().filter(|m| m.params.threads() == threads).collect();
    let panels = panels(group, &same, &["threads", "isa"], 1);
    panels.iter().map(|p| bar_chart(group, scale, p, threads)).collect()
}

/// Measurements that have a place on the axis.
fn drawable<'a>(group: &Group<'a>, scale: &Scale) -> Vec<&'a Measurement> {
    let fits = |m: &&Measurement| {
        m.summary.as_ref().is_some_and(|s| {
            let v = scale.scaled(s.median);
            v.is_finite() && v.abs() < AXIS
        })
    };
    group.all.iter().copied().filter(fits).collect()
}

/// A part of a kernel's measurements that fits into one chart.
struct Panel<'a> {
    /// Values of the knobs that split the charts, for the title.
    name: String,
    /// Those knobs and the ones on the axis: not part of a line's name.
    said: Vec<&'a str>,
    members: Vec<&'a Measurement>,
}

/// Splits by one knob after another, the one with the fewest values first, until
/// no chart has more combinations of the other knobs than `most`.
fn panels<'a>(
    group: &Group<'a>,
    members: &[&'a Measurement],
    axis: &[&'a str],
    most: usize,
) -> Vec<Panel<'a>> {
    let mut said: Vec<&str> = axis.to_vec();
    let mut splitting: Vec<&str> = Vec::new();
    loop {
        let parts = split(members, &splitting);
        let crowded = parts.iter().any(|p| combinations(group, p, &said) > most);
        let next = group
            .varying
            .iter()
            .copied()
            .filter(|n| !said.contains(n))
            .filter_map(|n| {
                let values: BTreeSet<_> = members.iter().map(|m| m.params.get(n)).collect();
                (values.len() > 1).then_some((values.len(), n))
            })
            .min();
        match next {
            Some((values, name)) if crowded && parts.len() * values <= PANELS => {
                said.push(name);
                splitting.push(name);
            }
            _ => {
                return parts
                    .into_iter()
                    .map(|members| Panel {
                        name: members.first().map_or_else(String::new, |m| {
                            let others: Vec<&str> = group
                                .varying
                                .iter()
                                .copied()
                                .filter(|n| !splitting.contains(n))
                                .collect();
                            group.short_without(&m.params, &others)
                        }),
                        said: said.clone(),
                        members,
                    })
                    .collect();
            }
        }
    }
}

fn split<'a>(members: &[&'a Measurement], by: &[&str]) -> Vec<Vec<&'a Measurement>> {
    let key = |m: &'a Measurement| -> Vec<Option<&'a Param>> {
        by.iter().map(|n| m.params.get(n)).collect()
    };
    let mut parts: Vec<(Vec<Option<&Param>>, Vec<&Measurement>)> = Vec::new();
    for m in members {
        let key = key(m);
        match parts.iter_mut().find(|(k, _)| *k == key) {
            Some((_, part)) => part.push(m),
            None => parts.push((key, vec![m])),
        }
    }
    parts.into_iter().map(|(_, part)| part).collect()
}

fn combinations(group: &Group, members: &[&Measurement], said: &[&str]) -> usize {
    let names: BTreeSet<String> =
        members.iter().map(|m| group.short_without(&m.params, said)).collect();
    names.len()
}

fn mark(group: &Group, m: &Measurement, at: usize, scale: &Scale) -> Option<Mark> {
    let s = m.summary.as_ref()?;
    let on_axis = |v: f64| {
        let v = scale.scaled(v);
        (v.is_finite() && v.abs() < AXIS).then_some(v)
    };
    Some(Mark {
        at,
        value: on_axis(s.median)?,
        text: scale.number(s.median)?,
        about: about(group, scale, m, s),
        interval: s.ci95.and_then(|[a, b]| Some([on_axis(a)?, on_axis(b)?])),
        ceiling: m.ceiling.as_ref().and_then(|c| on_axis(c.value)),
        verdict: m.verdict,
    })
}

/// What a pointer shows over a mark.
fn about(group: &Group, scale: &Scale, m: &Measurement, s: &Summary) -> String {
    let interval = s.ci95.and_then(|i| scale.interval(i));
    let near = m.efficiency.and_then(percent);
    let ceiling = m.ceiling.as_ref().and_then(|c| scale.with_label(c.value));
    let parts = [
        scale.with_label(s.median),
        Some(interval.map_or_else(|| "no interval".to_owned(), |i| format!("95 % interval {i}"))),
        match (near, ceiling) {
            (Some(near), Some(ceiling)) => Some(format!("{near} % of its ceiling of {ceiling}")),
            (None, Some(ceiling)) => Some(format!("ceiling {ceiling}")),
            _ => None,
        },
        Some(verdict_mark(m.verdict).to_owned()),
        group.oversubscribed(m).then(|| "oversubscribed".to_owned()),
    ];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    match group.short(&m.params) {
        point if point.is_empty() => parts.join(", "),
        point => format!("{point}: {}", parts.join(", ")),
    }
}

fn line_chart(group: &Group, scale: &Scale, panel: &Panel, threads: &[u64]) -> LineChart {
    let mut series: Vec<Series> = Vec::new();
    for m in &panel.members {
        let name = group.short_without(&m.params, &panel.said);
        let at = threads.iter().position(|t| *t == m.params.threads());
        let Some(mark) = at.and_then(|at| mark(group, m, at, scale)) else { continue };
        match series.iter_mut().find(|s| s.name == name) {
            Some(s) => s.marks.push(mark),
            None => series.push(Series { name, marks: vec![mark] }),
        }
    }
    let top = |s: &Series| s.marks.iter().map(|m| m.value).fold(f64::NEG_INFINITY, f64::max);
    series.sort_by(|a, b| top(b).total_cmp(&top(a)));
    for s in &mut series {
        s.marks.sort_by_key(|m| m.at);
        if s.name.is_empty() {
            s.name = "median".to_owned();
        }
    }
    let more = series.len().saturating_sub(LINES);
    series.truncate(LINES);
    let after = threads.iter().filter(|t| !group.beyond_cpus(**t)).count();
    let categories: Vec<String> = threads.iter().map(u64::to_string).collect();
    LineChart {
        title: title(group, "rate by threads", &panel.name),
        description: describe_lines(&series, &categories, scale.label()),
        unit: scale.label().to_owned(),
        cpus: (after < threads.len()).then(|| CpuLimit { after, label: plural(group.cpus, "CPU") }),
        categories,
        left_out: if more > 0 {
            format!("{} with lower rates: in the table.", plural(more as u64, "more line"))
        } else {
            String::new()
        },
        series,
    }
}

fn bar_chart(group: &Group, scale: &Scale, panel: &Panel, threads: u64) -> BarChart {
    let said: Vec<&str> = panel.said.iter().copied().filter(|n| *n != "isa").collect();
    let mut bars: Vec<Bar> = panel
        .members
        .iter()
        .filter_map(|m| {
            Some(Bar {
                name: group.short_without(&m.params, &said),
                mark: mark(group, m, 0, scale)?,
                efficiency: m.efficiency.and_then(percent),
            })
        })
        .collect();
    let more = bars.len().saturating_sub(BARS);
    bars.truncate(BARS);
    for (at, bar) in bars.iter_mut().enumerate() {
        bar.mark.at = at;
    }
    let with = plural(threads, "thread");
    let name = if panel.name.is_empty() { with } else { format!("{}, {with}", panel.name) };
    BarChart {
        title: title(group, "rate by instruction set", &name),
        description: describe_bars(&bars, scale.label()),
        unit: scale.label().to_owned(),
        left_out: if more > 0 {
            format!("{}: in the table.", plural(more as u64, "more bar"))
        } else {
            String::new()
        },
        bars,
    }
}

fn title(group: &Group, what: &str, name: &str) -> String {
    let kernel = group.spec.map_or_else(|| clean(group.id), |s| clean(&s.title));
    if name.is_empty() { format!("{kernel}: {what}") } else { format!("{kernel}: {what} ({name})") }
}

fn describe_lines(series: &[Series], categories: &[String], unit: &str) -> String {
    let parts: Vec<String> = series
        .iter()
        .map(|s| {
            let values: Vec<String> = s
                .marks
                .iter()
                .map(|m| {
                    let threads = categories.get(m.at).map_or("?", String::as_str);
                    let doubt = match m.verdict {
                        Verdict::Valid => String::new(),
                        other => format!(" ({other})"),
                    };
                    format!("{} with {threads}{doubt}", m.text)
                })
                .collect();
            format!("{}: {}", s.name, values.join(", "))
        })
        .collect();
    format!("Median in {unit} by number of threads. {}.", parts.join(". "))
}

fn describe_bars(bars: &[Bar], unit: &str) -> String {
    let parts: Vec<String> = bars
        .iter()
        .map(|b| {
            let of = b
                .efficiency
                .as_ref()
                .map_or_else(String::new, |e| format!(", {e} % of its ceiling"));
            let doubt = match b.mark.verdict {
                Verdict::Valid => String::new(),
                other => format!(" ({other})"),
            };
            format!("{}: {}{of}{doubt}", b.name, b.mark.text)
        })
        .collect();
    format!("Median in {unit} by instruction set. {}.", parts.join(". "))
}
