//! Builds tables column by column: each column reads its cell from a row.

use proofmark_model::Verdict;

use super::audience::Audience;
use super::table::{Cell, CellPicture, Column, Row, Table, Term};
use super::verdict_mark;

pub fn not_finite() -> String {
    "not a finite number".to_owned()
}

/// The text of a cell, its footnote, and the verdict whose colour repeats it.
pub struct Entry {
    pub text: String,
    note: Option<String>,
    verdict: Option<Verdict>,
    picture: Option<CellPicture>,
    shade: i8,
}

impl Entry {
    /// A drawing in place of a text; a sign that there is none.
    pub fn drawn(picture: Option<CellPicture>) -> Self {
        Self { picture, ..Self::from("-") }
    }

    /// A square of a map; see [`Cell::shade`].
    pub fn shaded(self, shade: i8) -> Self {
        Self { shade, ..self }
    }

    /// Adds a footnote; an empty text adds none.
    pub fn noted(self, note: impl Into<String>) -> Self {
        Self { note: Some(note.into()).filter(|n| !n.is_empty()), ..self }
    }

    pub fn coloured(self, verdict: Option<Verdict>) -> Self {
        Self { verdict, ..self }
    }
}

impl From<String> for Entry {
    fn from(text: String) -> Self {
        Self { text, note: None, verdict: None, picture: None, shade: 0 }
    }
}

impl From<&str> for Entry {
    fn from(text: &str) -> Self {
        text.to_owned().into()
    }
}

impl From<Verdict> for Entry {
    fn from(verdict: Verdict) -> Self {
        Self::from(verdict_mark(verdict)).coloured(Some(verdict))
    }
}

/// A value, or a sign that there is none.
impl From<Option<String>> for Entry {
    fn from(value: Option<String>) -> Self {
        value.unwrap_or_else(|| "-".to_owned()).into()
    }
}

/// A value, or the reason why there is none.
impl<E: Into<String>> From<Result<String, E>> for Entry {
    fn from(value: Result<String, E>) -> Self {
        match value {
            Ok(text) => text.into(),
            Err(reason) => Self { note: Some(reason.into()), ..Self::from("-") },
        }
    }
}

type Read<'a, R> = Box<dyn Fn(&R) -> Entry + 'a>;

/// The columns of a table, each with the function that reads its cell from a row.
pub struct Columns<'a, R> {
    table: Table,
    read: Vec<Read<'a, R>>,
}

impl<'a, R> Columns<'a, R> {
    pub fn new(caption: impl Into<String>) -> Self {
        Self { table: Table { caption: caption.into(), ..Table::default() }, read: Vec::new() }
    }

    /// A map of shaded squares.
    pub fn map(caption: impl Into<String>) -> Self {
        let mut columns = Self::new(caption);
        columns.table.is_map = true;
        columns
    }

    /// A column of text.
    pub fn column<E: Into<Entry>>(self, title: &str, read: impl Fn(&R) -> E + 'a) -> Self {
        self.add(title, None, false, read)
    }

    /// A column of numbers without a unit.
    pub fn number<E: Into<Entry>>(self, title: &str, read: impl Fn(&R) -> E + 'a) -> Self {
        self.add(title, None, true, read)
    }

    /// A column of numbers in a unit.
    pub fn measured<E: Into<Entry>>(
        self,
        title: &str,
        unit: &str,
        read: impl Fn(&R) -> E + 'a,
    ) -> Self {
        self.add(title, Some(unit), true, read)
    }

    fn add<E: Into<Entry>>(
        mut self,
        title: &str,
        unit: Option<&str>,
        numeric: bool,
        read: impl Fn(&R) -> E + 'a,
    ) -> Self {
        let (title, unit) = (title.to_owned(), unit.map(str::to_owned));
        let audience = Audience::Everyone;
        let column = Column { title, unit, numeric, about: None, audience, spare: 0 };
        self.table.columns.push(column);
        self.read.push(Box::new(move |row| read(row).into()));
        self
    }

    /// Sets how early a narrow page drops the last column; see [`Column::spare`].
    pub fn spare(mut self, how: u8) -> Self {
        if let Some(column) = self.table.columns.last_mut() {
            column.spare = how;
        }
        self
    }

    /// Sets which formats show the last column.
    pub fn only_for(mut self, audience: Audience) -> Self {
        if let Some(column) = self.table.columns.last_mut() {
            column.audience = audience;
        }
        self
    }

    /// Adds the meaning of the last column. A report explains each term once.
    pub fn explained(mut self, name: &str, meaning: &str) -> Self {
        if let Some(column) = self.table.columns.last_mut() {
            let [name, meaning] = [name, meaning].map(str::to_owned);
            column.about = Some(Term { name, meaning });
        }
        self
    }

    /// Marks the columns so far as those that name the row.
    pub fn keys(mut self) -> Self {
        self.table.keys = self.table.columns.len();
        self
    }

    /// Sets where a reader finds the columns that a narrow page drops, which it then names.
    pub fn all_columns_in(mut self, place: &'static str) -> Self {
        self.table.all_columns = place;
        self
    }

    /// Adds columns under a condition.
    pub fn when(self, there: bool, add: impl FnOnce(Self) -> Self) -> Self {
        if there { add(self) } else { self }
    }

    /// Builds the table from these rows; equal footnotes share a number.
    pub fn rows(self, rows: impl IntoIterator<Item = R>) -> Table {
        let mut table = self.table;
        let notes = &mut table.notes;
        let mut number = |note: String| {
            let known = notes.iter().position(|n| *n == note);
            known.unwrap_or_else(|| {
                notes.push(note);
                notes.len() - 1
            }) + 1
        };
        for row in rows {
            let entries = self.read.iter().map(|read| read(&row));
            let cells = entries.map(|e| Cell {
                text: e.text,
                note: e.note.map(&mut number),
                verdict: e.verdict,
                picture: e.picture,
                shade: e.shade,
            });
            table.rows.push(Row { cells: cells.collect() });
        }
        table
    }
}
