//! Words that depend on a number or on what is known.

pub(crate) use proofmark_model::counted;
use proofmark_model::{Measurement, Probe};

/// A value that was found out, or that it was not and why.
pub(crate) fn known<'a, T>(probe: &'a Probe<T>, what: &str) -> Result<&'a T, String> {
    probe.get().ok_or_else(|| format!("{what} is unknown ({})", probe.origin()))
}

/// Why a result has no figure that counts: as recorded, else by how its measurement ended.
pub(crate) fn why_no_result(m: &Measurement) -> String {
    m.missing.get("summary").cloned().unwrap_or_else(|| m.ending.words())
}

/// A factor with three significant digits: `0.0512`, `1.34`, `12.8`.
pub(crate) fn times(factor: f64) -> String {
    let decimals = match factor.abs() {
        f if f >= 100.0 => 0,
        f if f >= 10.0 => 1,
        f if f >= 1.0 => 2,
        f if f >= 0.1 => 3,
        f if f >= 0.01 => 4,
        _ => return format!("{factor:.2e}"),
    };
    format!("{factor:.decimals$}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_factor_has_three_digits() {
        let numbers = [12_345.0, 128.4, 12.84, 1.284, 0.1284, 0.01284, 0.0001284];
        let texts = ["12345", "128", "12.8", "1.28", "0.128", "0.0128", "1.28e-4"];
        assert_eq!(numbers.map(times), texts);
    }
}
