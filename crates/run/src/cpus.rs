//! CPUs of a program that repeats a configuration: those of proofmark's threads.

use proofmark_model::{Point, key};

use crate::registry::subsystem;

/// CPUs of a program and of its server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cpus {
    /// CPUs of the program.
    pub own: Vec<u32>,
    /// CPUs of its server.
    pub server: Vec<u32>,
}

impl Cpus {
    /// Selects the CPUs for a configuration from the usable ones.
    pub fn for_point(point: &Point, usable: &[u32]) -> Self {
        let (own, server) = match subsystem(&point.workload) {
            Some(s) if s.info().has_server => {
                proofmark_workloads::network::cpus_of_ends(point.params.get(key::PLACEMENT), usable)
            }
            Some(s) if s.info().pins_threads => {
                let threads = usize::try_from(point.params.threads()).unwrap_or(usize::MAX);
                (usable.iter().copied().take(threads).collect(), Vec::new())
            }
            _ => (usable.to_vec(), Vec::new()),
        };
        Self { own, server }
    }

    /// Returns the CPUs of both.
    pub fn both(&self) -> Vec<u32> {
        let more = self.server.iter().filter(|cpu| !self.own.contains(cpu));
        self.own.iter().chain(more).copied().collect()
    }
}

#[cfg(test)]
mod tests {
    use proofmark_model::Params;

    use super::*;

    #[test]
    fn a_tool_has_the_cpus_of_our_threads() {
        let cpus = |workload: &str, threads: u64| {
            let params =
                Params::default().with(key::THREADS, threads).with(key::PLACEMENT, "apart");
            Cpus::for_point(&Point { workload: workload.to_owned(), params }, &[4, 5, 6, 1800])
        };
        assert_eq!(cpus("cpu.flops", 2), Cpus { own: vec![4, 5], server: vec![] });
        assert_eq!(cpus("memory.triad", 9).own, [4, 5, 6, 1800], "they take turns");
        assert_eq!(cpus("disk.rand_read", 1).own, [4, 5, 6, 1800], "they are not pinned");
        let network = cpus("network.tcp.rtt", 1);
        assert_eq!(network, Cpus { own: vec![4, 5], server: vec![1800, 6] });
        assert_eq!(network.both(), [4, 5, 1800, 6]);
    }
}
