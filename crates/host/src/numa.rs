//! NUMA nodes, from /sys/devices/system/node.
//!
//! Source: Linux `Documentation/ABI/stable/sysfs-devices-node`.

use proofmark_model::{NumaNode, Probe};

use crate::root::{Reason, Root, fault, probe};
use crate::text::kilobytes;

const NODES: &str = "/sys/devices/system/node";

pub(crate) fn detect(root: &Root) -> Probe<Vec<NumaNode>> {
    probe(nodes(root), NODES)
}

fn nodes(root: &Root) -> Result<Vec<NumaNode>, Reason> {
    let names = root.names(NODES, "node")?;
    let mut ids: Vec<u32> =
        names.iter().filter_map(|name| name.strip_prefix("node")?.parse().ok()).collect();
    ids.sort_unstable();
    if ids.is_empty() {
        return Err(fault(NODES, "lists no node"));
    }
    ids.into_iter().map(|id| node(root, id)).collect()
}

fn node(root: &Root, id: u32) -> Result<NumaNode, Reason> {
    let list = format!("{NODES}/node{id}/cpulist");
    // A node without CPUs has an empty list.
    let cpus = crate::text::cpu_list(&root.read(&list)?).map_err(|e| fault(&list, e))?;
    let meminfo = root.read(&format!("{NODES}/node{id}/meminfo")).ok();
    Ok(NumaNode { id, cpus, memory_bytes: meminfo.as_deref().and_then(total) })
}

/// Parses bytes from `Node 0 MemTotal:  123 kB`.
fn total(meminfo: &str) -> Option<u64> {
    meminfo.lines().find_map(|line| kilobytes(line.split_once("MemTotal:")?.1))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Machine;

    #[test]
    fn a_node_may_have_no_cpu_and_no_meminfo() {
        let machine = Machine::new(&[]);
        for name in (0..12).map(|n| format!("node{n}")).chain(["power".to_owned()]) {
            let cpus = if name == "node2" { "0-1\n" } else { "\n" };
            machine.put(&format!("{NODES}/{name}/cpulist"), cpus);
        }
        let found = detect(&machine.root());
        let nodes = found.get().unwrap();
        assert_eq!(nodes.iter().map(|n| n.id).collect::<Vec<_>>(), (0..12).collect::<Vec<_>>());
        assert_eq!((nodes[2].cpus.as_slice(), nodes[10].cpus.as_slice()), (&[0, 1][..], &[][..]));
        assert_eq!(nodes[2].memory_bytes, None);
    }
}
