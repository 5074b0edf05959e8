//! Execution traits of a result: checks that apply to all subsystems use these and name no
//! subsystem.

use proofmark_model::{Host, Measurement, Pace, Trial, Unit};

use crate::capacity::Capacity;
use crate::statistics::{median_over, ratio_of_sums};
use crate::{Context, disk, network};

/// The traits by which a result is judged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Execution {
    pub(crate) pace: Pace,
    /// True if threads are pinned, and read the core clock around each trial. Others run where the
    /// scheduler places them, and only their own CPU time shows how busy they are.
    pub(crate) pinned: bool,
    /// True if taken time is reported roughly: in ticks of 10 ms, or together with the work of the
    /// workload's own threads.
    pub(crate) rough_others: bool,
    /// True if the verification counts exactly this workload's work and no other program's.
    pub(crate) exact_verification: bool,
    /// The reason why single operations have no times, if there are none.
    pub(crate) no_latency: &'static str,
    /// The reason why completed trials have no verification.
    pub(crate) no_verification: &'static str,
}

/// Shortest large complete solve in seconds. Its start no longer matters, and it averages over
/// causes that make trials of 0.1 s differ.
const LONG_S: f64 = 1.0;

/// Returns true if each trial is one large complete solve.
pub(crate) fn long_whole(ctx: &Context, m: &Measurement) -> bool {
    let seconds = median_over(&m.trials, |t| Some(t.seconds));
    ctx.work(m).whole_problem && seconds.is_some_and(|s| s >= LONG_S)
}

/// CPU time of the trials' threads here over their wall time on each CPU that they ran on.
pub(crate) fn cpu_share(host: &Host, m: &Measurement) -> Option<f64> {
    if m.subsystem.info().has_server {
        return network::share_here(m);
    }
    let cpus = host.limits.usable_cpus.len() as u64;
    if cpus == 0 {
        return None;
    }
    let had = |t: &Trial| t.seconds * m.params.threads().clamp(1, cpus) as f64;
    ratio_of_sums(m.trials.iter().map(|t| Some((t.conditions.own_cpu_s?, had(t)))))
}

/// CPU-seconds that others took from a trial; `None` if they cannot be separated from the
/// workload's own.
pub(crate) fn others(capacity: &Capacity, m: &Measurement, t: &Trial) -> Option<f64> {
    match m.subsystem.info() {
        info if info.uses_block_devices => disk::others(capacity, m, t),
        info if info.has_server => network::others(capacity, m, t),
        _ => t.conditions.other_cpu_s,
    }
}

/// The reason why a workload whose threads never wait times no single operation.
fn no_latency(m: &Measurement) -> &'static str {
    if m.unit == Unit::Second {
        "each value is the mean over many dependent loads; one load is too short to be timed alone"
    } else {
        "this workload measures a rate, not the time of single operations"
    }
}

impl Execution {
    /// Derives the traits from the workload's declaration.
    pub(crate) fn derive(ctx: &Context, m: &Measurement) -> Self {
        let info = m.subsystem.info();
        Self {
            pace: match info.uses_block_devices {
                true if disk::waits(m) => Pace::Device,
                // A warm page cache is memory.
                true => Pace::Memory,
                false => ctx.work(m).pace,
            },
            pinned: if info.has_server { network::pinned(m) } else { info.pins_threads },
            rough_others: info.has_server,
            exact_verification: info.exact_verification,
            no_latency: info.no_latency.unwrap_or_else(|| no_latency(m)),
            no_verification: match ctx.imported {
                true => "another tool did the work, and proofmark counted none of it",
                false => info.no_verification,
            },
        }
    }

    /// Returns true if the threads wait for a device.
    pub(crate) fn waits(self) -> bool {
        self.pace == Pace::Device
    }
}
