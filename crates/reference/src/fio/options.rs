//! What a job was asked to do, as far as the report tells: options with fio's defaults.

use proofmark_model::{Flush, Params};

use super::harmless::others;
use super::json::Options;
use super::pattern::Way;
use crate::Malformed;

/// Engines that read and write files, one I/O in flight a process.
const ONE: &[&str] = &["psync", "sync", "pvsync", "pvsync2", "vsync"];

/// Engines that do so with a queue.
const QUEUED: &[&str] = &["io_uring", "libaio", "posixaio"];

/// Of the options that make it other work, those that figures repeat at most.
const TOLD: usize = 8;

/// fio's default block, in bytes.
const BLOCK: u64 = 4096;

/// The options of a job: its own, and the global ones.
#[derive(Clone, Copy)]
pub(super) struct Asked<'a> {
    job: Option<&'a Options>,
    global: &'a Options,
}

impl<'a> Asked<'a> {
    /// Those of a report; `None` where it tells neither: then defaults prove nothing.
    pub(super) fn find(job: Option<&'a Options>, global: &'a Options) -> Option<Self> {
        (job.is_some() || !global.is_empty()).then_some(Self { job, global })
    }

    /// The value of that option, if it is in force.
    pub(super) fn get(self, name: &str) -> Option<&'a str> {
        let own = self.job.and_then(|options| options.get(name));
        own.or_else(|| self.global.get(name)).map(String::as_str)
    }

    /// All that are in force, with their values.
    pub(super) fn all(self) -> impl Iterator<Item = (&'a str, &'a str)> {
        let own = move |name: &str| self.job.is_some_and(|options| options.contains_key(name));
        let global = self.global.iter().filter(move |(name, _)| !own(name));
        let all = self.job.into_iter().flatten().chain(global);
        all.map(|(name, value)| (name.as_str(), value.as_str()))
    }
}

/// Whether this is the pattern's work and no other.
pub(super) fn plain(options: Asked<'_>) -> bool {
    // `randread:8` reads 8 blocks that follow each other, `read:8k` leaves a hole after each.
    if options.get("rw").is_some_and(|rw| rw.contains(':')) {
        return false;
    }
    let known = |engine| ONE.contains(&engine) || QUEUED.contains(&engine);
    options.get("ioengine").is_none_or(known) && others(options).next().is_none()
}

/// The parameters of a direction: by the names that the disk workloads have for them, then what they
/// have no name for.
pub(super) fn params(options: Asked<'_>, way: Way, threads: u64) -> Params {
    let mut params = Params::default()
        .with("threads", threads)
        .with("direct", if direct(options) { "on" } else { "off" });
    if let Some(engine) = options.get("ioengine") {
        params = params.with("engine", engine);
    }
    for (name, value) in [
        ("block_size", block(options, way)),
        ("queue_depth", depth(options)),
        ("file_size", file(options, threads)),
        ("reads", (way == Way::Mixed).then(|| reads(options)).flatten()),
    ] {
        if let Some(value) = value {
            params = params.with(name, value);
        }
    }
    if matches!(way, Way::Write | Way::Mixed) {
        match flush(options) {
            Flush::Never => params = params.with("flush", "none"),
            Flush::End => params = params.with("flush", "end"),
            // It is among the others.
            Flush::Each => {}
        }
    }
    for (name, value) in others(options).take(TOLD) {
        let name = Malformed::excerpt(name);
        if params.get(&name).is_none() {
            params = params.with(&name, Malformed::excerpt(value).as_str());
        }
    }
    params
}

/// Whether it goes past the page cache.
pub(super) fn direct(options: Asked<'_>) -> bool {
    on(options, "direct") || options.get("buffered") == Some("0")
}

/// When it flushes what it wrote.
pub(super) fn flush(options: Asked<'_>) -> Flush {
    let off = |value: &str| matches!(value, "0" | "none");
    let each = |name: &&str| options.get(name).is_some_and(|value| !off(value));
    if ["fsync", "fdatasync", "sync"].iter().any(each) {
        Flush::Each
    } else if (on(options, "end_fsync") || on(options, "fsync_on_close")) && !drops_flush(options) {
        Flush::End
    } else {
        Flush::Never
    }
}

/// Whether the system refuses the fsync at the end, of which fio says nothing (3.33, 3.39): it
/// comes with the number of a registered buffer.
fn drops_flush(options: Asked<'_>) -> bool {
    on(options, "fixedbufs")
        && options.get("ioengine") == Some("io_uring")
        && depth(options) != Some(1)
}

fn on(options: Asked<'_>, name: &str) -> bool {
    options.get(name) == Some("1")
}

/// Bytes of an I/O of that direction. `bs=4k,8k` is for reads, and for writes and trims.
fn block(options: Asked<'_>, way: Way) -> Option<u64> {
    let Some(bs) = options.get("bs") else { return Some(BLOCK) };
    let of = |place: usize| {
        let text = bs.split(',').nth(place).or(bs.rsplit(',').next())?;
        if text.is_empty() { Some(BLOCK) } else { size(text, options) }
    };
    match way {
        Way::Read => of(0),
        Way::Write => of(1),
        Way::Trim => of(2),
        Way::Mixed => of(0).filter(|read| of(1) == Some(*read)),
    }
}

/// I/Os that a process has in flight: without a queue one, whatever `iodepth` says. Which engine
/// fio takes by default depends on the system.
fn depth(options: Asked<'_>) -> Option<u64> {
    let depth = options.get("iodepth").map_or(Some(1), |d| d.parse::<u64>().ok())?;
    match options.get("ioengine") {
        Some(engine) if ONE.contains(&engine) => Some(1),
        None if depth > 1 => None,
        _ => Some(depth),
    }
}

/// Bytes of all files: `size` is a process's, each of which has its own unless they are named.
pub(super) fn file(options: Asked<'_>, threads: u64) -> Option<u64> {
    let bytes = size(options.get("size")?, options)?;
    let files = if options.get("filename").is_some() { 1 } else { threads };
    bytes.checked_mul(files)
}

/// Percent of the I/Os that read.
fn reads(options: Asked<'_>) -> Option<u64> {
    let percent = |name: &str| options.get(name).map(|v| v.parse::<u64>().ok());
    match (percent("rwmixread"), percent("rwmixwrite")) {
        (Some(reads), _) => reads,
        (None, Some(writes)) => 100_u64.checked_sub(writes?),
        (None, None) => Some(50),
    }
}

/// Processes of the job.
pub(super) fn processes(options: Asked<'_>) -> Option<u64> {
    options.get("numjobs").map_or(Some(1), |n| n.parse().ok()).filter(|n| *n > 0)
}

/// Bytes, as fio reads them: `4k` and `4kb` are 4096, `4ki` and `4kib` 4000, and with
/// `kb_base=1000` the other way round. `None` for anything else, such as `50%`.
fn size(text: &str, options: Asked<'_>) -> Option<u64> {
    let text = text.trim().to_ascii_lowercase();
    let digits = text.trim_start_matches(|c: char| c.is_ascii_digit());
    let number: u64 = text.strip_suffix(digits)?.parse().ok()?;
    let suffix = digits.strip_suffix('b').unwrap_or(digits);
    let (prefix, marked) = suffix.strip_suffix('i').map_or((suffix, false), |p| (p, true));
    let power = match prefix {
        "" if !marked => 0,
        "k" => 1,
        "m" => 2,
        "g" => 3,
        "t" => 4,
        "p" => 5,
        _ => return None,
    };
    let standard = options.get("kb_base") == Some("1000");
    let base: u64 = if marked == standard { 1024 } else { 1000 };
    number.checked_mul(base.checked_pow(power)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn options(pairs: &[(&str, &str)]) -> Options {
        pairs.iter().map(|(n, v)| ((*n).to_owned(), (*v).to_owned())).collect()
    }

    fn asked(job: &Options) -> Asked<'_> {
        static NONE: Options = Options::new();
        Asked { job: Some(job), global: &NONE }
    }

    #[test]
    fn a_job_overrides_what_is_global() {
        let (job, global) = (options(&[("bs", "8k")]), options(&[("bs", "4k"), ("rw", "write")]));
        let asked = Asked::find(Some(&job), &global).unwrap();
        assert_eq!(
            (asked.get("bs"), asked.get("rw"), asked.get("size")),
            (Some("8k"), Some("write"), None)
        );
        assert!(Asked::find(None, &global).is_some() && Asked::find(None, &options(&[])).is_none());
    }

    #[test]
    fn sizes_as_fio_reads_them() {
        let (old, si) = (options(&[]), options(&[("kb_base", "1000")]));
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
            assert_eq!(size(text, asked(&old)), bytes, "{text}");
            assert_eq!(size(text, asked(&si)), standard, "{text}");
        }
    }

    #[test]
    fn blocks_by_direction() {
        for (bs, read, write, trim) in [
            ("8k", 8192, 8192, 8192),
            ("8k,32k", 8192, 32768, 32768),
            ("8k,32k,", 8192, 32768, 4096),
            (",8k", 4096, 8192, 8192),
            ("1k,2k,3k", 1024, 2048, 3072),
        ] {
            let o = options(&[("bs", bs)]);
            let found = [Way::Read, Way::Write, Way::Trim].map(|way| block(asked(&o), way));
            assert_eq!(found, [Some(read), Some(write), Some(trim)], "{bs}");
            assert_eq!(block(asked(&o), Way::Mixed), (read == write).then_some(read), "{bs}");
        }
        assert_eq!(block(asked(&options(&[])), Way::Read), Some(4096));
    }

    #[test]
    fn the_depth_of_an_engine_without_a_queue_is_one() {
        for (engine, iodepth, depth) in [
            (Some("psync"), Some("32"), Some(1)),
            (Some("libaio"), Some("32"), Some(32)),
            (Some("libaio"), None, Some(1)),
            (None, Some("32"), None),
            (None, Some("1"), Some(1)),
            (None, None, Some(1)),
        ] {
            let pairs = [("ioengine", engine), ("iodepth", iodepth)];
            let set: Vec<_> = pairs.iter().filter_map(|(n, v)| Some((*n, (*v)?))).collect();
            assert_eq!(depth_of(&set), depth, "{set:?}");
        }
        fn depth_of(set: &[(&str, &str)]) -> Option<u64> {
            depth(asked(&options(set)))
        }
    }

    #[test]
    fn other_work_is_not_compared() {
        for (set, same) in [
            (&[("ioengine", "io_uring"), ("iodepth", "8")][..], true),
            (&[("fsync", "0"), ("zonemode", "none")], true),
            (&[("fsync", "1")], false),
            (&[("rate", "1m")], false),
            (&[("ioengine", "null")], false),
        ] {
            assert_eq!(plain(asked(&options(set))), same, "{set:?}");
        }
        let p = params(asked(&options(&[("rate", "1m")])), Way::Read, 1);
        assert_eq!(p.text("rate"), Some("1m"));
    }

    #[test]
    fn files_are_the_processes_own_unless_they_are_named() {
        let own = options(&[("size", "4m")]);
        let named = options(&[("size", "4m"), ("filename", "f")]);
        assert_eq!((file(asked(&own), 3), file(asked(&named), 3)), (Some(12 << 20), Some(4 << 20)));
    }

    #[test]
    fn processes_are_one_or_more() {
        for (numjobs, count) in [("3", Some(3)), ("0", None), ("-1", None)] {
            assert_eq!(processes(asked(&options(&[("numjobs", numjobs)]))), count);
        }
        assert_eq!(processes(asked(&options(&[]))), Some(1));
    }

    #[test]
    fn shares_of_reads() {
        for (set, share) in [
            (&[][..], Some(50)),
            (&[("rwmixread", "75")], Some(75)),
            (&[("rwmixwrite", "40")], Some(60)),
            (&[("rwmixwrite", "140")], None),
        ] {
            assert_eq!(reads(asked(&options(set))), share, "{set:?}");
        }
    }

    #[test]
    fn direct_and_flush_by_either_name() {
        let of = |set: &[(&str, &str)]| params(asked(&options(set)), Way::Write, 1);
        for set in [[("direct", "1")], [("buffered", "0")]] {
            assert_eq!(of(&set).text("direct"), Some("on"));
        }
        assert_eq!(of(&[("direct", "0")]).text("direct"), Some("off"));
        for (set, flush) in [
            ([("end_fsync", "1")], "end"),
            ([("fsync_on_close", "1")], "end"),
            ([("size", "1m")], "none"),
        ] {
            assert_eq!(of(&set).text("flush"), Some(flush));
        }
        let registered = [("end_fsync", "1"), ("fixedbufs", "1"), ("ioengine", "io_uring")];
        let deep = |depth| of(&[&registered[..], &[("iodepth", depth)]].concat());
        assert_eq!(deep("8").text("flush"), Some("none"), "the system refuses it");
        assert_eq!(deep("1").text("flush"), Some("end"));
        assert_eq!(params(asked(&options(&[])), Way::Read, 1).text("flush"), None);
        assert_eq!(of(&[("fdatasync", "1")]).text("flush"), None, "each write is");
    }
}
