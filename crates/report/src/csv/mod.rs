//! Raw trials, one per row, for spreadsheets and statistics programs.
//!
//! `run_id` is the start of the run, `host` its machine and `label` the user's name for it.
//!
//! Trials of reference tools follow those of proofmark. Columns name the tool of each row:
//! `proofmark`, or another tool with its version and command line. The parameters of such a row are
//! those of the configuration; its verdict is that of the tool's result.
//!
//! The units of `value` and `work` are in columns of their own, since one file holds several
//! workloads. Every other column has its unit at the end of its name. A measurement without trials
//! has one row with the reason.

mod cell;
mod columns;

use std::borrow::Borrow;
use std::collections::BTreeSet;

use proofmark_model::{Measurement, Params, Reference, Run, Trial};

pub(crate) use self::cell::Cell;
use crate::{Options, RenderError};

/// A column's name, and its cell in a row.
pub(crate) type Column<'a, T> = (String, Box<dyn Fn(&T) -> Cell + 'a>);

/// Columns as data: their names and cells.
pub(crate) type Columns<T> = [(&'static str, fn(&T) -> Cell)];

/// One row: a trial, or a measurement that has none.
#[derive(Clone, Copy)]
struct Row<'a> {
    run: &'a Run,
    m: &'a Measurement,
    /// The reference tool; `None` for a trial of proofmark.
    tool: Option<&'a Reference>,
    /// The number of the trial, from 1, and its value.
    trial: Option<(usize, f64)>,
    /// The whole trial, if it is known.
    known: Option<&'a Trial>,
}

pub(crate) fn render(run: &Run, _: &Options) -> Result<String, RenderError> {
    write(&columns::all(run), run.measurements.iter().flat_map(|m| rows(run, m)))
}

/// Writes a table in the form of RFC 4180, with the columns' names first.
pub(crate) fn write<T>(
    columns: &[Column<T>],
    rows: impl Iterator<Item = impl Borrow<T>>,
) -> Result<String, RenderError> {
    let failed = |error: ::csv::Error| RenderError::Csv(error.to_string());
    let mut writer = ::csv::Writer::from_writer(Vec::new());
    writer.write_record(columns.iter().map(|(name, _)| name)).map_err(failed)?;
    for row in rows {
        let cells = columns.iter().map(|(_, cell)| cell(row.borrow()).0);
        writer.write_record(cells).map_err(failed)?;
    }
    let bytes = writer.into_inner().map_err(|e| RenderError::Csv(e.to_string()))?;
    String::from_utf8(bytes).map_err(|e| RenderError::Csv(e.to_string()))
}

/// Returns columns that are the same in every table.
pub(crate) fn fixed<'a, T: 'a>(columns: &'a Columns<T>) -> impl Iterator<Item = Column<'a, T>> {
    columns.iter().map(|(name, cell)| ((*name).to_owned(), Box::new(cell) as _))
}

/// Returns the names of such columns.
pub(crate) fn names<T>(columns: &'static Columns<T>) -> impl Iterator<Item = &'static str> {
    columns.iter().map(|(name, _)| *name)
}

/// Returns a column for each parameter of any of these. Its name is the parameter's, after `param_`
/// if another column has that name.
pub(crate) fn parameters<'a, T: 'a>(
    all: impl Iterator<Item = &'a Params>,
    params: fn(&T) -> &Params,
    taken: &BTreeSet<String>,
) -> Vec<Column<'a, T>> {
    let names: BTreeSet<&str> = all.flat_map(|p| p.0.keys()).map(String::as_str).collect();
    let mut taken = taken.clone();
    let mut columns: Vec<Column<'a, T>> = Vec::new();
    for name in names {
        let cell = move |row: &T| Cell::from(params(row).named(name).map(ToString::to_string));
        let mut title = Cell::from(name).0;
        while !taken.insert(title.clone()) {
            title = format!("param_{title}");
        }
        columns.push((title, Box::new(cell)));
    }
    columns
}

/// Returns the rows of a measurement: its own trials, then those of reference tools.
fn rows<'a>(run: &'a Run, m: &'a Measurement) -> Vec<Row<'a>> {
    let none = Row { run, m, tool: None, trial: None, known: None };
    let own = m.trials.iter().enumerate().map(|(i, t)| Row {
        trial: Some((i + 1, t.value)),
        known: Some(t),
        ..none
    });
    let theirs = m.references.iter().flat_map(|r| {
        // Without evidence of every trial, none can be assigned to its trial.
        let evidence = if r.evidence.len() == r.trials.len() { &r.evidence[..] } else { &[] };
        r.trials.iter().enumerate().map(move |(i, value)| Row {
            tool: Some(r),
            trial: Some((i + 1, *value)),
            known: evidence.get(i),
            ..none
        })
    });
    let missing = m.trials.is_empty().then_some(none);
    own.chain(missing).chain(theirs).collect()
}
