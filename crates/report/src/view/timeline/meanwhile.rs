//! System conditions while samples were taken, by time.

use proofmark_model::Trial;
use serde::Serialize;

use super::{Clock, Timed};
use crate::view::num::median;
use crate::view::num::plain;

/// A system condition on the same time axis, in a narrow chart of its own.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SystemCurve {
    /// Such as `steal`, `throttled`, `clock`, `temperature`.
    pub name: String,
    /// Label of its values' axis, such as `% of the CPUs' time` or `GHz`.
    pub unit: String,
    /// Time and value, in the unit of the time axis and in `unit`.
    pub points: Vec<[f64; 2]>,
    /// Least, median and greatest in words.
    pub about: String,
}

/// A name, a unit, and a value of a sample that had so many CPUs.
type Condition = (&'static str, &'static str, fn(&Trial, f64) -> Option<f64>);

const SHARE: &str = "% of the CPUs' time";

/// Every condition that may be drawn.
const CONDITIONS: [Condition; 6] = [
    ("clock", "GHz", |t, _| t.conditions.clock_hz.map(|v| v / 1e9)),
    ("steal", SHARE, |t, cpus| share(t.conditions.steal_s?, t, cpus)),
    ("throttled by the quota", SHARE, |t, cpus| share(t.conditions.throttled_s?, t, cpus)),
    ("taken by other processes", SHARE, |t, cpus| share(t.conditions.other_cpu_s?, t, cpus)),
    ("temperature", "°C", |t, _| t.conditions.temperature_c),
    ("throttled by heat", "times", |t, _| t.conditions.thermal_throttles.map(|v| v as f64)),
];

/// CPU-seconds as percent of those that the sample had.
fn share(cpu_s: f64, t: &Trial, cpus: f64) -> Option<f64> {
    Some(cpu_s / (t.seconds * cpus) * 100.0).filter(|v| v.is_finite())
}

fn values<'a>(
    timed: &'a [Timed<'a>],
    read: fn(&Trial, f64) -> Option<f64>,
) -> impl Iterator<Item = (f64, f64)> + Clone {
    timed
        .iter()
        .filter_map(move |s| Some((s.at_s, read(s.t, s.cpus)?)))
        .filter(|(_, v)| v.is_finite() && v.abs() < super::AXIS)
}

/// The conditions that were not always zero; of very many samples one in `each`.
pub fn curves(timed: &[Timed], each: usize, clock: Clock) -> Vec<SystemCurve> {
    let curves = CONDITIONS.iter().filter_map(|(name, unit, read)| {
        let all = values(timed, *read);
        all.clone().any(|(_, v)| v != 0.0).then_some(())?;
        let points: Vec<[f64; 2]> =
            all.clone().step_by(each).map(|(at, v)| [clock.at(at), v]).collect();
        let about = range(all.map(|(_, v)| v), unit)?;
        Some(SystemCurve { name: (*name).to_owned(), unit: (*unit).to_owned(), points, about })
    });
    curves.collect()
}

/// A sentence on those that changed, and which of them stayed at zero.
pub fn sentence(timed: &[Timed]) -> Option<String> {
    let (mut moved, mut still) = (Vec::new(), Vec::new());
    for (name, unit, read) in &CONDITIONS {
        let all = values(timed, *read).map(|(_, v)| v);
        match (all.clone().next(), all.clone().any(|v| v != 0.0)) {
            (None, _) => {}
            (_, false) => still.push(*name),
            (_, true) => moved.extend(range(all, unit).map(|r| format!("{name} {r}"))),
        }
    }
    if !still.is_empty() {
        moved.push(format!("zero: {}", still.join(", ")));
    }
    (!moved.is_empty()).then(|| format!("System conditions: {}.", moved.join("; ")))
}

/// `2.9 to 3.1 GHz, mostly 3.0`.
fn range(all: impl Iterator<Item = f64> + Clone, unit: &str) -> Option<String> {
    let (low, high) =
        all.clone().fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), v| (l.min(v), h.max(v)));
    let [low, middle, high] = [low, median(all)?, high].map(|v| plain((v * 100.0).round() / 100.0));
    Some(match low == high {
        true => format!("{low} {unit}"),
        false => format!("{low} to {high} {unit}, median {middle}"),
    })
}
