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
mod terminal;
mod verdict;
mod view;
mod words;

use proofmark_model::Comparison;

pub use html::html;
pub(crate) use junit::suites;
pub use markdown::markdown;
pub use several::{MOST_RUNS, several};
pub(crate) use terminal::check;
pub use terminal::terminal;

use crate::RenderError;

/// The comparison for programs: schema `proofmark.comparison/3`.
///
/// # Errors
/// If a number in it is not finite, so that it could not be read again.
pub fn json(comparison: &Comparison) -> Result<String, RenderError> {
    let mut text = serde_json::to_string_pretty(comparison)?;
    serde_json::from_str::<Comparison>(&text)?;
    text.push('\n');
    Ok(text)
}
