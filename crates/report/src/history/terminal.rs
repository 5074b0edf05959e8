//! For reading in a terminal, in the tables of a run's report.

use proofmark_model::{Better, PastRun};

use super::line::Line;
use super::spark;
use super::table::{self, minute};
use crate::Options;
use crate::terminal::paint::Paint;
use crate::terminal::tables;
use crate::view::{Table, clean, plural};

/// Least width that anything is laid out for, in columns.
const NARROWEST: usize = 20;
/// Widest chart, in columns: one sign a run for a long time.
const WIDEST: usize = 120;

pub fn runs(runs: &[PastRun], options: &Options) -> String {
    lay_out(&table::runs(runs), options)
}

pub fn points(kernel: &str, shared: &str, lines: &[Line], options: &Options) -> String {
    let width = options.width.max(NARROWEST);
    let starts = || lines.iter().flat_map(|l| &l.moments).map(|m| m.started);
    let span = match (starts().min(), starts().max()) {
        (Some(from), Some(to)) => format!(", {} to {} UTC", minute(from), minute(to)),
        _ => String::new(),
    };
    let mut out = String::new();
    let head = format!("{} over time: {}{span}", clean(kernel), plural(lines.len() as u64, "line"));
    wrap(&mut out, &head, width);
    if !shared.is_empty() {
        wrap(&mut out, &format!("throughout: {shared}"), width);
    }
    wrap(
        &mut out,
        "change: against the run before it that is not invalid; ceiling: share of it",
        width,
    );
    for line in lines {
        out.push('\n');
        let better = match line.better {
            Better::Higher => "more is better",
            Better::Lower => "less is better",
        };
        let name = match line.name.as_str() {
            "" => better.to_owned(),
            name => format!("{name} ({better})"),
        };
        wrap(&mut out, &name, width);
        chart(&mut out, line, width);
        out.push_str(&lay_out(&table::line(line), options));
    }
    out
}

/// The chart, and what its lower and upper end are.
fn chart(out: &mut String, line: &Line, width: usize) {
    let (drawn, each) = spark::chart(line, width.min(WIDEST));
    out.push_str(&drawn.signs);
    out.push('\n');
    let Some([low, high]) = drawn.range else { return };
    let ends = line.scale.number(low).zip(line.scale.with_label(high));
    let Some((low, high)) = ends else { return };
    let shared = match each {
        1 => String::new(),
        each => format!("; a sign is the median of up to {each} runs"),
    };
    wrap(out, &format!("lowest block {low}, highest {high}{shared}"), width);
}

fn wrap(out: &mut String, text: &str, width: usize) {
    let options = textwrap::Options::new(width).subsequent_indent("  ").break_words(true);
    for line in textwrap::wrap(text, options) {
        out.push_str(line.trim_end());
        out.push('\n');
    }
}

fn lay_out(table: &Table, options: &Options) -> String {
    tables::lay_out(table, options.width.max(NARROWEST), Paint { color: options.color })
}
