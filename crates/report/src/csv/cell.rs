//! Cells: numbers that read back unchanged, and text that no spreadsheet takes for a formula.

use crate::view::plain_spaces;

/// The text of a cell; empty where there is no value.
pub(crate) struct Cell(pub(super) String);

/// The shortest text that reads back as the same number; empty where it is not finite.
impl From<f64> for Cell {
    fn from(v: f64) -> Self {
        Self(match v.abs() {
            _ if !v.is_finite() => String::new(),
            size if v != 0.0 && !(1e-4..1e15).contains(&size) => format!("{v:e}"),
            _ => v.to_string(),
        })
    }
}

/// The text, with an apostrophe in front if a spreadsheet would take it for a formula (OWASP, "CSV
/// Injection").
impl From<&str> for Cell {
    fn from(text: &str) -> Self {
        let text = plain_spaces(text);
        let formula = text.trim_start().starts_with(['=', '+', '-', '@']);
        Self(if formula { format!("'{text}") } else { text })
    }
}

impl From<String> for Cell {
    fn from(text: String) -> Self {
        Self::from(text.as_str())
    }
}

impl From<u64> for Cell {
    fn from(v: u64) -> Self {
        Self(v.to_string())
    }
}

impl From<bool> for Cell {
    fn from(v: bool) -> Self {
        Self(v.to_string())
    }
}

impl<T: Into<Self>> From<Option<T>> for Cell {
    fn from(v: Option<T>) -> Self {
        v.map_or_else(|| Self(String::new()), Into::into)
    }
}
