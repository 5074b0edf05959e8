//! `page_cache`: the device moved other amounts than the workload requested.
//!
//! Each trial records the device's own counters, so a rate that memory served is recognised.

use proofmark_model::{Finding, Host, Measurement, Trial, check_id};

use super::test_file::{INCOMPRESSIBLE, ROUNDING};
use super::{Check, Class, Examine, percent, size};
use crate::Context;
use crate::disk::{Cached, Way, asked, files, found_cached};
use crate::words::counted;

/// Share of the bytes that the device must have moved; the rest allows for counters read at
/// slightly different times. A cold trial begins right after the eviction, and the time of writes
/// includes their flush, so neither needs more.
const MOVED: f64 = 0.99;
/// Share of a warm result's bytes that may come from the device nevertheless.
const WARM: f64 = 0.05;
/// Bytes per trial that a device may read for metadata and other programs.
const PASSING: f64 = 65_536.0;

/// Sums of one direction over all trials that report requested and moved bytes.
#[derive(Debug, Clone, Copy, Default)]
struct Account {
    asked: f64,
    moved: f64,
    /// Bytes that devices moved for this process, if each trial reports them.
    own: Option<f64>,
    trials: usize,
    short: usize,
}

impl Account {
    fn sum(m: &Measurement, way: Way) -> Self {
        let start = Self { own: Some(0.0), ..Self::default() };
        m.trials.iter().fold(start, |sum, t: &Trial| {
            let (Some(device), asked) = (&t.device, asked(t, way)) else { return sum };
            if asked <= 0.0 {
                return sum;
            }
            let moved = way.moved(device);
            Self {
                asked: sum.asked + asked,
                moved: sum.moved + moved,
                own: sum.own.zip(way.own(device)).map(|(a, b)| a + b),
                trials: sum.trials + 1,
                short: sum.short + usize::from(moved < MOVED * asked),
            }
        })
    }

    fn add_to(self, finding: Finding, way: Way) -> Finding {
        finding
            .with("direction", way.word())
            .with("asked_bytes", self.asked)
            .with("device_bytes", self.moved)
            .with("trials_short", self.short)
            .with("trials", self.trials)
    }
}

/// The causes that the file leaves open, where the device moved too little. The counters alone do
/// not show which of them it was.
fn causes(m: &Measurement, way: Way) -> String {
    let mut all = vec!["the page cache".to_owned()];
    let unwritten = files(m).filter_map(|f| f.unwritten).reduce(f64::max);
    all.extend(match unwritten {
        _ if way == Way::Written => None,
        None => Some("parts that were never written (not examined)".to_owned()),
        Some(share) if share > ROUNDING => {
            Some(format!("the part that was never written ({})", percent(share)))
        }
        Some(_) => None,
    });
    let entropy = files(m).filter_map(|f| f.entropy_bits).reduce(f64::min);
    all.extend(match entropy {
        None => Some("data that can be compressed (not examined)".to_owned()),
        Some(bits) if bits < INCOMPRESSIBLE => {
            Some(format!("data that can be compressed ({bits:.2} bits per byte)"))
        }
        Some(_) => None,
    });
    let word = if all.len() > 1 { "possible causes" } else { "possible cause" };
    format!("{word}: {}", all.join("; "))
}

/// True if a device below the folder is a loop device, whose data are a file of another file
/// system.
fn on_loop_device(host: &Host) -> bool {
    host.storage.get().is_some_and(|s| s.devices.iter().any(|d| d.backing.is_some()))
}

/// Reports a result that must come from the device but did not.
fn too_few_from_device(ctx: &Context, m: &Measurement, way: Way) -> Option<Finding> {
    let sum = Account::sum(m, way);
    // The kernel writes data back in its own name, not in this process's.
    let own = sum.own.filter(|_| way == Way::Read);
    let too_few = |bytes: f64| bytes < MOVED * sum.asked;
    let advice = "measure with direct I/O, or evict the file from the page cache first; for \
                  writes end with a flush";
    if sum.asked <= 0.0 {
        return None;
    }
    if !too_few(sum.moved) {
        let own = own.filter(|own| too_few(*own))?;
        let [moved, ours, asked] = [sum.moved, own, sum.asked].map(size);
        let message = format!(
            "the device read {moved}, but only {ours} for this process, which requested {asked}"
        );
        let finding = CHECK.suspect(message, advice);
        return Some(sum.add_to(finding, way).with("own_bytes", own));
    }
    // The account of this process for a loop device does not cover the disk below it.
    let of_devices = own.filter(|_| !on_loop_device(ctx.host));
    if sum.moved <= 0.0 && of_devices.is_some_and(|own| !too_few(own)) {
        let message = format!(
            "the device counters did not change while this process had {} moved: they are off, \
             or belong to another device",
            size(sum.asked)
        );
        let advice = "turn them on (/sys/block/*/queue/iostats), or check which device holds \
                      the folder";
        let finding = CHECK.suspect(message, advice);
        return Some(sum.add_to(finding, way));
    }
    let [asked, moved] = [sum.asked, sum.moved].map(size);
    let (share, done) = (percent(sum.moved / sum.asked), way.word());
    let (short, trials) = (sum.short, counted(sum.trials, "trial"));
    let message = format!(
        "the device has {done} only {moved} ({share}) of the {asked} requested, too little in \
         {short} of {trials}; {}",
        causes(m, way)
    );
    let finding = CHECK.invalid(message, advice);
    Some(sum.add_to(finding, way))
}

/// Reports direct reads of a loop device that reads its file through the page cache.
fn cached_below(ctx: &Context, m: &Measurement) -> Option<Finding> {
    let reads = m.trials.iter().any(|t| asked(t, Way::Read) > 0.0);
    let storage = ctx.host.storage.get()?;
    let device = storage.devices.iter().find(|d| d.cached_backing).filter(|_| reads)?;
    let message = format!(
        "{} reads its file through the page cache: direct reads may come from memory, and the \
         device's counters may be those of other reads",
        device.name
    );
    let advice = "set the loop device up for direct I/O (losetup --direct-io=on)";
    Some(CHECK.suspect(message, advice).with("device", device.name.as_str()))
}

/// Reports cold trials before which the file was still in the cache, whatever the counters show.
fn not_evicted(m: &Measurement) -> Option<Finding> {
    let found: Vec<f64> = files(m).filter_map(found_cached).collect();
    let most = found.iter().copied().max_by(f64::total_cmp)?;
    let message = format!(
        "the page cache held up to {} of the file before {} that should be cold",
        percent(most),
        counted(found.len(), "trial")
    );
    let advice = "use a file system that evicts its pages, or direct I/O";
    let finding = CHECK.invalid(message, advice);
    Some(finding.with("cached", most).with("trials_cached", found.len()))
}

/// Reports a warm result whose file did not stay in the cache.
fn not_kept_in_memory(m: &Measurement) -> Option<Finding> {
    let sum = Account::sum(m, Way::Read);
    let read = sum.own.unwrap_or(sum.moved);
    if sum.asked <= 0.0 || read <= WARM * sum.asked + PASSING * sum.trials as f64 {
        return None;
    }
    let ([asked, moved], share) = ([sum.asked, read].map(size), percent(read / sum.asked));
    let message = format!(
        "of {asked} requested from a warm cache, the device read {moved} ({share}): the file did \
         not stay in the cache"
    );
    let advice = "use a file that fits into free memory; this result is neither warm nor cold";
    let finding = CHECK.suspect(message, advice);
    Some(sum.add_to(finding, Way::Read).with("own_bytes", read))
}

pub(super) static CHECK: Check = Check {
    id: check_id::PAGE_CACHE,
    class: Class::claim("the counters do not show whose bytes moved, or only a part of them moved"),
    title: "Page cache measured as a disk",
    about: "Compares the bytes that the workload requested with those that the devices moved, by \
         their own counters, reads and writes separately, summed over the trials. Less than 99 % \
         is invalid, for direct I/O or a cold cache: the page cache may have served the rest, or \
         held the writes. The finding also names holes and compressible data of the file, or \
         that these were not examined. A cold trial with more than 1 % of the file in the page cache is invalid \
         too. It is suspect if the device read enough but not for this process, or if its counters \
         did not change. So is a loop device that reads its file through the page cache (losetup \
         --direct-io=off). A warm result of which the device read more than 5 % is suspect: the \
         file did not stay in the cache.",
    examine: Examine::Both(examine),
};

fn examine(ctx: &Context, m: &Measurement) -> Option<Finding> {
    let warm = Cached::read(m) == Cached::Warm;
    let cold = (Cached::read(m) == Cached::Cold).then(|| not_evicted(m)).flatten();
    let ways = Way::BOTH.iter().filter(|way| !warm || **way == Way::Written);
    let found = ways.filter_map(|way| too_few_from_device(ctx, m, *way));
    let direct = Cached::read(m) == Cached::Direct;
    let below = if direct { cached_below(ctx, m) } else { None };
    let worst = cold.into_iter().chain(below).chain(found).max_by_key(|f| f.severity);
    worst.or_else(|| if warm { not_kept_in_memory(m) } else { None })
}

#[cfg(test)]
mod tests {
    use proofmark_model::{DeviceTraffic, FileState};

    use super::*;
    use crate::testing::*;

    /// The result with the devices' bytes multiplied by that factor.
    fn moved(m: Measurement, factor: f64) -> Measurement {
        each_device(m, |_, d| {
            let scaled = |bytes: u64| (bytes as f64 * factor) as u64;
            (d.read_bytes, d.written_bytes) = (scaled(d.read_bytes), scaled(d.written_bytes));
            d.own_read_bytes = d.own_read_bytes.map(scaled);
        })
    }

    #[test]
    fn a_cached_file_is_invalid_however_it_is_read() {
        let all = [
            disk("seq_read", 1 << 20, "none"),
            disk("seq_read", 1 << 20, "cold"),
            disk("seq_read", 1, "cold"),
            disk("seq_write", 1 << 20, "none"),
            disk("rand_write", 4096, "cold"),
            disk("mixed", 4096, "none"),
            disk("seq_write", 4096, "warm"),
            fsync(1),
        ];
        let name = |m: &Measurement| format!("{} {:?}", m.workload, m.params);
        CHECK.expect(all.map(|m| (name(&m), moved(m, 0.0), invalid("10 of 10 trials"))));
    }

    #[test]
    fn what_the_file_excludes_or_shows_is_no_page_cache() {
        let missing = |m, change: fn(&mut FileState)| each_file(moved(m, 0.0), |_, f| change(f));
        let read = || disk("seq_read", 1 << 20, "none");
        CHECK.expect([
            (
                "holes",
                missing(read(), |f| f.unwritten = Some(0.3)),
                invalid(
                    "; possible causes: the page cache; the part that was never written (30.0 %)$",
                ),
            ),
            (
                "zeros",
                missing(read(), |f| f.entropy_bits = Some(0.1)),
                invalid(
                    "; possible causes: the page cache; data that can be compressed (0.10 bits",
                ),
            ),
            (
                "written zeros",
                missing(disk("seq_write", 1 << 20, "none"), |f| f.entropy_bits = Some(0.1)),
                invalid("; possible causes: the page cache; data that can be compressed"),
            ),
            // The file has neither, as far as it was examined.
            ("neither", missing(read(), |_| ()), invalid("; possible cause: the page cache$")),
            ("not examined", missing(read(), |f| {
                (f.unwritten, f.entropy_bits) = (None, None);
            }), invalid("; possible causes: the page cache; parts that were never written (not examined); data that can be compressed (not examined)$")),
            ("writes, not examined", missing(disk("seq_write", 1 << 20, "none"), |f| {
                (f.unwritten, f.entropy_bits) = (None, None);
            }), invalid("; possible causes: the page cache; data that can be compressed (not examined)$")),
        ]);
    }

    #[test]
    fn a_part_that_the_cache_served_is_enough() {
        for (m, few, enough) in [
            (rand_read(32), 0.98, 0.995),
            (disk("seq_read", 1 << 20, "cold"), 0.98, 0.995),
            (disk("rand_read", 4096, "cold"), 0.98, 0.995),
            (disk("seq_write", 1 << 20, "none"), 0.98, 0.995),
            (disk("seq_write", 1 << 20, "cold"), 0.98, 0.995),
            // The journal doubles the written bytes.
            (fsync(1), 0.49, 0.5),
        ] {
            let name = format!("{} {:?}", m.workload, m.params);
            CHECK.expect([
                (&name, moved(m.clone(), few), INVALID),
                (&name, moved(m, enough), SILENT),
            ]);
        }
        let reads_only =
            each_device(disk("read_write", 1 << 20, "none"), |_, d| d.written_bytes = 0);
        CHECK.expect([("one direction", reads_only, invalid("has written only"))]);
    }

    #[test]
    fn a_cold_trial_that_found_the_file_cached_is_invalid_whatever_was_counted() {
        let cached = |cache: &str, share: f64| {
            let m = each_file(disk("seq_read", 4096, cache), |i, f| {
                f.cached = Some(if i == 3 { share } else { 0.0 });
            });
            moved(m, 2.0)
        };
        CHECK.expect([
            ("cold", cached("cold", 0.25), invalid("up to 25 ... 1 trial ")),
            ("evicted", cached("cold", 0.01), SILENT),
            ("direct", cached("none", 0.25), SILENT),
            ("warm", cached("warm", 0.25), SILENT),
        ]);
    }

    #[test]
    fn traffic_that_the_counters_do_not_show_is_suspect() {
        // Only the account of this process changes.
        let silent = each(rand_read(1), |_, t| {
            let own_read_bytes = Some(t.file.as_ref().unwrap().asked_read_bytes);
            t.device = Some(DeviceTraffic { own_read_bytes, ..DeviceTraffic::default() });
        });
        let on_loop = with_storage(|s| s.devices[0].backing = Some("/srv/image".to_owned()));
        CHECK.on(&on_loop, &[]).expect([("a loop device's file", silent.clone(), INVALID)]);
        let others = each_device(rand_read(1), |_, d| d.own_read_bytes = Some(0));
        let warm = |share: f64| {
            each(disk("seq_read", 4096, "warm"), |_, t| {
                let asked = t.file.as_ref().unwrap().asked_read_bytes;
                t.device.as_mut().unwrap().own_read_bytes = Some((asked as f64 * share) as u64);
            })
        };
        CHECK.expect([
            ("counters that do not change", silent, suspect("did not change")),
            ("another process", others, suspect("for this process")),
            ("a warm file that was read", warm(0.1), SUSPECT),
            ("a little of it", warm(0.02), SILENT),
            ("more than was asked", moved(disk("seq_read", 8, "cold"), 512.0), SILENT),
            ("no counters", each(rand_read(1), |_, t| t.device = None), SILENT),
        ]);
    }
}
