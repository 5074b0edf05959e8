//! The robust line through a series: Theil and Sen's, with the interval of Sen (1968) by Kendall's
//! variance. The interval is wider if noise persists from trial to trial, since such trials show
//! less than independent ones. Exact up to some hundred trials; beyond, by a fixed sample of the
//! pairs.

use proofmark_model::Trend;

use crate::statistics::median;

/// Fewest trials of a trend.
const LEAST_TRIALS: usize = 6;
/// Most trials of which all pairs are used.
const EXACT: usize = 500;
/// Number of pairs that are used beyond.
const PAIRS: usize = 100_000;
/// Two-sided 95 % of the normal distribution.
const SCORE: f64 = 1.96;

/// Fits the line to values at these seconds. Their noise persists, so that a score is worth the
/// part `discount` of that of independent values.
pub(super) fn fit(seconds: &[f64], values: &[f64], discount: f64) -> Option<Trend> {
    let n = values.len();
    if n < LEAST_TRIALS {
        return None;
    }
    let slope = |i: usize, j: usize| (values[j] - values[i]) / (seconds[j] - seconds[i]);
    let mut slopes: Vec<f64> = match n <= EXACT {
        true => {
            (0..n).flat_map(|i| (i + 1..n).map(move |j| (i, j))).map(|(i, j)| slope(i, j)).collect()
        }
        false => {
            // Weyl's sequence: evenly spread and reproducible (golden ratio, plastic number).
            let at = |k: usize, by: f64| ((k as f64 * by).fract() * n as f64) as usize % n;
            let pairs = (1..=PAIRS).map(|k| (at(k, 0.754_877_666), at(k, 0.569_840_290)));
            pairs.filter(|(i, j)| i != j).map(|(i, j)| slope(i.min(j), i.max(j))).collect()
        }
    };
    slopes.retain(|s| s.is_finite());
    slopes.sort_by(f64::total_cmp);
    let slope = median(&slopes)?;
    let rests: Vec<f64> = values.iter().zip(seconds).map(|(v, s)| v - slope * s).collect();
    // Standard deviation of Kendall's S without a trend, in ranks of all pairs.
    let count = n as f64;
    let deviation = (count * (count - 1.0) * (2.0 * count + 5.0) / 18.0).sqrt();
    let share = SCORE / discount * deviation / (count * (count - 1.0) / 2.0);
    let rank = |share: f64| ((share * slopes.len() as f64) as usize).min(slopes.len() - 1);
    let ci95 = (share < 1.0)
        .then(|| [slopes[rank((1.0 - share) / 2.0)], slopes[rank((1.0 + share) / 2.0)]]);
    Some(Trend { start: median(&rests)?, slope, ci95 })
}

#[cfg(test)]
mod tests {
    use super::super::segments::Noise;
    use super::*;
    use crate::testing::xorshift;

    fn found(seconds: &[f64], values: &[f64]) -> Option<Trend> {
        fit(seconds, values, Noise::estimate(values).discount())
    }

    fn line(
        n: usize,
        slope: f64,
        noise: f64,
        random: &mut impl FnMut() -> f64,
    ) -> (Vec<f64>, Vec<f64>) {
        let seconds: Vec<f64> = (0..n).map(|i| i as f64 * 2.0).collect();
        let values = seconds.iter().map(|s| 100.0 + slope * s + noise * (random() - 0.5)).collect();
        (seconds, values)
    }

    #[test]
    fn a_line_is_found_through_wild_values() {
        let mut random = xorshift();
        for n in [50, 3000] {
            let (seconds, mut values) = line(n, -0.01, 0.5, &mut random);
            values.iter_mut().step_by(7).for_each(|v| *v = 3.0);
            let trend = fit(&seconds, &values, 1.0).unwrap();
            assert!((trend.slope + 0.01).abs() < 0.004, "{n}: {trend:?}");
            assert!((trend.start - 100.0).abs() < 1.0, "{n}: {trend:?}");
        }
        let (seconds, values) = line(5, 1.0, 0.0, &mut random);
        assert!(fit(&seconds, &values, 1.0).is_none() && fit(&[], &[], 1.0).is_none());
        assert!(fit(&[0.0; 8], &[1.0; 8], 1.0).is_none(), "all at one moment");
    }

    #[test]
    fn the_interval_holds_the_slope() {
        let mut random = xorshift();
        for (n, runs) in [(12, 400), (60, 200), (600, 20)] {
            let held = (0..runs)
                .filter(|_| {
                    let (seconds, values) = line(n, 0.02, 5.0, &mut random);
                    let [low, high] = fit(&seconds, &values, 1.0).unwrap().ci95.unwrap();
                    low <= 0.02 && 0.02 <= high
                })
                .count();
            assert!(held * 100 >= 90 * runs, "{n}: {held} of {runs}");
            assert!(n == 600 || held < runs, "{n}: it is no interval if it holds everything");
        }
    }

    #[test]
    fn noise_that_persists_is_no_trend() {
        let mut random = xorshift();
        for (n, runs) in [(120, 200), (600, 60)] {
            let held = (0..runs)
                .filter(|_| {
                    let (seconds, mut values) = line(n, 0.0, 0.0, &mut random);
                    let mut now = 0.0;
                    for value in &mut values {
                        now = 0.7 * now + random() - 0.5;
                        *value += now;
                    }
                    let [low, high] = found(&seconds, &values).unwrap().ci95.unwrap();
                    low <= 0.0 && 0.0 <= high
                })
                .count();
            // Without the discount it holds in some 60 %.
            assert!(held * 100 >= 82 * runs, "{n}: {held} of {runs}");
        }
    }
}
