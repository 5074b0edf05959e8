//! What of the machine a run may use.

use super::*;

const MIB: u64 = 1 << 20;
const GIB: u64 = 1 << 30;

fn unknown<T>() -> Probe<T> {
    Probe::missing("test")
}

fn known<T>(value: T) -> Probe<T> {
    Probe::known(value, "test")
}

/// A machine of which nothing is known but its CPUs.
fn host(usable_cpus: &[u32]) -> Host {
    let mut host = Host::unknown("test");
    host.limits.usable_cpus = usable_cpus.to_vec();
    host.limits.usable_cores = 1;
    host
}

/// What may be filled of so many bytes.
fn less_own(bytes: u64) -> u64 {
    bytes / 8 * 7 - OWN_MEMORY
}

#[test]
fn memory_is_what_is_available_or_else_all() {
    let mut host = host(&[0]);
    assert_eq!(host.usable_memory(), u64::MAX, "nothing is known, so nothing is refused");
    host.memory.total_bytes = known(16 * GIB);
    assert_eq!(host.usable_memory(), less_own(16 * GIB));
    host.memory.available_bytes = known(8 * GIB);
    assert_eq!(host.usable_memory(), less_own(8 * GIB));
    host.memory.available_bytes = known(OWN_MEMORY);
    assert_eq!(host.usable_memory(), 0);
}

#[test]
fn a_limit_counts_where_it_leaves_less_than_is_available() {
    let mut host = host(&[0]);
    host.memory.available_bytes = known(8 * GIB);
    host.limits.memory_bytes = known(None);
    host.limits.memory_used_bytes = known(GIB);
    assert_eq!(host.usable_memory(), less_own(8 * GIB), "used memory counts against a limit only");
    host.limits.memory_bytes = known(Some(4 * GIB));
    assert_eq!(host.usable_memory(), less_own(3 * GIB));
    host.limits.memory_used_bytes = unknown();
    assert_eq!(host.usable_memory(), less_own(4 * GIB));
    host.limits.memory_bytes = known(Some(64 * GIB));
    assert_eq!(host.usable_memory(), less_own(8 * GIB));
    host.limits.memory_bytes = known(Some(2 * GIB));
    host.limits.memory_used_bytes = known(5 * GIB);
    assert_eq!(host.usable_memory(), 0, "a limit set below what is held");
    host.memory.available_bytes = unknown();
    host.limits.memory_used_bytes = known(GIB);
    assert_eq!(host.usable_memory(), less_own(GIB), "the limit is all that is known");
}

fn cache(level: u32, kind: CacheKind, size_bytes: u64, instances: u32, shared: &[u32]) -> Cache {
    Cache {
        level,
        kind,
        size_bytes,
        line_bytes: Some(64),
        ways: None,
        shared_by: shared.to_vec(),
        instances,
    }
}

/// Bytes that these CPUs reach where the last-level cache has so many instances of
/// 32 MiB and CPU 0 shares its own with those in `shared`.
fn reached(usable: &[u32], instances: u32, shared: &[u32]) -> Option<u64> {
    let mut host = host(usable);
    host.cpu.caches = known(vec![
        cache(1, CacheKind::Data, 32 << 10, 8, &[0]),
        cache(1, CacheKind::Instruction, 64 << 10, 8, &[0]),
        cache(3, CacheKind::Unified, 32 * MIB, instances, shared),
        cache(2, CacheKind::Unified, 2 * MIB, 8, &[0]),
    ]);
    host.usable_cache().map(|bytes| bytes / MIB)
}

#[test]
fn the_last_level_counts_once_for_those_who_share_it() {
    assert_eq!(reached(&[0], 1, &[0, 1, 2, 3]), Some(32));
    assert_eq!(reached(&[0, 1, 2, 3], 1, &[0, 1, 2, 3]), Some(32));
}

#[test]
fn of_two_instances_those_count_that_usable_cpus_sit_on() {
    let first = [0, 1, 2, 3];
    assert_eq!(reached(&[1, 3], 2, &first), Some(32), "the first only");
    assert_eq!(reached(&[4, 5, 6], 2, &first), Some(32), "the second only");
    assert_eq!(reached(&[0, 4, 5, 6], 2, &first), Some(64), "both");
}

#[test]
fn of_many_instances_each_cpu_elsewhere_may_have_its_own() {
    let first = [0, 1];
    assert_eq!(reached(&[0, 2, 5], 8, &first), Some(3 * 32));
    assert_eq!(reached(&[2, 5], 8, &first), Some(2 * 32));
    assert_eq!(reached(&(0..16).collect::<Vec<_>>(), 8, &first), Some(8 * 32));
    assert_eq!(reached(&(2..16).collect::<Vec<_>>(), 8, &first), Some(7 * 32));
}

#[test]
fn a_cache_that_tells_little_counts_at_least_once() {
    assert_eq!(reached(&[], 2, &[0]), Some(32), "no CPU is known");
    assert_eq!(reached(&[0], 0, &[0]), Some(32), "no instance counted");
    assert_eq!(reached(&[4], 1, &[0]), Some(32), "the one there is");
    assert_eq!(reached(&[0, 1], 2, &[]), Some(64), "nobody tells who shares it");
}

#[test]
fn without_a_data_cache_there_is_no_answer() {
    let mut host = host(&[0]);
    assert_eq!(host.usable_cache(), None);
    host.cpu.caches = known(vec![cache(1, CacheKind::Instruction, MIB, 1, &[0])]);
    assert_eq!(host.usable_cache(), None);
    host.cpu.caches = known(vec![cache(3, CacheKind::Unified, u64::MAX, 2, &[1])]);
    host.limits.usable_cpus = vec![1, 2];
    assert_eq!(host.usable_cache(), Some(u64::MAX), "a broken size does not wrap around");
}
