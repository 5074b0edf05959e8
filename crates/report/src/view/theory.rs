//! Results, reference tools and ceilings over all workloads, as a table and as bars in percent.
//! Each workload has the configuration of its headline, or the one that a tool ran.

use proofmark_model::{Measurement, Reference, Reliance, Verdict};

use super::chart::{Bar, BarChart, BarGroup, Limit, Mark, left_out};
use super::columns::{Columns, Entry, not_finite};
use super::disk;
use super::grouping::grouped;
use super::label::{Group, why_no_trials};
use super::num::percent;
use super::references::{chosen, paired};
use super::shared_parts::{ceiling, efficiency, share_of_ceiling, why_no_efficiency};
use super::table::Table;
use super::text::{clean, joined};
use super::verdict_mark;

/// Maximum number of workloads in one chart, and of charts.
const WORKLOADS: usize = 6;
const CHARTS: usize = 4;
/// The meaning of the column of proofmark's results where tools ran.
const RESULT: &str = "Where a tool ran, the median of proofmark's trials in the pairs with it: \
    both sides were measured at the same time. Elsewhere, the workload's headline figure.";

/// Percentage beyond which a bar is not drawn.
const MOST: f64 = 1e5;

/// A workload's configuration, with its reference tool if there is one.
type Row<'g, 'a> = (&'g Group<'a>, &'a Measurement, Option<&'a Reference>);

/// One row per workload and tool, or the headline where it has a ceiling and no tool ran.
fn rows<'g, 'a>(groups: &'g [Group<'a>]) -> Vec<Row<'g, 'a>> {
    let of = |group: &'g Group<'a>| -> Vec<Row<'g, 'a>> {
        let tools = chosen(group);
        if !tools.is_empty() {
            return tools.into_iter().map(|(m, r)| (group, m, Some(r))).collect();
        }
        let answer = group.answer().map(|(m, _)| m);
        answer.filter(|m| m.ceiling.is_some()).map(|m| (group, m, None)).into_iter().collect()
    };
    groups.iter().filter(|g| !g.over_time).flat_map(of).collect()
}

pub fn table(groups: &[Group]) -> Table {
    let rows = rows(groups);
    let tools = rows.iter().any(|(_, _, r)| r.is_some());
    let caption = match tools {
        true => "Results, reference tools and ceilings",
        false => "Results and ceilings",
    };
    let quantity = |m: &Measurement, v: f64| disk::scale(m, &[v]).with_label(v);
    let none = || "no reference tool ran".to_owned();
    Columns::new(caption)
        .column("workload", |(group, _, _): &Row| clean(group.id))
        .column("configuration", |(group, m, _)| group.short(m))
        .keys()
        .spare(4)
        .number("result", |(_, m, r)| {
            let in_pairs = r.and_then(|r| paired(m, r)).map(|ours| ours.value);
            let own = in_pairs.or_else(|| m.summary.as_ref().map(|s| s.value()));
            own.and_then(|v| quantity(m, v)).ok_or_else(|| why_no_trials(m))
        })
        .when(tools, |table| table.explained("result", RESULT))
        .measured("of ceiling", "%", |(_, m, r)| {
            let share = match r.and_then(|r| paired(m, r)) {
                Some(ours) => ours.percent().ok_or_else(|| why_no_efficiency(m)),
                None => efficiency(m),
            };
            share_of_ceiling(m, share)
        })
        .when(tools, |table| {
            table
                .column("tool", |(_, _, r)| {
                    let Some(r) = r else { return Err(none()).into() };
                    let doubted = !r.verdict.is_undoubted();
                    let doubt = doubted.then(|| format!("the tool's result is {}", r.verdict));
                    Entry::from(clean(&r.tool)).noted(doubt.unwrap_or_default())
                })
                .number("tool result", move |(_, m, r)| {
                    quantity(m, r.ok_or_else(none)?.value).ok_or_else(not_finite)
                })
                .measured("of ceiling", "%", move |(_, m, r)| {
                    let share = r.ok_or_else(none).and_then(|r| {
                        r.efficiency.and_then(percent).ok_or_else(|| why_no_efficiency(m))
                    });
                    share_of_ceiling(m, share)
                })
                .spare(1)
        })
        .number("ceiling", |(_, m, _)| ceiling(m, |v| quantity(m, v)))
        .column("verdict", |(_, m, _)| m.verdict)
        .spare(2)
        .rows(rows)
}

/// Bars in percent of the ceiling, for workloads with a reference tool.
pub fn charts(groups: &[Group]) -> Vec<BarChart> {
    let mut tools: Vec<String> = Vec::new();
    let rows = grouped(rows(groups).into_iter().map(|row| (row.0.id, row))).into_iter();
    let known =
        |m: &Measurement| m.ceiling.as_ref().is_some_and(|c| c.reliance() == Reliance::Known);
    // A bar of an assumed or shared ceiling would look like a fault of the machine.
    let rows = rows.filter(|(_, of)| of.iter().all(|(_, m, _)| known(m)));
    let mut points: Vec<BarGroup> = rows.filter_map(|(_, of)| point(&of, &mut tools)).collect();
    // The table and the headline show the share of workloads without a tool.
    points.retain(|p| p.bars.len() > 1);
    let more =
        left_out(points.len().saturating_sub(WORKLOADS * CHARTS), "workload", "in the table");
    points.truncate(WORKLOADS * CHARTS);
    let title = "Share of the ceiling: proofmark and reference tools";
    BarChart::in_parts(title, "% of the ceiling", &points, WORKLOADS, &more)
}

/// The bars of a configuration: for each tool, proofmark in the pairs and the tool itself.
fn point(rows: &[Row], tools: &mut Vec<String>) -> Option<BarGroup> {
    let (group, m, _) = rows.first()?;
    let mut bars = Vec::new();
    // A tool that ran at another configuration has no bar here.
    let here: Vec<&Reference> =
        rows.iter().filter(|(_, at, _)| std::ptr::eq(*at, *m)).filter_map(|row| row.2).collect();
    for r in &here {
        let Some((ours, share)) = paired(m, r).and_then(|o| o.share).zip(r.efficiency) else {
            continue;
        };
        let name = clean(&r.tool);
        let own =
            if here.len() > 1 { format!("proofmark with {name}") } else { "proofmark".into() };
        bars.extend(bar(own, ours, m.verdict, 0));
        let at = tools.iter().position(|t| *t == name).unwrap_or_else(|| {
            tools.push(name.clone());
            tools.len() - 1
        });
        bars.extend(bar(name, share, r.verdict, at + 1));
    }
    let name = joined([group.name(), group.short(m)], ": ");
    let ceiling = Some(Limit { value: 100.0, text: "100".to_owned() });
    Some(BarGroup { name, bars, ceiling })
}

fn bar(name: String, share: f64, verdict: Verdict, who: usize) -> Option<Bar> {
    let text = percent(share)?;
    let value = Some(share * 100.0).filter(|v| v.abs() < MOST)?;
    let about = format!("{name}: {text} % of the ceiling, {}", verdict_mark(verdict));
    let mark = Mark { value, text, about, verdict, ..Mark::default() };
    Some(Bar { who, name, mark, efficiency: None })
}
