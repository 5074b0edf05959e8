//! The distribution of the times of single operations.

use hdrhistogram::Histogram;
use proofmark_model::{Latency, LatencyBucket, PERCENTILE_TRIALS, PercentileIntervals, student};

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
        let at = |quantile: f64| seconds_at(h, quantile);
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
            ci95: PercentileIntervals::default(),
            buckets: buckets(h),
        })
    }
}

/// The time that this share of the operations took at most, in seconds: the middle of a range that the
/// histogram does not resolve. The library gives the upper end, which is up to 1 % too high and never
/// too low.
fn seconds_at(h: &Histogram<u64>, quantile: f64) -> f64 {
    let ns = h.value_at_quantile(quantile);
    (h.lowest_equivalent(ns) + h.highest_equivalent(ns)) as f64 / 2.0 * 1e-9
}

/// Times of single operations by trial.
#[derive(Debug, Default)]
pub(crate) struct TrialLatencies(Vec<Latencies>);

/// Share of the cases in which a percentile is above its interval, and below it.
const MISSES: f64 = 0.025;

impl TrialLatencies {
    /// Adds a trial. One without a timed operation is left out.
    pub(crate) fn push(&mut self, trial: Latencies) {
        if trial.histogram.as_ref().is_some_and(|h| !h.is_empty()) {
            self.0.push(trial);
        }
    }

    /// The number of trials.
    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    /// Removes all trials after the first `len`.
    pub(crate) fn truncate(&mut self, len: usize) {
        self.0.truncate(len);
    }

    /// Makes all trials one. A result over time has any number of samples, for which there is no
    /// memory.
    pub(crate) fn join(&mut self) {
        let all = self.joined();
        self.0.clear();
        self.push(all);
    }

    fn joined(&self) -> Latencies {
        let mut all = Latencies::default();
        self.0.iter().for_each(|trial| all.merge(trial));
        all
    }

    /// The distribution over all trials, with the intervals of its percentiles. `None` without an
    /// operation.
    pub(crate) fn summary(&self) -> Option<Latency> {
        let all = self.joined();
        let latency = all.summary()?;
        let pooled = all.histogram.as_ref()?;
        let ci95 = |share: f64, value: Option<f64>| value.and_then(|_| self.ci95(pooled, share));
        let ci95 = PercentileIntervals {
            p50: ci95(0.5, Some(latency.p50)),
            p90: ci95(0.9, latency.p90),
            p99: ci95(0.99, latency.p99),
            p999: ci95(0.999, latency.p999),
            trials: self.len() as u64,
        };
        Some(Latency { ci95, ..latency })
    }

    /// The 95 % interval of a percentile: the times at the ends of the interval of its share (Woodruff,
    /// *Confidence intervals for medians and other position measures*, 1952). Each trial has its own
    /// share of operations up to the percentile; their differences give the interval of the share.
    /// Operations of one trial are not independent: one disturbance makes many of them slow. `None`
    /// where an end of the share's interval is beyond all operations.
    fn ci95(&self, pooled: &Histogram<u64>, share: f64) -> Option<[f64; 2]> {
        let trials = self.0.iter().filter_map(|trial| trial.histogram.as_ref());
        let bound = pooled.value_at_quantile(share);
        let counts: Vec<[f64; 2]> =
            trials.map(|h| [h.count_between(0, bound), h.len()].map(|n| n as f64)).collect();
        let n = counts.len() as f64;
        if counts.len() < PERCENTILE_TRIALS {
            return None;
        }
        let [below, all] = counts.iter().fold([0.0; 2], |sum, c| [sum[0] + c[0], sum[1] + c[1]]);
        let squares: f64 = counts.iter().map(|c| (c[0] - below / all * c[1]).powi(2)).sum();
        let between_trials = (n / (n - 1.0) * squares).sqrt() / all;
        // Of independent operations.
        let least = (share * (1.0 - share) / all).sqrt();
        let half = student(MISSES, n - 1.0) * between_trials.max(least);
        let ends = [share - half, share + half];
        // No operation took as long as an end outside of all shares.
        let are_shares = ends.iter().all(|end| (0.0..1.0).contains(end));
        are_shares.then(|| ends.map(|end| seconds_at(pooled, end)))
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

    fn of_trials(trials: impl IntoIterator<Item = Latencies>) -> TrialLatencies {
        let mut all = TrialLatencies::default();
        trials.into_iter().for_each(|trial| all.push(trial));
        all
    }

    /// The half-width of an interval as a share of the value between its ends.
    fn half_width(value: f64, ci95: Option<[f64; 2]>) -> f64 {
        let [low, high] = ci95.unwrap();
        assert!(low <= value && value <= high, "{low} {value} {high}");
        0.5 * (high - low) / value
    }

    #[test]
    fn one_disturbed_trial_widens_the_interval_of_the_tail_alone() {
        let quiet = || (0..10_000).map(|i| 100_000 + i % 1000 * 30);
        // In a disturbed trial, one operation in twelve waits 3 ms.
        let waits = |i: u64, ns: u64| if i.is_multiple_of(12) { ns + 3_000_000 } else { ns };
        let disturbed = || (0_u64..).zip(quiet()).map(|(i, ns)| waits(i, ns));
        let same = of_trials((0..8).map(|_| recorded(quiet()))).summary().unwrap();
        let one = (0..8).map(|i| if i == 3 { recorded(disturbed()) } else { recorded(quiet()) });
        let one = of_trials(one).summary().unwrap();
        assert!(half_width(same.p99.unwrap(), same.ci95.p99) < 0.02, "{same:?}");
        assert!(one.p99.is_some() && one.ci95.p99.is_none(), "no upper end: {one:?}");
        for quantiles in [&same, &one] {
            assert!(half_width(quantiles.p50, quantiles.ci95.p50) < 0.03, "{quantiles:?}");
        }
        assert_eq!(one.ci95.p999.is_some(), one.p999.is_some());
    }

    /// Of equal trials, the share that lies beyond p99.9 is sure to within less than a thousandth
    /// from 10 000 operations on; where one trial has three times as many slow ones, it is not.
    #[test]
    fn an_interval_needs_operations_above_its_upper_end() {
        let trial = |n: u64, slow: u64| {
            recorded((0..n).map(move |i| if i < slow { 1_000_000 + i } else { 100_000 + i % 1000 }))
        };
        let all = |n: u64, slow: [u64; 6]| of_trials(slow.map(|slow| trial(n, slow)));
        let p999 = |trials: TrialLatencies| {
            let l = trials.summary().unwrap();
            (l.p999.is_some(), l.ci95.p999)
        };
        let (is_known, enough) = p999(all(1667, [2; 6]));
        let [low, high] = enough.unwrap();
        assert!(is_known && low < 2e-4 && high > 9e-4, "{low} {high}");
        assert_eq!(p999(all(1666, [2; 6])), (false, None), "fewer than 10 operations above it");
        // One trial with nearly all of the slow operations: 2.6 standard errors are 1.03 or 0.97
        // thousandths.
        let (is_known, too_few) = p999(all(2000, [0, 0, 2, 2, 2, 6]));
        assert_eq!((is_known, too_few), (true, None), "its upper end is above all operations");
        assert!(p999(all(2000, [1, 1, 2, 2, 2, 4])).1.is_some());
    }

    #[test]
    fn an_interval_needs_six_trials_with_operations() {
        let trials = |n: u64| of_trials((0..n).map(|i| recorded((1..5000).map(|t| t + i))));
        let mut all = trials(6);
        let ci95 = all.summary().unwrap().ci95;
        assert!([ci95.p50, ci95.p90, ci95.p99].iter().all(Option::is_some), "{ci95:?}");
        all.push(Latencies::ready());
        assert_eq!(all.len(), 6, "an empty one is no trial");
        all.truncate(5);
        let five = all.summary().unwrap();
        let without = |trials| PercentileIntervals { trials, ..PercentileIntervals::default() };
        assert_eq!((five.ci95, five.count), (without(5), 5 * 4999));
        let mut long = trials(9);
        let before = long.summary().unwrap();
        long.join();
        let joined = long.summary().unwrap();
        assert_eq!((long.len(), joined.ci95), (1, without(1)));
        assert_eq!(joined.buckets, before.buckets);
    }

    /// Trials whose tails differ: of 200 runs, the interval of the 99th percentile misses that of the
    /// machine in few.
    #[test]
    fn intervals_hold_the_percentile_of_the_machine() {
        let mut state = 88_172_645_463_325_252_u64;
        let mut random = || {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            (state >> 11) as f64 / (1_u64 << 53) as f64
        };
        // A slow operation takes 1 to 2 ms. A trial has 0.5 % to 3.5 % of them, the machine 2 %.
        let mut trial = || {
            let slow = 0.005 + 0.03 * random();
            recorded((0..1000).map(|_| match random() < slow {
                true => 1_000_000 + (1e6 * random()) as u64,
                false => 100_000 + (5e4 * random()) as u64,
            }))
        };
        let runs = (0..200).map(|_| of_trials((0..8).map(|_| trial())).summary().unwrap());
        let holds =
            |l: Latency| l.ci95.p99.is_some_and(|[low, high]| low <= 1.5e-3 && 1.5e-3 <= high);
        let held = runs.filter(|l| holds(l.clone())).count();
        assert!((180..=199).contains(&held), "{held} of 200");
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
