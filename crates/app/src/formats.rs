//! Formats of the commands that print in several.

pub use proofmark_model::or_list as one_of;
use proofmark_report::history::Form;

/// Of `compare`.
pub const COMPARE: [&str; 4] = ["terminal", "json", "html", "markdown"];
/// Of `check`.
pub const CHECK: [&str; 4] = ["terminal", "json", "junit", "markdown"];
/// Of `fleet report`.
pub const FLEET: [&str; 5] = ["terminal", "html", "json", "openmetrics", "junit"];
/// Of `history`.
pub const HISTORY: [&str; Form::IDS.len()] = Form::IDS;
