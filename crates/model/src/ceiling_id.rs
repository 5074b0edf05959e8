//! Ids of the ceilings, by which workloads name those that apply to them.

/// Reported boost clock.
pub const CPU_BOOST: &str = "cpu.boost";
/// Ports and divider under an instruction mix.
pub const CPU_MIX: &str = "cpu.mix";
/// Execution ports of the cores.
pub const CPU_PEAK: &str = "cpu.peak";
/// Declared and cgroup I/O limits.
pub const DISK_LIMIT: &str = "disk.limit";
/// Link to the device.
pub const DISK_LINK: &str = "disk.link";
/// Bandwidth of the L1 and L2 caches.
pub const MEMORY_CACHE: &str = "memory.cache";
/// Lines in flight of a core.
pub const MEMORY_CORE: &str = "memory.core";
/// Memory bus.
pub const MEMORY_DRAM: &str = "memory.dram";
/// Declared memory limit.
pub const MEMORY_LIMIT: &str = "memory.limit";
/// Load-to-use latency.
pub const MEMORY_LOAD_USE: &str = "memory.load_use";
/// Declared network limits.
pub const NETWORK_LIMIT: &str = "network.limit";
/// Link between client and server.
pub const NETWORK_LINK: &str = "network.link";
/// Copying over loopback.
pub const NETWORK_LOOPBACK: &str = "network.loopback";
