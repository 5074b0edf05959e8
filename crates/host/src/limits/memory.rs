//! Memory limit that leaves the least room, and the memory that its cgroup already holds.
//!
//! The held memory is the sum of the parts that count against the limit and that the kernel cannot
//! reclaim. Page cache and reclaimable slabs are left out. Shared memory and tmpfs count, though
//! the kernel lists them with the cache.
//!
//! Sources: Linux `Documentation/admin-guide/cgroup-v2.rst` (memory.max, memory.stat) and
//! `admin-guide/cgroup-v1/memory.rst` (memory.limit_in_bytes, memory.stat,
//! memory.kmem.usage_in_bytes).

use super::tightest;
use crate::cgroup::{self, Version};
use crate::root::{Reason, Root, below, fault};

/// Threshold of "no limit". cgroup v1 writes it as the largest multiple of the page size in 63
/// bits; no machine has this much.
const UNLIMITED: u64 = 1 << 62;

/// Value and the file that it was read from, or why it is unknown.
type Found<T> = Result<(T, String), Reason>;

struct Limit {
    bytes: u64,
    used: Found<u64>,
}

impl Limit {
    /// Returns the room that the limit leaves; the tightest limit leaves the least.
    fn room(&self) -> u64 {
        self.bytes.saturating_sub(self.used.as_ref().map_or(0, |(bytes, _)| *bytes))
    }
}

/// Detects the limit in bytes (`None` for no limit), and the bytes that its cgroup holds and cannot
/// reclaim.
pub(super) fn detect(root: &Root) -> (Found<Option<u64>>, Found<u64>) {
    match limit(root) {
        Ok((Some(limit), path)) => (Ok((Some(limit.bytes), path)), limit.used),
        Ok((None, why)) => {
            let none = format!("no limit to compare with: {why}");
            (Ok((None, why)), Err(none))
        }
        Err(reason) => (Err(reason.clone()), Err(reason)),
    }
}

fn limit(root: &Root) -> Found<Option<Limit>> {
    let hierarchy = cgroup::find_hierarchy(root, "memory")?;
    let file = match hierarchy.version {
        Version::V1 => "memory.limit_in_bytes",
        Version::V2 => "memory.max",
    };
    tightest(root, &hierarchy, file, Limit::room, |folder, path| {
        let used = || match hierarchy.version {
            Version::V1 => used_v1(root, folder),
            Version::V2 => used_v2(root, folder),
        };
        let bytes = bytes(path, &root.line(path)?)?;
        Ok(bytes.map(|bytes| Limit { bytes, used: used() }))
    })
}

/// Parses a limit in bytes; `None` for no limit.
pub(crate) fn bytes(path: &str, line: &str) -> Result<Option<u64>, Reason> {
    match line.parse::<u64>() {
        _ if line == "max" => Ok(None),
        Ok(limit) => Ok(Some(limit).filter(|&l| l < UNLIMITED)),
        Err(_) => Err(fault(path, format!("invalid limit '{line}'"))),
    }
}

/// Returns the memory held by a cgroup v2 and its descendants.
fn used_v2(root: &Root, folder: &str) -> Found<u64> {
    let path = below(folder, "memory.stat");
    let stat = root.read(&path)?;
    let held = held_v2(&stat).ok_or_else(|| fault(&path, "has no anon"))?;
    Ok((held, path))
}

/// Sums the held bytes of a v2 `memory.stat`. Lines that this kernel lacks count as 0, except for
/// `anon`.
fn held_v2(stat: &str) -> Option<u64> {
    let bytes_of = |key: &str| counter(stat, key).unwrap_or(0);
    let all = |keys: &[&str]| keys.iter().map(|key| bytes_of(key)).fold(0, u64::saturating_add);
    // Since Linux 5.18, one line has all memory of the kernel.
    let kernel = match counter(stat, "kernel") {
        Some(kernel) => kernel.saturating_sub(bytes_of("slab_reclaimable")),
        None => all(&["kernel_stack", "pagetables", "percpu", "vmalloc", "slab_unreclaimable"]),
    };
    let processes = counter(stat, "anon")?.saturating_add(all(&["shmem", "sock", "hugetlb"]));
    Some(processes.saturating_add(kernel))
}

/// Returns the memory held by a cgroup v1 and, if they count against its limit, its descendants.
fn used_v1(root: &Root, folder: &str) -> Found<u64> {
    let path = below(folder, "memory.stat");
    let stat = root.read(&path)?;
    let rss = counter(&stat, "total_rss").ok_or_else(|| fault(&path, "has no total_rss"))?;
    let shmem = counter(&stat, "total_shmem").unwrap_or(0);
    // v1 does not report which slabs are reclaimable, so all count. Some kernels count none.
    let kernel = root.number(&below(folder, "memory.kmem.usage_in_bytes")).unwrap_or(0);
    Ok((rss.saturating_add(shmem).saturating_add(kernel), path))
}

/// Returns the number in the line `key number`.
pub(crate) fn counter(stat: &str, key: &str) -> Option<u64> {
    stat.lines().find_map(|line| {
        let (name, number) = line.split_once(' ')?;
        (name == key).then(|| number.trim().parse().ok())?
    })
}

#[cfg(test)]
mod tests {
    use super::super::tests::{V1, V2, machine};
    use super::*;
    use crate::testing::Machine;

    /// Statistics of a process with 100 bytes and 7000 of cache, as Linux 6 writes them.
    const STAT_V2: &str = "anon 100\nfile 7020\nkernel 3050\nkernel_stack 10\npagetables 5\n\
        sec_pagetables 0\npercpu 4\nsock 2\nvmalloc 1\nshmem 20\nfile_mapped 7\nanon_thp 64\n\
        inactive_anon 120\nactive_file 7000\nslab_reclaimable 3000\nslab_unreclaimable 30\n\
        slab 3030\nhugetlb 0\n";

    fn found(m: &Machine) -> (Option<u64>, Result<u64, String>) {
        let (limit, used) = detect(&m.root());
        let used = used.map(|(bytes, _)| bytes);
        (limit.ok().and_then(|(limit, _)| limit), used)
    }

    #[test]
    fn cache_and_slabs_that_shrink_are_not_held() {
        assert_eq!(held_v2(STAT_V2), Some(100 + 20 + 2 + 50));
        let before_5_18 = STAT_V2.replace("kernel 3050\n", "");
        assert_eq!(held_v2(&before_5_18), Some(100 + 20 + 2 + 10 + 5 + 4 + 1 + 30));
        assert_eq!(held_v2("anon 1\n"), Some(1));
        assert_eq!(held_v2("anon_thp 1\nkernel 5\n"), None);
    }

    #[test]
    fn the_limit_that_leaves_the_least_room_counts_with_what_is_used_of_it() {
        // Limits and statistics of a cgroup and its parent.
        for (own, above, expected, why) in [
            (["max", "anon 1"], ["4096", STAT_V2], (4096, 172), "no limit below"),
            (
                ["1000", "anon 100"],
                ["4000", "anon 3000"],
                (1000, 100),
                "900 left below, 1000 above",
            ),
            // Others in the same slice hold most of its limit.
            (["1000", "anon 100"], ["4000", "anon 3500"], (4000, 3500), "500 left above"),
            (["1000", "anon 100"], ["4000", "anon 3100"], (1000, 100), "of equals the nearest"),
        ] {
            let m = machine("0::/a/b\n", V2);
            for (folder, [limit, stat]) in [("a/b", own), ("a", above)] {
                m.put(&format!("/sys/fs/cgroup/{folder}/memory.max"), format!("{limit}\n"));
                m.put(&format!("/sys/fs/cgroup/{folder}/memory.stat"), format!("{stat}\n"));
            }
            assert_eq!(found(&m), (Some(expected.0), Ok(expected.1)), "{why}");
        }
    }

    #[test]
    fn v1_counts_what_is_below_and_the_kernels_own() {
        let m = machine("4:memory:/x\n", V1);
        m.put("/sys/fs/cgroup/memory/x/memory.limit_in_bytes", "4096\n").put(
            "/sys/fs/cgroup/memory/x/memory.stat",
            "cache 900\nrss 1\nshmem 1\ntotal_cache 1000\ntotal_rss 500\ntotal_rss_huge 400\n\
             total_shmem 30\ntotal_inactive_file 970\n",
        );
        assert_eq!(found(&m).1, Ok(530), "a kernel that keeps no account of its own memory");
        m.put("/sys/fs/cgroup/memory/x/memory.kmem.usage_in_bytes", "70\n");
        assert_eq!(found(&m), (Some(4096), Ok(600)));
    }

    #[test]
    fn without_a_limit_or_an_account_there_is_a_reason() {
        for (mounts, limit, stat, expected, reason) in [
            (V2, "max\n", STAT_V2, None, "no limit to compare with: no memory.max from"),
            (V2, "9\n", "file 1\n", Some(9), "/sys/fs/cgroup/a/memory.stat: has no anon"),
            ("", "9\n", "", None, "no cgroup file system is mounted"),
        ] {
            let m = machine("0::/a\n", mounts);
            m.put("/sys/fs/cgroup/a/memory.max", limit);
            m.put("/sys/fs/cgroup/a/memory.stat", stat);
            let (limit, used) = found(&m);
            assert!(
                limit == expected && used.as_ref().unwrap_err().starts_with(reason),
                "{used:?}"
            );
        }
    }
}
