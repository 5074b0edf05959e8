//! For pasting into an issue or a document: GitHub-flavoured Markdown.
//!
//! Text from the run is escaped with backslashes and entities, so that it can
//! neither open a tag nor break a table.

use std::fmt::Write;

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
    let facts: Vec<String> =
        view.facts.iter().map(|f| escape(&format!("{} {}", f.name, f.value))).collect();
    line(&mut out, &facts.join("; "));
    line(&mut out, &escape(&view.machine));
    if let Some(stopped) = &view.trust.stopped {
        line(&mut out, &format!("**{}**", escape(stopped)));
    }
    line(&mut out, &format!("**{}**", escape(&view.trust.sentence)));
    for also in [&view.trust.precision, &view.trust.circumstances].into_iter().flatten() {
        line(&mut out, &escape(also));
    }
    answer(&mut out, &view);
    for workload in &view.workloads {
        headline(&mut out, workload);
    }
    out.push('\n');
    table(&mut out, &view.references);
    table(&mut out, &view.theory);
    for sentence in &view.lacking {
        line(&mut out, &escape(sentence));
    }
    line(&mut out, "## Findings");
    if view.findings.is_empty() {
        line(&mut out, "None.");
    }
    for group in &view.findings {
        finding(&mut out, group);
    }
    out.push('\n');
    for workload in &view.workloads {
        section(&mut out, workload);
    }
    for overview in view.overviews.iter().filter(|o| !o.tables.is_empty()) {
        line(&mut out, &format!("## {}, over several workloads", overview.title));
        overview.tables.iter().for_each(|t| table(&mut out, t));
    }
    if let Some(roofline) = &view.roofline {
        line(&mut out, &format!("## {}", escape(&roofline.chart.title)));
        line(&mut out, &escape(&roofline.sentence));
        table(&mut out, &roofline.table);
    }
    machine(&mut out, &view);
    line(&mut out, "## Method");
    for paragraph in &view.method {
        line(&mut out, &escape(paragraph));
    }
    if !view.terms.is_empty() {
        line(&mut out, "Columns:");
    }
    for term in &view.terms {
        let _ = writeln!(out, "- *{}*: {}", escape(&term.name), escape(&term.meaning));
    }
    Ok(format!("{}\n", out.trim_end()))
}

/// A paragraph.
pub(crate) fn line(out: &mut String, text: &str) {
    out.push_str(text);
    out.push_str("\n\n");
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
    line(&mut out, &escape(&view.trust.sentence));
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
        for claim in &conclusion.claims {
            let _ = writeln!(out, "- {}", escape(&claim.text));
        }
        out.push('\n');
    }
    if !view.design.is_empty() {
        line(out, "## What was measured, and how");
    }
    for design in &view.design {
        line(out, &format!("**{}.** {}", design.title, escape(&design.sentences.join(" "))));
        for workload in &design.workloads {
            let _ = writeln!(out, "- {}", escape(workload));
        }
        out.push('\n');
    }
}

/// A value over time: a line of signs, its sentences, its levels.
fn timeline(out: &mut String, timeline: &Timeline) {
    let [signs, caption] = timeline.spark(SIGNS);
    line(out, &format!("*{}*", escape(&caption)));
    line(out, &format!("`{signs}`"));
    for sentence in &timeline.sentences {
        line(out, &escape(sentence));
    }
    table(out, &timeline.table);
}

fn headline(out: &mut String, workload: &WorkloadView) {
    let h = &workload.headline;
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
    // Writing to a String cannot fail.
    let _ = writeln!(out, "- **{}**: {}", escape(&workload.id), escape(&text));
}

fn finding(out: &mut String, group: &FindingGroup) {
    let advice = match group.advice.as_str() {
        "" => String::new(),
        advice => format!(" Advice: {}", stop(advice)),
    };
    let _ = writeln!(
        out,
        "- **{}** {}: {} At {}.{}",
        severity_mark(group.severity),
        code(&group.check),
        escape(&group.sentence),
        escape(&group.where_),
        escape(&advice)
    );
}

fn section(out: &mut String, workload: &WorkloadView) {
    line(out, &format!("## {}: {}", escape(&workload.id), escape(&workload.title)));
    line(out, &escape(&workload.summary));
    if !workload.detail.is_empty() {
        line(out, &escape(&workload.detail));
    }
    line(out, &escape(&workload.design));
    for sentence in &workload.sentences {
        line(out, &escape(sentence));
    }
    let solves = &workload.solves.summary;
    for t in &workload.timelines {
        timeline(out, t);
    }
    table(out, &workload.table);
    table(out, solves);
    beside_tools(out, &workload.references);
    for map in &workload.maps {
        table(out, &map.table);
    }
    table(out, &workload.placements);
    table(out, &workload.windows);
    table(out, &workload.latency);
    table(out, &workload.datagrams);
    table(out, &workload.verifications);
    for t in workload.ends.iter().chain(&workload.reciprocal).chain(&workload.published) {
        table(out, t);
    }
    for d in &workload.derivations {
        line(
            out,
            &format!(
                "Ceiling {}: {} (uncertainty {})",
                escape(&d.id),
                escape(&d.formula),
                escape(&d.uncertainty)
            ),
        );
        for input in &d.inputs {
            let notes: Vec<String> = input.notes.iter().map(|n| escape(n)).collect();
            let _ =
                writeln!(out, "- {} ({}): {}", escape(&input.name), input.source, notes.join("; "));
        }
        out.push('\n');
        table(out, &d.table);
    }
}

/// Other tools: the rows, and what each counts and how it was run.
fn beside_tools(out: &mut String, references: &References) {
    table(out, &references.table);
    for t in &references.tool_notes {
        let _ = writeln!(out, "- {}", escape(&t.sentence()));
        for c in &t.commands {
            let at = if c.at.is_empty() { String::new() } else { format!("{}: ", c.at) };
            let _ = writeln!(out, "  - {}", escape(&format!("{at}{}", c.line)));
        }
    }
    if !references.tool_notes.is_empty() {
        out.push('\n');
    }
    for sentence in &references.lacking {
        line(out, &escape(sentence));
    }
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
        let _ = writeln!(out, "{}. {}", i + 1, escape(note));
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
    out.push('|');
    for cell in cells {
        let _ = write!(out, " {cell} |");
    }
    out.push('\n');
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
