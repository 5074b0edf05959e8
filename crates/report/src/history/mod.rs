//! Past runs as a list, and a measurement over time.
//!
//! What is said is decided in `line` and `table`; each form lays it out. A line over time is one
//! point on one machine, measured one way: numbers of two machines are no change, nor are trials
//! and samples over time. Texts come from a database that
//! others may have written, and are cleaned like those of a run.

mod csv;
mod html;
mod json;
mod line;
mod spark;
mod table;
mod terminal;

use proofmark_model::{PastPoint, PastRun, WorkloadSpec};

pub use self::json::HISTORY_SCHEMA;
pub use self::line::{Line, lines};
use crate::{Options, RenderError};

/// How a history is laid out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// For reading in a terminal.
    Terminal,
    /// One object, for programs.
    Json,
    /// One row per run or per result, for spreadsheets.
    Csv,
    /// One page with a chart per line, for a browser.
    Html,
}

impl Form {
    /// Every form, in the order of `--help`.
    pub const ALL: [Self; 4] = [Self::Terminal, Self::Json, Self::Csv, Self::Html];

    /// The words after `--format`, in that order.
    pub const IDS: [&str; Self::ALL.len()] =
        [Self::ALL[0].id(), Self::ALL[1].id(), Self::ALL[2].id(), Self::ALL[3].id()];

    /// The word after `--format`.
    pub const fn id(self) -> &'static str {
        match self {
            Self::Terminal => "terminal",
            Self::Json => "json",
            Self::Csv => "csv",
            Self::Html => "html",
        }
    }

    /// The form of that id.
    pub fn find(id: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|f| f.id() == id)
    }
}

/// A list of runs, in the order in which they come.
///
/// # Errors
/// If they cannot be expressed in this form.
pub fn runs(runs: &[PastRun], form: Form, options: &Options) -> Result<String, RenderError> {
    match form {
        Form::Terminal => Ok(terminal::runs(runs, options)),
        Form::Json => json::runs(runs),
        Form::Csv => csv::runs(runs),
        Form::Html => html::runs(runs),
    }
}

/// The measurements of one workload, point by point, each oldest first; with the workload's
/// declaration, if this version has one.
///
/// # Errors
/// If they cannot be expressed in this form.
pub fn points(
    workload: &str,
    spec: Option<&WorkloadSpec>,
    points: &[PastPoint],
    form: Form,
    options: &Options,
) -> Result<String, RenderError> {
    match form {
        Form::Terminal => Ok(terminal::points(
            workload,
            &line::shared(points, spec),
            &lines(points, spec),
            options,
        )),
        Form::Json => json::points(workload, points),
        Form::Csv => csv::points(points),
        Form::Html => html::points(workload, &line::shared(points, spec), &lines(points, spec)),
    }
}

#[cfg(test)]
mod tests;
