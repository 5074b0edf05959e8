//! What a trial touched in memory, as the cursors of its loops count it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What the threads of a trial touched in memory, the untimed slices before the timed ones included.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Touched {
    /// Bytes of a place, which is what is visited at once: a block, a piece of a large block or of the
    /// arrays, a line of a chase.
    pub place_bytes: u64,
    /// Distinct places that were visited, over all threads.
    pub places: u64,
    /// Visits of the place with the fewest, of those that were visited.
    pub least_visits: u64,
    /// Visits of the place with the most.
    pub most_visits: u64,
    /// Reuse distance in bytes: the least bytes of distinct lines that all threads together touched
    /// from one visit of a place to the next, which may have been in an earlier trial. Lines that are
    /// written past the caches count only where no others are. Null where no place came again.
    pub reuse_bytes: Option<u64>,
}

impl Touched {
    /// Of two trials that are made one: the places and visits of the greater one at least, and the
    /// lesser distance.
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
