//! Cost of CPU time that others take, by the recorded losses of each kind of load.

use proofmark_model::Measurement;

use crate::disk::{self, Way};
use crate::network::over_loopback;

/// Cost of taken CPU time for disk reads, as a multiple of its share: kernel threads that carry the
/// I/O wait too. Recorded: 20 % of the CPU time cost single reads 31 %.
const COST_OF_READS: f64 = 1.5;
/// The same for writes that are flushed at the end. Recorded: 11 % cost 37 %.
const COST_OF_WRITES: f64 = 3.0;
/// The same where two threads wait for each other: the ends of a loopback, a commit and the
/// journal. Recorded over loopback: 13 % cost 25 to 42 %, 29 % cost 38 to 58 %, 40 % cost 60 to
/// 80 %. Recorded for commits: 15 and 30 % cost 37 %.
const COST_OF_HANDOVERS: f64 = 2.2;

/// The time that a result loses for each second of CPU time that is taken from it.
pub(crate) fn cost_of_cpu_time(m: &Measurement) -> f64 {
    match m.subsystem.info().uses_block_devices {
        true if !disk::waits(m) => 1.0,
        true if disk::commits(m) => COST_OF_HANDOVERS,
        true if disk::asks(m, Way::Written) => COST_OF_WRITES,
        true => COST_OF_READS,
        _ if over_loopback(m) => COST_OF_HANDOVERS,
        _ => 1.0,
    }
}
