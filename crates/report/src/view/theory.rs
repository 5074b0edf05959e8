//! Results, reference tools and ceilings over all workloads, as a table and as bars in percent: for
//! each workload the configuration of its headline, or that which a tool ran.

use proofmark_model::{Measurement, Reference, Verdict};

use super::chart::{Bar, BarChart, BarGroup, Limit, Mark, left_out};
use super::disk;
use super::keyed::{why_no_ceiling, why_no_efficiency};
use super::label::Group;
use super::num::percent;
use super::references::chosen;
use super::table::{Cell, Table};
use super::text::clean;
use super::verdict_mark;

/// Workloads in one chart, and charts.
const WORKLOADS: usize = 6;
const CHARTS: usize = 4;
/// Percent beyond which a bar shows nothing.
const MOST: f64 = 1e5;

/// A workload's configuration, with its reference tool if there is one.
type Row<'g, 'a> = (&'g Group<'a>, &'a Measurement, Option<&'a Reference>);

/// All rows: a workload's tools each, or its headline where that has a ceiling.
fn rows<'g, 'a>(groups: &'g [Group<'a>]) -> Vec<Row<'g, 'a>> {
    let of = |group: &'g Group<'a>| -> Vec<Row<'g, 'a>> {
        let tools = chosen(group);
        if !tools.is_empty() {
            return tools.into_iter().map(|(m, r)| (group, m, Some(r))).collect();
        }
        let hero = group.answer().map(|(m, _)| m);
        hero.filter(|m| m.ceiling.is_some()).map(|m| (group, m, None)).into_iter().collect()
    };
    groups.iter().filter(|g| !g.over_time).flat_map(of).collect()
}

/// The table.
pub fn table(groups: &[Group]) -> Table {
    let rows = rows(groups);
    let tools = rows.iter().any(|(_, _, r)| r.is_some());
    let caption = match tools {
        true => "Results, reference tools and ceilings",
        false => "Results and ceilings",
    };
    let mut table = Table::new(caption)
        .column("workload")
        .column("configuration")
        .spare(4)
        .number("result")
        .measured("of ceiling", "%");
    if tools {
        table = table.column("tool").number("tool result").measured("of ceiling", "%").spare(1);
    }
    table = table.number("ceiling").column("verdict").spare(2);
    table.keys = 2;
    for (group, m, r) in rows {
        let finite = || "not a finite number".to_owned();
        let quantity = |v: f64| disk::scale(m, &[v]).with_label(v);
        let mut cells = vec![Cell::text(clean(group.id)), Cell::text(group.short(m))];
        let own = m.summary.as_ref().and_then(|s| quantity(s.value()));
        cells.push(table.maybe(own, || super::label::why_no_trials(m)));
        cells.push(table.maybe(m.efficiency.and_then(percent), || why_no_efficiency(m)));
        match r {
            Some(r) => {
                let doubt = (r.verdict != Verdict::Valid)
                    .then(|| table.note(format!("the tool's result is {}", r.verdict)));
                cells.push(Cell { note: doubt, ..Cell::text(clean(&r.tool)) });
                cells.push(table.maybe(quantity(r.value), finite));
                cells.push(table.maybe(r.efficiency.and_then(percent), || why_no_efficiency(m)));
            }
            None if tools => {
                let none = table.missing("no reference tool ran");
                cells.extend([none.clone(), none.clone(), none]);
            }
            None => {}
        }
        let theoretical = m.ceiling.as_ref().and_then(|c| quantity(c.value));
        cells.push(table.maybe(theoretical, || why_no_ceiling(m)));
        cells.push(Cell::verdict(m.verdict));
        table.push(cells);
    }
    table
}

/// Bars in percent of the ceiling, of workloads with a reference tool.
pub fn charts(groups: &[Group]) -> Vec<BarChart> {
    let rows = rows(groups);
    let mut points: Vec<BarGroup> = Vec::new();
    let mut tools: Vec<String> = Vec::new();
    for group in groups {
        let of: Vec<&Row> = rows.iter().filter(|(g, _, _)| std::ptr::eq(*g, group)).collect();
        points.extend(point(group, &of, &mut tools));
    }
    // A workload without a tool has its share in the table and with its headline.
    points.retain(|p| p.bars.len() > 1);
    let all = points.len().div_ceil(WORKLOADS);
    let more = points.len().saturating_sub(WORKLOADS * CHARTS);
    let chart = |(i, points): (usize, &[BarGroup])| {
        let part =
            if all > 1 { format!(" ({} of {})", i + 1, all.min(CHARTS)) } else { String::new() };
        let title = format!("Share of the ceiling: proofmark and reference tools{part}");
        let more = left_out(if i + 1 == CHARTS { more } else { 0 }, "workload", "in the table");
        BarChart::new(title, "% of the ceiling", points.to_vec(), more)
    };
    points.chunks(WORKLOADS).enumerate().take(CHARTS).map(chart).collect()
}

/// Ours and each tool's; `None` without a share of our own.
fn point(group: &Group, rows: &[&Row], tools: &mut Vec<String>) -> Option<BarGroup> {
    let (_, m, _) = rows.first()?;
    let ours = bar("proofmark".to_owned(), m.efficiency?, m.verdict, 0)?;
    let mut bars = vec![ours];
    // A tool at another configuration has nothing to do with these bars.
    for (_, _, r) in rows.iter().filter(|(_, at, _)| std::ptr::eq(*at, *m)) {
        let Some((r, share)) = r.and_then(|r| Some((r, r.efficiency?))) else { continue };
        let name = clean(&r.tool);
        let at = tools.iter().position(|t| *t == name).unwrap_or_else(|| {
            tools.push(name.clone());
            tools.len() - 1
        });
        bars.extend(bar(name, share, r.verdict, at + 1));
    }
    let point = match group.short(m) {
        at if at.is_empty() => group.name(),
        at => format!("{}: {at}", group.name()),
    };
    let ceiling = Some(Limit { value: 100.0, text: "100".to_owned() });
    Some(BarGroup { name: point, bars, ceiling })
}

fn bar(name: String, share: f64, verdict: Verdict, who: usize) -> Option<Bar> {
    let text = percent(share)?;
    let value = Some(share * 100.0).filter(|v| v.abs() < MOST)?;
    let about = format!("{name}: {text} % of the ceiling, {}", verdict_mark(verdict));
    let mark = Mark { value, text, about, verdict, ..Mark::default() };
    Some(Bar { who, name, mark, efficiency: None })
}
