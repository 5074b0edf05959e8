//! For reading in a terminal, and the few lines of a check.

use proofmark_model::Comparison;

use super::table::lines_table;
use super::tally::Tally;
use super::view::{Line, View, together};
use super::words::{failure, moved, point, ratio, resolution};
use crate::Options;
use crate::terminal::page::Page;
use crate::view::{clean, plural};

/// The verdict, the causes, and a table of the points that differ; with `all`, of all points.
pub fn terminal(comparison: &Comparison, all: bool, options: &Options) -> String {
    let view = View::from_comparison(comparison);
    let mut page = Page::new(options);
    head(&mut page, &view);
    points(&mut page, "The first screen of A, compared", &view.first);
    if !view.first.is_empty() {
        page.blank();
    }
    page.table(&view.subsystems);
    points(&mut page, "Results that differ", &view.differing);
    if all {
        points(&mut page, "Results without a shown difference", &view.alike);
    } else if !view.alike.is_empty() {
        page.blank();
        let count = plural(view.alike.len() as u64, "result");
        page.wrap("", 0, &format!("No difference is shown in {count}; --all lists them."));
    }
    list(&mut page, "Gone", &view.gone);
    list(&mut page, "Not comparable", &view.not_comparable);
    if !view.differences.rows.is_empty() {
        page.blank();
        page.title(&view.differences.caption);
        page.table(&view.differences);
    }
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

fn points(page: &mut Page, title: &str, lines: &[Line]) {
    if lines.is_empty() {
        return;
    }
    page.blank();
    page.title(title);
    page.table(&lines_table(lines));
}

fn list(page: &mut Page, title: &str, items: &[String]) {
    if items.is_empty() {
        return;
    }
    page.blank();
    page.title(title);
    for item in items {
        page.wrap("", 2, item);
    }
}

/// A check in few lines: one per result that fails, and a summary. Lines are not wrapped, so
/// that a log can be searched.
pub fn check(comparison: &Comparison) -> String {
    let mut out = String::new();
    for p in comparison.points.iter().filter(|p| p.fails()) {
        let mut figures =
            p.headline.as_ref().map_or_else(String::new, |h| format!("{}; ", ratio(h)));
        if let Some(d) = moved(p) {
            figures.push_str(&format!("delivered {}; ", ratio(d)));
        }
        let word = failure(p);
        out.push_str(&format!("{word} {}: {figures}{}\n", point(p), clean(&p.reason)));
    }
    for sentence in together(comparison, |p| p.in_base() && !p.judged() && !p.gone()) {
        out.push_str(&format!("not judged {sentence}\n"));
    }
    if let Some(why) = comparison.too_little() {
        out.push_str(&format!("too little to pass: {why}\n"));
    }
    out.push_str(&summary(comparison, &Tally::count(comparison)));
    out
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
        "{first}; {} without a shown difference, {} faster, {} not comparable{unseen}.\n",
        t.alike, t.faster, t.not_comparable
    )
}
