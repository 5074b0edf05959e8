//! The ratio of two sets of trials, with an interval that assumes no shape of the noise.
//!
//! Trials of two runs are independent samples, not pairs. The estimate is that of Hodges and
//! Lehmann (1963) on logarithms: the median over all ratios of a trial of B and one of A. Its
//! interval is that of Moses (Hollander and Wolfe, *Nonparametric Statistical Methods*, 4.3). The
//! k-th smallest and the k-th largest of those n x m ratios contain the true ratio with probability
//! 1 - 2 P(U < k), where U is the statistic of Mann and Whitney (1947). The distribution of U is
//! counted exactly up to n x m = 1000, and taken as normal above. Neither requires normal trials;
//! both require that the noise of A and B differs only by the factor. Below 4 + 4 trials (or 3 + 5)
//! no k reaches 95 %, and there is no interval.

use std::collections::BTreeMap;

use proofmark_model::{MISSES, Ratio, median};

/// Most trials of a side that are used; of more, every n-th.
const MOST: usize = 500;
/// Most pairs for which the distribution is counted.
const COUNTED: usize = 1000;
/// Quantile of the normal distribution for a 95 % interval.
pub(super) const NORMAL_QUANTILE: f64 = 1.959_964;

#[derive(Debug, Clone)]
pub(super) struct RatioEstimate {
    /// B / A.
    pub(super) ratio: Ratio,
    /// The interval, or if there is none the least and the greatest ratio of two trials, from
    /// [`FEWEST`] trials per side.
    pub(super) ends: Option<[f64; 2]>,
}

/// Fewest trials per side for which it counts that all of one side are beyond all of the other.
/// With 3 and 3 of one distribution, that happens one time in 20 on either side.
pub(super) const FEWEST: usize = 3;

/// Cache of ranks by the numbers of trials.
#[derive(Debug, Default)]
pub(super) struct Ranks(BTreeMap<(usize, usize), Option<usize>>);

impl Ranks {
    /// Estimates B / A with its interval, `None` for too few trials. Fails if a side has no trial,
    /// a trial is not above zero, or the ratio is not a normal number.
    pub(super) fn estimate(&mut self, a: &[f64], b: &[f64]) -> Result<RatioEstimate, &'static str> {
        let (a, b) = (logs(a)?, logs(b)?);
        let mut all: Vec<f64> = b.iter().flat_map(|y| a.iter().map(move |x| y - x)).collect();
        all.sort_by(f64::total_cmp);
        let size = (a.len().min(b.len()), a.len().max(b.len()));
        let k = *self.0.entry(size).or_insert_with(|| rank(size.0, size.1));
        let middle = median(&all).ok_or("there is no trial")?;
        let ends = k.and_then(|k| Some([*all.get(k - 1)?, *all.get(all.len() - k)?]));
        let exp = |log: f64| Some(log.exp()).filter(|r| r.is_normal());
        let apart = "the values differ too much for a ratio";
        let ci95 = match ends {
            Some([low, high]) => Some([exp(low).ok_or(apart)?, exp(high).ok_or(apart)?]),
            None => None,
        };
        let ends = match (ci95, all.as_slice()) {
            (None, [low, .., high]) if size.0 >= FEWEST => {
                Some([exp(*low).ok_or(apart)?, exp(*high).ok_or(apart)?])
            }
            _ => ci95,
        };
        Ok(RatioEstimate { ratio: Ratio { median: exp(middle).ok_or(apart)?, ci95 }, ends })
    }
}

/// Logarithms of at most [`MOST`] of the values.
fn logs(values: &[f64]) -> Result<Vec<f64>, &'static str> {
    let step = values.len().div_ceil(MOST).max(1);
    let some: Vec<f64> = values.iter().step_by(step).copied().collect();
    match some.iter().all(|v| v.is_finite() && *v > 0.0) {
        _ if some.is_empty() => Err("there is no trial"),
        false => Err("a trial is zero or negative, so there is no ratio"),
        true => Ok(some.iter().map(|v| v.ln()).collect()),
    }
}

/// The largest k with 2 P(U < k) of at most 5 %, for n <= m trials; `None` if there is none.
fn rank(n: usize, m: usize) -> Option<usize> {
    if n * m > COUNTED {
        let (n, m) = (n as f64, m as f64);
        let sd = (n * m * (n + m + 1.0) / 12.0).sqrt();
        return Some((n * m / 2.0 - NORMAL_QUANTILE * sd).floor() as usize).filter(|k| *k > 0);
    }
    let (orders, total) = count_orders(n, m);
    let mut below = 0.0;
    let mut k = 0;
    for count in orders {
        below += count / total;
        if below > MISSES {
            break;
        }
        k += 1;
    }
    Some(k).filter(|k| *k > 0)
}

/// Counts the orders of n and m values in which U is 0, 1, ... up to its middle, and all orders.
/// The recurrence of Mann and Whitney only adds, so nothing cancels.
fn count_orders(n: usize, m: usize) -> (Vec<f64>, f64) {
    let middle = n * m / 2 + 1;
    let none = || {
        let mut counts = vec![0.0; middle];
        counts[0] = 1.0;
        counts
    };
    let mut rows: Vec<Vec<f64>> = (0..=m).map(|_| none()).collect();
    for _ in 0..n {
        let mut next = vec![none()];
        for (j, row) in rows.iter().enumerate().skip(1) {
            let mut counts = next[j - 1].clone();
            for (u, count) in counts.iter_mut().enumerate().skip(j) {
                *count += row[u - j];
            }
            next.push(counts);
        }
        rows = next;
    }
    let total = (1..=n).fold(1.0, |product, i| product * (m + i) as f64 / i as f64);
    (rows.pop().unwrap_or_default(), total)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ratio(a: &[f64], b: &[f64]) -> Ratio {
        Ranks::default().estimate(a, b).unwrap().ratio
    }

    #[test]
    fn ranks_as_tables_print_them() {
        // Critical values of U, two-sided 5 % (Mann and Whitney's table); k is one more.
        let table = [
            (4, 4, 0),
            (5, 5, 2),
            (6, 6, 5),
            (8, 8, 13),
            (10, 10, 23),
            (20, 20, 127),
            (3, 5, 0),
            (5, 8, 6),
        ];
        for (n, m, u) in table {
            assert_eq!(rank(n, m), Some(u + 1), "{n} and {m}");
        }
        for (n, m) in [(1, 1), (1, 30), (2, 7), (3, 3), (3, 4)] {
            assert_eq!(rank(n, m), None, "{n} and {m}");
        }
    }

    #[test]
    fn counting_and_the_normal_distribution_meet() {
        let counted = rank(30, 30).unwrap() as f64;
        let normal = 30.0 * 30.0 / 2.0 - NORMAL_QUANTILE * (900.0 * 61.0_f64 / 12.0).sqrt();
        assert!((counted - normal).abs() <= 2.0, "{counted} {normal}");
        let (orders, total) = count_orders(9, 9);
        // Symmetric about 40.5: the lower half of the orders.
        assert!((2.0 * orders.iter().sum::<f64>() - total).abs() < 1e-6);
    }

    #[test]
    fn a_ratio_by_hand() {
        let r = ratio(&[1.0, 2.0, 4.0], &[2.0, 4.0, 8.0]);
        assert!((r.median - 2.0).abs() < 1e-12);
        assert_eq!(r.ci95, None, "3 and 3 trials cannot give one");
        let a: Vec<f64> = (0..10).map(|i| 100.0 + f64::from(i)).collect();
        let b: Vec<f64> = a.iter().map(|v| v / 2.0).collect();
        let [low, high] = ratio(&a, &b).ci95.unwrap();
        assert!(low < 0.5 && 0.5 < high && high < 0.53, "{low} {high}");
    }

    #[test]
    fn trials_without_a_ratio_give_the_reason() {
        let refusal = |a: &[f64], b: &[f64]| Ranks::default().estimate(a, b).unwrap_err();
        assert!(refusal(&[], &[1.0]).contains("no trial"));
        for bad in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            assert!(refusal(&[1.0, bad], &[1.0]).contains("zero or negative"), "{bad}");
        }
        assert!(refusal(&[f64::MIN_POSITIVE], &[f64::MAX]).contains("differ too much"));
    }

    #[test]
    fn many_trials_take_bounded_work() {
        let many: Vec<f64> = (1..100_000).map(|i| 1.0 + f64::from(i % 97) / 970.0).collect();
        let r = ratio(&many, &many);
        assert!((r.median - 1.0).abs() < 1e-3 && r.ci95.is_some());
    }

    /// Skewed noise with outliers: the interval must hold the true factor 95 % of the time.
    #[test]
    fn the_interval_holds_the_true_ratio() {
        let mut random = crate::testing::xorshift();
        let mut uniform = move || 1.0 - random();
        let mut ranks = Ranks::default();
        for (n, m) in [(4, 4), (8, 8), (8, 30), (20, 20), (5, 12), (40, 40)] {
            let runs = 1500;
            let mut held = 0;
            for _ in 0..runs {
                // Exponential slow-downs of some percent, and sometimes one of half.
                let mut some = |factor: f64, n: usize| -> Vec<f64> {
                    let mut one = || {
                        let slow = 1.0 + 0.05 * -uniform().ln();
                        factor / if uniform() < 0.05 { slow * 1.5 } else { slow }
                    };
                    (0..n).map(|_| one()).collect()
                };
                let (a, b) = (some(100.0, n), some(70.0, m));
                let [low, high] = ranks.estimate(&a, &b).unwrap().ratio.ci95.unwrap();
                held += u32::from(low <= 0.7 && 0.7 <= high);
            }
            let share = f64::from(held) / f64::from(runs);
            assert!((0.94..=0.99).contains(&share), "{n} and {m}: {share}");
        }
    }
}
