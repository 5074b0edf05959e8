//! How long a trial must last on this machine.

use proofmark_model::{CpuQuota, Host, Policy, Subsystem};

use crate::registry::all;

/// Least duration of a trial under a cgroup's limit of I/O, in seconds. The kernel deals
/// it out by slices of 100 ms (Linux `block/blk-throttle.c`), so that a trial takes a
/// whole number of them: half a slice more or less must be no more than 1 %.
const IO_LIMIT_TRIAL_S: f64 = 5.0;

/// Makes trials as long as the limits of this process deal things out.
pub(super) fn lengthen(policy: &mut Policy, host: &Host) {
    if let Some(quota) = host.limits.cpu_quota.get().filter(|q| q.cpus.is_some()) {
        let least_s = CpuQuota::PERIODS * quota.period();
        for trial_s in policy.trial_s_of.values_mut().chain([&mut policy.trial_s]) {
            *trial_s = trial_s.max(least_s);
        }
    }
    let limited = |number: &str| {
        host.limits.io.get().is_some_and(|limits| limits.iter().any(|l| l.device == number))
    };
    let devices = || host.storage.get().into_iter().flat_map(|s| &s.devices);
    if devices().any(|d| limited(&d.number)) {
        for workload in all().filter(|k| k.spec().subsystem == Subsystem::Disk) {
            let id = &workload.spec().id;
            let trial_s = policy.trial_s_for(id).max(IO_LIMIT_TRIAL_S);
            policy.trial_s_of.insert(id.to_string(), trial_s);
        }
    }
}
