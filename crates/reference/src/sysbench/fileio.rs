//! The figures of sysbench's fileio, in the forms of its versions.

use proofmark_model::{FileState, Finding, Flush, Order, Param, Params, Trial, Unit, key, word};

use super::facts::{EDGES, Fact, Facts, MIB, about, size};
use crate::figure::DISK;
use crate::findings::differ_unless;
use crate::printed::{Rounded, agree, rated};
use crate::text::{columns, need, number, whole};
use crate::{Figure, Malformed};

/// A mode of fileio: its names in reports and options, whether it writes, and its order.
struct Mode {
    name: &'static str,
    test: &'static str,
    writes: bool,
    order: Order,
}

const fn mode(name: &'static str, test: &'static str, writes: bool, order: Order) -> Mode {
    Mode { name, test, writes, order }
}

const MODES: [Mode; 6] = [
    mode("sequential read", "seqrd", false, Order::Seq),
    mode("sequential rewrite", "seqrewr", true, Order::Seq),
    mode("sequential write (creation)", "seqwr", true, Order::Seq),
    mode("random read", "rndrd", false, Order::Rand),
    mode("random write", "rndwr", true, Order::Rand),
    mode("random r/w", MIXED, true, Order::Rand),
];

const MIXED: &str = "rndrw";

/// The beginnings of the sentences about flushes. Reports of reading tests have them, too, without
/// any flush: the counts decide.
const PERIODIC: &str = "Periodic FSYNC enabled, calling fsync() each ";
const EACH: &str = "Calling fsync() after each write operation.";
const END: &str = "Calling fsync() at the end of test, Enabled.";

/// The relative error of sizes printed without decimals.
const SIZES: f64 = 0.5;

pub(super) fn fileio(facts: &Facts, flags: Fact) -> Result<Figure, Malformed> {
    let last = facts.labels.last;
    let (at, name) =
        need(facts.between("Doing ", " test"), last, "the report has no 'Doing ... test'")?;
    let mode = MODES.iter().find(|m| m.name == name);
    let mode = mode.ok_or_else(|| Malformed::quoting(at, name, "is no known mode of fileio"))?;
    let files = Files::read(facts, flags)?;
    let done = Done::read(facts, &files)?;
    let way = files.flush(facts, mode, &done);
    let rate = done.read + done.written;
    let trial = rated(Unit::BytePerSecond, rate * done.seconds, rate, done.at)?;
    let mut params = files.params(facts)?;
    if mode.test == MIXED {
        let (_, ratio) = facts.labels.number("Read/Write ratio for combined random IO test", "")?;
        params = params.known(key::READS, percent(ratio));
    }
    let mut every = None;
    if mode.writes {
        let each = facts.between(PERIODIC, " requests.");
        let each = each.map(|(at, word)| whole(word, at)).transpose()?;
        let periodic = way == Flush::Each && facts.between(EACH, "").is_none();
        every = each.filter(|_| periodic).and_then(|each| each.checked_mul(files.block?));
        params = params
            .known(key::FLUSH, (way == Flush::Never).then_some(word::NONE))
            .known(key::FLUSH, (way == Flush::End).then_some(word::END))
            .known_named("file-fsync-freq", each)
            .known_named(
                "file-fsync-all",
                (way == Flush::Each && !periodic).then_some(Param::Flag(true)),
            );
    }
    let file = FileState {
        asked_read_bytes: (done.read * done.seconds).round() as u64,
        asked_written_bytes: (done.written * done.seconds).round() as u64,
        order: mode.order,
        flush: way,
        flush_every_bytes: every,
        direct: Some(files.direct),
        size_bytes: files.total.round() as u64,
        ..FileState::default()
    };
    let title = format!("sysbench fileio, {name}");
    let figure = Figure::rate(mode.test, title, DISK, params, Trial { file: Some(file), ..trial });
    // The disk workloads do not map files into memory.
    let maps = figure.params.get(key::ENGINE) == Some("mmap");
    let comparable = matches!(way, Flush::Never | Flush::End) && !maps;
    let findings = done.differences(facts, &files)?;
    Ok(Figure { comparable, findings, ..figure })
}

/// Returns the percent of reads for a ratio of reads to writes, printed with two decimals. `None`
/// if no whole percent fits.
fn percent(ratio: f64) -> Option<u64> {
    let share = 100.0 * ratio / (ratio + 1.0);
    let lost = 0.5 / (ratio + 1.0).powi(2);
    ((share.round() - share).abs() <= lost).then_some(share.round() as u64)
}

/// The files of a run, and the way it reads and writes them.
struct Files {
    direct: bool,
    /// `sync` or `dsync`, if one of them is requested.
    durable: Option<&'static str>,
    block: Option<u64>,
    merged: Option<u64>,
    /// The approximate bytes of all files.
    total: f64,
    /// The same from the number of files and the size of one; 0 if unknown.
    each: f64,
    number: f64,
}

impl Files {
    fn read(facts: &Facts, flags: Fact) -> Result<Self, Malformed> {
        let (direct, durable) = open_flags(flags)?;
        let bytes = |fact: Option<Fact>| fact.map_or(Ok(None), size);
        let merged = ["Merging requests up to ", "Merging requests  up to "];
        let merged = merged.iter().find_map(|m| facts.between(m, " for sequential IO."));
        let number =
            facts.ending(" each").and_then(|(_, text)| text.split(' ').next()?.parse().ok());
        let number: f64 = number.unwrap_or(1.0);
        let one = facts.ending(" each").and_then(|(at, text)| Some((at, text.rsplit(' ').next()?)));
        let each = number * one.map_or(Ok(0.0), about)?;
        Ok(Self {
            direct,
            durable,
            block: bytes(facts.between("Block size ", ""))?,
            merged: bytes(merged)?,
            total: facts.ending(" total file size").map_or(Ok(each), about)?,
            each,
            number,
        })
    }

    fn params(&self, facts: &Facts) -> Result<Params, Malformed> {
        let (engine, depth) = match facts.between("Using ", " I/O mode").map(|(_, mode)| mode) {
            Some("synchronous") => (Some("psync"), Some(1)),
            Some("asynchronous") => (Some("libaio"), None),
            Some("fast mmaped" | "slow mmaped") => (Some("mmap"), None),
            _ => (None, None),
        };
        let size = facts.ending(" total file size").map_or(Ok(None), size)?;
        Ok(Params::default()
            .with(key::DIRECT, if self.direct { word::ON } else { word::OFF })
            .known_named("file-extra-flags", self.durable)
            .known(key::BLOCK_SIZE, self.block)
            .known(key::FILE_SIZE, size)
            .known_named("file-merged-requests", self.merged)
            .known(key::ENGINE, engine)
            .known(key::QUEUE_DEPTH, depth))
    }

    /// Returns when writes were flushed. Repeated flushes after several writes count as one after
    /// each.
    fn flush(&self, facts: &Facts, mode: &Mode, done: &Done) -> Flush {
        let says = |sentence| facts.between(sentence, "").is_some();
        // sysbench prints no rate below one in 200 s.
        let hidden = done.flushes == 0.0 && 0.005 * done.seconds >= self.number;
        let counted = done.flushes > 0.0;
        match () {
            () if !mode.writes => Flush::Never,
            () if counted && says(EACH) => Flush::Each,
            () if self.durable.is_some() => Flush::Dsync,
            () if counted && says(PERIODIC) => Flush::Each,
            () if (counted || hidden) && says(END) => Flush::End,
            () => Flush::Never,
        }
    }
}

/// Reads the flags of the files: direct I/O, and durable writes. Versions up to 1.0.11 print
/// Linux's number of a flag.
fn open_flags((at, flags): Fact) -> Result<(bool, Option<&'static str>), Malformed> {
    let (mut direct, mut durable) = (false, None);
    for flag in flags.split_whitespace() {
        match flag {
            "(none)" | "0" => {}
            // The numbers of x86, Arm and POWER.
            "directio" | "16384" | "65536" | "131072" => direct = true,
            "sync" | "1052672" => durable = Some("sync"),
            "dsync" | "4096" => durable = durable.or(Some("dsync")),
            other => return Err(Malformed::quoting(at, other, "is no known flag")),
        }
    }
    Ok((direct, durable))
}

/// The work of a run per second.
struct Done {
    /// The line of the counts.
    at: usize,
    reads: f64,
    writes: f64,
    flushes: f64,
    /// Bytes per second.
    read: f64,
    written: f64,
    seconds: f64,
    /// The rounding error of each rate in bytes per second.
    lost: f64,
}

impl Done {
    fn read(facts: &Facts, files: &Files) -> Result<Self, Malformed> {
        if let Some(counts) = facts.labels.get("Operations performed") {
            return Self::counted(facts, files, counts);
        }
        if facts.labels.get("read").is_some_and(|(_, text)| text.starts_with("IOPS=")) {
            return Self::without_time(facts);
        }
        let rate = |label: &str| facts.labels.number(label, "");
        let (_, read) = rate("read, MiB/s")?;
        let (at, written) = rate("written, MiB/s")?;
        let seconds = need(facts.seconds()?, facts.labels.last, "the report has no 'total time:'")?;
        Ok(Self {
            at,
            reads: rate("reads/s")?.1,
            writes: rate("writes/s")?.1,
            flushes: rate("fsyncs/s")?.1,
            read: read * MIB,
            written: written * MIB,
            seconds,
            lost: 0.0051 * MIB,
        })
    }

    /// Reads the counts of versions before 1.0: `6008 Read, 3997 Write, 12800 Other = 22805 Total`.
    fn counted(facts: &Facts, files: &Files, (at, counts): Fact) -> Result<Self, Malformed> {
        let expected = "expected the counts of Read, Write and Other";
        let [reads, _, writes, _, other, ..] = need(columns::<9>(counts), at, expected)?;
        let (_, total) = facts.labels.number("total time", "s")?;
        let [reads, writes, other] = [reads, writes, other].map(|word| number(word, at));
        let (reads, writes, other) = (reads?, writes?, other?);
        let bytes = facts.between("Read ", "").map(|(at, text)| {
            let expected = "expected the bytes Read, Written and transferred";
            let [read, _, written, ..] = need(columns::<7>(text), at, expected)?;
            Ok::<_, Malformed>([about((at, read))?, about((at, written))?])
        });
        let [read, written] = match files.block.filter(|_| files.merged.is_none()) {
            // The counts of blocks are exact; the bytes have five digits.
            Some(block) => [reads, writes].map(|n| n * block as f64),
            None => need(bytes.transpose()?, at, "the bytes Read and Written are missing")?,
        };
        let [reads, writes, flushes, read, written] =
            [reads, writes, other, read, written].map(|n| n / total);
        Ok(Self { at, reads, writes, flushes, read, written, seconds: total, lost: 0.0 })
    }

    /// Reads a report of 1.1: `IOPS=9057.41 88.45 MiB/s (92.75 MB/s)` without a time. The time
    /// follows from the sum of all latencies, by thread.
    fn without_time(facts: &Facts) -> Result<Self, Malformed> {
        let row = |label: &str| -> Result<(usize, f64, f64), Malformed> {
            let (at, text) = facts.labels.need(label)?;
            let expected = || Malformed::quoting(at, text, "is no IOPS and MiB/s");
            let [iops, rate, "MiB/s", _, _] = columns(text).ok_or_else(expected)? else {
                return Err(expected());
            };
            let iops = iops.strip_prefix("IOPS=").ok_or_else(expected)?;
            Ok((at, number(iops, at)?, number(rate, at)? * MIB))
        };
        let ((_, reads, read), (at, writes, written)) = (row("read")?, row("write")?);
        let (flush_at, flushes) = facts.labels.need("fsync")?;
        let flushes = number(flushes.strip_prefix("IOPS=").unwrap_or(flushes), flush_at)?;
        let threads = facts.labels.whole("Number of threads")?.max(1) as f64;
        let (_, sum) = facts.labels.number("sum", "")?;
        let seconds = facts.seconds()?.unwrap_or(sum / 1e3 / threads);
        Ok(Self { at, reads, writes, flushes, read, written, seconds, lost: 0.0051 * MIB })
    }

    /// Returns the contradictions in the run's work.
    fn differences(&self, facts: &Facts, files: &Files) -> Result<Vec<Finding>, Malformed> {
        let mut found = Vec::new();
        found.extend(differ_unless(
            files.each == 0.0 || agree(files.each, files.total, SIZES),
            || {
                format!(
                    "the files have {:.0} B in all, but {:.0} B by the size of each",
                    files.total, files.each
                )
            },
        ));
        if let Some(block) = files.block.filter(|_| files.merged.is_none()) {
            let off = self.lost + 0.0051 * block as f64;
            for (operations, value, what) in
                [(self.reads, self.read, "reads"), (self.writes, self.written, "writes")]
            {
                let by_blocks = operations * block as f64;
                found.extend(differ_unless(agree(by_blocks, Rounded { value, off }, 1e-4), || {
                    let mib = value / MIB;
                    format!(
                        "{operations:.2} {what} per second of {block} bytes, but {mib:.2} MiB/s"
                    )
                }));
            }
        }
        found.extend(self.total(facts)?);
        let (operations, seconds) = (self.reads + self.writes, self.seconds);
        if let (Some(events), Some(_)) = (facts.events()?, facts.seconds()?) {
            let off = facts.labels.whole("Number of threads")? as f64 + 0.02 * seconds;
            let events = Rounded { value: events as f64, off };
            // Flushes are events in some versions.
            let each_second = [operations, operations + self.flushes];
            let agrees = each_second.iter().any(|each| agree(each * seconds, events, EDGES));
            found.extend(differ_unless(agrees, || {
                format!("{} events in {seconds} s, but {operations:.2} per second", events.value)
            }));
        }
        Ok(found)
    }

    /// Compares the total transferred and its rate, with five digits, in versions before 1.0.
    fn total(&self, facts: &Facts) -> Result<Option<Finding>, Malformed> {
        let words = facts.between("Read ", "").and_then(|(at, text)| Some((at, columns(text)?)));
        let Some((at, [_, _, _, "Total", "transferred", all, rate])) = words else {
            return Ok(None);
        };
        let rate = rate.trim_start_matches('(').trim_end_matches(')').trim_end_matches("/sec");
        let (all, rate) = (about((at, all))?, about((at, rate))?);
        let is = self.read + self.written;
        let agrees = agree(all, is * self.seconds, 2e-4) && agree(rate, is, 2e-4);
        Ok(differ_unless(agrees, || {
            let (is, rate) = (is / MIB, rate / MIB);
            format!("{rate:.4} MiB/s in all, but {is:.4} by operations, block and time")
        }))
    }
}
