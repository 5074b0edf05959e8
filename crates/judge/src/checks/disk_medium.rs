//! Checks `not_a_disk` and `not_durable`: data in memory, on a server or on an unknown device, and
//! writes that may be in a volatile cache.

use proofmark_model::{
    BlockDevice, FileState, Finding, Flush, Measurement, Severity, Storage, StorageKind, Trial,
    check_id,
};

use super::{Check, Class, Examine, percent};
use crate::Context;
use crate::disk::{Cached, Way, asked, asks, commits, files, measured};

/// The finding for an overlay whose writes go to a known disk.
fn overlay(storage: &Storage) -> Finding {
    let path = &storage.path;
    let volatile = storage.mount_options.split(',').any(|option| option == "volatile");
    let (severity, message) = if volatile {
        let message = format!("{path} is on an overlay that ignores flushes (mounted volatile)");
        (Severity::Suspect, message)
    } else {
        let message = format!(
            "{path} is on an overlay: writes go to the disk of its upper folder, but reads may \
             come from lower ones, and the first write to a file copies it up"
        );
        (Severity::Note, message)
    };
    let advice = "choose a folder that is not on an overlay, such as a volume (--disk-path)";
    NOT_A_DISK.finding(severity, message, advice).with("file_system", "overlay")
}

pub(super) static NOT_A_DISK: Check = Check {
    id: check_id::NOT_A_DISK,
    class: Class::claim(
        "a server or an unknown device holds the data; whether a disk was used is unknown",
    ),
    title: "Folder not on a disk",
    about: "Names the device that holds the measured folder. Memory (tmpfs, a RAM disk, zram, a \
         loop device over one of these) is invalid: the result is that of memory. A network file \
         system is suspect: the rate is that of the network and of the server's cache. Another \
         file system over unknown devices (overlay, FUSE) is suspect, and so is an unknown device. \
         An overlay over a known disk is a note, since reads may come from other folders and \
         copying up adds work. It is suspect if mounted volatile, since it then ignores flushes. \
         Choose another folder with --disk-path.",
    examine: Examine::Ours(not_a_disk),
};

fn not_a_disk(ctx: &Context, m: &Measurement) -> Option<Finding> {
    if !measured(m) {
        return None;
    }
    let advice = "choose a folder on a disk of this machine (--disk-path)";
    let finding = |severity, what: &str| NOT_A_DISK.finding(severity, what, advice);
    let Some(storage) = ctx.host.storage.get() else {
        let why = ctx.host.storage.origin();
        let what = format!("the device of the folder is unknown ({why})");
        return Some(finding(Severity::Suspect, &what));
    };
    let (path, fs) = (&storage.path, &storage.file_system);
    let (severity, what) = match storage.kind {
        StorageKind::Block if fs == "overlay" => {
            return Some(overlay(storage).with("path", path.as_str()));
        }
        StorageKind::Block => return None,
        StorageKind::Memory => {
            (Severity::Invalid, format!("{path} ({fs}) is in memory: no disk was measured"))
        }
        StorageKind::Network => (
            Severity::Suspect,
            format!("{path} ({fs}) is on a server: the rate is that of the network and the server"),
        ),
        StorageKind::Layered => (
            Severity::Suspect,
            format!("{path} ({fs}) is on another file system, whose device is unknown"),
        ),
        StorageKind::Unknown => {
            (Severity::Suspect, format!("the device of {path} ({fs}) is unknown"))
        }
    };
    Some(finding(severity, &what).with("file_system", fs.as_str()).with("path", path.as_str()))
}

/// True if a leaf device has a volatile cache; `None` if none has one but some do not report it.
fn volatile(ctx: &Context) -> Option<bool> {
    let mut leaves = ctx.host.storage.get()?.leaves().peekable();
    leaves.peek()?;
    let caches: Vec<Option<bool>> = leaves.map(|d| d.volatile_cache).collect();
    if caches.contains(&Some(true)) {
        return Some(true);
    }
    caches.iter().all(|t| *t == Some(false)).then_some(false)
}

/// The name of a leaf device to which the kernel sends no flush, although its driver reports that
/// it needs them.
fn withheld<'a>(ctx: &Context<'a>) -> Option<&'a str> {
    let mut leaves = ctx.host.storage.get()?.leaves();
    leaves.find(|d| d.flushes_withheld).map(|d| d.name.as_str())
}

/// Number of trials without a flush, or with fewer than the commits need: one flush serves a commit
/// of each thread.
fn trials_unflushed(m: &Measurement) -> usize {
    let threads = m.params.threads().max(1) as f64;
    let least = |t: &Trial| if commits(m) { (t.work / threads).floor() } else { 0.0 };
    let counted = |t: &Trial| t.device.as_ref()?.flushes;
    let missing = |t: &&Trial| {
        let wrote = asked(t, Way::Written) > 0.0;
        wrote && counted(t).is_some_and(|n| n == 0 || (n as f64) < least(t))
    };
    m.trials.iter().filter(missing).count()
}

/// True if writes may have been durable without a flush, which no counter shows. The file is open
/// with O_DSYNC, on a device with a volatile cache that supports FUA or does not report whether it
/// does.
fn may_use_fua(ctx: &Context, m: &Measurement) -> bool {
    let can = |d: &BlockDevice| d.volatile_cache != Some(false) && d.fua != Some(false);
    let able = ctx.host.storage.get().is_some_and(|s| s.leaves().any(can));
    able && files(m).any(|f| f.flush == Flush::Dsync)
}

/// Written bytes between two flushes, in sizes of the file, above which data were overwritten in
/// the cache.
const OVERWRITTEN: f64 = 1.1;

/// Largest number of times that a buffered file was written between two flushes, in trials without
/// device counters. The flush only had to reach the last pass.
fn times_overwritten(m: &Measurement) -> Option<f64> {
    let times = |t: &Trial| {
        let file = t.file.as_ref().filter(|f| f.size_bytes > 0)?;
        let between = match file.flush {
            Flush::End => file.asked_written_bytes,
            _ => file.flush_every_bytes?.min(file.asked_written_bytes),
        };
        let times = between as f64 / file.size_bytes as f64;
        (file.direct != Some(true) && t.device.is_none()).then_some(times)
    };
    let most = m.trials.iter().filter_map(times).max_by(f64::total_cmp)?;
    (most > OVERWRITTEN).then_some(most)
}

/// Says what buffered writes without a flush timed, by the device's counters where these are known.
fn left_in_memory(m: &Measurement) -> String {
    let sum = |bytes: &dyn Fn(&Trial) -> Option<f64>| m.trials.iter().map(bytes).sum();
    let written: Option<f64> = sum(&|t| Some(Way::Written.moved(t.device.as_ref()?)));
    let asked: f64 = m.trials.iter().map(|t| asked(t, Way::Written)).sum();
    let share = written.map(|written| (written / asked).min(1.0));
    let rest = match share {
        None => "the time may be that of copying into memory".to_owned(),
        Some(share) if share <= 0.0 => "the time is that of copying into memory".to_owned(),
        Some(share) => format!(
            "the device wrote {} as many bytes meanwhile, but nothing shows that they were these",
            percent(share)
        ),
    };
    format!("buffered writes without a flush: {rest}")
}

pub(super) static NOT_DURABLE: Check = Check {
    id: check_id::NOT_DURABLE,
    class: Class::claim("whether the data left the device's volatile cache is unknown"),
    title: "Writes may not be durable",
    about: "Checks that the timed part of a writing workload ends with a flush. Buffered writes \
         without a flush are invalid: part of the time, or all of it, is that of copying into memory. Without device \
         counters, buffered writes of more bytes than the file has before a flush are invalid, \
         too: only the last pass had to reach the device. Direct writes without a flush are \
         suspect if the device has a volatile cache or does not report it: the rate may be that of \
         the cache. So are trials with a flush if queue/write_cache states that the device has no \
         cache, but its driver reports one (cache_type): no flush reaches it. Trials with a flush \
         that a device with a volatile cache did not count are suspect. So are commits \
         (disk.fsync) with fewer flushes than one per commit of each thread: the file system does \
         not pass them on (mounted without barriers). Too few flushes of O_DSYNC commits are a \
         note if the device has FUA or does not report it. Its counters do not show such writes \
         (/sys/block/*/queue/fua). Use flush=end, and mount with barriers.",
    examine: Examine::Both(not_durable),
};

fn not_durable(ctx: &Context, m: &Measurement) -> Option<Finding> {
    if !asks(m, Way::Written) {
        return None;
    }
    let volatile = volatile(ctx);
    let flushed = files(m).all(FileState::flushed);
    let buffered = Cached::read(m) != Cached::Direct || files(m).any(|f| f.direct == Some(false));
    let unflushed = trials_unflushed(m);
    if let Some(device) = withheld(ctx).filter(|_| flushed) {
        let message = format!(
            "flushes did not reach {device}: its driver reports a volatile cache, but \
             /sys/block/{device}/queue/write_cache says write through"
        );
        let advice = format!("echo 'write back' >/sys/block/{device}/queue/write_cache");
        return Some(NOT_DURABLE.suspect(message, advice).with("device", device));
    }
    if let Some(times) = times_overwritten(m) {
        let message = format!(
            "buffered writes of {times:.1} times the size of the file between two flushes: only 1 byte in \
             {times:.1} had to reach the device"
        );
        let advice = "write the file once for each flush, or use direct I/O";
        return Some(NOT_DURABLE.invalid(message, advice).with("times_written", times));
    }
    let in_memory = if !flushed && buffered { left_in_memory(m) } else { String::new() };
    let (severity, message) = match (flushed, buffered, volatile) {
        (false, true, _) => (Severity::Invalid, in_memory.as_str()),
        (false, false, Some(true)) => (
            Severity::Suspect,
            "writes without a flush: the data may still be in the device's volatile cache",
        ),
        (false, false, None) => (
            Severity::Suspect,
            "writes without a flush; whether the device has a volatile cache is unknown",
        ),
        (true, _, Some(true)) if unflushed > 0 && may_use_fua(ctx, m) => (
            Severity::Note,
            "the device counted fewer flushes than commits; it may have made each write durable by \
             itself (FUA), which its counters do not show",
        ),
        (true, _, Some(true)) if unflushed > 0 => (
            Severity::Suspect,
            "the device has a volatile cache but counted no flush, or too few, in trials that \
             ended with one",
        ),
        _ => return None,
    };
    let advice = match severity {
        Severity::Note => "measure method=fdatasync too, whose flushes are counted",
        _ if !flushed => "end the timed part with a flush (flush=end)",
        _ => "mount the file system with barriers, or use a device that counts its flushes",
    };
    let finding = NOT_DURABLE.finding(severity, message, advice).with("flushed", flushed);
    Some(finding.with("buffered", buffered).with("trials_without_flush", unflushed))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::*;

    #[test]
    fn a_folder_that_is_on_no_disk_is_named() {
        for (kind, expected) in [
            (StorageKind::Memory, INVALID),
            (StorageKind::Network, SUSPECT),
            (StorageKind::Layered, SUSPECT),
            (StorageKind::Unknown, SUSPECT),
        ] {
            let bare = with_storage(|s| {
                s.kind = kind;
                s.devices.clear();
            });
            for host in [bare, with_storage(|s| s.kind = kind)] {
                NOT_A_DISK.on(&host, &[]).expect([
                    ("read", rand_read(1), expected),
                    ("written", disk("seq_write", 1 << 20, "none"), expected),
                    ("warm", disk("seq_read", 8, "warm"), expected),
                ]);
            }
        }
        NOT_A_DISK.on(&host(), &[]).expect([
            ("unknown", rand_read(1), suspect("not part of the test")),
            ("memory", stream("read", 1), SILENT),
        ]);
    }

    #[test]
    fn an_overlay_is_a_note_and_one_without_flushes_is_suspect() {
        for (options, expected) in [
            ("rw,relatime,upperdir=/volatile", NOTE),
            ("rw,relatime,upperdir=/up,volatile", SUSPECT),
        ] {
            let host = with_storage(|s| {
                s.file_system = "overlay".to_owned();
                s.mount_options = options.to_owned();
            });
            NOT_A_DISK.on(&host, &[]).expect([(options, rand_read(1), expected)]);
        }
    }

    fn without_flush(m: Measurement) -> Measurement {
        each_file(m, |_, f| f.flush = Flush::Never)
    }

    fn unflushed(name: &str, cache: &str) -> Measurement {
        without_flush(disk(name, 4096, cache))
    }

    #[test]
    fn writes_may_be_in_a_volatile_cache() {
        let silently = each_file(unflushed("seq_write", "none"), |_, f| f.direct = Some(false));
        let in_memory = each_device(unflushed("seq_write", "cold"), |_, d| d.written_bytes = 0);
        let uncounted = each(unflushed("seq_write", "cold"), |_, t| t.device = None);
        let dropped = |flushes| each_device(fsync(1), |_, d| d.flushes = flushes);
        for (volatile, direct, no_flush) in
            [(Some(true), SUSPECT, SUSPECT), (Some(false), SILENT, SILENT), (None, SUSPECT, SILENT)]
        {
            let host = with_storage(|s| s.devices[0].volatile_cache = volatile);
            NOT_DURABLE.on(&host, &[]).expect([
                (
                    "buffered",
                    unflushed("seq_write", "cold"),
                    invalid("the device wrote 100.0 % as many bytes"),
                ),
                (
                    "in memory",
                    in_memory.clone(),
                    invalid("the time is that of copying into memory$"),
                ),
                ("not counted", uncounted.clone(), invalid("the time may be that of copying")),
                ("in random order", unflushed("rand_write", "cold"), INVALID),
                ("mixed", unflushed("mixed", "cold"), INVALID),
                ("buffered against what was asked", silently.clone(), INVALID),
                ("direct", unflushed("rand_write", "none"), direct),
                ("a flush that never came", dropped(Some(0)), no_flush),
                ("not reported", dropped(None), SILENT),
                ("flushed", fsync(1), SILENT),
                ("reads", without_flush(rand_read(1)), SILENT),
            ]);
        }
        let bare = with_storage(|s| s.devices.clear());
        let m = unflushed("rand_write", "none");
        NOT_DURABLE.on(&bare, &[]).expect([("no device is known", m, SUSPECT)]);
    }

    #[test]
    fn a_flush_at_the_end_covers_the_file_once() {
        let written = |times: u64, direct: bool, device: bool| {
            let mut m = disk("rand_write", 65536, if direct { "none" } else { "cold" });
            for t in &mut m.trials {
                let file = t.file.as_mut().unwrap();
                (file.flush, file.direct) = (Flush::End, Some(direct));
                file.size_bytes = file.asked_written_bytes / times;
                t.device = t.device.take().filter(|_| device);
            }
            m
        };
        let now_and_then = |times: u64| {
            each(written(40, false, false), |_, t| {
                let file = t.file.as_mut().unwrap();
                (file.flush, file.flush_every_bytes) = (Flush::Each, Some(times * file.size_bytes));
            })
        };
        let host = with_storage(|s| s.devices[0].volatile_cache = Some(false));
        NOT_DURABLE.on(&host, &[]).expect([
            (
                "40 times",
                written(40, false, false),
                invalid("^buffered writes of 40.0 times ... 1 byte in 40.0"),
            ),
            ("once", written(1, false, false), SILENT),
            ("now and then", now_and_then(30), invalid("30.0 times the size of the file between")),
            ("often", now_and_then(0), SILENT),
            ("direct", written(40, true, false), SILENT),
            // The check `page_cache` compares the counters with the written bytes.
            ("with counters", written(40, false, true), SILENT),
        ]);
    }

    #[test]
    fn fewer_flushes_than_commits_are_suspect() {
        let host = with_storage(|s| s.devices[0].volatile_cache = Some(true));
        let flushed = |threads: u64, for_each: f64| {
            let mut m = fsync(threads);
            for t in &mut m.trials {
                let flushes = (t.work * for_each).ceil() as u64;
                t.device.as_mut().unwrap().flushes = Some(flushes);
            }
            m
        };
        let once = each_device(disk("seq_write", 1 << 20, "none"), |i, d| {
            d.flushes = Some(u64::from(i != 6));
        });
        NOT_DURABLE.on(&host, &[]).expect([
            ("one trial of ten", once, SUSPECT),
            ("fewer", flushed(1, 0.9), SUSPECT),
            ("as many", flushed(1, 1.0), SILENT),
            ("fewer than one for four", flushed(4, 0.2), SUSPECT),
            ("one for a commit of each thread", flushed(4, 0.25), SILENT),
        ]);
    }

    #[test]
    fn o_dsync_writes_with_fua_are_not_called_volatile() {
        let few = |flushes| {
            let m = each_device(fsync(1), |_, d| d.flushes = Some(flushes));
            each_file(m, |_, f| f.flush = Flush::Dsync)
        };
        let by_fdatasync = each_file(few(0), |_, f| f.flush = Flush::Each);
        for (volatile, fua, expected) in [
            (Some(true), Some(false), SUSPECT),
            (Some(true), Some(true), NOTE),
            (Some(true), None, NOTE),
            (Some(false), Some(true), SILENT),
        ] {
            let host = with_storage(|s| {
                (s.devices[0].volatile_cache, s.devices[0].fua) = (volatile, fua);
            });
            let fdatasync = if volatile == Some(true) { SUSPECT } else { SILENT };
            NOT_DURABLE.on(&host, &[]).expect([
                ("none", few(0), expected),
                ("too few", few(5), expected),
                ("as many", few(1 << 40), SILENT),
                ("by fdatasync", by_fdatasync.clone(), fdatasync),
            ]);
        }
    }
}
