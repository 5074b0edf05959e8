//! CPU quotas of different periods, and quotas that change during a run.

use super::*;

/// Returns the share of the time that a thread was at work under this quota, by what it delivered,
/// over both workloads, and the number of whole periods in a round. The share lies between delivered
/// / typical and delivered / the rate at work: a virtual CPU that wakes up may be slow for a while.
fn delivered_share(profile: &str, cpus: f64, period_us: u64) -> Option<Vec<([f64; 2], Vec<f64>)>> {
    let group = Cgroup::with_quota_of(cpus, period_us)?;
    // On a busy machine, other work would leave less than the quota.
    group.prefer();
    let mut command = proofmark();
    command.args(["run", "cpu.iops", "memory.read", "--threads", "1", "--profile", profile]);
    command.args(["--set", "cpu.iops.isa=scalar", "--set", "cpu.iops.type=i64"]);
    let (run, _) = run_json(group.enter(&mut command));
    let of = |m: &Measurement| {
        let quotas = m.trials.iter().filter_map(|t| t.quota);
        let periods = quotas.map(|q| q.whole_periods()).collect();
        let found = proofmark_model::delivered_under_quota(m.unit, &m.trials);
        let delivered = found.and_then(|d| d.value(m.unit)).unwrap_or(f64::NAN);
        let work: f64 = m.trials.iter().map(|t| t.work).sum();
        let accounts = m.trials.iter().filter_map(|t| t.time_account);
        let at_work = work / accounts.map(|account| account.working_s).sum::<f64>();
        let typical = m.summary.as_ref().and_then(|s| s.typical.value).unwrap_or(f64::NAN);
        ([delivered / typical, delivered / at_work], periods)
    };
    Some(run.measurements.iter().map(of).collect())
}

#[test]
fn short_and_long_rounds_deliver_the_quotas_share_whatever_its_period() {
    let _turn = alone();
    for (profile, cpus, period_us, periods) in
        [("quick", 0.35, 20_000, 5.0), ("screen", 0.6, 100_000, 2.0), ("quick", 0.45, 10_000, 5.0)]
    {
        let Some(found) = delivered_share(profile, cpus, period_us) else { return };
        assert!(!found.is_empty());
        for ([low, high], whole) in found {
            let near = low - 0.05 < cpus && cpus < high + 0.05;
            assert!(near, "{low} to {high} of {cpus} with {profile}, periods of {period_us} us");
            assert!(whole.iter().all(|n| *n >= periods), "{whole:?} periods of {period_us} us");
        }
    }
}

#[test]
fn a_quota_that_is_set_while_a_run_measures_is_named() {
    let _turn = alone();
    let Some(group) = Cgroup::with_quota(1000.0) else { return };
    group.prefer();
    let dir = tempfile::tempdir().unwrap();
    let mut command = long_command(dir.path(), 14);
    let mut child = start(group.enter(&mut command));
    wait_for_trials(dir.path(), &mut child);
    assert!(group.set_quota(0.4));
    wait("the run to end", &mut child);
    let run = saved(dir.path());
    let changed = |m: &&Measurement| found(m, "quota_changed").is_some();
    let m =
        run.measurements.iter().find(changed).unwrap_or_else(|| {
            panic!("{:?}", run.measurements.iter().map(names).collect::<Vec<_>>())
        });
    let limited = m.trials.iter().filter(|t| t.quota.is_some_and(|q| q.is_limited())).count();
    assert!(limited > 0 && limited <= m.trials.len());
    assert!(names(m).iter().any(|f| f.contains("0.4 CPUs")), "{:?}", names(m));
}

#[test]
fn the_clock_of_all_cpus_is_planned_under_a_quota_of_fewer() {
    let _turn = alone();
    let cpus = std::thread::available_parallelism().unwrap().get();
    let Some(group) = Cgroup::with_quota(0.5) else { return };
    let mut command = proofmark();
    command.args(["run", "cpu.clock", "--threads", &cpus.to_string(), "--dry-run"]);
    let output = group.enter(&mut command).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}
