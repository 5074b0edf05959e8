//! What a memory workload touches: how much, in which order, and how much of it a
//! cache could have given.

use proofmark_model::{Cache, CacheKind, Host, Measurement, Params};

/// Bytes of a cache line on every machine that is known here.
pub(crate) const LINE: f64 = 64.0;

/// The largest first-level data cache of the designs in the tables, in bytes. A
/// hypervisor may report a smaller one than there is, so what lies between is not
/// taken for the second level.
pub(crate) const LARGEST_L1: u64 = 64 << 10;

/// Share of the data that a cache could hold where no cache is reported: workloads
/// take at least 4 times the cache where they know it.
const HIDDEN_CACHE: f64 = 0.25;

/// From this share of the data on that the cache could hold, the number is no
/// longer bounded by memory.
pub(crate) const MOSTLY_CACHE: f64 = 0.5;

/// Arrays or streams that one unit of a workload's operation reads and writes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Streams {
    pub(crate) read: f64,
    pub(crate) written: f64,
}

impl Streams {
    /// Of a workload; `None` for one that measures a time, or is none of memory.
    pub(crate) fn of(m: &Measurement) -> Option<Self> {
        Self::of_point(&m.workload, &m.params)
    }

    fn of_point(workload: &str, params: &Params) -> Option<Self> {
        let op = match workload.strip_prefix("memory.")? {
            "sweep" => params.text("op")?,
            name => name,
        };
        let (read, written) = match op {
            "read" | "seq_read" | "rand_read" | "numa_read" => (1.0, 0.0),
            "write" | "seq_write" | "rand_write" => (0.0, 1.0),
            "copy" | "scale" | "read_write" | "rand_read_write" => (1.0, 1.0),
            "add" | "triad" => (2.0, 1.0),
            _ => return None,
        };
        Some(Self { read, written })
    }

    /// Bytes counted for each byte of one stream.
    pub(crate) fn counted(self) -> f64 {
        self.read + self.written
    }
}

/// Parameters that say how large the data of a memory workload are.
pub(crate) const SIZES: [&str; 3] = ["array_size", "data_size", "working_set"];

/// Whether it is known which streams a point of a memory workload reads and writes: without them
/// it has no ceiling.
pub fn streams_are_known(workload: &str, params: &Params) -> bool {
    Streams::of_point(workload, params).is_some()
}

/// Bytes of the workload's largest array or region: what STREAM's rule of 4 times the
/// cache is held against. Over all threads.
pub(crate) fn array_bytes(m: &Measurement) -> Option<u64> {
    let set = |parameter: &str| m.params.int(parameter);
    match m.workload.as_str() {
        // Its set is that of each thread.
        "memory.sweep" => Some(set("working_set")?.saturating_mul(m.params.threads())),
        workload if workload.starts_with("memory.") => {
            SIZES.iter().find_map(|parameter| set(parameter))
        }
        _ => None,
    }
}

/// Bytes of all that the workload touches, over all threads.
pub(crate) fn touched_bytes(m: &Measurement) -> Option<u64> {
    let array = array_bytes(m)?;
    let arrays = match m.workload.as_str() {
        // All of its arrays are in the set.
        "memory.sweep" => 1,
        _ => Streams::of(m).map_or(1, |s| s.counted() as u64),
    };
    Some(array.saturating_mul(arrays))
}

/// Share of a line that one access of a random order uses: small blocks waste the rest.
pub(crate) fn line_share(m: &Measurement) -> f64 {
    let random = m.workload.starts_with("memory.rand_");
    let block = m.params.int("block_size").filter(|_| random);
    block.map_or(1.0, |b| (b as f64 / LINE).clamp(1.0 / LINE, 1.0))
}

/// Share of the data, 0 to 1, that the usable last-level cache could have held.
pub(crate) fn cache_share(host: &Host, bytes: u64) -> f64 {
    let cache = host.usable_cache().map(|c| c as f64 / bytes.max(1) as f64);
    cache.unwrap_or(HIDDEN_CACHE).min(1.0)
}

/// That share, where most of the data must come from memory.
///
/// # Errors
/// If the data's size is not known, or the cache could have given half of it.
pub(crate) fn from_memory(host: &Host, m: &Measurement) -> Result<f64, String> {
    let bytes = touched_bytes(m).ok_or("the size of the data is unknown")?;
    let share = cache_share(host, bytes);
    if share >= MOSTLY_CACHE {
        return Err("the last-level cache could hold half of the data or more".to_owned());
    }
    Ok(share)
}

/// The data cache of a level, as the first CPU sees it.
pub(crate) fn cache_at(host: &Host, level: u32) -> Option<&Cache> {
    let caches = host.cpu.caches.get()?;
    caches.iter().find(|c| c.level == level && c.kind != CacheKind::Instruction)
}

/// First-level data cache in bytes, as reported, but not less than [`LARGEST_L1`].
pub(crate) fn l1_at_most(host: &Host) -> u64 {
    cache_at(host, 1).map_or(LARGEST_L1, |c| c.size_bytes.max(LARGEST_L1))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{blocks, host_with_caches, latency, stream, sweep};

    #[test]
    fn streams_are_counted_as_stream_does() {
        let of = |m: &Measurement| Streams::of(m).map(|s| (s.read, s.written));
        assert_eq!(of(&stream("triad", 1)), Some((2.0, 1.0)));
        assert_eq!(of(&stream("write", 1)), Some((0.0, 1.0)));
        assert_eq!(of(&sweep("copy", 1, 1 << 20)), Some((1.0, 1.0)));
        assert_eq!(of(&blocks("rand_read", 8)), Some((1.0, 0.0)));
        assert_eq!(of(&latency(1 << 20, 1e-8)), None);
        assert_eq!(of(&crate::testing::flops(1)), None);
    }

    #[test]
    fn sizes_are_over_all_threads() {
        assert_eq!(touched_bytes(&sweep("copy", 2, 1 << 20)), Some(2 << 20));
        assert_eq!(touched_bytes(&stream("triad", 2)), Some(3 << 30));
        assert_eq!(array_bytes(&stream("triad", 2)), Some(1 << 30));
        assert_eq!(touched_bytes(&blocks("read_write", 8192)), Some(2 << 30));
        assert_eq!(touched_bytes(&latency(1 << 20, 1e-8)), Some(1 << 20));
        assert_eq!(touched_bytes(&crate::testing::flops(1)), None);
    }

    #[test]
    fn small_random_blocks_waste_a_line() {
        assert_eq!(line_share(&blocks("rand_read", 8)), 0.125);
        assert_eq!(line_share(&blocks("rand_read", 8192)), 1.0);
        assert_eq!(line_share(&blocks("seq_read", 8)), 1.0);
    }

    #[test]
    fn the_cache_gives_its_share() {
        let h = host_with_caches();
        assert_eq!(cache_share(&h, 128 << 20), 0.25);
        assert_eq!(cache_share(&h, 1 << 20), 1.0);
        assert_eq!(cache_share(&crate::testing::host(), 1 << 30), HIDDEN_CACHE);
        assert!(from_memory(&h, &sweep("read", 1, 48 << 20)).is_err());
        assert_eq!(from_memory(&h, &sweep("read", 1, 320 << 20)), Ok(0.1));
        assert_eq!(cache_at(&h, 2).map(|c| c.size_bytes), Some(2 << 20));
        assert_eq!(l1_at_most(&h), LARGEST_L1);
    }
}
