//! For reading in a terminal, in the tables of a run's report.

use proofmark_model::{PastRun, median};

use super::line::Line;
use super::table::{self, minute};
use crate::Options;
use crate::spark::{Spark, spark};
use crate::terminal::page::Page;
use crate::view::{clean, counted};

/// Widest chart, in columns: one sign per run for a long time.
const WIDEST: usize = 120;
/// In place of an invalid result.
const INVALID: char = '✗';

pub fn runs(runs: &[PastRun], options: &Options) -> String {
    let mut page = Page::new(options);
    page.table(&table::runs(runs));
    page.out
}

pub fn points(workload: &str, shared: &str, lines: &[Line], options: &Options) -> String {
    let starts = || lines.iter().flat_map(|l| &l.moments).map(|m| m.point.started);
    let span = match (starts().min(), starts().max()) {
        (Some(from), Some(to)) => format!(", {} to {} UTC", minute(from), minute(to)),
        _ => String::new(),
    };
    let mut page = Page::new(options);
    let head =
        format!("{} over time: {}{span}", clean(workload), counted(lines.len() as u64, "line"));
    page.wrap("", 2, &head);
    if !shared.is_empty() {
        page.wrap("", 2, &format!("in all runs: {shared}"));
    }
    page.wrap("", 2, "change: compared with the previous run that is not invalid");
    for line in lines {
        page.blank();
        let better = format!("{} is better", line.better.as_str());
        let unnamed = line.name.is_empty();
        page.wrap("", 2, &if unnamed { better } else { format!("{} ({better})", line.name) });
        chart(&mut page, line);
        page.table(&table::line(line));
    }
    page.out
}

/// The chart, and what its lower and upper end are.
fn chart(page: &mut Page, line: &Line) {
    let (drawn, each) = signs(line, page.width.min(WIDEST));
    page.out.extend([&*drawn.signs, "\n"]);
    let Some([low, high]) = drawn.range else { return };
    let ends = line.scale.number(low).zip(line.scale.with_label(high));
    let Some((low, high)) = ends else { return };
    let shared = match each {
        1 => String::new(),
        each => format!("; each sign is the median of up to {each} runs"),
    };
    page.wrap("", 2, &format!("lowest block {low}, highest {high}{shared}"));
}

/// A line of blocks at most so many columns wide, at least one; with the most runs that share a sign,
/// which then shows the median of those that are not invalid.
pub(super) fn signs(line: &Line, width: usize) -> (Spark, usize) {
    let each = line.moments.len().div_ceil(width.max(1)).max(1);
    let values = line.moments.chunks(each).map(|some| {
        let usable = some.iter().filter(|m| m.is_usable());
        median(&usable.map(|m| m.point.value).collect::<Vec<_>>())
    });
    (spark(values, INVALID), each)
}
