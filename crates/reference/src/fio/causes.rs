//! The causes that a job's options allow where I/Os did not come from the device, or did not reach
//! it.

use proofmark_model::{Finding, Severity, check_id, or_list};

use super::json::JobOptions;
use super::options::direct;
use crate::findings::contradicts;

/// A direction of the I/Os.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Way {
    Read,
    Written,
}

impl Way {
    pub(super) const BOTH: [Self; 2] = [Self::Read, Self::Written];

    pub(super) fn word(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Written => "written",
        }
    }
}

/// Prefixes of the names of devices that have no layer above the disk.
const DISKS: [&str; 7] = ["dasd", "hd", "mmcblk", "nvme", "sd", "vd", "xvd"];

/// The target of a job's I/Os.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Target {
    File,
    Disk,
    /// Another block device: thin, cached or compressed volumes look the same.
    Device,
}

impl Target {
    fn of(options: JobOptions<'_>) -> Self {
        let paths = options.get("filename").into_iter().flat_map(|value| value.split(':'));
        let kind = |path: &str| match path.strip_prefix("/dev/") {
            None => Self::File,
            Some(name) if DISKS.iter().any(|disk| name.starts_with(disk)) => Self::Disk,
            Some(_) => Self::Device,
        };
        let mut kinds = paths.map(kind);
        let first = kinds.next().unwrap_or(Self::File);
        // Of a file, the fewest causes are excluded.
        if kinds.all(|kind| kind == first) { first } else { Self::File }
    }
}

/// Returns true if an option is set and does not switch something off.
fn is_on(options: JobOptions<'_>, name: &str) -> bool {
    options.get(name).is_some_and(|value| !matches!(value, "0" | "none" | "0,0"))
}

/// Returns true if the written data can be compressed or deduplicated. By default fio writes random
/// data, and changes them in each block.
fn is_reducible(options: JobOptions<'_>) -> bool {
    const ON: [&str; 4] =
        ["buffer_compress_percentage", "buffer_pattern", "dedupe_percentage", "zero_buffers"];
    let repeats = options.get("scramble_buffers") == Some("0") && !is_on(options, "refill_buffers");
    repeats || ON.iter().any(|name| is_on(options, name))
}

/// Returns what may have served, or kept, I/Os in this direction.
fn causes(options: JobOptions<'_>, way: Way) -> Vec<&'static str> {
    let (target, direct) = (Target::of(options), direct(options));
    let is_file = target == Target::File;
    // Blocks are verified by what is in them, and there is nothing in a hole.
    let is_verified = is_on(options, "verify");
    let reads = way == Way::Read;
    let reduced = "a file system that compresses or deduplicates";
    [
        (!direct, "the page cache"),
        (direct && is_file, "a file system that does direct I/O through the page cache"),
        (reads && is_file && !is_verified, "holes or unwritten extents of the file"),
        (is_file && (reads || is_reducible(options)), reduced),
        (
            target == Target::Device,
            "a layer between the device and its disk (thin, cached, compressed)",
        ),
    ]
    .into_iter()
    .filter_map(|(is_possible, cause)| is_possible.then_some(cause))
    .collect()
}

/// The finding that the device did not do the work: `what` its counters show. They are `silent` if
/// they show no I/O at all.
pub(super) fn not_by_the_device(
    options: JobOptions<'_>,
    way: Way,
    what: &str,
    silent: bool,
) -> Finding {
    let mut causes = causes(options, way);
    let direct = direct(options);
    let of_others = "counters that are off, or those of another device";
    if causes.is_empty() {
        let message = format!(
            "{what}, but direct I/O on a disk passes every cache: the output may have {of_others}"
        );
        return contradicts(Severity::Suspect, message);
    }
    let unknown = direct && silent;
    if unknown {
        causes.push(of_others);
    }
    let (severity, effect) = match unknown {
        true => (Severity::Suspect, "the figure may not be the device's"),
        false => (Severity::Invalid, "the figure is not the device's alone"),
    };
    let one = if causes.len() == 1 { "cause" } else { "possible causes" };
    let message = format!("{what}, so {effect}; {one}: {}", causes.join("; "));
    Finding::new(check_id::PAGE_CACHE, severity, message, advice(options, way))
}

fn advice(options: JobOptions<'_>, way: Way) -> String {
    let is_file = Target::of(options) == Target::File;
    let data = match way {
        Way::Read if is_file => "on a file that was written in full with random data",
        Way::Written if is_reducible(options) => "with random data (--refill_buffers=1)",
        _ => "",
    };
    let first = match direct(options) {
        false => "repeat it with direct I/O (--direct=1)",
        true => "repeat it",
    };
    let alternative = match direct(options) {
        false => "or with a file larger than the memory",
        true => {
            "on a file system and a device that do direct I/O past the page cache, or measure with \
             proofmark"
        }
    };
    let parts = [first, data, alternative];
    parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(", ")
}

/// The finding that reads were faster than any disk, without counters.
pub(super) fn faster_than_a_disk(options: JobOptions<'_>, what: &str) -> Finding {
    // Compressed data still come from the disk.
    let holes = Target::of(options) == Target::File && !is_on(options, "verify");
    let causes: &[&str] =
        if holes { &["the page cache", "holes of the file"] } else { &["the page cache"] };
    let message =
        format!("{what}: {} served them, so the figure is not the device's", or_list(causes));
    Finding::new(check_id::PAGE_CACHE, Severity::Invalid, message, advice(options, Way::Read))
}

#[cfg(test)]
mod tests {
    use super::super::json::Options;
    use super::*;

    fn options(text: &str) -> Options {
        let pairs = text.split_whitespace().filter_map(|pair| pair.split_once('='));
        pairs.map(|(name, value)| (name.to_owned(), value.to_owned())).collect()
    }

    /// The words of each cause, and the options that allow it or exclude it.
    #[test]
    fn each_cause_that_the_options_allow_and_no_other_is_named() {
        use Way::{Read, Written};
        for (text, way, expected) in [
            ("direct=0", Read, "the page cache,holes,compress"),
            ("direct=1", Read, "through,holes,compress"),
            ("direct=1 verify=crc32c", Read, "through,compress"),
            ("direct=1 verify=0", Read, "through,holes,compress"),
            ("direct=0", Written, "the page cache"),
            ("direct=1", Written, "through"),
            ("direct=1 zero_buffers=", Written, "through,compress"),
            ("direct=1 zero_buffers=0", Written, "through"),
            ("direct=1 buffer_compress_percentage=50", Written, "through,compress"),
            ("direct=1 dedupe_percentage=80", Written, "through,compress"),
            ("direct=1 buffer_pattern=0xff", Written, "through,compress"),
            ("direct=1 scramble_buffers=0", Written, "through,compress"),
            ("direct=1 scramble_buffers=0 refill_buffers=", Written, "through"),
            ("direct=0 filename=/dev/nvme0n1", Read, "the page cache"),
            ("direct=1 filename=/dev/nvme0n1", Read, ""),
            ("direct=1 filename=/dev/sda:/dev/sdb", Written, ""),
            ("direct=1 filename=/dev/sda:/data/f", Written, "through"),
            ("direct=1 filename=/dev/mapper/thin", Read, "layer"),
            ("direct=0 filename=/dev/zvol/a", Read, "the page cache,layer"),
        ] {
            let options = options(text);
            let found = causes(JobOptions::find(Some(&options), &Options::new()).unwrap(), way);
            let expected: Vec<&str> = expected.split(',').filter(|word| !word.is_empty()).collect();
            assert_eq!(found.len(), expected.len(), "{text}: {found:?}");
            let named = found.iter().zip(&expected).all(|(cause, word)| cause.contains(word));
            assert!(named, "{text}: {found:?}");
        }
    }
}
