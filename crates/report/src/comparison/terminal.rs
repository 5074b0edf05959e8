//! For reading in a terminal, and the few lines of a check.

use proofmark_model::{Comparison, Verdict, format_factor};

use super::view::{Line, Tally, View, together};
use super::words::{failure, interval, margin, point, resolution};
use crate::Options;
use crate::terminal::{paint::Paint, tables};
use crate::view::{Cell, Table, clean, plural};

/// The verdict, the causes, and a table of the points that differ; with `all`, of all points.
pub fn terminal(comparison: &Comparison, all: bool, options: &Options) -> String {
    let view = View::of(comparison);
    let mut page = Page {
        out: String::new(),
        width: options.width.max(20),
        paint: Paint { color: options.color },
    };
    page.head(&view);
    page.table(&view.subsystems);
    page.points("Points that differ", &view.differing);
    if all {
        page.points("Points without a difference that is shown", &view.alike);
    } else if !view.alike.is_empty() {
        page.blank();
        let count = plural(view.alike.len() as u64, "point");
        page.wrap("", 0, &format!("No difference is shown in {count}; --all lists them."));
    }
    page.list("Gone", &view.gone);
    page.list("Not comparable", &view.not_comparable);
    if !view.differences.rows.is_empty() {
        page.blank();
        page.title(&view.differences.caption);
        page.table(&view.differences);
    }
    page.out
}

/// The text so far.
struct Page {
    out: String,
    width: usize,
    paint: Paint,
}

impl Page {
    /// Wraps a text; every line but the first begins with `hang` spaces.
    fn wrap(&mut self, first: &str, hang: usize, text: &str) {
        let hang = " ".repeat(hang.min(self.width / 2));
        let options = textwrap::Options::new(self.width)
            .initial_indent(first)
            .subsequent_indent(&hang)
            .break_words(true);
        for line in textwrap::wrap(text, options) {
            self.out.push_str(line.trim_end());
            self.out.push('\n');
        }
    }

    fn blank(&mut self) {
        self.out.push('\n');
    }

    /// A bold heading, painted line by line, so that no colour runs over a line's end.
    fn title(&mut self, text: &str) {
        for line in textwrap::wrap(text, self.width) {
            self.out.push_str(&self.paint.bold(&line));
            self.out.push('\n');
        }
    }

    fn head(&mut self, view: &View) {
        self.title(&view.verdict);
        for cause in &view.causes {
            self.wrap("  ", 4, cause);
        }
        self.blank();
        for side in &view.sides {
            let facts: Vec<String> =
                side.iter().map(|f| format!("{} {}", f.name, f.value)).collect();
            self.wrap("", 3, &facts.join("; "));
        }
        self.blank();
    }

    fn table(&mut self, table: &Table) {
        let laid_out = tables::lay_out(table, self.width, self.paint);
        self.out.push_str(&laid_out);
        for (i, note) in table.notes.iter().enumerate() {
            let mark = format!("[{}]", i + 1);
            if laid_out.contains(&mark) {
                self.wrap(&format!("{mark} "), 4, note);
            }
        }
    }

    fn points(&mut self, title: &str, lines: &[Line]) {
        if lines.is_empty() {
            return;
        }
        self.blank();
        self.title(title);
        self.table(&table(lines));
    }

    fn list(&mut self, title: &str, items: &[String]) {
        if items.is_empty() {
            return;
        }
        self.blank();
        self.title(title);
        for item in items {
            self.wrap("", 2, item);
        }
    }
}

/// Points as a table that a narrow terminal can take columns from.
fn table(lines: &[Line]) -> Table {
    let mut table = Table::new("")
        .column("kernel")
        .column("point")
        .number("A")
        .spare(2)
        .number("B")
        .spare(2)
        .number("B / A")
        .number("95 %")
        .spare(1)
        .number("margin")
        .spare(3)
        .column("verdict");
    table.keys = 2;
    for line in lines {
        let numbers = [&line.a, &line.b, &line.ratio, &line.interval, &line.margin];
        let numbers = numbers.map(|n| Cell::text(n.as_deref().unwrap_or("-")));
        let name = match (line.name.as_str(), line.direction) {
            (name, "") => name.to_owned(),
            ("", direction) => direction.to_owned(),
            (name, direction) => format!("{name}; {direction}"),
        };
        let verdict = [Verdict::Valid, Verdict::Suspect, Verdict::Invalid];
        let verdict = verdict.into_iter().find(|v| v.as_str() == line.color);
        let mut cells = vec![Cell::text(&line.kernel), Cell::text(name)];
        cells.extend(numbers);
        cells.push(Cell { text: line.outcome.to_owned(), note: None, verdict });
        table.push(cells);
    }
    table
}

/// A check in few lines: one a point that fails, and one that sums up. Lines are not wrapped, so
/// that a log can be searched.
pub fn check(comparison: &Comparison) -> String {
    let mut out = String::new();
    for p in comparison.points.iter().filter(|p| p.fails()) {
        let figures = p.ratio.as_ref().map_or_else(String::new, |r| {
            let ends = interval(r).map_or_else(String::new, |i| format!(" ({i})"));
            let beyond = p.margin.and_then(margin);
            let beyond = beyond.map_or_else(String::new, |m| format!(", margin {m}"));
            format!("{}{ends}{beyond}; ", format_factor(r.median))
        });
        let word = failure(p);
        out.push_str(&format!("{word} {}: {figures}{}\n", point(p), clean(&p.reason)));
    }
    for sentence in together(comparison, |p| p.in_base() && !p.judged() && !p.gone()) {
        out.push_str(&format!("not judged {sentence}\n"));
    }
    if let Some(why) = comparison.too_little() {
        out.push_str(&format!("too little to pass: {why}\n"));
    }
    out.push_str(&summary(comparison, &Tally::of(comparison)));
    out
}

fn summary(c: &Comparison, t: &Tally) -> String {
    let base = clean(&c.a.name);
    let of = plural(t.points as u64, "point");
    let first = match t.slower + t.gone {
        0 if t.points == 1 => format!("The one point is neither slower than in {base} nor gone"),
        0 => format!("None of {of} is slower than in {base} or gone"),
        n => {
            let fail = if n == 1 { "fails" } else { "fail" };
            format!("{n} of {of} {fail} against {base}: {} slower, {} gone", t.slower, t.gone)
        }
    };
    let unseen = resolution(&c.subsystems).map_or_else(String::new, |text| format!("; {text}"));
    format!(
        "{first}; {} without a difference that is shown, {} faster, {} not comparable{unseen}.\n",
        t.alike, t.faster, t.not_comparable
    )
}
