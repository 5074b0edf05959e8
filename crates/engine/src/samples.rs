//! The samples of a series, in bounded memory.
//!
//! Samples are the measurement's trials, one each until there are too many. Then neighbours are
//! merged in pairs, and every later trial holds as many samples as those. So a series of days takes
//! no more memory than one of an hour, and its trials stay evenly spread in time.

use proofmark_model::{PlannedSeries, RawSeries, Timestamp, Trial, Unit};

use crate::merge::merge;

/// Maximum number of trials that are kept.
pub const MAX_SAMPLES: usize = 4096;

/// Adds samples to the trials of a measurement.
#[derive(Debug, Clone)]
pub struct Samples {
    unit: Unit,
    most: usize,
    in_last: u64,
}

impl Samples {
    /// Starts for a measurement in that unit that has no trial yet.
    pub fn new(unit: Unit) -> Self {
        Self { unit, most: MAX_SAMPLES, in_last: 0 }
    }

    /// A series that begins now, without samples.
    pub fn begin(planned: &PlannedSeries, started: Timestamp) -> RawSeries {
        RawSeries { for_s: planned.for_s, every_s: planned.every_s, started, samples: 0, merged: 1 }
    }

    /// Adds the next sample.
    pub fn add(&mut self, series: &mut RawSeries, trials: &mut Vec<Trial>, sample: Trial) {
        series.samples += 1;
        if let Some(last) = trials.last_mut().filter(|_| self.in_last < series.merged) {
            merge(self.unit, last, sample);
            self.in_last += 1;
            return;
        }
        if trials.len() >= self.most {
            self.halve(trials);
            series.merged *= 2;
        }
        trials.push(sample);
        self.in_last = 1;
    }

    fn halve(&self, trials: &mut Vec<Trial>) {
        let mut all = std::mem::take(trials).into_iter();
        while let Some(mut trial) = all.next() {
            if let Some(later) = all.next() {
                merge(self.unit, &mut trial, later);
            }
            trials.push(trial);
        }
    }
}

#[cfg(test)]
mod tests {
    use proofmark_model::Conditions;
    use proofmark_model::testing::trial;

    use super::*;

    fn sample(at: i64) -> Trial {
        Trial {
            started: Timestamp::from_millis(at * 1000).unwrap(),
            conditions: Conditions { steal_s: Some(0.5), ..Default::default() },
            ..trial(at as f64, 1.0)
        }
    }

    #[test]
    fn neighbours_are_merged_and_nothing_is_lost() {
        let planned = PlannedSeries { point: 0, for_s: 1000.0, every_s: 1.0 };
        let start = Timestamp::from_millis(0).unwrap();
        let mut series = Samples::begin(&planned, start);
        let mut samples = Samples { most: 8, ..Samples::new(Unit::OpPerSecond) };
        let mut trials = Vec::new();
        for n in 1..=100_i64 {
            samples.add(&mut series, &mut trials, sample(n));
            assert!(trials.len() <= 8, "{n}");
            let each = series.merged;
            assert!(each.is_power_of_two(), "{n}");
            assert_eq!(trials.len() as u64, (n as u64).div_ceil(each));
            let work: f64 = trials.iter().map(|t| t.work).sum();
            assert_eq!(work, (n * (n + 1) / 2) as f64);
            let stolen: f64 = trials.iter().filter_map(|t| t.conditions.steal_s).sum();
            assert_eq!(stolen, n as f64 / 2.0);
        }
        assert_eq!((series.samples, series.merged), (100, 16));
        // 1 to 16: their mean, from the start of the first.
        assert_eq!((trials[0].value, trials[0].seconds), (8.5, 16.0));
        assert_eq!(trials[0].started, Timestamp::from_millis(1000).unwrap());
        assert_eq!(trials[6].seconds, 4.0, "the last one holds what is left");
    }
}
