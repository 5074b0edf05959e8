//! The memory, cache and disk of the machine that a run may use.

use super::{Cache, CacheKind, Host, Memory};

impl Memory {
    /// Returns the bytes of memory of the machine, rounded up to the next quarter of a power of
    /// two: 16 GiB for 14 to 16. What firmware and kernel reserve differs between machines of one
    /// kind.
    pub fn installed_bytes(&self) -> Option<u64> {
        self.total_bytes.get().map(|bytes| installed(*bytes))
    }
}

pub(super) fn installed(bytes: u64) -> u64 {
    let step = (1_u64 << bytes.max(4).ilog2()) / 4;
    bytes.div_ceil(step).saturating_mul(step)
}

impl Host {
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
    /// A hypervisor may hide the shared one, and no server of the last ten years had less than
    /// 4 MiB of it.
    pub fn largest_cached(&self) -> u64 {
        self.usable_cache().unwrap_or(0).max(MIN_CACHE)
    }

    /// Returns the bytes of files that a run may create: half of what is free. `u64::MAX` where
    /// that is not known.
    pub fn usable_disk(&self) -> u64 {
        // A file system that reports no size, such as ramfs, reports no free space either.
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

const MIN_CACHE: u64 = 4 << 20;

/// Memory in bytes that a run needs for itself, apart from its data.
pub(super) const OWN_MEMORY: u64 = 48 << 20;
