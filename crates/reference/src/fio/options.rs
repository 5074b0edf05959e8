//! The options of a job as far as the report has them, with fio's defaults.

use proofmark_model::{Flush, Params, key, word};

use super::harmless::others;
use super::json::JobOptions;
use super::pattern::Direction;
use crate::Malformed;

/// Engines for files with one I/O in flight per process.
const ONE: &[&str] = &["psync", "sync", "pvsync", "pvsync2", "vsync"];

/// Engines for files with a queue.
const QUEUED: &[&str] = &["io_uring", "libaio", "posixaio"];

/// The maximum number of options in a figure among those that make it other work.
const MOST_SHOWN: usize = 8;

const BLOCK: u64 = 4096;

/// Returns true if the options do the pattern's work and no other.
pub(super) fn plain(options: JobOptions<'_>) -> bool {
    // `randread:8` reads 8 consecutive blocks, `read:8k` skips 8 KiB after each block.
    if options.get("rw").is_some_and(|rw| rw.contains(':')) {
        return false;
    }
    let known = |engine| ONE.contains(&engine) || QUEUED.contains(&engine);
    options.get("ioengine").is_none_or(known) && others(options).next().is_none()
}

/// Returns the parameters of a direction: first by the names of the disk workloads, then those
/// without such a name.
pub(super) fn params(
    options: JobOptions<'_>,
    direction: Direction,
    threads: Option<u64>,
) -> Params {
    let mut params = Params::default()
        .with(key::DIRECT, if direct(options) { word::ON } else { word::OFF })
        .known(key::THREADS, threads)
        .known(key::ENGINE, options.get("ioengine"))
        .known(key::BLOCK_SIZE, block(options, direction))
        .known(key::QUEUE_DEPTH, depth(options))
        .known(key::FILE_SIZE, file(options, threads))
        .known(key::READS, (direction == Direction::Mixed).then(|| reads(options)).flatten());
    if matches!(direction, Direction::Write | Direction::Mixed) {
        match flush(options) {
            Flush::Never => params = params.with(key::FLUSH, word::NONE),
            Flush::End => params = params.with(key::FLUSH, word::END),
            // The option is among the others.
            Flush::Each | Flush::Dsync => {}
        }
    }
    for (name, value) in others(options).take(MOST_SHOWN) {
        let name = Malformed::excerpt(name);
        if params.named(&name).is_none() {
            params = params.with_named(&name, Malformed::excerpt(value).as_str());
        }
    }
    params
}

/// Options that limit the rate, so that it is not the disk's.
const PACING: &[&str] = &[
    "flow",
    "latency_target",
    "rate",
    "rate_iops",
    "rate_iops_min",
    "rate_min",
    "thinkcycles",
    "thinktime",
];

/// Returns the options by which fio paced itself, such as `rate=4m`.
pub(super) fn pacing(options: JobOptions<'_>) -> Option<String> {
    let set: Vec<_> = PACING
        .iter()
        .filter_map(|name| Some((name, options.get(name).filter(|value| is_on(value))?)))
        .map(|(name, value)| format!("{name}={}", Malformed::excerpt(value)))
        .collect();
    (!set.is_empty()).then(|| set.join(", "))
}

/// Returns true if the job bypasses the page cache.
pub(super) fn direct(options: JobOptions<'_>) -> bool {
    on(options, "direct") || options.get("buffered") == Some("0")
}

/// Returns when the job flushes its writes.
pub(super) fn flush(options: JobOptions<'_>) -> Flush {
    if flushed_after(options).is_some() {
        Flush::Each
    } else if options.get("sync").is_some_and(is_on) {
        // O_SYNC includes O_DSYNC.
        Flush::Dsync
    } else if (on(options, "end_fsync") || on(options, "fsync_on_close")) && !drops_flush(options) {
        Flush::End
    } else {
        Flush::Never
    }
}

/// Returns the number of writes before each flush: 1 with `fsync=1`. `None` without such an option;
/// 0 if its number is not known.
pub(super) fn flushed_after(options: JobOptions<'_>) -> Option<u64> {
    let set = ["fsync", "fdatasync"].into_iter().filter_map(|name| options.get(name));
    set.filter(|value| is_on(value)).map(|value| value.parse().unwrap_or(0)).min()
}

fn is_on(value: &str) -> bool {
    !matches!(value, "0" | "none")
}

/// Returns true if the kernel refuses the fsync at the end, since it comes with the number of a
/// registered buffer. fio (3.33, 3.39) reports no error.
fn drops_flush(options: JobOptions<'_>) -> bool {
    on(options, "fixedbufs")
        && options.get("ioengine") == Some("io_uring")
        && depth(options) != Some(1)
}

fn on(options: JobOptions<'_>, name: &str) -> bool {
    options.get(name) == Some("1")
}

/// Returns the bytes of an I/O of a direction. In `bs=4k,8k` the first is for reads, the second for
/// writes and trims.
pub(super) fn block(options: JobOptions<'_>, direction: Direction) -> Option<u64> {
    if options.has_any(&["bsrange", "bssplit", "bs_is_seq_rand", "bs_unaligned"]) {
        return None;
    }
    let Some(bs) = options.get("bs") else { return Some(BLOCK) };
    let of = |place: usize| {
        let text = bs.split(',').nth(place).or(bs.rsplit(',').next())?;
        if text.is_empty() { Some(BLOCK) } else { size(text, options) }
    };
    match direction {
        Direction::Read => of(0),
        Direction::Write => of(1),
        Direction::Trim => of(2),
        Direction::Mixed => of(0).filter(|read| of(1) == Some(*read)),
    }
}

/// Returns the I/Os that a process has in flight: one without a queue, whatever `iodepth` is. fio's
/// default engine depends on the system.
pub(super) fn depth(options: JobOptions<'_>) -> Option<u64> {
    let depth = options.get("iodepth").map_or(Some(1), |d| d.parse::<u64>().ok())?;
    match options.get("ioengine") {
        Some(engine) if ONE.contains(&engine) => Some(1),
        None if depth > 1 => None,
        _ => Some(depth),
    }
}

/// Returns the bytes of all files. `size` is per process, and each process has its own files unless
/// they are named.
pub(super) fn file(options: JobOptions<'_>, threads: Option<u64>) -> Option<u64> {
    let bytes = each_size(options)?;
    let named = options.get("filename").is_some();
    match options.get("offset_increment").filter(|more| size(more, options) != Some(0)) {
        // Each process uses its own part of the named file.
        Some(more) if named => {
            threads?.checked_mul(bytes).filter(|_| size(more, options) == Some(bytes))
        }
        _ if named => Some(bytes),
        _ => bytes.checked_mul(threads?),
    }
}

/// Options that end a job before or after its `size`, or change its amount.
const OTHER_AMOUNTS: &[&str] = &[
    "fill_device",
    "filesize",
    "io_limit",
    "io_size",
    "number_ios",
    "read_iolog",
    "runtime",
    "timeout",
    "zonemode",
    "zonesize",
];

/// Returns the bytes that a process reads and writes until it ends by itself, if they are certain.
pub(super) fn amount(options: JobOptions<'_>) -> Option<u64> {
    if options.has_any(OTHER_AMOUNTS) {
        return None;
    }
    let loops = options.get("loops").map_or(Some(1), |loops| loops.parse().ok())?;
    each_size(options)?.checked_mul(loops)
}

/// Returns the bytes of a process. With 0, fio takes the files as they are.
fn each_size(options: JobOptions<'_>) -> Option<u64> {
    size(options.get("size")?, options).filter(|bytes| *bytes > 0)
}

/// Returns the milliseconds of untimed work before the measurement; `None` if they are not known.
/// fio (3.33) reads a fraction as the whole number of seconds before its point: `0.5` is no ramp.
pub(super) fn ramp_ms(options: JobOptions<'_>) -> Option<f64> {
    let Some(text) = options.get("ramp_time") else { return Some(0.0) };
    let text = text.trim();
    let unit = text.trim_start_matches(|c: char| c.is_ascii_digit());
    let digits = text.strip_suffix(unit)?;
    let each = match unit {
        "us" => 1e-3,
        "ms" => 1.0,
        "" | "s" => 1e3,
        fraction if fraction.starts_with('.') => 1e3,
        "m" => 60e3,
        "h" => 3600e3,
        _ => return None,
    };
    digits.parse::<u32>().ok().map(|number| f64::from(number) * each)
}

/// Returns the percent of the I/Os that read.
pub(super) fn reads(options: JobOptions<'_>) -> Option<u64> {
    let percent = |name: &str| options.get(name).map(|v| v.parse::<u64>().ok());
    match (percent("rwmixread"), percent("rwmixwrite")) {
        (Some(reads), _) => reads,
        (None, Some(writes)) => 100_u64.checked_sub(writes?),
        (None, None) => Some(50),
    }
}

pub(super) fn processes(options: JobOptions<'_>) -> Option<u64> {
    options.get("numjobs").map_or(Some(1), |n| n.parse().ok()).filter(|n| *n > 0)
}

/// Parses bytes as fio does: `4k` and `4kb` are 4096, `4ki` and `4kib` 4000. `kb_base=1000` swaps
/// them. `None` for anything else, such as `50%`.
fn size(text: &str, options: JobOptions<'_>) -> Option<u64> {
    let text = text.trim().to_ascii_lowercase();
    let digits = text.trim_start_matches(|c: char| c.is_ascii_digit());
    let number: u64 = text.strip_suffix(digits)?.parse().ok()?;
    let suffix = digits.strip_suffix('b').unwrap_or(digits);
    let (prefix, marked) = suffix.strip_suffix('i').map_or((suffix, false), |p| (p, true));
    let power = ["", "k", "m", "g", "t", "p"].iter().position(|known| *known == prefix)?;
    if power == 0 && marked {
        return None;
    }
    let standard = options.get("kb_base") == Some("1000");
    let base: u64 = if marked == standard { 1024 } else { 1000 };
    number.checked_mul(base.checked_pow(power as u32)?)
}

#[cfg(test)]
mod tests {
    use super::super::json::Options;
    use super::*;

    fn options(text: &str) -> Options {
        let pairs = text.split_whitespace().filter_map(|pair| pair.split_once('='));
        pairs.map(|(name, value)| (name.to_owned(), value.to_owned())).collect()
    }

    /// Calls a function with the options of a text such as `bs=4k rw=read`.
    fn given<T>(text: &str, call: impl FnOnce(JobOptions<'_>) -> T) -> T {
        call(JobOptions::find(Some(&options(text)), &Options::new()).unwrap())
    }

    #[test]
    fn a_job_overrides_what_is_global() {
        let (job, global) = (options("bs=8k"), options("bs=4k rw=write"));
        let asked = JobOptions::find(Some(&job), &global).unwrap();
        let found = ["bs", "rw", "size"].map(|name| asked.get(name));
        assert_eq!(found, [Some("8k"), Some("write"), None]);
        assert!(
            JobOptions::find(None, &global).is_some()
                && JobOptions::find(None, &options("")).is_none()
        );
    }

    #[test]
    fn sizes_as_fio_reads_them() {
        for (text, bytes, standard) in [
            ("512", Some(512), Some(512)),
            ("512b", Some(512), Some(512)),
            ("4k", Some(4096), Some(4000)),
            ("4KB", Some(4096), Some(4000)),
            ("4ki", Some(4000), Some(4096)),
            ("2MiB", Some(2_000_000), Some(2 << 20)),
            ("1g", Some(1 << 30), Some(1_000_000_000)),
            ("1t", Some(1 << 40), Some(1_000_000_000_000)),
            ("50%", None, None),
            ("", None, None),
            ("i", None, None),
            ("4i", None, None),
            ("k", None, None),
            ("99999999p", None, None),
        ] {
            assert_eq!(given("", |o| size(text, o)), bytes, "{text}");
            assert_eq!(given("kb_base=1000", |o| size(text, o)), standard, "{text}");
        }
    }

    #[test]
    fn blocks_by_direction() {
        for (bs, read, write, trim) in [
            ("", 4096, 4096, 4096),
            ("bs=8k", 8192, 8192, 8192),
            ("bs=8k,32k", 8192, 32768, 32768),
            ("bs=8k,32k,", 8192, 32768, 4096),
            ("bs=,8k", 4096, 8192, 8192),
            ("bs=1k,2k,3k", 1024, 2048, 3072),
        ] {
            let found = [Direction::Read, Direction::Write, Direction::Trim]
                .map(|w| given(bs, |o| block(o, w)));
            assert_eq!(found, [Some(read), Some(write), Some(trim)], "{bs}");
            let both = given(bs, |o| block(o, Direction::Mixed));
            assert_eq!(both, (read == write).then_some(read), "{bs}");
        }
    }

    #[test]
    fn numbers_have_fios_defaults() {
        type Number = fn(JobOptions<'_>) -> Option<u64>;
        let ramp: Number = |o| ramp_ms(o).map(|ms| ms as u64);
        let of_three: Number = |o| file(o, Some(3));
        for (text, number, expected) in [
            ("ioengine=psync iodepth=32", depth as Number, Some(1)),
            ("ioengine=libaio iodepth=32", depth, Some(32)),
            ("ioengine=libaio", depth, Some(1)),
            ("iodepth=32", depth, None),
            ("iodepth=1", depth, Some(1)),
            ("", depth, Some(1)),
            ("numjobs=3", processes, Some(3)),
            ("numjobs=0", processes, None),
            ("numjobs=-1", processes, None),
            ("", processes, Some(1)),
            ("", reads, Some(50)),
            ("rwmixread=75", reads, Some(75)),
            ("rwmixwrite=40", reads, Some(60)),
            ("rwmixwrite=140", reads, None),
            // Each process has its own files unless they are named.
            ("size=4m", of_three, Some(12 << 20)),
            ("size=4m filename=f", of_three, Some(4 << 20)),
            ("size=4m filename=f offset_increment=4m", of_three, Some(12 << 20)),
            ("size=4m filename=f offset_increment=1m", of_three, None),
            ("size=4m", |o| file(o, None), None),
            ("size=4m loops=3", amount, Some(12 << 20)),
            ("size=4m", amount, Some(4 << 20)),
            ("size=4m runtime=9", amount, None),
            ("size=4m number_ios=9", amount, None),
            ("size=50%", amount, None),
            ("size=0", amount, None),
            ("size=0k filename=f", of_three, None),
            ("fsync=8 fdatasync=2", flushed_after, Some(2)),
            ("fsync=0", flushed_after, None),
            ("fsync=often", flushed_after, Some(0)),
            ("ramp_time=2", ramp, Some(2000)),
            ("ramp_time=250ms", ramp, Some(250)),
            ("ramp_time=0.5", ramp, Some(0)),
            ("ramp_time=1.5ms", ramp, Some(1000)),
            ("ramp_time=.5", ramp, None),
            ("ramp_time=1m", ramp, Some(60_000)),
            ("ramp_time=soon", ramp, None),
            ("", ramp, Some(0)),
            ("bsrange=4k-8k", |o| block(o, Direction::Read), None),
        ] {
            assert_eq!(given(text, number), expected, "{text}");
        }
    }

    #[test]
    fn parameters_of_writes_by_either_name() {
        for (text, name, value) in [
            ("direct=1", "direct", Some("on")),
            ("buffered=0", "direct", Some("on")),
            ("direct=0", "direct", Some("off")),
            ("end_fsync=1", "flush", Some("end")),
            ("fsync_on_close=1", "flush", Some("end")),
            ("size=1m", "flush", Some("none")),
            // The kernel refuses the flush.
            ("end_fsync=1 fixedbufs=1 ioengine=io_uring iodepth=8", "flush", Some("none")),
            ("end_fsync=1 fixedbufs=1 ioengine=io_uring iodepth=1", "flush", Some("end")),
            // A flush follows each write.
            ("fdatasync=1", "flush", None),
            ("rate=1m", "rate", Some("1m")),
        ] {
            let params = given(text, |o| params(o, Direction::Write, Some(1)));
            assert_eq!(params.word(name), value, "{text}");
        }
        for (text, expected) in [
            ("fsync=1", Flush::Each),
            ("fdatasync=1 sync=dsync", Flush::Each),
            ("sync=dsync", Flush::Dsync),
            ("sync=1", Flush::Dsync),
            ("sync=none", Flush::Never),
            ("sync=0 end_fsync=1", Flush::End),
        ] {
            assert_eq!(given(text, flush), expected, "{text}");
        }
        assert_eq!(given("", |o| params(o, Direction::Read, Some(1))).get(key::FLUSH), None);
        for (text, same) in
            [("ioengine=io_uring iodepth=8", true), ("rate=1m", false), ("ioengine=null", false)]
        {
            assert_eq!(given(text, plain), same, "{text}");
        }
    }
}
