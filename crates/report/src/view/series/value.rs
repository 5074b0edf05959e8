//! Values that a chart shows of a measurement.

use proofmark_model::{Ceiling, Measurement, Reliance, Unit, Verdict, key};

use crate::view::chart::{AXIS, Mark};
use crate::view::disk::{fall, fall_phrase};
use crate::view::label::{Group, interval};
use crate::view::num::Scale;
use crate::view::operation;
use crate::view::text::{enclosed, joined};
use crate::view::{verdict_mark, workload_figure};

#[derive(Debug, Clone, Copy)]
pub enum Value {
    Rate,
    /// The rate as operations per second of the result's own block size.
    Iops,
    /// The median time of single operations.
    P50,
    /// Bytes of messages per second in one direction, of round trips.
    Payload,
    /// The time of an amount of work at the result's rate: `amount / rate`.
    TimeOf(fn(&Group, &Measurement) -> Option<f64>),
}

impl Value {
    /// The value in base units.
    pub fn read(self, group: &Group, m: &Measurement) -> Option<f64> {
        let value = match self {
            Self::Rate | Self::Iops => m.summary.as_ref()?.value(),
            Self::P50 => m.latency.as_ref()?.p50,
            Self::Payload => m.summary.as_ref()?.value() * block(m)?,
            Self::TimeOf(amount) => operation::time_of(m, amount(group, m)?)?,
        };
        Some(value).filter(|v| v.is_finite())
    }

    pub fn unit(self, m: &Measurement) -> Unit {
        match self {
            Self::Rate | Self::Iops => m.unit,
            Self::Payload => Unit::BytePerSecond,
            Self::P50 | Self::TimeOf(_) => Unit::Second,
        }
    }

    /// The word for the values.
    pub fn noun(self, group: &Group) -> &'static str {
        match (self, group.all.first().map(|m| m.unit)) {
            (Self::Iops, _) => "IOPS",
            (Self::P50, _) => "p50",
            (_, Some(Unit::Second)) => "latency",
            _ => "rate",
        }
    }

    /// The mark on a scale; `None` where it has no place there.
    pub fn mark(self, group: &Group, m: &Measurement, scale: &Scale) -> Option<Mark> {
        let value = self.read(group, m)?;
        let place = group.short(m);
        let (about, interval) = match self {
            Self::Rate | Self::Iops => return mark(group, m, scale),
            Self::P50 => (format!("{place}: {}", operation::phrase(m)?), None),
            Self::Payload => {
                let of = |rate: f64| on_axis(scale, rate * block(m)?);
                let ends = interval(m).and_then(|[low, high]| Some([of(low)?, of(high)?]));
                (format!("{place}: {}", scale.with_label(value)?), ends)
            }
            Self::TimeOf(amount) => {
                let of = |rate: f64| on_axis(scale, amount(group, m)? / rate);
                let name = joined([group.heading(), place], ", ");
                (
                    format!("{name}: {}", scale.with_label(value)?),
                    interval(m).and_then(|[low, high]| Some([of(high)?, of(low)?])),
                )
            }
        };
        let about = format!("{about}, {}", verdict_mark(m.verdict));
        Some(Mark { interval, ..mark_at(scale, value, about, m.verdict)? })
    }
}

fn block(m: &Measurement) -> Option<f64> {
    m.params.get(key::BLOCK_SIZE).map(|bytes| bytes as f64)
}

/// The value on a scale; `None` if it is not finite, or too large for a chart.
pub fn on_axis(scale: &Scale, value: f64) -> Option<f64> {
    Some(scale.scaled(value)).filter(|v| v.is_finite() && v.abs() < AXIS)
}

/// Both ends of an interval on a scale.
pub fn both_on_axis(scale: &Scale, [low, high]: [f64; 2]) -> Option<[f64; 2]> {
    Some([on_axis(scale, low)?, on_axis(scale, high)?])
}

/// A mark with its text; `None` where it has no place.
pub fn mark_at(scale: &Scale, value: f64, about: String, verdict: Verdict) -> Option<Mark> {
    let (value, text) = (on_axis(scale, value)?, scale.number(value)?);
    Some(Mark { value, text, about, verdict, ..Mark::default() })
}

/// The mark of a headline figure, with interval and ceiling.
pub fn mark(group: &Group, m: &Measurement, scale: &Scale) -> Option<Mark> {
    let value = m.summary.as_ref()?.value();
    let reliance = m.ceiling.as_ref().map(Ceiling::reliance);
    Some(Mark {
        interval: interval(m).and_then(|i| both_on_axis(scale, i)),
        ceiling: m.ceiling.as_ref().and_then(|c| on_axis(scale, c.value)),
        doubt_of_ceiling: reliance.filter(|r| *r != Reliance::Known),
        fall: fall(m).and_then(|f| both_on_axis(scale, f)),
        ..mark_at(scale, value, about(group, m, scale, value), m.verdict)?
    })
}

/// The text that a pointer over a mark shows.
fn about(group: &Group, m: &Measurement, scale: &Scale, value: f64) -> String {
    let interval = interval(m).and_then(|i| scale.interval(i));
    let near = workload_figure::near(m, scale).map(|n| format!("{} % {}", n.percent, n.of));
    let ceiling = m.ceiling.as_ref().and_then(|c| scale.with_label(c.value));
    let parts = [
        scale.with_label(value),
        Some(interval.map_or_else(|| "no interval".to_owned(), |i| format!("95 % interval {i}"))),
        match (near, ceiling) {
            (Some(near), _) => Some(near),
            (None, Some(ceiling)) => Some(format!("ceiling {ceiling}")),
            _ => None,
        },
        Some(verdict_mark(m.verdict).to_owned()),
        fall_phrase(m, scale),
        group.oversubscribed(m).then(|| "oversubscribed".to_owned()),
    ];
    enclosed("", &group.short(m), ": ") + &joined(parts.into_iter().flatten(), ", ")
}
