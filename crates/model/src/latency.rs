//! Distribution of the times of single operations.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Fewest trials whose differences give a percentile an interval.
pub const PERCENTILE_TRIALS: usize = 6;

/// Distribution of single operations.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Latency {
    /// Always `s`.
    pub unit: String,
    /// Operations timed.
    pub count: u64,
    /// Minimum.
    pub min: f64,
    /// Mean.
    pub mean: f64,
    /// Median.
    pub p50: f64,
    /// 90th percentile; null where the sample is too small for it.
    pub p90: Option<f64>,
    /// 99th percentile.
    pub p99: Option<f64>,
    /// 99.9th percentile.
    pub p999: Option<f64>,
    /// Maximum.
    pub max: f64,
    /// The 95 % intervals of the percentiles, from the differences between the trials.
    #[serde(default)]
    pub ci95: PercentileIntervals,
    /// The distribution, by rising time; buckets without an operation are left out.
    #[serde(default)]
    pub buckets: Vec<LatencyBucket>,
}

/// The 95 % intervals of percentiles, in seconds. Null where the percentile is, where fewer than 6
/// trials had operations (a tool's output, a result over time), or where an end is beyond all
/// operations: too few for the percentile, or trials that differ too much.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct PercentileIntervals {
    /// Of the median.
    pub p50: Option<[f64; 2]>,
    /// Of the 90th percentile.
    pub p90: Option<[f64; 2]>,
    /// Of the 99th percentile.
    pub p99: Option<[f64; 2]>,
    /// Of the 99.9th percentile.
    pub p999: Option<[f64; 2]>,
    /// Trials with operations, whose differences make the intervals; 0 for a tool's output and in
    /// files before 0.3.0.
    pub trials: u64,
}

impl Latency {
    /// Returns true if the trials differ so much that the interval of the 99th percentile has no
    /// end, although there are enough of them.
    pub fn p99_is_unbounded(&self) -> bool {
        // Files of earlier versions have no number of trials; the median's interval needs as many.
        let enough = self.ci95.trials >= PERCENTILE_TRIALS as u64 || self.ci95.p50.is_some();
        enough && self.p99.is_some() && self.ci95.p99.is_none()
    }

    /// Returns half the width of the interval of the 99th percentile, as a share of it.
    pub fn p99_half_width(&self) -> Option<f64> {
        let (p99, [low, high]) = (self.p99?, self.ci95.p99?);
        Some(0.5 * (high - low) / p99).filter(|half| half.is_finite())
    }
}

/// Operations that took about as long as each other.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LatencyBucket {
    /// Maximum time of the bucket, in seconds; its minimum is that of the bucket below.
    pub upto: f64,
    /// Operations.
    pub count: u64,
}
