//! Words that depend on a number.

use std::fmt::Display;

/// A number and what it counts: `1 core`, `2 cores`, `0.5 cores`.
pub(crate) fn counted<N: Display + PartialEq + From<u8>>(n: N, one: &str) -> String {
    let plural = if n == N::from(1) { "" } else { "s" };
    format!("{n} {one}{plural}")
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
}
