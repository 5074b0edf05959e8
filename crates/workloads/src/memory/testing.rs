//! A machine for tests.

use proofmark_model::{Cache, CacheKind, Host, Probe};

/// A machine with CPUs 0 and 1 and, if given, one last-level cache of this many bytes that they
/// share.
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
    let mut host = Host::unknown("not known in this test");
    if let Some(cache) = cache {
        host.cpu.caches = Probe::known(vec![cache], "test");
    }
    host.limits.usable_cpus = vec![0, 1];
    host.limits.usable_cores = 2;
    host
}
