//! Small statistics of trials and of runs.

use proofmark_model::{FigureKind, Measurement, Trial};
pub use proofmark_model::{median, median_interval};

/// The most frequent kind of figure. Of equally frequent ones attainable comes before typical, and
/// typical before delivered.
pub fn most_frequent(kinds: impl Iterator<Item = FigureKind> + Clone) -> FigureKind {
    let count = |kind: FigureKind| kinds.clone().filter(|one| *one == kind).count();
    let ordered = [FigureKind::Delivered, FigureKind::Typical, FigureKind::Attainable];
    ordered.into_iter().max_by_key(|kind| count(*kind)).unwrap_or_default()
}

/// The mean; NaN of no value.
pub fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// The sum of the squared deviations from the mean.
pub fn squared_deviations(values: &[f64]) -> f64 {
    let mean = mean(values);
    values.iter().map(|v| (v - mean).powi(2)).sum()
}

/// The median of a figure over the trials that have it.
pub fn median_over(trials: &[Trial], value: impl Fn(&Trial) -> Option<f64>) -> Option<f64> {
    median(&trials.iter().filter_map(value).collect::<Vec<_>>())
}

/// The two readings at the middle, the lower first: one of an odd number, and the median is between
/// them. `None` without a reading.
pub fn middle_readings(values: &[f64]) -> Option<[f64; 2]> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let last = sorted.len().checked_sub(1)?;
    Some([sorted[last / 2], sorted[last.div_ceil(2)]])
}

/// The sum of the first figure over that of the second; `None` if a pair lacks one.
pub fn ratio_of_sums(pairs: impl IntoIterator<Item = Option<(f64, f64)>>) -> Option<f64> {
    let sums = pairs.into_iter().try_fold((0.0, 0.0), |(a, b), pair| {
        let (c, d) = pair?;
        Some((a + c, b + d))
    });
    sums.map(|(a, b)| a / b).filter(|ratio| ratio.is_finite() && *ratio >= 0.0)
}

/// Smallest gain of a result with more in flight that shows unused capacity.
pub const GAINED: f64 = 1.2;
/// Gain below which more in flight gains nothing.
pub const NOTHING: f64 = 1.1;

/// Ratio of another result's rate to this one, if they differ at most in these parameters.
pub fn gain(m: &Measurement, other: &Measurement, parameters: &[impl AsRef<str>]) -> Option<f64> {
    let alike = other.workload == m.workload && other.params.differs_only_in(&m.params, parameters);
    let ratio = other.summary.as_ref()?.value() / m.summary.as_ref()?.value();
    (alike && ratio.is_finite() && ratio > 0.0).then_some(ratio)
}

/// The Theil-Sen slope per step: the median slope over all pairs of values (Sen, 1968). One outlier
/// does not change its sign. `None` for fewer than two values.
pub fn theil_sen(values: &[f64]) -> Option<f64> {
    let mut slopes = Vec::with_capacity(values.len() * values.len() / 2);
    for (i, a) in values.iter().enumerate() {
        for (j, b) in values.iter().enumerate().skip(i + 1) {
            slopes.push((b - a) / (j - i) as f64);
        }
    }
    median(&slopes)
}

/// The standard score of the Mann-Whitney test: below 0 where the first values are lower than the
/// others; `None` if either is empty.
pub fn rank_score(values: &[f64], others: &[f64]) -> Option<f64> {
    let (n, m) = (values.len() as f64, others.len() as f64);
    let wins = |v: f64| others.iter().map(move |o| f64::from(v > *o) + 0.5 * f64::from(v == *o));
    let score = values.iter().flat_map(|v| wins(*v)).sum::<f64>() - n * m / 2.0;
    let deviation = (n * m * (n + m + 1.0) / 12.0).sqrt();
    (deviation > 0.0).then(|| score / deviation)
}

/// The standard score of the rank version of von Neumann's ratio (Bartels, JASA 1982): far below 0
/// if each value resembles the one before it. `None` for fewer than four values, or if all are
/// equal.
pub fn neighbour_score(values: &[f64]) -> Option<f64> {
    if values.len() < 4 {
        return None;
    }
    let rank = |value: &f64| {
        let below = values.iter().filter(|v| *v < value).count();
        let same = values.iter().filter(|v| *v == value).count();
        below as f64 + (same as f64 + 1.0) / 2.0
    };
    let ranks: Vec<f64> = values.iter().map(rank).collect();
    let n = values.len() as f64;
    let middle = (n + 1.0) / 2.0;
    let all: f64 = ranks.iter().map(|r| (r - middle).powi(2)).sum();
    let steps: f64 = ranks.windows(2).map(|pair| (pair[1] - pair[0]).powi(2)).sum();
    let variance =
        4.0 * (n - 2.0) * (5.0 * n * n - 2.0 * n - 9.0) / (5.0 * n * (n + 1.0) * (n - 1.0).powi(2));
    let score = (steps / all - 2.0) / variance.sqrt();
    score.is_finite().then_some(score)
}

/// The standard score of Kendall's test for a trend (Mann, 1945): values without a
/// trend give a score near a standard normal one. Ties count as neither way, which
/// makes the test stricter. `None` for fewer than four values.
pub fn kendall_score(values: &[f64]) -> Option<f64> {
    if values.len() < 4 {
        return None;
    }
    let mut sum = 0_i64;
    for (i, a) in values.iter().enumerate() {
        for b in &values[i + 1..] {
            sum += match b.partial_cmp(a) {
                Some(std::cmp::Ordering::Greater) => 1,
                Some(std::cmp::Ordering::Less) => -1,
                _ => 0,
            };
        }
    }
    let n = values.len() as f64;
    let variance = n * (n - 1.0) * (2.0 * n + 5.0) / 18.0;
    // The continuity correction brings the score one step nearer to zero.
    Some((sum - sum.signum()) as f64 / variance.sqrt())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slope_survives_one_outlier() {
        let mut values: Vec<f64> = (0..10).map(|i| 5.0 + 2.0 * f64::from(i)).collect();
        assert_eq!(theil_sen(&values), Some(2.0));
        values[4] = 1e6;
        assert_eq!(theil_sen(&values), Some(2.0));
        assert_eq!(theil_sen(&[1.0]), None);
    }

    #[test]
    fn kendall_by_hand() {
        // Eight rising values: S = 28, variance 8*7*21/18 = 65.33, score 27/8.083.
        let rising: Vec<f64> = (0..8).map(f64::from).collect();
        assert!((kendall_score(&rising).unwrap() - 27.0 / 65.333_333_f64.sqrt()).abs() < 1e-6);
        let falling: Vec<f64> = rising.iter().rev().copied().collect();
        assert!(kendall_score(&falling).unwrap() < -3.0);
        assert_eq!(kendall_score(&[1.0; 8]), Some(0.0));
        assert_eq!(kendall_score(&[1.0, 2.0, 3.0]), None);
    }
}
