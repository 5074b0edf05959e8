//! Bars of proofmark's figure in the pairs with each tool, the tool's figure and the ceiling, one
//! group per configuration.

use proofmark_model::{Measurement, Reference};

use super::{chosen, paired, tools};
use crate::view::chart::{Bar, BarChart, BarGroup, Limit, Mark, left_out};
use crate::view::label::Group;
use crate::view::num::{Scale, percent};
use crate::view::series::{both_on_axis, drawable, mark_at, on_axis, title};
use crate::view::text::{clean, joined};
use crate::view::verdict_mark;
use crate::view::workload_figure::{has_known_ceiling, of_the_ceiling};

const POINTS: usize = 4;
const CHARTS: usize = 2;

/// The charts of one workload; none where they would repeat a row of the table.
pub fn references(group: &Group, scale: &Scale) -> Vec<BarChart> {
    let (points, more) = points(group, scale);
    let title = title(group, "compared with reference tools", "");
    let more = left_out(more, "configuration", "in the table");
    BarChart::in_parts(&title, scale.label(), &points, POINTS, &more)
}

/// The configurations that are drawn, in the order of rows, and the number of others with a tool.
/// Those that represent the workload are kept first.
fn points(group: &Group, scale: &Scale) -> (Vec<BarGroup>, usize) {
    let tools = tools(group);
    let drawn = drawable(group, scale);
    let with_tools: Vec<&Measurement> =
        drawn.into_iter().filter(|m| !m.references.is_empty()).collect();
    let drawn = with_tools.iter().filter_map(|m| Some((*m, point(group, m, scale, &tools)?)));
    let chosen = chosen(group);
    let is_chosen = |m: &Measurement| chosen.iter().any(|(c, _)| std::ptr::eq(*c, m));
    let mut kept: Vec<_> = drawn.filter(|(_, p)| has_several_bars(p)).enumerate().collect();
    kept.sort_by_key(|(_, (m, _))| !is_chosen(m));
    kept.truncate(POINTS * CHARTS);
    kept.sort_by_key(|(place, _)| *place);
    let more = with_tools.len() - kept.len();
    (kept.into_iter().map(|(_, (_, p))| p).collect(), more)
}

/// Returns true if the configuration has more than two bars; two are as easy to read in the table.
fn has_several_bars(point: &BarGroup) -> bool {
    point.bars.len() + usize::from(point.ceiling.is_some()) > 2
}

fn point(group: &Group, m: &Measurement, scale: &Scale, tools: &[String]) -> Option<BarGroup> {
    let several = m.references.len() > 1;
    let sides = m.references.iter().flat_map(|r| {
        let name = clean(&r.tool);
        let who = tools.iter().position(|t| *t == name).map(|at| 1 + at);
        let theirs = who.and_then(|who| tool(group, m, r, scale, who));
        let ours = theirs.as_ref().and_then(|_| proofmark(group, m, r, scale, several));
        [ours, theirs]
    });
    let bars: Vec<Bar> = sides.flatten().collect();
    (!bars.is_empty()).then_some(())?;
    Some(BarGroup {
        name: group.short(m),
        bars,
        ceiling: m.ceiling.as_ref().and_then(|c| {
            Some(Limit { value: on_axis(scale, c.value)?, text: scale.number(c.value)? })
        }),
    })
}

/// proofmark's bar in the pairs with a tool. If there are `several` tools, each has its own.
fn proofmark(
    group: &Group,
    m: &Measurement,
    r: &Reference,
    scale: &Scale,
    several: bool,
) -> Option<Bar> {
    let ours = paired(m, r)?;
    let efficiency = ours.percent();
    let tool = clean(&r.tool);
    let parts = [
        scale.with_label(ours.value),
        ours.interval.and_then(|i| scale.interval(i)).map(|i| format!("95 % interval {i}")),
        efficiency.as_ref().map(|e| format!("{e} % {}", of_the_ceiling(m))),
        Some(verdict_mark(m.verdict).to_owned()),
    ];
    let named = joined([format!("proofmark in the pairs with {tool}"), group.short(m)], ", ");
    let about = format!("{named}: {}", joined(parts.into_iter().flatten(), ", "));
    let interval = ours.interval.and_then(|i| both_on_axis(scale, i));
    let mark = Mark { interval, ..mark_at(scale, ours.value, about, m.verdict)? };
    let name = if several { format!("proofmark with {tool}") } else { "proofmark".to_owned() };
    let efficiency = efficiency.filter(|_| has_known_ceiling(m));
    Some(Bar { who: 0, name, mark, efficiency })
}

fn tool(group: &Group, m: &Measurement, r: &Reference, scale: &Scale, who: usize) -> Option<Bar> {
    let interval = r.summary.as_ref().and_then(|s| s.ci95);
    let efficiency = r.efficiency.and_then(percent);
    let parts = [
        scale.with_label(r.value),
        interval.and_then(|i| scale.interval(i)).map(|i| format!("95 % interval {i}")),
        efficiency.as_ref().map(|e| format!("{e} % {}", of_the_ceiling(m))),
        Some(verdict_mark(r.verdict).to_owned()),
    ];
    let named = joined([clean(&format!("{} {}", r.tool, r.version)), group.short(m)], ", ");
    let about = format!("{named}: {}", joined(parts.into_iter().flatten(), ", "));
    let interval = interval.and_then(|i| both_on_axis(scale, i));
    let mark = Mark { interval, ..mark_at(scale, r.value, about, r.verdict)? };
    let efficiency = efficiency.filter(|_| has_known_ceiling(m));
    Some(Bar { who, name: clean(&r.tool), mark, efficiency })
}
