//! Limits of this process: its affinity mask, its cpuset, and the tightest CPU quota and memory
//! limit of its cgroup and the parents. The usable CPUs follow.
//!
//! Sources: sched_setaffinity(2), cpuset(7), Linux `Documentation/scheduler/sched-bwc.rst` and
//! `admin-guide/cgroup-v2.rst`.

mod io;
mod memory;

pub(crate) use memory::{bytes as bytes_of_limit, counter};

use std::collections::{BTreeMap, BTreeSet};

use proofmark_model::{CpuQuota, Finding, Limits, LogicalCpu, Probe};

use crate::cgroup::{self, Hierarchy, Version};
use crate::findings::{USABLE_CPUS, note};
use crate::root::{Reason, Root, below, fault, probe_from};
use crate::text::{cpu_list, format_cpus};
use crate::topology::Topology;

/// Detects the limits; findings report doubts about the usable CPUs.
pub(crate) fn detect(root: &Root, topology: &Topology, findings: &mut Vec<Finding>) -> Limits {
    let affinity = probe_from(root.affinity());
    let cpuset = probe_from(cpuset(root));
    let (memory_limit, memory_used) = memory::detect(root);
    let usable = usable(&affinity, &cpuset, topology, findings);
    let usable_cores = match topology.cpus.get() {
        Some(places) => cores_among(&usable, places),
        None => u32::try_from(usable.len()).unwrap_or(u32::MAX),
    };
    Limits {
        affinity,
        cpuset,
        cpu_quota: probe_from(cpu_quota(root)),
        cgroups_to_top: cgroup::find_hierarchy(root, "cpu")
            .is_ok_and(|hierarchy| hierarchy.from_top),
        cpu_stat: cpu_stat(root),
        memory_bytes: probe_from(memory_limit),
        memory_used_bytes: probe_from(memory_used),
        io: io::detect(root),
        io_uring: root.io_uring(),
        pinning: root.pinning(),
        declared: BTreeMap::new(),
        usable_cpus: usable,
        usable_cores,
    }
}

/// Returns the CPUs of the nearest cgroup that lists them.
fn cpuset(root: &Root) -> Result<(Vec<u32>, String), Reason> {
    let hierarchy = cgroup::find_hierarchy(root, "cpuset")?;
    let names: &[&str] = match hierarchy.version {
        Version::V1 => &["cpuset.effective_cpus", "cpuset.cpus"],
        Version::V2 => &["cpuset.cpus.effective"],
    };
    for folder in &hierarchy.folders {
        for path in names.iter().map(|name| below(folder, name)) {
            let Ok(line) = root.line(&path) else { continue };
            let cpus = cpu_list(&line).map_err(|e| fault(&path, e))?;
            if !cpus.is_empty() {
                return Ok((cpus, path));
            }
        }
    }
    Err("no parent cgroup has a cpuset".to_owned())
}

/// Finds the limit with the smallest key among the folders and the file that sets it. `read`
/// returns the limit of a folder's file by its path; `None` for no limit.
pub(crate) fn tightest<T, K: PartialOrd>(
    root: &Root,
    hierarchy: &Hierarchy,
    file: &str,
    key: impl Fn(&T) -> K,
    read: impl Fn(&str, &str) -> Result<Option<T>, Reason>,
) -> Result<(Option<T>, String), Reason> {
    let mut least: Option<(T, String)> = None;
    for folder in &hierarchy.folders {
        let path = below(folder, file);
        if root.exists(&path)
            && let Some(limit) = read(folder, &path)?
            && least.as_ref().is_none_or(|(l, _)| key(&limit) < key(l))
        {
            least = Some((limit, path));
        }
    }
    let unseen =
        if hierarchy.from_top { "" } else { "; limits above this container are not visible" };
    Ok(match least {
        Some((limit, path)) => (Some(limit), format!("{path}{unseen}")),
        None => {
            let first = hierarchy.folders.first().map_or("", String::as_str);
            (None, format!("no {file} from {first} upwards sets one{unseen}"))
        }
    })
}

fn cpu_quota(root: &Root) -> Result<(CpuQuota, String), Reason> {
    let hierarchy = cgroup::find_hierarchy(root, "cpu")?;
    let (file, burst) = match hierarchy.version {
        Version::V1 => ("cpu.cfs_quota_us", "cpu.cfs_burst_us"),
        Version::V2 => ("cpu.max", "cpu.max.burst"),
    };
    let least = |quota: &CpuQuota| quota.cpus;
    let (quota, source) = tightest(root, &hierarchy, file, least, |folder, path| {
        let quota = match hierarchy.version {
            Version::V1 => {
                let period = root.number(&below(folder, "cpu.cfs_period_us"))?;
                CpuQuota::from_microseconds(root.number(path)?, period)
            }
            Version::V2 => CpuQuota::from_cpu_max(&root.line(path)?),
        };
        let quota = quota.map_err(|e| fault(path, e))?;
        // Since Linux 5.14.
        let burst = below(folder, burst);
        let saved_us = || root.number::<u64>(&burst).map(|us| us as f64 / 1e6);
        let burst_s = root.exists(&burst).then(saved_us).transpose()?;
        Ok(quota.map(|quota| CpuQuota { burst_s, ..quota }))
    })?;
    Ok((quota.unwrap_or_default(), source))
}

/// Returns the `cpu.stat` files of this process's cgroup and its parents, nearest first, as paths
/// of the machine, even of a captured one.
pub fn cpu_stat(root: &Root) -> Vec<String> {
    let folders = cgroup::find_hierarchy(root, "cpu").map(|p| p.folders).unwrap_or_default();
    let files = folders.iter().map(|folder| below(folder, "cpu.stat"));
    files.filter(|path| root.exists(path)).collect()
}

/// Returns the CPUs for pinning, in the order of use.
fn usable(
    affinity: &Probe<Vec<u32>>,
    cpuset: &Probe<Vec<u32>>,
    topology: &Topology,
    findings: &mut Vec<Finding>,
) -> Vec<u32> {
    let lists = [affinity.get(), cpuset.get(), topology.online.get()];
    let sets: Vec<&[u32]> = lists.into_iter().flatten().map(Vec::as_slice).collect();
    let places = topology.cpus.get().map_or(&[][..], Vec::as_slice);
    let Some((first, rest)) = sets.split_first() else {
        let why = "cannot read the affinity mask, the cpuset or the list of online CPUs";
        findings.push(doubt(why, &sets));
        return vec![0];
    };
    let in_all = |cpu: &u32| rest.iter().all(|set| set.contains(cpu));
    let common: Vec<u32> = first.iter().copied().filter(in_all).collect();
    if !common.is_empty() {
        return in_order(&common, places);
    }
    // Every process has a CPU, so one of the lists is stale; the mask is the most reliable.
    let why = "the affinity mask, the cpuset and the online CPUs have no CPU in common";
    findings.push(doubt(why, &sets));
    in_order(first, places)
}

fn doubt(message: &str, sets: &[&[u32]]) -> Finding {
    let lists: Vec<String> = sets.iter().map(|s| format_cpus(s)).collect();
    let advice = "The list of CPUs for pinning is a guess; check it with `taskset -p`.";
    note(&USABLE_CPUS, message, advice).with("lists", lists)
}

/// Orders one CPU of each physical core first, then the siblings, each by number.
fn in_order(cpus: &[u32], places: &[LogicalCpu]) -> Vec<u32> {
    let mut taken: BTreeSet<u32> = BTreeSet::new();
    let (mut first, mut siblings) = (Vec::new(), Vec::new());
    for &cpu in cpus {
        if taken.contains(&cpu) {
            siblings.push(cpu);
            continue;
        }
        first.push(cpu);
        let hierarchy = places.iter().find(|p| p.cpu == cpu);
        taken.extend(hierarchy.iter().flat_map(|p| p.siblings.iter()));
    }
    first.extend(siblings);
    first
}

/// Counts the physical cores among the CPUs; a CPU without a known core counts as one.
fn cores_among(cpus: &[u32], places: &[LogicalCpu]) -> u32 {
    let core = |cpu: &u32| {
        let hierarchy = places.iter().find(|p| p.cpu == *cpu);
        hierarchy.and_then(|p| p.siblings.first().copied()).unwrap_or(*cpu)
    };
    let cores: BTreeSet<u32> = cpus.iter().map(core).collect();
    u32::try_from(cores.len()).unwrap_or(u32::MAX)
}

#[cfg(test)]
pub(crate) mod tests;
