//! Counters of the system of one end of a network during a trial.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{CpuQuota, Direction, End};

/// Counters of one end's system during a trial, over all its processes. `None`: not reported.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct EndTraffic {
    /// Seconds between the two readings of these counters: those of the trial, of its untimed work
    /// and of the waits around it.
    pub counted_s: Option<f64>,
    /// Bytes that the interface received, headers included (/proc/net/dev).
    pub in_bytes: Option<u64>,
    /// Bytes that the interface sent.
    pub out_bytes: Option<u64>,
    /// Bytes that all interfaces but the loopback received. Packets may use several, as with
    /// service addresses and routes of equal cost.
    pub all_in_bytes: Option<u64>,
    /// Bytes that all interfaces but the loopback sent.
    pub all_out_bytes: Option<u64>,
    /// Packets that the interface received, after it merged segments.
    pub in_packets: Option<u64>,
    /// Packets that the interface sent, before it split segments.
    pub out_packets: Option<u64>,
    /// Packets that the interface dropped or found damaged.
    pub dropped: Option<u64>,
    /// TCP segments sent again (/proc/net/snmp).
    pub retransmits: Option<u64>,
    /// Datagrams handed to a socket.
    pub in_datagrams: Option<u64>,
    /// Datagrams sent.
    pub out_datagrams: Option<u64>,
    /// Datagrams for which a socket's buffer had no room.
    pub full_buffers: Option<u64>,
    /// Packets dropped because a CPU could not keep up (/proc/net/softnet_stat).
    pub cpu_dropped: Option<u64>,
    /// CPU time of this end's measuring threads, in CPU-seconds.
    pub own_cpu_s: Option<f64>,
    /// Time that anything ran on the CPUs that this end may use, in CPU-seconds.
    pub busy_s: Option<f64>,
    /// CPUs that this end may use.
    pub cpus: Option<u64>,
    /// Time that a hypervisor took from these CPUs, in CPU-seconds; ticks of 10 ms.
    pub steal_s: Option<f64>,
    /// Time that this end's threads were runnable without a CPU (run delay), in seconds.
    pub waiting_s: Option<f64>,
    /// Time that a CPU quota held this end back, in seconds. The client's is in the conditions.
    pub throttled_s: Option<f64>,
    /// The tightest CPU quota of this end; null without one, or where it was not read.
    pub quota: Option<CpuQuota>,
    /// Time that no thread of this end could run, as `stopped_s` of the conditions.
    pub stopped_s: Option<f64>,
    /// Name of the process that traced one of its threads (ptrace).
    pub tracer: Option<String>,
}

impl EndTraffic {
    /// Returns the bytes that the interface of this end, which is `end`, carried in the direction
    /// of the blocks.
    pub fn carried(&self, direction: Direction, end: End) -> Option<u64> {
        Self::sum([self.out_bytes, self.in_bytes], direction, end)
    }

    /// Returns the bytes that all interfaces of this end, which is `end`, carried in that
    /// direction.
    pub fn all_carried(&self, direction: Direction, end: End) -> Option<u64> {
        Self::sum([self.all_out_bytes, self.all_in_bytes], direction, end)
    }

    fn sum([out, into]: [Option<u64>; 2], direction: Direction, end: End) -> Option<u64> {
        let part = |counted, wanted| if wanted { counted } else { Some(0) };
        let sent: u64 = part(out, direction.sends(end))?;
        Some(sent.saturating_add(part(into, direction.receives(end))?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_direction_is_carried_by_its_own_counters() {
        let end = EndTraffic { in_bytes: Some(10), out_bytes: Some(1), ..EndTraffic::default() };
        let carried = |d| End::BOTH.map(|e| end.carried(d, e));
        assert_eq!(carried(Direction::Forward), [Some(1), Some(10)]);
        assert_eq!(carried(Direction::Reverse), [Some(10), Some(1)]);
        assert_eq!(carried(Direction::Both), [Some(11), Some(11)]);
        let silent = EndTraffic { in_bytes: None, ..end };
        assert_eq!(silent.carried(Direction::Forward, End::ClientSide), Some(1), "not asked for");
        assert_eq!(silent.carried(Direction::Both, End::ClientSide), None);
    }
}
