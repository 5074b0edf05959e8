//! What one point did over time: the result of an endurance measurement.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Timestamp, Trial};

/// A time series. Its samples are the measurement's trials, in order: as they were taken, or,
/// where they were too many to keep, neighbours merged into one (work and seconds added up). The
/// seconds of a sample are those of its slices and of what held them up; what the program itself
/// does between them, well below a hundredth, is none of them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Series {
    /// How long it was to go on, in seconds.
    pub for_s: f64,
    /// Seconds from the start of one sample to that of the next, as asked.
    pub every_s: f64,
    /// When the first sample began.
    pub started: Timestamp,
    /// Samples taken.
    pub samples: u64,
    /// Samples that one trial holds, the last one at most.
    pub merged: u64,
    /// Stretches of time in which the value stayed the same, in order; without a sample none.
    pub levels: Vec<Level>,
    /// Where one level gave way to the next: one less than the levels.
    pub changes: Vec<Change>,
    /// Where the value was going all the while; null for too few samples.
    pub trend: Option<Trend>,
}

impl Series {
    /// The moment so many seconds after the first sample's start; `None` where that is no moment.
    pub fn moment(&self, seconds: f64) -> Option<Timestamp> {
        self.started.after(seconds)
    }

    /// Seconds from the first sample's start to that of a trial.
    pub fn seconds_at(&self, trial: &Trial) -> f64 {
        trial.started.since(self.started)
    }
}

/// A stretch of time in which the value stayed the same.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Level {
    /// Seconds after the first sample's start at which it begins.
    pub from_s: f64,
    /// Seconds after the first sample's start at which it ends.
    pub until_s: f64,
    /// Trials in it.
    pub trials: u64,
    /// Their median, in the measurement's unit.
    pub median: f64,
    /// Its 95 % interval; null for fewer than 6 trials.
    pub ci95: Option<[f64; 2]>,
}

/// Where one level gave way to the next.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Change {
    /// Seconds after the first sample's start.
    pub at_s: f64,
    /// The same as a moment.
    pub at: Timestamp,
    /// The level after / the level before.
    pub ratio: f64,
    /// What changed together with the value, with figures; null where nothing recorded did.
    pub cause: Option<String>,
}

/// A robust straight line through all samples.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Trend {
    /// Value at the first sample's start, in the measurement's unit.
    pub start: f64,
    /// Change a second, in the measurement's unit a second.
    pub slope: f64,
    /// Its 95 % interval; null for too few samples.
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
