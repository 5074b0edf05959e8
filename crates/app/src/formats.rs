//! Formats of the commands that print in several.

use proofmark_report::history::Form;

/// Of `compare`.
pub const COMPARE: [&str; 3] = ["terminal", "json", "html"];
/// Of `check`.
pub const CHECK: [&str; 3] = ["terminal", "json", "junit"];
/// Of `history`.
pub const HISTORY: [&str; Form::ALL.len()] = Form::IDS;
