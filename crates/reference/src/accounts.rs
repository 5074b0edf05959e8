//! What an output says twice.

use proofmark_model::{Finding, Severity};

/// A finding: two accounts of one output differ, which leaves the figure in doubt.
pub(crate) fn differ(what: impl Into<String>) -> Finding {
    let advice = "find out which of them is right, or measure again";
    Finding::new("two_accounts", Severity::Suspect, what, advice)
}

/// Whether two numbers are the same but for this share of the greater, and this much that rounding
/// loses.
pub(crate) fn agree(a: f64, b: f64, share: f64, lost: f64) -> bool {
    (a - b).abs() <= share * a.abs().max(b.abs()) + lost
}

/// What is lost of a number when it is printed with the decimals of this one: one of its last place,
/// since some programs cut instead of rounding.
pub(crate) fn last_place(printed: &str) -> f64 {
    let decimals = printed
        .split_once('.')
        .map_or(0, |(_, after)| after.chars().take_while(char::is_ascii_digit).count().min(300));
    1.001 * 10_f64.powi(-(decimals as i32))
}
