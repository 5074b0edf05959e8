//! A host for tests.

use proofmark_model::{Host, Probe, testing};

/// Returns a host with CPUs 0 and 1 and, if given, one shared last-level cache of this many bytes.
pub(super) fn host(cache: Option<u64>) -> Host {
    let mut host = Host::unknown("not known in this test");
    if let Some(size_bytes) = cache {
        host.cpu.caches = Probe::known(vec![testing::cache(3, size_bytes, &[0, 1], 1)], "test");
    }
    host.limits.usable_cpus = vec![0, 1];
    host.limits.usable_cores = 2;
    host
}
