//! Statistics over trials.
//!
//! The interval of the median is distribution-free, by order statistics (Hollander and Wolfe;
//! recommended by Hoefler and Belli, SC'15, rule 8). The k-th smallest and k-th largest of n values
//! hold the median with probability 1 - 2 P(B < k), where B is binomial(n, 1/2). Five values or
//! fewer cannot reach 95 %, and get no interval.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Minimum number of values: fewer cannot reach 95 %.
pub const MIN_VALUES: usize = 6;

/// Statistics over values.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Statistics {
    /// Number of values.
    pub n: u64,
    /// Arithmetic mean.
    pub mean: f64,
    /// Sample standard deviation (n - 1); null for a single value.
    pub sd: Option<f64>,
    /// Median.
    pub median: f64,
    /// Interval that holds the true median with at least 95 % confidence, by order statistics; null
    /// for fewer than 6 values.
    pub ci95: Option<[f64; 2]>,
    /// Minimum.
    pub min: f64,
    /// Maximum.
    pub max: f64,
}

/// Returns statistics of the values; `None` if there is none, or if one is not finite.
pub fn summarise(values: &[f64]) -> Option<Statistics> {
    if values.is_empty() || values.iter().any(|v| !v.is_finite()) {
        return None;
    }
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let n = sorted.len();
    let mean = sorted.iter().sum::<f64>() / n as f64;
    let sd = (n > 1).then(|| {
        let squares: f64 = sorted.iter().map(|v| (v - mean).powi(2)).sum();
        (squares / (n - 1) as f64).sqrt()
    });
    Some(Statistics {
        n: n as u64,
        mean,
        sd,
        median: median_of_sorted(&sorted),
        ci95: interval_of_sorted(&sorted),
        min: sorted[0],
        max: sorted[n - 1],
    })
}

/// Returns the median of the finite values, in any order; `None` without one.
pub fn median(values: &[f64]) -> Option<f64> {
    let sorted = finite_sorted(values);
    (!sorted.is_empty()).then(|| median_of_sorted(&sorted))
}

/// Returns the interval that holds the median of the finite values with at least 95 %, by order
/// statistics; `None` for fewer than 6.
pub fn median_interval(values: &[f64]) -> Option<[f64; 2]> {
    interval_of_sorted(&finite_sorted(values))
}

/// Returns an interval of which each end misses the median with at most that probability.
pub(crate) fn interval_missing(values: &[f64], each_end: f64) -> Option<[f64; 2]> {
    interval_at(values, rank_missing(values.len(), each_end)?)
}

/// Returns the k-th smallest and the k-th largest of the finite values, from 1.
pub(crate) fn interval_at(values: &[f64], k: usize) -> Option<[f64; 2]> {
    let sorted = finite_sorted(values);
    Some([*sorted.get(k.checked_sub(1)?)?, *sorted.get(sorted.len().checked_sub(k)?)?])
}

fn finite_sorted(values: &[f64]) -> Vec<f64> {
    let mut sorted: Vec<f64> = values.iter().copied().filter(|v| v.is_finite()).collect();
    sorted.sort_by(f64::total_cmp);
    sorted
}

fn median_of_sorted(sorted: &[f64]) -> f64 {
    let n = sorted.len();
    if n % 2 == 1 { sorted[n / 2] } else { f64::midpoint(sorted[n / 2 - 1], sorted[n / 2]) }
}

fn interval_of_sorted(sorted: &[f64]) -> Option<[f64; 2]> {
    let n = sorted.len();
    median_rank(n).map(|k| [sorted[k - 1], sorted[n - k]])
}

/// Number of values up to which f64 can hold P(B = 0).
const EXACT: usize = 1000;

/// Returns the maximum k for which the k-th smallest and the k-th largest of `n` values hold the
/// median with 95 % confidence. `None` for n < 6.
fn median_rank(n: usize) -> Option<usize> {
    if n > EXACT {
        // The normal approximation, which is exact to a rank here (see the tests).
        return Some((0.5 * n as f64 + 0.5 - 0.98 * (n as f64).sqrt()) as usize);
    }
    rank_missing(n, 0.025)
}

/// Returns the maximum k for which each of the two misses the median with at most that probability.
fn rank_missing(n: usize, each_end: f64) -> Option<usize> {
    let mut probability = 0.5_f64.powi(i32::try_from(n).ok()?); // P(B = 0)
    let mut below = 0.0; // P(B < k)
    let mut k = 0;
    while below + probability <= each_end {
        below += probability;
        probability *= (n - k) as f64 / (k + 1) as f64;
        k += 1;
    }
    (k > 0).then_some(k)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use statrs::distribution::{Binomial, DiscreteCDF};

    use super::*;

    #[test]
    fn a_sample_by_hand() {
        let s = summarise(&[2.0, 4.0, 4.0, 4.0, 5.0, 5.0, 7.0, 9.0]).unwrap();
        assert_eq!((s.n, s.mean, s.median, s.min, s.max), (8, 5.0, 4.5, 2.0, 9.0));
        // Sample deviation (n - 1), not population: sqrt(32 / 7).
        assert!((s.sd.unwrap() - (32.0_f64 / 7.0).sqrt()).abs() < 1e-12);
        assert_eq!(s.ci95, Some([2.0, 9.0]));
    }

    #[test]
    fn too_few_values_get_no_interval_and_one_no_deviation() {
        for n in 1..=5 {
            assert_eq!(summarise(&vec![1.0; n]).unwrap().ci95, None, "{n}");
        }
        assert!(summarise(&[1.0; 6]).unwrap().ci95.is_some());
        assert_eq!(summarise(&[1.0]).unwrap().sd, None);
        assert_eq!(summarise(&[]), None);
        assert_eq!(summarise(&[1.0, f64::NAN]), None);
    }

    #[test]
    fn the_rank_is_the_tightest_that_holds() {
        for n in 6..=100 {
            let k = median_rank(n).unwrap() as u64;
            let b = Binomial::new(0.5, n as u64).unwrap();
            assert!(2.0 * b.cdf(k - 1) <= 0.05, "n={n} k={k}");
            assert!(2.0 * b.cdf(k) > 0.05, "n={n} k={k} is not the tightest");
        }
    }

    #[test]
    fn of_very_many_values_the_rank_holds_too_and_is_the_tightest_but_one() {
        for n in (1001..20_000).step_by(37) {
            let k = median_rank(n).unwrap() as u64;
            let b = Binomial::new(0.5, n as u64).unwrap();
            assert!(2.0 * b.cdf(k - 1) <= 0.0501, "n={n} k={k} {}", 2.0 * b.cdf(k - 1));
            assert!(2.0 * b.cdf(k + 1) > 0.05, "n={n} k={k} is not the tightest but one");
        }
    }

    /// Tests METHOD.md, "Interval and stopping rule", on a machine whose noise is known: skewed,
    /// with outliers.
    #[test]
    fn the_interval_holds_the_long_run_median() {
        let mut state = 42_u64;
        let mut uniform = move || {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            (state >> 11) as f64 / (1_u64 << 53) as f64
        };
        for n in [6, 8, 10, 20, 30] {
            let runs = 4000;
            let held = (0..runs)
                .filter(|_| {
                    // Exponential slow-downs below a best rate of 100; the median is 100 - ln 2.
                    let values: Vec<f64> = (0..n).map(|_| 100.0 + uniform().ln()).collect();
                    let [low, high] = summarise(&values).unwrap().ci95.unwrap();
                    let truth = 100.0 - std::f64::consts::LN_2;
                    low <= truth && truth <= high
                })
                .count();
            let share = held as f64 / f64::from(runs);
            assert!((0.94..=0.996).contains(&share), "n={n}: {share}");
        }
    }

    proptest! {
        #[test]
        fn order_does_not_matter_and_the_median_is_inside(
            mut values in prop::collection::vec(-1e12_f64..1e12, 1..40)
        ) {
            let s = summarise(&values).unwrap();
            values.reverse();
            let r = summarise(&values).unwrap();
            prop_assert_eq!(s.median, r.median);
            prop_assert!(s.min <= s.median && s.median <= s.max);
            if let Some([low, high]) = s.ci95 {
                prop_assert!(low <= s.median && s.median <= high);
            }
        }
    }
}
