//! Limits of memory, cache and disk that a run derives from the machine.

use super::usable::{OWN_MEMORY, installed};
use super::*;
use crate::{format_size, testing};

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

/// Returns the part of so many bytes that may be filled.
fn less_own(bytes: u64) -> u64 {
    (bytes / 8 * 7).saturating_sub(OWN_MEMORY)
}

#[test]
fn memory_is_what_is_available_and_what_a_limit_leaves() {
    let all = |gib| known(gib * GIB);
    // In GiB: the machine's total, what is available, a limit, what counts against it already.
    for (total, available, limit, used, expected, why) in [
        (None, None, None, None, None, "nothing is known, so nothing is refused"),
        (Some(16), None, None, None, Some(16), "of the total"),
        (Some(16), Some(8), None, None, Some(8), "of what is available"),
        (None, Some(8), Some(None), Some(1), Some(8), "used memory counts against a limit only"),
        (None, Some(8), Some(Some(4)), Some(1), Some(3), "what the limit leaves"),
        (None, Some(8), Some(Some(4)), None, Some(4), "an unknown part of it is used"),
        (None, Some(8), Some(Some(64)), None, Some(8), "a limit that leaves more"),
        (None, Some(8), Some(Some(2)), Some(5), Some(0), "a limit set below what is held"),
        (None, None, Some(Some(2)), Some(1), Some(1), "the limit is all that is known"),
    ] {
        let mut host = host(&[0]);
        host.memory.total_bytes = total.map_or(unknown(), all);
        host.memory.available_bytes = available.map_or(unknown(), all);
        host.limits.memory_bytes =
            limit.map_or(unknown(), |gib: Option<u64>| known(gib.map(|gib| gib * GIB)));
        host.limits.memory_used_bytes = used.map_or(unknown(), all);
        let usable = expected.map_or(u64::MAX, |gib: u64| less_own(gib * GIB));
        assert_eq!(host.usable_memory(), usable, "{why}");
    }
}

fn cache(level: u32, kind: CacheKind, size_bytes: u64, instances: u32, shared: &[u32]) -> Cache {
    Cache { kind, ..testing::cache(level, size_bytes, shared, instances) }
}

/// Returns the bytes that these CPUs reach. The last-level cache has so many instances of 32 MiB,
/// and CPU 0 shares its own with those in `shared`.
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
fn each_instance_of_the_last_level_that_usable_cpus_reach_counts_once() {
    let (four, two) = (&[0, 1, 2, 3][..], &[0, 1][..]);
    let (all, but_two) = (&Vec::from_iter(0..16)[..], &Vec::from_iter(2..16)[..]);
    // The usable CPUs, how many instances there are, who shares the first, and those reached.
    for (usable, instances, shared, expected, why) in [
        (&[0][..], 1, four, 1, "one CPU of those who share it"),
        (four, 1, four, 1, "all who share it"),
        (&[1, 3], 2, four, 1, "of two the first only"),
        (&[4, 5, 6], 2, four, 1, "of two the second only"),
        (&[0, 4, 5, 6], 2, four, 2, "both"),
        (&[0, 2, 5], 8, two, 3, "each CPU elsewhere may have its own"),
        (&[2, 5], 8, two, 2, "none on the first"),
        (all, 8, two, 8, "no more than there are"),
        (but_two, 8, two, 7, "all but the first"),
        (&[], 2, &[0], 1, "no CPU is known"),
        (&[0], 0, &[0], 1, "no instance counted"),
        (&[4], 1, &[0], 1, "the one there is"),
        (&[0, 1], 2, &[], 2, "nobody reports who shares it"),
    ] {
        assert_eq!(reached(usable, instances, shared), Some(expected * 32), "{why}");
    }
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

#[test]
fn what_a_kernel_keeps_for_itself_makes_no_other_machine() {
    let gib = |n: f64| installed((n * (1_u64 << 30) as f64) as u64);
    for (seen, of_kind) in [(15.42, 16.0), (15.61, 16.0), (62.4, 64.0), (3.82, 4.0), (1.0, 1.0)] {
        assert_eq!(gib(seen), gib(of_kind), "{seen}");
    }
    assert_ne!(gib(47.0), gib(62.5));
    assert_ne!(gib(31.0), gib(62.5));
    assert_eq!(installed(0), 0);
    assert!(installed(u64::MAX) > 1 << 60);
    assert_eq!(format_size(gib(15.5)), "16 GiB");
    let reported = |kib: u64| format_size(installed(kib * 1024));
    assert_eq!([2_014_156, 1_987_312].map(reported), ["2 GiB", "2 GiB"]);
    assert_eq!([16_375_800, 16_300_004].map(reported), ["16 GiB", "16 GiB"]);
}

#[test]
fn a_machine_is_virtual_unless_it_says_none() {
    let of = |name: Option<&str>| {
        let mut host = Host::unknown("test");
        if let Some(name) = name {
            host.os.virtualisation = Probe::known(name.to_owned(), "test");
        }
        (host.is_virtual(), host.hypervisor().map(str::to_owned))
    };
    assert_eq!(of(None), (None, None));
    assert_eq!(of(Some("none")), (Some(false), None));
    assert_eq!(of(Some("kvm")), (Some(true), Some("kvm".to_owned())));
}
