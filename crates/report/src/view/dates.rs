//! An axis of dates.

use proofmark_model::Timestamp;

use super::chart::{Axis, Tick};

/// Labels below a chart.
const TICKS: u32 = 4;
/// Milliseconds of a span from which labels are days.
const DAYS: i64 = 2 * 86_400_000;

/// Returns a time to the minute: `2026-11-21 02:03`.
pub fn minute(at: Timestamp) -> String {
    // `2026-11-21 02:03:04 UTC` without its seconds and its zone.
    let text = at.display();
    text.get(..text.len().saturating_sub(7)).unwrap_or(&text).to_owned()
}

/// The time from the first run to the last.
#[derive(Debug, Clone, Copy)]
pub struct Dates {
    first: Timestamp,
    last: Timestamp,
}

impl Dates {
    pub fn new(first: Timestamp, last: Timestamp) -> Self {
        Self { first, last }
    }

    /// Returns the place of a time on the axis; a single one is in the middle.
    pub fn place(self, at: Timestamp) -> f64 {
        let from = |t: Timestamp| t.0.as_second() as f64 - self.first.0.as_second() as f64;
        let span = from(self.last);
        // At the very ends half a sign would be cut.
        if span > 0.0 { 0.03 + 0.94 * (from(at) / span).clamp(0.0, 1.0) } else { 0.5 }
    }

    /// The axis with its labels.
    pub fn axis(self) -> Axis {
        Axis {
            label: "start of the run, UTC".to_owned(),
            ends: [0.0, 1.0],
            ticks: self.ticks(),
            ..Axis::default()
        }
    }

    /// Returns labels of days, or of hours and minutes where all runs are within two days.
    fn ticks(self) -> Vec<Tick> {
        let (from, to) = (self.first.0.as_millisecond(), self.last.0.as_millisecond());
        let span = to.saturating_sub(from);
        let steps = if span > 0 { TICKS } else { 1 };
        let tick = |i: u32| {
            let at = from.saturating_add((span / i64::from(steps)).saturating_mul(i64::from(i)));
            let at = Timestamp::from_millis(at)?;
            let text = minute(at);
            let label = if span > DAYS { text.get(5..10) } else { text.get(11..16) };
            Some(Tick { at: self.place(at), label: label?.to_owned() })
        };
        (0..=if span > 0 { steps } else { 0 }).filter_map(tick).collect()
    }
}
