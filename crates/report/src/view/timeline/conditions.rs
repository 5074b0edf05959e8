//! System conditions during the samples, by time.

use proofmark_model::Trial;

use super::{Clock, Timed};
use crate::view::chart::{AXIS, Panel};
use crate::view::num::{ends, median, plain};
use crate::view::text::{enclosed, joined};

/// A name, a unit, and the value of a sample that had that many CPUs.
type Condition = (&'static str, &'static str, fn(&Trial, f64) -> Option<f64>);

const SHARE: &str = "% of the CPUs' time";

const CONDITIONS: [Condition; 6] = [
    ("clock", "GHz", |t, _| t.conditions.clock_hz.map(|v| v / 1e9)),
    ("steal", SHARE, |t, cpus| share(t.conditions.steal_s?, t, cpus)),
    ("throttled by the quota", SHARE, |t, cpus| share(t.conditions.throttled_s?, t, cpus)),
    ("taken by other processes", SHARE, |t, cpus| share(t.conditions.other_cpu_s?, t, cpus)),
    ("temperature", "°C", |t, _| t.conditions.temperature_c),
    ("throttled by heat", "times", |t, _| t.conditions.thermal_throttles.map(|v| v as f64)),
];

/// CPU-seconds in percent of those that the sample had.
fn share(cpu_s: f64, t: &Trial, cpus: f64) -> Option<f64> {
    Some(cpu_s / (t.seconds * cpus) * 100.0).filter(|v| v.is_finite())
}

/// The conditions that were not always zero, with every `each`-th sample; and a sentence on all
/// conditions.
pub fn draw(timed: &[Timed], each: usize, clock: Clock) -> (Vec<Panel>, Option<String>) {
    let (mut moved, mut still) = (Vec::new(), Vec::new());
    for (name, unit, read) in CONDITIONS {
        let all: Vec<[f64; 2]> = timed
            .iter()
            .filter_map(|s| Some([clock.at(s.at_s), read(s.t, s.cpus)?]))
            .filter(|[_, v]| v.is_finite() && v.abs() < AXIS)
            .collect();
        let Some(about) = range(&all, unit) else { continue };
        if all.iter().all(|[_, v]| *v == 0.0) {
            still.push(name);
            continue;
        }
        let points = all.into_iter().step_by(each).collect();
        moved.push(Panel { name: [name, unit].map(str::to_owned), points, about });
    }
    let changed = moved.iter().map(|p| format!("{} {}", p.name[0], p.about));
    let zero = enclosed("zero: ", &joined(still, ", "), "");
    let sentence = enclosed("System conditions: ", &joined(changed.chain([zero]), "; "), ".");
    (moved, Some(sentence).filter(|s| !s.is_empty()))
}

/// `2.9 to 3.1 GHz, median 3.0`.
fn range(all: &[[f64; 2]], unit: &str) -> Option<String> {
    let values = || all.iter().map(|[_, v]| *v);
    let [low, high] = ends(values());
    let [low, middle, high] =
        [low, median(values())?, high].map(|v| plain((v * 100.0).round() / 100.0));
    Some(match low == high {
        true => format!("{low} {unit}"),
        false => format!("{low} to {high} {unit}, median {middle}"),
    })
}
