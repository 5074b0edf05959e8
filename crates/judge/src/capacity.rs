//! Capacity of the machine for a result, in cores, and the limit that sets it.

use proofmark_model::{Host, Measurement, Trial};

use crate::from_windows;
use crate::statistics::median_over;
use crate::threads::threads_here;

/// The limit that sets the number of cores.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Bound {
    /// The number of threads.
    Threads,
    /// The number of physical cores.
    Cores,
    /// The CPU quota of the cgroup.
    Quota,
}

/// The most that a result could use of the machine.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Capacity {
    /// Threads on this machine, with those of a loopback's server.
    pub threads: u64,
    /// Logical CPUs that threads may be pinned to.
    pub cpus: u64,
    /// Physical cores among them.
    pub physical: u64,
    /// CPU time per second that the quota allows; `None` without a quota.
    pub quota: Option<f64>,
    /// Seconds of the quota's periods.
    pub period_s: f64,
    /// Most CPU-seconds that can be saved for later periods.
    pub burst_s: f64,
    /// Cores that can work at the same time.
    pub cores: f64,
    /// The limit that sets `cores`.
    pub bound: Bound,
}

impl Capacity {
    /// Derives the capacity of a host for a result. Fails if the host does not report its usable
    /// CPUs or cores.
    pub fn derive(host: &Host, m: &Measurement) -> Result<Self, String> {
        let cpus = host.limits.usable_cpus.len() as u64;
        let physical = u64::from(host.limits.usable_cores);
        if cpus == 0 || physical == 0 {
            return Err("the number of usable CPUs is unknown".to_owned());
        }
        let threads = threads_here(m);
        let set = host.limits.cpu_quota.get().copied().unwrap_or_default();
        let (period_s, burst_s) = (set.period(), set.burst());
        let quota = set.cpus.filter(|q| q.is_finite() && *q > 0.0);
        let whole = threads.min(physical) as f64;
        let (cores, bound) = match quota {
            // Windows leave out the time that a quota takes.
            Some(q) if q < whole && !from_windows(m) => (q, Bound::Quota),
            _ if threads > physical => (whole, Bound::Cores),
            _ => (whole, Bound::Threads),
        };
        Ok(Self { threads, cpus, physical, quota, period_s, burst_s, cores, bound })
    }

    /// Returns true if there are more threads than CPUs.
    pub fn oversubscribed(&self) -> bool {
        self.threads > self.cpus
    }

    /// Most CPU-seconds of a trial: its wall time on each CPU that it used.
    pub fn cpu_seconds(&self, trial: &Trial) -> f64 {
        trial.seconds * self.threads.min(self.cpus) as f64
    }

    /// Share by which a trial may have exceeded the quota; 0 if the quota is not the bound.
    ///
    /// A quota is granted by the period, and a trial need not begin with one. It may use the rest
    /// of one period and then the next. So T seconds may include one more period's allowance, and
    /// the burst that earlier periods saved. It never exceeds its cores.
    pub fn quota_slack(&self, trials: &[Trial]) -> f64 {
        let (Bound::Quota, Some(quota)) = (self.bound, self.quota) else { return 0.0 };
        let seconds = median_over(trials, |t| Some(t.seconds).filter(|s| *s > 0.0));
        let most = self.threads.min(self.physical) as f64 / quota - 1.0;
        let more_s = self.period_s + self.burst_s / quota;
        seconds.map_or(most, |s| (more_s / s).min(most))
    }
}

#[cfg(test)]
mod tests {
    use proofmark_model::{CpuQuota, Probe};

    use super::*;
    use crate::testing::*;

    #[test]
    fn threads_then_cores_then_quota() {
        for (threads, physical, quota, cores, bound) in [
            (1, 2, None, 1.0, Bound::Threads),
            (8, 2, None, 2.0, Bound::Cores),
            (1, 2, Some(0.5), 0.5, Bound::Quota),
            (1, 2, Some(1.5), 1.0, Bound::Threads),
            // SMT siblings are one core.
            (2, 1, None, 1.0, Bound::Cores),
        ] {
            let mut h = host();
            h.limits.usable_cores = physical;
            h.limits.cpu_quota =
                Probe::known(CpuQuota { cpus: quota, ..CpuQuota::default() }, "test");
            let c = Capacity::derive(&h, &flops(threads)).unwrap();
            assert_eq!(
                (c.cores, c.bound, c.oversubscribed()),
                (cores, bound, threads > 2),
                "{c:?}"
            );
        }
        let mut h = host();
        h.limits.usable_cpus.clear();
        assert!(Capacity::derive(&h, &flops(1)).is_err());
    }

    #[test]
    fn a_short_trial_can_exceed_its_quota() {
        let h = with_quota(host(), 0.5);
        let slack = |m: Measurement| Capacity::derive(&h, &m).unwrap().quota_slack(&m.trials);
        assert!((slack(flops(1)) - 1.0).abs() < 1e-9, "0.1 s of 0.1 s: all of the core");
        assert!((slack(each(flops(1), |_, t| t.seconds = 2.0)) - 0.05).abs() < 1e-9);
    }

    #[test]
    fn the_slack_follows_the_period_and_the_burst() {
        for (period_s, burst_s, more) in [
            (0.01, None, 0.005),
            (1.0, None, 0.5),
            // 50 ms of CPU time are 100 ms of half a CPU.
            (0.1, Some(0.05), 0.1),
            (1.0, Some(4.0), 1.0), // All of the core, no more.
        ] {
            let mut h = host();
            let quota = CpuQuota { cpus: Some(0.5), period_s: Some(period_s), burst_s };
            h.limits.cpu_quota = Probe::known(quota, "test");
            let m = each(flops(1), |_, t| t.seconds = 2.0);
            let slack = Capacity::derive(&h, &m).unwrap().quota_slack(&m.trials);
            assert!((slack - more).abs() < 1e-9, "{period_s} s, {burst_s:?}: {slack}");
        }
    }
}
