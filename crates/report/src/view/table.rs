//! A neutral table with footnotes.

use proofmark_model::Verdict;
use serde::Serialize;

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
