//! Moment at which a level changed to the next, within the sample that includes both.
//!
//! A sample during which the change happened did a part of its work at either rate. So its own rate
//! shows how much of its time had passed.

use proofmark_model::{Series, Trial, Unit};

use super::segments::{Noise, between};
use crate::statistics::median;

/// Smallest distance of a trial from its own level, as a share of the levels' distance, at which it
/// is between the two.
const BETWEEN: f64 = 0.1;
/// The same distance in standard deviations of the noise.
const OVER_NOISE: f64 = 3.0;

#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Moment {
    /// Seconds after the first sample's start.
    pub(super) at_s: f64,
    /// The first trial that is not wholly of the level before.
    pub(super) before: usize,
    /// The first trial that is wholly of the level after.
    pub(super) after: usize,
}

/// Start of each trial in seconds after the first, in order, and the end of the last one.
pub(super) fn starts(series: &Series, trials: &[Trial]) -> Vec<f64> {
    let mut last = 0.0_f64;
    let mut all: Vec<f64> = trials
        .iter()
        .map(|t| {
            last = last.max(series.seconds_at(t));
            last
        })
        .collect();
    let lasted = trials.last().map_or(0.0, |t| t.seconds);
    all.push(last + if lasted.is_finite() { lasted.max(0.0) } else { 0.0 });
    all
}

/// The moment of one of the cuts.
pub(super) fn moment(
    unit: Unit,
    values: &[f64],
    starts: &[f64],
    cuts: &[usize],
    which: usize,
    noise: &Noise,
) -> Moment {
    let cut = cuts[which];
    let (from, to) = between(values, cuts, which);
    // Work, and so a rate, adds up over a sample's time; a time is its inverse.
    let rate = |value: f64| unit.rate(value);
    let level = |part: &[f64]| median(part).map(rate);
    let whole = Moment { at_s: starts[cut], before: cut, after: cut };
    // Without the trials next to the cut, if others are left.
    let left = &values[from..cut];
    let right = &values[cut..to];
    let (Some(before), Some(after)) = (
        level(if left.len() > 2 { &left[..left.len() - 1] } else { left }),
        level(if right.len() > 2 { &right[1..] } else { right }),
    ) else {
        return whole;
    };
    let relative_noise = noise.sd / median(values).unwrap_or(1.0) * before.max(after);
    let least = BETWEEN.max(OVER_NOISE * relative_noise / (before - after).abs());
    // Shares of the time of the trials next to the cut that belong to the other side.
    let of_left = (before - rate(values[cut - 1])) / (before - after);
    let of_right = (rate(values[cut]) - after) / (before - after);
    let off = |share: f64| if share > least && share <= 1.0 { share } else { 0.0 };
    let (of_left, of_right) = (off(of_left), off(of_right));
    let lasted = |i: usize| starts[i + 1] - starts[i];
    Moment {
        at_s: starts[cut] - of_left * lasted(cut - 1) + of_right * lasted(cut),
        before: if of_left > 0.0 { cut - 1 } else { cut },
        after: if of_right > 0.0 { cut + 1 } else { cut },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(unit: Unit, values: &[f64], cut: usize) -> Moment {
        let starts: Vec<f64> = (0..=values.len()).map(|i| i as f64).collect();
        moment(unit, values, &starts, &[cut], 0, &Noise::estimate(values))
    }

    #[test]
    fn a_sample_of_both_levels_shows_when_within_it() {
        let mut values = vec![100.0; 20];
        values[10..].fill(50.0);
        let plain = Moment { at_s: 10.0, before: 10, after: 10 };
        assert_eq!(at(Unit::OpPerSecond, &values, 10), plain);
        // Eight tenths at 100, the rest at 50, on either side of the cut.
        values[10] = 90.0;
        for (cut, before, after) in [(10, 10, 11), (11, 10, 11)] {
            let found = at(Unit::OpPerSecond, &values, cut);
            assert!((found.at_s - 10.8).abs() < 1e-9, "{found:?}");
            assert_eq!((found.before, found.after), (before, after));
        }
    }

    #[test]
    fn of_a_time_the_rates_are_mixed() {
        let mut values = vec![1.0; 20];
        values[10..].fill(2.0);
        // A quarter of the time at 1 operation per second, the rest at a half.
        values[10] = 1.0 / (0.25 + 0.75 * 0.5);
        assert!((at(Unit::Second, &values, 10).at_s - 10.25).abs() < 1e-9);
    }

    #[test]
    fn noise_is_no_part_of_the_other_level() {
        let mut random = crate::testing::xorshift();
        let mut values: Vec<f64> = (0..40).map(|_| 100.0 + 4.0 * (random() - 0.5)).collect();
        values[20..].iter_mut().for_each(|v| *v -= 10.0);
        let found = at(Unit::OpPerSecond, &values, 20);
        assert_eq!((found.before, found.after), (20, 20), "{found:?}");
    }
}
