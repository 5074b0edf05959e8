//! Caches of the first online CPU, the CPUs that share each, and the number of instances. Read from
//! /sys/devices/system/cpu/cpu*/cache.
//!
//! Source: Linux `Documentation/ABI/testing/sysfs-devices-system-cpu`.

use std::collections::BTreeSet;

use proofmark_model::{Cache, CacheKind, Probe};

use crate::microarchitecture::CacheSizes;
use crate::root::{Reason, Root, fault, probe};
use crate::text::cache_size;
use crate::topology::CPUS;

const MAX_CACHES: u32 = 16;

pub(crate) fn detect(root: &Root, online: &Probe<Vec<u32>>) -> Probe<Vec<Cache>> {
    let Some(cpus) = online.get() else {
        return Probe::missing(format!("the online CPUs are not known: {}", online.origin()));
    };
    let Some(&first) = cpus.first() else {
        return Probe::missing("no CPU is online");
    };
    probe(caches(root, first, cpus), format!("{CPUS}/cpu{first}/cache"))
}

fn caches(root: &Root, first: u32, online: &[u32]) -> Result<Vec<Cache>, Reason> {
    let mut caches = Vec::new();
    for index in 0..MAX_CACHES {
        let folder = format!("{CPUS}/cpu{first}/cache/index{index}");
        if !root.exists(&folder) {
            break;
        }
        let shared = sharers(root, first, index, online)?;
        let kind = match root.line(&format!("{folder}/type"))?.as_str() {
            "Data" => CacheKind::Data,
            "Instruction" => CacheKind::Instruction,
            "Unified" => CacheKind::Unified,
            other => return Err(fault(&folder, format!("unknown type of cache '{other}'"))),
        };
        let size = root.line(&format!("{folder}/size"))?;
        let size_bytes = cache_size(&size)
            .filter(|&bytes| bytes > 0)
            .ok_or_else(|| fault(&folder, format!("invalid size '{size}'")))?;
        let positive =
            |name: &str| root.number(&format!("{folder}/{name}")).ok().filter(|&n: &u32| n > 0);
        caches.push(Cache {
            level: root.number(&format!("{folder}/level"))?,
            kind,
            size_bytes,
            line_bytes: positive("coherency_line_size"),
            ways: positive("ways_of_associativity"),
            instances: instances(root, index, online, &shared),
            shared_by: shared,
        });
    }
    if caches.is_empty() {
        return Err(fault(&format!("{CPUS}/cpu{first}/cache"), "the kernel lists no cache"));
    }
    Ok(caches)
}

fn sharers(root: &Root, cpu: u32, index: u32, online: &[u32]) -> Result<Vec<u32>, Reason> {
    let list = root.cpus(&format!("{CPUS}/cpu{cpu}/cache/index{index}/shared_cpu_list"))?;
    Ok(list.into_iter().filter(|c| online.binary_search(c).is_ok()).collect())
}

/// Counts the instances of a cache over the online CPUs. Skips CPUs of a counted instance and CPUs
/// that report nothing.
fn instances(root: &Root, index: u32, online: &[u32], first: &[u32]) -> u32 {
    let mut covered: BTreeSet<u32> = first.iter().copied().collect();
    let mut found = 1;
    for &cpu in online {
        if covered.contains(&cpu) || Some(&cpu) == online.first() {
            continue;
        }
        if let Ok(shared) = sharers(root, cpu, index, online) {
            covered.extend(shared);
            found += 1;
        }
    }
    found
}

/// Returns the cache sizes that distinguish core designs.
pub(crate) fn sizes(caches: &Probe<Vec<Cache>>) -> CacheSizes {
    let size = |level: u32, kinds: &[CacheKind]| {
        let list = caches.get()?;
        list.iter().find(|c| c.level == level && kinds.contains(&c.kind)).map(|c| c.size_bytes)
    };
    CacheSizes {
        l1d: size(1, &[CacheKind::Data]),
        l1i: size(1, &[CacheKind::Instruction]),
        l2: size(2, &[CacheKind::Unified, CacheKind::Data]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Machine;

    const L2: &[(&str, &str)] = &[
        ("/sys/devices/system/cpu/cpu0/cache/index0/type", "Unified\n"),
        ("/sys/devices/system/cpu/cpu0/cache/index0/level", "2\n"),
        ("/sys/devices/system/cpu/cpu0/cache/index0/size", "1280K\n"),
        ("/sys/devices/system/cpu/cpu0/cache/index0/shared_cpu_list", "0,4\n"),
        ("/sys/devices/system/cpu/cpu1/cache/index0/shared_cpu_list", "1,5\n"),
        ("/sys/devices/system/cpu/cpu4/cache/index0/shared_cpu_list", "0,4\n"),
    ];

    #[test]
    fn instances_are_counted_over_the_online_cpus() {
        let found = detect(&Machine::new(L2).root(), &Probe::known(vec![0, 1, 4], ""));
        let cache = &found.get().unwrap()[0];
        assert_eq!((cache.size_bytes, cache.instances), (1280 << 10, 2));
        assert_eq!(cache.shared_by, [0, 4], "CPU 5 is offline and belongs to the other");
        assert_eq!((cache.line_bytes, cache.ways), (None, None));
        assert_eq!(sizes(&found).l2, Some(1280 << 10));
        assert_eq!(sizes(&found).l1d, None);
    }

    #[test]
    fn what_is_missing_is_named() {
        let nothing = Machine::new(&[]).root();
        let found = detect(&nothing, &Probe::known(vec![0], ""));
        assert!(found.origin().contains("the kernel lists no cache"));
        let found = detect(&nothing, &Probe::missing("no file"));
        assert!(found.origin().ends_with("no file"));
        let mut broken = L2.to_vec();
        broken[2].1 = "0K\n";
        let broken = detect(&Machine::new(&broken).root(), &Probe::known(vec![0], ""));
        assert!(broken.origin().contains("invalid size '0K'"));
    }
}
