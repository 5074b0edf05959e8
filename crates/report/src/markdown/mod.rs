//! For pasting into an issue or a document: GitHub-flavoured Markdown.
//!
//! Text from the run is escaped with backslashes and entities, so that it can
//! neither open a tag nor break a table.

use proofmark_model::Run;

use crate::view::{
    Cell, FindingGroup, References, SIGNS, Table, Timeline, View, WorkloadView, severity_mark,
    stop, verdict_mark,
};
use crate::{Options, RenderError};

pub(crate) fn render(run: &Run, _: &Options) -> Result<String, RenderError> {
    let view = View::from_run(run);
    let mut out = String::new();
    line(&mut out, &format!("# {}", escape(&view.title)));
    let facts: Vec<String> = view.facts.iter().map(|f| format!("{} {}", f.name, f.value)).collect();
    paragraphs(&mut out, [&facts.join("; "), &view.machine]);
    for strong in view.trust.stopped.iter().chain([&view.trust.sentence]) {
        line(&mut out, &format!("**{}**", escape(strong)));
    }
    paragraphs(&mut out, view.trust.precision.iter().chain(&view.trust.circumstances));
    answer(&mut out, &view);
    view.workloads.iter().for_each(|workload| headline(&mut out, workload));
    out.push('\n');
    table(&mut out, &view.references);
    table(&mut out, &view.theory);
    paragraphs(&mut out, &view.lacking);
    line(&mut out, "## Findings");
    if view.findings.is_empty() {
        line(&mut out, "None.");
    }
    view.findings.iter().for_each(|group| finding(&mut out, group));
    out.push('\n');
    view.workloads.iter().for_each(|workload| section(&mut out, workload));
    for overview in view.overviews.iter().filter(|o| !o.tables.is_empty()) {
        line(&mut out, &format!("## {}, over several workloads", overview.title));
        overview.tables.iter().for_each(|t| table(&mut out, t));
    }
    if let Some(roofline) = &view.roofline {
        line(&mut out, &format!("## {}", escape(&roofline.chart.title)));
        paragraphs(&mut out, [&roofline.sentence]);
        table(&mut out, &roofline.table);
    }
    machine(&mut out, &view);
    line(&mut out, "## Method");
    paragraphs(&mut out, &view.method);
    if !view.terms.is_empty() {
        line(&mut out, "Columns:");
    }
    for term in &view.terms {
        out += &format!("- *{}*: {}\n", escape(&term.name), escape(&term.meaning));
    }
    Ok(format!("{}\n", out.trim_end()))
}

pub(crate) fn line(out: &mut String, text: &str) {
    out.push_str(text);
    out.push_str("\n\n");
}

/// Texts that Markdown prints as they are, a paragraph each.
fn paragraphs<'a>(out: &mut String, texts: impl IntoIterator<Item = &'a String>) {
    texts.into_iter().for_each(|text| line(out, &escape(text)));
}

/// The same as a list.
fn list<'a>(out: &mut String, texts: impl IntoIterator<Item = &'a String>) {
    texts.into_iter().for_each(|text| *out += &format!("- {}\n", escape(text)));
    out.push('\n');
}

/// Text that Markdown prints as it is. `<`, `>` and `&` become entities, since not
/// every reader of Markdown honours a backslash before them.
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

/// An id as code; one that is none of ours as escaped text.
fn code(id: &str) -> String {
    if id.chars().all(|c| c.is_ascii_alphanumeric() || "._-".contains(c)) {
        format!("`{id}`")
    } else {
        escape(id)
    }
}

/// What was measured, whether to believe it, and the results that answer: for pasting.
pub(crate) fn first(view: &View) -> String {
    let mut out = String::new();
    line(&mut out, &format!("**{}**", escape(&view.title)));
    paragraphs(&mut out, [&view.trust.sentence]);
    if let Some(stopped) = &view.trust.stopped {
        line(&mut out, &format!("**{}**", escape(stopped)));
    }
    view.first.tables().iter().for_each(|t| table(&mut out, t));
    line(&mut out, &escape(&view.measured));
    format!("{}\n", out.trim_end())
}

/// The answers, what follows from the figures, and what was measured and how.
fn answer(out: &mut String, view: &View) {
    view.first.tables().iter().for_each(|t| table(out, t));
    for conclusion in &view.conclusions {
        line(out, &format!("### {}", conclusion.title));
        list(out, conclusion.claims.iter().map(|claim| &claim.text));
    }
    if !view.design.is_empty() {
        line(out, "## What was measured, and how");
    }
    for design in &view.design {
        line(out, &format!("**{}.** {}", design.title, escape(&design.sentences.join(" "))));
        list(out, &design.workloads);
    }
}

/// A value over time: a line of signs, its sentences, its levels.
fn timeline(out: &mut String, timeline: &Timeline) {
    let [signs, caption] = timeline.spark(SIGNS);
    line(out, &format!("*{}*", escape(&caption)));
    line(out, &format!("`{signs}`"));
    paragraphs(out, &timeline.sentences);
    table(out, &timeline.table);
}

fn headline(out: &mut String, workload: &WorkloadView) {
    let h = &workload.figure;
    let known = |text: &String| (!text.is_empty()).then(|| text.clone());
    let parts = match &h.value {
        None => [known(&h.at), h.count.clone()].to_vec(),
        Some(value) => {
            let within = h.within.as_ref().map_or_else(String::new, |w| format!(" {w}"));
            let verdict = h.verdict.map_or("", verdict_mark);
            let near = h.near.as_ref().map(|n| format!("{} % {}", n.percent, n.of));
            vec![
                Some(format!("{value} {}{within} ({verdict})", h.unit)),
                known(&h.at),
                h.extra.clone(),
                near.or_else(|| Some(h.near_lacks.to_owned())),
                known(&h.sure),
                h.bottleneck.as_ref().map(|b| format!("bottleneck: {b}")),
                h.count.clone(),
            ]
        }
    };
    let text = parts.into_iter().flatten().collect::<Vec<_>>().join("; ");
    *out += &format!("- **{}**: {}\n", escape(&workload.id), escape(&text));
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
        escape(&group.where_),
        escape(&advice)
    );
}

fn section(out: &mut String, workload: &WorkloadView) {
    line(out, &format!("## {}: {}", escape(&workload.id), escape(&workload.title)));
    let detail = Some(&workload.detail).filter(|detail| !detail.is_empty());
    paragraphs(out, [&workload.summary].into_iter().chain(detail).chain([&workload.design]));
    paragraphs(out, &workload.sentences);
    workload.timelines.iter().for_each(|t| timeline(out, t));
    table(out, &workload.table);
    table(out, &workload.solves.summary);
    beside_tools(out, &workload.references);
    workload.maps.iter().for_each(|map| table(out, &map.table));
    let more = [&workload.placements, &workload.windows, &workload.latency, &workload.datagrams];
    let more = more.into_iter().chain([&workload.verifications]).chain(&workload.ends);
    more.chain(&workload.reciprocal).chain(&workload.published).for_each(|t| table(out, t));
    for d in &workload.derivations {
        let ceiling = format!("Ceiling {}: {} (uncertainty {})", d.id, d.formula, d.uncertainty);
        paragraphs(out, [&ceiling]);
        for input in &d.inputs {
            let notes = escape(&input.notes.join("; "));
            *out += &format!("- {} ({}): {notes}\n", escape(&input.name), input.source);
        }
        out.push('\n');
        table(out, &d.table);
    }
}

/// Other tools: the rows, and what each counts and how it was run.
fn beside_tools(out: &mut String, references: &References) {
    table(out, &references.table);
    for t in &references.tool_notes {
        *out += &format!("- {}\n", escape(&t.sentence()));
        for c in &t.commands {
            let at = if c.at.is_empty() { String::new() } else { format!("{}: ", c.at) };
            *out += &format!("  - {}\n", escape(&format!("{at}{}", c.line)));
        }
    }
    if !references.tool_notes.is_empty() {
        out.push('\n');
    }
    paragraphs(out, &references.lacking);
}

pub(crate) fn table(out: &mut String, table: &Table) {
    if table.rows.is_empty() {
        return;
    }
    if !table.caption.is_empty() {
        line(out, &format!("*{}*", escape(&table.caption)));
    }
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

fn machine(out: &mut String, view: &View) {
    line(out, "## The machine");
    for part in &view.host {
        line(out, &format!("### {}", part.title));
        row(out, ["fact", "value", "source"].into_iter().map(str::to_owned));
        row(out, std::iter::repeat_n(":--".to_owned(), 3));
        for fact in &part.facts {
            row(out, [&fact.name, &fact.value, &fact.source].into_iter().map(|s| escape(s)));
        }
        out.push('\n');
    }
}
