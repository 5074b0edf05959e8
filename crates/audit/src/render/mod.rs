//! The audit as text: [`terminal`] for people, [`json`] and [`csv`] for programs.

pub mod csv;
pub mod json;
mod summary;
pub mod terminal;

pub use summary::{Reason, Summary, summary};
