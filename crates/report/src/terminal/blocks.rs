//! Blocks as text of a given width.

use super::page::{Page, Previous};
use super::tables;
use crate::view::{
    Block, Content, Drawing, FindingGroup, Findings, Item, Medium, SIGNS, Section, Style, Text,
    Timeline, capital, counted, result_tables, severity_mark, shown, stop, verdict_mark,
};

impl Page {
    /// Blocks for a terminal, in order.
    pub(crate) fn blocks(&mut self, blocks: &[Block]) {
        shown(blocks, Medium::Terminal).for_each(|block| self.block(&block.content));
    }

    fn block(&mut self, content: &Content) {
        match content {
            Content::Section(section) => self.section(section),
            Content::Details(details) => self.blocks(&details.blocks),
            Content::Grid(blocks) => self.blocks(blocks),
            Content::Text(text) => self.text(text),
            Content::List(items) => self.list(items),
            Content::Table(table) => {
                if !table.caption.is_empty() {
                    self.blank();
                    self.wrap("", 0, &table.caption);
                } else {
                    self.space();
                }
                self.table(table);
            }
            Content::Facts(table) => self.facts(table),
            Content::Drawings(drawings) => drawings.all.iter().for_each(|d| self.drawing(d)),
            Content::Results(results) => {
                self.blank();
                let all = result_tables(&results.parts);
                let first = tables::first_column(&all);
                all.iter().for_each(|table| self.table_with(table, first));
            }
            Content::Findings(findings) => self.findings(findings),
        }
        self.previous = match content {
            Content::Text(_) => Previous::Text,
            _ => Previous::Other,
        };
    }

    /// A heading, with its result on the next line, and the blocks below it.
    pub(super) fn section(&mut self, section: &Section) {
        if !section.unseen {
            self.blank();
            let code = Some(&section.code).filter(|code| !code.is_empty());
            let code = code.map_or_else(String::new, |code| format!("{code}: "));
            self.title(&format!("{code}{}", section.title));
            self.previous = Previous::Title;
        }
        if let Some(figure) = section.figure.as_ref().filter(|f| f.value.is_some()) {
            let verdict = figure.verdict.map_or("", verdict_mark);
            let text = format!("{}, {verdict}", figure.value_with_unit());
            let painted =
                figure.verdict.map_or_else(String::new, |v| self.paint.verdict(v, verdict));
            self.painted("", 2, &text, [verdict, &painted]);
        }
        self.blocks(&section.blocks);
    }

    fn text(&mut self, text: &Text) {
        if self.previous == Previous::Other {
            self.blank();
        }
        let (first, hang) = if text.style == Style::Warning { ("! ", 2) } else { ("", 0) };
        text.paragraphs.iter().for_each(|one| self.wrap(first, hang, &one.plain()));
    }

    /// A line of its own for each item: after its term, its mark in colour, or a dash.
    fn list(&mut self, items: &[Item]) {
        self.space();
        for item in items {
            let texts: Vec<String> = item.texts.iter().map(|one| one.plain()).collect();
            match (item.term.as_str(), item.mark()) {
                ("", Some((verdict, mark))) => {
                    let painted = self.paint.verdict(verdict, mark);
                    self.painted("", 2, &texts.join(" "), [mark, &painted]);
                }
                ("", None) => self.wrap("- ", 2, &texts.join(" ")),
                (term, _) => self.wrap("", 2, &format!("{term}: {}", texts.join(" "))),
            }
        }
    }

    fn drawing(&mut self, drawing: &Drawing) {
        match drawing {
            Drawing::OverTime(timeline) => self.timeline(timeline),
            Drawing::Noise(noise) => self.noise(noise),
            _ => {}
        }
    }

    /// A value over time: a line of signs.
    fn timeline(&mut self, timeline: &Timeline) {
        self.space();
        let [signs, caption] = timeline.spark(self.width.min(SIGNS));
        self.wrap("", 0, &caption);
        self.out.push_str(&signs);
        self.out.push('\n');
    }

    /// The findings. In brief, the first is always shown, others as long as the text stays within
    /// its lines.
    fn findings(&mut self, findings: &Findings) {
        if !findings.in_full {
            self.blank();
        }
        let mut more = findings.groups.len() + findings.more;
        for (at, group) in findings.groups.iter().enumerate() {
            let before = self.out.len();
            self.finding(group);
            let too_long = self.lines.is_some_and(|lines| self.out.lines().count() > lines);
            if at > 0 && too_long && !findings.in_full {
                self.out.truncate(before);
                break;
            }
            more -= 1;
        }
        if more > 0 {
            let more = counted(more as u64, "more finding");
            self.wrap("  ", 2, &format!("{more}: {}", findings.elsewhere));
        }
    }

    /// A finding: check, place, cause and advice.
    pub(super) fn finding(&mut self, f: &FindingGroup) {
        let word = severity_mark(f.severity);
        let painted = self.paint.severity(f.severity, word);
        let text = format!("{word} {} at {}: {}", f.check, f.place, f.sentence);
        self.painted("", 2, &text, [word, &painted]);
        if !f.advice.is_empty() {
            self.wrap("  -> ", 5, &stop(&capital(&f.advice)));
        }
    }
}
