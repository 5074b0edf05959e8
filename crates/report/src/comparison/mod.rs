//! Two runs side by side, laid out from one view of a [`Comparison`].
//!
//! What is said is decided once, in `view`: the verdict in a sentence, causes, tables. The terminal and the
//! page lay it out; the JSON is the comparison itself; JUnit and the terminal's short form are for
//! a check in CI. Every text of a comparison may be untrusted: the view drops control
//! characters, each form escapes the rest.

mod html;
mod junit;
mod markdown;
mod several;
mod table;
mod tally;
mod terminal;
#[cfg(test)]
mod tests;
mod verdict;
mod view;
mod words;

use proofmark_model::Comparison;

pub use html::html;
pub use junit::junit;
pub use markdown::{check_markdown, markdown};
pub use several::{MOST_RUNS, several};
pub use tally::Tally;
pub use terminal::{check, terminal};
pub use view::{Line, View};

/// Why a comparison could not be laid out.
#[derive(Debug, thiserror::Error)]
pub enum ComparisonError {
    /// The page's template failed.
    #[error("the HTML page cannot be made: {0}")]
    Template(#[from] minijinja::Error),
    /// It does not fit into JSON, or what was written would not be read again.
    #[error("the comparison cannot be written as JSON: {0}")]
    Json(#[from] serde_json::Error),
}

/// The comparison for programs: schema `proofmark.comparison/2`.
///
/// # Errors
/// If a number in it is not finite, so that it could not be read again.
pub fn json(comparison: &Comparison) -> Result<String, ComparisonError> {
    let mut text = serde_json::to_string_pretty(comparison)?;
    serde_json::from_str::<Comparison>(&text)?;
    text.push('\n');
    Ok(text)
}
