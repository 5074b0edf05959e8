//! CPU quotas: the setting of a cgroup, and rounds under it.
//!
//! The kernel grants a quota by the period. A load that has rested finds a full allowance. So a
//! short round reads too much or, after an untimed part that used it up, next to nothing. After the
//! second refill under full load, any whole number of periods holds exactly the quota.
//!
//! Source: Linux `Documentation/scheduler/sched-bwc.rst`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{counted, format_seconds};
pub use delivered::{QuotaDelivered, QuotaTrial, delivered_under_quota};

mod delivered;

/// CPU bandwidth control.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct CpuQuota {
    /// CPUs' worth of time that the cgroup may use, such as 0.5; null: no quota.
    pub cpus: Option<f64>,
    /// Duration of a period of the quota, in seconds; null without a quota.
    pub period_s: Option<f64>,
    /// Maximum CPU time that is saved for later periods, in CPU-seconds; null without a quota, or
    /// where the kernel has no bursts.
    pub burst_s: Option<f64>,
}

impl CpuQuota {
    /// The kernel's default period, in seconds.
    pub const USUAL_PERIOD_S: f64 = 0.1;

    /// Minimum periods of a round for its rate to be what the quota allows. A shorter one may see
    /// all of a period's share or none of it.
    pub const PERIODS: f64 = 5.0;

    /// Minimum whole periods over which the share of CPU time is counted.
    pub const MIN_PERIODS: f64 = 2.0;

    /// Refills under full load after which a period's allowance no longer includes savings.
    pub const REFILLS: u64 = 2;

    /// Reads the line of `cpu.max` (cgroup v2): `max 100000` or `50000 100000`. `None` without a
    /// quota; fails on anything else.
    pub fn from_cpu_max(line: &str) -> Result<Option<Self>, String> {
        let mut words = line.split_whitespace();
        let bad = || format!("'{line}' is not a quota and a period");
        let (quota, period) = (words.next().ok_or_else(bad)?, words.next().unwrap_or("100000"));
        if quota == "max" {
            return Ok(None);
        }
        match (quota.parse(), period.parse()) {
            (Ok(quota @ 1..), Ok(period)) => Self::from_microseconds(quota, period),
            _ => Err(bad()),
        }
    }

    /// Reads microseconds of quota and period, as cgroup v1 has them; a negative quota means none.
    /// Fails if they are no quota.
    pub fn from_microseconds(quota: i64, period: i64) -> Result<Option<Self>, String> {
        match (quota, period) {
            (..=-1, _) => Ok(None),
            (1.., 1..) => {
                let (quota, period) = (quota as f64, period as f64);
                let (cpus, period_s) = (Some(quota / period), Some(period / 1e6));
                Ok(Some(Self { cpus, period_s, burst_s: None }))
            }
            _ => Err(format!("{quota} us per {period} us is not a valid quota")),
        }
    }

    /// Returns true if threads that could use so many CPUs get less than that.
    pub fn limits(&self, cpus: f64) -> bool {
        self.cpus.is_some_and(|quota| quota > 0.0 && quota < cpus)
    }

    /// Returns the seconds until a load that uses so many CPUs has spent its saved bursts; 0 where
    /// it has none.
    pub fn burst_lasts_s(&self, cpus: f64) -> f64 {
        match self.cpus {
            Some(quota) if quota < cpus => self.burst() / (cpus - quota),
            _ => 0.0,
        }
    }

    /// Returns the seconds of a period.
    pub fn period(&self) -> f64 {
        let known = self.period_s.filter(|s| s.is_finite() && *s > 0.0);
        known.unwrap_or(Self::USUAL_PERIOD_S)
    }

    /// Returns the CPU-seconds that a burst may add.
    pub fn burst(&self) -> f64 {
        self.burst_s.filter(|s| s.is_finite() && *s > 0.0).unwrap_or(0.0)
    }

    /// Describes the quota: `0.5 CPUs in periods of 10.00 ms, with bursts of up to 5.000 ms of CPU
    /// time`.
    pub fn words(&self) -> String {
        let Some(cpus) = self.cpus else { return "none".to_owned() };
        let period = self
            .period_s
            .map_or_else(String::new, |s| format!(" in periods of {}", format_seconds(s)));
        let burst = match self.burst() {
            0.0 => String::new(),
            s => format!(", with bursts of up to {} of CPU time", format_seconds(s)),
        };
        format!("{}{period}{burst}", counted(cpus, "CPU"))
    }
}

/// Planned rounds under a quota.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct QuotaRounds {
    /// The quota when the plan was made.
    pub quota: CpuQuota,
    /// Minimum number of whole periods of a round: five, or two where the time does not allow eight
    /// such rounds.
    pub periods: u32,
}

impl QuotaRounds {
    /// Plans rounds of five periods.
    pub fn new(quota: CpuQuota) -> Self {
        Self { quota, periods: CpuQuota::PERIODS as u32 }
    }

    /// Returns the seconds of a round of at least `trial_s`, of threads that could use so many
    /// CPUs. They are whole periods where the quota limits them.
    pub fn round_s(&self, trial_s: f64, cpus: f64) -> f64 {
        if self.quota.limits(cpus) { self.whole_s(trial_s) } else { trial_s }
    }

    /// Rounds up to whole periods, to as many as a round has at least.
    pub fn whole_s(&self, trial_s: f64) -> f64 {
        let period = self.quota.period();
        // A length that is whole apart from its rounding error stays.
        (trial_s / period - 1e-6).ceil().max(f64::from(self.periods)) * period
    }

    /// Estimates the seconds of untimed load until the second refill.
    pub fn lead_in_s(&self, cpus: f64) -> f64 {
        let refills_s = CpuQuota::REFILLS as f64 * self.quota.period();
        if self.quota.limits(cpus) { refills_s + self.quota.burst_lasts_s(cpus) } else { 0.0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quota_in_words() {
        let none = CpuQuota::default();
        assert_eq!((none.words().as_str(), none.period()), ("none", 0.1));
        let half = CpuQuota { cpus: Some(0.5), ..none };
        assert_eq!(half.words(), "0.5 CPUs");
        let all = CpuQuota { period_s: Some(0.01), burst_s: Some(0.005), ..half };
        let words = "0.5 CPUs in periods of 10.00 ms, with bursts of up to 5.000 ms of CPU time";
        assert_eq!((all.words().as_str(), all.period(), all.burst()), (words, 0.01, 0.005));
    }

    #[test]
    fn both_versions_of_cgroups_say_the_same() {
        let half = CpuQuota { cpus: Some(0.5), period_s: Some(0.02), burst_s: None };
        assert_eq!(CpuQuota::from_cpu_max("10000 20000"), Ok(Some(half)));
        assert_eq!(CpuQuota::from_microseconds(10_000, 20_000), Ok(Some(half)));
        assert_eq!(CpuQuota::from_cpu_max("max 100000"), Ok(None));
        assert_eq!(CpuQuota::from_microseconds(-1, 100_000), Ok(None));
        assert_eq!(CpuQuota::from_cpu_max("5000").unwrap().unwrap().period_s, Some(0.1));
        for bad in ["", "0 100000", "-5 100000", "x 100000", "50000 0", "50000 y"] {
            assert!(CpuQuota::from_cpu_max(bad).is_err(), "{bad}");
        }
        assert!(CpuQuota::from_microseconds(0, 100_000).is_err());
    }

    #[test]
    fn rounds_are_whole_periods_where_the_quota_limits() {
        let quota = CpuQuota { cpus: Some(1.5), period_s: Some(0.03), burst_s: Some(0.06) };
        let five = QuotaRounds::new(quota);
        let two = QuotaRounds { periods: 2, ..five };
        let near = |a: f64, b: f64| assert!((a - b).abs() < 1e-9, "{a} {b}");
        near(five.round_s(0.05, 2.0), 0.15);
        near(two.round_s(0.05, 2.0), 0.06);
        near(two.round_s(0.09, 2.0), 0.09);
        near(two.round_s(0.1, 2.0), 0.12);
        near(five.round_s(0.05, 1.0), 0.05);
        // 60 ms of saved time last 120 ms if the load uses half a CPU more than granted.
        near(five.lead_in_s(2.0), 0.06 + 0.12);
        near(five.lead_in_s(1.0), 0.0);
    }
}
