//! CPU quotas of this process's cgroups: limits, counters, and the untimed load that uses up what
//! was saved before a trial.
//!
//! Sources: Linux `Documentation/scheduler/sched-bwc.rst`, `kernel/sched/fair.c`: each refill counts a
//! period (nr_periods), and one more throttled period (nr_throttled) if a thread waited for it.

use std::fs;
use std::path::{Path, PathBuf};

use proofmark_model::{CpuQuota, QuotaTrial};

/// The counters of a cgroup's cpu.stat, and its limit; `None` for a missing one.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct Group {
    pub(crate) periods: Option<u64>,
    pub(crate) throttled_periods: Option<u64>,
    /// Time that its threads were throttled, in seconds.
    pub(crate) throttled_s: Option<f64>,
    pub(crate) quota: Option<CpuQuota>,
}

impl Group {
    /// Reads the cgroup of this cpu.stat. Its limits are in the same folder.
    pub(crate) fn read(cpu_stat: &Path) -> Self {
        let text = fs::read_to_string(cpu_stat).unwrap_or_default();
        Self { quota: limit(cpu_stat), ..Self::parse(&text) }
    }

    /// Parses the text of cpu.stat. cgroup v2 has `throttled_usec`, v1 has `throttled_time` in
    /// nanoseconds.
    fn parse(text: &str) -> Self {
        let mut group = Self::default();
        for line in text.lines() {
            let Some((name, value)) = line.split_once(' ') else { continue };
            let Ok(value) = value.trim().parse::<u64>() else { continue };
            match name {
                "nr_periods" => group.periods = Some(value),
                "nr_throttled" => group.throttled_periods = Some(value),
                "throttled_usec" => group.throttled_s = Some(value as f64 * 1e-6),
                "throttled_time" => group.throttled_s = Some(value as f64 * 1e-9),
                _ => {}
            }
        }
        group
    }
}

/// The limit in the folder of a cpu.stat, of either version of cgroups.
fn limit(cpu_stat: &Path) -> Option<CpuQuota> {
    let read = |name: &str| fs::read_to_string(cpu_stat.with_file_name(name)).ok();
    let number = |name: &str| read(name)?.trim().parse::<i64>().ok();
    let (quota, burst) = match read("cpu.max") {
        Some(line) => (CpuQuota::from_cpu_max(line.trim()).ok()??, "cpu.max.burst"),
        None => {
            let [quota, period] = ["cpu.cfs_quota_us", "cpu.cfs_period_us"].map(number);
            (CpuQuota::from_microseconds(quota?, period?).ok()??, "cpu.cfs_burst_us")
        }
    };
    Some(CpuQuota { burst_s: number(burst).map(|us| us as f64 / 1e6), ..quota })
}

/// Reads all groups, nearest first.
pub(crate) fn read_all(cpu_stat: &[PathBuf]) -> Vec<Group> {
    cpu_stat.iter().map(|file| Group::read(file)).collect()
}

/// Index of the group that grants the fewest CPUs. Of equal ones the outermost counts: it contains
/// the others and is throttled first.
fn tightest(groups: &[Group]) -> Option<usize> {
    let cpus = |place: &usize| groups[*place].quota.and_then(|q| q.cpus);
    let some = (0..groups.len()).rev().filter(|place| cpus(place).is_some());
    some.min_by(|a, b| cpus(a).unwrap_or(0.0).total_cmp(&cpus(b).unwrap_or(0.0)))
}

/// The counts of the tightest group between two readings of all groups; `None` if no group had a
/// quota in either.
pub(crate) fn between(before: &[Group], after: &[Group]) -> Option<QuotaTrial> {
    let at = tightest(before).or_else(|| tightest(after))?;
    let counts = |groups: &[Group]| groups.get(at).copied().unwrap_or_default();
    let limit = |groups: &[Group]| {
        tightest(groups).and_then(|place| groups[place].quota).unwrap_or_default()
    };
    let grown = |count: fn(&Group) -> Option<u64>| {
        count(&counts(after)).zip(count(&counts(before))).map_or(0, |(a, b)| a.saturating_sub(b))
    };
    Some(QuotaTrial {
        before: limit(before),
        after: limit(after),
        periods: grown(|g| g.periods),
        throttled_periods: grown(|g| g.throttled_periods),
        ..QuotaTrial::default()
    })
}

/// Seconds that the most throttled group was throttled between two readings; `None` if no group
/// counts that.
pub(crate) fn throttled_s(before: &[Group], after: &[Group]) -> Option<f64> {
    let throttled = |(before, after): (&Group, &Group)| {
        Some((after.throttled_s? - before.throttled_s?).max(0.0))
    };
    before.iter().zip(after).filter_map(throttled).max_by(f64::total_cmp)
}

/// A quota that limits a trial's threads. It decides how long untimed load runs ahead of the timed
/// part.
///
/// The group has rested before a trial: its first allowance is whole, and saved bursts come on top.
/// At the second refill under load, after a thread was throttled, both are used up.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct LeadIn {
    /// Index of the group that limits.
    group: usize,
    pub(crate) quota: CpuQuota,
    /// Counts of the group when the untimed load began.
    periods: u64,
    throttled: u64,
    /// Seconds after which it always ends: other processes may use the group's time, or refills may
    /// stop.
    max_s: f64,
}

/// Maximum lead-in in seconds, whatever bursts were saved: a worker must answer in time.
const MAX_S: f64 = 20.0;

impl LeadIn {
    /// The lead-in of threads that can use this many CPUs; `None` if no quota limits them. After a
    /// trial in which they were throttled (`was_throttled`), the tightest quota always limits them,
    /// because others use it too.
    pub(crate) fn new(groups: &[Group], cpus: f64, was_throttled: bool) -> Option<Self> {
        let group = tightest(groups)?;
        let Group { periods, throttled_periods, quota, .. } = groups[group];
        let quota = quota.filter(|quota| quota.limits(cpus) || was_throttled)?;
        let max_s =
            2.0 * CpuQuota::REFILLS as f64 * quota.period() + 1.5 * quota.burst_lasts_s(cpus);
        let (periods, throttled) = (periods?, throttled_periods?);
        Some(Self { group, quota, periods, throttled, max_s: max_s.min(MAX_S) })
    }

    /// Refills and throttled periods since the untimed load began.
    pub(crate) fn seen(&self, groups: &[Group]) -> [u64; 2] {
        let now = groups.get(self.group).copied().unwrap_or_default();
        let grown = |now: Option<u64>, before: u64| now.unwrap_or(before).saturating_sub(before);
        [grown(now.periods, self.periods), grown(now.throttled_periods, self.throttled)]
    }

    /// True if the timed part may begin this many seconds after the untimed load.
    pub(crate) fn is_over(&self, [refills, throttled]: [u64; 2], elapsed_s: f64) -> bool {
        refills >= CpuQuota::REFILLS && throttled > 0 || elapsed_s >= self.max_s
    }
}

#[cfg(test)]
mod tests;
