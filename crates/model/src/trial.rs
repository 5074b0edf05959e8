//! One timed repetition, with the conditions under which it ran.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    CpuPairSeen, DeviceTraffic, FileState, LoadingThreads, NetworkTraffic, QuotaTrial, RanOn,
    Solution, TimeAccount, Timestamp, Touched, Unit,
};

/// One timed repetition.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Trial {
    /// Value in the measurement's unit: `work / seconds`, or `seconds / work` where the unit is a
    /// time; see [`Unit::value`]. Of a clock, which counts no work, its reading while the trial ran.
    pub value: f64,
    /// Wall time from the first thread's start to the last one's end, in seconds.
    pub seconds: f64,
    /// Units of work done by all threads together (operations, bytes, bits). For a network, what
    /// was received.
    pub work: f64,
    /// The independent verification of this trial; null if nothing else counted the work.
    #[serde(default)]
    pub verified: Option<Account>,
    /// Bytes that the hardware must carry for that work. They include lines that are read only to
    /// be overwritten (write-allocate); null where the workload moves none.
    #[serde(default)]
    pub moved: Option<f64>,
    /// Memory that the threads touched; null where the workload touches none, or an older version
    /// wrote the file.
    #[serde(default)]
    pub touched: Option<Touched>,
    /// Bytes per second that the configuration's other threads moved outside their gaps, where they
    /// only load the machine and do no work of their own.
    #[serde(default)]
    pub background: Option<f64>,
    /// The time of these threads; null where there are none, or an older version wrote the file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub loading: Option<LoadingThreads>,
    /// Start time, UTC.
    pub started: Timestamp,
    /// The system's activity during the trial.
    pub conditions: Conditions,
    /// The account of its threads' time; null where it was not cut into slices, or threads took
    /// turns.
    #[serde(default)]
    pub time_account: Option<TimeAccount>,
    /// Observations of CPU quotas; null where no cgroup had one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub quota: Option<QuotaTrial>,
    /// The CPUs on which its threads ran; null where the system does not report it, or a tool ran
    /// it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ran_on: Option<RanOn>,
    /// Distances between the CPUs of its threads, in pairs; empty where it was not cut into slices,
    /// or has one thread.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub pairs: Vec<CpuPairSeen>,
    /// Traffic of the block devices during the trial; null where the workload works on no disk.
    #[serde(default)]
    pub device: Option<DeviceTraffic>,
    /// State of the workload's file; null where it has none.
    #[serde(default)]
    pub file: Option<FileState>,
    /// Reports of both ends of a network; null where the workload uses none.
    #[serde(default)]
    pub network: Option<NetworkTraffic>,
    /// The helper process that did the work and timed it; null where our threads did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub helper: Option<HelperTrial>,
    /// The workload's report of its solution; null where it solves nothing.
    #[serde(default)]
    pub solution: Option<Solution>,
    /// The rounds of the trial, in order; empty where it cannot be cut.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rounds: Vec<Round>,
}

/// A part of a trial, cut into slices and windows. Its figures are in the measurement's unit.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Round {
    /// Seconds since the trial's start.
    pub at_s: f64,
    /// Duration in seconds, without our own readings of the clock.
    pub seconds: f64,
    /// All work over all time.
    pub delivered: f64,
    /// The rate over the clean windows; null without one.
    pub typical: Option<f64>,
    /// The 95th percentile of the clean windows, weighted by work: of each core, summed; of threads
    /// that share a bus, of all together. Of a time, the 5th percentile.
    pub attainable: Option<f64>,
    /// Seconds of clean windows, on the core with the fewest.
    pub clean_s: f64,
    /// Core clock in Hz, the 95th percentile of its readings: the mean over threads.
    pub clock_hz: Option<f64>,
    /// NOPs issued per cycle by the core of a thread: the 95th percentile of its readings, of the
    /// thread with the fewest. Fewer than usual: another hardware thread of the core worked all the
    /// time.
    pub issue_width: Option<f64>,
    /// Rate of all threads together, one digit per millisecond, or per window where those are
    /// longer: tenths of its maximum, 0 to 9. The maximum is also 9.
    pub strip: String,
    /// Number of windows by their rate as a share of that round's attainable figure. There are 20
    /// steps of 5 %; the last has all from 95 % on.
    pub histogram: Vec<u32>,
}

/// Facts about a trial that a helper process did and timed.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct HelperTrial {
    /// The device, as the helper names it.
    pub device: String,
    /// Seconds from our request to its answer, by our own clock.
    pub wall_s: f64,
    /// Maximum operations per second of the device, as the helper reports it; null if it does not.
    pub peak_per_s: Option<f64>,
}

impl Trial {
    /// Makes a trial of so much work in so many seconds, without other facts.
    pub fn new(unit: Unit, work: f64, seconds: f64) -> Self {
        Self { value: unit.value(work, seconds), seconds, work, ..Self::default() }
    }

    /// Returns the value that follows from the other fields. Of a clock it is the reading: the cycles
    /// of all time are fewer where other processes used the core.
    pub fn derived_value(&self, unit: Unit) -> f64 {
        let reading = self.conditions.clock_hz.filter(|_| !unit.is_work());
        reading.unwrap_or_else(|| unit.value(self.work, self.seconds))
    }
}

/// Work claimed, and work that independent verification counted, in the unit of the verification:
/// bytes for a disk and a network, else the workload's own.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Account {
    /// Units of work that the workload claims.
    pub claimed: f64,
    /// Units of work that the verification counted.
    pub counted: f64,
}

impl std::ops::Add for Account {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self { claimed: self.claimed + other.claimed, counted: self.counted + other.counted }
    }
}

/// Maximum disagreement of the two clock chains, as a share. Beyond it, one of them does not take
/// its known cycles. Another latency makes at least a quarter of difference, a busy SMT sibling on
/// Zen 5 a few percent.
pub const MOST_CLOCKS_APART: f64 = 0.2;

/// The system's activity during a trial. `None`: this system does not report it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Conditions {
    /// Core clock in Hz under the trial's own load, right before and after it or while it ran: the
    /// mean over threads.
    pub clock_hz: Option<f64>,
    /// Relative gap between the clock before and after the trial. Where it was read while the trial
    /// ran, the spread of the middle half of the readings: the median over the threads. Null where
    /// it was read once.
    pub clock_spread: Option<f64>,
    /// Disagreement of the two clock chains: the share by which the slower one was slower.
    pub clock_disagreement: Option<f64>,
    /// NOPs issued per cycle by a core, the median over a trial of one complete solve, of the
    /// thread with the fewest. A busy SMT sibling takes about half.
    pub issue_width: Option<f64>,
    /// Time that the hypervisor took from the trial's CPUs, in CPU-seconds.
    pub steal_s: Option<f64>,
    /// Time that the cgroup's quota throttled the process, in CPU-seconds.
    pub throttled_s: Option<f64>,
    /// CPU time that other processes took on the trial's CPUs, in CPU-seconds.
    pub other_cpu_s: Option<f64>,
    /// Time that CPUs which the trial does not use were busy, in CPU-seconds.
    pub elsewhere_cpu_s: Option<f64>,
    /// CPU time that the trial's threads themselves used, in CPU-seconds. Evidence only: never a
    /// clock.
    pub own_cpu_s: Option<f64>,
    /// Involuntary context switches of the threads.
    pub involuntary_switches: Option<u64>,
    /// Threads that were on another CPU than the one that they were pinned to, at the start or end
    /// of the trial.
    pub migrations: Option<u64>,
    /// Time that anything ran on the trial's CPUs, the trial included, in CPU-seconds; ticks of 10
    /// ms.
    pub busy_cpu_s: Option<f64>,
    /// Time that no thread of the process could run: stopped by a signal, in a frozen cgroup, or in
    /// a paused guest. Null where the time account shows it, or nothing observed it.
    pub stopped_s: Option<f64>,
    /// Threads of the process that another one traced (ptrace) at the start or end of the trial.
    pub traced_threads: Option<u64>,
    /// Name of the process that traced them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tracer: Option<String>,
    /// Page faults served without I/O.
    pub minor_faults: Option<u64>,
    /// Page faults that needed I/O.
    pub major_faults: Option<u64>,
    /// Pages that the whole system swapped in or out.
    pub swapped_pages: Option<u64>,
    /// Bytes that all disks and network interfaces of the machine moved during the trial, for any
    /// program.
    pub io_bytes: Option<u64>,
    /// The part of `io_bytes` that paravirtual devices moved (virtio, Xen, Hyper-V), which a host
    /// copies.
    pub paravirtual_io_bytes: Option<u64>,
    /// Share of the workload's memory that huge pages back, 0 to 1.
    pub huge_pages: Option<f64>,
    /// Share of the workload's memory that is on another NUMA node than it should, 0 to 1.
    pub misplaced_pages: Option<f64>,
    /// Hottest reading of the CPU's thermal sensors right after the trial, in degrees Celsius.
    pub temperature_c: Option<f64>,
    /// Times that the trial's cores were throttled because they were hot.
    pub thermal_throttles: Option<u64>,
}

impl Conditions {
    /// Returns the time that anything but the threads ran on their CPUs: that of other processes,
    /// where the threads wait for each other too.
    pub fn busy_with_others_s(&self) -> Option<f64> {
        Some((self.busy_cpu_s? - self.own_cpu_s?).max(0.0))
    }

    /// Returns the conditions of a part of the time in which they were counted, if nothing changed
    /// in that time.
    pub fn part(self, share: f64) -> Self {
        let of = |seconds: Option<f64>| seconds.map(|s| s * share.clamp(0.0, 1.0));
        let bytes = |bytes: Option<u64>| of(bytes.map(|n| n as f64)).map(|n| n as u64);
        Self {
            steal_s: of(self.steal_s),
            throttled_s: of(self.throttled_s),
            other_cpu_s: of(self.other_cpu_s),
            elsewhere_cpu_s: of(self.elsewhere_cpu_s),
            own_cpu_s: of(self.own_cpu_s),
            busy_cpu_s: of(self.busy_cpu_s),
            io_bytes: bytes(self.io_bytes),
            paravirtual_io_bytes: bytes(self.paravirtual_io_bytes),
            ..self
        }
    }
}
