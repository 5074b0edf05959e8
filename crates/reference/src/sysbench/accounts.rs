//! What every run of sysbench says twice of its events and their times.

use proofmark_model::Finding;

use super::facts::Facts;
use crate::Malformed;
use crate::accounts::{agree, differ, last_place};
use crate::text::number;

/// A percentile is that of a histogram, whose buckets are a few percent wide.
const BUCKET: f64 = 0.05;

/// The contradictions of a run.
pub(super) fn compare(facts: &Facts) -> Result<Vec<Finding>, Malformed> {
    let ms = |label: &str| facts.value(&[label], "ms");
    let (min, avg, max) = (ms("min")?, ms("avg")?, ms("max")?);
    let (events, threads) = (facts.events()?, facts.labels.whole("Number of threads")? as f64);
    let execution = facts.value(&["total time taken by event execution"], "s")?;
    let sum = ms("sum")?.or(execution.map(|seconds| seconds * 1e3));
    let mut found = Vec::new();
    if let (Some(min), Some(avg), Some(max)) = (min, avg, max)
        && !(min <= avg && avg <= max)
    {
        found.push(differ(format!("the mean latency {avg} ms is not between {min} and {max} ms")));
    }
    if let (Some(sum), Some(avg), Some(events)) = (sum, avg, events.filter(|n| *n > 0)) {
        let mean = sum / events as f64;
        if !agree(mean, avg, 1e-4, 0.0051) {
            let what =
                format!("the mean latency is {avg} ms, and {mean:.4} by the sum of all events");
            found.push(differ(what));
        }
    }
    for percentile in [50, 90, 95, 99] {
        let labels =
            [format!("{percentile}th percentile"), format!("approx.  {percentile} percentile")];
        let value = facts.value(&[&labels[0], &labels[1]], "ms")?;
        if let Some((value, max)) = value.zip(max)
            && value > max * (1.0 + BUCKET) + 0.01
        {
            let what =
                format!("the {percentile}th percentile {value} ms is above the maximum {max} ms");
            found.push(differ(what));
        }
    }
    let each = |label: &str| -> Result<Option<(f64, f64)>, Malformed> {
        let fact =
            facts.labels.get(label).and_then(|(at, text)| Some((at, text.split_once('/')?.0)));
        let mean = fact.map(|(at, text)| Ok((number(text, at)?, last_place(text))));
        mean.transpose()
    };
    if let (Some((mean, lost)), Some(events)) = (each("events (avg/stddev)")?, events)
        && !agree(mean * threads, events as f64, 1e-6, lost * threads)
    {
        let what = format!("{events} events in all, {mean} by each of {threads} threads");
        found.push(differ(what));
    }
    if let (Some((mean, lost)), Some(sum)) = (each("execution time (avg/stddev)")?, sum)
        && !agree(mean * threads, sum / 1e3, 1e-3, lost * threads + 1e-4)
    {
        let s = sum / 1e3;
        let what = format!("events took {s:.4} s in all, {mean} s of each of {threads} threads");
        found.push(differ(what));
    }
    Ok(found)
}
