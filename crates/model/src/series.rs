//! A result over time, from an endurance measurement.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Measurement, Timestamp, Trial};

/// A time series. Its samples are the measurement's trials, in order. If there were too many to
/// keep, neighbours are merged into one (work and seconds added up). The seconds of a sample are
/// those of its slices and of interruptions. The program's own work between samples, well below a
/// hundredth, is not included.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Series {
    /// Planned duration in seconds.
    pub for_s: f64,
    /// Planned seconds from the start of one sample to that of the next.
    pub every_s: f64,
    /// Start time of the first sample.
    pub started: Timestamp,
    /// Number of samples.
    pub samples: u64,
    /// Samples per trial; the last trial may hold fewer.
    pub merged: u64,
    /// Periods of time with a constant value, in order; empty without a sample.
    pub levels: Vec<Level>,
    /// Changes from one level to the next: one less than the levels.
    pub changes: Vec<Change>,
    /// Trend over the whole time; null for too few samples.
    pub trend: Option<Trend>,
}

impl Series {
    /// Returns the moment so many seconds after the first sample's start; `None` where that is no
    /// moment.
    pub fn moment(&self, seconds: f64) -> Option<Timestamp> {
        self.started.after(seconds)
    }

    /// Returns the seconds from the first sample's start to that of a trial.
    pub fn seconds_at(&self, trial: &Trial) -> f64 {
        trial.started.since(self.started)
    }
}

/// A period of time with a constant value.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Level {
    /// Start, in seconds after the first sample's start.
    pub from_s: f64,
    /// End, in seconds after the first sample's start.
    pub until_s: f64,
    /// Number of trials.
    pub trials: u64,
    /// Median of the trials, in the measurement's unit.
    pub median: f64,
    /// The 95 % interval; null for fewer than 6 trials.
    pub ci95: Option<[f64; 2]>,
}

/// A change from one level to the next.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Change {
    /// Seconds after the first sample's start.
    pub at_s: f64,
    /// The moment of the change.
    pub at: Timestamp,
    /// The level after / the level before.
    pub ratio: f64,
    /// Recorded changes at the same time, with figures; null where nothing recorded changed.
    pub cause: Option<String>,
}

/// A robust straight line through all samples.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Trend {
    /// Value at the first sample's start, in the measurement's unit.
    pub start: f64,
    /// Change per second, in the measurement's unit.
    pub slope: f64,
    /// The 95 % interval of the slope; null for too few samples.
    pub ci95: Option<[f64; 2]>,
}

/// The trend of a series from the start of its first sample to the end of its last one.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Drift {
    /// Length of that time in seconds.
    pub seconds: f64,
    /// The value at its two ends, within the range of the samples.
    pub ends: [f64; 2],
    /// The change from one end to the other, as a share of the value at the start.
    pub share: f64,
    /// The 95 % interval of the share, at least -1. `None` if the samples are too few or too much
    /// alike their neighbours.
    pub ci95: Option<[f64; 2]>,
}

impl Drift {
    /// Returns true if the 95 % interval excludes 0.
    pub fn is_shown(&self) -> bool {
        self.ci95.is_some_and(|[low, high]| low > 0.0 || high < 0.0)
    }
}

impl Measurement {
    /// Returns the trend of a series; `None` without a line through usable samples.
    pub fn drift(&self) -> Option<Drift> {
        let series = self.series.as_ref()?;
        let line = series.trend.as_ref()?;
        let times = self.trials.iter().map(|t| series.seconds_at(t) + t.seconds);
        let seconds = times.filter(|s| s.is_finite()).reduce(f64::max).filter(|s| *s > 0.0)?;
        let values = || self.trials.iter().map(|t| t.value).filter(|v| v.is_finite() && *v > 0.0);
        let range = [values().reduce(f64::min)?, values().reduce(f64::max)?];
        // A line through a collapse may leave the range of the samples; no value did.
        let within = |value: f64| value.clamp(range[0], range[1]);
        let start = within(line.start);
        let end = |slope: f64| within(line.start + slope * seconds);
        let share = (end(line.slope) - start) / start;
        // The slope's own interval: that of clamped ends could shrink to nothing.
        let slope_share = |slope: f64| (slope * seconds / start).max(-1.0);
        let ci95 = line.ci95.map(|i| i.map(slope_share));
        let all = [line.slope, line.start].into_iter().chain(line.ci95.into_iter().flatten());
        all.clone().all(f64::is_finite).then(|| Drift {
            seconds,
            ends: [start, end(line.slope)],
            share,
            ci95: ci95.map(|[low, high]| [low.min(share), high.max(share)]),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{self, moment, series};
    use crate::{Params, Unit};

    #[test]
    fn a_drift_is_within_the_samples() {
        // Ten samples of a second each, from 100 to 10.
        let values: Vec<f64> = (1..=10).rev().map(|i| 10.0 * f64::from(i)).collect();
        let spec = testing::spec("memory.copy", Unit::BytePerSecond);
        let mut m = testing::measurement(&spec, Params::default(), &values);
        for (i, t) in m.trials.iter_mut().enumerate() {
            (t.started, t.seconds) = (moment(i as i64 * 1000), 1.0);
        }
        let with = |slope: f64, ci95| Some(Trend { start: 105.0, slope, ci95 });
        m.series = Some(Series { trend: with(-9.0, Some([-12.0, -6.0])), ..series(moment(0), 10) });
        let drift = m.drift().unwrap();
        assert_eq!((drift.seconds, drift.ends), (10.0, [100.0, 15.0]));
        assert_eq!((drift.share, drift.ci95), (-0.85, Some([-1.0, -0.6])));
        assert!(drift.is_shown());
        m.series.as_mut().unwrap().trend = with(-9.0, Some([-12.0, 1.0]));
        assert!(!m.drift().unwrap().is_shown(), "it may be none");
        m.series.as_mut().unwrap().trend = with(f64::NAN, None);
        assert_eq!(m.drift(), None);
        m.trials.clear();
        assert_eq!(m.drift(), None);
    }

    #[test]
    fn seconds_are_counted_from_the_first_sample() {
        let series = series(moment(5000), 10);
        let seconds_at = |ms| series.seconds_at(&Trial { started: moment(ms), ..Trial::default() });
        assert_eq!(series.moment(2.5), Some(moment(7500)));
        assert_eq!([series.moment(-1.0), series.moment(f64::NAN), series.moment(1e30)], [None; 3]);
        assert_eq!((seconds_at(7500), seconds_at(4000)), (2.5, -1.0));
    }
}
