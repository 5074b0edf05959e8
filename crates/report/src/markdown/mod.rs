//! A report in GitHub-flavoured Markdown, for an issue or a document.
//!
//! Text from the run is escaped with backslashes and entities, so that it can neither open a tag
//! nor break a table.

mod short;

use proofmark_model::Run;

pub(crate) use self::short::short;
use crate::view::{
    Block, Cell, Content, Document, Drawing, FactTable, FindingGroup, Item, Medium, Rich, SIGNS,
    Section, Style, Summary, Table, Text, Timeline, Tone, View, result_tables, severity_mark,
    shown, stop, verdict_mark,
};
use crate::{Options, RenderError};

pub(crate) fn render(run: &Run, _: &Options) -> Result<String, RenderError> {
    Ok(document(&View::from_run(run).document))
}

/// The whole document.
pub(crate) fn document(document: &Document) -> String {
    let mut out = String::new();
    line(&mut out, &format!("# {}", escape(&document.title)));
    let facts = facts_line(document);
    if !facts.is_empty() {
        line(&mut out, &facts);
    }
    blocks(&mut out, &document.blocks, 2);
    format!("{}\n", out.trim_end())
}

/// The facts below the title.
fn facts_line(document: &Document) -> String {
    let facts = document.facts.iter().map(|f| escape(&format!("{} {}", f.name, f.value)));
    facts.collect::<Vec<_>>().join("; ")
}

/// Blocks whose headings start at that level.
fn blocks(out: &mut String, all: &[Block], level: usize) {
    shown(all, Medium::Markdown).for_each(|one| block(out, &one.content, level));
}

fn block(out: &mut String, content: &Content, level: usize) {
    match content {
        Content::Section(s) => section(out, s, level),
        Content::Details(details) => blocks(out, &details.blocks, level),
        Content::Grid(all) => blocks(out, all, level),
        Content::Text(text) => paragraphs(out, text),
        Content::List(items) => list(out, items),
        Content::Table(one) => table(out, one),
        Content::Facts(one) => facts(out, one, level),
        Content::Drawings(drawings) => {
            for drawing in &drawings.all {
                if let Drawing::OverTime(one) = drawing {
                    timeline(out, one);
                }
            }
        }
        Content::Results(results) => {
            result_tables(&results.parts).iter().for_each(|one| table(out, one));
        }
        Content::Findings(findings) => {
            findings.groups.iter().for_each(|group| finding(out, group));
            out.push('\n');
        }
    }
}

fn section(out: &mut String, section: &Section, level: usize) {
    if !section.unseen {
        let id = if section.code.is_empty() { "" } else { &format!(" {}", code(&section.code)) };
        line(out, &format!("{} {}{id}", "#".repeat(level), escape(&section.title)));
    }
    if let Some(figure) = section.figure.as_ref().filter(|f| f.value.is_some()) {
        let verdict = figure.verdict.map_or("", verdict_mark);
        line(out, &format!("**{}** ({verdict})", escape(&figure.value_with_unit())));
    }
    blocks(out, &section.blocks, level + 1);
}

fn line(out: &mut String, text: &str) {
    out.push_str(text);
    out.push_str("\n\n");
}

/// Text that Markdown prints unchanged. `<`, `>` and `&` become entities, since not every reader of
/// Markdown honours a backslash before them.
pub(crate) fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 8);
    for c in text.chars() {
        match c {
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '&' => out.push_str("&amp;"),
            '\\' | '`' | '*' | '_' | '[' | ']' | '|' | '~' | '#' | '$' | '!' => {
                out.push('\\');
                out.push(c);
            }
            c => out.push(c),
        }
    }
    out
}

/// An id as code; an id with other characters than proofmark's as escaped text.
fn code(id: &str) -> String {
    if id.chars().all(|c| c.is_ascii_alphanumeric() || "._-".contains(c)) {
        format!("`{id}`")
    } else {
        escape(id)
    }
}

/// A piece of text in its tone.
fn rich(text: &Rich) -> String {
    let piece = |(tone, text): &(Tone, String)| match tone {
        Tone::Plain | Tone::Quiet | Tone::Verdict(_) => escape(text),
        Tone::Strong => format!("**{}**", escape(text)),
        Tone::Code => code(text),
    };
    text.0.iter().map(piece).collect()
}

/// One paragraph each; warnings are in bold.
fn paragraphs(out: &mut String, text: &Text) {
    for one in &text.paragraphs {
        match text.style {
            Style::Warning => line(out, &format!("**{}**", escape(&one.plain()))),
            _ => line(out, &rich(one)),
        }
    }
}

/// A list. One text of a term is on the term's line, several are below it.
fn list(out: &mut String, items: &[Item]) {
    for item in items {
        let texts: Vec<String> = item.texts.iter().map(rich).collect();
        *out += &match (item.term.as_str(), texts.as_slice()) {
            ("", texts) => format!("- {}\n", texts.join(" ")),
            (term, [one]) => format!("- *{}*: {one}\n", escape(term)),
            (term, texts) => {
                let below: String = texts.iter().map(|one| format!("  - {one}\n")).collect();
                format!("- *{}*\n{below}", escape(term))
            }
        };
    }
    out.push('\n');
}

/// A short text to paste: verdicts in sum, the main results, and what was measured.
pub(crate) fn first(summary: &Summary) -> String {
    let mut out = String::new();
    line(&mut out, &format!("**{}**", escape(&summary.title)));
    line(&mut out, &escape(&summary.trust.sentence));
    if let Some(stopped) = &summary.trust.stopped {
        line(&mut out, &format!("**{}**", escape(stopped)));
    }
    result_tables(&summary.first.parts).iter().for_each(|t| table(&mut out, t));
    line(&mut out, &escape(&format!("{} {}", summary.measured, summary.identity)));
    format!("{}\n", out.trim_end())
}

/// A value over time: a line of signs.
fn timeline(out: &mut String, timeline: &Timeline) {
    let [signs, caption] = timeline.spark(SIGNS);
    line(out, &format!("*{}*", escape(&caption)));
    line(out, &format!("`{signs}`"));
}

fn finding(out: &mut String, group: &FindingGroup) {
    let advice = match group.advice.as_str() {
        "" => String::new(),
        advice => format!(" Advice: {}", stop(advice)),
    };
    *out += &format!(
        "- **{}** {}: {} At {}.{}\n",
        severity_mark(group.severity),
        code(&group.check),
        escape(&group.sentence),
        escape(&group.place),
        escape(&advice)
    );
}

fn table(out: &mut String, table: &Table) {
    if table.rows.is_empty() {
        return;
    }
    if !table.caption.is_empty() {
        line(out, &format!("*{}*", escape(&table.caption)));
    }
    let table = &table.seen_by(Medium::Markdown);
    let heads = table.columns.iter().map(|c| {
        let unit = c.unit.as_ref().map_or_else(String::new, |u| format!(", {u}"));
        escape(&format!("{}{unit}", c.title))
    });
    row(out, heads);
    row(out, table.columns.iter().map(|c| if c.numeric { "--:" } else { ":--" }.to_owned()));
    for r in &table.rows {
        row(out, r.cells.iter().map(cell));
    }
    out.push('\n');
    for (i, note) in table.notes.iter().enumerate() {
        *out += &format!("{}. {}\n", i + 1, escape(note));
    }
    if !table.notes.is_empty() {
        out.push('\n');
    }
}

fn cell(cell: &Cell) -> String {
    match cell.note {
        Some(note) => format!("{} ({note})", escape(&cell.text)),
        None => escape(&cell.text),
    }
}

fn row(out: &mut String, cells: impl Iterator<Item = String>) {
    let cells: String = cells.map(|cell| format!(" {cell} |")).collect();
    *out += &format!("|{cells}\n");
}

fn facts(out: &mut String, table: &FactTable, level: usize) {
    line(out, &format!("{} {}", "#".repeat(level), table.title));
    row(out, ["fact", "value", "source"].into_iter().map(str::to_owned));
    row(out, std::iter::repeat_n(":--".to_owned(), 3));
    for fact in &table.facts {
        row(out, [&fact.name, &fact.value, &fact.source].into_iter().map(|s| escape(s)));
    }
    out.push('\n');
}
