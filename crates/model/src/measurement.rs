//! A point with its trials and everything that was concluded from them.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    Better, Ceiling, CpuPairSeen, CpuPlacement, DeviceTraffic, Ending, FileState, Finding,
    NetworkTraffic, Params, Point, QuotaTrial, RanOn, RawMeasurement, Reference, Series, Severity,
    Solution, Subsystem, Summary, TimeAccount, Timestamp, Touched, Unit, Verdict, WorkloadSpec,
};

/// One timed repetition.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Trial {
    /// In the measurement's unit: `work / seconds`, or `seconds / work` where the
    /// unit is a time; see [`Unit::value`].
    pub value: f64,
    /// Wall time from the first thread's start to the last one's end, in seconds.
    pub seconds: f64,
    /// Units of work done by all threads together (operations, bytes, bits). For a network, what
    /// was received.
    pub work: f64,
    /// What independent verification proves of this trial; null if nothing else counted the work.
    #[serde(default)]
    pub verified: Option<Account>,
    /// Bytes that the hardware must carry for that work, lines that are read only
    /// to be overwritten (write-allocate) included; null where the workload moves none.
    #[serde(default)]
    pub moved: Option<f64>,
    /// What its threads touched in memory; null where the workload touches none, or an older version
    /// wrote the file.
    #[serde(default)]
    pub touched: Option<Touched>,
    /// Bytes a second that the point's other threads moved meanwhile, where they do
    /// no work of their own but load the machine.
    #[serde(default)]
    pub background: Option<f64>,
    /// When it began, UTC.
    pub started: Timestamp,
    /// What the system did meanwhile.
    pub conditions: Conditions,
    /// Where its threads' time went; null where it was not cut into slices, or threads took turns.
    #[serde(default)]
    pub time_account: Option<TimeAccount>,
    /// What it saw of CPU quotas; null where no cgroup had one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub quota: Option<QuotaTrial>,
    /// Where its threads ran; null where the system does not report it, or a tool ran it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ran_on: Option<RanOn>,
    /// The CPUs of its threads, in twos, as they were to each other; empty where it was not cut into
    /// slices, or has one thread.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub pairs: Vec<CpuPairSeen>,
    /// What the block devices did meanwhile; null where the workload works on no disk.
    #[serde(default)]
    pub device: Option<DeviceTraffic>,
    /// The state of the workload's file; null where it has none.
    #[serde(default)]
    pub file: Option<FileState>,
    /// What both ends of a network say; null where the workload uses none.
    #[serde(default)]
    pub network: Option<NetworkTraffic>,
    /// The helper process that did the work and timed it; null where threads of ours did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub helper: Option<HelperTrial>,
    /// What the workload says of the solution that it found; null where it solves nothing.
    #[serde(default)]
    pub solution: Option<Solution>,
    /// The rounds that it was cut into, in order; empty where it cannot be cut.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rounds: Vec<Round>,
}

/// A stretch of a trial, cut into slices and windows. Its figures are in the measurement's unit.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Round {
    /// Seconds since the trial's start.
    pub at_s: f64,
    /// How long it was, in seconds, without our own readings of the clock.
    pub seconds: f64,
    /// All work over all time.
    pub delivered: f64,
    /// The rate over the windows in which nothing was taken; null without one.
    pub typical: Option<f64>,
    /// The 95th percentile of these windows, weighted by work: of each core, summed; of threads
    /// that share a bus, of all together. Of a time, the 5th percentile.
    pub attainable: Option<f64>,
    /// Seconds of windows in which nothing was taken, on the core that had the fewest.
    pub clean_s: f64,
    /// Core clock in Hz, the 95th percentile of its readings: the mean over threads.
    pub clock_hz: Option<f64>,
    /// NOPs that a thread's core issued per cycle: the 95th percentile of its readings, of the thread
    /// with the fewest. Fewer than usual: another hardware thread of the core
    /// worked all the time.
    pub issue_width: Option<f64>,
    /// Rate of the whole, a digit a millisecond, or a window where those are longer: 0 to 9 tenths of
    /// its highest, which is also 9.
    pub strip: String,
    /// Windows by their rate as a share of that round's attainable figure: 20 steps of 5 %, the last
    /// with all from 95 % on.
    pub histogram: Vec<u32>,
}

/// What is known of a trial that a helper process did and timed.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct HelperTrial {
    /// What the helper drives, as it says.
    pub device: String,
    /// From our request to its answer by our own clock, in seconds.
    pub wall_s: f64,
    /// Operations a second that it says the device can do at most; null if it says nothing.
    pub peak_per_s: Option<f64>,
}

impl Trial {
    /// A trial of so much work in so many seconds, of which nothing else is known.
    pub fn new(unit: Unit, work: f64, seconds: f64) -> Self {
        Self { value: unit.value(work, seconds), seconds, work, ..Self::default() }
    }
}

/// Work claimed, and work that independent verification counted, in the unit that the verification
/// counts in: bytes for a disk and a network, else the workload's own.
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

/// Of two chains whose clocks differ by more, as a share, one does not take its known cycles: another
/// latency makes a quarter of difference at least, a busy SMT sibling on Zen 5 some percent.
pub const MOST_CLOCKS_APART: f64 = 0.2;

/// What the system did during a trial. `None`: this system does not report it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Conditions {
    /// Core clock in Hz under the trial's own load, right before and after it or while it ran: the
    /// mean over threads.
    pub clock_hz: Option<f64>,
    /// Relative gap between the clock before and after the trial, or how far from the middle half of
    /// the readings while it ran lie: the median over the threads. Null where it was read once.
    pub clock_spread: Option<f64>,
    /// By what share the slower of the two clock chains was slower.
    pub clock_disagreement: Option<f64>,
    /// NOPs that a core issued per cycle, the median over a trial of one complete solve: of the thread
    /// with the fewest. A busy SMT sibling takes about half.
    pub issue_width: Option<f64>,
    /// Time that the hypervisor took from the trial's CPUs, in CPU-seconds.
    pub steal_s: Option<f64>,
    /// Time that the cgroup's quota held back the process, in CPU-seconds.
    pub throttled_s: Option<f64>,
    /// CPU time that other processes took on the trial's CPUs, in CPU-seconds.
    pub other_cpu_s: Option<f64>,
    /// Time that CPUs which the trial does not use were busy, in CPU-seconds.
    pub elsewhere_cpu_s: Option<f64>,
    /// CPU time that the trial's threads themselves used, in CPU-seconds. Evidence only: never a clock.
    pub own_cpu_s: Option<f64>,
    /// Times that a thread was taken off its CPU against its will.
    pub involuntary_switches: Option<u64>,
    /// Threads that were on another CPU at an end of the trial than the one that they were pinned to.
    pub migrations: Option<u64>,
    /// Time that anything ran on the trial's CPUs, the trial included, in CPU-seconds; ticks of 10 ms.
    pub busy_cpu_s: Option<f64>,
    /// Time that no thread of the process could run: stopped by a signal, in a frozen cgroup, or in a
    /// guest that was paused. Null where the time account shows it, or nothing looked.
    pub stopped_s: Option<f64>,
    /// Threads of the process that another one traced (ptrace) at an end of the trial.
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
    /// Bytes that all disks and network interfaces of the machine moved during the trial, for any program.
    pub io_bytes: Option<u64>,
    /// Those of `io_bytes` that paravirtual devices moved (virtio, Xen, Hyper-V), which a host copies.
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
    /// Of a part of the time in which they were counted, if it was the same all that time.
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

/// Distribution of single operations.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Latency {
    /// Always `s`.
    pub unit: String,
    /// Operations timed.
    pub count: u64,
    /// Least.
    pub min: f64,
    /// Mean.
    pub mean: f64,
    /// Median.
    pub p50: f64,
    /// 90th percentile; null where the sample does not carry it.
    pub p90: Option<f64>,
    /// 99th percentile.
    pub p99: Option<f64>,
    /// 99.9th percentile.
    pub p999: Option<f64>,
    /// Greatest.
    pub max: f64,
    /// The distribution, by rising time; buckets without an operation are left out.
    #[serde(default)]
    pub buckets: Vec<LatencyBucket>,
}

/// Operations that took about as long as each other.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LatencyBucket {
    /// Greatest time that counts here, in seconds; the least is that of the bucket below.
    pub upto: f64,
    /// Operations.
    pub count: u64,
}

/// How precise the headline figure is. It says nothing of whether the figure is true.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Precision {
    /// Half the 95 % interval as a share of the figure.
    pub half_width: f64,
    /// The policy's target for it.
    pub target: f64,
    /// Whether the interval is as narrow as the target.
    pub reached: bool,
}

/// The resource that limited the result.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Bottleneck {
    /// The resource, such as `execution ports`.
    pub resource: String,
    /// Why that one, with figures.
    pub evidence: String,
}

impl Bottleneck {
    /// That resource, for that reason.
    pub fn new(resource: impl Into<String>, evidence: impl Into<String>) -> Self {
        Self { resource: resource.into(), evidence: evidence.into() }
    }
}

/// An independent account of the work.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Verification {
    /// Who counted: `checked arithmetic`, `device sectors`, `receiver`.
    pub kind: String,
    /// Units of work that the workload claims, over all trials.
    pub claimed: f64,
    /// Units of work that the verification counted.
    pub counted: f64,
    /// What was compared, in words.
    pub note: String,
}

/// One number, whole.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Measurement {
    /// Workload id.
    pub workload: String,
    /// Part of the machine.
    pub subsystem: Subsystem,
    /// Every parameter.
    pub params: Params,
    /// Base unit of `trials[].value`, `summary` and `ceiling`.
    pub unit: Unit,
    /// Which direction is good.
    pub better: Better,
    /// Every trial, in order.
    pub trials: Vec<Trial>,
    /// Values of the warm-up, in order; not part of the summary; empty for loads that are cut.
    pub warmup: Vec<f64>,
    /// Statistics; null without a trial.
    pub summary: Option<Summary>,
    /// How precise the headline figure is; null without an interval.
    pub precision: Option<Precision>,
    /// Distribution of single operations, where the workload times them.
    pub latency: Option<Latency>,
    /// Independent account of the work.
    pub verification: Option<Verification>,
    /// The most that it could show.
    pub ceiling: Option<Ceiling>,
    /// Measured / ceiling: the median over the rounds (of uncut loads the trials), each against the
    /// ceiling at its own clock.
    pub efficiency: Option<f64>,
    /// What limited it.
    pub bottleneck: Option<Bottleneck>,
    /// How the CPUs of its threads were placed while its rounds ran, the most frequent first; empty
    /// where that was not probed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub cpu_placements: Vec<CpuPlacement>,
    /// What became of it over time; only where that was asked for. The trials are its samples.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub series: Option<Series>,
    /// Trusted tools side by side.
    pub references: Vec<Reference>,
    /// What the checks found.
    pub findings: Vec<Finding>,
    /// What they add up to.
    pub verdict: Verdict,
    /// Why a part above is null or empty, by its name.
    pub missing: BTreeMap<String, String>,
    /// How the taking of trials ended.
    pub ending: Ending,
}

impl Measurement {
    /// A measurement of which nothing is known yet.
    pub fn new(spec: &WorkloadSpec, params: Params) -> Self {
        RawMeasurement::new(spec, params).unjudged(None)
    }

    /// Whether no finding so far says more than a note.
    pub fn undisturbed(&self) -> bool {
        self.findings.iter().all(|f| f.severity == Severity::Note)
    }

    /// The point that was measured.
    pub fn point(&self) -> Point {
        Point { workload: self.workload.clone(), params: self.params.clone() }
    }
}
