//! A result over time, from an endurance measurement.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Timestamp, Trial};

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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{moment, series};

    #[test]
    fn seconds_are_counted_from_the_first_sample() {
        let series = series(moment(5000), 10);
        let seconds_at = |ms| series.seconds_at(&Trial { started: moment(ms), ..Trial::default() });
        assert_eq!(series.moment(2.5), Some(moment(7500)));
        assert_eq!([series.moment(-1.0), series.moment(f64::NAN), series.moment(1e30)], [None; 3]);
        assert_eq!((seconds_at(7500), seconds_at(4000)), (2.5, -1.0));
    }
}
