//! CPU quotas: what one allows, and what a measurement under one delivered.
//!
//! Source: Linux `Documentation/scheduler/sched-bwc.rst`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Better, counted, format_seconds};

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

/// What a measurement under a quota delivered, and why that figure.
#[derive(Debug, Clone, PartialEq)]
pub struct UnderQuota {
    /// In the measurement's unit.
    pub value: f64,
    /// In words.
    pub why: String,
}

/// The figure delivered under a quota, from stretches that may be too short to show the quota: the
/// lesser of what was measured and of what the quota leaves of `attainable` (quota x attainable /
/// CPUs used); of times, the greater. `cpus` are the CPUs that the threads used.
pub fn delivered_under_quota(
    measured: f64,
    attainable: Option<f64>,
    quota_cpus: f64,
    cpus: u64,
    better: Better,
) -> UnderQuota {
    let (quota, used) = (counted(quota_cpus, "CPU"), counted(cpus as f64, "CPU"));
    let as_measured = |why: String| UnderQuota { value: measured, why };
    let share = quota_cpus / cpus.max(1) as f64;
    if !(share.is_finite() && share > 0.0) || share >= 1.0 {
        return as_measured(format!("as measured: a quota of {quota} does not limit {used}"));
    }
    let Some(attainable) = attainable.filter(|v| v.is_finite() && *v > 0.0) else {
        return as_measured(format!(
            "as measured: undisturbed time was not seen, so what a quota of {quota} leaves of it is \
             not known"
        ));
    };
    let (allowed, is_less) = match better {
        Better::Higher => (attainable * share, measured <= attainable * share),
        Better::Lower => (attainable / share, measured >= attainable / share),
    };
    if is_less {
        return as_measured(format!(
            "as measured: it is no more than a quota of {quota} allows on {used}"
        ));
    }
    let why = format!(
        "the attainable figure x {quota} of quota / {used} used: the stretches measured were too \
         short to show the quota"
    );
    UnderQuota { value: allowed, why }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lesser_of_the_measurement_and_the_quota() {
        let of = |measured, attainable, quota, cpus| {
            let found = delivered_under_quota(measured, attainable, quota, cpus, Better::Higher);
            (found.value, found.why)
        };
        // Short rounds read 95 where half is allowed.
        let (value, why) = of(95.0, Some(100.0), 0.5, 1);
        assert_eq!(value, 50.0);
        assert!(why.starts_with("the attainable figure x 0.5 CPUs of quota / 1 CPU used"), "{why}");
        // Two CPUs' worth of work.
        assert_eq!(of(190.0, Some(200.0), 0.5, 2).0, 50.0);
        for (measured, attainable, quota, cpus, words) in [
            (48.0, Some(100.0), 0.5, 1, "it is no more than a quota of 0.5 CPUs allows on 1 CPU"),
            (95.0, Some(100.0), 1.0, 1, "a quota of 1 CPU does not limit 1 CPU"),
            (95.0, Some(100.0), 4.0, 2, "does not limit"),
            (95.0, None, 0.5, 1, "undisturbed time was not seen"),
            (95.0, Some(f64::NAN), 0.5, 1, "undisturbed time was not seen"),
            (95.0, Some(100.0), f64::NAN, 1, "does not limit"),
        ] {
            let (value, why) = of(measured, attainable, quota, cpus);
            assert_eq!(value, measured, "{why}");
            assert!(why.starts_with("as measured: ") && why.contains(words), "{why}");
        }
    }

    #[test]
    fn of_times_the_greater() {
        let of = |measured| delivered_under_quota(measured, Some(1e-9), 0.25, 1, Better::Lower);
        assert_eq!(of(1.1e-9).value, 4e-9);
        assert_eq!(of(5e-9).value, 5e-9);
    }

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
