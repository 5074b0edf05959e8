//! Contradictions between the events and the times of a sysbench run.

use proofmark_model::Finding;

use super::facts::Facts;
use crate::Malformed;
use crate::findings::differ_unless;
use crate::printed::{Rounded, agree};

/// The width of a histogram's bucket, from which a percentile is taken, as a share.
const BUCKET: f64 = 0.05;

/// Returns the contradictions of a run.
pub(super) fn compare(facts: &Facts) -> Result<Vec<Finding>, Malformed> {
    let ms = |label: &str| facts.labels.value(&[label], "ms");
    let (min, avg, max) = (ms("min")?, ms("avg")?, ms("max")?);
    let threads = facts.labels.whole("Number of threads")? as f64;
    let events = facts.events()?.filter(|n| *n > 0).map(|n| n as f64);
    let execution = facts.value(&["total time taken by event execution"], "s")?;
    let sum = ms("sum")?.map(|ms| ms.value / 1e3).or(execution);
    let mut found = Vec::new();
    if let (Some(min), Some(avg), Some(max)) = (min, avg, max) {
        let [min, avg, max] = [min, avg, max].map(|ms| ms.value);
        let what = || format!("the mean latency {avg} ms is not between {min} and {max} ms");
        found.extend(differ_unless(min <= avg && avg <= max, what));
    }
    if let (Some(sum), Some(avg), Some(events)) = (sum, avg, events) {
        let mean = 1e3 * sum / events;
        found.extend(differ_unless(agree(mean, avg, 1e-4), || {
            format!(
                "the mean latency is {} ms, but {mean:.4} ms by the sum of all events",
                avg.value
            )
        }));
    }
    for percentile in [50, 90, 95, 99] {
        let labels =
            [format!("{percentile}th percentile"), format!("approx.  {percentile} percentile")];
        let value = facts.value(&[&labels[0], &labels[1]], "ms")?;
        if let Some((value, max)) = value.zip(max.map(|max| max.value)) {
            found.extend(differ_unless(value <= max * (1.0 + BUCKET) + 0.01, || {
                format!("the {percentile}th percentile {value} ms is above the maximum {max} ms")
            }));
        }
    }
    let mut by_thread = |label: &str, what: &str, all: Option<f64>, off: f64, share: f64| {
        if let (Some(mean), Some(all)) = (facts.by_thread(label)?, all) {
            let (of_all, all) = (mean.times(threads), Rounded { value: all, off });
            found.extend(differ_unless(agree(of_all, all, share), || {
                let (all, mean) = (all.value, mean.value);
                format!("{all} {what} in all, but {mean} {what} for each of {threads} threads")
            }));
        }
        Ok::<_, Malformed>(())
    };
    by_thread("events (avg/stddev)", "events", events, 0.0, 1e-6)?;
    by_thread("execution time (avg/stddev)", "s", sum, 1e-4, 1e-3)?;
    Ok(found)
}
