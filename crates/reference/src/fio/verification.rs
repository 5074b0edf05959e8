//! The device counters of a report, which show page cache hits that were measured as a disk.

use proofmark_model::{DeviceTraffic, FileState, format_count, format_size, is_quantity};

use super::causes::Way;
use super::json::{Disk, JobOptions};
use super::medium::{at_bottom, is_disk};
use super::options::direct;
use crate::{Lack, Malformed};

/// The seconds at the end of a run whose counters fio may have missed. It reads them every quarter
/// of a second (`DISK_UTIL_MSEC` in its diskutil.h), if it gets a CPU.
const MISSED_S: f64 = 0.5;

/// The share of the bytes that counters without the run's end must show to prove the rest.
const MOST: f64 = 0.75;

/// The minimum share of the bytes in counters that cover all of a run.
const ALL: f64 = 0.99;

/// The largest block, in bytes, that no device splits into several I/Os.
const WHOLE: u64 = 128 << 10;

/// The largest I/O of a block device in bytes, by Linux's default (`BLK_DEF_MAX_SECTORS_CAP` in its
/// block layer; 1280 KiB in older ones).
const LARGEST: u64 = 4 << 20;

/// The ratio of the device's I/Os to the requested ones above which other programs caused some.
const OTHERS: f64 = 1.5;

/// The counters of the devices at the bottom in a run.
#[derive(Debug, Default)]
pub(super) struct Counters {
    /// The device's traffic. Here `busy_s` is a share of the time; bytes are 0 where fio does not
    /// report them.
    traffic: DeviceTraffic,
    has_bytes: bool,
    /// The reads and writes before merging.
    ios: [u64; 2],
}

/// The requests of the job, which a count of I/Os is compared with.
#[derive(Debug, Clone, Copy)]
pub(super) struct Requests<'a> {
    pub(super) file: &'a FileState,
    pub(super) seconds: f64,
    /// The seconds of ramp before, whose I/Os the devices also counted, where they are known.
    pub(super) ramp_s: Option<f64>,
    /// The bytes of each read and of each write, where they are certain.
    pub(super) blocks: [Option<u64>; 2],
}

/// Returns the counters of the devices at the bottom; `None` where there are no disks.
pub(super) fn counters(disks: &[Disk], line: usize) -> Result<Option<Counters>, Malformed> {
    let large = || Malformed::at(line, "a counter of disk_util is out of range");
    let mut all = Counters { has_bytes: true, ..Counters::default() };
    let mut seen = false;
    let add = |sum: u64, more: u64, times: u64| {
        more.checked_mul(times).and_then(|more| sum.checked_add(more)).ok_or_else(large)
    };
    for disk in at_bottom(disks).filter(|d| is_disk(d)) {
        let traffic = &mut all.traffic;
        match (disk.read_sectors, disk.write_sectors) {
            (Some(read), Some(written)) => {
                traffic.read_bytes = add(traffic.read_bytes, read, 512)?;
                traffic.written_bytes = add(traffic.written_bytes, written, 512)?;
            }
            _ => all.has_bytes = false,
        }
        traffic.reads = add(traffic.reads, disk.read_ios, 1)?;
        traffic.writes = add(traffic.writes, disk.write_ios, 1)?;
        let merged = [disk.read_merges, disk.write_merges];
        let ios = [disk.read_ios, disk.write_ios];
        for ((sum, ios), merged) in all.ios.iter_mut().zip(ios).zip(merged) {
            *sum = add(add(*sum, ios, 1)?, merged, 1)?;
        }
        let util = disk.util.unwrap_or_default();
        if util.is_sign_negative() || !is_quantity(util) {
            return Err(large());
        }
        traffic.busy_s = traffic.busy_s.max(util / 100.0);
        traffic.in_flight_s += disk.in_queue as f64 / 1e3;
        seen = true;
    }
    Ok(seen.then_some(all))
}

/// The action where the counters are those of direct I/O, but do not fit.
const ALONE: &str = "repeat it for some 10 s or longer while no other program uses the device";

/// The beginning of the reason why counters are no evidence.
const PROVE_NOTHING: &str = "the device counters of the output (disk_util) prove nothing";

/// The reason why a figure has no evidence, and the action. `asked` is what the job requested, where
/// its options tell that.
pub(super) fn lack(
    counters: Evidence<'_>,
    options: Option<JobOptions<'_>>,
    asked: Option<&Requests<'_>>,
) -> Lack {
    let direct = options.map(direct);
    let buffered = "repeat it with direct I/O (--direct=1)";
    let (why, action) = match counters {
        Evidence::None => (
            "the output has no device counters (disk_util): the page cache may have done the work"
                .to_owned(),
            match direct {
                Some(true) => "repeat it without --disk_util=0, where fio may read /sys/block",
                _ => buffered,
            },
        ),
        Evidence::OfAllJobs(_) => (
            format!("{PROVE_NOTHING}: they are those of all jobs together"),
            match direct {
                Some(false) => {
                    "run fio once for each job, with direct I/O (--direct=1), and import each file"
                }
                _ => "run fio once for each job, and import each file",
            },
        ),
        Evidence::OfThisJob(counters) => {
            let (why, action) = match asked {
                Some(asked) => counters.lack(asked),
                None if options.is_none() => ("the output lacks the job's options".into(), ALONE),
                None => ("the job's options do not tell what it requested".into(), ALONE),
            };
            let action = if direct == Some(true) { action } else { buffered };
            (format!("{PROVE_NOTHING}: {why}"), action)
        }
    };
    Lack { why, advice: format!("{action}, or measure with proofmark") }
}

/// The devices' counters, as evidence of one figure.
#[derive(Debug, Clone, Copy)]
pub(super) enum Evidence<'a> {
    None,
    OfThisJob(&'a Counters),
    /// Those of several jobs together.
    OfAllJobs(&'a Counters),
}

impl<'a> Evidence<'a> {
    /// Returns the counters that count at least the job's I/Os.
    pub(super) fn at_most(self) -> Option<&'a Counters> {
        match self {
            Self::None => None,
            Self::OfThisJob(all) | Self::OfAllJobs(all) => Some(all),
        }
    }

    pub(super) fn of_this_job(self) -> Option<&'a Counters> {
        match self {
            Self::OfThisJob(all) => Some(all),
            Self::None | Self::OfAllJobs(_) => None,
        }
    }
}

impl Counters {
    /// Returns true if the devices did no I/O at all, or do not count it.
    pub(super) fn is_silent(&self) -> bool {
        self.ios == [0; 2]
    }

    /// Returns the first direction in which the devices cannot have moved the bytes, even with the
    /// largest I/Os, and says so.
    pub(super) fn too_few(&self, asked: &Requests<'_>, ios: Option<u64>) -> Option<(Way, String)> {
        let missed = (MISSED_S / asked.seconds).clamp(0.0, 1.0);
        let DeviceTraffic { reads, writes, read_bytes, written_bytes, .. } = self.traffic;
        let FileState { asked_read_bytes, asked_written_bytes, .. } = *asked.file;
        let rows =
            [(reads, read_bytes, asked_read_bytes), (writes, written_bytes, asked_written_bytes)];
        Way::BOTH.into_iter().zip(rows).find_map(|(way, (count, bytes, asked))| {
            let done = way.word();
            let most = if self.has_bytes { bytes } else { count.saturating_mul(LARGEST) };
            let too_few = (most as f64) < ALL * (1.0 - missed) * asked as f64;
            let requested = ios.map(format_count).map(|ios| format!(" in {ios} I/Os"));
            let requested = format!("{}{}", format_size(asked), requested.unwrap_or_default());
            let moved = match self.has_bytes {
                true => format!("has {done} only {}", format_size(most)),
                false => format!(
                    "has {done} at most {} (disk_util: {} I/Os)",
                    format_size(most),
                    format_count(count)
                ),
            };
            too_few
                .then(|| (way, format!("the device {moved} of the {requested} that fio counted")))
        })
    }

    /// Returns the reason why the counters prove nothing for a trial, and the action for direct I/O.
    fn lack(&self, asked: &Requests<'_>) -> (String, &'static str) {
        let requested = [asked.file.asked_read_bytes, asked.file.asked_written_bytes];
        if self.has_bytes {
            let sum = |all: [u64; 2]| format_size(all[0].saturating_add(all[1]));
            let shown = sum([self.traffic.read_bytes, self.traffic.written_bytes]);
            let requested = sum(requested);
            let why = format!(
                "they show {shown} of the {requested} requested; fio may have missed the end of the \
                 run, or a cache served the rest"
            );
            return (why, ALONE);
        }
        if asked.file.direct != Some(true) {
            let why = "they count I/Os, and those of buffered I/O are no measure of the bytes";
            return (why.into(), ALONE);
        }
        if asked.ramp_s.is_none() {
            let why = "they also count the I/Os of a ramp (ramp_time) of unknown length";
            return (why.into(), "repeat it without --ramp_time");
        }
        if requested.iter().zip(asked.blocks).any(|(bytes, block)| *bytes > 0 && block.is_none()) {
            let why = "they count I/Os, and the size of the job's blocks is not known";
            return (why.into(), "repeat it with one size of blocks (--bs)");
        }
        let [reads, writes] = self.ios.map(format_count);
        let why = format!(
            "their {reads} reads and {writes} writes do not fit the job's; fio may have missed the \
             end of the run, or other programs used the device"
        );
        (why, ALONE)
    }

    /// Returns the traffic that the counters prove for a trial; `None` if they prove nothing.
    pub(super) fn evidence(&self, asked: &Requests<'_>) -> Option<DeviceTraffic> {
        let missed = (MISSED_S / asked.seconds).clamp(0.0, 1.0);
        let traffic = &self.traffic;
        let bytes = match self.has_bytes {
            true => [traffic.read_bytes, traffic.written_bytes],
            false => self.bytes_by_ios(asked, missed)?,
        };
        let requested = [asked.file.asked_read_bytes, asked.file.asked_written_bytes];
        let lacks = |least: f64| {
            let short = |(bytes, asked): (&u64, &u64)| (*bytes as f64) < least * *asked as f64;
            bytes.iter().zip(&requested).any(short)
        };
        let shown = match () {
            () if !lacks(ALL) => bytes,
            // More bytes are missing than fio can have missed: `too_few` reports it.
            () if lacks((1.0 - missed) * ALL) => return None,
            // fio missed the end, but most of the run was on the device: the rest counts as moved.
            () if !lacks(MOST) => [0, 1].map(|i| bytes[i].max(requested[i])),
            () => return None,
        };
        let [read_bytes, written_bytes] = shown;
        let busy_s = traffic.busy_s * asked.seconds;
        Some(DeviceTraffic { read_bytes, written_bytes, busy_s, ..traffic.clone() })
    }

    /// Returns the minimum of bytes that the counted I/Os moved. Only direct I/O counts, since
    /// fewer I/Os do not prove a cache. `None` if the counters prove nothing.
    fn bytes_by_ios(&self, asked: &Requests<'_>, missed: f64) -> Option<[u64; 2]> {
        if asked.file.direct != Some(true) {
            return None;
        }
        let requested = [asked.file.asked_read_bytes, asked.file.asked_written_bytes];
        let untimed = 1.0 + asked.ramp_s? / asked.seconds;
        let mut bytes = [0; 2];
        for (i, moved) in bytes.iter_mut().enumerate().filter(|(i, _)| requested[*i] > 0) {
            let (all, ios) = (requested[i], self.ios[i]);
            let block = asked.blocks[i]?;
            let requests = all as f64 / block as f64;
            let whole = block <= WHOLE;
            let too_many = whole && ios as f64 > OTHERS * untimed * requests;
            let too_few = (ios as f64) < ALL * (1.0 - missed) * requests;
            if too_many || too_few {
                return None;
            }
            *moved = ios.saturating_mul(block).min(all);
        }
        Some(bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn disk(read_ios: u64, read_merges: u64) -> Disk {
        let text = format!(r#"{{"read_ios": {read_ios}, "read_merges": {read_merges}}}"#);
        serde_json::from_str(&text).unwrap()
    }

    /// Returns the proven blocks of 1000 requested ones of this size, for this many I/Os and
    /// seconds.
    fn shown(
        (ios, merges): (u64, u64),
        block: u64,
        seconds: f64,
        change: impl FnOnce(&mut FileState),
    ) -> Option<u64> {
        let counters = counters(&[disk(ios, merges)], 1).unwrap().unwrap();
        let mut file = FileState {
            asked_read_bytes: 1000 * block,
            direct: Some(true),
            ..FileState::default()
        };
        change(&mut file);
        let asked =
            Requests { file: &file, seconds, ramp_s: Some(0.0), blocks: [Some(block), None] };
        counters.evidence(&asked).map(|device| device.read_bytes / block)
    }

    #[test]
    fn counts_of_direct_ios_are_counts_of_bytes() {
        let same = |_: &mut FileState| {};
        for (name, ios, block, seconds, expected) in [
            ("as many", (1000, 0), 4096, 10.0, Some(1000)),
            ("some merged", (600, 400), 4096, 10.0, Some(1000)),
            ("some more", (1200, 0), 4096, 10.0, Some(1000)),
            ("the end is missed", (960, 0), 4096, 10.0, Some(1000)),
            ("half are missing", (500, 0), 4096, 10.0, None),
            ("none", (0, 0), 4096, 10.0, None),
            ("a short run", (700, 0), 4096, 1.0, None),
            ("most of a short run", (760, 0), 4096, 1.0, Some(1000)),
            ("a short run, to its end", (999, 0), 4096, 1.0, Some(999)),
            ("those of others", (1600, 0), 4096, 10.0, None),
            ("parted", (2000, 0), 1 << 20, 10.0, Some(1000)),
        ] {
            assert_eq!(shown(ios, block, seconds, same), expected, "{name}");
        }
        let buffered = |f: &mut FileState| f.direct = Some(false);
        assert_eq!(shown((1000, 0), 4096, 10.0, buffered), None);
        let mixed = |f: &mut FileState| f.asked_written_bytes = 4096;
        assert_eq!(shown((1000, 0), 4096, 10.0, mixed), None, "no size of the writes");
    }

    #[test]
    fn a_ramp_counts_in_what_the_devices_did() {
        let counters = counters(&[disk(2900, 0)], 1).unwrap().unwrap();
        let file =
            FileState { asked_read_bytes: 4_096_000, direct: Some(true), ..FileState::default() };
        let asked =
            |ramp_s| Requests { file: &file, seconds: 5.0, ramp_s, blocks: [Some(4096), None] };
        assert!(counters.evidence(&asked(Some(0.0))).is_none(), "of others");
        assert_eq!(counters.evidence(&asked(Some(10.0))).unwrap().read_bytes, 4_096_000);
        assert!(counters.evidence(&asked(None)).is_none(), "of unknown length");
    }
}
