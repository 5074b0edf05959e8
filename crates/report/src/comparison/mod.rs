//! The comparison of two or more runs in every format.
//!
//! `view` turns a [`Comparison`] into a document of blocks: the verdict in a sentence, causes and
//! tables. The formats lay it out. The JSON is the comparison itself; JUnit and the terminal's
//! short form are for a check in CI. Every text of a comparison may be untrusted: the view drops
//! control characters, each format escapes the rest.

mod check;
mod junit;
mod points;
mod several;
mod verdict;
mod view;
mod words;

use proofmark_model::Comparison;

pub(crate) use check::check;
pub(crate) use junit::suites;
pub use several::{MOST_RUNS, several};

use crate::terminal::page::Page;
use crate::{Format, Options, RenderError};

/// Options of a comparison's texts.
#[derive(Debug, Clone, Copy)]
pub struct ComparisonOptions {
    /// Layout of a text for a terminal.
    pub layout: Options,
    /// True if a terminal gets the results without a shown difference too.
    pub all: bool,
}

/// The writer of comparisons with the first of several runs.
#[derive(Debug, Clone, Copy)]
pub struct Writer {
    /// Maximum of runs that the format compares.
    pub most_runs: usize,
    /// Writes the text.
    pub write: fn(&[Comparison], &ComparisonOptions) -> Result<String, RenderError>,
}

/// Every format of a comparison, in the order of `--help`.
pub const FORMATS: &[Format<Writer>] = &[
    Format {
        id: "terminal",
        write: Writer {
            most_runs: MOST_RUNS,
            write: |all, options| match all {
                [one] => Ok(terminal(one, options.all, &options.layout)),
                several_runs => Ok(several(several_runs, &options.layout)),
            },
        },
    },
    Format {
        id: "json",
        write: Writer {
            most_runs: MOST_RUNS,
            write: |all, _| match all {
                [one] => json(one),
                several_runs => Ok(serde_json::to_string_pretty(several_runs)? + "\n"),
            },
        },
    },
    Format { id: "html", write: Writer { most_runs: 2, write: |all, _| first(all, html) } },
    Format {
        id: "markdown",
        write: Writer { most_runs: 2, write: |all, _| first(all, |one| Ok(markdown(one))) },
    },
];

fn first(
    all: &[Comparison],
    write: impl FnOnce(&Comparison) -> Result<String, RenderError>,
) -> Result<String, RenderError> {
    all.first().map_or_else(|| Ok(String::new()), write)
}

/// The page of two runs.
///
/// # Errors
/// If a template fails.
pub fn html(comparison: &Comparison) -> Result<String, RenderError> {
    crate::html::document(&view::document(comparison, false))
}

/// GitHub-flavoured Markdown, for a pull request or a ticket.
pub fn markdown(comparison: &Comparison) -> String {
    crate::markdown::document(&view::document(comparison, false))
}

/// Text for a terminal: the verdict, the causes, and the results that differ; with `all`, all
/// results.
pub fn terminal(comparison: &Comparison, all: bool, options: &Options) -> String {
    Page::new(options).document(&view::document(comparison, all))
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
