//! Shared functions for checks, ceilings and bottlenecks of disk workloads, their devices and
//! files.

use proofmark_model::{
    DeviceTraffic, FileState, Flush, Limit, Measurement, Order, Trial, Unit, key, word,
};

use crate::capacity::Capacity;

/// Share of the file in the page cache below which it counts as evicted: single pages may stay.
pub(crate) const EVICTED: f64 = 0.01;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Way {
    Read,
    Written,
}

impl Way {
    pub(crate) const BOTH: [Self; 2] = [Self::Read, Self::Written];

    /// The direction that a limit bounds; `None` if it bounds no disk.
    pub(crate) fn limited_by(limit: Limit) -> Option<Self> {
        match limit {
            Limit::DiskRead | Limit::DiskReadIops => Some(Self::Read),
            Limit::DiskWrite | Limit::DiskWriteIops => Some(Self::Written),
            Limit::MemoryDram | Limit::NetworkSend | Limit::NetworkReceive => None,
        }
    }

    /// Selects the value of this direction.
    fn pick<T>(self, read: T, written: T) -> T {
        match self {
            Self::Read => read,
            Self::Written => written,
        }
    }

    fn asked(self, file: &FileState) -> f64 {
        self.pick(file.asked_read_bytes, file.asked_written_bytes) as f64
    }

    /// Bytes that the devices moved for all programs.
    pub(crate) fn moved(self, device: &DeviceTraffic) -> f64 {
        self.pick(device.read_bytes, device.written_bytes) as f64
    }

    /// I/Os that the devices did, after merging and splitting.
    pub(crate) fn requests(self, device: &DeviceTraffic) -> f64 {
        self.pick(device.reads, device.writes) as f64
    }

    /// Bytes that this process had devices move, or made dirty.
    pub(crate) fn own(self, device: &DeviceTraffic) -> Option<f64> {
        self.pick(device.own_read_bytes, device.own_written_bytes).map(|bytes| bytes as f64)
    }

    pub(crate) fn word(self) -> &'static str {
        self.pick("read", "written")
    }
}

/// Use of the page cache, from the parameters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Cached {
    /// Bypasses the page cache.
    Direct,
    /// Uses the page cache, from which the file is evicted before each trial.
    Cold,
    /// Uses the page cache, which holds the file.
    Warm,
}

impl Cached {
    pub(crate) fn read(m: &Measurement) -> Self {
        match (m.params.get(key::DIRECT), m.params.get(key::CACHE)) {
            (_, Some(word::WARM)) => Self::Warm,
            (Some(word::OFF), _) | (_, Some(word::COLD)) => Self::Cold,
            // Appends use the page cache, and then the device.
            (None, None) => Self::Cold,
            _ => Self::Direct,
        }
    }
}

/// Returns true for a disk result that has trials.
pub(crate) fn measured(m: &Measurement) -> bool {
    m.subsystem.info().uses_block_devices && !m.trials.is_empty()
}

/// Returns true if its threads wait for a device; those that read a warm cache work like memory
/// loads.
pub(crate) fn waits(m: &Measurement) -> bool {
    m.subsystem.info().uses_block_devices
        && (Cached::read(m) != Cached::Warm || asks(m, Way::Written))
}

/// The states of the file that the trials report.
pub(crate) fn files(m: &Measurement) -> impl Iterator<Item = &FileState> {
    m.trials.iter().filter_map(|t| t.file.as_ref())
}

/// Share of the file in the page cache before the trial, if it was not evicted.
pub(crate) fn found_cached(file: &FileState) -> Option<f64> {
    file.cached.filter(|share| share.is_finite() && *share > EVICTED)
}

/// Bytes that a trial requested; 0 if it does not report them.
pub(crate) fn asked(trial: &Trial, way: Way) -> f64 {
    trial.file.as_ref().map_or(0.0, |file| way.asked(file))
}

/// Returns true if any trial requested bytes in that direction.
pub(crate) fn asks(m: &Measurement, way: Way) -> bool {
    m.trials.iter().any(|t| asked(t, way) > 0.0)
}

/// Returns true if each write is committed, so that the file system's journal writes more than
/// requested.
pub(crate) fn commits(m: &Measurement) -> bool {
    files(m).any(|f| matches!(f.flush, Flush::Each | Flush::Dsync))
}

pub(crate) fn is_random(m: &Measurement) -> bool {
    files(m).any(|f| f.order == Order::Rand)
}

/// I/Os that one thread keeps in flight; buffered and committing workloads have one.
pub(crate) fn queue_depth(m: &Measurement) -> u64 {
    m.params.get(key::QUEUE_DEPTH).unwrap_or(1).max(1)
}

/// Most I/Os that the result keeps in flight.
pub(crate) fn in_flight_at_most(m: &Measurement) -> f64 {
    queue_depth(m) as f64 * m.params.threads().max(1) as f64
}

/// Number of I/Os in that amount of the workload's work.
pub(crate) fn ios(m: &Measurement, work: f64) -> Option<f64> {
    match m.unit {
        Unit::BytePerSecond => Some(work / m.params.block_bytes()?),
        _ => Some(work),
    }
    .filter(|n| n.is_finite())
}

/// Share of the bytes that are read, 0 to 1; `None` if no trial reports it.
pub(crate) fn read_share(m: &Measurement) -> Option<f64> {
    let sum = |way| m.trials.iter().map(|t| asked(t, way)).sum::<f64>();
    let (read, written) = (sum(Way::Read), sum(Way::Written));
    (read + written > 0.0).then(|| read / (read + written))
}

/// Most seconds that a thread waits for its CPU after each I/O without any competitor. A wake-up
/// takes a quarter of a microsecond for a small I/O, and 3 us where a journal's thread also runs.
/// It takes some 30 us for 1 MiB, whose pages the kernel's own threads process.
const WAKE_S: f64 = 50e-6;
/// Largest share of the CPU time for wake-ups. Deep queues complete many I/Os at once, and quiet
/// loads wait for 1.1 % at most.
const WAKE_SHARE: f64 = 0.02;

/// CPU time that others took from a trial, without wake-ups by a device. `None` if there are more
/// threads than CPUs, since the account then includes the kernel threads that carry the I/O.
pub(crate) fn others(capacity: &Capacity, m: &Measurement, t: &Trial) -> Option<f64> {
    let all = t.conditions.other_cpu_s;
    if !waits(m) {
        return all;
    }
    let all = all.filter(|_| !capacity.oversubscribed())?;
    let Some(device) = &t.device else { return Some(all) };
    let wakes = device.reads as f64 + device.writes as f64;
    let waking = (WAKE_S * wakes).min(WAKE_SHARE * capacity.cpu_seconds(t));
    Some(all - waking).filter(|rest| *rest > 0.0).or(Some(0.0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::*;

    #[test]
    fn commits_append_through_the_page_cache() {
        assert_eq!(Cached::read(&fsync(1)), Cached::Cold);
    }
}
