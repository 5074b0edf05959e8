//! The distribution of the times of single operations.

use hdrhistogram::Histogram;
use proofmark_model::{Latency, LatencyBucket};

/// Times of single operations in an HDR histogram (Tene) with an error of at most 1 %. Its 35 KiB
/// are allocated at the first operation. Code that records in the timed part starts with
/// [`Latencies::ready`].
#[derive(Debug, Clone, Default)]
pub struct Latencies {
    /// In nanoseconds.
    histogram: Option<Histogram<u64>>,
}

const DIGITS: u8 = 2;

/// Longest time that the histogram distinguishes from longer ones: an hour, in nanoseconds.
const LONGEST_NS: u64 = 3_600_000_000_000;

/// Buckets per octave of the distribution.
const STEPS: f64 = 8.0;

/// Minimum number of operations beyond a percentile that is reported.
const BEYOND: f64 = 10.0;

#[cold]
fn empty() -> Histogram<u64> {
    // The library documents these bounds as legal.
    Histogram::new_with_bounds(1, LONGEST_NS, DIGITS)
        .unwrap_or_else(|_| unreachable!("legal bounds"))
}

impl Latencies {
    /// An empty distribution, with the memory for all that will be recorded.
    pub fn ready() -> Self {
        Self { histogram: Some(empty()) }
    }

    /// Counts an operation. Allocates nothing after [`Latencies::ready`] or another operation.
    pub fn record(&mut self, nanoseconds: u64) {
        self.histogram.get_or_insert_with(empty).saturating_record(nanoseconds);
    }

    /// Adds the operations of another thread or trial.
    pub fn merge(&mut self, other: &Self) {
        if let Some(theirs) = other.histogram.as_ref().filter(|h| !h.is_empty()) {
            // Never fails: all histograms have the same bounds.
            let _ = self.histogram.get_or_insert_with(empty).add(theirs);
        }
    }

    /// Removes all operations and keeps the memory.
    pub fn clear(&mut self) {
        if let Some(h) = &mut self.histogram {
            h.reset();
        }
    }

    /// The distribution; `None` without an operation.
    pub fn summary(&self) -> Option<Latency> {
        let h = self.histogram.as_ref()?;
        let count = h.len();
        if count == 0 {
            return None;
        }
        // The middle of a range that the histogram does not resolve. The library gives the upper
        // end, which is up to 1 % too high and never too low.
        let middle = |ns: u64| (h.lowest_equivalent(ns) + h.highest_equivalent(ns)) as f64 / 2.0;
        let at = |quantile: f64| middle(h.value_at_quantile(quantile)) * 1e-9;
        let supported = |quantile: f64| {
            (count as f64 * (1.0 - quantile) >= BEYOND - 1e-6).then(|| at(quantile))
        };
        Some(Latency {
            unit: "s".to_owned(),
            count,
            min: h.min() as f64 * 1e-9,
            mean: h.mean() * 1e-9,
            p50: at(0.5),
            p90: supported(0.9),
            p99: supported(0.99),
            p999: supported(0.999),
            max: h.max() as f64 * 1e-9,
            buckets: buckets(h),
        })
    }
}

/// The histogram in steps of an eighth of an octave.
fn buckets(h: &Histogram<u64>) -> Vec<LatencyBucket> {
    let mut buckets: Vec<(i32, u64)> = Vec::new();
    for v in h.iter_recorded() {
        let step = ((v.value_iterated_to().max(1) as f64).log2() * STEPS).ceil() as i32;
        match buckets.last_mut() {
            Some((last, count)) if *last == step => *count += v.count_since_last_iteration(),
            _ => buckets.push((step, v.count_since_last_iteration())),
        }
    }
    let upto = |step: i32| 2_f64.powf(f64::from(step) / STEPS) * 1e-9;
    buckets.into_iter().map(|(s, count)| LatencyBucket { upto: upto(s), count }).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn recorded(times: impl IntoIterator<Item = u64>) -> Latencies {
        let mut l = Latencies::default();
        times.into_iter().for_each(|t| l.record(t));
        l
    }

    #[test]
    fn nothing_has_no_distribution_and_takes_no_memory() {
        let mut none = Latencies::default();
        none.merge(&Latencies::default());
        none.merge(&Latencies::ready());
        none.clear();
        assert!(none.histogram.is_none());
        assert_eq!([none.summary(), Latencies::ready().summary()], [None, None]);
        none.merge(&recorded([5]));
        assert_eq!(none.summary().unwrap().count, 1);
        none.clear();
        assert_eq!(none.summary(), None);
    }

    #[test]
    fn percentiles_only_where_the_sample_carries_them() {
        let s = recorded(1..=999).summary().unwrap();
        assert!(s.p90.is_some() && s.p99.is_none() && s.p999.is_none());
        assert_eq!(recorded(1..=5).summary().unwrap().p90, None);
    }

    #[test]
    fn longer_than_the_longest_still_counts() {
        assert_eq!(recorded([u64::MAX]).summary().unwrap().count, 1);
    }

    proptest! {
        #[test]
        fn against_sorted_times(
            times in prop::collection::vec(1_u64..10_000_000_000, 10_000..10_050),
            cut in 0_usize..10_000,
        ) {
            let mut two = recorded(times[..cut].iter().copied());
            two.merge(&recorded(times[cut..].iter().copied()));
            let s = two.summary().unwrap();
            let mut sorted = times.clone();
            sorted.sort_unstable();
            let exact = |q: f64| sorted[(q * sorted.len() as f64).ceil() as usize - 1] as f64 * 1e-9;
            for (got, q) in [(Some(s.p50), 0.5), (s.p90, 0.9), (s.p99, 0.99), (s.p999, 0.999)] {
                let got = got.unwrap();
                prop_assert!((got / exact(q) - 1.0).abs() < 0.005, "{q}: {got} {}", exact(q));
            }
            prop_assert_eq!(s.count, times.len() as u64);
            prop_assert_eq!(s.buckets.iter().map(|b| b.count).sum::<u64>(), s.count);
            prop_assert!(s.buckets.is_sorted_by(|a, b| a.upto < b.upto));
            let below = |t: f64| sorted.iter().filter(|ns| **ns as f64 * 1e-9 <= t * 1.01).count() as u64;
            let mut counted = 0;
            for b in &s.buckets {
                counted += b.count;
                prop_assert!(counted <= below(b.upto));
            }
        }
    }
}
