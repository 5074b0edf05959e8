//! The comparison of two or more runs in every format.
//!
//! `view` turns a [`Comparison`] into a document of blocks: the verdict in a sentence, causes and
//! tables. The formats lay it out. The JSON is the comparison itself; JUnit and the terminal's
//! short form are for a check in CI. Every text of a comparison may be untrusted: the view drops
//! control characters, each format escapes the rest.

mod check;
mod csv;
mod junit;
mod points;
mod prices;
mod several;
mod verdict;
mod view;
mod words;

use proofmark_model::Comparison;

pub(crate) use check::check;
pub(crate) use junit::suites;
pub use several::MOST_RUNS;
pub(crate) use verdict::Tally;
pub(crate) use words::NOT_MEASURED;

use crate::terminal::page::Page;
use crate::view::Document;
use crate::{Format, Options, RenderError};

/// Options of a comparison's texts.
#[derive(Debug, Clone, Copy)]
pub struct ComparisonOptions {
    /// Layout of a text for a terminal.
    pub layout: Options,
    /// True if a terminal gets the results without a shown difference too.
    pub all: bool,
}

/// Writes the comparisons of the first of several runs with the others.
pub type Writer = fn(&[Comparison], &ComparisonOptions) -> Result<String, RenderError>;

/// Every format of a comparison, in the order of `--help`.
pub const FORMATS: &[Format<Writer>] = &[
    Format { id: "terminal", write: |all, options| Ok(terminal(all, options)) },
    Format {
        id: "json",
        write: |all, _| match all {
            [one] => json(one),
            several => Ok(serde_json::to_string_pretty(several)? + "\n"),
        },
    },
    Format { id: "html", write: |all, _| html(all) },
    Format { id: "markdown", write: |all, _| Ok(markdown(all)) },
    Format { id: "csv", write: |all, _| csv::csv(all) },
];

/// One document: of two runs all results, of more a matrix.
fn document(all: &[Comparison], every_result: bool) -> Document {
    match all {
        [one] => view::document(one, every_result),
        several_runs => several::document(several_runs),
    }
}

/// The page.
///
/// # Errors
/// If a template fails.
pub fn html(all: &[Comparison]) -> Result<String, RenderError> {
    crate::html::document(&document(all, false))
}

/// GitHub-flavoured Markdown, for a pull request or a ticket.
pub fn markdown(all: &[Comparison]) -> String {
    crate::markdown::document(&document(all, false))
}

/// Text for a terminal: the verdict, the causes, and the results that differ; with `all`, all
/// results. Of several runs a matrix.
pub fn terminal(all: &[Comparison], options: &ComparisonOptions) -> String {
    Page::new(&options.layout).document(&document(all, options.all))
}

/// CSV, one row per result of each run after the first.
///
/// # Errors
/// If a row cannot be written.
pub fn csv(all: &[Comparison]) -> Result<String, RenderError> {
    csv::csv(all)
}

/// The comparison for programs: schema `proofmark.comparison/3`.
///
/// # Errors
/// If a number in it is not finite, so that the JSON cannot be read back.
pub fn json(comparison: &Comparison) -> Result<String, RenderError> {
    let mut text = serde_json::to_string_pretty(comparison)?;
    serde_json::from_str::<Comparison>(&text)?;
    text.push('\n');
    Ok(text)
}
