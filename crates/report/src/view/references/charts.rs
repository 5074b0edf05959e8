//! Bars of our number, of each tool's and of the ceiling, side by side, a group per point.

use proofmark_model::{Measurement, Reference, Verdict};
use serde::Serialize;

use super::{chosen, tools};
use crate::view::label::Group;
use crate::view::num::{Scale, percent};
use crate::view::series::{AXIS, Bar, Mark, drawable, mark, title};
use crate::view::text::{clean, plural};
use crate::view::verdict_mark;

/// Points in one chart.
const POINTS: usize = 4;
/// Charts of one workload.
const CHARTS: usize = 2;

/// One bar of a group.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ComparisonBar {
    /// Whose it is: 0 ours, from 1 the tools of the workload, so that each has its own colour.
    pub who: usize,
    /// Name, value and share of the ceiling. The mark has no ceiling: the group has.
    pub bar: Bar,
}

/// The ceiling of a group.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Limit {
    /// On the chart's scale.
    pub value: f64,
    /// As it is printed.
    pub text: String,
}

/// One point.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ComparisonGroup {
    /// Its parameters; empty where the workload has but one point.
    pub name: String,
    /// Ours first.
    pub bars: Vec<ComparisonBar>,
    /// The ceiling of all of them.
    pub ceiling: Option<Limit>,
}

/// Our numbers, the tools' and the ceilings.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ComparisonChart {
    /// Title.
    pub title: String,
    /// What a reader would see, in words.
    pub description: String,
    /// Label of the values' axis.
    pub unit: String,
    /// Points from the top.
    pub points: Vec<ComparisonGroup>,
    /// What is left out; empty if nothing is.
    pub left_out: String,
}

/// The charts of one workload; none where they would show no more than a row of the table.
pub fn references(group: &Group, scale: &Scale) -> Vec<ComparisonChart> {
    let (points, more) = points(group, scale);
    let charts: Vec<&[ComparisonGroup]> = points.chunks(POINTS).collect();
    let of = |(i, points): (usize, &&[ComparisonGroup])| ComparisonChart {
        title: title(group, "compared with reference tools", &part(i, charts.len())),
        description: describe(points, scale.label()),
        unit: scale.label().to_owned(),
        points: points.to_vec(),
        left_out: match (more, i + 1 == charts.len()) {
            (more, true) if more > 0 => {
                format!("{}: in the table.", plural(more as u64, "more configuration"))
            }
            _ => String::new(),
        },
    };
    charts.iter().enumerate().map(of).collect()
}

/// `2 of 3`; nothing where there is but one.
fn part(at: usize, of: usize) -> String {
    if of > 1 { format!("{} of {of}", at + 1) } else { String::new() }
}

/// The points that are drawn, in the order of rows, and how many with a tool are not: those that
/// represent the workload are kept.
fn points(group: &Group, scale: &Scale) -> (Vec<ComparisonGroup>, usize) {
    let tools = tools(group);
    let drawn = drawable(group, scale);
    let with_tools: Vec<&Measurement> =
        drawn.into_iter().filter(|m| !m.references.is_empty()).collect();
    let drawn = with_tools.iter().filter_map(|m| Some((*m, point(group, m, scale, &tools)?)));
    let all: Vec<(&Measurement, ComparisonGroup)> = drawn.filter(|(_, p)| tells_more(p)).collect();
    let chosen = chosen(group);
    let first = |m: &Measurement| chosen.iter().any(|(c, _)| std::ptr::eq(*c, m));
    let (kept, rest): (Vec<_>, Vec<_>) = all.iter().map(|(m, _)| *m).partition(|m| first(m));
    let kept: Vec<&Measurement> = kept.into_iter().chain(rest).take(POINTS * CHARTS).collect();
    let is_kept = |m: &Measurement| kept.iter().any(|k| std::ptr::eq(*k, m));
    let more = with_tools.len() - kept.len();
    (all.into_iter().filter(|(m, _)| is_kept(m)).map(|(_, p)| p).collect(), more)
}

/// Whether a point has more bars than two, which are read in the table as soon: ours and at least
/// two tools', or a tool's and the ceiling's.
fn tells_more(point: &ComparisonGroup) -> bool {
    point.bars.len() + usize::from(point.ceiling.is_some()) > 2
}

fn on_axis(scale: &Scale, value: f64) -> Option<f64> {
    Some(scale.scaled(value)).filter(|v| v.is_finite() && v.abs() < AXIS)
}

fn point(
    group: &Group,
    m: &Measurement,
    scale: &Scale,
    tools: &[String],
) -> Option<ComparisonGroup> {
    let ours = Bar {
        name: "proofmark".to_owned(),
        mark: Mark { ceiling: None, ..mark(group, m, scale)? },
        efficiency: m.efficiency.and_then(percent),
    };
    let theirs = m.references.iter().filter_map(|r| {
        let name = clean(&r.tool);
        let who = 1 + tools.iter().position(|t| *t == name)?;
        Some(ComparisonBar { who, bar: tool(group, m, r, scale)? })
    });
    Some(ComparisonGroup {
        name: group.short(m),
        bars: std::iter::once(ComparisonBar { who: 0, bar: ours }).chain(theirs).collect(),
        ceiling: m.ceiling.as_ref().and_then(|c| {
            Some(Limit { value: on_axis(scale, c.value)?, text: scale.number(c.value)? })
        }),
    })
}

fn tool(group: &Group, m: &Measurement, r: &Reference, scale: &Scale) -> Option<Bar> {
    let interval = r.summary.as_ref().and_then(|s| s.ci95);
    let efficiency = r.efficiency.and_then(percent);
    let parts = [
        scale.with_label(r.value),
        interval.and_then(|i| scale.interval(i)).map(|i| format!("95 % interval {i}")),
        efficiency.as_ref().map(|e| format!("{e} % of the ceiling")),
        Some(verdict_mark(r.verdict).to_owned()),
    ];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    let named: Vec<String> = [clean(&format!("{} {}", r.tool, r.version)), group.short(m)]
        .into_iter()
        .filter(|n| !n.is_empty())
        .collect();
    Some(Bar {
        name: clean(&r.tool),
        mark: Mark {
            value: on_axis(scale, r.value)?,
            text: scale.number(r.value)?,
            about: format!("{}: {}", named.join(", "), parts.join(", ")),
            interval: interval.and_then(|[a, b]| Some([on_axis(scale, a)?, on_axis(scale, b)?])),
            ceiling: None,
            fall: None,
            verdict: r.verdict,
        },
        efficiency,
    })
}

fn describe(points: &[ComparisonGroup], unit: &str) -> String {
    let bar = |b: &ComparisonBar| {
        let of = b
            .bar
            .efficiency
            .as_ref()
            .map_or_else(String::new, |e| format!(" ({e} % of the ceiling)"));
        let doubt = match b.bar.mark.verdict {
            Verdict::Valid => String::new(),
            other => format!(" ({other})"),
        };
        format!("{} {}{of}{doubt}", b.bar.name, b.bar.mark.text)
    };
    let point = |p: &ComparisonGroup| {
        let ceiling = p.ceiling.as_ref().map(|c| format!("ceiling {}", c.text));
        let all: Vec<String> = p.bars.iter().map(bar).chain(ceiling).collect();
        let named = if p.name.is_empty() { String::new() } else { format!("{}: ", p.name) };
        format!("{named}{}", all.join(", "))
    };
    let points: Vec<String> = points.iter().map(point).collect();
    format!("Figures in {unit}. {}.", points.join(". "))
}
