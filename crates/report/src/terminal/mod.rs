//! For reading in a terminal: a summary first, then a table per workload, then findings.
//!
//! A table that does not fit the width loses its spacing, then the columns that a
//! reader can spare, such as its ceiling (which the share of it implies) or its single
//! trials, and at last becomes one paragraph per point. Of a long axis the headline figures are
//! printed; the files hold the rest.
//! Colours only repeat what a word and a sign already say.

mod machine;
mod noise;
pub(crate) mod page;
mod paint;
mod tables;

use std::slice::from_ref;

use proofmark_model::{Run, Severity};

pub use self::machine::host;
use self::page::Page;
use crate::view::{
    Cause, FindingGroup, Overview, References, Roofline, SIGNS, Table, Term, Timeline, View,
    WorkloadFigure, WorkloadView, capital, plural, severity_mark, stop,
};
use crate::{Options, RenderError};

pub(crate) fn render(run: &Run, options: &Options) -> Result<String, RenderError> {
    let view = View::from_run(run);
    let mut page = Page::new(options);
    page.head(&view);
    for workload in &view.workloads {
        page.workload(workload);
    }
    for overview in &view.overviews {
        page.overview(overview);
    }
    if let Some(noise) = &view.noise {
        page.noise(noise);
    }
    if let Some(roofline) = &view.roofline {
        page.roofline(roofline);
    }
    page.terms(&explained_here(&view));
    page.findings(&view.findings);
    Ok(page.out)
}

/// Lines of the text that ends a run, without one for further findings and two for the report's path.
const SCREEN: usize = 27;

/// What is printed where a run ends: what was measured, whether to believe it, the results that answer
/// for the machine, and what changed them. The rest is in the report.
pub fn brief(run: &Run, options: &Options) -> String {
    let view = View::from_run(run);
    let mut page = Page::new(options);
    page.identify(&view);
    page.wrap("", 0, &view.trust.sentence);
    page.lines(&view.first.got);
    page.lines(&view.trust.time);
    page.first(&view, SCREEN);
    for timeline in view.workloads.iter().flat_map(|w| &w.timelines) {
        page.timeline(timeline);
    }
    page.out
}

/// What takes CPU time from the threads, and how the vCPUs are placed: as a picture, with what the
/// checks found.
pub fn noise(run: &Run, options: &Options) -> String {
    let view = View::from_run(run);
    let mut page = Page::new(options);
    page.begin(&view);
    page.lines(&view.trust.circumstances);
    if let Some(noise) = &view.noise {
        page.noise(noise);
        page.captioned(&noise.causes);
    }
    page.findings(&view.findings);
    page.out
}

/// The explanations of columns that are printed: not those of tables that only the other
/// formats hold, such as those of both ends and of every solve.
fn explained_here(view: &View) -> Vec<Term> {
    let explained =
        |t: &Table| t.columns.iter().filter_map(|c| c.about.clone()).collect::<Vec<_>>();
    let elsewhere =
        |k: &WorkloadView| [&k.published[..], &k.ends, from_ref(&k.solves.summary)].concat();
    let of_overviews = view.overviews.iter().flat_map(|o| o.tables.iter().skip(o.brief).cloned());
    let in_elsewhere: Vec<Term> = view
        .workloads
        .iter()
        .flat_map(elsewhere)
        .chain(of_overviews)
        .flat_map(|t| explained(&t))
        .collect();
    let printed = view.workloads.iter().flat_map(|k| &k.solves.brief);
    let in_printed: Vec<Term> = printed.flat_map(explained).collect();
    let here = |t: &&Term| !in_elsewhere.contains(t) || in_printed.contains(t);
    view.terms.iter().filter(here).cloned().collect()
}

impl Page {
    /// What was measured, in few lines.
    fn identify(&mut self, view: &View) {
        self.title(&view.title);
        let parts = view.first.parts.iter().filter(|p| !p.about.is_empty());
        let parts: Vec<String> = parts.map(|p| format!("{}: {}.", p.title, p.about)).collect();
        if !parts.is_empty() {
            self.wrap("", 0, &parts.join(" "));
        }
        self.lines([&view.measured].into_iter().chain(&view.trust.stopped));
    }

    fn begin(&mut self, view: &View) {
        self.title(&view.title);
        let facts: Vec<String> =
            view.facts.iter().map(|f| format!("{} {}", f.name, f.value)).collect();
        self.wrap("", 0, &facts.join("; "));
        self.wrap("", 0, &view.machine);
        self.blank();
        if let Some(stopped) = &view.trust.stopped {
            self.wrap("! ", 2, stopped);
        }
    }

    fn head(&mut self, view: &View) {
        self.begin(view);
        self.wrap("", 0, &view.trust.sentence);
        self.lines(view.trust.circumstances.iter().chain(&view.trust.precision));
        self.first(view, usize::MAX);
        for conclusion in &view.conclusions {
            self.blank();
            self.title(conclusion.title);
            for claim in &conclusion.claims {
                self.wrap("- ", 2, &claim.text);
            }
        }
        self.blank();
        // The first screen lists those that answer.
        let listed = |at: usize| view.first.parts.iter().flat_map(|p| &p.rows).any(|r| r.at == at);
        let others = view.workloads.iter().enumerate().filter(|(i, _)| !listed(*i));
        let others: Vec<&WorkloadView> = others.map(|(_, k)| k).collect();
        let ids = others.iter().map(|k| columns_of(&k.id));
        let widest = ids.max().unwrap_or(0).min(self.width * 3 / 10);
        for workload in others {
            self.summary(workload, widest);
        }
        self.captioned(&view.references);
        self.paragraph(&view.lacking);
    }

    /// The results that answer for the machine, and what changed them: one cause, and as many more as
    /// keep the text within so many lines.
    fn first(&mut self, view: &View, lines: usize) {
        let tables = view.first.tables();
        if !tables.is_empty() {
            self.blank();
            self.tables(&tables);
        }
        if view.first.causes.is_empty() {
            return;
        }
        self.blank();
        let mut more = view.first.causes.len() + view.first.more;
        for (at, cause) in view.first.causes.iter().enumerate() {
            let before = self.out.len();
            self.cause(cause);
            if at > 0 && self.out.lines().count() > lines {
                self.out.truncate(before);
                break;
            }
            more -= 1;
        }
        if more > 0 {
            let more = plural(more as u64, "more finding");
            let where_ = if lines == SCREEN { "proofmark report" } else { "see Findings below" };
            self.wrap("  ", 2, &format!("{more}: {where_}"));
        }
    }

    fn cause(&mut self, cause: &Cause) {
        let said = (&*cause.check, &*cause.place, &*cause.sentence, &*cause.advice);
        self.problem(cause.severity, said);
    }

    /// Tables over several workloads; its charts are for a page.
    fn overview(&mut self, overview: &Overview) {
        let tables = overview.tables.iter().take(overview.brief);
        if tables.len() > 0 {
            self.blank();
            self.title(&format!("{}, over several workloads", overview.title));
        }
        for table in tables {
            self.captioned(table);
        }
    }

    /// A value over time: a line of signs, its sentences, its levels.
    fn timeline(&mut self, timeline: &Timeline) {
        self.blank();
        let [signs, caption] = timeline.spark(self.width.min(SIGNS));
        self.wrap("", 0, &caption);
        self.out.push_str(&signs);
        self.out.push('\n');
        self.lines(&timeline.sentences);
        self.captioned(&timeline.table);
    }

    /// Result, precision and share of the ceiling; below it the configuration and the bottleneck.
    fn summary(&mut self, workload: &WorkloadView, widest: usize) {
        let in_line = self.width >= 60 && columns_of(&workload.id) <= widest;
        let indent = if in_line { widest + 2 } else { 2 };
        let [fast, rest] = figure_lines(&workload.figure);
        if in_line {
            let gap = " ".repeat(indent - columns_of(&workload.id));
            let painted = self.paint.bold(&workload.id);
            let first = format!("{}{gap}", workload.id);
            self.painted(&first, indent, &fast, [&workload.id, &painted]);
        } else {
            self.title(&workload.id);
            self.wrap("  ", 2, &fast);
        }
        self.wrap(&" ".repeat(indent), indent, &rest);
    }

    fn workload(&mut self, workload: &WorkloadView) {
        self.blank();
        self.title(&format!("{}: {}", workload.id, workload.title));
        self.wrap("", 0, &format!("{} ({})", workload.summary, workload.better));
        self.captioned(workload.matrix.as_ref().unwrap_or(&workload.table));
        if workload.matrix.is_some() {
            self.wrap("", 0, "Other formats list intervals, ceilings and shares of the ceiling.");
        }
        for timeline in &workload.timelines {
            self.timeline(timeline);
        }
        for table in &workload.solves.brief {
            self.captioned(table);
        }
        for map in &workload.maps {
            self.captioned(&map.table);
            self.wrap("", 0, &map.description);
        }
        self.references(&workload.references);
        let more = [&workload.placements, &workload.latency, &workload.datagrams].into_iter();
        for table in more.chain(&workload.reciprocal) {
            self.captioned(table);
        }
        self.lines([&workload.solves.left_out]);
        self.paragraph(&workload.sentences);
    }

    /// Texts, each on a line of its own; an empty one has none.
    fn lines<'a>(&mut self, texts: impl IntoIterator<Item = &'a String>) {
        let texts = texts.into_iter().filter(|text| !text.is_empty());
        texts.for_each(|text| self.wrap("", 0, text));
    }

    /// The same after an empty line, if there are any.
    fn paragraph(&mut self, texts: &[String]) {
        if !texts.is_empty() {
            self.blank();
        }
        self.lines(texts);
    }

    /// A table under its caption, if it has rows.
    fn captioned(&mut self, table: &Table) {
        if !table.rows.is_empty() {
            self.blank();
            self.wrap("", 0, &table.caption);
            self.table(table);
        }
    }

    /// Other tools: few rows, and what each counts.
    fn references(&mut self, references: &References) {
        self.captioned(&references.brief);
        self.lines([&references.left_out]);
        for tool in references.tool_notes.iter().filter(|t| !t.counts.is_empty()) {
            self.wrap("", 2, &tool.sentence());
        }
        // What had no tool at all is said where there is room.
        self.lines(references.lacking.iter().filter(|_| !references.brief.rows.is_empty()));
    }

    fn roofline(&mut self, roofline: &Roofline) {
        self.blank();
        self.title(&roofline.chart.title);
        self.wrap("", 0, &roofline.table.caption);
        self.table(&roofline.table);
        self.wrap("", 0, &roofline.sentence);
    }

    fn terms(&mut self, terms: &[Term]) {
        if terms.is_empty() {
            return;
        }
        self.blank();
        self.title("Columns");
        for term in terms {
            self.wrap("", 2, &format!("{}: {}", term.name, term.meaning));
        }
    }

    fn findings(&mut self, findings: &[FindingGroup]) {
        self.blank();
        self.title("Findings");
        if findings.is_empty() {
            self.wrap("", 0, "None.");
        }
        for group in findings {
            self.finding(group);
        }
    }

    fn finding(&mut self, group: &FindingGroup) {
        let said = (&*group.check, &*group.where_, &*group.sentence, &*group.advice);
        self.problem(group.severity, said);
    }

    /// A check, where it found something, what, and what to do about it.
    fn problem(
        &mut self,
        severity: Severity,
        (check, place, sentence, advice): (&str, &str, &str, &str),
    ) {
        let word = severity_mark(severity);
        let painted = self.paint.severity(severity, word);
        self.painted("", 2, &format!("{word} {check} at {place}: {sentence}"), [word, &painted]);
        if !advice.is_empty() {
            self.wrap("  -> ", 5, &stop(&capital(advice)));
        }
    }
}

/// The two lines of a workload's summary.
fn figure_lines(h: &WorkloadFigure) -> [String; 2] {
    let Some(value) = &h.value else {
        return [h.at.clone(), h.count.clone().unwrap_or_default()];
    };
    let within = h.within.as_ref().map_or_else(String::new, |w| format!(" {w}"));
    let near = h
        .near
        .as_ref()
        .map_or_else(|| h.near_lacks.to_owned(), |n| format!("{} % of its ceiling", n.percent));
    let verdict = h.verdict.map_or("", crate::view::verdict_mark);
    let bottleneck = h.bottleneck.as_ref().map(|b| format!("bottleneck: {b}"));
    let count = h.count.clone().filter(|_| !h.all_valid);
    let at = (!h.at.is_empty()).then(|| h.at.clone());
    let rest: Vec<String> =
        [at, h.extra.clone(), bottleneck, count].into_iter().flatten().collect();
    [format!("{value} {}{within}, {near}, {verdict}", h.unit), rest.join("; ")]
}

/// Columns that a text takes.
fn columns_of(text: &str) -> usize {
    textwrap::core::display_width(text)
}
