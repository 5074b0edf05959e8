//! A machine for tests.

use proofmark_model::{Cache, CacheKind, Clock, Cpu, Host, Limits, Load, Memory, Os, Probe, Timer};

fn unknown<T>() -> Probe<T> {
    Probe::missing("not known in this test")
}

/// A machine with CPUs 0 and 1 and, if given, one last-level cache of so many bytes
/// that they share.
pub(super) fn host(cache: Option<u64>) -> Host {
    let cache = cache.map(|size_bytes| Cache {
        level: 3,
        kind: CacheKind::Unified,
        size_bytes,
        line_bytes: Some(64),
        ways: None,
        shared_by: vec![0, 1],
        instances: 1,
    });
    Host {
        cpu: Cpu {
            arch: "x86_64".to_owned(),
            vendor: unknown(),
            model_name: unknown(),
            family: unknown(),
            model: unknown(),
            stepping: unknown(),
            microarchitecture: unknown(),
            isa: unknown(),
            sockets: unknown(),
            cores: unknown(),
            logical_cpus: unknown(),
            threads_per_core: unknown(),
            topology: unknown(),
            numa_nodes: unknown(),
            caches: cache.map_or_else(unknown, |c| Probe::known(vec![c], "test")),
            clock: Clock {
                nominal_hz: unknown(),
                boost_hz: unknown(),
                measured_hz: unknown(),
                tsc_hz: unknown(),
            },
        },
        memory: Memory {
            total_bytes: unknown(),
            available_bytes: unknown(),
            swap_total_bytes: unknown(),
            transparent_huge_pages: unknown(),
            modules: unknown(),
        },
        os: Os {
            kernel: unknown(),
            distribution: unknown(),
            virtualisation: unknown(),
            container: unknown(),
            governor: unknown(),
        },
        limits: Limits {
            affinity: unknown(),
            cpuset: unknown(),
            cpu_quota: unknown(),
            cpu_stat: Vec::new(),
            memory_bytes: unknown(),
            memory_used_bytes: unknown(),
            usable_cpus: vec![0, 1],
            usable_cores: 2,
        },
        timer: Timer {
            clock_source: unknown(),
            resolution_s: unknown(),
            overhead_s: unknown(),
            interrupted_share: unknown(),
        },
        load: Load { average: unknown(), steal_since_boot: unknown() },
        findings: Vec::new(),
    }
}
