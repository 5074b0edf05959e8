//! The duration of trials under this machine's limits.

use proofmark_model::{CpuQuota, Host, Point, Policy, QuotaRounds, Subsystem, key, word};

use crate::registry::{all, in_rounds, subsystem};

/// Minimum duration of a trial under a cgroup's I/O limit, in seconds. Linux grants I/O in slices of
/// 100 ms (`block/blk-throttle.c`), so a trial takes a whole number of them. Half a slice must be at
/// most 1 % of the trial.
const IO_LIMIT_TRIAL_S: f64 = 5.0;

/// Minimum where the profile fixes the number of trials and the time of a configuration: three slices.
const IO_LIMIT_SHORT_TRIAL_S: f64 = 0.3;

/// Makes trials as long as the limits of this process require. Under a CPU quota, rounds are whole
/// periods (`Policy::quota`); so are the trials without rounds of those `points` that the quota limits.
pub(super) fn lengthen(policy: &mut Policy, host: &Host, points: &[Point]) {
    if let Some(quota) = host.limits.cpu_quota.get().filter(|q| q.cpus.is_some()) {
        policy.quota = policy.quota.or(Some(QuotaRounds::new(*quota)));
        let least_s = CpuQuota::PERIODS * quota.period();
        let limited = |p: &&Point| !in_rounds(&p.workload) && quota.limits(cpus_used(p));
        for point in points.iter().filter(limited) {
            at_least(policy, &point.workload, least_s);
        }
    }
    let under_io_limit = |number: &str| {
        host.limits.io.get().is_some_and(|limits| limits.iter().any(|l| l.device == number))
    };
    let devices = || host.storage.get().into_iter().flat_map(|s| &s.devices);
    if devices().any(|d| under_io_limit(&d.number)) {
        let least_s = match policy.point_s.filter(|_| policy.min_trials == policy.max_trials) {
            Some(point_s) => {
                let each_s = point_s / f64::from(policy.min_trials.max(1));
                each_s.clamp(IO_LIMIT_SHORT_TRIAL_S, IO_LIMIT_TRIAL_S)
            }
            None => IO_LIMIT_TRIAL_S,
        };
        for workload in all().filter(|k| k.spec().subsystem.info().uses_block_devices) {
            at_least(policy, &workload.spec().id, least_s);
        }
    }
}

/// CPUs that a load may use: one for direct I/O, whose threads mostly wait; two per thread for a
/// network, both ends of which may be here.
fn cpus_used(point: &Point) -> f64 {
    let threads = point.params.threads() as f64;
    let direct =
        point.params.get(key::DIRECT) == Some(word::ON) || point.params.get(key::METHOD).is_some();
    match subsystem(&point.workload).map(Subsystem::info) {
        Some(info) if info.uses_block_devices && direct => 1.0,
        Some(info) if info.has_server => 2.0 * threads,
        _ => threads,
    }
}

/// Raises the duration of a workload's trials to `seconds`, if it is shorter.
fn at_least(policy: &mut Policy, workload: &str, seconds: f64) {
    if policy.trial_s_for(workload) < seconds {
        policy.trial_s_of.insert(workload.to_owned(), seconds);
    }
}

#[cfg(test)]
mod tests {
    use proofmark_model::{IoLimit, Params, Probe, testing};

    use super::*;
    use crate::testing::host;

    #[test]
    fn under_a_quota_what_is_not_cut_lasts_five_periods_where_it_may_use_more() {
        let point = |workload: &str, params: &[(&str, &str)]| {
            let with = |all: Params, (k, v): &(&str, &str)| all.with_named(k, *v);
            let params = params.iter().fold(Params::default().with(key::THREADS, 4), with);
            Point { workload: workload.to_owned(), params }
        };
        let points = [
            point("cpu.linpack", &[]),
            point("disk.rand_read", &[("direct", "on")]),
            point("disk.seq_read", &[("direct", "off")]),
            point("disk.fsync", &[("method", "fdatasync")]),
            point("network.tcp.rtt", &[]),
            point("cpu.flops", &[]),
        ];
        let lengthened = |cpus: Option<f64>| {
            let mut host = host(1 << 30, vec![0, 1]);
            let quota = CpuQuota { cpus, period_s: Some(0.05), burst_s: None };
            host.limits.cpu_quota = Probe::known(quota, "test");
            let mut policy = Policy { trial_s: 0.1, ..Policy::default() };
            policy.trial_s_of.insert("cpu.dgemm".to_owned(), 0.02);
            lengthen(&mut policy, &host, &points);
            points.each_ref().map(|p| policy.trial_s_for(&p.workload))
        };
        assert_eq!(lengthened(Some(0.5)), [0.25, 0.25, 0.25, 0.25, 0.25, 0.1]);
        assert_eq!(lengthened(Some(1.2)), [0.25, 0.1, 0.25, 0.1, 0.25, 0.1]);
        assert_eq!(lengthened(Some(6.0)), [0.1, 0.1, 0.1, 0.1, 0.25, 0.1], "both ends");
        assert_eq!(lengthened(None), [0.1; 6]);
    }

    #[test]
    fn under_an_io_limit_a_trial_lasts_as_its_profile_allows() {
        let lengthened = |trials: [u32; 2], point_s: Option<f64>| {
            let mut host = host(1 << 30, vec![0, 1]);
            let storage = testing::storage(vec![testing::block_device("vda", "254:0")]);
            host.storage = Probe::known(storage, "test");
            let limit = IoLimit {
                device: "254:0".to_owned(),
                read_bytes_per_s: Some(1e6),
                write_bytes_per_s: None,
                reads_per_s: None,
                writes_per_s: None,
                source: "io.max".to_owned(),
            };
            host.limits.io = Probe::known(vec![limit], "test");
            let [min_trials, max_trials] = trials;
            let mut policy =
                Policy { trial_s: 0.1, min_trials, max_trials, point_s, ..Policy::default() };
            lengthen(&mut policy, &host, &[]);
            ["disk.rand_read", "cpu.flops"].map(|id| policy.trial_s_for(id))
        };
        assert_eq!(lengthened([8, 20], Some(6.0)), [5.0, 0.1]);
        assert_eq!(lengthened([8, 8], None), [5.0, 0.1]);
        assert_eq!(lengthened([8, 8], Some(1.0)), [0.3, 0.1]);
        assert_eq!(lengthened([8, 8], Some(8.0)), [1.0, 0.1]);
        assert_eq!(lengthened([8, 8], Some(800.0)), [5.0, 0.1]);
    }
}
