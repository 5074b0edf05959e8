//! The delivered part of a headline that leaves out the time that was taken from the threads.

use proofmark_model::{FigureKind, Measurement, Summary};
use serde::Serialize;

use super::num::percentage;
use super::text::clean;

/// The part of a headline that was not delivered.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Lost {
    /// The share that was delivered: `57.4 %`.
    Share(String),
    /// The reason why the delivered figure is missing.
    Unknown(String),
}

impl Lost {
    /// The delivered share, where it is small, or why it is not known. `None` where the headline is
    /// the delivered figure, or the unit counts no work.
    pub fn of_measurement(m: &Measurement) -> Option<Self> {
        let s = other_headline(m).filter(|_| m.unit.is_work())?;
        if let Some(why) = s.delivered.missing.as_ref().filter(|_| s.delivered.value.is_none()) {
            return Some(Self::Unknown(clean(why)));
        }
        small_share(m).and_then(percentage).map(Self::Share)
    }
}

/// The statistics of a result whose headline is not the delivered figure.
fn other_headline(m: &Measurement) -> Option<&Summary> {
    m.summary.as_ref().filter(|s| s.headline != FigureKind::Delivered)
}

/// The delivered figure as a share of the headline; `None` where it is the headline.
pub fn delivered_share(m: &Measurement) -> Option<f64> {
    let s = other_headline(m)?;
    s.delivered_share(s.headline, m.better)
}

/// The delivered share where much was lost.
pub fn small_share(m: &Measurement) -> Option<f64> {
    let s = other_headline(m)?;
    s.small_delivered_share(s.headline, m.better)
}
