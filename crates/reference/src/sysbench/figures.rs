//! The figures of a sysbench run.

use proofmark_model::{Latency, Params, Severity, Subsystem, Unit, key};

use super::accounts;
use super::facts::{EDGES, Fact, Facts, MIB, runs, size};
use super::fileio::fileio;
use crate::figure::MEMORY;
use crate::findings::{differ_unless, warned};
use crate::printed::{Rounded, agree, rated};
use crate::text::{need, number, whole, wrong_if};
use crate::{Figure, Malformed, Output};

const PRIMES: [&str; 3] =
    ["Prime numbers limit", "Primer numbers limit", "Maximum prime number checked in CPU test"];

pub(super) fn read(text: &str) -> Result<Output, Malformed> {
    let runs = runs(text)?;
    let version = runs.first().and_then(|run| run.version);
    let version = version.filter(|v| runs.iter().all(|run| run.version.is_none_or(|of| of == *v)));
    let (known, unknown): (Vec<&Facts>, Vec<&Facts>) =
        runs.iter().partition(|run| test(run).is_some());
    let lost: Vec<Malformed> = unknown.into_iter().map(unread).collect();
    let figures = known.into_iter().map(figure).collect::<Result<Vec<_>, _>>()?;
    let version = version.map(str::to_owned);
    Output { version, figures, ..Output::default() }.with_lost(&lost)
}

/// Returns the reader of a run's test; `None` for a test that is not read.
fn test<'a>(facts: &Facts<'a>) -> Option<Test<'a>> {
    if let Some(limit) = facts.labels.any(&PRIMES) {
        Some(Test::Cpu(limit))
    } else if facts.labels.get("Running memory speed test with the following options").is_some()
        || facts.between("Doing memory operations speed test", "").is_some()
    {
        Some(Test::Memory)
    } else {
        facts.labels.get("Extra file open flags").map(Test::Files)
    }
}

/// A test that is read, with its first fact.
enum Test<'a> {
    Cpu(Fact<'a>),
    Memory,
    Files(Fact<'a>),
}

fn figure(facts: &Facts) -> Result<Figure, Malformed> {
    let mut figure = match test(facts).ok_or_else(|| unread(facts))? {
        Test::Cpu(limit) => cpu(facts, limit)?,
        Test::Memory => memory(facts)?,
        Test::Files(flags) => fileio(facts, flags)?,
    };
    figure.params = figure.params.with(key::THREADS, facts.labels.whole("Number of threads")?);
    figure.latency = latency(facts)?;
    figure.findings.extend(accounts::compare(facts)?);
    if let Some((_, rate)) = facts.labels.get("Target transaction rate") {
        figure.comparable = false;
        figure.params = figure.params.with_named("rate limit", rate);
        let what = format!("--rate limited it to {}", Malformed::excerpt(rate));
        figure.findings.push(warned(Severity::Suspect, what));
    }
    figure.findings.extend(facts.warnings.iter().map(|warning| {
        warned(Severity::Note, Malformed::excerpt(warning.trim_start_matches("WARNING:")))
    }));
    Ok(figure)
}

/// Tests that are not read, each with a label or a sentence in its report.
const UNREAD: [(&str, &str); 5] = [
    ("SQL statistics", "a test of a database"),
    ("OLTP test statistics", "a test of a database"),
    ("Doing OLTP test.", "a test of a database"),
    ("Doing thread subsystem performance test", "the test threads"),
    ("Doing mutex performance test", "the test mutex"),
];

/// Returns an error that names the version and the test of a run that is not read.
fn unread(facts: &Facts) -> Malformed {
    let is_in_report = |(words, _): &(&str, &str)| {
        facts.labels.get(words).is_some() || facts.between(words, "").is_some()
    };
    let unknown = "unknown test (threads and mutex do not print their names)";
    let test = UNREAD.into_iter().find(is_in_report).map_or(unknown, |(_, test)| test);
    let version = facts.version.unwrap_or("of unknown version");
    let what = format!("sysbench {version}: {test}; proofmark reads cpu, memory and fileio");
    Malformed::at(facts.labels.last, what)
}

fn cpu(facts: &Facts, (at, limit): Fact) -> Result<Figure, Malformed> {
    let params = Params::default().with_named("cpu-max-prime", whole(limit, at)?);
    let (at, _) = facts.labels.need("total number of events")?;
    let events = facts.events()?.unwrap_or_default() as f64;
    let by_time = facts.seconds()?.map(|seconds| events / seconds);
    let missing = "the report has no 'events per second:'";
    let rate = facts.value(&["events per second"], "")?.or(by_time);
    let rate = need(rate, facts.labels.last, missing)?;
    let trial = rated(Unit::OpPerSecond, events, rate, at)?;
    let title = format!("sysbench cpu, primes up to {limit}");
    let what = (Subsystem::Cpu, Unit::OpPerSecond);
    let mut figure = Figure::rate("cpu", title, what, params, trial);
    figure.findings.extend(by_time.and_then(|by_time| {
        differ_unless(agree(by_time, rate, EDGES), || {
            format!("{rate} events per second, but {by_time:.2} by their number and the total time")
        })
    }));
    Ok(figure)
}

fn memory(facts: &Facts) -> Result<Figure, Malformed> {
    let (at, operation) = facts.labels.need_any(&["operation", "Memory operations type"])?;
    let what = format!("operation {:?} moves no bytes", Malformed::excerpt(operation));
    wrong_if(!["read", "write"].contains(&operation), at, &what)?;
    let block = size(facts.labels.need_any(&["block size", "Memory block size"])?)?;
    let params = Params::default()
        .with_named("memory-scope", facts.labels.need_any(&["scope", "Memory scope type"])?.1)
        .known(key::BLOCK_SIZE, block);
    // Before 1.0 it called 2^20 bytes a MB.
    let moved = [(" MiB transferred (", " MiB/sec)"), (" MB transferred (", " MB/sec)")];
    let moved = moved.iter().find_map(|(words, end)| {
        let (at, text) = facts.ending(end)?;
        Some((at, text.split_once(words)))
    });
    let (at, moved) = need(moved, facts.labels.last, "the report has no 'MiB transferred'")?;
    let expected = "expected MiB transferred, and MiB/sec in brackets";
    let (moved, rate) = need(moved, at, expected)?;
    let moved = Rounded::parse(moved, at)?.times(MIB);
    let trial = rated(Unit::BytePerSecond, moved.value, number(rate, at)? * MIB, at)?;
    let (test, title) = (format!("memory_{operation}"), format!("sysbench memory, {operation}"));
    let seconds = trial.seconds;
    let operations = facts.labels.any(&["Total operations", "Operations performed"]);
    let operations: Option<f64> =
        operations.and_then(|(_, text)| text.split(['(', ' ']).next()?.parse().ok());
    let by_blocks = operations.zip(block).and_then(|(operations, block)| {
        differ_unless(agree(moved, block as f64 * operations, 0.0), || {
            format!("{} bytes moved, but {operations} blocks of {block} bytes", moved.value)
        })
    });
    let by_time = facts.seconds()?.and_then(|total| {
        differ_unless(agree(total, Rounded { value: seconds, off: 0.011 }, EDGES), || {
            format!("the bytes took {seconds:.4} s by their rate, but {total} s by the total time")
        })
    });
    let findings = by_blocks.into_iter().chain(by_time).collect();
    Ok(Figure { findings, ..Figure::rate(test, title, MEMORY, params, trial) })
}

/// Returns the times of events, if the percentile is the median. They are printed in ms with two
/// decimals. `None` if one of them is 0.00.
fn latency(facts: &Facts) -> Result<Option<Latency>, Malformed> {
    let median = facts.value(&["50th percentile", "approx.  50 percentile"], "ms")?;
    let (Some(p50), Some(count)) = (median, facts.events()?) else { return Ok(None) };
    let ms = |label: &str| {
        let missing = format!("the report has no '{label}:'");
        need(facts.value(&[label], "ms")?, facts.labels.last, &missing)
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
        ci95: proofmark_model::PercentileIntervals::default(),
        buckets: Vec::new(),
    }))
}
