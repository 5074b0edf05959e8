//! A table with footnotes, independent of any format.

use proofmark_model::Verdict;
use serde::Serialize;

use super::audience::{Audience, Medium};

/// A term of the tables and its meaning.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Term {
    /// The term, such as `device`.
    pub name: String,
    /// The meaning in a sentence or two.
    pub meaning: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Column {
    pub title: String,
    /// The unit of every number in the column.
    pub unit: Option<String>,
    /// True for numbers, which are aligned right.
    pub numeric: bool,
    /// The meaning, where the title does not give it.
    pub about: Option<Term>,
    /// The formats that show it.
    pub audience: Audience,
    /// The order in which a narrow page drops columns: the largest first, 0 never.
    pub spare: u8,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Cell {
    /// The printed text; `-` for a missing value.
    pub text: String,
    /// The number of the footnote, from 1: the reason for a missing value, or a remark.
    pub note: Option<usize>,
    /// The verdict, if the cell shows one.
    pub verdict: Option<Verdict>,
    /// Picture that the page shows in place of the text.
    pub picture: Option<CellPicture>,
    /// Shade of a square of a map: 1 to 5 the worse the darker, -1 for better than usual, else 0.
    pub shade: i8,
}

/// A small picture in a cell.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub enum CellPicture {
    Whisker(Whisker),
    Rounds(Rounds),
}

/// A ratio with its interval against 1 and the margin, on a logarithmic axis from -1 to 1.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Whisker {
    /// The ratio in words.
    pub label: String,
    /// The place of the ratio.
    pub at: f64,
    /// The places of the ends of its interval.
    pub ends: [f64; 2],
    /// The place of the upper end of the margin; the lower end is its negative.
    pub margin: f64,
    /// -1 or 1 where the ratio lies beyond that end of the axis, else 0.
    pub beyond: i8,
}

/// The ratio of each round against 1 and a margin. Places are from 0 to 1 from the left, and from
/// -1 to 1 upwards with a ratio of 1 at 0.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Rounds {
    /// The same in words.
    pub label: String,
    pub dots: Vec<Dot>,
    /// Places from the left of rounds without a ratio.
    pub missing: Vec<f64>,
    /// Place of the margin above 1; it is as far below.
    pub margin: Option<f64>,
    /// Place from the left where a second pass begins.
    pub again: Option<f64>,
}

/// A round with a ratio.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Dot {
    pub at: [f64; 2],
    /// True if the ratio is below the margin.
    pub below: bool,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Row {
    /// The cells, one per column.
    pub cells: Vec<Cell>,
}

#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct Table {
    /// The content of the table, with the unit where that is one.
    pub caption: String,
    pub columns: Vec<Column>,
    /// True for a map of shaded squares, in which the colour of a verdict is a frame.
    pub is_map: bool,
    /// The number of columns at the left that name the configuration.
    pub keys: usize,
    pub rows: Vec<Row>,
    /// The footnotes; cells count them from 1.
    pub notes: Vec<String>,
    /// The place of the columns that a narrow page drops; where it is empty, the page does not name
    /// them.
    pub all_columns: &'static str,
}

impl Table {
    /// The table with its first rows and the footnotes that these have.
    pub fn first_rows(&self, count: usize) -> Self {
        let rows: Vec<Row> = self.rows.iter().take(count).cloned().collect();
        // Footnotes are numbered as rows need them.
        let last = rows.iter().flat_map(|r| &r.cells).filter_map(|c| c.note).max().unwrap_or(0);
        let notes = self.notes.iter().take(last).cloned().collect();
        Self { rows, notes, ..self.clone() }
    }

    /// The table without the columns in which no row has a value, all for one reason; and the titles
    /// of these columns with the reason. A table of one row keeps them.
    pub fn without_empty_columns(&self) -> (Self, Vec<(String, String)>) {
        let why = |i: usize| {
            let cells = || self.rows.iter().filter_map(|row| row.cells.get(i));
            let note = cells().next()?.note?;
            let is_empty = cells().all(|cell| cell.text == "-" && cell.note == Some(note));
            let many = is_empty && i >= self.keys && self.rows.len() > 1;
            self.notes.get(note.checked_sub(1)?).filter(|_| many)
        };
        let whys: Vec<Option<&String>> = (0..self.columns.len()).map(why).collect();
        let named = self.columns.iter().zip(&whys);
        let empty = named.filter_map(|(c, why)| Some((c.title.clone(), (*why)?.clone()))).collect();
        let mut table = self.with_columns(|i| whys.get(i).is_none_or(Option::is_none));
        table.number_notes();
        (table, empty)
    }

    /// The table with these columns alone and the footnotes that they have.
    pub fn only_columns(&self, kept: &[usize]) -> Self {
        let mut table = self.with_columns(|at| kept.contains(&at));
        table.number_notes();
        table
    }

    /// Keeps the footnotes that cells still have, and counts them anew.
    fn number_notes(&mut self) {
        let mut kept: Vec<usize> = Vec::new();
        for note in self.rows.iter_mut().flat_map(|r| &mut r.cells).filter_map(|c| c.note.as_mut())
        {
            let known = kept.iter().position(|old| old == note).unwrap_or_else(|| {
                kept.push(*note);
                kept.len() - 1
            });
            *note = known + 1;
        }
        let note = |old: &usize| self.notes.get(old.checked_sub(1)?).cloned();
        self.notes = kept.iter().filter_map(note).collect();
    }

    /// The table with the columns that a format shows.
    pub fn seen_by(&self, medium: Medium) -> Self {
        let shown: Vec<bool> = self.columns.iter().map(|c| c.audience.includes(medium)).collect();
        self.with_columns(|at| shown.get(at).copied().unwrap_or(true))
    }

    /// The table with the columns whose place `keep` accepts.
    fn with_columns(&self, keep: impl Fn(usize) -> bool) -> Self {
        let mut table = self.clone();
        table.columns = self
            .columns
            .iter()
            .enumerate()
            .filter(|(at, _)| keep(*at))
            .map(|(_, c)| c.clone())
            .collect();
        table.keys = (0..self.keys).filter(|at| keep(*at)).count();
        for row in &mut table.rows {
            let mut at = 0..;
            row.cells.retain(|_| at.next().is_none_or(&keep));
        }
        table
    }
}
