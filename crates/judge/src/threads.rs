//! How many threads a point has on this machine.

use proofmark_model::{Direction, Measurement, key, word};

/// Threads of the point at one end; of what goes both ways each way has its own. A network's have a
/// connection each.
pub(crate) fn connections(m: &Measurement) -> u64 {
    let ways = if Direction::of(&m.params) == Some(Direction::Both) { 2 } else { 1 };
    m.params.threads().max(1).saturating_mul(ways)
}

/// Threads that the point has on this machine: of a loopback those of the server too.
pub(crate) fn threads_here(m: &Measurement) -> u64 {
    let ends = if m.params.get(key::PATH) == Some(word::LOOPBACK) { 2 } else { 1 };
    connections(m).saturating_mul(ends)
}
