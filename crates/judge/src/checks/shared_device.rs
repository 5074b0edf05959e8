//! `shared_device`: somebody else used the device during the trials.
//!
//! What that costs is not known from bytes: 30 MB/s of others may cost a random read 2 %, and 16 writes
//! in flight a commit all but everything. A request waits for those that are in the device with it. So
//! where the load's own share of these is known, the queue is weighed: how many of the I/Os in flight
//! were others'.

use proofmark_model::{Finding, Measurement, Severity, Trial, Unit, format_count, format_quantity};

use super::loss::Loss;
use super::share::Share;
use super::{Check, Class, Examine, percent};
use crate::Context;
use crate::disk::{Cached, Way, asked, asks, commits, in_flight_at_most, is_random, waits};
use crate::words::{counted, times};

/// Less traffic of others than this is not reported.
const THRESHOLD: f64 = 0.02;
/// Others that have less of the device's I/Os in flight are not reported.
const QUEUED: f64 = 0.05;
/// Others' share of the I/Os in flight and of the bytes from which on a result is suspect where the cost
/// is not known. A queue alone may be one of discards that cost nothing, bytes alone may find room: 30 MB/s
/// of a journal had three quarters of the I/Os in flight beside random reads, at their full rate.
const MUCH: f64 = 0.4;
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
/// So many times the bytes that are asked for may be written by what the file system does for them: a
/// journal writes a block twice, with its descriptor and commit blocks; copies on write their trees.
const JOURNAL: f64 = 4.0;
const COPIES: f64 = 10.0;
/// File systems that write new places and new metadata for each write.
const COPY_ON_WRITE: &[&str] = &["btrfs", "zfs", "bcachefs", "f2fs", "nilfs2"];

const ADVICE: &str = "stop other users of the device (iotop lists them), or measure another device";

/// How often the devices may move the bytes that are asked for in that direction, for the load itself;
/// `None` where that has no bound: what is not written whole is read first, and several devices at the
/// bottom hold each write more than once.
fn own_times(ctx: &Context, m: &Measurement, way: Way) -> Option<f64> {
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

/// A direction in which bytes can be told apart, and how often the load's own are moved.
type Compared = (Way, f64);

/// Bytes that the device moved that way for others.
fn moved_for_others(m: &Measurement, t: &Trial, (way, own_times): Compared) -> Option<f64> {
    let device = t.device.as_ref()?;
    // Without its own account a buffered read cannot be distinguished from readahead.
    let fallback = (Cached::read(m) == Cached::Direct).then(|| asked(t, way));
    let own = way.own(device).or(fallback)?;
    Some((way.moved(device) - own_times * own).max(0.0))
}

/// The same less what is housekeeping: journals write, and do not read.
fn of_others(m: &Measurement, t: &Trial, compared: Compared) -> Option<f64> {
    let forgiven = if compared.0 == Way::Read { LOOKUPS } else { HOUSEKEEPING };
    Some((moved_for_others(m, t, compared)? - forgiven).max(0.0))
}

/// I/Os of others in flight during a trial, and the load's own, each times how long; `None` where its
/// own are not known: the kernel reads ahead and writes back as it likes.
fn in_flight(ctx: &Context, m: &Measurement, t: &Trial) -> Option<(f64, f64)> {
    if Cached::read(m) != Cached::Direct && !commits(m) {
        return None;
    }
    let all = t.device.as_ref()?.in_flight_s;
    // Each write may be on all devices.
    let devices = if asks(m, Way::Written) { ctx.host.storage.get()?.leaves().count() } else { 1 };
    let own = (in_flight_at_most(m) * t.seconds * devices as f64).min(all);
    Some((all - own, own)).filter(|(others, own)| others.is_finite() && *own > 0.0)
}

/// Others' share of the I/Os in flight during a trial.
pub(super) fn others_in_device(ctx: &Context, m: &Measurement, t: &Trial) -> Option<f64> {
    in_flight(ctx, m, t).map(|(others, own)| others / (others + own))
}

/// Others' share of all bytes that the devices moved, both ways: all but what the load may have had moved.
fn share_of_bytes(ctx: &Context, m: &Measurement) -> f64 {
    let sum = |of: &dyn Fn(&Trial, Way) -> f64| -> f64 {
        m.trials.iter().flat_map(|t| Way::BOTH.map(|way| of(t, way))).sum()
    };
    let moved = sum(&|t, way| t.device.as_ref().map_or(0.0, |d| way.moved(d)));
    let own = sum(&|t, way| own_times(ctx, m, way).unwrap_or(1.0) * asked(t, way));
    1.0 - (own / moved).min(1.0)
}

/// Others whose I/Os are in the device with the load's.
fn by_queue(ctx: &Context, m: &Measurement) -> Option<Finding> {
    let flights: Vec<(f64, f64)> = m.trials.iter().filter_map(|t| in_flight(ctx, m, t)).collect();
    let seconds: f64 = m.trials.iter().map(|t| t.seconds).sum();
    let (others, own) = flights.iter().fold((0.0, 0.0), |(a, b), (o, w)| (a + o, b + w));
    let share = others / (others + own);
    if flights.len() < m.trials.len() || !share.is_finite() || share <= QUEUED {
        return None;
    }
    let is_beside = |t: &Trial| others_in_device(ctx, m, t).is_some_and(|share| share > QUEUED);
    let loss = Loss::of_trials(m, is_beside);
    let much = share.min(share_of_bytes(ctx, m)) > MUCH;
    let unknown = if much { Severity::Suspect } else { Severity::Note };
    let severity = loss.and_then(|l| l.severity(m)).unwrap_or(unknown);
    let cost = match loss {
        Some(loss) => {
            format!("trials beside them cost the figure {}", percent(loss.value.max(0.0)))
        }
        None => "what they cost is unknown".to_owned(),
    };
    let message = format!(
        "other programs had {} I/Os in flight on the same device, {} of all; {cost}",
        times(others / seconds),
        percent(share)
    );
    let finding = CHECK.finding(severity, message, ADVICE);
    let finding = finding.with("others_in_flight", others / seconds);
    Some(finding.with("own_in_flight", own / seconds).with("share", share))
}

/// Bytes of an I/O that is one request: direct, random so that few are merged, too small to split.
fn one_request_each(ctx: &Context, m: &Measurement) -> Option<f64> {
    let largest = ctx.host.storage.get()?.leaves().filter_map(|d| d.request_bytes).min()? as f64;
    let alone = is_random(m) && Cached::read(m) == Cached::Direct;
    m.params.block_bytes().filter(|block| alone && *block <= largest)
}

/// I/Os of a trial, those of others and proofmark's, in the directions that can be compared.
/// What moved no bytes of others is a part of proofmark's own, split for another reason.
fn others_ios(m: &Measurement, t: &Trial, ways: &[Compared], block: f64) -> Option<(f64, f64)> {
    let (device, _) = (t.device.as_ref()?, t.file.as_ref()?);
    ways.iter().try_fold((0.0, 0.0), |(others, own), way| {
        let ours = asked(t, way.0) / block;
        let more = (way.0.requests(device) - ours).max(0.0);
        Some((others + more.min(moved_for_others(m, t, *way)? / SECTOR), own + ours))
    })
}

/// Others whose I/Os are small and many.
fn by_count(ctx: &Context, m: &Measurement, ways: &[Compared]) -> Option<Finding> {
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
    let severity = weigh(m, others / (others + own));
    let finding =
        CHECK.finding(severity, message, ADVICE).with("others_ios", others).with("own_ios", own);
    Some(finding.with("trials_affected", above).with("trials", trials.len()))
}

/// Others that move bytes.
fn by_bytes(ctx: &Context, m: &Measurement, ways: &[Compared]) -> Option<Finding> {
    let others = |t: &Trial| -> Option<f64> {
        let parts: Vec<f64> = ways.iter().filter_map(|w| of_others(m, t, *w)).collect();
        (!parts.is_empty()).then(|| parts.iter().sum())
    };
    let base = |t: &Trial| Way::BOTH.iter().map(|w| asked(t, *w)).sum();
    let share = Share::sum(&m.trials, others, base)?;
    let above =
        m.trials.iter().filter(|t| others(t).is_some_and(|o| o > THRESHOLD * base(t))).count();
    share.severity(THRESHOLD)?;
    // Where the queue shows what others do, their bytes only say who.
    let queue_is_known = m.trials.iter().all(|t| in_flight(ctx, m, t).is_some());
    let severity = match above * A_THIRD < share.trials || queue_is_known {
        true => Severity::Note,
        false => weigh(m, share.usual / (1.0 + share.usual)),
    };
    let seconds: f64 = m.trials.iter().map(|t| t.seconds).sum();
    let rate = |way: Way| -> f64 {
        let compared = ways.iter().find(|(compared, _)| *compared == way);
        let of = |c: &Compared| m.trials.iter().filter_map(|t| of_others(m, t, *c)).sum::<f64>();
        compared.map(|c| of(c) / seconds).filter(|rate| rate.is_finite()).unwrap_or(0.0)
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

/// Others' share of what the device does, of which the cost is unknown.
fn weigh(m: &Measurement, share: f64) -> Severity {
    if share > m.subsystem.tolerance() { Severity::Suspect } else { Severity::Note }
}

pub(super) static CHECK: Check = Check {
    id: "shared_device",
    class: Class::DISTURBANCE,
    title: "Device shared with other I/O",
    about: "Others' I/O on the device during the trials. With direct I/O and commits, how many I/Os the \
         device had in flight (/proc/diskstats) beyond the load's own threads x queue depth: more \
         than 5 % of all is a note. Where at least 6 trials were without them, these show the cost, which \
         is weighed; else more than 40 % of the I/Os and of all bytes is suspect. Otherwise their bytes: all that the device moved less the load's own, and less a tolerance per trial of \
         32 KiB of reads and 256 KiB of writes. More than 2 % of the requested bytes is a note. In a third \
         of the trials, more than 25 % of all bytes is suspect. Of commits 4 times the bytes count as \
         the load's own, since a journal writes them again, and 10 times on copy-on-write file \
         systems. For direct random I/O in blocks that the device takes whole, the number of others' \
         I/Os counts in the same way. Warm reads use no device. Stop the other users of the device.",
    examine: Examine::Ours(examine),
};

fn examine(ctx: &Context, m: &Measurement) -> Option<Finding> {
    if !waits(m) {
        return None;
    }
    let compared = |way| Some((way, own_times(ctx, m, way)?));
    let ways: Vec<Compared> = Way::BOTH.into_iter().filter_map(compared).collect();
    let found = [by_queue(ctx, m), by_count(ctx, m, &ways), by_bytes(ctx, m, &ways)];
    // Of equal ones the first.
    found.into_iter().flatten().reduce(|a, b| if b.severity > a.severity { b } else { a })
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

    /// Others had so many I/Os in flight all the time.
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
                ("bytes", disturbed(m, 64 << 20, 0, 10), NOTE),
            ]);
        }
        let finding = CHECK.found(disturbed(rand_read(1), 1 << 20, 2 << 20, 10)).unwrap();
        assert!(finding.evidence["others_read_bytes_per_s"].as_f64().unwrap() > 7e6);
        assert!(finding.evidence["others_written_bytes_per_s"].as_f64().unwrap() > 15e6);
    }

    #[test]
    fn without_a_queue_of_its_own_bytes_are_weighed() {
        // 5.4 MB a trial are asked for.
        CHECK.expect([
            ("as many", disturbed(cold_read(), 5 << 20, 0, 10), SUSPECT),
            ("written", disturbed(cold_read(), 0, 5 << 20, 10), SUSPECT),
            ("a fifth", disturbed(cold_read(), 1 << 20, 0, 10), NOTE),
            ("in few trials", disturbed(cold_read(), 8 << 20, 0, 2), NOTE),
            ("in more", disturbed(cold_read(), 8 << 20, 0, 4), SUSPECT),
            // What is forgiven is the journal's and not a reader's.
            ("400 KB read", disturbed(cold_read(), 400_000, 0, 10), NOTE),
            ("160 KB written", disturbed(cold_read(), 0, 160_000, 10), SILENT),
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
    fn without_its_own_account_direct_io_is_what_was_asked() {
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
