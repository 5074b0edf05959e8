//! The audit as text: [`terminal`] for people, [`json`] and [`csv`] for programs.

pub mod csv;
pub mod json;
mod summary;
pub mod terminal;

pub use summary::{Gap, Reason, Summary, summary};

/// A figure's verdict for a program: a word without spaces.
fn id(judged: &crate::Judged) -> String {
    judged.standing().replace(' ', "_")
}
