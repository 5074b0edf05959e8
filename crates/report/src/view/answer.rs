//! The summary on the first screen: one to three results per subsystem, with precision, share of
//! the ceiling, bottleneck and verdict.

use proofmark_model::{Measurement, Subsystem, Verdict};
use serde::Serialize;

use super::headline::{self, Headline, best, in_question};
use super::label::Group;
use super::part;
use super::references::ratio;
use super::table::{Cell, Table};
use super::text::clean;

/// A number of the first screen.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Answer {
    /// The workload's id: that of a [`super::WorkloadView`].
    pub workload: String,
    /// Place of that among the report's workloads, from 0.
    pub at: usize,
    /// What is answered, such as `Floating-point peak`.
    pub title: String,
    /// The number with its interval, ceiling, bottleneck and verdict.
    pub headline: Headline,
    /// `1.01 times fio (0.99 to 1.02)`; `None` where no reference tool ran or its result is not valid.
    pub reference: Option<String>,
}

/// The numbers of one subsystem.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct AnswerGroup {
    /// `cpu`, `memory`, `disk` or `network`.
    pub subsystem: &'static str,
    /// The same for people: `CPU`.
    pub title: &'static str,
    /// One to three.
    pub answers: Vec<Answer>,
}

/// Title of the column that names the configuration.
pub const CONFIGURATION: &str = "configuration";

/// Results of one subsystem.
const MOST: usize = 3;

/// The workloads of a subsystem that answer for it, with their places: those that people ask for, or
/// whatever there is.
pub fn chosen<'g, 'a>(all: &[(usize, &'g Group<'a>)]) -> Vec<(usize, &'g Group<'a>)> {
    let lead = |g: &Group| if g.over_time { None } else { g.spec?.role.lead };
    let mut found: Vec<_> = all.iter().copied().filter(|(_, g)| lead(g).is_some()).collect();
    found.sort_by_key(|(_, g)| lead(g));
    if found.is_empty() {
        found = all.to_vec();
    }
    found.truncate(MOST);
    found
}

/// The answers of a run.
pub fn collect(groups: &[Group]) -> Vec<AnswerGroup> {
    let of_part = |(part, all): (Subsystem, Vec<(usize, &Group)>)| AnswerGroup {
        subsystem: part.as_str(),
        title: part.title(),
        answers: chosen(&all).into_iter().map(|(at, group)| answer(at, group)).collect(),
    };
    part::each(groups).into_iter().map(of_part).collect()
}

fn answer(at: usize, group: &Group) -> Answer {
    let hero = best(group, &in_question(group)).map(|(m, _)| m);
    Answer {
        workload: group.name(),
        at,
        title: group.heading(),
        headline: headline::find(group),
        reference: hero.and_then(reference_ratio),
    }
}

/// The ratio to the first reference tool whose result is valid.
fn reference_ratio(m: &Measurement) -> Option<String> {
    let r = m.references.iter().find(|r| r.verdict == Verdict::Valid)?;
    let tool = clean(&r.tool);
    let times = ratio(r.ratio.median)?;
    Some(match r.ratio.ci95.map(|i| i.map(ratio)) {
        Some([Some(low), Some(high)]) => format!("{times} times {tool} ({low} to {high})"),
        _ => format!("{times} times {tool} (no interval)"),
    })
}

/// The same as a table.
pub fn table(answers: &[AnswerGroup]) -> Table {
    let all = || answers.iter().flat_map(|g| &g.answers);
    let with_delivered = all().any(|a| a.headline.delivered.is_some());
    let mut table = Table::new("Summary")
        .column("subsystem")
        .spare(3)
        .column("workload")
        .column(CONFIGURATION)
        .spare(4)
        .number("figure")
        .number("±");
    if with_delivered {
        table = table.number("delivered");
    }
    let mut table = table
        .measured("of ceiling", "%")
        .spare(1)
        .column("bottleneck")
        .spare(2)
        .column("verdict")
        .column("reference tool")
        .spare(5);
    table.keys = 3;
    for group in answers {
        for answer in &group.answers {
            let cells = cells(group.title, answer, with_delivered, &mut table);
            table.push(cells);
        }
    }
    if all().all(|a| a.reference.is_none()) {
        table.columns.pop();
        table.rows.iter_mut().for_each(|r| r.cells.truncate(r.cells.len() - 1));
    }
    table
}

fn cells(part: &str, answer: &Answer, with_delivered: bool, table: &mut Table) -> Vec<Cell> {
    let h = &answer.headline;
    let at = if h.value.is_some() { h.at.as_str() } else { "" };
    let mut cells = vec![Cell::text(part), Cell::text(answer.title.as_str()), Cell::text(at)];
    let verdict = h.verdict.map_or_else(|| Cell::text("-"), Cell::verdict);
    let Some(value) = &h.value else {
        let none = table.missing(h.at.clone());
        cells.resize(if with_delivered { 8 } else { 7 }, Cell { note: None, ..none.clone() });
        cells[3] = none;
        cells.extend([verdict, Cell::text("")]);
        return cells;
    };
    cells.push(Cell::text(format!("{value} {}", h.unit)));
    let within = h.within.as_ref().map(|w| w.trim_start_matches("± ").to_owned());
    cells.push(table.maybe(within, || h.within_lacks.to_owned()));
    if with_delivered {
        // A figure that is put first is delivered itself where there is no other.
        let delivered = h.delivered.as_ref().unwrap_or(value);
        cells.push(Cell::text(format!("{delivered} {}", h.unit)));
    }
    let near = h.near.as_ref().map(|n| n.percent.clone());
    cells.push(table.maybe(near, || h.near_lacks.to_owned()));
    cells.push(table.maybe(h.bottleneck.clone(), || "unknown: no ceiling".to_owned()));
    cells.push(verdict);
    cells.push(Cell::text(answer.reference.clone().unwrap_or_default()));
    cells
}
