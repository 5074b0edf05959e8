//! What checks, ceilings and the bottleneck share of disk workloads, their devices and files.

use proofmark_model::{
    DeviceTraffic, FileState, Flush, Limit, Measurement, Order, Trial, Unit, key, word,
};

use crate::capacity::Capacity;

/// Share of the file in the page cache before a trial that is none: a page here and there.
pub(crate) const EVICTED: f64 = 0.01;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Way {
    Read,
    Written,
}

impl Way {
    pub(crate) const BOTH: [Self; 2] = [Self::Read, Self::Written];

    /// The way that a limit bounds; `None`: it bounds no disk.
    pub(crate) fn limited_by(limit: Limit) -> Option<Self> {
        match limit {
            Limit::DiskRead | Limit::DiskReadIops => Some(Self::Read),
            Limit::DiskWrite | Limit::DiskWriteIops => Some(Self::Written),
            Limit::NetworkSend | Limit::NetworkReceive => None,
        }
    }

    /// What goes this way, of what was read and what was written.
    fn pick<T>(self, read: T, written: T) -> T {
        match self {
            Self::Read => read,
            Self::Written => written,
        }
    }

    fn asked(self, file: &FileState) -> f64 {
        self.pick(file.asked_read_bytes, file.asked_written_bytes) as f64
    }

    /// Bytes that the devices moved, for whomever.
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

/// How the file is used, from the parameters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Cached {
    /// Past the page cache.
    Direct,
    /// Through the page cache, with the file out of it before each trial.
    Cold,
    /// Through the page cache, with the file in it.
    Warm,
}

impl Cached {
    pub(crate) fn read(m: &Measurement) -> Self {
        match (m.params.get(key::DIRECT), m.params.get(key::CACHE)) {
            (_, Some(word::WARM)) => Self::Warm,
            (Some(word::OFF), _) | (_, Some(word::COLD)) => Self::Cold,
            // Appends go through the page cache, and then to the device.
            (None, None) => Self::Cold,
            _ => Self::Direct,
        }
    }
}

/// Whether it is a measurement of the disk that has trials.
pub(crate) fn measured(m: &Measurement) -> bool {
    m.subsystem.info().uses_block_devices && !m.trials.is_empty()
}

/// Whether its threads wait for a device; those that read a warm cache work like memory's.
pub(crate) fn waits(m: &Measurement) -> bool {
    m.subsystem.info().uses_block_devices
        && (Cached::read(m) != Cached::Warm || asks(m, Way::Written))
}

/// The states of the file that the trials report.
pub(crate) fn files(m: &Measurement) -> impl Iterator<Item = &FileState> {
    m.trials.iter().filter_map(|t| t.file.as_ref())
}

/// Share of the file in the page cache before the trial, if more than a page here and there.
pub(crate) fn found_cached(file: &FileState) -> Option<f64> {
    file.cached.filter(|share| share.is_finite() && *share > EVICTED)
}

/// Bytes that a trial asked for; 0 where it does not report it.
pub(crate) fn asked(trial: &Trial, way: Way) -> f64 {
    trial.file.as_ref().map_or(0.0, |file| way.asked(file))
}

/// Whether any trial moved bytes that way.
pub(crate) fn asks(m: &Measurement, way: Way) -> bool {
    m.trials.iter().any(|t| asked(t, way) > 0.0)
}

/// Whether each write is committed, so that the file system's journal writes more than asked.
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

/// I/Os that the point keeps in flight at most.
pub(crate) fn in_flight_at_most(m: &Measurement) -> f64 {
    queue_depth(m) as f64 * m.params.threads().max(1) as f64
}

/// I/Os in so much of the kernel's work.
pub(crate) fn ios(m: &Measurement, work: f64) -> Option<f64> {
    match m.unit {
        Unit::BytePerSecond => Some(work / m.params.block_bytes()?),
        _ => Some(work),
    }
    .filter(|n| n.is_finite())
}

/// Share of the bytes that are read, 0 to 1; `None` where no trial reports it.
pub(crate) fn read_share(m: &Measurement) -> Option<f64> {
    let sum = |way| m.trials.iter().map(|t| asked(t, way)).sum::<f64>();
    let (read, written) = (sum(Way::Read), sum(Way::Written));
    (read + written > 0.0).then(|| read / (read + written))
}

/// Seconds that a thread waits for its CPU after each I/O without any competitor: to be
/// woken takes a quarter of a microsecond of a small I/O, 3 us where a journal's thread has
/// its say too, and some 30 us of 1 MiB, whose pages the kernel's own threads work off.
const WAKE_S: f64 = 50e-6;
/// Deep queues complete many I/Os in one go, and quiet loads wait for 1.1 % at most: no more than this
/// share of the CPU time.
const WAKE_SHARE: f64 = 0.02;

/// CPU time that others took from a trial, less what being woken by a device takes; `None`
/// too where threads take turns, since the account then holds the kernel's own threads that
/// carry the I/O.
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
