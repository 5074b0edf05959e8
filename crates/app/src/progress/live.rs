//! The last samples of a series in a line of text.

use std::collections::VecDeque;

use proofmark_model::{RawMeasurement, RawSeries, Timestamp};
use proofmark_report::spark::spark;

use super::scale;

/// Maximum samples that are kept: no terminal is wider.
const MAX_SAMPLES: usize = 512;

const MIN_COLUMNS: usize = 8;

/// Maximum lines of a series without a terminal, and minimum seconds between two.
const MAX_LINES: f64 = 20.0;
const MIN_BETWEEN_S: f64 = 10.0;

/// The recent samples of the series that is being measured.
#[derive(Debug, Default)]
pub(super) struct Live {
    /// The start of the series, which identifies it.
    started: Option<Timestamp>,
    last: VecDeque<f64>,
    range: Option<[f64; 2]>,
    /// The time of the last line, in seconds of the series.
    printed_s: f64,
}

impl Live {
    pub(super) fn add(&mut self, series: &RawSeries, value: f64) {
        if self.started != Some(series.started) {
            *self = Self { started: Some(series.started), ..Self::default() };
        }
        if !value.is_finite() {
            return;
        }
        self.last.push_back(value);
        if self.last.len() > MAX_SAMPLES {
            self.last.pop_front();
        }
        let [low, high] = self.range.unwrap_or([value; 2]);
        self.range = Some([low.min(value), high.max(value)]);
    }

    /// Returns true if a line is due, and stores its time.
    pub(super) fn line_is_due(&mut self, series: &RawSeries, done_s: f64) -> bool {
        let due = done_s - self.printed_s >= (series.for_s / MAX_LINES).max(MIN_BETWEEN_S);
        if due {
            self.printed_s = done_s;
        }
        due
    }

    /// Formats the last sample and the range of all: `64.12 GFLOP/s (30.01 to 66.20)`.
    pub(super) fn figures(&self, m: &RawMeasurement) -> String {
        let (Some(last), Some([low, high])) = (self.last.back(), self.range) else {
            return "no sample yet".to_owned();
        };
        let scale = scale(m, high);
        let number = |value| scale.number(value).unwrap_or_default();
        format!("{} {} ({} to {})", number(*last), scale.label(), number(low), number(high))
    }

    /// Formats the figures, a drawing of the last samples, and the title if it fits.
    pub(super) fn line(&self, m: &RawMeasurement, title: &str, columns: usize) -> String {
        let figures = self.figures(m);
        let left = columns.saturating_sub(figures.chars().count() + 2);
        if left < MIN_COLUMNS {
            return figures;
        }
        let name = title.chars().count() + 2;
        // The name is left out unless the samples keep half of the columns.
        let (spark, name) = match left / 2 > name {
            true => (left - name, format!("  {title}")),
            false => (left, String::new()),
        };
        format!("{figures}  {}{name}", self.spark(spark))
    }

    /// Draws the last samples, one per column.
    fn spark(&self, columns: usize) -> String {
        let from = self.last.len().saturating_sub(columns);
        spark(self.last.iter().skip(from).copied().map(Some), ' ').signs
    }
}

#[cfg(test)]
mod tests {
    use proofmark_engine::Samples;
    use proofmark_model::{Params, PlannedSeries, key};

    use super::*;

    const TITLE: &str = "Integer peak, 1 CPU";

    fn series(started: i64) -> RawSeries {
        let planned = PlannedSeries { point: 0, for_s: 600.0, every_s: 1.0 };
        Samples::begin(&planned, Timestamp::from_millis(started).unwrap())
    }

    fn measurement() -> RawMeasurement {
        let spec = proofmark_workloads::find("cpu.iops").unwrap().spec();
        RawMeasurement::new(spec, Params::default().with(key::THREADS, 1))
    }

    fn live(values: &[f64]) -> Live {
        let mut live = Live::default();
        values.iter().for_each(|v| live.add(&series(0), *v));
        live
    }

    #[test]
    fn the_last_samples_are_drawn_by_their_own_range() {
        assert_eq!(live(&[1e9, 2e9, 3e9, 8e9]).spark(2), "▁▇");
    }

    #[test]
    fn a_line_fits_into_its_columns() {
        let live = live(&[2e9; 300]);
        for columns in 0..200 {
            let line = live.line(&measurement(), TITLE, columns);
            let least = live.figures(&measurement()).chars().count();
            assert!(line.chars().count() <= columns.max(least), "{columns}: {line}");
        }
        let line = live.line(&measurement(), TITLE, 120);
        assert!(line.starts_with("2.000 Gop/s (2.000 to 2.000)  ▄▄▄"), "{line}");
        assert!(line.ends_with(TITLE), "{line}");
    }

    #[test]
    fn the_next_series_begins_anew_and_lines_are_seldom() {
        let mut live = live(&[1.0, 2.0]);
        live.add(&series(5000), 7.0);
        assert_eq!((live.last.len(), live.range), (1, Some([7.0, 7.0])));
        let due = |live: &mut Live| {
            (1..=600).filter(|s| live.line_is_due(&series(0), f64::from(*s))).count()
        };
        assert_eq!(due(&mut live), 20);
    }
}
