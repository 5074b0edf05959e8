//! Contradictions in a report between the options of a job and its statistics.
//!
//! The line of a group (`group_reporting`) has the name of its first job, the options of its last,
//! and the statistics of all. Up to version 3.3, fio omits `numjobs` of the global section.

use proofmark_model::{counted, is_quantity};

use super::json::{Job, JobOptions, Side};
use super::options::{amount, block, depth, pacing, plain, processes, reads};
use super::pattern::{Direction, Pattern};
use super::runs::runtime;
use crate::printed::{Rounded, agree};

/// The relative error of a product, from rounding to milliseconds and one I/O more or less.
const ROUNDED: f64 = 0.01;

/// The shortest runtime, in milliseconds, that shows how many processes ran.
const TELLING_MS: u64 = 100;

/// The rounding error of a whole number of processes: jobs of a fixed time end together.
const WHOLE: f64 = 0.02;

/// The minimum I/Os whose share of reads is the requested one, within `DRAWN` percent.
const MANY: f64 = 1000.0;
const DRAWN: f64 = 5.0;

/// The ratio of I/Os in flight (rate x mean latency) to those allowed that the clock does not
/// explain.
const MORE_IN_FLIGHT: f64 = 1.1;

/// Percent of the I/Os. A job that fills its queue one by one has fewer at its full depth.
const FEW: f64 = 0.5;

/// The number of times that a queue must be filled before its depth can be seen.
const FILLED: f64 = 10.0;

/// The processes of a job, and the contradiction to its options.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Processes {
    pub(super) count: Option<u64>,
    pub(super) contradiction: Option<String>,
}

/// Returns the number of processes of these entries: those of one job, listed separately, or one
/// entry of all. `hidden`: this version of fio omits the global `numjobs`.
pub(super) fn count(entries: &[&Job], options: Option<JobOptions<'_>>, hidden: bool) -> Processes {
    let certain = |count| Processes { count, contradiction: None };
    let (Some(options), [first, rest @ ..]) = (options, entries) else { return certain(None) };
    let asked = processes(options);
    let named = options.get("numjobs").is_some();
    if !rest.is_empty() {
        let entries = entries.len() as u64;
        return match asked.filter(|n| named && !entries.is_multiple_of(*n)) {
            Some(n) => contradicted(format!("numjobs={n}, but {entries} processes are reported")),
            None => certain(Some(entries)),
        };
    }
    // A verification counts in only one of the two times.
    let ran = if options.has_any(&["verify"]) { None } else { by_runtime(first) };
    match (asked, ran) {
        (Some(n), Some((least, exact))) if least > n => match hidden && !named {
            true => certain(exact),
            false => contradicted(format!(
                "the options ask for {}, but job_runtime is that of at least {least}",
                counted(n, "job")
            )),
        },
        (Some(n), Some((_, Some(1)))) if n > 1 => {
            contradicted(format!("numjobs={n}, but job_runtime is that of one process"))
        }
        (Some(1), None) if hidden && !named => certain(None),
        _ => certain(asked),
    }
}

fn contradicted(why: String) -> Processes {
    Processes { count: None, contradiction: Some(why) }
}

/// Returns the processes of an entry by its times: the minimum, and the number if all ran equally
/// long.
fn by_runtime(job: &Job) -> Option<(u64, Option<u64>)> {
    let (all, longest) = (job.job_runtime? as f64, runtime(job));
    let longest = (longest >= TELLING_MS).then_some(longest as f64)?;
    // Each process may have lost a part of a millisecond.
    let least = (all / (longest + 1.0) - WHOLE).ceil().max(1.0) as u64;
    let (ratio, nearest) = (all / longest, (all / longest).round());
    let exact = ((ratio - nearest).abs() <= WHOLE * nearest).then_some(nearest as u64);
    Some((least, exact))
}

/// Returns the reason why the statistics are not those of a job with these options, if there is
/// one.
pub(super) fn contradiction(
    job: &Job,
    options: JobOptions<'_>,
    pattern: Pattern,
    threads: Option<u64>,
) -> Option<String> {
    let verifies = options.has_any(&["verify"]);
    other_direction(job, pattern)
        .filter(|_| !verifies)
        .or_else(|| {
            Direction::SINGLE.into_iter().find_map(|direction| other_block(job, options, direction))
        })
        .or_else(|| other_share(job, options, pattern))
        .or_else(|| more_bytes(job, options, threads?).filter(|_| !verifies))
        .or_else(|| more_in_flight(job, options, pattern, threads?))
        .or_else(|| other_depth(job, options, threads?))
}

/// Compares the depths with `iodepth`. fio fills the queue before it waits, and records the depth
/// at each I/O.
fn other_depth(job: &Job, options: JobOptions<'_>, threads: u64) -> Option<String> {
    let asked = depth(options).filter(|depth| *depth > 1 && plain(options))?;
    let ios =
        |direction: Direction| direction.side(job).and_then(|side| side.total_ios).unwrap_or(0);
    let ios: f64 = Direction::ALL.into_iter().map(|direction| ios(direction) as f64).sum();
    if ios < (FILLED * asked as f64 * threads as f64).max(MANY) {
        return None;
    }
    // A level ends where the next begins, at twice the depth.
    let level = asked.min(64).ilog2();
    let share = |(name, percent): (&String, &f64)| {
        let from: u64 = name.trim_start_matches(">=").parse().ok()?;
        (from.checked_ilog2()? >= level).then_some(*percent)
    };
    let at_depth: f64 = job.iodepth_level.iter().filter_map(share).sum();
    let seen: f64 = job.iodepth_level.values().sum();
    let below = seen > 0.0 && at_depth < FEW;
    below.then(|| {
        let from = 1_u64 << level;
        format!("iodepth={asked}, but {at_depth} % of the I/Os had {from} or more in flight")
    })
}

fn other_direction(job: &Job, pattern: Pattern) -> Option<String> {
    let only = pattern.only()?;
    let moved = |direction: &Direction| direction.side(job).is_some_and(|side| side.io_bytes > 0);
    let other = Direction::SINGLE.into_iter().filter(|direction| *direction != only).find(moved)?;
    let bytes = other.side(job)?.io_bytes;
    Some(format!("rw={}, but {bytes} bytes are of the direction {}", pattern.name, other.word()))
}

fn other_block(job: &Job, options: JobOptions<'_>, direction: Direction) -> Option<String> {
    // A trim may have several ranges.
    let side =
        direction.side(job).filter(|side| side.io_bytes > 0 && direction != Direction::Trim)?;
    let (block, ios) = (block(options, direction)?, side.total_ios.filter(|ios| *ios > 0)?);
    let (bytes, asked) = (side.io_bytes as f64, ios as f64 * block as f64);
    let short = (1 + side.short_ios + side.drop_ios) as f64 * block as f64;
    let off = (bytes - asked).abs() > short.max(1e-3 * asked);
    off.then(|| {
        let each = bytes / ios as f64;
        format!("blocks of {block} bytes, but {ios} I/Os moved {each:.0} bytes each")
    })
}

/// Compares the share of reads. fio draws at random which I/Os read: of many, the requested share
/// does.
fn other_share(job: &Job, options: JobOptions<'_>, pattern: Pattern) -> Option<String> {
    if !pattern.mixes_reads() || pacing(options).is_some() {
        return None;
    }
    let ios = |direction: Direction| {
        direction.side(job).and_then(|side| side.total_ios).map_or(0.0, |n| n as f64)
    };
    let (read, written) = (ios(Direction::Read), ios(Direction::Write));
    let (asked, seen) = (reads(options)?, 100.0 * read / (read + written));
    let off = read + written >= MANY && (seen - asked as f64).abs() > DRAWN;
    off.then(|| format!("{asked} % of the I/Os should read, but {seen:.0} % do"))
}

/// Compares the bytes with the total size, after which a job ends unless another option ends it.
fn more_bytes(job: &Job, options: JobOptions<'_>, threads: u64) -> Option<String> {
    let asked = amount(options)? as f64 * threads as f64;
    let of = |direction: Direction| direction.side(job).map_or(0.0, |side| side.io_bytes as f64);
    let moved: f64 = Direction::SINGLE.into_iter().map(of).sum();
    // The same bytes may be trimmed and written.
    let more = moved > asked * (1.0 + ROUNDED) && of(Direction::Trim) == 0.0;
    more.then(|| format!("size x loops x processes is {asked:.0} bytes, but {moved:.0} were moved"))
}

/// Compares the I/Os in flight with those allowed. Little's law: they are rate x mean latency.
fn more_in_flight(
    job: &Job,
    options: JobOptions<'_>,
    pattern: Pattern,
    threads: u64,
) -> Option<String> {
    let allowed = threads as f64 * depth(options)? as f64;
    // A verification reads after the writes. Where the pattern also reads, that time covers both.
    let verified = options.has_any(&["verify"]) && !pattern.mixes_reads();
    let of = |direction: Direction| direction.side(job).map_or(0, |side| side.runtime);
    let in_turn = of(Direction::Read)
        .saturating_add(of(Direction::Write).max(of(Direction::Trim)))
        .max(runtime(job));
    let ms = if verified { in_turn } else { runtime(job) };
    let seconds = ms as f64 / 1e3;
    let waited = |side: &Side| {
        let times = side.lat_ns.as_ref().or(side.clat_ns.as_ref())?;
        Some(side.total_ios? as f64 * times.mean? / 1e9)
    };
    let waited: f64 =
        Direction::SINGLE.into_iter().filter_map(|direction| waited(direction.side(job)?)).sum();
    let seen = waited / seconds;
    let more = is_quantity(seen) && seen > MORE_IN_FLIGHT * allowed && runtime(job) >= TELLING_MS;
    more.then(|| {
        format!("rate x mean latency is {seen:.1} I/Os in flight, with {allowed:.0} allowed")
    })
}

/// Returns a contradiction of a direction's rates to its bytes and time.
pub(super) fn other_rate(side: &Side) -> Option<String> {
    let seconds = side.runtime as f64 / 1e3;
    let one = |value: f64| Rounded { value, off: 1.0 };
    let rate = side.io_bytes as f64 / seconds;
    let other = side.bw_bytes.filter(|printed| !agree(*printed as f64, one(rate), ROUNDED));
    if let Some(printed) = other {
        return Some(format!("bw_bytes is {printed}, but io_bytes over runtime is {rate:.0}"));
    }
    let ios = side.total_ios? as f64 / seconds;
    // fio leaves out the I/Os that it takes for short.
    let left = ios - (side.short_ios + side.drop_ios) as f64 / seconds;
    let agrees = |iops: f64| [left, ios].into_iter().any(|rate| agree(iops, one(rate), ROUNDED));
    let printed = side.iops.filter(|iops| !(left..=ios).contains(iops) && !agrees(*iops))?;
    Some(format!("iops is {printed:.0}, but total_ios over runtime is {ios:.0}"))
}
