//! Core, socket and siblings of each logical CPU. Read from /sys/devices/system/cpu, else from
//! /proc/cpuinfo.
//!
//! Source: Linux `Documentation/admin-guide/cputopology.rst`.

use std::collections::{BTreeMap, BTreeSet};

use proofmark_model::{LogicalCpu, Probe};

use crate::root::{Reason, Root, fault};

pub(crate) const CPUS: &str = "/sys/devices/system/cpu";

#[derive(Debug, Clone)]
pub(crate) struct Topology {
    pub(crate) online: Probe<Vec<u32>>,
    pub(crate) cpus: Probe<Vec<LogicalCpu>>,
}

impl Topology {
    pub(crate) fn sockets(&self) -> Probe<u32> {
        self.cpus.clone().map(|cpus| count(cpus.iter().map(|c| c.socket)))
    }

    pub(crate) fn cores(&self) -> Probe<u32> {
        self.cpus.clone().map(|cpus| count(cpus.into_iter().map(|c| c.siblings)))
    }

    pub(crate) fn logical_cpus(&self) -> Probe<u32> {
        self.online.clone().map(|cpus| count(cpus.into_iter()))
    }

    /// Returns the maximum of hardware threads per core.
    pub(crate) fn threads_per_core(&self) -> Probe<u32> {
        let most = |cpus: Vec<LogicalCpu>| cpus.iter().map(|c| count(c.siblings.iter())).max();
        self.cpus.clone().map(|cpus| most(cpus).unwrap_or(1))
    }
}

fn count<T: Ord>(items: impl Iterator<Item = T>) -> u32 {
    u32::try_from(items.collect::<BTreeSet<_>>().len()).unwrap_or(u32::MAX)
}

pub(crate) fn detect(root: &Root) -> Topology {
    let list = format!("{CPUS}/online");
    let online = root.cpus(&list).and_then(|cpus| match cpus.as_slice() {
        [] => Err(fault(&list, "lists no CPU")),
        _ => Ok(cpus),
    });
    let from_sys = online.clone().and_then(|cpus| from_sys(root, &cpus));
    let cpus = match from_sys {
        Ok(cpus) => Probe::known(cpus, format!("{CPUS}/cpu*/topology")),
        Err(no_sys) => match root.read("/proc/cpuinfo").and_then(|text| from_cpuinfo(&text)) {
            Ok(cpus) => Probe::known(cpus, "/proc/cpuinfo"),
            Err(no_cpuinfo) => Probe::missing(format!("{no_sys}; {no_cpuinfo}")),
        },
    };
    let online = match (online, cpus.get()) {
        (Ok(cpus), _) => Probe::known(cpus, list),
        (Err(_), Some(known)) => {
            Probe::known(known.iter().map(|c| c.cpu).collect(), cpus.origin().to_owned())
        }
        (Err(reason), None) => Probe::missing(reason),
    };
    Topology { online, cpus }
}

fn from_sys(root: &Root, online: &[u32]) -> Result<Vec<LogicalCpu>, Reason> {
    let mut siblings: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
    let mut cpus = Vec::with_capacity(online.len());
    for &cpu in online {
        let folder = format!("{CPUS}/cpu{cpu}/topology");
        if !siblings.contains_key(&cpu) {
            let list = root
                .cpus(&format!("{folder}/core_cpus_list"))
                .or_else(|_| root.cpus(&format!("{folder}/thread_siblings_list")))?;
            let list: Vec<u32> =
                list.into_iter().filter(|c| online.binary_search(c).is_ok()).collect();
            if !list.contains(&cpu) {
                let why = format!("CPU {cpu} is not listed as its own sibling");
                return Err(fault(&folder, why));
            }
            siblings.extend(list.iter().map(|&c| (c, list.clone())));
        }
        cpus.push(LogicalCpu {
            cpu,
            core: id(root, &format!("{folder}/core_id"))?,
            socket: id(root, &format!("{folder}/physical_package_id"))?,
            siblings: siblings.get(&cpu).cloned().unwrap_or_default(),
        });
    }
    Ok(cpus)
}

/// Reads an id. Some AArch64 kernels write -1 if the firmware reports none, which is read as 0.
fn id(root: &Root, path: &str) -> Result<u32, Reason> {
    let value: i64 = root.number(path)?;
    u32::try_from(value.max(0)).map_err(|_| fault(path, format!("invalid id {value}")))
}

fn from_cpuinfo(text: &str) -> Result<Vec<LogicalCpu>, Reason> {
    let mut cpus: Vec<LogicalCpu> = Vec::new();
    for block in text.split("\n\n").filter(|b| !b.trim().is_empty()) {
        let number = |key: &str| -> Option<u32> { crate::text::field(block, key)?.parse().ok() };
        let Some(cpu) = number("processor") else { continue };
        let (Some(core), Some(socket)) = (number("core id"), number("physical id")) else {
            return Err(fault("/proc/cpuinfo", "no 'core id' and 'physical id'"));
        };
        cpus.push(LogicalCpu { cpu, core, socket, siblings: Vec::new() });
    }
    if cpus.is_empty() {
        return Err(fault("/proc/cpuinfo", "lists no processor"));
    }
    cpus.sort_by_key(|c| c.cpu);
    cpus.dedup_by_key(|c| c.cpu);
    let mut cores: BTreeMap<(u32, u32), Vec<u32>> = BTreeMap::new();
    for c in &cpus {
        cores.entry((c.socket, c.core)).or_default().push(c.cpu);
    }
    for c in &mut cpus {
        c.siblings = cores.get(&(c.socket, c.core)).cloned().unwrap_or_default();
    }
    Ok(cpus)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Machine;

    const TWO_THREADS: &str = "processor : 0\ncore id : 4\nphysical id : 1\n\n\
                               processor : 1\ncore id : 4\nphysical id : 1\n\n\
                               processor : 2\ncore id : 4\nphysical id : 0\n\n";

    #[test]
    fn cpuinfo_groups_threads_by_socket_and_core() {
        let cpus = from_cpuinfo(TWO_THREADS).unwrap();
        let siblings: Vec<_> = cpus.iter().map(|c| c.siblings.clone()).collect();
        assert_eq!(siblings, [vec![0, 1], vec![0, 1], vec![2]]);
        let topology =
            Topology { online: Probe::known(vec![0, 1, 2], ""), cpus: Probe::known(cpus, "") };
        assert_eq!(topology.sockets().get(), Some(&2));
        assert_eq!(topology.cores().get(), Some(&2));
        assert_eq!(topology.threads_per_core().get(), Some(&2));
        assert_eq!(topology.logical_cpus().get(), Some(&3));
    }

    #[test]
    fn cpuinfo_without_places_says_so() {
        let reason = from_cpuinfo("processor : 0\nBogoMIPS : 50\n").unwrap_err();
        assert!(reason.contains("no 'core id'"));
        assert!(from_cpuinfo("").is_err());
    }

    /// Detects a machine whose CPU 0 is on a core with these siblings.
    fn detect_with(online: &str, siblings: &str, socket: &str) -> Topology {
        let machine = Machine::new(&[]);
        for (file, text) in [
            ("online", online),
            ("cpu0/topology/core_cpus_list", siblings),
            ("cpu0/topology/core_id", "0"),
            ("cpu0/topology/physical_package_id", socket),
        ] {
            machine.put(&format!("{CPUS}/{file}"), text);
        }
        detect(&machine.root())
    }

    #[test]
    fn offline_siblings_do_not_count() {
        let found = detect_with("0\n", "0-1\n", "-1\n");
        let cpus = found.cpus.get().unwrap();
        assert_eq!((cpus[0].siblings.as_slice(), cpus[0].socket), (&[0_u32][..], 0));
        assert_eq!(found.threads_per_core().get(), Some(&1));
    }

    #[test]
    fn a_cpu_that_is_not_its_own_sibling_is_refused() {
        let found = detect_with("0-1\n", "1\n", "0\n");
        assert!(found.cpus.origin().contains("not listed as its own sibling"), "{:?}", found.cpus);
        assert_eq!(found.logical_cpus().get(), Some(&2), "the other facts are valid");
    }
}
