//! How many threads a point has on this machine.

use proofmark_model::{Direction, Measurement};

/// Threads of the point at one end; of what goes both ways each way has its own. A network's have a
/// connection each.
pub(crate) fn connections(m: &Measurement) -> u64 {
    let ways = if Direction::of(&m.params) == Some(Direction::Both) { 2 } else { 1 };
    m.params.threads().max(1).saturating_mul(ways)
}

/// Threads that the point has on this machine: of a loopback those of the server too.
pub(crate) fn threads_here(m: &Measurement) -> u64 {
    let ends = if m.params.text("path") == Some("loopback") { 2 } else { 1 };
    connections(m).saturating_mul(ends)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::*;

    #[test]
    fn a_disk_has_one_end() {
        assert_eq!((connections(&rand_read(1)), threads_here(&rand_read(1))), (1, 1));
    }

    #[test]
    fn both_ways_are_two_connections_and_loopback_has_both_ends_here() {
        let mut m = tcp(4, "peer");
        assert_eq!((connections(&m), threads_here(&m)), (4, 4));
        m.params = m.params.with("direction", "both");
        assert_eq!((connections(&m), threads_here(&m)), (8, 8));
        m.params = m.params.with("path", "loopback");
        assert_eq!((connections(&m), threads_here(&m)), (8, 16));
    }
}
