//! The options with which fio runs a configuration.
//!
//! The work is an amount (`io_size`), not a time, so that fio flushes as much at the end as
//! proofmark. Some defaults would make it other work: fio would advise the kernel about read-ahead,
//! and allocate the space that `disk.fsync` appends.

use proofmark_model::{Params, Trial, Unit, key, word};

use super::Fio;
use super::pattern::{Direction, Pattern};
use crate::disk::{self, either, file};
use crate::text::words;
use crate::{Figure, Installed, Invocation, Output, ReferenceRunner, Task, refuse_if};

/// The options of all work. fio neither creates nor allocates the file, and gives the kernel no
/// advice on it.
const ALWAYS: &str = "--name=beside --output-format=json --eta=never --thread --group_reporting \
                      --lat_percentiles=1 --clat_percentiles=0 --randrepeat=0 \
                      --allow_file_create=0 --fallocate=none --fadvise_hint=0";

/// The seconds that whole milliseconds measure to within 1 %. Runs below half of it are refused.
const EXACT_S: f64 = 0.1;
const SHORTEST_S: f64 = EXACT_S / 2.0;

/// The shortest trial, in seconds, that proofmark begins with the share `AHEAD` of untimed work.
const LONG_S: f64 = 1.0;
const AHEAD: f64 = 1.0 / 8.0;

/// The time fio takes to start and to end, in seconds.
const START_S: f64 = 1.0;

/// The smallest page, and the alignment of proofmark's buffers, in bytes.
const PAGE: u64 = 4096;

impl ReferenceRunner for Fio {
    fn installed(&self) -> Option<Installed> {
        Installed::on_path(&["fio"], "--version")
    }

    fn counts(&self, test: &str) -> Option<&'static str> {
        match test {
            "read" => Some(
                "bytes read over the longest runtime of its threads, in whole milliseconds. Each \
                 run begins at the start of each thread's part of the file. fio's I/O buffers are in \
                 base pages, proofmark's in huge pages from 2 MiB on: the device may need more \
                 requests for the same block, which lowers fio's rate",
            ),
            "write" => Some(
                "bytes written over the longest runtime of its threads, in whole milliseconds, \
                 with its fsync (proofmark: fdatasync). Each run begins at the start of each \
                 thread's part of the file. fio's I/O buffers are in base pages, proofmark's in huge \
                 pages from 2 MiB on: the device may need more requests for the same block, which \
                 lowers fio's rate",
            ),
            "randread" => Some(
                "bytes read over the longest runtime of its threads, in whole milliseconds; each \
                 block once in a pass",
            ),
            "randwrite" => Some(
                "bytes written over the longest runtime of its threads, in whole milliseconds, \
                 with its fsync (proofmark: fdatasync); each block once in a pass",
            ),
            "randrw" => Some(
                "bytes read and written over the longest runtime of its threads, in whole \
                 milliseconds, with its fsync (proofmark: fdatasync); it draws at random which \
                 I/Os read (proofmark: evenly spread)",
            ),
            COMMITS => Some(
                "writes over the runtime in whole milliseconds, each durable before the next; with \
                 method=fdatasync an fsync after the last; with mode=append to a file that is not \
                 empty",
            ),
            _ => None,
        }
    }

    fn invocation(&self, _: &Installed, task: &Task) -> Result<Invocation, String> {
        arguments(task, registers(task.params))
            .map(|arguments| Invocation { arguments, ..Invocation::default() })
    }

    fn shortest(&self) -> f64 {
        EXACT_S
    }

    fn takes(&self, task: &Task) -> f64 {
        task.seconds * (1.0 + AHEAD) + START_S
    }

    fn figure(&self, task: &Task, output: Output) -> Option<Figure> {
        let pattern = pattern(task)?;
        let test = pattern.test(Direction::Mixed);
        let found = output.figures.into_iter().find(|f| f.test == test)?;
        let block = task.params.get(key::BLOCK_SIZE)?;
        let params = parameters(task, &found.params)?;
        let mut figure = found.with_test_of(task);
        let trials = figure.trials.into_iter();
        figure.trials = trials.map(|t| adapt(task, block, &params, t)).collect();
        figure.params = params;
        if task.test != COMMITS {
            return Some(figure);
        }
        // fio's times are those of the writes alone.
        Some(Figure { unit: Unit::OpPerSecond, latency: None, ..figure })
    }
}

/// The test of durable writes, counted in operations: each is durable before the next starts.
const COMMITS: &str = "commits";

/// Parameters that must be the same in fio's job.
const SAME: &[&str] = &[
    key::BLOCK_SIZE.name(),
    key::QUEUE_DEPTH.name(),
    key::THREADS.name(),
    key::DIRECT.name(),
    key::READS.name(),
];

/// Returns the parameters of a task as a job's options report them, without the cache. `None` if
/// the options are those of another job.
fn parameters(task: &Task, reported: &Params) -> Option<Params> {
    let mut reported = reported.clone();
    let size = reported.get(key::FILE_SIZE);
    reported = reported.without(key::FILE_SIZE);
    if let Some(work) = Work::plan(task).ok().filter(|_| task.test != COMMITS) {
        let amount = reported.word("io_size").and_then(|bytes| bytes.parse::<u64>().ok());
        if amount.is_some_and(|bytes| bytes != work.amount()) {
            return None;
        }
        // Each thread gets its part of the file, in whole blocks.
        let whole = work.part().saturating_mul(work.threads);
        reported = reported.known(key::FILE_SIZE, size.filter(|size| *size != whole));
    }
    disk::merge_params(task.params, &reported, SAME)
}

/// Converts a trial to the unit of the task's test, and to the file of these parameters.
fn adapt(task: &Task, block: u64, params: &Params, trial: Trial) -> Trial {
    let mut trial = trial;
    if let Some(file) = &mut trial.file {
        file.size_bytes = params.get(key::FILE_SIZE).unwrap_or(file.size_bytes);
    }
    if task.test == COMMITS {
        trial.work /= block.max(1) as f64;
        trial.value = Unit::OpPerSecond.value(trial.work, trial.seconds);
    }
    trial
}

/// Returns the pattern of a task; `None` for tests that fio is not run for.
fn pattern(task: &Task) -> Option<Pattern> {
    Fio.counts(task.test)?;
    Pattern::named(match (task.test, task.params.get(key::READS)) {
        (COMMITS, _) => "write",
        ("randrw", Some(100)) => "randread",
        ("randrw", Some(0)) => "randwrite",
        (test, _) => test,
    })
}

/// The parameters that all tasks have, and values derived from them.
struct Work<'a> {
    task: &'a Task<'a>,
    rw: &'static str,
    threads: u64,
    block: u64,
    file_size: u64,
}

/// Returns fio's arguments for a task. `registers`: the kernel allows registered buffers.
fn arguments(task: &Task, registers: bool) -> Result<Vec<String>, String> {
    let work = Work::plan(task)?;
    // fio splits a file name at each colon.
    let file = Some(file(task.file)?).filter(|f| !f.contains(':')).ok_or("its path has a colon")?;
    let mut all = words(ALWAYS);
    all.push(format!("--filename={file}"));
    let own = if task.test == COMMITS { work.commits()? } else { work.blocks(registers)? };
    all.extend(words(&format!("--rw={} --bs={} {own}", work.rw, work.block)));
    Ok(all)
}

impl<'a> Work<'a> {
    fn plan(task: &'a Task<'a>) -> Result<Self, String> {
        let rw = pattern(task).ok_or("it has no such work")?.name;
        if task.seconds < SHORTEST_S {
            let ms = task.seconds * 1e3;
            return Err(format!("it reports whole milliseconds; a trial takes {ms:.1}"));
        }
        let (block, file_size) = (task.number(key::BLOCK_SIZE)?, task.number(key::FILE_SIZE)?);
        Ok(Self { task, rw, threads: task.params.threads().max(1), block, file_size })
    }

    /// Returns the options for reads and writes of blocks, each thread in its part of the file.
    fn blocks(&self, registers: bool) -> Result<String, String> {
        let params = self.task.params;
        let (part, threads) = (self.part(), self.threads);
        refuse_if(part == 0, "its threads need a block of the file each")?;
        let direct = u8::from(either(params, key::DIRECT, word::ON, word::OFF)?);
        let flushes = self.writes() && either(params, key::FLUSH, word::END, word::NONE)?;
        // A warm cache needs no option: the run has already filled the cache of this file.
        let cold = u8::from(params.get(key::CACHE) == Some(word::COLD));
        let end = u8::from(flushes);
        let mut all =
            format!("--size={part} --direct={direct} --invalidate={cold} --end_fsync={end}");
        if threads > 1 {
            all += &format!(" --numjobs={threads} --offset_increment={part}");
        }
        if self.rw == "randrw" {
            let reads = params.get(key::READS).filter(|r| *r <= 100).ok_or("reads is not set")?;
            all += &format!(" --rwmixread={reads}");
        }
        // With registered buffers, the fsync at the end fails without a message (3.33, 3.39).
        let engine = self.engine(registers && !flushes)?;
        all += &format!(" {engine} --io_size={}", self.amount());
        if self.ahead() {
            all += &format!(" --ramp_time={}ms", (self.task.seconds * AHEAD * 1e3) as u64);
        }
        Ok(all)
    }

    fn writes(&self) -> bool {
        self.rw != "read" && self.rw != "randread"
    }

    /// Returns the bytes of a thread's part of the file, in whole blocks.
    fn part(&self) -> u64 {
        self.file_size / self.block / self.threads * self.block
    }

    /// Returns the bytes that a thread reads and writes, with the untimed work.
    fn amount(&self) -> u64 {
        let more = if self.ahead() { AHEAD } else { 0.0 };
        self.each(self.task.work * (1.0 + more))
    }

    /// Returns true if fio begins with untimed work. That would warm a cold cache, and move the
    /// flush of buffered writes.
    fn ahead(&self) -> bool {
        let params = self.task.params;
        let direct = params.get(key::DIRECT) == Some(word::ON);
        let cold = params.get(key::CACHE) == Some(word::COLD);
        self.task.seconds >= LONG_S && !cold && (direct || !self.writes())
    }

    /// Returns a thread's share of this many bytes, in whole blocks.
    fn each(&self, bytes: f64) -> u64 {
        let blocks = bytes / self.threads as f64 / self.block as f64;
        (blocks as u64).max(1).saturating_mul(self.block)
    }

    fn engine(&self, registers: bool) -> Result<String, String> {
        let depth = self.task.params.get(key::QUEUE_DEPTH).unwrap_or(1).max(1);
        let fixed = u8::from(registers);
        match self.task.params.get(key::ENGINE) {
            Some(word::PSYNC) if depth == 1 => Ok("--ioengine=psync".to_owned()),
            Some("io_uring") => Ok(format!(
                "--ioengine=io_uring --iodepth={depth} --registerfiles=1 --fixedbufs={fixed}"
            )),
            Some(engine) => Err(format!("its {engine} has no such queue")),
            None => Err("engine is not set".to_owned()),
        }
    }

    /// Returns the options for writes that are each durable before the next, including the last.
    fn commits(&self) -> Result<String, String> {
        let params = self.task.params;
        refuse_if(self.threads > 1, "it writes one file, proofmark's threads one each")?;
        let bytes = self.each(self.task.work * self.block as f64);
        let place = if either(params, key::MODE, word::APPEND, word::OVERWRITE)? {
            refuse_if(bytes > self.file_size, "its file would grow by more than file_size")?;
            format!("--file_append=1 --size={bytes}")
        } else {
            // Unlike proofmark's file, fio's is not in the page cache.
            let whole = self.block.is_multiple_of(PAGE);
            refuse_if(!whole, "it would first read the rest of each page")?;
            format!("--size={} --io_size={bytes}", self.part())
        };
        let durable = match either(params, key::METHOD, word::O_DSYNC, word::FDATASYNC)? {
            true => "--sync=dsync",
            false => "--fdatasync=1 --end_fsync=1",
        };
        Ok(format!("{place} --direct=0 --ioengine=psync {durable}"))
    }
}

/// Returns true if the kernel allows buffers of this size to be registered. Where it does not,
/// proofmark uses none; fio would end with an error.
fn registers(params: &Params) -> bool {
    let block = params.get(key::BLOCK_SIZE).unwrap_or(1).checked_next_multiple_of(PAGE);
    let depth = params.get(key::QUEUE_DEPTH).unwrap_or(1);
    let each = block.and_then(|block| block.checked_mul(depth));
    let bytes = each.and_then(|each| each.checked_mul(params.threads().max(1)));
    let read = |name: &str| std::fs::read_to_string(name).unwrap_or_default();
    bytes.is_some_and(|b| may_lock(b, &read("/proc/self/limits"), &read("/proc/self/status")))
}

/// Returns true if a process's limits and capabilities allow it to lock this many bytes.
fn may_lock(bytes: u64, limits: &str, status: &str) -> bool {
    const IPC_LOCK: u32 = 14;
    let value = |text: &str, name: &str| {
        let line = text.lines().find_map(|line| line.strip_prefix(name))?;
        line.split_whitespace().next().map(str::to_owned)
    };
    let capable = value(status, "CapEff:").and_then(|hex| u64::from_str_radix(&hex, 16).ok());
    let limit = value(limits, "Max locked memory");
    capable.is_some_and(|all| all >> IPC_LOCK & 1 == 1)
        || limit.is_some_and(|l| l == "unlimited" || l.parse().is_ok_and(|most: u64| bytes <= most))
}

#[cfg(test)]
mod tests;
