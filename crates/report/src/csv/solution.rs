//! What a linear solver says of a trial.

use proofmark_model::{Solution, Trial};

use super::{count, number};

/// The names of the columns, in the order of [`cells`].
pub const COLUMNS: [&str; 5] =
    ["leading_dimension", "alignment_bytes", "residual", "normalised_residual", "residual_passes"];

/// The cells of a trial; empty ones where it solved nothing.
pub fn cells(t: &Trial) -> [String; 5] {
    let s = t.solution.as_ref();
    [
        count(s.map(|s| s.leading_dimension)),
        count(s.map(|s| s.alignment)),
        number(s.map(|s| s.residual)),
        number(s.map(|s| s.normalised_residual)),
        s.map_or_else(String::new, |s| Solution::passes(s).to_string()),
    ]
}
