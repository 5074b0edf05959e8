//! Ids of the checks that more than the file of the check names: other checks, ceilings,
//! comparisons, reports, the findings of reference tools. The id is part of run files and of what
//! users type.

/// Above its ceiling.
pub const ABOVE_CEILING: &str = "above_ceiling";
/// A core's other hardware thread was busy.
pub const BUSY_SIBLING: &str = "busy_sibling";
/// Cache size differs from the reported one.
pub const CACHE_DISAGREEMENT: &str = "cache_disagreement";
/// Clock lower than at the start.
pub const CLOCK_DROP: &str = "clock_drop";
/// Trials in separate groups.
pub const CLUSTERS: &str = "clusters";
/// Compressible data.
pub const COMPRESSIBLE_DATA: &str = "compressible_data";
/// Counters of a trial disagree.
pub const CONTRADICTION: &str = "contradiction";
/// Core shared with an unknown load.
pub const CORE_SHARED: &str = "core_shared";
/// CPUs of the run were gone.
pub const CPUS_LOST: &str = "cpus_lost";
/// Direct I/O refused.
pub const DIRECT_REFUSED: &str = "direct_refused";
/// A p99 that may be that of a disturbance.
pub const DISTURBED_TAIL: &str = "disturbed_tail";
/// Trend over time.
pub const DRIFT: &str = "drift";
/// Rate that did not last.
pub const FALLING_RATE: &str = "falling_rate";
/// A CPU quota that cannot be read.
pub const HIDDEN_QUOTA: &str = "hidden_quota";
/// No check: measured by another tool.
pub const IMPORTED: &str = "imported";
/// Values contradict each other.
pub const INCONSISTENT: &str = "inconsistent";
/// Involuntary context switches.
pub const INVOLUNTARY_SWITCHES: &str = "involuntary_switches";
/// Disk and network I/O during a memory load.
pub const IO_DURING_LOAD: &str = "io_during_load";
/// Cache measured as memory.
pub const IN_CACHE: &str = "in_cache";
/// Memory on another NUMA node.
pub const MISPLACED_MEMORY: &str = "misplaced_memory";
/// Folder not on a disk.
pub const NOT_A_DISK: &str = "not_a_disk";
/// Writes may not be durable.
pub const NOT_DURABLE: &str = "not_durable";
/// No device counters.
pub const NO_DEVICE_WITNESS: &str = "no_device_witness";
/// No interface counters.
pub const NO_INTERFACE_WITNESS: &str = "no_interface_witness";
/// Both ends on one machine.
pub const ONE_MACHINE: &str = "one_machine";
/// Competing process.
pub const OTHER_CPU: &str = "other_cpu";
/// Other CPUs busy during a memory load.
pub const OTHER_CPUS_BUSY: &str = "other_cpus_busy";
/// More threads than usable CPUs.
pub const OVERSUBSCRIBED: &str = "oversubscribed";
/// Page cache measured as a disk.
pub const PAGE_CACHE: &str = "page_cache";
/// Random order faster than sequential.
pub const RANDOM_FASTER: &str = "random_faster";
/// Residual above the HPL threshold.
pub const RESIDUAL: &str = "residual";
/// Device shared with other I/O.
pub const SHARED_DEVICE: &str = "shared_device";
/// Network interface shared with other traffic.
pub const SHARED_INTERFACE: &str = "shared_interface";
/// Transfer that only filled buffers.
pub const SHORT_TRANSFER: &str = "short_transfer";
/// Trial too short for the clock.
pub const SHORT_TRIAL: &str = "short_trial";
/// File smaller than the memory.
pub const SMALL_FILE: &str = "small_file";
/// Other pages than requested.
pub const SMALL_PAGES: &str = "small_pages";
/// No check: a hidden hardware thread of each core.
pub const SMT_HIDDEN: &str = "host.smt_hidden";
/// Stalled trials.
pub const STALLS: &str = "stalls";
/// Steal time.
pub const STEAL: &str = "steal";
/// Stopped process.
pub const STOPPED: &str = "stopped";
/// Swapping during the trials.
pub const SWAP: &str = "swap";
/// Taken time that the figure holds.
pub const TAKEN_IN_FIGURE: &str = "taken_in_figure";
/// Throttled by a CPU quota.
pub const THROTTLED: &str = "throttled";
/// The tool itself warns.
pub const TOOL_WARNING: &str = "tool_warning";
/// Traced by another process.
pub const TRACED: &str = "traced";
/// Trend over the trials.
pub const TREND: &str = "trend";
/// The output has two accounts of the same work, which differ.
pub const TWO_ACCOUNTS: &str = "two_accounts";
/// Datagrams lost.
pub const UDP_LOSS: &str = "udp_loss";
/// The measurement ended early.
pub const UNFINISHED: &str = "unfinished";
/// Disturbances that could not be observed.
pub const UNWATCHED: &str = "unwatched";
/// Holes or unwritten extents.
pub const UNWRITTEN_DATA: &str = "unwritten_data";
/// A known cause made the interval wide.
pub const WIDE_INTERVAL: &str = "wide_interval";
