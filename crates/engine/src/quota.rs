//! CPU quotas of this process's cgroups: their limits and counters, and how long untimed load must run
//! until what was saved before a trial is spent.
//!
//! Sources: Linux `Documentation/scheduler/sched-bwc.rst`, `kernel/sched/fair.c`: each refill counts a
//! period (nr_periods), and one more throttled period (nr_throttled) if a thread waited for it.

use std::fs;
use std::path::{Path, PathBuf};

use proofmark_model::{CpuQuota, QuotaTrial};

/// What a cgroup's cpu.stat counts, and its limit; `None` where it is not there.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct Group {
    pub(crate) periods: Option<u64>,
    pub(crate) throttled_periods: Option<u64>,
    /// Time that its threads were throttled, in seconds.
    pub(crate) throttled_s: Option<f64>,
    pub(crate) quota: Option<CpuQuota>,
}

impl Group {
    /// Of the cgroup with this cpu.stat, beside which its limits are.
    pub(crate) fn read(cpu_stat: &Path) -> Self {
        let text = fs::read_to_string(cpu_stat).unwrap_or_default();
        Self { quota: limit(cpu_stat), ..Self::parse(&text) }
    }

    /// From the text of cpu.stat: `throttled_usec` is of cgroup v2, `throttled_time`, in nanoseconds, of v1.
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

/// The limit beside a cpu.stat, of whichever version of cgroups it is.
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

/// All groups on the way up, nearest first, as they are now.
pub(crate) fn read_all(cpu_stat: &[PathBuf]) -> Vec<Group> {
    cpu_stat.iter().map(|file| Group::read(file)).collect()
}

/// Place of the group that grants the least; of several the outermost, which holds the others and is
/// throttled first.
fn tightest(groups: &[Group]) -> Option<usize> {
    let cpus = |place: &usize| groups[*place].quota.and_then(|q| q.cpus);
    let some = (0..groups.len()).rev().filter(|place| cpus(place).is_some());
    some.min_by(|a, b| cpus(a).unwrap_or(0.0).total_cmp(&cpus(b).unwrap_or(0.0)))
}

/// What the tightest group shows of the time between two readings of all groups; `None` where no group
/// had a quota at either.
pub(crate) fn between(before: &[Group], after: &[Group]) -> Option<QuotaTrial> {
    let at = tightest(before).or_else(|| tightest(after))?;
    let of = |groups: &[Group]| groups.get(at).copied().unwrap_or_default();
    let limit = |groups: &[Group]| {
        tightest(groups).and_then(|place| groups[place].quota).unwrap_or_default()
    };
    let grown = |count: fn(&Group) -> Option<u64>| {
        count(&of(after)).zip(count(&of(before))).map_or(0, |(a, b)| a.saturating_sub(b))
    };
    Some(QuotaTrial {
        before: limit(before),
        after: limit(after),
        periods: grown(|g| g.periods),
        throttled_periods: grown(|g| g.throttled_periods),
        ..QuotaTrial::default()
    })
}

/// Seconds that the group was throttled which was throttled longest between two readings; `None` where no
/// group counts that.
pub(crate) fn throttled_s(before: &[Group], after: &[Group]) -> Option<f64> {
    let of = |(before, after): (&Group, &Group)| {
        Some((after.throttled_s? - before.throttled_s?).max(0.0))
    };
    before.iter().zip(after).filter_map(of).max_by(f64::total_cmp)
}

/// A quota that limits a trial's threads: until when untimed load runs ahead of the timed part.
///
/// The group has rested before a trial: its first allowance is whole, and saved bursts come on top. At
/// the second refill under load, once a thread was throttled, nothing of that is left.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct LeadIn {
    /// Place of the group that limits.
    group: usize,
    pub(crate) quota: CpuQuota,
    /// Its counts as the untimed load began.
    periods: u64,
    throttled: u64,
    /// Seconds after which it ends in any case: others may use the group's time, or nobody refills it.
    most_s: f64,
}

/// Longest lead-in, in seconds, whatever bursts were saved: a worker must answer in time.
const MOST_S: f64 = 20.0;

impl LeadIn {
    /// Of threads that can use so many CPUs; `None` where no quota limits them. `was_throttled`: whether
    /// they were throttled in the trial before; then the tightest quota limits them, whatever it grants:
    /// others use it too.
    pub(crate) fn new(groups: &[Group], cpus: f64, was_throttled: bool) -> Option<Self> {
        let group = tightest(groups)?;
        let Group { periods, throttled_periods, quota, .. } = groups[group];
        let quota = quota.filter(|quota| quota.limits(cpus) || was_throttled)?;
        let most_s =
            2.0 * CpuQuota::REFILLS as f64 * quota.period() + 1.5 * quota.burst_lasts_s(cpus);
        let (periods, throttled) = (periods?, throttled_periods?);
        Some(Self { group, quota, periods, throttled, most_s: most_s.min(MOST_S) })
    }

    /// Refills since the untimed load began, and throttled periods.
    pub(crate) fn seen(&self, groups: &[Group]) -> [u64; 2] {
        let now = groups.get(self.group).copied().unwrap_or_default();
        let grown = |now: Option<u64>, before: u64| now.unwrap_or(before).saturating_sub(before);
        [grown(now.periods, self.periods), grown(now.throttled_periods, self.throttled)]
    }

    /// Whether the timed part may begin, so many seconds after the untimed load began.
    pub(crate) fn is_over(&self, [refills, throttled]: [u64; 2], elapsed_s: f64) -> bool {
        refills >= CpuQuota::REFILLS && throttled > 0 || elapsed_s >= self.most_s
    }
}

#[cfg(test)]
mod tests;
