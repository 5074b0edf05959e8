//! Tables that are written column by column: each with what it shows of a row.

use proofmark_model::Verdict;

use super::table::{Cell, Table};

pub fn not_finite() -> String {
    "not a finite number".to_owned()
}

/// What a cell shows, and its footnote.
pub struct Entry {
    cell: Cell,
    note: Option<String>,
}

impl Entry {
    /// Adds a footnote; none of an empty text.
    pub fn noted(self, note: impl Into<String>) -> Self {
        Self { note: Some(note.into()).filter(|n| !n.is_empty()), ..self }
    }
}

impl From<String> for Entry {
    fn from(text: String) -> Self {
        Self { cell: Cell::text(text), note: None }
    }
}

impl From<Verdict> for Entry {
    fn from(verdict: Verdict) -> Self {
        Self { cell: Cell::verdict(verdict), note: None }
    }
}

/// A value, or the reason why there is none.
impl<E: Into<String>> From<Result<String, E>> for Entry {
    fn from(value: Result<String, E>) -> Self {
        match value {
            Ok(text) => text.into(),
            Err(reason) => Self { cell: Cell::text("-"), note: Some(reason.into()) },
        }
    }
}

type Read<'a, R> = Box<dyn Fn(&R) -> Entry + 'a>;

/// The columns of a table with what each shows of a row.
pub struct Columns<'a, R> {
    table: Table,
    read: Vec<Read<'a, R>>,
}

impl<'a, R> Columns<'a, R> {
    pub fn new(caption: impl Into<String>) -> Self {
        Self { table: Table::new(caption), read: Vec::new() }
    }

    /// A column of text.
    pub fn column<E: Into<Entry>>(mut self, title: &str, read: impl Fn(&R) -> E + 'a) -> Self {
        self.table = self.table.column(title);
        self.reading(read)
    }

    /// A column of numbers without a unit.
    pub fn number<E: Into<Entry>>(mut self, title: &str, read: impl Fn(&R) -> E + 'a) -> Self {
        self.table = self.table.number(title);
        self.reading(read)
    }

    /// A column of numbers in a unit.
    pub fn measured<E: Into<Entry>>(
        mut self,
        title: &str,
        unit: &str,
        read: impl Fn(&R) -> E + 'a,
    ) -> Self {
        self.table = self.table.measured(title, unit);
        self.reading(read)
    }

    fn reading<E: Into<Entry>>(mut self, read: impl Fn(&R) -> E + 'a) -> Self {
        self.read.push(Box::new(move |row| read(row).into()));
        self
    }

    /// See [`Table::spare`].
    pub fn spare(mut self, how: u8) -> Self {
        self.table = self.table.spare(how);
        self
    }

    /// See [`Table::explained`].
    pub fn explained(mut self, name: &str, meaning: &str) -> Self {
        self.table = self.table.explained(name, meaning);
        self
    }

    /// The columns so far name the row.
    pub fn keys(mut self) -> Self {
        self.table.keys = self.table.columns.len();
        self
    }

    /// Adds columns that not every such table has.
    pub fn when(self, there: bool, add: impl FnOnce(Self) -> Self) -> Self {
        if there { add(self) } else { self }
    }

    pub fn rows(self, rows: impl IntoIterator<Item = R>) -> Table {
        let mut table = self.table;
        for row in rows {
            let entries = self.read.iter().map(|read| read(&row));
            let cell = |e: Entry| Cell { note: e.note.map(|note| table.note(note)), ..e.cell };
            let cells = entries.map(cell).collect();
            table.push(cells);
        }
        table
    }
}
