//! The parts of the machine: one row each, which all other crates read.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Pace;

/// Multiple of the default target beyond which an interval is wide.
const COARSE_TARGETS: f64 = 5.0;

/// Part of the machine.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "lowercase")]
pub enum Subsystem {
    /// Processor cores.
    Cpu,
    /// Main memory and caches.
    Memory,
    /// Storage.
    Disk,
    /// TCP and UDP.
    Network,
    /// A device that a helper process drives and times.
    #[cfg(feature = "testing")]
    #[schemars(skip)]
    Device,
}

/// Facts about a subsystem. Code that needs such a fact reads it here, and names no subsystem.
#[derive(Debug)]
pub struct SubsystemInfo {
    /// The word that is typed and printed, also the first part of its workloads' ids.
    pub id: &'static str,
    /// The heading of a report's part: `Memory`.
    pub title: &'static str,
    /// The name within a sentence: `CPU`, `memory`.
    pub word: &'static str,
    /// The resource that sets the pace of its work, unless a workload declares otherwise.
    pub pace: Pace,
    /// Maximum difference of a valid figure from the undisturbed one, as a share. It is the promise
    /// of the verdict, and no setting of a check.
    pub tolerance: f64,
    /// Half-width of the 95 % interval at which trials stop by default, as a share of the figure.
    pub target: f64,
    /// Standard deviation of the level of one virtual machine between hours, as a share: the largest
    /// that is known, for machines without a history. A quarter of it for others.
    pub between_runs: f64,
    /// Largest known difference between two runs of one virtual machine, as a share of the faster; of the
    /// CPU in complete solves. A quarter of it for others.
    pub between_two_runs: f64,
    /// True if each thread is pinned to a CPU of its own.
    pub pins_threads: bool,
    /// True if its work uses system calls, which a tracer slows down.
    pub uses_system_calls: bool,
    /// True if block devices do its work, whose counters show it.
    pub uses_block_devices: bool,
    /// True if its workloads have a server, as a second end.
    pub has_server: bool,
    /// True if its rates are published in bits per second, and not in bytes.
    pub counts_bits: bool,
    /// True if the verification counts exactly the workload's work, without that of others.
    pub exact_verification: bool,
    /// Reason why single operations have no times, where there are none and its threads wait for
    /// them.
    pub no_latency: Option<&'static str>,
    /// Reason why there is no verification, where trials were completed.
    pub no_verification: &'static str,
    /// The proof that another tool's output lacks, and the action to take.
    pub unproven: [&'static str; 2],
    /// The facts of a run that may change its figures.
    pub facts: &'static [FactScope],
}

/// The figures that a fact of a run may change: see [`SubsystemInfo::facts`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FactScope {
    /// Figures of every subsystem.
    Machine,
    /// Figures of work that is bound by cores.
    Cores,
    /// Figures of memory.
    Memory,
    /// Figures of storage.
    Storage,
    /// Figures of networks.
    Network,
    /// No figure by itself.
    Nothing,
}

/// The reason without a named counter.
const UNCOUNTED: &str = "there is no independent count of the work";
/// The action for an unproven figure of another tool.
const MEASURE: &str = "measure it with proofmark, which verifies the work";

const CPU: SubsystemInfo = SubsystemInfo {
    id: "cpu",
    title: "CPU",
    word: "CPU",
    pace: Pace::Core,
    tolerance: 0.02,
    target: 0.005,
    between_runs: 0.05,
    between_two_runs: 0.42,
    pins_threads: true,
    uses_system_calls: false,
    uses_block_devices: false,
    has_server: false,
    counts_bits: false,
    exact_verification: true,
    no_latency: None,
    no_verification: UNCOUNTED,
    unproven: ["the output has no residual or check of the result", MEASURE],
    facts: &[FactScope::Machine, FactScope::Cores],
};

const MEMORY: SubsystemInfo = SubsystemInfo {
    id: "memory",
    title: "Memory",
    word: "memory",
    pace: Pace::Memory,
    tolerance: 0.1,
    target: 0.03,
    between_runs: 0.08,
    unproven: ["the output has no check of the data: a cache may have done the work", MEASURE],
    facts: &[FactScope::Machine, FactScope::Cores, FactScope::Memory],
    ..CPU
};

const DISK: SubsystemInfo = SubsystemInfo {
    id: "disk",
    title: "Disk",
    word: "disk",
    pace: Pace::Device,
    tolerance: 0.25,
    target: 0.05,
    between_runs: 0.1,
    pins_threads: false,
    uses_system_calls: true,
    uses_block_devices: true,
    // Whole sectors, and those of all programs.
    exact_verification: false,
    no_latency: Some("no single I/O was timed"),
    no_verification: "no device counters report what it moved",
    unproven: [
        "the output has no counters of the device: the page cache may have done the work",
        "measure with proofmark, or with fio: its JSON has them (--output-format=json --direct=1, one \
         job)",
    ],
    facts: &[FactScope::Machine, FactScope::Storage],
    ..CPU
};

const NETWORK: SubsystemInfo = SubsystemInfo {
    id: "network",
    title: "Network",
    word: "network",
    pace: Pace::Device,
    tolerance: 0.25,
    target: 0.05,
    between_runs: 0.1,
    between_two_runs: 0.68,
    pins_threads: false,
    uses_system_calls: true,
    has_server: true,
    counts_bits: true,
    // Headers too, and packets of all programs.
    exact_verification: false,
    no_latency: Some("no single message was timed"),
    no_verification: "no counters of the interfaces report what they took in",
    unproven: ["the output has no count of the receiver: the bytes may not have arrived", MEASURE],
    facts: &[FactScope::Machine, FactScope::Network],
    ..CPU
};

/// The row of the tests: a subsystem that another process times.
#[cfg(feature = "testing")]
const DEVICE: SubsystemInfo = SubsystemInfo {
    id: "device",
    title: "Device",
    word: "device",
    pace: Pace::Device,
    tolerance: 0.1,
    target: 0.05,
    between_runs: 0.1,
    pins_threads: false,
    no_latency: Some("no single operation was timed"),
    no_verification: "the device reported no count of its own",
    unproven: ["the output has no count of the device", MEASURE],
    facts: &[FactScope::Machine],
    ..CPU
};

impl Subsystem {
    /// All subsystems that a user can measure, in the order of a report.
    pub const ALL: [Self; 4] = [Self::Cpu, Self::Memory, Self::Disk, Self::Network];

    /// All subsystems that a run file may name, with that of the tests.
    pub const KNOWN: &[Self] = &[
        Self::Cpu,
        Self::Memory,
        Self::Disk,
        Self::Network,
        #[cfg(feature = "testing")]
        Self::Device,
    ];

    /// Returns the row of facts.
    pub const fn info(self) -> &'static SubsystemInfo {
        match self {
            Self::Cpu => &CPU,
            Self::Memory => &MEMORY,
            Self::Disk => &DISK,
            Self::Network => &NETWORK,
            #[cfg(feature = "testing")]
            Self::Device => &DEVICE,
        }
    }

    /// Returns the word that is typed and printed.
    pub const fn as_str(self) -> &'static str {
        self.info().id
    }
}

impl SubsystemInfo {
    /// Returns the width from which on an interval is wide: five times the default target.
    pub fn coarse_from(&self) -> f64 {
        COARSE_TARGETS * self.target
    }

    /// Returns true if its work is moving bytes.
    pub fn moves_bytes(&self) -> bool {
        self.pace != Pace::Core && !self.counts_bits
    }
}

impl fmt::Display for Subsystem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_is_written_as_its_id() {
        for subsystem in Subsystem::KNOWN {
            let written = serde_json::to_value(subsystem).unwrap();
            assert_eq!(written, subsystem.info().id, "{subsystem:?}");
        }
        assert!(Subsystem::KNOWN.starts_with(&Subsystem::ALL));
        assert!(Subsystem::KNOWN.is_sorted(), "a map by subsystem is in the order of a report");
    }
}
