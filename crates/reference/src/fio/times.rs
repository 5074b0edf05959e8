//! The times of single I/Os.

use proofmark_model::{Latency, LatencyBucket, is_quantity};

use super::json::Times;
use crate::Malformed;

/// The bits that fio keeps of a time: 64 buckets an octave (`FIO_IO_U_PLAT_BITS` in its stat.h).
const BITS: u32 = 6;

/// Returns the distribution of the I/O times, from the first of these that has a median. `None` if
/// fio's options switched it off. `ios`: the number of timed I/Os, in versions that do not report
/// it.
pub(super) fn latency(
    times: [Option<&Times>; 2],
    ios: Option<u64>,
    line: usize,
) -> Result<Option<Latency>, Malformed> {
    times.into_iter().flatten().try_for_each(|times| in_order(times, line))?;
    let has_median = |times: &&Times| times.percentile.contains_key("50.000000");
    let Some(times) = times.into_iter().flatten().find(has_median) else {
        return Ok(None);
    };
    let at = |percent: &str| times.percentile.get(percent).map(|ns| seconds(*ns));
    let Some(mean) = times.mean.map(|ns| ns / 1e9) else { return Ok(None) };
    if mean.is_sign_negative() || !is_quantity(mean) {
        return Err(Malformed::at(line, format!("the mean of the latencies is {mean:e} s")));
    }
    let Some(p50) = at("50.000000") else { return Ok(None) };
    Ok(Some(Latency {
        unit: "s".to_owned(),
        count: times.count.or(ios).unwrap_or_default(),
        min: seconds(times.min),
        mean,
        p50,
        p90: at("90.000000"),
        p99: at("99.000000"),
        p999: at("99.900000"),
        max: seconds(times.max),
        ci95: proofmark_model::PercentileIntervals::default(),
        buckets: buckets(times, line)?,
    }))
}

/// The relative error of a percentile: it is the middle of a bucket, and may exceed the maximum.
const BUCKET: f64 = 0.01;

/// Checks the order of the times. Fails if percentiles do not rise up to the maximum, or if the
/// mean is not between minimum and maximum.
fn in_order(times: &Times, line: usize) -> Result<(), Malformed> {
    let mut percentiles: Vec<(f64, u64)> = times
        .percentile
        .iter()
        .filter_map(|(percent, ns)| Some((percent.parse().ok()?, *ns)))
        .collect();
    percentiles.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
    if !percentiles.is_sorted_by_key(|(_, ns)| *ns) {
        return Err(Malformed::at(line, "the percentiles of the latencies are not in their order"));
    }
    let (min, max) = (times.min as f64, times.max as f64);
    let above = percentiles.last().is_some_and(|(_, ns)| *ns as f64 > max * (1.0 + BUCKET) + 1.0);
    if above && max > 0.0 {
        let what = format!("a percentile of the latencies is above their maximum of {max} ns");
        return Err(Malformed::at(line, what));
    }
    let Some(mean) = times.mean else { return Ok(()) };
    let outside = mean < min - 1.0 || mean > max + 1.0;
    if outside && max > 0.0 && is_quantity(mean / 1e9) {
        let what =
            format!("the mean of the latencies, {mean} ns, is not between {min} ns and {max} ns");
        return Err(Malformed::at(line, what));
    }
    Ok(())
}

fn seconds(nanoseconds: u64) -> f64 {
    nanoseconds as f64 / 1e9
}

fn buckets(times: &Times, line: usize) -> Result<Vec<LatencyBucket>, Malformed> {
    let mut bins = Vec::with_capacity(times.bins.len());
    for (middle, count) in &times.bins {
        let middle: u64 = middle.parse().map_err(|_| {
            let what = format!("bin {:?} is no time in ns", Malformed::excerpt(middle));
            Malformed::at(line, what)
        })?;
        bins.push((middle, *count));
    }
    bins.sort_unstable();
    let filled = bins.into_iter().filter(|(_, count)| *count > 0);
    let bucket =
        |(middle, count)| LatencyBucket { upto: seconds(greatest(middle).min(times.max)), count };
    Ok(filled.map(bucket).collect())
}

/// Returns the maximum of the bucket with this middle, in nanoseconds. Below 128 a bucket is one
/// value; then its width doubles with each octave.
fn greatest(middle: u64) -> u64 {
    match middle.checked_ilog2().and_then(|octave| octave.checked_sub(BITS)) {
        None | Some(0) => middle,
        Some(bits) => middle.saturating_add((1 << (bits - 1)) - 1),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bucket_ends_where_the_next_begins() {
        // fio's plat_idx_to_val for the buckets from 126 on: 126, 127, then two values each.
        for (middle, last) in [(0, 0), (1, 1), (127, 127), (129, 129), (131, 131), (255, 255)] {
            assert_eq!(greatest(middle), last, "{middle}");
        }
        // 65536 + 8.5 * 1024: values from 73728 to 74751.
        assert_eq!(greatest(74_240), 74_751);
        assert_eq!(greatest(u64::MAX), u64::MAX);
    }
}
