//! What sets a subsystem's measurements apart: checks that judge all ask here and name none.

use proofmark_model::{Host, Measurement, Pace, Subsystem, Trial, Unit};

use crate::capacity::Capacity;
use crate::statistics::{median_over, ratio_of_sums};
use crate::{Context, disk, network};

/// How a measurement is to be judged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Execution {
    pub(crate) pace: Pace,
    /// Whether threads are pinned, and read the core clock around each trial. The others
    /// run where the scheduler puts them, and only their own CPU time shows how busy they are.
    pub(crate) pinned: bool,
    /// Whether what others took is reported roughly: by ticks of 10 ms, or together with what the
    /// workload's own threads do for the point.
    pub(crate) rough_others: bool,
    /// Whether the verification counts this workload's work to the unit and nobody else's.
    pub(crate) exact_verification: bool,
    /// Why single operations have no times, where there are none.
    pub(crate) no_latency: &'static str,
    /// Why there is no verification, where trials were completed.
    pub(crate) no_verification: &'static str,
}

/// A whole problem that takes this long, in seconds, is a large one: what it starts with no
/// longer matters, and it averages over what makes trials of a tenth of a second differ.
const LONG_S: f64 = 1.0;

/// Whether each trial is one whole problem that takes seconds.
pub(crate) fn long_whole(ctx: &Context, m: &Measurement) -> bool {
    let seconds = median_over(&m.trials, |t| Some(t.seconds));
    ctx.work(m).whole_problem && seconds.is_some_and(|s| s >= LONG_S)
}

/// CPU time of the trials' threads here over their wall time on each CPU that they ran on.
pub(crate) fn cpu_share(host: &Host, m: &Measurement) -> Option<f64> {
    if m.subsystem == Subsystem::Network {
        return network::share_here(m);
    }
    let cpus = host.limits.usable_cpus.len() as u64;
    if cpus == 0 {
        return None;
    }
    let had = |t: &Trial| t.seconds * m.params.threads().clamp(1, cpus) as f64;
    ratio_of_sums(m.trials.iter().map(|t| Some((t.conditions.own_cpu_s?, had(t)))))
}

/// CPU-seconds that others took from a trial; `None` if not separate from the point's own.
pub(crate) fn others(capacity: &Capacity, m: &Measurement, t: &Trial) -> Option<f64> {
    match m.subsystem {
        Subsystem::Disk => disk::others(capacity, m, t),
        Subsystem::Network => network::others(capacity, m, t),
        _ => t.conditions.other_cpu_s,
    }
}

/// Why a workload whose threads never wait times no single operation.
fn no_latency(m: &Measurement) -> &'static str {
    if m.unit == Unit::Second {
        "each value is the mean over many dependent loads; one load is too short to be timed alone"
    } else {
        "this workload measures a rate, not the time of single operations"
    }
}

/// Nobody in particular was expected to count.
const NOBODY: &str = "there is no independent count of the work";

impl Execution {
    /// Of a measurement, by what its workload declares.
    pub(crate) fn derive(ctx: &Context, m: &Measurement) -> Self {
        let common = Self {
            pace: ctx.work(m).pace,
            pinned: m.subsystem.pins_threads(),
            rough_others: false,
            exact_verification: true,
            no_latency: no_latency(m),
            no_verification: NOBODY,
        };
        match m.subsystem {
            Subsystem::Disk => Self {
                // A warm page cache is memory.
                pace: if disk::waits(m) { Pace::Device } else { Pace::Memory },
                // Whole sectors, and everybody's.
                exact_verification: false,
                no_latency: "no single I/O was timed",
                no_verification: "no device counters report what it moved",
                ..common
            },
            Subsystem::Network => Self {
                pinned: network::pinned(m),
                rough_others: true,
                // Headers too, and everybody's.
                exact_verification: false,
                no_latency: "no single message was timed",
                no_verification: "the receivers reported no counts",
                ..common
            },
            _ => common,
        }
    }

    /// Whether the threads wait for a device.
    pub(crate) fn waits(self) -> bool {
        self.pace == Pace::Device
    }
}
