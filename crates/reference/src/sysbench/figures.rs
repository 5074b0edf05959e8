//! What a report of sysbench measures.

use proofmark_model::{Latency, Param, Params, Subsystem, Unit};

use super::facts::{Fact, Facts, size};
use crate::rated::rated;
use crate::text::{number, whole};
use crate::{Figure, Malformed, Output};

const MIB: f64 = 1_048_576.0;

/// The modes of fileio: what reports and what options call them.
const MODES: [(&str, &str); 6] = [
    ("sequential read", "seqrd"),
    ("sequential rewrite", "seqrewr"),
    ("sequential write (creation)", "seqwr"),
    ("random read", "rndrd"),
    ("random write", "rndwr"),
    ("random r/w", MIXED),
];

const MIXED: &str = "rndrw";

pub(super) fn read(facts: &Facts) -> Result<Output, Malformed> {
    let mut figure = if let Some(limit) = facts.labels.get("Prime numbers limit") {
        cpu(facts, limit)?
    } else if facts.labels.get("Running memory speed test with the following options").is_some() {
        memory(facts)?
    } else if let Some(flags) = facts.labels.get("Extra file open flags") {
        fileio(facts, flags)?
    } else {
        return Err(Malformed::at(facts.labels.last, "no report of cpu, memory or fileio"));
    };
    figure.params = figure.params.with("threads", facts.labels.whole("Number of threads")?);
    figure.latency = latency(facts)?;
    let version = facts.version.map(str::to_owned);
    Ok(Output { version, started: None, figures: vec![figure] })
}

fn cpu(facts: &Facts, (at, limit): Fact) -> Result<Figure, Malformed> {
    let params = Params::default().with("cpu-max-prime", whole(limit, at)?);
    let (at, rate) = facts.labels.number("events per second", "")?;
    let events = facts.labels.whole("total number of events")?;
    let trial = rated(Unit::OpPerSecond, events as f64, rate, at)?;
    let title = format!("sysbench cpu, primes up to {limit}");
    Ok(Figure::rate("cpu", title, (Subsystem::Cpu, Unit::OpPerSecond), params, trial))
}

fn memory(facts: &Facts) -> Result<Figure, Malformed> {
    let (at, operation) = facts.labels.need("operation")?;
    if !["read", "write"].contains(&operation) {
        let operation = Malformed::excerpt(operation);
        return Err(Malformed::at(at, format!("operation {operation:?} moves no bytes")));
    }
    let params = Params::default()
        .with("memory-scope", facts.labels.need("scope")?.1)
        .known("block_size", size(facts.labels.need("block size")?)?);
    let Some((at, moved)) = facts.ending(" MiB/sec)") else {
        return Err(Malformed::at(facts.labels.last, "no 'MiB transferred' in it"));
    };
    let Some((moved, rate)) = moved.split_once(" MiB transferred (") else {
        return Err(Malformed::at(at, "expected MiB transferred, and MiB/sec in brackets"));
    };
    let (moved, rate) = (number(moved, at)? * MIB, number(rate, at)? * MIB);
    let trial = rated(Unit::BytePerSecond, moved, rate, at)?;
    let (test, title) = (format!("memory_{operation}"), format!("sysbench memory, {operation}"));
    Ok(Figure::rate(test, title, (Subsystem::Memory, Unit::BytePerSecond), params, trial))
}

fn fileio(facts: &Facts, flags: Fact) -> Result<Figure, Malformed> {
    let Some((at, name)) = facts.between("Doing ", " test") else {
        return Err(Malformed::at(facts.labels.last, "no 'Doing ... test' in it"));
    };
    let Some((name, test)) = MODES.into_iter().find(|m| m.0 == name) else {
        return Err(Malformed::quoting(at, name, "is no mode of fileio that is known"));
    };
    let (_, read) = facts.labels.number("read, MiB/s", "")?;
    let (_, written) = facts.labels.number("written, MiB/s", "")?;
    let rate = (read + written) * MIB;
    let (at, seconds) = facts.labels.number("total time", "s")?;
    let trial = rated(Unit::BytePerSecond, rate * seconds, rate, at)?;
    let mut params = file_params(facts, flags)?;
    if test == MIXED {
        let (_, ratio) = facts.labels.number("Read/Write ratio for combined random IO test", "")?;
        params = params.known("reads", percent(ratio));
    }
    let title = format!("sysbench fileio, {name}");
    let what = (Subsystem::Disk, Unit::BytePerSecond);
    let figure = Figure::rate(test, title, what, params, trial);
    Ok(Figure { comparable: !flushes(facts)?, ..figure })
}

/// Whether it flushed again and again while it wrote, which is other work; the flush at the end
/// alone is none of these. What is said of flushes is said of reading tests too, which
/// make none: so those that were counted decide.
fn flushes(facts: &Facts) -> Result<bool, Malformed> {
    let (_, counted) = facts.labels.number("fsyncs/s", "")?;
    let named = facts.between(PERIODIC, "").or_else(|| facts.between(EACH, ""));
    Ok(named.is_some() && counted > 0.0)
}

/// How the sentences on its flushes begin.
const PERIODIC: &str = "Periodic FSYNC enabled, calling fsync() each ";
const EACH: &str = "Calling fsync() after each write operation.";

/// Percent of reads of so many reads a write, if they are a whole number but for what is lost of
/// a ratio of which two digits behind the point are printed.
fn percent(ratio: f64) -> Option<u64> {
    let share = 100.0 * ratio / (ratio + 1.0);
    let lost = 0.5 / (ratio + 1.0).powi(2);
    ((share.round() - share).abs() <= lost).then_some(share.round() as u64)
}

/// What sysbench says of its files and how it reads and writes them.
fn file_params(facts: &Facts, (at, flags): Fact) -> Result<Params, Malformed> {
    let mut others = flags.split_whitespace().filter(|f| !["(none)", "directio"].contains(f));
    let direct = flags.split_whitespace().any(|f| f == "directio");
    let other = others.next();
    if let Some(other) = other.filter(|flag| !["sync", "dsync"].contains(flag)) {
        return Err(Malformed::quoting(at, other, "is no flag that is known"));
    }
    let bytes = |fact: Option<Fact>| fact.map_or(Ok(None), size);
    let merged = facts.between("Merging requests up to ", " for sequential IO.");
    let (engine, depth) = match facts.between("Using ", " I/O mode").map(|(_, mode)| mode) {
        Some("synchronous") => (Some("psync"), Some(1)),
        Some("asynchronous") => (Some("libaio"), None),
        Some("fast mmaped" | "slow mmaped") => (Some("mmap"), None),
        _ => (None, None),
    };
    let each = facts.between(PERIODIC, " requests.");
    let flag = |text: &str| facts.between(text, "").map(|_| Param::Flag(true));
    Ok(Params::default()
        .with("direct", if direct { "on" } else { "off" })
        .known("file-extra-flags", other)
        .known("block_size", bytes(facts.between("Block size ", ""))?)
        .known("file_size", bytes(facts.ending(" total file size"))?)
        .known("file-merged-requests", bytes(merged)?)
        .known("engine", engine)
        .known("queue_depth", depth)
        .known("file-fsync-freq", each.map(|(at, word)| whole(word, at)).transpose()?)
        .known("file-fsync-end", flag("Calling fsync() at the end of test, Enabled."))
        .known("file-fsync-all", flag(EACH)))
}

/// The times of events, where the percentile is the median; printed in ms with two digits behind
/// the point, of which a `0.00` is no time. Left out where one of them is that short.
fn latency(facts: &Facts) -> Result<Option<Latency>, Malformed> {
    if facts.labels.get("50th percentile").is_none() {
        return Ok(None);
    }
    let seconds = |label: &str| facts.labels.number(label, "").map(|(_, ms)| ms / 1e3);
    let (min, mean) = (seconds("min")?, seconds("avg")?);
    let (p50, max) = (seconds("50th percentile")?, seconds("max")?);
    let count = facts.labels.whole("total number of events")?;
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
