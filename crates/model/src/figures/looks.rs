//! The rule that stops rounds by their interval: when it looks, and with which ranks.

use crate::statistics::{MIN_VALUES, interval_missing, median_interval};

/// Numbers of rounds after which a configuration may stop.
pub const LOOKS: [usize; 3] = [8, 12, 20];

/// Maximum probability that an end misses the median at each look: the 1st of 8, the 2nd of 12, the
/// 6th of 20.
const MISSES: [f64; 3] = [0.0040, 0.0032, 0.0207];

/// Returns the interval of the median of these values, which some of `rounds` rounds have. A rule
/// that looks several times uses its own ranks (`None` for fewer than 8 values); a single look
/// needs 6. If time ends the rounds between two looks, whatever their values, that counts as the
/// last look.
pub(super) fn interval_of_rounds(
    values: &[f64],
    rounds: usize,
    stopped_by_interval: bool,
) -> Option<[f64; 2]> {
    match look(rounds, stopped_by_interval) {
        None => median_interval(values),
        Some(_) if values.len() < LOOKS[0] => None,
        Some(misses) => interval_missing(values, misses),
    }
}

/// Returns the minimum number of values for that interval: with fewer, all lie on one side of the
/// median more often than allowed.
pub(super) fn least_of_rounds(rounds: usize, stopped_by_interval: bool) -> usize {
    look(rounds, stopped_by_interval)
        .map_or(MIN_VALUES, |misses| ((1.0 / misses).log2().ceil() as usize).max(LOOKS[0]))
}

/// Returns the allowed probability that an end misses the median after so many rounds; `None`
/// without a rule that looks several times.
fn look(rounds: usize, stopped_by_interval: bool) -> Option<f64> {
    let [first, second, last] = LOOKS;
    match rounds {
        n if !stopped_by_interval || n > last => None,
        n if n == first => Some(MISSES[0]),
        n if n == second => Some(MISSES[1]),
        _ => Some(MISSES[2]),
    }
}
