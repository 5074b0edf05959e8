//! Rounds on shared cores, recognised by their issue width.

use crate::Round;

/// Minimum rounds that must have seen the widest core, or the highest state of a bus.
pub(super) const SEEN_ROUNDS: usize = 3;

/// A core that issues less than this share of its widest round was shared: another of its hardware
/// threads was busy. Readings of an unshared core differ by less than 1 %.
const ALONE: f64 = 0.97;

impl Round {
    /// Returns true if no core of the round was shared all the time, given the widest issue that
    /// was seen.
    pub fn alone(&self, widest: f64) -> bool {
        self.issue_width.is_none_or(|width| is_alone(width, widest))
    }
}

/// Returns true if a core of this issue width was not shared, given the widest issue that was seen.
pub fn is_alone(width: f64, widest: f64) -> bool {
    width >= ALONE * widest
}

/// Returns the issue width that several rounds reached, since one reading may be too high; 0
/// without readings.
pub fn widest(widths: impl Iterator<Item = f64>) -> f64 {
    let mut widths: Vec<f64> = widths.collect();
    widths.sort_by(|a, b| b.total_cmp(a));
    widths.get(SEEN_ROUNDS - 1).or(widths.last()).copied().unwrap_or(0.0)
}
