//! Facts about the machine. Each is a [`Probe`]: one that fails leaves a reason, and the others
//! remain.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{CpuQuota, Finding, IoLimit, Network, Probe, Storage};

mod unknown;
mod usable;
mod words;

/// The machine as this process sees it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Host {
    /// The processor.
    pub cpu: Cpu,
    /// Main memory.
    pub memory: Memory,
    /// The folder whose disk is measured, and its devices.
    #[serde(default = "not_looked_for::<Storage>")]
    pub storage: Probe<Storage>,
    /// The server of network workloads, and the path to it.
    #[serde(default = "not_looked_for::<Network>")]
    pub network: Probe<Network>,
    /// Kernel, virtualisation, container.
    pub os: Os,
    /// Limits of this process.
    pub limits: Limits,
    /// Settings of the system that change speed, by name: mitigations, microcode, governors,
    /// C-states.
    #[serde(default)]
    pub settings: BTreeMap<String, Probe<String>>,
    /// The clock that trials are timed with.
    pub timer: Timer,
    /// Load when the host was probed.
    pub load: Load,
    /// Findings about the host itself, such as a CPU model number that contradicts the CPU's
    /// features.
    pub findings: Vec<Finding>,
}

/// The processor.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Cpu {
    /// Instruction set architecture as Rust names it: `x86_64`, `aarch64`.
    pub arch: String,
    /// Vendor string, such as `GenuineIntel`.
    pub vendor: Probe<String>,
    /// Marketing name, such as `AMD EPYC 7763 64-Core Processor`.
    pub model_name: Probe<String>,
    /// CPUID display family (x86) or MIDR part (AArch64).
    pub family: Probe<u32>,
    /// CPUID display model.
    pub model: Probe<u32>,
    /// CPUID stepping.
    pub stepping: Probe<u32>,
    /// Core design, which decides the execution ports.
    pub microarchitecture: Probe<Microarchitecture>,
    /// Instruction set extensions by their usual lower-case names (`sse2`,
    /// `avx2`, `fma`, `avx512f`, `neon`), sorted.
    pub isa: Probe<Vec<String>>,
    /// Sockets with at least one online CPU.
    pub sockets: Probe<u32>,
    /// Physical cores online in all sockets.
    pub cores: Probe<u32>,
    /// Logical CPUs online.
    pub logical_cpus: Probe<u32>,
    /// Hardware threads per core, 1 where simultaneous multithreading is off or hidden.
    pub threads_per_core: Probe<u32>,
    /// Place of each online logical CPU, by CPU number.
    pub topology: Probe<Vec<LogicalCpu>>,
    /// NUMA nodes, by number.
    pub numa_nodes: Probe<Vec<NumaNode>>,
    /// Caches as seen from the first online CPU, with their number.
    pub caches: Probe<Vec<Cache>>,
    /// Clock frequencies.
    pub clock: Clock,
}

/// A core design, by its usual name.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Microarchitecture {
    /// Short lower-case id, the key of the table of execution ports: `zen3`,
    /// `golden_cove`, `skylake_server`.
    pub id: String,
    /// Name for people, with the product where it is known: `Golden Cove (Sapphire Rapids)`.
    pub name: String,
    /// The evidence, in words.
    pub evidence: String,
}

/// One online logical CPU.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LogicalCpu {
    /// Linux's CPU number.
    pub cpu: u32,
    /// Core id within its socket.
    pub core: u32,
    /// Socket (physical package) id.
    pub socket: u32,
    /// Logical CPUs on the same core, itself included, sorted.
    pub siblings: Vec<u32>,
}

/// One NUMA node.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct NumaNode {
    /// Node number.
    pub id: u32,
    /// CPUs of the node, sorted.
    pub cpus: Vec<u32>,
    /// Memory of the node in bytes, if reported.
    pub memory_bytes: Option<u64>,
}

/// The content of a cache.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum CacheKind {
    /// Data only.
    Data,
    /// Instructions only.
    Instruction,
    /// Data and instructions.
    Unified,
}

/// One cache as the first online CPU sees it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Cache {
    /// Level, 1 for L1 and so on.
    pub level: u32,
    /// Content.
    pub kind: CacheKind,
    /// Size of one instance in bytes, as reported.
    pub size_bytes: u64,
    /// Line size in bytes.
    pub line_bytes: Option<u32>,
    /// Associativity.
    pub ways: Option<u32>,
    /// Logical CPUs that share this instance, sorted.
    pub shared_by: Vec<u32>,
    /// Instances in the machine, counted over the online CPUs.
    pub instances: u32,
}

/// Clock frequencies in Hz.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Clock {
    /// Base frequency as the machine reports it.
    pub nominal_hz: Probe<f64>,
    /// Highest frequency as the machine reports it.
    pub boost_hz: Probe<f64>,
    /// Core cycles per second, measured on one idle core: the faster of two chains of dependent
    /// instructions.
    pub measured_hz: Probe<f64>,
    /// Rate of the time-stamp counter.
    pub tsc_hz: Probe<f64>,
}

/// Main memory in bytes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Memory {
    /// Total of the machine or VM.
    pub total_bytes: Probe<u64>,
    /// The kernel's estimate of the memory that is usable without swapping.
    pub available_bytes: Probe<u64>,
    /// Swap space.
    pub swap_total_bytes: Probe<u64>,
    /// Transparent huge pages: `always`, `madvise` or `never`.
    pub transparent_huge_pages: Probe<String>,
    /// Populated memory modules, as the firmware describes them (SMBIOS type 17).
    #[serde(default = "not_looked_for::<Vec<MemoryModule>>")]
    pub modules: Probe<Vec<MemoryModule>>,
}

fn not_looked_for<T>() -> Probe<T> {
    Probe::missing("not looked for by the version that wrote this file")
}

/// One memory module.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct MemoryModule {
    /// Slot, such as `DIMM_A1`.
    pub locator: String,
    /// Kind, such as `DDR5`.
    pub kind: String,
    /// Size in bytes.
    pub size_bytes: u64,
    /// Transfers per second at its current speed. A module sold as DDR4-2133 makes 2133 million per
    /// second; that is not doubled again.
    pub transfers_per_s: Option<f64>,
    /// Bits of data per transfer, without error correction.
    pub data_bits: Option<u32>,
}

/// Operating system and what is under it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Os {
    /// Name of the machine.
    #[serde(default = "not_looked_for::<String>")]
    pub host_name: Probe<String>,
    /// Vendor and product as the firmware names them: at some providers the instance type.
    #[serde(default = "not_looked_for::<String>")]
    pub product: Probe<String>,
    /// Kernel name and release, such as `Linux 6.18.0`.
    pub kernel: Probe<String>,
    /// Distribution, such as `Debian GNU/Linux 12 (bookworm)`.
    pub distribution: Probe<String>,
    /// Hypervisor (`kvm`, `vmware`, ...) or `none`.
    pub virtualisation: Probe<String>,
    /// Container manager (`docker`, `podman`, ...) or `none`.
    pub container: Probe<String>,
}

/// Limits of this process.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Limits {
    /// CPUs in the affinity mask, sorted.
    pub affinity: Probe<Vec<u32>>,
    /// CPUs in the effective cpuset of the cgroup, sorted.
    pub cpuset: Probe<Vec<u32>>,
    /// CPU bandwidth of the tightest cgroup, of this process's and those above it.
    pub cpu_quota: Probe<CpuQuota>,
    /// True if the cgroups are visible up to the machine's top; those above a container are not.
    #[serde(default)]
    pub cgroups_to_top: bool,
    /// The `cpu.stat` files of this process's cgroup and those above it, nearest first. The kernel
    /// counts throttling in them; empty where there are none.
    pub cpu_stat: Vec<String>,
    /// Memory limit of the cgroup whose limit leaves the least room; a known `None` means no limit.
    pub memory_bytes: Probe<Option<u64>>,
    /// Bytes that already count against that limit and that the kernel cannot drop: no page cache.
    #[serde(default = "not_looked_for::<u64>")]
    pub memory_used_bytes: Probe<u64>,
    /// Limits that cgroups set on block devices, one per device.
    #[serde(default = "not_looked_for::<Vec<IoLimit>>")]
    pub io: Probe<Vec<IoLimit>>,
    /// True if this process may use io_uring.
    #[serde(default = "not_looked_for::<bool>")]
    pub io_uring: Probe<bool>,
    /// True if this process may pin its threads to CPUs.
    #[serde(default = "not_looked_for::<bool>")]
    pub pinning: Probe<bool>,
    /// Limits that the user declared, in base units, by name: `disk.read` in B/s.
    #[serde(default)]
    pub declared: BTreeMap<String, f64>,
    /// CPUs that threads are pinned to, in the order of use: affinity and cpuset together, one per
    /// physical core before the siblings.
    pub usable_cpus: Vec<u32>,
    /// Physical cores among `usable_cpus`.
    pub usable_cores: u32,
}

impl Limits {
    /// Returns true if it is known that no CPU quota limits the process.
    pub fn has_no_cpu_quota(&self) -> bool {
        self.cgroups_to_top && self.cpu_quota.get().is_some_and(|quota| quota.cpus.is_none())
    }
}

/// The clock that trials are timed with.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Timer {
    /// Linux's clock source, such as `tsc`.
    pub clock_source: Probe<String>,
    /// Smallest step of CLOCK_MONOTONIC_RAW seen, in seconds.
    pub resolution_s: Probe<f64>,
    /// Time that one reading takes, in seconds.
    pub overhead_s: Probe<f64>,
    /// Share of a busy thread's time that timer ticks, interrupts and the hypervisor take, 0 to 1.
    pub interrupted_share: Probe<f64>,
}

/// Other load.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Load {
    /// Load averages over 1, 5 and 15 minutes.
    pub average: Probe<[f64; 3]>,
    /// Share of CPU time stolen by the hypervisor since boot, 0 to 1.
    pub steal_since_boot: Probe<f64>,
}

#[cfg(test)]
mod tests;
