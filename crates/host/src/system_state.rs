//! Limits of this process, and counters that show when one was reached. Both are read before and
//! after work that a limit may end, so each read takes only a few small files.
//!
//! Sources: getrlimit(2), proc_sys_kernel(5), proc_vmstat(5), Linux
//! `Documentation/admin-guide/cgroup-v2.rst`, `cgroup-v1/pids.rst` and `cgroup-v1/memory.rst`.

use proofmark_model::{CgroupLimit, SystemState};
use rustix::process::{Resource, Rlimit, getrlimit};

use crate::cgroup::{self, Hierarchy, Version};
use crate::limits::{bytes_of_limit, counter, tightest};
use crate::memory::{MEMINFO, meminfo};
use crate::root::{Root, below};

/// Files that every system has and that programs and random numbers need.
const NEEDED: [&str; 3] = ["/dev/null", "/dev/urandom", "/proc/self"];

/// Reads the limits of this process in about 0.1 ms. Never fails: an unreadable limit counts as
/// none, for example when no more files can be opened.
pub fn system_state(root: &Root) -> SystemState {
    let limit = |resource| getrlimit(resource).current;
    let vmstat = root.read("/proc/vmstat").unwrap_or_default();
    SystemState {
        open_files: limit(Resource::Nofile),
        file_size: limit(Resource::Fsize),
        processes: limit(Resource::Nproc).filter(|_| !is_unlimited_root(root)),
        stack: limit(Resource::Stack),
        address_space: limit(Resource::As),
        data: limit(Resource::Data),
        cpu_s: cpu_seconds(getrlimit(Resource::Cpu)),
        cgroup_processes: processes(root),
        cgroup_memory: memory(root),
        system_processes: root.number("/proc/sys/kernel/threads-max").ok(),
        system_open_files: root.number("/proc/sys/fs/file-max").ok(),
        system_oom_kills: counter(&vmstat, "oom_kill"),
        memory: meminfo(&root.read(MEMINFO), "MemTotal").ok(),
        missing: NEEDED.iter().filter(|f| !root.exists(f)).map(|f| (*f).to_owned()).collect(),
    }
}

/// Returns the user's limit of CPU time. If the soft and the hard limit were equal, proofmark
/// lowered its soft one by a second, to be warned before it is killed.
fn cpu_seconds(limit: Rlimit) -> Option<u64> {
    let lowered = |soft: &u64| limit.maximum.is_some_and(|hard| hard == soft + 1);
    limit.current.map(|soft| if lowered(&soft) { soft + 1 } else { soft })
}

/// True if the kernel exempts this user from the limit of processes: root outside of any user
/// namespace (Linux `kernel/fork.c`).
fn is_unlimited_root(root: &Root) -> bool {
    let map = root.line("/proc/self/uid_map").unwrap_or_default();
    let whole = map.split_whitespace().eq(["0", "0", "4294967295"]);
    rustix::process::geteuid().is_root() && whole
}

/// Returns the process limit that leaves the least room, in a cgroup and its parents, and all hits.
fn processes(root: &Root) -> CgroupLimit {
    let Ok(hierarchy) = cgroup::find_hierarchy(root, "pids") else { return CgroupLimit::default() };
    let used = |folder: &str| root.number(&below(folder, "pids.current")).ok();
    let least = least_room(root, &hierarchy, "pids.max", used);
    let hits = |folder: &String| {
        let events = root.read(&below(folder, "pids.events")).ok()?;
        counter(&events, "max")
    };
    CgroupLimit { hits: hierarchy.folders.iter().filter_map(hits).reduce(|a, b| a + b), ..least }
}

fn memory(root: &Root) -> CgroupLimit {
    let Ok(hierarchy) = cgroup::find_hierarchy(root, "memory") else {
        return CgroupLimit::default();
    };
    let (limit, used) = match hierarchy.version {
        Version::V1 => ("memory.limit_in_bytes", "memory.usage_in_bytes"),
        Version::V2 => ("memory.max", "memory.current"),
    };
    let used = |folder: &str| root.number(&below(folder, used)).ok();
    let least = least_room(root, &hierarchy, limit, used);
    let count = |folder: &String, file: &str, name: &str| {
        counter(&root.read(&below(folder, file)).ok()?, name)
    };
    let hits = match hierarchy.version {
        // v1 counts every killed process of the group, for any limit.
        Version::V1 => {
            hierarchy.folders.first().and_then(|own| count(own, "memory.oom_control", "oom_kill"))
        }
        // v2 counts in each group the hits of its own limit.
        Version::V2 => {
            let hits_of = |folder| count(folder, "memory.events", "oom");
            hierarchy.folders.iter().filter_map(hits_of).reduce(|a, b| a + b)
        }
    };
    CgroupLimit { hits, ..least }
}

/// Returns the set limit that leaves the least room.
fn least_room(
    root: &Root,
    hierarchy: &Hierarchy,
    file: &str,
    used: impl Fn(&str) -> Option<u64>,
) -> CgroupLimit {
    let room = |l: &CgroupLimit| l.limit.unwrap_or(u64::MAX).saturating_sub(l.used.unwrap_or(0));
    let found = tightest(root, hierarchy, file, room, |folder, path| {
        let limit = root.line(path).ok().and_then(|line| bytes_of_limit(path, &line).ok()?);
        Ok(limit.map(|limit| CgroupLimit {
            limit: Some(limit),
            used: used(folder),
            file: path.to_owned(),
            ..CgroupLimit::default()
        }))
    });
    found.ok().and_then(|(limit, _)| limit).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limits::tests::{V1, V2, machine};

    #[test]
    fn the_cgroup_that_leaves_the_least_is_named_and_all_refusals_count() {
        let m = machine("0::/a/b\n", V2);
        let own = "/sys/fs/cgroup/a/b";
        m.put(&format!("{own}/pids.max"), "50\n").put(&format!("{own}/pids.current"), "3\n");
        m.put(&format!("{own}/pids.events"), "max 2\n");
        let above = "/sys/fs/cgroup/a";
        m.put(&format!("{above}/pids.max"), "10\n").put(&format!("{above}/pids.current"), "9\n");
        m.put(&format!("{above}/pids.events"), "max 5\n");
        m.put(&format!("{own}/memory.max"), "max\n");
        m.put(&format!("{own}/memory.events"), "low 0\noom 4\noom_kill 3\n");
        m.put(&format!("{above}/memory.max"), "4096\n");
        m.put(&format!("{above}/memory.events"), "oom 5\noom_kill 9\n");
        let state = system_state(&m.root());
        let file = format!("{above}/pids.max");
        let expected = CgroupLimit { limit: Some(10), used: Some(9), hits: Some(7), file };
        assert_eq!(state.cgroup_processes, expected);
        let file = format!("{above}/memory.max");
        // The number of hits of a limit, not of killed processes.
        let expected = CgroupLimit { limit: Some(4096), used: None, hits: Some(9), file };
        assert_eq!(state.cgroup_memory, expected);
    }

    #[test]
    fn v1_has_its_own_files_and_no_limit_is_none() {
        let m = machine("4:memory:/x\n8:pids:/\n", V1);
        m.put("/sys/fs/cgroup/memory/x/memory.limit_in_bytes", "9223372036854771712\n");
        let control = "oom_kill_disable 0\nunder_oom 0\noom_kill 6\n";
        m.put("/sys/fs/cgroup/memory/x/memory.oom_control", control);
        let memory = system_state(&m.root()).cgroup_memory;
        assert_eq!((memory.limit, memory.hits), (None, Some(6)));
        m.put("/proc/vmstat", "nr_free_pages 3\noom_kill 12\n");
        m.put("/proc/meminfo", "MemTotal:       1024 kB\nMemFree: 1 kB\n").put("/dev/null", "");
        let state = system_state(&m.root());
        assert_eq!((state.system_oom_kills, state.memory), (Some(12), Some(1 << 20)));
        assert!(!state.missing.contains(&"/dev/null".to_owned()), "{:?}", state.missing);
        assert!(state.missing.contains(&"/dev/urandom".to_owned()));
    }
}
