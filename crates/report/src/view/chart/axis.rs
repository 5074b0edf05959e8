//! An axis with round labels: linear, logarithmic, or names at equal distances.

use proofmark_model::{format_count, format_size};
use serde::Serialize;

use crate::view::num::ends;

/// Number of ticks that an axis aims at.
const TICKS: f64 = 5.0;
/// Maximum number of powers of ten on a logarithmic axis.
const DECADES: i32 = 9;
/// Values below which a logarithmic axis shows nothing.
const TINY: f64 = 1e-30;
/// Maximum number of powers of ten for which 2 and 5 are labelled too.
const DENSE: f64 = 2.5;
/// Free share of the axis at both ends, where it has a margin.
const MARGIN: f64 = 0.05;
/// Maximum number of sizes that are labelled one by one; of more, about this many powers of two.
const FEW: usize = 7;
const POWERS: u32 = 5;

/// A label of an axis.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Tick {
    pub at: f64,
    pub label: String,
}

/// An axis over values that are finite and below 10 million.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Axis {
    /// The label of the axis, with its unit.
    pub label: String,
    /// True if the axis is logarithmic.
    pub log: bool,
    /// The low and the high end.
    pub ends: [f64; 2],
    /// The labels in ascending order.
    pub ticks: Vec<Tick>,
    /// True if the labels are names, each of which a reader needs.
    pub named: bool,
}

impl Axis {
    /// A linear axis that holds zero and all values; its ends are multiples of the step between
    /// ticks.
    pub fn linear(label: &str, values: impl Iterator<Item = f64>) -> Self {
        let [low, high] = ends(values.chain([0.0]).filter(|v| v.is_finite()));
        let step = match (high - low) / TICKS {
            rough if rough < 1e-10 => return Self::linear(label, [1.0].into_iter()),
            rough => round(rough),
        };
        // Adding zero makes a negative zero positive.
        let (low, high) = ((low / step).floor() + 0.0, (high / step).ceil() + 0.0);
        let digits = (-step.log10().floor()).clamp(0.0, 9.0) as usize;
        let at = |i: i32| (low + f64::from(i)) * step;
        let ticks = (0..=(high - low) as i32)
            .map(|i| Tick { at: at(i), label: number(at(i), digits) })
            .collect();
        Self { label: label.to_owned(), ends: [low * step, high * step], ticks, ..Self::default() }
    }

    /// A logarithmic axis that holds all values above [`TINY`]; its ends begin with 1, 2 or 5.
    pub fn log(label: &str, values: impl Iterator<Item = f64>) -> Self {
        let [low, high] = match ends(values.filter(|v| v.is_finite() && *v > TINY)) {
            found @ [low, high] if low <= high => found,
            _ => [1.0, 10.0],
        };
        let top = high.log10().ceil() as i32;
        let steps: Vec<f64> = (top - DECADES..=top).flat_map(decade).collect();
        let high = steps.iter().copied().find(|s| *s >= high * (1.0 - 1e-9)).unwrap_or(high);
        let below = |s: &&f64| **s <= low * (1.0 + 1e-9) && **s < high;
        let low = steps.iter().rev().find(below).copied().unwrap_or(steps[0]);
        let each = if (high / low).log10() < DENSE { 3 } else { 1 };
        let ticks = (low.log10().floor() as i32..=top)
            .flat_map(|power| decade(power).into_iter().take(each))
            .filter(|v| (low * (1.0 - 1e-9)..=high * (1.0 + 1e-9)).contains(v))
            .map(|at| Tick { at, label: round_number(at) });
        let (label, ticks) = (format!("{label}, log"), ticks.collect());
        Self { label, log: true, ends: [low, high], ticks, named: false }
    }

    pub fn either(log: bool, label: &str, values: impl Iterator<Item = f64>) -> Self {
        if log { Self::log(label, values) } else { Self::linear(label, values) }
    }

    /// A logarithmic axis of sizes in bytes: equal distances are equal factors.
    pub fn sizes(label: &str, sizes: &[u64]) -> Self {
        let log = |bytes: Option<&u64>| bytes.map_or(0, |b| b.max(&1).ilog2());
        let (low, high) = (log(sizes.first()), log(sizes.last()));
        let step = (high - low).div_ceil(POWERS).max(1);
        let powers = (low..=high).step_by(step as usize).map(|e| 1 << e);
        let labelled = if sizes.len() <= FEW { sizes.to_vec() } else { powers.collect() };
        let ends = [sizes.first(), sizes.last()].map(|b| b.map_or(1.0, |b| *b.max(&1) as f64));
        let tick = |b: u64| Tick { at: b.max(1) as f64, label: format_size(b) };
        let ticks = labelled.into_iter().map(tick).filter(|t| t.at >= ends[0]).collect();
        Self { label: label.to_owned(), log: true, ends, ticks, named: false }.with_margin()
    }

    /// Names at equal distances, at 0, 1, 2 and so on.
    pub fn named(label: &str, names: Vec<String>) -> Self {
        let ends = [-0.5, names.len().max(1) as f64 - 0.5];
        let named = !names.is_empty();
        let tick = |(i, label)| Tick { at: i as f64, label };
        let ticks = names.into_iter().enumerate().map(tick).collect();
        Self { label: label.to_owned(), log: false, ends, ticks, named }
    }

    /// Adds a margin at both ends.
    pub fn with_margin(mut self) -> Self {
        let by = MARGIN / (1.0 - 2.0 * MARGIN);
        let [low, high] = self.ends;
        self.ends = match self.log {
            true => [low * (low / high).powf(by), high * (high / low).powf(by)],
            false => [low - by * (high - low), high + by * (high - low)],
        };
        self
    }

    /// Ends the axis at exactly that value.
    pub fn until(mut self, end: f64) -> Self {
        self.ends[1] = end;
        self.ticks.retain(|t| t.at <= end * (1.0 + 1e-9));
        self
    }

    /// The place of a value, 0 at the low end and 1 at the high one.
    pub fn place(&self, value: f64) -> f64 {
        let [low, high] = self.ends;
        let share = match self.log {
            true => (value.max(low) / low).ln() / (high / low).ln(),
            false => (value - low) / (high - low),
        };
        if share.is_nan() { 0.0 } else { share.clamp(0.0, 1.0) }
    }

    /// Returns true if the value lies on the axis.
    pub fn holds(&self, value: f64) -> bool {
        (self.ends[0]..=self.ends[1]).contains(&value)
    }
}

/// The smallest of 1, 2 or 5 times a power of ten that is at least `rough`.
fn round(rough: f64) -> f64 {
    let power = rough.log10().floor() as i32;
    let steps = decade(power).into_iter().chain(decade(power + 1));
    steps.into_iter().find(|s| *s >= rough * (1.0 - 1e-12)).unwrap_or(rough)
}

/// 1, 2 and 5 times that power of ten.
fn decade(power: i32) -> [f64; 3] {
    // Division gives the number nearest to the decimal form; powi with a negative exponent may not.
    let ten = if power < 0 { 1.0 / 10_f64.powi(-power) } else { 10_f64.powi(power) };
    [ten, 2.0 * ten, 5.0 * ten]
}

/// A step of a logarithmic axis: `0.02`, `5 000`; very small and large ones as `2·10⁻⁶`.
fn round_number(at: f64) -> String {
    let power = (at.log10() + 1e-9).floor() as i32;
    if PLAIN.contains(&power) {
        return number(at, (-power).max(0) as usize);
    }
    let sign = |c: char| match c {
        '-' => '⁻',
        digit => SUPERSCRIPTS[digit.to_digit(10).unwrap_or(0) as usize],
    };
    let exponent: String = power.to_string().chars().map(sign).collect();
    match (at / 10_f64.powi(power)).round() as u32 {
        1 => format!("10{exponent}"),
        n => format!("{n}·10{exponent}"),
    }
}

/// Powers of ten whose multiples are written in full.
const PLAIN: std::ops::RangeInclusive<i32> = -4..=5;
const SUPERSCRIPTS: [char; 10] = ['⁰', '¹', '²', '³', '⁴', '⁵', '⁶', '⁷', '⁸', '⁹'];

fn number(value: f64, digits: usize) -> String {
    match digits {
        0 if value >= 0.0 => format_count(value as u64),
        _ => format!("{value:.digits$}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_are_short() {
        for (at, label) in
            [(0.0002, "0.0002"), (5e5, "500\u{202f}000"), (1e-6, "10⁻⁶"), (2e7, "2·10⁷")]
        {
            assert_eq!(round_number(at), label);
        }
    }

    #[test]
    fn any_values_have_an_axis() {
        for odd in [vec![], vec![0.0, -1.0], vec![f64::NAN], vec![5e-324, 9.9e6], vec![1e-300]] {
            for log in [false, true] {
                let axis = Axis::either(log, "", odd.iter().copied());
                assert!((2..40).contains(&axis.ticks.len()), "{axis:?}");
                assert!(axis.place(f64::NAN) == 0.0 && axis.place(1e300) == 1.0, "{axis:?}");
            }
        }
        for sizes in [&[][..], &[0, 1], &[0, u64::MAX], &[7]] {
            assert!(Axis::sizes("", sizes).place(1.0).is_finite());
        }
    }
}
