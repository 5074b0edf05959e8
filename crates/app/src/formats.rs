//! The output formats of the commands that have several.

pub use proofmark_model::or_list as one_of;
use proofmark_report::history::Form;

/// The formats of `compare`.
pub const COMPARE: [&str; 4] = ["terminal", "json", "html", "markdown"];
/// The formats of `check`.
pub const CHECK: [&str; 4] = ["terminal", "json", "junit", "markdown"];
/// The formats of `fleet report`.
pub const FLEET: [&str; 5] = ["terminal", "html", "json", "openmetrics", "junit"];
/// The formats of `history`.
pub const HISTORY: [&str; Form::IDS.len()] = Form::IDS;
