//! A text for a terminal: wrapped to its width, with headings and tables.

use proofmark_model::bind_units;

use super::paint::Paint;
use super::{tables, wrapping};
use crate::Options;
use crate::view::{Medium, Table, and_list, grouped};

/// The kind of the last block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Previous {
    Title,
    Text,
    Other,
}

/// A page that blocks are appended to.
pub(crate) struct Page {
    pub(crate) out: String,
    pub(crate) width: usize,
    pub(crate) paint: Paint,
    /// Maximum number of lines with findings in brief; `None` for no limit.
    pub(super) lines: Option<usize>,
    pub(super) previous: Previous,
}

impl Page {
    /// An empty page.
    pub(crate) fn new(options: &Options) -> Self {
        Self {
            out: String::new(),
            width: options.width.max(20),
            paint: Paint { color: options.color },
            lines: None,
            previous: Previous::Title,
        }
    }

    /// Adds a text, wrapped; every line but the first begins with `hang` spaces. A number and its
    /// unit stay on one line.
    pub(crate) fn wrap(&mut self, first: &str, hang: usize, text: &str) {
        let hang = " ".repeat(hang.min(self.width / 2));
        let options = wrapping(self.width).initial_indent(first).subsequent_indent(&hang);
        for line in textwrap::wrap(&bind_units(text), options) {
            self.out.push_str(&line.trim_end().replace('\u{a0}', " "));
            self.out.push('\n');
        }
    }

    /// Adds a text, wrapped, with one part of it painted.
    pub(super) fn painted(&mut self, first: &str, hang: usize, text: &str, part: [&str; 2]) {
        let before = self.out.len();
        self.wrap(first, hang, text);
        let wrapped = self.out.split_off(before);
        self.out.push_str(&wrapped.replacen(part[0], part[1], 1));
    }

    /// Adds an empty line, unless the last one is empty.
    pub(crate) fn blank(&mut self) {
        if !self.out.ends_with("\n\n") {
            self.out.push('\n');
        }
    }

    /// Adds an empty line, except below a heading.
    pub(super) fn space(&mut self) {
        if self.previous != Previous::Title {
            self.blank();
        }
    }

    /// Adds a bold heading, painted line by line, so that no colour runs over a line's end.
    pub(crate) fn title(&mut self, text: &str) {
        for line in textwrap::wrap(text, wrapping(self.width)) {
            self.out.push_str(&self.paint.bold(&line));
            self.out.push('\n');
        }
    }

    /// Adds a table with its footnotes.
    pub(crate) fn table(&mut self, table: &Table) {
        self.table_with(table, 0);
    }

    /// Adds a table whose first column has at least that width.
    pub(super) fn table_with(&mut self, table: &Table, first: usize) {
        let (table, empty) = &table.seen_by(Medium::Terminal).without_empty_columns();
        let narrowed = tables::narrowed(table, self.width);
        self.out.push_str(&tables::lay_out(&narrowed, first, self.width, self.paint));
        for (i, note) in narrowed.notes.iter().enumerate() {
            self.wrap(&format!("[{}] ", i + 1), 4, note);
        }
        for (why, columns) in grouped(empty.iter().map(|(column, why)| (why, column))) {
            self.wrap("", 2, &format!("{}: none in any row; {why}", and_list(columns)));
        }
        let dropped = tables::dropped(table, self.width);
        if !table.all_columns.is_empty() && !dropped.is_empty() {
            let (columns, place) = (dropped.join(", "), table.all_columns);
            self.wrap("", 0, &format!("Not shown at this width: {columns}; see {place}."));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::view::{Columns, Entry};

    #[test]
    fn columns_without_values_share_their_reason() {
        let none = |_: &u32| Err::<String, _>("no tool ran");
        let table = Columns::new("")
            .number("n", |n: &u32| n.to_string())
            .keys()
            .number("figure", none)
            .number("ratio", none)
            .rows([1, 2]);
        let mut page = Page::new(&Options { width: 80, color: false });
        page.table(&table);
        let last: Vec<&str> = page.out.lines().rev().take(2).collect();
        assert_eq!(last, ["figure and ratio: none in any row; no tool ran", "2"], "{}", page.out);
    }

    #[test]
    fn footnotes_of_a_narrow_table_are_counted_from_one() {
        let noted = |note: &'static str| move |_: &u32| Entry::from("1234567").noted(note);
        let table = Columns::new("")
            .number("n", |n: &u32| n.to_string())
            .keys()
            .number("of ceiling", noted("first"))
            .spare(1)
            .number("a long title", noted("second"))
            .rows([1, 2]);
        let mut page = Page::new(&Options { width: 20, color: false });
        page.table(&table);
        assert!(page.out.contains("1234567[1]") && page.out.contains("[1] second"), "{}", page.out);
        assert!(!page.out.contains("first"), "{}", page.out);
    }

    #[test]
    fn a_number_and_its_unit_stay_on_one_line() {
        let options = Options { width: 20, color: false };
        let mut page = Page::new(&options);
        page.wrap("", 0, "a rate of some 31.20 GB/s, at 90 %");
        assert_eq!(page.out, "a rate of some\n31.20 GB/s, at 90 %\n");
    }

    #[test]
    fn dates_options_and_addresses_stay_whole() {
        let options = Options { width: 20, color: false };
        let mut page = Page::new(&options);
        page.wrap("", 0, "the run of 2026-11-27 is older than --last-good");
        assert_eq!(page.out, "the run of\n2026-11-27 is older\nthan --last-good\n");
    }
}
