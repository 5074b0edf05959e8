//! Detects the end of a warm-up: the last values neither rise nor fall. The schedule checks after
//! each trial instead of dropping a fixed number (Kalibera and Jones, ISMM'13, section 4). On a
//! noisy machine values scatter and never agree; there it is enough that they go up and down.
//! Checks find a drift that the scatter hides.

/// Number of values that must agree.
pub const AGREEING: usize = 3;

/// Number of values that all rise or all fall during a warm-up. Scatter alone does that one time in
/// twelve.
const ONE_WAY: usize = 4;

/// Maximum number of warm-up trials.
pub const MAX_TRIALS: usize = 12;

/// True if the warm-up is over. The last [`AGREEING`] values differ by at most `tolerance` of the
/// largest, or the last [`ONE_WAY`] neither all rise nor all fall. It is also over after
/// [`MAX_TRIALS`] values.
pub fn is_steady(values: &[f64], tolerance: f64) -> bool {
    let last = |n: usize| values.len().checked_sub(n).map(|from| &values[from..]);
    let agree = |window: &[f64]| {
        let (min, max) = window
            .iter()
            .fold((f64::INFINITY, 0.0_f64), |(low, high), v| (low.min(*v), high.max(*v)));
        max - min <= tolerance * max
    };
    let turns = |window: &[f64]| !window.is_sorted() && !window.iter().rev().is_sorted();
    last(AGREEING).is_some_and(agree)
        || last(ONE_WAY).is_some_and(turns)
        || values.len() >= MAX_TRIALS
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_that_scatter_and_do_not_climb_are_those_of_a_noisy_machine() {
        assert!(!is_steady(&[2.0, 1.0, 2.0], 0.02));
        assert!(is_steady(&[2.0, 1.0, 2.0, 1.5], 0.02));
        // After a rise only the values that follow it count.
        assert!(!is_steady(&[1.0, 2.0, 3.0, 4.0], 0.02));
        assert!(is_steady(&[1.0, 2.0, 3.0, 4.0, 3.5], 0.02));
    }

    #[test]
    fn it_waits_while_values_climb_for_a_time() {
        assert!(!is_steady(&[1.0, 2.0], 0.02));
        assert!(!is_steady(&[1.0, 2.0, 3.0], 0.02));
        assert!(!is_steady(&[1.0, 2.0, 3.0, 3.01], 0.02));
        assert!(is_steady(&[1.0, 2.0, 3.0, 3.01, 3.02], 0.02));
        // It does not wait forever.
        for climbs in [|i: usize| i as f64 + 1.0, |i: usize| 99.0 - i as f64] {
            let climbs: Vec<f64> = (0..MAX_TRIALS).map(climbs).collect();
            assert!(is_steady(&climbs, 0.005));
            assert!(!is_steady(&climbs[..MAX_TRIALS - 1], 0.005));
        }
    }
}
