//! What a run of sysbench measures.

use proofmark_model::{Finding, Latency, Params, Severity, Subsystem, Unit};

use super::accounts;
use super::facts::{EDGES, Fact, Facts, MIB, runs, size};
use super::fileio::fileio;
use crate::accounts::{agree, differ};
use crate::rated::rated;
use crate::text::{number, whole};
use crate::{Figure, Malformed, Output};

const PRIMES: [&str; 3] =
    ["Prime numbers limit", "Primer numbers limit", "Maximum prime number checked in CPU test"];

pub(super) fn read(text: &str) -> Result<Output, Malformed> {
    let runs = runs(text)?;
    let version = runs.first().and_then(|run| run.version);
    let version = version.filter(|v| runs.iter().all(|run| run.version.is_none_or(|of| of == *v)));
    let figures = runs.iter().map(figure).collect::<Result<_, _>>()?;
    Ok(Output { version: version.map(str::to_owned), started: None, figures })
}

fn figure(facts: &Facts) -> Result<Figure, Malformed> {
    let mut figure = if let Some(limit) = facts.any(&PRIMES) {
        cpu(facts, limit)?
    } else if facts.labels.get("Running memory speed test with the following options").is_some()
        || facts.between("Doing memory operations speed test", "").is_some()
    {
        memory(facts)?
    } else if let Some(flags) = facts.labels.get("Extra file open flags") {
        fileio(facts, flags)?
    } else {
        return Err(unread(facts));
    };
    figure.params = figure.params.with("threads", facts.labels.whole("Number of threads")?);
    figure.latency = latency(facts)?;
    figure.findings.extend(accounts::compare(facts)?);
    figure.findings.extend(facts.warnings.iter().map(|warning| {
        let advice = "look for its cause, and measure again without it";
        Finding::new(
            "tool_warning",
            Severity::Note,
            Malformed::excerpt(warning.trim_start_matches("WARNING:")),
            advice,
        )
    }));
    Ok(figure)
}

/// Names the version and the test of a run that is not read.
fn unread(facts: &Facts) -> Malformed {
    let said = |labels: &[&str], sentence: &str| {
        facts.any(labels).is_some() || facts.between(sentence, "").is_some()
    };
    let test = if said(&["SQL statistics", "OLTP test statistics"], "Doing OLTP test.") {
        "a test of a database"
    } else if said(&[], "Doing thread subsystem performance test") {
        "the test threads"
    } else if said(&[], "Doing mutex performance test") {
        "the test mutex"
    } else {
        "no test that is known (threads and mutex do not print their names)"
    };
    let version = facts.version.unwrap_or("of unknown version");
    let what = format!("sysbench {version}: {test}; its cpu, memory and fileio are read");
    Malformed::at(facts.labels.last, what)
}

fn cpu(facts: &Facts, (at, limit): Fact) -> Result<Figure, Malformed> {
    let params = Params::default().with("cpu-max-prime", whole(limit, at)?);
    let (at, _) = facts.labels.need("total number of events")?;
    let events = facts.events()?.unwrap_or_default() as f64;
    let by_time = facts.seconds()?.map(|seconds| events / seconds);
    let printed = facts.value(&["events per second"], "")?;
    let rate = printed.or(by_time);
    let rate =
        rate.map_or_else(|| facts.labels.number("events per second", "").map(|r| r.1), Ok)?;
    let trial = rated(Unit::OpPerSecond, events, rate, at)?;
    let title = format!("sysbench cpu, primes up to {limit}");
    let what = (Subsystem::Cpu, Unit::OpPerSecond);
    let mut figure = Figure::rate("cpu", title, what, params, trial);
    if let Some(by_time) = by_time.filter(|by_time| !agree(*by_time, rate, EDGES, 0.0)) {
        let what =
            format!("{rate} events per second, {by_time:.2} by their number and the total time");
        figure.findings.push(differ(what));
    }
    Ok(figure)
}

fn memory(facts: &Facts) -> Result<Figure, Malformed> {
    let (at, operation) = facts.need(&["operation", "Memory operations type"])?;
    if !["read", "write"].contains(&operation) {
        let operation = Malformed::excerpt(operation);
        return Err(Malformed::at(at, format!("operation {operation:?} moves no bytes")));
    }
    let block = size(facts.need(&["block size", "Memory block size"])?)?;
    let params = Params::default()
        .with("memory-scope", facts.need(&["scope", "Memory scope type"])?.1)
        .known("block_size", block);
    // Before 1.0 it called 2^20 bytes a MB.
    let moved = [(" MiB transferred (", " MiB/sec)"), (" MB transferred (", " MB/sec)")];
    let moved = moved.iter().find_map(|(words, end)| {
        let (at, text) = facts.ending(end)?;
        Some((at, text.split_once(words)))
    });
    let Some((at, moved)) = moved else {
        return Err(Malformed::at(facts.labels.last, "no 'MiB transferred' in it"));
    };
    let Some((moved, rate)) = moved else {
        return Err(Malformed::at(at, "expected MiB transferred, and MiB/sec in brackets"));
    };
    let (moved, rate) = (number(moved, at)? * MIB, number(rate, at)? * MIB);
    let trial = rated(Unit::BytePerSecond, moved, rate, at)?;
    let (test, title) = (format!("memory_{operation}"), format!("sysbench memory, {operation}"));
    let what = (Subsystem::Memory, Unit::BytePerSecond);
    let seconds = trial.seconds;
    let mut figure = Figure::rate(test, title, what, params, trial);
    let operations = facts.any(&["Total operations", "Operations performed"]);
    let operations: Option<f64> =
        operations.and_then(|(_, text)| text.split(['(', ' ']).next()?.parse().ok());
    if let Some((operations, block)) = operations.zip(block)
        && !agree(moved, block as f64 * operations, 0.0, 0.011 * MIB)
    {
        figure
            .findings
            .push(differ(format!("{moved} bytes moved, in {operations} blocks of {block}")));
    }
    let total = facts.seconds()?.filter(|total| !agree(*total, seconds, EDGES, 0.011));
    figure.findings.extend(total.map(|total| {
        differ(format!("the bytes took {seconds:.4} s by their rate, {total} s by the total time"))
    }));
    Ok(figure)
}

/// The times of events, where the percentile is the median; printed in ms with two digits behind
/// the point, of which a `0.00` is no time. Left out where one of them is that short.
fn latency(facts: &Facts) -> Result<Option<Latency>, Malformed> {
    let median = facts.value(&["50th percentile", "approx.  50 percentile"], "ms")?;
    let (Some(p50), Some(count)) = (median, facts.events()?) else { return Ok(None) };
    let ms = |label: &str| match facts.value(&[label], "ms")? {
        Some(ms) => Ok(ms),
        None => facts.labels.number(label, "").map(|(_, ms)| ms),
    };
    let [min, mean, p50, max] = [ms("min")?, ms("avg")?, p50, ms("max")?].map(|ms| ms / 1e3);
    let known = [min, mean, p50, max].iter().all(|s| *s > 0.0);
    Ok(known.then(|| Latency {
        unit: "s".into(),
        count,
        min,
        mean,
        p50,
        p90: None,
        p99: None,
        p999: None,
        max,
        buckets: Vec::new(),
    }))
}
