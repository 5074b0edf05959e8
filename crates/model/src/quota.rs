//! CPU quotas.
//!
//! Source: Linux `Documentation/scheduler/sched-bwc.rst`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{counted, format_seconds};

/// CPU bandwidth control.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct CpuQuota {
    /// CPUs' worth of time that the cgroup may use, such as 0.5; null: no quota.
    pub cpus: Option<f64>,
    /// Seconds of the periods by which the quota is granted; null without a quota.
    pub period_s: Option<f64>,
    /// Unused CPU time that is saved up at most for later periods, in CPU-seconds; null without a
    /// quota, or where the kernel has no bursts.
    pub burst_s: Option<f64>,
}

impl CpuQuota {
    /// The kernel's default period, in seconds.
    pub const USUAL_PERIOD_S: f64 = 0.1;

    /// Periods that one stretch must have for its rate to be what the quota allows: shorter ones may
    /// see all of a period's share or none of it.
    pub const PERIODS: f64 = 5.0;

    /// Seconds of a period.
    pub fn period(&self) -> f64 {
        let known = self.period_s.filter(|s| s.is_finite() && *s > 0.0);
        known.unwrap_or(Self::USUAL_PERIOD_S)
    }

    /// CPU-seconds that a burst may add.
    pub fn burst(&self) -> f64 {
        self.burst_s.filter(|s| s.is_finite() && *s > 0.0).unwrap_or(0.0)
    }

    /// In words: `0.5 CPUs in periods of 10.00 ms, with bursts of up to 5.000 ms of CPU time`.
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
}
