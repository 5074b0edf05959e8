//! For reading in a terminal, and the few lines of a check.

use proofmark_model::Comparison;

use super::verdict::Tally;
use super::view::{Line, View, together};
use super::words::{failure, moved, point, ratio, resolution};
use crate::Options;
use crate::terminal::page::Page;
use crate::view::{Table, clean, plural};

/// The verdict, the causes, and a table of the points that differ; with `all`, of all points.
pub fn terminal(comparison: &Comparison, all: bool, options: &Options) -> String {
    let view = View::from_comparison(comparison);
    let mut page = Page::new(options);
    head(&mut page, &view);
    section(&mut page, "Main results", &Line::table(&view.first));
    if !view.first.is_empty() {
        page.blank();
    }
    page.table(&view.subsystems);
    section(&mut page, "Results that differ", &Line::table(&view.differing));
    section(&mut page, "Undecided results", &Line::table(&view.undecided));
    if all {
        section(&mut page, "Results without a shown difference", &Line::table(&view.alike));
    } else if !view.alike.is_empty() {
        page.blank();
        let count = plural(view.alike.len() as u64, "result");
        page.wrap("", 0, &format!("No difference is shown in {count}; --all lists them."));
    }
    for (title, sentences) in [("Gone", &view.gone), ("Not comparable", &view.not_comparable)] {
        if !sentences.is_empty() {
            page.blank();
            page.title(title);
        }
        sentences.iter().for_each(|one| page.wrap("", 2, one));
    }
    section(&mut page, &view.differences.caption, &view.differences);
    page.out
}

fn head(page: &mut Page, view: &View) {
    page.title(&view.verdict);
    for cause in &view.causes {
        page.wrap("  ", 4, cause);
    }
    page.blank();
    for side in &view.sides {
        let facts: Vec<String> = side.iter().map(|f| format!("{} {}", f.name, f.value)).collect();
        page.wrap("", 3, &facts.join("; "));
    }
    page.blank();
}

/// A table under its title, if it has rows.
fn section(page: &mut Page, title: &str, table: &Table) {
    if !table.rows.is_empty() {
        page.blank();
        page.title(title);
        page.table(table);
    }
}

/// A check in few lines: one per result that fails, and a summary. Lines are not wrapped, so
/// that a log can be searched.
pub fn check(comparison: &Comparison) -> String {
    let mut out = String::new();
    for p in comparison.points.iter().filter(|p| p.fails()) {
        let delivered = moved(p).map(|d| format!("delivered {}; ", ratio(d)));
        let headline = p.headline.as_ref().map(|h| format!("{}; ", ratio(h)));
        let figures: String = headline.into_iter().chain(delivered).collect();
        out += &format!("{} {}: {figures}{}\n", failure(p), point(p), clean(&p.reason));
    }
    for p in comparison.points.iter().filter(|p| p.undecided()) {
        let figure = p.headline.as_ref().map(|h| format!("{}; ", ratio(h))).unwrap_or_default();
        out += &format!("undecided {}: {figure}{}\n", point(p), clean(&p.reason));
    }
    for sentence in together(comparison, |p| p.in_base() && p.not_comparable()) {
        out += &format!("not judged {sentence}\n");
    }
    if let Some(why) = comparison.too_little() {
        out += &format!("too little to pass: {why}\n");
    }
    out + &summary(comparison, &Tally::count(comparison))
}

fn summary(c: &Comparison, t: &Tally) -> String {
    let base = clean(&c.a.name);
    let of = plural(t.points as u64, "result");
    let first = match t.slower + t.gone {
        0 if t.points == 1 => format!("The one result is neither slower than in {base} nor gone"),
        0 => format!("None of {of} is slower than in {base} or gone"),
        n => {
            let fail = if n == 1 { "fails" } else { "fail" };
            format!("{n} of {of} {fail} compared with {base}: {} slower, {} gone", t.slower, t.gone)
        }
    };
    let unseen = resolution(&c.subsystems).map_or_else(String::new, |text| format!("; {text}"));
    format!(
        "{first}; {} without a shown difference, {} faster, {} undecided, {} not comparable{unseen}.\n",
        t.alike, t.faster, t.undecided, t.not_comparable
    )
}
