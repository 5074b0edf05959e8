//! `shared_device`: other programs used the device during the trials.
//!
//! Bytes do not show the cost. 30 MB/s of others may cost a random read 2 %, and 16 writes in
//! flight may nearly stop commits. A request waits for those that are in the device with it. So if
//! the load's own share of these is known, the queue is weighed (`queue`), else the bytes
//! (`bytes`).

mod bytes;
mod queue;

use proofmark_model::{Finding, Measurement, check_id};

use super::{Check, Class, Examine, worst};
use crate::Context;
use crate::disk::{Way, asks, commits, waits};
use bytes::Compared;
pub(super) use queue::others_in_device;

/// Smallest share of others' traffic that is reported.
const THRESHOLD: f64 = 0.02;

/// Exponent of a load's own share of a device that gives its rate: a device does less in all when it
/// serves several. A writer with 7 % of the bytes cost sequential writes 28 %; readers with 10, 16
/// and 23 % cost 35, 50 and 61 %.
const SHARE_EXPONENT: i32 = 4;

/// The share of its rate that a load loses to others with that share of the device.
pub(crate) fn cost_of_share(others: f64) -> f64 {
    1.0 - (1.0 - others).powi(SHARE_EXPONENT)
}

/// Multiple of the requested bytes that a journal may write: a block twice, with its descriptor and
/// commit blocks.
const JOURNAL: f64 = 4.0;
/// The same for copies on write, which also write their trees.
const COPIES: f64 = 10.0;
/// File systems that write each block to a new place, with new metadata.
const COPY_ON_WRITE: &[&str] = &["btrfs", "zfs", "bcachefs", "f2fs", "nilfs2"];

/// Multiple of the requested bytes that the devices may move in that direction for the load itself.
/// `None` if it has no bound: blocks that are not written whole are read first, and several leaves
/// hold each write more than once.
pub(crate) fn own_times(ctx: &Context, m: &Measurement, way: Way) -> Option<f64> {
    let storage = ctx.host.storage.get()?;
    let one = storage.leaves().count() == 1;
    let writes = asks(m, Way::Written);
    let copies = COPY_ON_WRITE.contains(&storage.file_system.as_str());
    match way {
        Way::Read => (one || !writes).then_some(1.0),
        Way::Written if !writes => one.then_some(1.0),
        Way::Written => one.then_some(match (copies, commits(m)) {
            (true, _) => COPIES,
            (false, true) => JOURNAL,
            (false, false) => 1.0,
        }),
    }
}

pub(super) static CHECK: Check = Check {
    id: check_id::SHARED_DEVICE,
    class: Class::DISTURBANCE,
    title: "Device shared with other I/O",
    about: "Detects others' I/O on the device during the trials. Direct I/O and commits are judged \
         by the I/Os in flight (/proc/diskstats): those beyond the load's threads x queue depth \
         are others', unless the devices split its blocks: requests without bytes of others are \
         its own. More than 5 % of all is a note. If at least 6 trials were without them, these \
         show the cost, which is weighed; others' bytes must then be below 5 % too, if the load \
         has several I/Os in flight. Otherwise the cost is unknown: a stream is suspect from \
         40 % of the I/Os, random I/O and commits from 40 % of both the I/Os and the bytes. More \
         than 75 % of the bytes is suspect too; for commits, and with one I/O in flight, only if \
         others had I/Os in flight. Streams and buffered I/O are also judged by bytes: what the \
         device moved, less the load's own, 32 KiB of reads and 256 KiB of writes per trial. More \
         than 2 % of the requested bytes is a note. More than 6.9 % of all bytes is suspect, if a \
         third of the trials had others: the estimated rate of a stream is (its own share of the \
         bytes)^4 of the undisturbed rate, so 7 % of others cost 25 %. A journal writes again: for \
         commits 4 times the bytes are the load's own, for any write on a copy-on-write file \
         system 10 times. Direct random I/O in single requests is also judged by number: others' \
         I/Os above 2 % of its own are a note, above 25 % of all suspect. Warm reads use no \
         device. Stop the other users of the device.",
    examine: Examine::Ours(examine),
};

fn examine(ctx: &Context, m: &Measurement) -> Option<Finding> {
    if !waits(m) {
        return None;
    }
    let compared = |way| Some((way, own_times(ctx, m, way)?));
    let ways: Vec<Compared> = Way::BOTH.into_iter().filter_map(compared).collect();
    let found =
        [queue::weighed(ctx, m), bytes::by_count(ctx, m, &ways), bytes::by_bytes(ctx, m, &ways)];
    worst(found)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::disk::in_flight_at_most;
    use crate::testing::*;

    /// The result with others that read and write those bytes in the first `trials` trials.
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

    /// The result with that many I/Os of others in flight all the time.
    fn queued(m: Measurement, others: f64) -> Measurement {
        each(m, |_, t| t.device.as_mut().unwrap().in_flight_s += others * t.seconds)
    }

    #[test]
    fn a_share_of_the_queue_is_suspect_and_a_share_of_the_bytes_alone_is_a_note() {
        for m in [rand_read(1), rand_read(32), direct_write(), fsync(1), fsync(8)] {
            let own = in_flight_at_most(&m);
            CHECK.expect([
                ("alone", m.clone(), SILENT),
                (
                    "they move little",
                    queued(m.clone(), 16.0 * own),
                    note("what they cost is unknown"),
                ),
                (
                    "16 times as many",
                    disturbed(queued(m.clone(), 16.0 * own), 0, 64 << 20, 10),
                    suspect("94 ... of all; what they cost is unknown"),
                ),
                (
                    "as many",
                    disturbed(queued(m.clone(), own), 64 << 20, 0, 10),
                    suspect("I/Os in flight on the same device"),
                ),
                ("a fifth", queued(m.clone(), 0.2 * own), note("what they cost is unknown")),
                ("hardly any", queued(m.clone(), 0.05 * own), SILENT),
            ]);
            let bytes = disturbed(m.clone(), 512 << 20, 0, 10);
            let hidden = own > 1.0 && !commits(&m);
            let expected = if hidden { suspect("moved most bytes") } else { NOTE };
            CHECK.expect([("nine in ten bytes", bytes, expected)]);
        }
        let stream = || disk("seq_read", 1 << 20, "none");
        let own = in_flight_at_most(&stream());
        CHECK.expect([
            (
                "a stream",
                disturbed(queued(stream(), own), 16 << 20, 0, 10),
                suspect("I/Os in flight"),
            ),
            ("requests that are split", queued(stream(), own), NOTE),
            ("a fifth", queued(stream(), 0.25 * own), NOTE),
        ]);
        let finding = CHECK.found(disturbed(rand_read(1), 1 << 20, 2 << 20, 10)).unwrap();
        assert!(finding.evidence["others_read_bytes_per_s"].as_f64().unwrap() > 7e6);
        assert!(finding.evidence["others_written_bytes_per_s"].as_f64().unwrap() > 15e6);
    }

    /// Recorded: a writer of 1 GB/s beside mixed I/O at depth 32, in two states of the queue.
    #[test]
    fn trials_whose_queue_hides_others_are_not_without_them() {
        let mixed = || disturbed(rand_read(32), 0, 512 << 20, 10);
        let more = each(mixed(), |i, t| {
            if i < 2 {
                t.device.as_mut().unwrap().in_flight_s = 36.0 * t.seconds;
            }
        });
        let unknown = "moved most bytes ... what they cost is unknown";
        CHECK.expect([("all", mixed(), suspect(unknown)), ("more in two", more, suspect(unknown))]);
    }

    /// Recorded: a virtio disk whose largest request is 4 MiB split each block of 1 MiB in two.
    /// Then 213 blocks took 426 reads, 1.8 of them in flight at a queue depth of 1. All bytes were
    /// the load's own.
    #[test]
    fn requests_that_the_device_splits_are_no_others() {
        let stream = |split: u64, in_flight: f64, others: u64| {
            let m = each(disk("seq_read", 1 << 20, "none"), |_, t| {
                let (file, device) = (t.file.as_mut().unwrap(), t.device.as_mut().unwrap());
                file.asked_read_bytes = 213 << 20;
                device.own_read_bytes = Some(213 << 20);
                device.read_bytes = (213 << 20) + others * 4096;
                device.reads = 213 * split + others;
                device.in_flight_s = in_flight * t.seconds;
            });
            assert_eq!(in_flight_at_most(&m), 1.0);
            m
        };
        CHECK.expect([
            ("in two", stream(2, 1.8, 0), SILENT),
            ("in eight", stream(8, 7.9, 0), SILENT),
            ("in two, and few small ones", stream(2, 1.9, 5), SILENT),
            ("whole, with others in flight", stream(1, 1.8, 0), NOTE),
            ("in two, with others in flight", stream(2, 3.8, 0), NOTE),
            // The same number of requests, half of them others'.
            ("others' small ones", stream(1, 1.8, 213), NOTE),
        ]);
    }

    #[test]
    fn without_a_queue_of_its_own_bytes_are_weighed() {
        // Each trial requests 5.4 MB.
        CHECK.expect([
            ("as many", disturbed(cold_read(), 5 << 20, 0, 10), SUSPECT),
            ("written", disturbed(cold_read(), 0, 5 << 20, 10), SUSPECT),
            ("a sixth", disturbed(cold_read(), 1 << 20, 0, 10), SUSPECT),
            ("a fifteenth", disturbed(cold_read(), 400_000, 0, 10), NOTE),
            ("in few trials", disturbed(cold_read(), 8 << 20, 0, 2), NOTE),
            ("in more, which cost nothing", disturbed(cold_read(), 8 << 20, 0, 4), NOTE),
            ("in half of them", disturbed(cold_read(), 8 << 20, 0, 5), SUSPECT),
            // The allowance is for a journal, not for reads.
            ("400 KB read", disturbed(cold_read(), 400_000, 0, 10), NOTE),
            ("160 KB written", disturbed(cold_read(), 0, 160_000, 10), SILENT),
            ("lookups", disturbed(rand_read(1), 32_768, 0, 10), SILENT),
        ]);
    }

    /// The result with others that do those I/Os of 512 B in the first `trials` trials.
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
        // Each trial has 1316 I/Os.
        for m in [rand_read(1), direct_write(), disk("mixed", 4096, "none")] {
            for (reads, writes) in [(160, 0), (0, 160)] {
                CHECK.expect([
                    ("many", crowded(m.clone(), 8 * reads, 8 * writes, 5), SUSPECT),
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
    fn without_its_own_account_direct_io_is_what_was_requested() {
        let unreported = |m| each_device(m, |_, d| d.own_read_bytes = None);
        CHECK.expect([
            ("another reader", disturbed(unreported(rand_read(1)), 1 << 20, 0, 10), NOTE),
            ("none", unreported(rand_read(1)), SILENT),
            ("it may be read-ahead", disturbed(unreported(cold_read()), 1 << 20, 0, 10), SILENT),
        ]);
    }

    #[test]
    fn journals_copies_and_mirrors_are_no_others() {
        let warm = disk("seq_read", 4096, "warm");
        CHECK.expect([
            ("a commit of the journal", disturbed(rand_read(1), 0, 200_000, 10), SILENT),
            ("a journal during commits", disturbed(fsync(1), 0, 2 << 20, 10), SILENT),
            ("a writer during commits", disturbed(fsync(1), 0, 64 << 20, 10), NOTE),
            ("a reader during commits", disturbed(fsync(1), 4 << 20, 0, 10), NOTE),
            ("a warm file shares nothing", disturbed(warm, 64 << 20, 0, 10), SILENT),
            ("not reported", each(rand_read(1), |_, t| t.device = None), SILENT),
        ]);
        let written = || disturbed(direct_write(), 0, 8 << 20, 10);
        let far_more = || disturbed(direct_write(), 0, 80 << 20, 10);
        let copies = with_storage(|s| s.file_system = "btrfs".to_owned());
        CHECK.on(&copies, &[]).expect([("copies", written(), SILENT), ("more", far_more(), NOTE)]);
        let mirror = with_storage(|s| s.devices.push(block_device("vdb", "254:16")));
        CHECK.on(&mirror, &[]).expect([
            ("mirrored", written(), SILENT),
            ("read", disturbed(rand_read(1), 1 << 20, 0, 10), NOTE),
        ]);
    }
}
