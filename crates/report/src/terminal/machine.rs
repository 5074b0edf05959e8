//! Facts about the machine: name, value, and in dim text the source.
//!
//! A source that does not fit next to its value goes on the next line. An unknown value is `-` with
//! its reason.

use proofmark_model::Host;

use super::{Page, columns_of, wrapping};
use crate::Options;
use crate::view::{Fact, FactTable, findings_of_host, findings_section, host_tables};

/// Width below which names and values are not in columns.
const COLUMNS: usize = 60;

/// The text that `proofmark info` prints, which ends in a line break.
pub fn host(host: &Host, options: &Options) -> String {
    let mut page = Page::new(options);
    for (i, part) in host_tables(host).iter().enumerate() {
        if i > 0 {
            page.blank();
        }
        page.facts(part);
    }
    page.section(&findings_section(findings_of_host(host)));
    page.out
}

impl Page {
    /// Facts under their title.
    pub(super) fn facts(&mut self, table: &FactTable) {
        self.title(table.title);
        let widest = table.facts.iter().map(|f| columns_of(&f.name)).max().unwrap_or(0);
        table.facts.iter().for_each(|fact| self.fact(fact, widest));
    }

    fn fact(&mut self, fact: &Fact, widest: usize) {
        let indent = if self.width >= COLUMNS { 2 + widest + 2 } else { 4 };
        let indent = indent.min(self.width / 2);
        if indent > widest + 2 {
            let gap = indent - 2 - columns_of(&fact.name);
            let before = self.out.len();
            let first = format!("  {}{}", fact.name, " ".repeat(gap));
            self.wrap(&first, indent, &fact.value);
            let room = self.width.saturating_sub(self.last_line_width());
            let lines = self.out[before..].lines().count();
            if lines == 1 && !fact.source.is_empty() && columns_of(&fact.source) + 2 <= room {
                self.out.pop();
                self.out.push_str("  ");
                self.out.push_str(&self.paint.dim(&fact.source));
                self.out.push('\n');
                return;
            }
        } else {
            self.wrap("  ", indent, &format!("{}: {}", fact.name, fact.value));
        }
        self.dim(indent, &fact.source);
    }

    /// A dim text under the value.
    fn dim(&mut self, indent: usize, text: &str) {
        let room = self.width.saturating_sub(indent).max(10);
        for line in textwrap::wrap(text, wrapping(room)) {
            if !line.trim().is_empty() {
                self.out.push_str(&" ".repeat(indent));
                self.out.push_str(&self.paint.dim(line.trim_end()));
                self.out.push('\n');
            }
        }
    }

    fn last_line_width(&self) -> usize {
        self.out.lines().last().map_or(0, columns_of)
    }
}
