//! `shared_device`: somebody else used the device during the trials.

use proofmark_model::{Finding, Measurement, Severity, Trial, Unit, format_count, format_quantity};

use super::share::Share;
use super::weight::Weight;
use super::{Check, Class, Examine, percent};
use crate::Context;
use crate::disk::{Cached, Way, asked, asks, commits, is_random, waits};
use crate::words::counted;

/// Less traffic of others than this is not reported.
const THRESHOLD: f64 = 0.02;
/// Bytes a trial that may be read for others: a lookup here and there.
const LOOKUPS: f64 = 32_768.0;
/// Bytes a trial that the file system writes of its own, such as a commit of its journal
/// for the times of our file, or the run's own record.
const HOUSEKEEPING: f64 = 262_144.0;
/// Fewer I/Os of others in a trial than this are housekeeping too.
const FEW: f64 = 8.0;
/// The least that an I/O of others moves, in bytes: a sector of /proc/diskstats.
const SECTOR: f64 = 512.0;
/// Part of the trials in which there must have been others.
const A_THIRD: usize = 3;
/// File systems that write new places and new metadata for each write.
const COPY_ON_WRITE: &[&str] = &["btrfs", "zfs", "bcachefs", "f2fs", "nilfs2"];

const ADVICE: &str = "stop other users of the device (iotop lists them), or measure another device";

/// Whether bytes of that direction that are not this process's are somebody else's.
///
/// A journal and copies on write are written in the kernel's name, and several devices
/// at the bottom hold each write more than once, or read what they do not write whole.
fn comparable(ctx: &Context, m: &Measurement, way: Way) -> bool {
    let Some(storage) = ctx.host.storage.get() else { return false };
    let one = storage.leaves().count() == 1;
    let writes = asks(m, Way::Written);
    match way {
        Way::Read => one || !writes,
        Way::Written if writes => {
            let moves = COPY_ON_WRITE.contains(&storage.file_system.as_str());
            one && !commits(m) && !moves
        }
        Way::Written => one,
    }
}

/// Bytes that the device moved that way for others.
fn moved_for_others(m: &Measurement, t: &Trial, way: Way) -> Option<f64> {
    let device = t.device.as_ref()?;
    // Without its own account a buffered read cannot be distinguished from readahead.
    let fallback = (Cached::read(m) == Cached::Direct).then(|| asked(t, way));
    let own = way.own(device).or(fallback)?;
    Some((way.moved(device) - own).max(0.0))
}

/// The same less what is housekeeping: journals write, and do not read.
fn of_others(m: &Measurement, t: &Trial, way: Way) -> Option<f64> {
    let forgiven = if way == Way::Read { LOOKUPS } else { HOUSEKEEPING };
    Some((moved_for_others(m, t, way)? - forgiven).max(0.0))
}

/// Bytes of an I/O that is one request: direct, random so that few are merged, too small to split.
fn one_request_each(ctx: &Context, m: &Measurement) -> Option<f64> {
    let largest = ctx.host.storage.get()?.leaves().filter_map(|d| d.request_bytes).min()? as f64;
    let alone = is_random(m) && Cached::read(m) == Cached::Direct;
    m.params.block_bytes().filter(|block| alone && *block <= largest)
}

/// I/Os of a trial, those of others and proofmark's, in the directions that can be compared.
/// What moved no bytes of others is a part of proofmark's own, split for another reason.
fn others_ios(m: &Measurement, t: &Trial, ways: &[Way], block: f64) -> Option<(f64, f64)> {
    let (device, _) = (t.device.as_ref()?, t.file.as_ref()?);
    ways.iter().try_fold((0.0, 0.0), |(others, own), way| {
        let ours = asked(t, *way) / block;
        let more = (way.requests(device) - ours).max(0.0);
        Some((others + more.min(moved_for_others(m, t, *way)? / SECTOR), own + ours))
    })
}

/// Others whose I/Os are small and many.
fn by_count(ctx: &Context, m: &Measurement, ways: &[Way]) -> Option<Finding> {
    let block = one_request_each(ctx, m)?;
    let trials: Vec<(f64, f64)> =
        m.trials.iter().filter_map(|t| others_ios(m, t, ways, block)).collect();
    let many = |(others, own): &&(f64, f64)| *others >= FEW && *others > THRESHOLD * own;
    let above = trials.iter().filter(many).count();
    if above == 0 || above * A_THIRD < trials.len() {
        return None;
    }
    let (others, own) = trials.iter().fold((0.0, 0.0), |(a, b), (o, w)| (a + o, b + w));
    let [theirs, ours] = [others, own].map(|count| format_count(count.round() as u64));
    let message = format!(
        "other programs did {theirs} small I/Os on the same device, against {ours} of this \
         process, in {above} of {}",
        counted(trials.len(), "trial")
    );
    let severity = Weight::derive(ctx, m).change(others / own);
    let finding =
        CHECK.finding(severity, message, ADVICE).with("others_ios", others).with("own_ios", own);
    Some(finding.with("trials_affected", above).with("trials", trials.len()))
}

/// Others that move bytes.
fn by_bytes(ctx: &Context, m: &Measurement, ways: &[Way]) -> Option<Finding> {
    let others = |t: &Trial| -> Option<f64> {
        let parts: Vec<f64> = ways.iter().filter_map(|w| of_others(m, t, *w)).collect();
        (!parts.is_empty()).then(|| parts.iter().sum())
    };
    let base = |t: &Trial| Way::BOTH.iter().map(|w| asked(t, *w)).sum();
    let share = Share::sum(&m.trials, others, base)?;
    let above =
        m.trials.iter().filter(|t| others(t).is_some_and(|o| o > THRESHOLD * base(t))).count();
    let found = Weight::derive(ctx, m).taken(&share, THRESHOLD)?;
    let severity = if above * A_THIRD < share.trials { Severity::Note } else { found };
    let seconds: f64 = m.trials.iter().map(|t| t.seconds).sum();
    let rate = |way: Way| -> f64 {
        let all = m.trials.iter().filter_map(|t| of_others(m, t, way)).sum::<f64>() / seconds;
        if ways.contains(&way) && all.is_finite() { all } else { 0.0 }
    };
    let [read, wrote] = Way::BOTH.map(|way| format_quantity(rate(way), Unit::BytePerSecond));
    let (part, trials) = (percent(share.all), counted(share.trials, "trial"));
    let message = format!(
        "other programs read {read} and wrote {wrote} on the same device, {part} of the requested \
         bytes, in {above} of {trials}"
    );
    let finding = CHECK
        .finding(severity, message, ADVICE)
        .with("others_read_bytes_per_s", rate(Way::Read))
        .with("others_written_bytes_per_s", rate(Way::Written));
    Some(share.add_to(finding, "others_bytes"))
}

pub(super) static CHECK: Check = Check {
    id: "shared_device",
    class: Class::DISTURBANCE,
    title: "Device shared with other I/O",
    about: "Bytes that the device moved for other programs during the trials: all bytes less this \
         process's own, by its own account or as requested with direct I/O. A tolerance per trial \
         is subtracted: 32 KiB of reads, and 256 KiB of writes for the journal. More than 2 % of \
         the requested bytes is a note. Where a third of the trials had that, it is weighed without \
         the worst tenth of them. For direct random I/O in blocks that the device takes \
         whole, the number of I/Os counts too: more than 2 %, and at least 8, of other programs in \
         a third of the trials, are weighed in the same way. Writes of commits (disk.fsync), on copy-on-write file \
         systems and on several devices at once are not compared, since the kernel itself writes \
         more than requested. Warm reads use no device. Stop the other users of the device.",
    examine: Examine::Ours(examine),
};

fn examine(ctx: &Context, m: &Measurement) -> Option<Finding> {
    if !waits(m) {
        return None;
    }
    let ways: Vec<Way> = Way::BOTH.into_iter().filter(|w| comparable(ctx, m, *w)).collect();
    let bytes = by_bytes(ctx, m, &ways);
    let is_suspect = bytes.as_ref().is_some_and(|f| f.severity >= Severity::Suspect);
    if is_suspect { bytes } else { by_count(ctx, m, &ways).or(bytes) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::*;

    /// Others read and write so many bytes in so many of the trials.
    fn disturbed(m: Measurement, read: u64, written: u64, trials: usize) -> Measurement {
        each_device(m, |i, d| {
            if i < trials {
                d.read_bytes += read;
                d.written_bytes += written;
            }
        })
    }

    fn direct_write() -> Measurement {
        disk("rand_write", 4096, "none")
    }

    fn cold_read() -> Measurement {
        disk("seq_read", 4096, "cold")
    }

    #[test]
    fn another_reader_or_writer_is_suspect() {
        // 5.4 MB a trial are asked for.
        for m in [rand_read(1), direct_write(), cold_read()] {
            CHECK.expect([
                ("reader", disturbed(m.clone(), 1 << 20, 0, 10), SUSPECT),
                ("writer", disturbed(m, 0, 1 << 20, 10), SUSPECT),
            ]);
        }
        let finding = CHECK.found(disturbed(rand_read(1), 1 << 20, 2 << 20, 10)).unwrap();
        assert!(finding.evidence["others_read_bytes_per_s"].as_f64().unwrap() > 7e6);
        assert!(finding.evidence["others_written_bytes_per_s"].as_f64().unwrap() > 15e6);
        CHECK.expect([
            ("in few trials", disturbed(rand_read(1), 8 << 20, 0, 2), NOTE),
            ("in more", disturbed(rand_read(1), 8 << 20, 0, 4), SUSPECT),
            // What is forgiven is the journal's and not a reader's.
            ("400 KB read", disturbed(rand_read(1), 400_000, 0, 10), SUSPECT),
            ("less than the target", disturbed(rand_read(1), 200_000, 0, 10), NOTE),
            ("160 KB written", disturbed(rand_read(1), 0, 160_000, 10), SILENT),
            ("400 KB read, cold", disturbed(cold_read(), 400_000, 0, 10), SUSPECT),
            ("160 KB written, cold", disturbed(cold_read(), 0, 160_000, 10), SILENT),
            ("lookups", disturbed(rand_read(1), 32_768, 0, 10), SILENT),
        ]);
    }

    /// Others do so many I/Os of 512 B in so many of the trials.
    fn crowded(m: Measurement, reads: u64, writes: u64, trials: usize) -> Measurement {
        each_device(disturbed(m, reads * 512, writes * 512, trials), |i, d| {
            if i < trials {
                d.reads += reads;
                d.writes += writes;
            }
        })
    }

    #[test]
    fn many_small_ios_of_others_are_suspect() {
        // 1316 I/Os a trial.
        for m in [rand_read(1), direct_write(), disk("mixed", 4096, "none")] {
            for (reads, writes) in [(160, 0), (0, 160)] {
                CHECK.expect([
                    ("many", crowded(m.clone(), reads, writes, 5), SUSPECT),
                    ("fewer", crowded(m.clone(), reads / 4, writes / 4, 10), NOTE),
                    ("in few trials", crowded(m.clone(), reads, writes, 3), SILENT),
                    ("1.5 %", crowded(m.clone(), reads / 8, writes / 8, 10), SILENT),
                ]);
            }
        }
        let finding = CHECK.found(crowded(rand_read(1), 40, 0, 10)).unwrap();
        assert!((finding.evidence["others_ios"].as_f64().unwrap() - 400.0).abs() < 10.0);
    }

    #[test]
    fn few_merged_and_split_ios_are_no_others() {
        let slow = |more: u64| {
            let m = each(rand_read(1), |_, t| {
                let (file, device) = (t.file.as_mut().unwrap(), t.device.as_mut().unwrap());
                (file.asked_read_bytes, device.read_bytes, device.reads) = (40_960, 40_960, 10);
                device.own_read_bytes = Some(40_960);
            });
            crowded(m, more, 0, 10)
        };
        let large = crowded(disk("rand_read", 2 << 20, "none"), 60, 0, 10);
        let requests = |factor: u64, of: u64| {
            each_device(rand_read(32), |_, d| {
                (d.reads, d.writes) = (d.reads * factor / of, d.writes * factor / of);
            })
        };
        CHECK.expect([
            ("few", slow(7), SILENT),
            ("more", slow(9), SUSPECT),
            ("merged", requests(1, 2), SILENT),
            ("split, with no bytes of others", requests(2, 1), SILENT),
            ("larger than a request", large, SILENT),
            ("merged or not", crowded(disk("seq_read", 4096, "none"), 60, 0, 10), SILENT),
        ]);
    }

    #[test]
    fn without_its_own_account_direct_io_is_what_was_asked() {
        let unreported = |m| each_device(m, |_, d| d.own_read_bytes = None);
        CHECK.expect([
            ("another reader", disturbed(unreported(rand_read(1)), 1 << 20, 0, 10), SUSPECT),
            ("none", unreported(rand_read(1)), SILENT),
            ("it may be read-ahead", disturbed(unreported(cold_read()), 1 << 20, 0, 10), SILENT),
        ]);
    }

    #[test]
    fn journals_copies_and_mirrors_are_no_others() {
        let warm = disk("seq_read", 4096, "warm");
        CHECK.expect([
            ("a commit of the journal", disturbed(rand_read(1), 0, 200_000, 10), SILENT),
            ("commits", disturbed(fsync(1), 0, 64 << 20, 10), SILENT),
            ("a reader during commits", disturbed(fsync(1), 4 << 20, 0, 10), SUSPECT),
            ("a warm file shares nothing", disturbed(warm, 64 << 20, 0, 10), SILENT),
            ("not reported", each(rand_read(1), |_, t| t.device = None), SILENT),
        ]);
        let written = || disturbed(direct_write(), 0, 8 << 20, 10);
        let copies = with_storage(|s| s.file_system = "btrfs".to_owned());
        CHECK.on(&copies, &[]).expect([("copies", written(), SILENT)]);
        let mirror = with_storage(|s| s.devices.push(block_device("vdb", "254:16")));
        CHECK.on(&mirror, &[]).expect([
            ("mirrored", written(), SILENT),
            ("read", disturbed(rand_read(1), 1 << 20, 0, 10), SUSPECT),
        ]);
    }
}
