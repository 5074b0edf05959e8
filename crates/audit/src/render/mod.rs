//! The audit as text: [`terminal`] for people, [`json`] and [`csv`] for programs.

pub mod csv;
pub mod json;
mod summary;
pub mod terminal;

pub use summary::{Gap, Reason, Summary, summary};

/// Returns a figure's verdict as an id without spaces.
fn id(judged: &crate::Judged) -> String {
    judged.verdict_word().replace(' ', "_")
}
