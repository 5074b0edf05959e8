//! Memory that a trial touched, as the cursors of its loops count it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Memory that the threads of a trial touched, the untimed slices before the timed ones included.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Touched {
    /// Bytes of a place, the unit of a visit: a block, a part of a large block or of arrays, a line
    /// of a chase.
    pub place_bytes: u64,
    /// Number of distinct places visited, over all threads.
    pub places: u64,
    /// Visits of the least visited place.
    pub least_visits: u64,
    /// Visits of the most visited place.
    pub most_visits: u64,
    /// Reuse distance: the minimum bytes of distinct lines that all threads together touched from
    /// one visit of a place to the next. That visit may have been in an earlier trial. Lines
    /// written past the caches count only where no others are. Null where no place came again.
    pub reuse_bytes: Option<u64>,
}

impl Touched {
    /// Merges two trials: at least the places and visits of the greater one, and the lesser
    /// distance.
    pub fn merged(self, later: Self) -> Self {
        Self {
            place_bytes: self.place_bytes,
            places: self.places.max(later.places),
            least_visits: self.least_visits.min(later.least_visits),
            most_visits: self.most_visits.max(later.most_visits),
            reuse_bytes: self.reuse_bytes.into_iter().chain(later.reuse_bytes).min(),
        }
    }
}
