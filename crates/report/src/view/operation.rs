//! Times of single operations in few words.

use proofmark_model::{Latency, Measurement, Unit, check_id};

use super::num::{Scale, percentage};
use super::text::enclosed;

/// `p50 118.0 us, p99 310.0 us`.
pub fn phrase(m: &Measurement) -> Option<String> {
    let l = m.latency.as_ref()?;
    let p99 = l.p99.and_then(time).unwrap_or_default();
    Some(format!("p50 {}{}", time(l.p50)?, enclosed(", p99 ", &p99, "")))
}

fn time(seconds: f64) -> Option<String> {
    Scale::for_largest([seconds], Unit::Second).with_label(seconds)
}

/// `118.0 us` and `310.0 us`.
pub fn p50_and_p99(l: &Latency) -> Option<[String; 2]> {
    Some([time(l.p50)?, l.p99.and_then(time).unwrap_or_else(|| "-".to_owned())])
}

/// Returns true if the p99 of a result may be that of a disturbance.
pub fn has_disturbed_tail(m: &Measurement) -> bool {
    m.findings.iter().any(|f| f.check == check_id::DISTURBED_TAIL)
}

/// `12.0 %`: half the width of a percentile's interval, as a share of it.
pub fn half_width(value: Option<f64>, ci95: Option<[f64; 2]>) -> Option<String> {
    let (value, [low, high]) = (value?, ci95?);
    percentage(0.5 * (high - low) / value)
}

/// The time of an amount of work at the rate of a result: a reciprocal throughput. `None` where all
/// trials together took less time, so that no such time was measured.
pub fn time_of(m: &Measurement, amount: f64) -> Option<f64> {
    let time = amount / m.summary.as_ref()?.value();
    let all: f64 = m.trials.iter().map(|t| t.seconds).sum();
    let measured = m.trials.is_empty() || time <= all;
    Some(time).filter(|t| t.is_finite() && *t > 0.0 && measured)
}

/// One scale for the times of a workload, on which the shortest keeps its digits.
pub fn scale<'a>(all: impl Iterator<Item = &'a Latency>) -> Scale {
    let medians: Vec<f64> = all.map(|l| l.p50).collect();
    Scale::for_values(&medians, Unit::Second)
}
