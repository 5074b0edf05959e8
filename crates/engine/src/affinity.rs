//! The CPUs that threads may run on.

use rustix::thread::{CpuSet, Pid, sched_getaffinity, sched_setaffinity};

/// CPUs that this thread may use, or the calling one; `None` where that is not told.
pub fn usable_cpus(thread: Option<Pid>) -> Option<Vec<u32>> {
    let set = sched_getaffinity(thread).ok()?;
    let cpus: Vec<u32> =
        (0..CpuSet::MAX_CPU).filter(|cpu| set.is_set(*cpu)).map(|cpu| cpu as u32).collect();
    (!cpus.is_empty()).then_some(cpus)
}

/// Pins the calling thread. Where that is not allowed it runs unpinned, and
/// migrations are counted.
pub fn pin(cpu: u32) {
    let mut set = CpuSet::new();
    set.set(cpu as usize);
    let _ = sched_setaffinity(None, &set);
}
