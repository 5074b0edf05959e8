//! A neutral table with footnotes.

use proofmark_model::Verdict;
use serde::Serialize;

use super::verdict_mark;

/// A word of the tables and what it means.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Term {
    /// Word, such as `device`.
    pub name: String,
    /// In a sentence or two.
    pub meaning: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Column {
    pub title: String,
    /// Unit of every number in the column.
    pub unit: Option<String>,
    /// Numbers are aligned right.
    pub numeric: bool,
    /// What it means, where its title does not say so.
    pub about: Option<Term>,
    /// How easily a narrow page does without it: 0 never, the greatest goes first.
    pub spare: u8,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Cell {
    /// What is printed; `-` for a missing value.
    pub text: String,
    /// Footnote, from 1: why the value is missing, or what to know of it.
    pub note: Option<usize>,
    /// Set on a cell that shows a verdict.
    pub verdict: Option<Verdict>,
}

impl Cell {
    pub fn text(text: impl Into<String>) -> Self {
        Self { text: text.into(), note: None, verdict: None }
    }

    /// A cell of a value, or `-` where there is none.
    pub fn known(text: Option<impl Into<String>>) -> Self {
        text.map_or_else(|| Self::text("-"), Self::text)
    }

    /// A cell that shows a verdict by sign and word.
    pub fn verdict(verdict: Verdict) -> Self {
        Self { text: verdict_mark(verdict).to_owned(), note: None, verdict: Some(verdict) }
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Row {
    /// As many as there are columns.
    pub cells: Vec<Cell>,
}

#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct Table {
    /// What it shows, in which unit.
    pub caption: String,
    pub columns: Vec<Column>,
    /// How many columns at the left name the point: the parameters.
    pub keys: usize,
    pub rows: Vec<Row>,
    /// Footnotes; cell notes count from 1.
    pub notes: Vec<String>,
}

impl Table {
    pub fn new(caption: impl Into<String>) -> Self {
        Self { caption: caption.into(), ..Self::default() }
    }

    /// Adds a column of text.
    #[must_use]
    pub fn column(self, title: impl Into<String>) -> Self {
        self.add(title.into(), None, false)
    }

    /// Adds a column of numbers without a unit.
    #[must_use]
    pub fn number(self, title: impl Into<String>) -> Self {
        self.add(title.into(), None, true)
    }

    /// Adds a column of numbers in a unit.
    #[must_use]
    pub fn measured(self, title: impl Into<String>, unit: impl Into<String>) -> Self {
        self.add(title.into(), Some(unit.into()), true)
    }

    fn add(mut self, title: String, unit: Option<String>, numeric: bool) -> Self {
        self.columns.push(Column { title, unit, numeric, about: None, spare: 0 });
        self
    }

    /// Says how easily a narrow page does without the last column; see [`Column::spare`].
    #[must_use]
    pub fn spare(mut self, how: u8) -> Self {
        if let Some(column) = self.columns.last_mut() {
            column.spare = how;
        }
        self
    }

    /// Says what the last column means. A report explains each term once.
    #[must_use]
    pub fn explained(mut self, name: &str, meaning: &str) -> Self {
        if let Some(column) = self.columns.last_mut() {
            let [name, meaning] = [name, meaning].map(str::to_owned);
            column.about = Some(Term { name, meaning });
        }
        self
    }

    /// The number of a footnote. Equal texts share one.
    pub fn note(&mut self, text: impl Into<String>) -> usize {
        let text = text.into();
        let at = self.notes.iter().position(|n| *n == text).unwrap_or_else(|| {
            self.notes.push(text);
            self.notes.len() - 1
        });
        at + 1
    }

    /// A cell for a value that is not there, with its reason as a footnote.
    pub fn missing(&mut self, reason: impl Into<String>) -> Cell {
        Cell { note: Some(self.note(reason)), ..Cell::text("-") }
    }

    /// A cell for a value that may be missing.
    pub fn maybe(&mut self, text: Option<String>, reason: impl FnOnce() -> String) -> Cell {
        text.map_or_else(|| self.missing(reason()), Cell::text)
    }

    /// Leaves out the last column of that title if no row has a value in it.
    #[must_use]
    pub fn without_empty(mut self, title: &str) -> Self {
        let Some(at) = self.columns.iter().rposition(|c| c.title == title) else { return self };
        let is_empty = |row: &Row| ["", "-"].contains(&&*row.cells[at].text);
        if self.rows.iter().all(is_empty) {
            self.columns.remove(at);
            self.rows.iter_mut().for_each(|row| drop(row.cells.remove(at)));
            self.keys -= usize::from(at < self.keys);
        }
        self
    }

    pub fn push(&mut self, cells: Vec<Cell>) {
        debug_assert_eq!(cells.len(), self.columns.len());
        self.rows.push(Row { cells });
    }
}
