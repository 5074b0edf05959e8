//! Cells: numbers that read back as they were, and text that no spreadsheet takes for a formula.

use crate::view::clean;

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

/// What a spreadsheet would take for a formula gets an apostrophe in front, as OWASP
/// ("CSV Injection") advises.
impl From<&str> for Cell {
    fn from(text: &str) -> Self {
        let text = clean(text);
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

#[cfg(test)]
mod tests {
    use super::Cell;

    #[test]
    fn formulas_are_defused_and_numbers_left_alone() {
        for bad in ["=1+1", "+1", "-cmd|' /C calc'!A0", "@SUM(A1)", "\t=1", " =1"] {
            assert!(Cell::from(bad).0.starts_with('\''), "{bad:?}");
        }
        assert_eq!(Cell::from("avx2+fma").0, "avx2+fma");
        let numbers = [-1.5, 1e300, 0.0, f64::NAN].map(|v| Cell::from(v).0);
        assert_eq!(numbers, ["-1.5", "1e300", "0", ""]);
    }
}
