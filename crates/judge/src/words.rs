//! Words that depend on a number or on what is known.

use std::fmt::Display;

use proofmark_model::Probe;

/// A number and what it counts: `1 core`, `2 cores`, `0.5 cores`.
pub(crate) fn counted<N: Display + PartialEq + From<u8>>(n: N, one: &str) -> String {
    let plural = if n == N::from(1) { "" } else { "s" };
    format!("{n} {one}{plural}")
}

/// A value that was found out, or that it was not and why.
pub(crate) fn known<'a, T>(probe: &'a Probe<T>, what: &str) -> Result<&'a T, String> {
    probe.get().ok_or_else(|| format!("{what} is unknown ({})", probe.origin()))
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
    fn one_is_singular_and_all_else_is_not() {
        assert_eq!(counted(1_u64, "core"), "1 core");
        assert_eq!(counted(2_usize, "core"), "2 cores");
        assert_eq!(counted(0_u64, "trial"), "0 trials");
        assert_eq!(counted(1.0, "CPU"), "1 CPU");
        assert_eq!(counted(0.5, "CPU"), "0.5 CPUs");
    }

    #[test]
    fn a_factor_has_three_digits() {
        let numbers = [12_345.0, 128.4, 12.84, 1.284, 0.1284, 0.01284, 0.0001284];
        let texts = ["12345", "128", "12.8", "1.28", "0.128", "0.0128", "1.28e-4"];
        assert_eq!(numbers.map(times), texts);
    }
}
