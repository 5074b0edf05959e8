//! Counters of made-up cgroups, and a scheduler that grants a quota by the period.

use super::*;

#[test]
fn cpu_stat_of_both_cgroup_versions() {
    let v1 = Group::parse("nr_periods 12\nnr_throttled 5\nthrottled_time 250000000\n");
    let v2 = "usage_usec 9\nnr_periods 12\nnr_throttled 5\nthrottled_usec 250000\nnr_bursts 0\n";
    let v2 = Group::parse(v2);
    assert_eq!(v1, v2);
    assert_eq!((v1.periods, v1.throttled_periods, v1.throttled_s), (Some(12), Some(5), Some(0.25)));
    assert_eq!(Group::parse("nr_periods 12\n").throttled_s, None);
    assert_eq!(Group::parse("usage_usec x\nnr_periods -1"), Group::default());
}

fn folder(files: &[(&str, &str)]) -> (tempfile::TempDir, PathBuf) {
    let dir = tempfile::tempdir().unwrap();
    files.iter().for_each(|(name, text)| fs::write(dir.path().join(name), text).unwrap());
    let stat = dir.path().join("cpu.stat");
    (dir, stat)
}

#[test]
fn limits_of_both_cgroup_versions() {
    let v2 = [("cpu.max", "30000 20000\n"), ("cpu.max.burst", "5000\n")];
    let v1 = [
        ("cpu.cfs_quota_us", "30000\n"),
        ("cpu.cfs_period_us", "20000\n"),
        ("cpu.cfs_burst_us", "5000\n"),
    ];
    let expected = CpuQuota { cpus: Some(1.5), period_s: Some(0.02), burst_s: Some(0.005) };
    for files in [&v2[..], &v1[..]] {
        let (_dir, stat) = folder(files);
        assert_eq!(limit(&stat), Some(expected));
    }
    for none in [&[("cpu.max", "max 100000\n")][..], &[("cpu.cfs_quota_us", "-1\n")], &[]] {
        let (_dir, stat) = folder(none);
        assert_eq!(limit(&stat), None);
    }
}

fn group(cpus: Option<f64>, periods: u64, throttled: u64) -> Group {
    Group {
        periods: Some(periods),
        throttled_periods: Some(throttled),
        throttled_s: None,
        quota: cpus.map(|cpus| CpuQuota { cpus: Some(cpus), period_s: Some(0.1), burst_s: None }),
    }
}

#[test]
fn the_tightest_group_on_the_way_up_counts_also_where_it_came_or_went() {
    let none = group(None, 0, 0);
    assert_eq!(between(&[none, none], &[none, none]), None);
    // The parent grants less than the container's own limit.
    let seen = between(
        &[group(Some(1.5), 7, 0), group(Some(0.6), 100, 50)],
        &[group(Some(1.5), 9, 0), group(Some(0.6), 105, 54)],
    );
    let seen = seen.unwrap();
    assert_eq!((seen.before.cpus, seen.periods, seen.throttled_periods), (Some(0.6), 5, 4));
    assert!(!seen.has_changed());
    let set = between(&[none, none], &[none, group(Some(0.6), 3, 2)]).unwrap();
    assert_eq!((set.before.cpus, set.after.cpus, set.throttled_periods), (None, Some(0.6), 2));
    let lifted = between(&[none, group(Some(0.6), 3, 2)], &[none, none]).unwrap();
    assert!(set.has_changed() && lifted.has_changed());
}

#[test]
fn only_a_quota_that_limits_the_threads_has_a_lead_in() {
    let two = [group(Some(2.0), 5, 0)];
    assert_eq!(LeadIn::new(&two, 2.0, false), None);
    assert_eq!(LeadIn::new(&[group(None, 0, 0)], 2.0, true), None);
    assert!(LeadIn::new(&two, 4.0, false).is_some());
    // Other processes in the same cgroup use it, too.
    assert!(LeadIn::new(&two, 1.0, true).is_some());
}

#[test]
fn a_lead_in_ends_with_the_second_refill_of_a_load_that_was_throttled_or_in_time() {
    let lead_in = LeadIn::new(&[group(Some(0.5), 70, 30)], 2.0, false).unwrap();
    let seen = |periods, throttled| lead_in.seen(&[group(Some(0.5), periods, throttled)]);
    for (periods, throttled, elapsed_s, over) in [
        (71, 31, 0.08, false),
        (72, 31, 0.16, true),
        (72, 32, 0.2, true),
        // A burst is not used up yet.
        (74, 30, 0.35, false),
        (74, 30, 0.41, true),
        (70, 30, 0.41, true),
    ] {
        let seen = seen(periods, throttled);
        assert_eq!(lead_in.is_over(seen, elapsed_s), over, "{seen:?} after {elapsed_s} s");
    }
    assert_eq!(lead_in.seen(&[]), [0, 0], "the cgroup is gone");
    let mut saved = group(Some(0.5), 0, 0);
    saved.quota.as_mut().unwrap().burst_s = Some(3.0);
    // Two threads use up 3 CPU-seconds in 2 s in addition to the grant.
    let max_s = LeadIn::new(&[saved], 2.0, false).unwrap().max_s;
    assert!((max_s - 3.4).abs() < 1e-9, "{max_s}");
}

/// A scheduler that grants a quota by the period to threads that run whenever they may, in steps of a
/// thousandth of a period.
struct Scheduler {
    quota: CpuQuota,
    threads: f64,
    steps: u64,
    /// Steps of a period before its refill.
    phase: u64,
    left: f64,
    held_back: bool,
    counts: [u64; 2],
}

impl Scheduler {
    fn new(quota: CpuQuota, threads: f64, phase: u64) -> Self {
        let (left, held_back, counts) = (0.0, false, [0; 2]);
        let mut one = Self { quota, threads, steps: 0, phase, left, held_back, counts };
        // It has rested, so everything that can be saved is saved.
        for _ in 0..5 * Self::STEPS {
            one.step(false);
        }
        one
    }

    /// CPU time that is granted per period.
    const STEPS: u64 = 1000;

    fn step_s(&self) -> f64 {
        self.quota.period() / Self::STEPS as f64
    }

    fn per_period(&self) -> f64 {
        self.quota.cpus.unwrap() * self.quota.period()
    }

    /// CPU time that the threads use in a step.
    fn step(&mut self, run: bool) -> f64 {
        let step_s = self.step_s();
        self.steps += 1;
        if self.steps % Self::STEPS == self.phase {
            self.counts[0] += 1;
            self.counts[1] += u64::from(self.held_back);
            self.held_back = false;
            let most = self.per_period() + self.quota.burst();
            self.left = (self.left + self.per_period()).min(most);
        }
        let wanted = if run { self.threads * step_s } else { 0.0 };
        let used = wanted.min(self.left);
        self.held_back |= used < wanted;
        self.left -= used;
        used
    }

    /// CPU time used in this many seconds of load.
    fn used_in(&mut self, seconds: f64) -> f64 {
        let steps = (seconds / self.step_s()).round() as usize;
        (0..steps).map(|_| self.step(true)).sum()
    }

    fn group(&self) -> Group {
        let [periods, throttled] = self.counts;
        Group {
            periods: Some(periods),
            throttled_periods: Some(throttled),
            throttled_s: None,
            quota: Some(self.quota),
        }
    }

    /// Runs the untimed load, which reads the counters while it runs.
    fn lead_in(&mut self) {
        let begun = self.steps;
        let Some(lead_in) = LeadIn::new(&[self.group()], self.threads, false) else { return };
        loop {
            // A throttled thread reads nothing.
            let ran = self.step(true) > 0.0;
            let elapsed_s = (self.steps - begun) as f64 * self.step_s();
            if ran && lead_in.is_over(lead_in.seen(&[self.group()]), elapsed_s) {
                return;
            }
        }
    }
}

/// Errors of rounds after an untimed part, over all phases of the period: minimum and maximum, in
/// percent.
fn off(quota: CpuQuota, round_s: f64, ahead: fn(&mut Scheduler)) -> [f64; 2] {
    let read = |phase: u64| {
        let mut scheduler = Scheduler::new(quota, 2.0, 25 * phase);
        ahead(&mut scheduler);
        let granted = quota.cpus.unwrap() * round_s;
        100.0 * (scheduler.used_in(round_s) / granted - 1.0)
    };
    let all: Vec<f64> = (0..40).map(read).collect();
    [all.iter().copied().fold(f64::MAX, f64::min), all.iter().copied().fold(f64::MIN, f64::max)]
}

fn quota(cpus: f64, period_s: f64, burst_s: f64) -> CpuQuota {
    CpuQuota { cpus: Some(cpus), period_s: Some(period_s), burst_s: Some(burst_s) }
}

#[test]
fn whole_periods_past_the_second_refill_read_the_quota_and_without_that_they_read_too_much() {
    for (cpus, period_s, burst_s) in [
        (0.5, 0.1, 0.0),
        (0.3, 0.01, 0.0),
        (1.2, 0.1, 0.0),
        (1.7, 1.0, 0.0),
        (0.8, 0.05, 0.04),
        (0.25, 0.1, 0.3),
    ] {
        let quota = quota(cpus, period_s, burst_s);
        for periods in [2.0, 5.0, 9.0] {
            let [least, most] = off(quota, periods * period_s, Scheduler::lead_in);
            assert!(least > -0.1 && most < 0.1, "{quota:?}, {periods}: {least} to {most} %");
        }
        let [_, rested] = off(quota, 5.0 * period_s, |_| ());
        assert!(rested > 3.0, "{quota:?}: {rested} %");
    }
    // A round of 50 ms after 20 ms of load, as without a quota: anything between nothing and all.
    let ahead: fn(&mut Scheduler) = |s| {
        s.used_in(0.02);
    };
    let [least, most] = off(quota(0.5, 0.1, 0.0), 0.05, ahead);
    assert!(least < -50.0 && most > 50.0, "{least} to {most} %");
    let [least, most] = off(quota(0.5, 0.1, 0.0), 0.5, |_| ());
    assert!((0.0..18.0).contains(&least) && most < 20.1, "{least} to {most} %");
}
