//! NUMA nodes: their existence, their CPUs, and the placement of threads and memory on them.
//!
//! Source: Linux `Documentation/ABI/stable/sysfs-devices-node`.

use std::sync::Arc;

use proofmark_engine::{Refusal, usable_cpus};
use proofmark_model::key::{Count, Key};
use proofmark_model::{Parameter, Params};

use crate::arena::{self, Arena, Pages};
use crate::declare::count_parameter;
use crate::params::required;

/// NUMA node whose CPUs run the threads.
pub(super) const THREADS_ON: Key<Count> = Key::new("cpu_node");
/// NUMA node that holds the memory.
const MEMORY_ON: Key<Count> = Key::new("memory_node");

pub(super) const CPU_NODE: Parameter =
    node_parameter(THREADS_ON, "NUMA node whose CPUs run the threads.");
pub(super) const MEMORY_NODE: Parameter =
    node_parameter(MEMORY_ON, "NUMA node that holds the memory.");

const fn node_parameter(key: Key<Count>, about: &'static str) -> Parameter {
    count_parameter(key, about, 0..=1023, "0")
}

/// Threads on the CPUs of one node, and memory on the same or another node.
pub(super) struct Pair {
    /// Usable CPUs of the threads' node.
    pub(super) cpus: Vec<u32>,
    memory: u32,
}

impl Pair {
    /// Reads the nodes from the parameters. It must run before the calling thread is pinned, since
    /// it takes this thread's affinity for that of all threads.
    pub(super) fn from_params(params: &Params) -> Result<Self, Refusal> {
        let node = |key| {
            let node = u32::try_from(required(params, key)?).unwrap_or(u32::MAX);
            let list = format!("/sys/devices/system/node/node{node}/cpulist");
            match std::fs::read_to_string(list) {
                Ok(cpus) => Ok((node, cpus)),
                Err(_) => Err(Refusal(format!("NUMA node {node} does not exist"))),
            }
        };
        let ((from, cpus), (memory, _)) = (node(THREADS_ON)?, node(MEMORY_ON)?);
        let mut usable = usable_cpus(None).ok_or_else(|| {
            Refusal("the system does not report which CPUs may be used".to_owned())
        })?;
        usable.retain(|cpu| lists(&cpus, *cpu));
        if usable.is_empty() {
            return Err(Refusal(format!("NUMA node {from} has no usable CPU")));
        }
        Ok(Self { cpus: usable, memory })
    }

    /// Returns memory that is bound to the node.
    pub(super) fn arena(&self, bytes: u64, pages: Pages) -> Result<Arc<Arena>, Refusal> {
        // A number of threads that no other workload has: the memory stays bound, so only
        // configurations with the same node may reuse it.
        let arena = Arena::get(bytes, pages, u64::MAX - u64::from(self.memory))?;
        arena.bind(0, bytes as usize, self.memory)?;
        Ok(arena)
    }

    /// Records that this range belongs on the node, whichever thread touched it.
    pub(super) fn expect(&self, arena: &Arena, offset: u64, bytes: u64) {
        arena.expect(offset as usize, bytes as usize, self.memory);
    }

    /// Returns those of these CPUs that belong to the node.
    pub(super) fn among(&self, usable: &[u32]) -> Vec<u32> {
        usable.iter().copied().filter(|cpu| self.cpus.contains(cpu)).collect()
    }
}

/// Returns a refusal if the machine has only one node.
pub(super) fn require_several_nodes() -> Result<(), Refusal> {
    match arena::nodes() {
        0 | 1 => Err(Refusal("this machine has one NUMA node".to_owned())),
        _ => Ok(()),
    }
}

/// Returns true if a list such as `0-3,8` contains this number.
fn lists(list: &str, cpu: u32) -> bool {
    list.trim().split(',').any(|range| {
        let (first, last) = range.split_once('-').unwrap_or((range, range));
        let ends = first.parse().ok().zip(last.parse().ok());
        ends.is_some_and(|(first, last)| (first..=last).contains(&cpu))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_as_the_system_writes_them() {
        let listed = |list| (0..20).filter(|cpu| lists(list, *cpu)).collect::<Vec<_>>();
        assert_eq!(listed("0-3,8,10-11\n"), [0, 1, 2, 3, 8, 10, 11]);
        assert_eq!(listed("5\n"), [5]);
        for none in ["\n", "a", "3-1", "0-", "-1"] {
            assert!(listed(none).is_empty(), "{none}");
        }
    }

    fn pair(cpu: u64, memory: u64) -> Result<Pair, Refusal> {
        Pair::from_params(&Params::default().with(THREADS_ON, cpu).with(MEMORY_ON, memory))
    }

    #[test]
    fn a_node_that_is_not_there_is_refused() {
        let refused = |cpu, memory| pair(cpu, memory).map(|p| p.cpus).unwrap_err().to_string();
        assert_eq!(refused(1023, 0), "NUMA node 1023 does not exist");
        assert_eq!(refused(0, 1022), "NUMA node 1022 does not exist");
    }

    #[test]
    fn cpus_and_memory_are_those_of_the_nodes() {
        let pair = match pair(0, 0) {
            Ok(pair) => pair,
            Err(refusal) => return proofmark_testing::skip(refusal),
        };
        assert!(!pair.cpus.is_empty());
        let arena = match pair.arena(1 << 20, Pages::Small) {
            Ok(arena) => arena,
            Err(refusal) => return proofmark_testing::skip(refusal),
        };
        let all: Vec<u32> = (0..4096).collect();
        assert_eq!(pair.among(&all), pair.cpus);
        assert!(pair.among(&[]).is_empty());
        arena.holds("nothing");
        arena.place_here(0, 1 << 20);
        pair.expect(&arena, 0, 1 << 20);
        assert_eq!(arena.placement(1 << 20).misplaced, Some(0.0));
        let elsewhere = Pair { memory: 77, ..pair };
        elsewhere.expect(&arena, 0, 1 << 20);
        assert_eq!(arena.placement(1 << 20).misplaced, Some(1.0));
    }
}
