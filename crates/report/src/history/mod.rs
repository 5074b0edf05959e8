//! Past runs as a list, and a measurement over time.
//!
//! What is said is decided in `line` and `table`; each form lays it out. A line over time is one
//! point on one machine, measured one way: numbers of two machines are no change, nor are trials
//! and samples over time. Texts come from a database that
//! others may have written, and are cleaned like those of a run.

mod csv;
mod html;
mod line;
mod table;
mod terminal;

use proofmark_model::{PastPoint, PastRun, WorkloadSpec};
use serde::Serialize;

use self::line::lines;
use crate::{Options, RenderError};

/// How a history is laid out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// For reading in a terminal.
    Terminal,
    /// One object, for programs: what the store holds, as it is.
    Json,
    /// One row per run or per result, for spreadsheets.
    Csv,
    /// One page with a chart per line, for a browser.
    Html,
}

impl Form {
    const ALL: [Self; 4] = [Self::Terminal, Self::Json, Self::Csv, Self::Html];

    /// The words after `--format`, in the order of `--help`.
    pub const IDS: [&str; Self::ALL.len()] = ["terminal", "json", "csv", "html"];

    /// The form of that id.
    pub fn find(id: &str) -> Option<Self> {
        Self::IDS.iter().position(|known| *known == id).map(|at| Self::ALL[at])
    }
}

/// A list of runs, in the order in which they come.
///
/// # Errors
/// If they cannot be expressed in this form.
pub fn runs(runs: &[PastRun], form: Form, options: &Options) -> Result<String, RenderError> {
    match form {
        Form::Terminal => Ok(terminal::runs(runs, options)),
        Form::Json => History { runs: Some(runs), ..History::default() }.write(),
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
    let shared = || line::shared(points, spec);
    match form {
        Form::Terminal => Ok(terminal::points(workload, &shared(), &lines(points, spec), options)),
        Form::Json => {
            let (workload, points) = (Some(workload), Some(points));
            History { workload, points, ..History::default() }.write()
        }
        Form::Csv => csv::points(points),
        Form::Html => html::points(workload, &shared(), &lines(points, spec)),
    }
}

/// What programs get. Of the two lists, the one that was asked for is there.
#[derive(Default, Serialize)]
struct History<'a> {
    schema: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    workload: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    runs: Option<&'a [PastRun]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    points: Option<&'a [PastPoint]>,
}

impl History<'_> {
    fn write(self) -> Result<String, RenderError> {
        Ok(serde_json::to_string_pretty(&Self { schema: "proofmark.history/1", ..self })? + "\n")
    }
}
