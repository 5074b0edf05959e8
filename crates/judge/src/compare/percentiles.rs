//! Percentiles of the times of single operations.
//!
//! A rate may stay while the slowest operations take far longer, so both runs' percentiles are
//! shown. They are not judged. Operations of one trial share its disturbances, so their number gives
//! no interval. A percentile's own interval (`ci95`) is over the trials of one run: it does not hold
//! what two runs of one machine differ by. For figures a margin covers that (`margin`), from targets
//! of precision that percentiles do not have, and from the spread of many results.

use proofmark_model::{ComparedPercentile, Latency, Measurement};

/// The percentiles that both results have; none where one of them is invalid.
pub(super) fn compared([a, b]: [Option<&Measurement>; 2]) -> Vec<ComparedPercentile> {
    let latency = |m: Option<&'_ Measurement>| -> Option<Latency> {
        m.filter(|m| m.verdict.is_usable())?.latency.clone()
    };
    let Some((a, b)) = latency(a).zip(latency(b)) else { return Vec::new() };
    let each = [("p50", Some(a.p50), Some(b.p50)), ("p99", a.p99, b.p99)];
    let each = each.into_iter().filter_map(|(name, a, b)| {
        let (a, b) = (a?, b?);
        let value = Some(b / a).filter(|v| v.is_normal() && *v > 0.0)?;
        Some(ComparedPercentile { percentile: name.to_owned(), a, b, value })
    });
    each.filter(|p| p.a.is_finite() && p.b.is_finite()).collect()
}
