//! When a warm-up is over: the last values neither scatter nor climb. The engine looks after each
//! trial; it never drops a fixed count (Kalibera and Jones, ISMM'13, section 4: find the steady
//! state, do not assume it). A point that never gets there is measured all the same, and its
//! scatter is found by the checks.

/// Values that must agree.
pub const WINDOW: usize = 3;

/// Warm-up trials after which the engine stops waiting.
pub const MOST: usize = 12;

/// Whether the warm-up is over: the last [`WINDOW`] values within `tolerance` of each other as a
/// share of the largest, or [`MOST`] values seen.
pub fn is_steady(values: &[f64], tolerance: f64) -> bool {
    if values.len() >= MOST {
        return true;
    }
    let Some(window) = values.len().checked_sub(WINDOW).map(|from| &values[from..]) else {
        return false;
    };
    let (min, max) =
        window.iter().fold((f64::INFINITY, 0.0_f64), |(low, high), v| (low.min(*v), high.max(*v)));
    max - min <= tolerance * max
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_waits_while_values_climb_for_a_time() {
        assert!(!is_steady(&[1.0, 2.0], 0.02));
        assert!(!is_steady(&[1.0, 2.0, 3.0], 0.02));
        assert!(!is_steady(&[1.0, 2.0, 3.0, 3.01], 0.02));
        assert!(is_steady(&[1.0, 2.0, 3.0, 3.01, 3.02], 0.02));
        // But not for ever.
        let wild: Vec<f64> = (0..MOST).map(|i| (i % 2 + 1) as f64).collect();
        assert!(is_steady(&wild, 0.02));
        assert!(!is_steady(&wild[..MOST - 1], 0.02));
    }
}
