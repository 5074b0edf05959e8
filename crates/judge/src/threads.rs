//! Number of threads of a result on this machine.

use proofmark_model::{Direction, Measurement, key, word};

/// Threads of a result at one end, one per connection for a network; each direction has its own.
pub(crate) fn connections(m: &Measurement) -> u64 {
    let ways = if Direction::from_params(&m.params) == Some(Direction::Both) { 2 } else { 1 };
    m.params.threads().max(1).saturating_mul(ways)
}

/// Threads of a result on this machine, with those of a loopback's server.
pub(crate) fn threads_here(m: &Measurement) -> u64 {
    let ends = if m.params.get(key::PATH) == Some(word::LOOPBACK) { 2 } else { 1 };
    connections(m).saturating_mul(ends)
}
