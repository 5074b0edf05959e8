//! A machine of which nothing is known.

use std::collections::BTreeMap;

use super::{Clock, Cpu, Host, Limits, Load, Memory, Os, Timer};
use crate::Probe;

impl Host {
    /// Returns a machine of which nothing is known, for this reason. Callers fill in what they
    /// know.
    pub fn unknown(reason: &'static str) -> Self {
        fn no<T>(reason: &'static str) -> Probe<T> {
            Probe::missing(reason)
        }
        Self {
            cpu: Cpu {
                arch: "x86_64".to_owned(),
                vendor: no(reason),
                model_name: no(reason),
                family: no(reason),
                model: no(reason),
                stepping: no(reason),
                microarchitecture: no(reason),
                isa: no(reason),
                sockets: no(reason),
                cores: no(reason),
                logical_cpus: no(reason),
                threads_per_core: no(reason),
                topology: no(reason),
                numa_nodes: no(reason),
                caches: no(reason),
                clock: Clock {
                    nominal_hz: no(reason),
                    boost_hz: no(reason),
                    measured_hz: no(reason),
                    tsc_hz: no(reason),
                },
            },
            memory: Memory {
                total_bytes: no(reason),
                available_bytes: no(reason),
                swap_total_bytes: no(reason),
                transparent_huge_pages: no(reason),
                modules: no(reason),
            },
            storage: no(reason),
            network: no(reason),
            os: Os {
                host_name: no(reason),
                product: no(reason),
                kernel: no(reason),
                distribution: no(reason),
                virtualisation: no(reason),
                container: no(reason),
            },
            limits: Limits {
                affinity: no(reason),
                cpuset: no(reason),
                cpu_quota: no(reason),
                cgroups_to_top: false,
                cpu_stat: Vec::new(),
                memory_bytes: no(reason),
                memory_used_bytes: no(reason),
                io: no(reason),
                io_uring: no(reason),
                pinning: no(reason),
                declared: BTreeMap::new(),
                usable_cpus: Vec::new(),
                usable_cores: 0,
            },
            settings: BTreeMap::new(),
            timer: Timer {
                clock_source: no(reason),
                resolution_s: no(reason),
                overhead_s: no(reason),
                interrupted_share: no(reason),
            },
            load: Load { average: no(reason), steal_since_boot: no(reason) },
            findings: Vec::new(),
        }
    }
}
