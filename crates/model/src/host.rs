//! Facts about the machine. Each is a [`Probe`]: one that fails leaves a reason, and the others
//! remain.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    CpuQuota, Finding, IoLimit, Network, Probe, Storage, clean_excerpt, counted, format_size,
};

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
    /// Settings of the system that change speed, by name: mitigations, microcode, governors, C-states.
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

/// The value of [`Os::virtualisation`] of a machine that is not virtual.
const BARE_METAL: &str = "none";

impl Memory {
    /// Returns the bytes of memory of the machine, rounded up to the next quarter of a power of
    /// two: 16 GiB for 14 to 16. What firmware and kernel reserve differs between machines of one
    /// kind.
    pub fn installed_bytes(&self) -> Option<u64> {
        self.total_bytes.get().map(|bytes| installed(*bytes))
    }
}

fn installed(bytes: u64) -> u64 {
    let step = (1_u64 << bytes.max(4).ilog2()) / 4;
    bytes.div_ceil(step).saturating_mul(step)
}

impl Limits {
    /// Returns true if it is known that no CPU quota limits the process.
    pub fn has_no_cpu_quota(&self) -> bool {
        self.cgroups_to_top && self.cpu_quota.get().is_some_and(|quota| quota.cpus.is_none())
    }
}

impl Host {
    /// Describes the machine in a few words: processor, CPUs, memory, and hypervisor.
    pub fn words(&self) -> String {
        const LONGEST: usize = 60;
        let short = |text: &str| clean_excerpt(text, LONGEST);
        let model = self.cpu.model_name.get().map_or("unnamed CPU", |n| n.as_str());
        let mut parts = vec![short(model)];
        if let Some(design) = self.cpu.microarchitecture.get() {
            parts[0] += &format!(" ({})", short(&design.id));
        }
        parts.extend(self.os.product.get().map(|product| short(product)));
        if !self.limits.usable_cpus.is_empty() {
            parts.push(counted(self.limits.usable_cpus.len() as f64, "CPU"));
        }
        if let Some(quota) = self.limits.cpu_quota.get().and_then(|q| q.cpus) {
            parts.push(format!("quota of {}", counted(quota, "CPU")));
        }
        let total = self.memory.total_bytes.get().copied();
        parts.extend(total.map(format_size));
        let limit = self.limits.memory_bytes.get().copied().flatten();
        let limit = limit.filter(|limit| total.is_none_or(|total| *limit < total));
        parts.extend(limit.map(|bytes| format!("memory limit of {}", format_size(bytes))));
        parts.extend(self.hypervisor().map(|name| format!("{} guest", short(name))));
        parts.join(", ")
    }

    /// Describes what identifies the machine in many runs: processor, usable CPUs, installed
    /// memory.
    pub fn same_machine_words(&self) -> String {
        let cpu = self.cpu.model_name.get().map_or("unnamed CPU", |name| name.trim());
        let cpus = Some(self.limits.usable_cpus.len()).filter(|n| *n > 0);
        let memory = self.memory.installed_bytes().map(format_size);
        let parts = [Some(cpu.to_owned()), cpus.map(|n| counted(n as f64, "CPU")), memory];
        parts.into_iter().flatten().collect::<Vec<_>>().join(", ")
    }

    /// Returns true if the machine is virtual, false if it is not, where that is known.
    pub fn is_virtual(&self) -> Option<bool> {
        self.os.virtualisation.get().map(|name| name != BARE_METAL)
    }

    /// Returns the name of the hypervisor, if the machine is known to be virtual.
    pub fn hypervisor(&self) -> Option<&str> {
        self.os.virtualisation.get().map(String::as_str).filter(|name| *name != BARE_METAL)
    }

    /// Returns a machine of which nothing is known, for this reason. Tests fill in what they need.
    pub fn unknown(reason: &'static str) -> Self {
        fn no<T>(reason: &'static str) -> Probe<T> {
            Probe::missing(reason)
        }
        Self {
            cpu: Cpu {
                arch: "x86_64".to_owned(),
                vendor: no(reason),
                model_name: no(reason),
                family: no(reason),
                model: no(reason),
                stepping: no(reason),
                microarchitecture: no(reason),
                isa: no(reason),
                sockets: no(reason),
                cores: no(reason),
                logical_cpus: no(reason),
                threads_per_core: no(reason),
                topology: no(reason),
                numa_nodes: no(reason),
                caches: no(reason),
                clock: Clock {
                    nominal_hz: no(reason),
                    boost_hz: no(reason),
                    measured_hz: no(reason),
                    tsc_hz: no(reason),
                },
            },
            memory: Memory {
                total_bytes: no(reason),
                available_bytes: no(reason),
                swap_total_bytes: no(reason),
                transparent_huge_pages: no(reason),
                modules: no(reason),
            },
            storage: no(reason),
            network: no(reason),
            os: Os {
                host_name: no(reason),
                product: no(reason),
                kernel: no(reason),
                distribution: no(reason),
                virtualisation: no(reason),
                container: no(reason),
            },
            limits: Limits {
                affinity: no(reason),
                cpuset: no(reason),
                cpu_quota: no(reason),
                cgroups_to_top: false,
                cpu_stat: Vec::new(),
                memory_bytes: no(reason),
                memory_used_bytes: no(reason),
                io: no(reason),
                io_uring: no(reason),
                pinning: no(reason),
                declared: BTreeMap::new(),
                usable_cpus: Vec::new(),
                usable_cores: 0,
            },
            settings: BTreeMap::new(),
            timer: Timer {
                clock_source: no(reason),
                resolution_s: no(reason),
                overhead_s: no(reason),
                interrupted_share: no(reason),
            },
            load: Load { average: no(reason), steal_since_boot: no(reason) },
            findings: Vec::new(),
        }
    }

    /// Returns the bytes that a run may fill with data: what is available and what the cgroup's
    /// limit leaves. A part for the run itself and for page tables is left out. `u64::MAX` where
    /// neither is known: then nothing can be refused for its size.
    pub fn usable_memory(&self) -> u64 {
        let used = self.limits.memory_used_bytes.get().copied().unwrap_or(0);
        let limit = self.limits.memory_bytes.get().copied().flatten();
        let left = limit.map(|l| l.saturating_sub(used));
        let available = self.memory.available_bytes.get().or(self.memory.total_bytes.get());
        match available.copied().into_iter().chain(left).min() {
            Some(bytes) => (bytes - bytes / 8).saturating_sub(OWN_MEMORY),
            None => u64::MAX,
        }
    }

    /// Returns the cgroup's memory limit in bytes, if it and not the machine decides what may be
    /// used.
    pub fn tight_memory_limit(&self) -> Option<u64> {
        let limit = self.limits.memory_bytes.get().copied().flatten()?;
        let left = limit.saturating_sub(*self.limits.memory_used_bytes.get().unwrap_or(&0));
        let available = self.memory.available_bytes.get().or(self.memory.total_bytes.get());
        available.is_none_or(|available| left < *available).then_some(limit)
    }

    /// Returns the bytes of data up to which a cache may serve them, whatever caches are reported.
    /// A hypervisor may hide the shared one, and no server of the last ten years had less than 4
    /// MiB of it.
    pub fn largest_cached(&self) -> u64 {
        self.usable_cache().unwrap_or(0).max(LEAST_CACHE)
    }

    /// Returns the bytes of files that a run may create: half of what is free. `u64::MAX` where
    /// that is not known.
    pub fn usable_disk(&self) -> u64 {
        // A file system that reports no size, such as ramfs, has no free space either.
        let sized = self.storage.get().filter(|s| s.total_bytes > 0);
        sized.map_or(u64::MAX, |s| s.free_bytes / 2)
    }

    /// Returns the bytes of last-level cache that the usable CPUs reach together, at most. `None`
    /// where none below the second level is reported: then a hypervisor hides it. The CPUs that
    /// share an instance are known for the first only. Each other CPU counts as one that reaches an
    /// instance of its own, as far as there are so many.
    pub fn usable_cache(&self) -> Option<u64> {
        let caches = self.cpu.caches.get()?.iter();
        let shared = |c: &&Cache| c.kind != CacheKind::Instruction && c.level > 2;
        let last = caches.filter(shared).max_by_key(|c| c.level)?;
        let cpus = &self.limits.usable_cpus;
        let elsewhere = cpus.iter().filter(|c| !last.shared_by.contains(c)).count();
        let here = u64::from(elsewhere < cpus.len());
        let first = u64::from(!last.shared_by.is_empty());
        let others = u64::from(last.instances).saturating_sub(first);
        let reached = here + others.min(elsewhere as u64);
        Some(last.size_bytes.saturating_mul(reached.max(1)))
    }
}

const LEAST_CACHE: u64 = 4 << 20;

/// Memory in bytes that a run needs for itself, apart from its data.
const OWN_MEMORY: u64 = 48 << 20;

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
