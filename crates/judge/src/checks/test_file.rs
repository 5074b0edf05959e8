//! Checks `direct_refused`, `unwritten_data`, `compressible_data` and `small_file`: direct I/O used
//! the page cache, or the file has unwritten parts, compresses, or fits into the cache.

use proofmark_model::{Finding, Measurement, Severity, check_id, format_size, key, word};

use super::{Check, Class, Examine, percent};
use crate::Context;
use crate::disk::{Cached, EVICTED, Way, asks, files, found_cached, measured};

pub(super) static DIRECT_REFUSED: Check = Check {
    id: check_id::DIRECT_REFUSED,
    class: Class::CLAIM,
    title: "Direct I/O refused",
    about: "Two tests of a file for direct I/O. The kernel must report it as open for direct I/O, \
         and the page cache must hold at most 1 % of it before later trials. proofmark evicts the \
         file at set-up, and direct I/O leaves nothing in the cache. Failing either is invalid: \
         some file systems drop the flag silently, others keep it and serve the I/O from the page \
         cache. A note if the kernel does not report the flag; page_cache still compares the \
         device's traffic. Use another file system, or measure buffered I/O under its own name.",
    examine: Examine::Ours(direct_refused),
};

fn direct_refused(_: &Context, m: &Measurement) -> Option<Finding> {
    if !measured(m) || m.params.get(key::DIRECT) != Some(word::ON) {
        return None;
    }
    let advice = "use another file system, or measure buffered I/O (direct=off)";
    if files(m).any(|f| f.direct == Some(false)) {
        let message = "direct I/O was requested, but the file was open for buffered I/O";
        return Some(DIRECT_REFUSED.invalid(message, advice));
    }
    let later = m.trials.iter().skip(1).filter_map(|t| found_cached(t.file.as_ref()?));
    if let Some(share) = later.max_by(f64::total_cmp) {
        let message = format!(
            "the file was open for direct I/O, but {} of it was in the page cache after a \
             trial: the file system served the I/O through the cache",
            percent(share)
        );
        let finding = DIRECT_REFUSED.invalid(message, advice);
        return Some(finding.with("cached", share));
    }
    if files(m).any(|f| f.direct == Some(true)) {
        return None;
    }
    let message = "this system does not report whether I/O was direct";
    Some(DIRECT_REFUSED.note(message, advice))
}

/// Share of the file that may be its last block, or rounding.
pub(super) const ROUNDING: f64 = 0.001;

pub(super) static UNWRITTEN_DATA: Check = Check {
    id: check_id::UNWRITTEN_DATA,
    class: Class::claim("how much of the time the file system's allocation took is unknown"),
    title: "Holes or unwritten extents",
    about: "Examines the share of the file that was never written: holes, and extents that are \
         only allocated. More than 0.1 % is invalid for a workload that reads, since such a read \
         uses no device. For one that only writes it is suspect: the file system's allocation was \
         timed. Appends (disk.fsync) grow a file by design and report no share. A note if the file \
         system does not report it for a file that is read. Write the whole file before the \
         measurement.",
    examine: Examine::Ours(unwritten_data),
};

fn unwritten_data(_: &Context, m: &Measurement) -> Option<Finding> {
    if asks(m, Way::Read) && files(m).all(|f| f.unwritten.is_none()) {
        let message = "the file system does not report which extents were written";
        let advice =
            "use a file system that reports them (FIEMAP), or check the device's own traffic";
        return Some(UNWRITTEN_DATA.note(message, advice));
    }
    let shares = files(m).filter_map(|f| f.unwritten).filter(|share| share.is_finite());
    let worst = shares.max_by(f64::total_cmp).filter(|share| *share > ROUNDING)?;
    let (severity, what) = if asks(m, Way::Read) {
        (Severity::Invalid, "reads of it use no device")
    } else {
        (Severity::Suspect, "its allocation was part of the timed work")
    };
    let message = format!("{} of the file was never written: {what}", percent(worst));
    let advice = "write the whole file and flush it before the measurement";
    Some(UNWRITTEN_DATA.finding(severity, message, advice).with("unwritten", worst))
}

/// Entropy of incompressible data in bits per byte. A sample of 64 KiB of random bytes has 7.997,
/// one of 4 KiB still 7.95.
pub(super) const INCOMPRESSIBLE: f64 = 7.5;
/// Entropy below which the data are zeros or one repeated byte. File systems, hypervisors and
/// drives detect exactly this and store nothing, so no medium is used. It is unknown whether a
/// device compresses other data.
const REPEATED: f64 = 0.5;
/// Smallest file in bytes whose sample shows its entropy.
const SAMPLE: u64 = 4096;

pub(super) static COMPRESSIBLE_DATA: Check = Check {
    id: check_id::COMPRESSIBLE_DATA,
    class: Class::claim("whether the device compresses its data is unknown"),
    title: "Compressible data",
    about: "Examines the entropy of a sample of the file's data in bits per byte. Below 7.5 it is \
         suspect: a file system or device that compresses or deduplicates moves less than the \
         workload requested. Below 0.5 (zeros, or one repeated byte) it is invalid: such blocks \
         can be detected and not stored. Files below 4 KiB are not examined. Fill the file with \
         random data.",
    examine: Examine::Both(compressible_data),
};

fn compressible_data(_: &Context, m: &Measurement) -> Option<Finding> {
    let entropies = files(m).filter(|f| f.size_bytes >= SAMPLE).filter_map(|f| f.entropy_bits);
    let least = entropies.filter(|bits| bits.is_finite()).min_by(f64::total_cmp)?;
    let (severity, what) = match least {
        _ if least < REPEATED => (
            Severity::Invalid,
            "zeros, or one repeated byte, which file systems and devices can detect and not store",
        ),
        _ if least < INCOMPRESSIBLE => {
            (Severity::Suspect, "a device can compress it and move less")
        }
        _ => return None,
    };
    let message = format!("the data has {least:.2} bits per byte: {what}");
    let advice = "fill the file with random data without repeated blocks";
    Some(COMPRESSIBLE_DATA.finding(severity, message, advice).with("entropy_bits", least))
}

pub(super) static SMALL_FILE: Check = Check {
    id: check_id::SMALL_FILE,
    class: Class::claim("nothing shows whether the file was in the page cache"),
    title: "File smaller than the memory",
    about: "Examines cold reads through the page cache of a file that fits into memory. Only the \
         eviction before each trial prevents the cache from serving them. Suspect where neither \
         the devices' counters nor the file's pages show the eviction; else page_cache examines \
         them. Direct I/O is not examined: this machine's memory does not serve it. The memory of \
         a virtual disk's host or a controller's cache may, and their sizes are unknown. Use a \
         file larger than the memory.",
    examine: Examine::Both(small_file),
};

fn small_file(ctx: &Context, m: &Measurement) -> Option<Finding> {
    if Cached::read(m) != Cached::Cold || !asks(m, Way::Read) {
        return None;
    }
    let file = files(m).map(|f| f.size_bytes).max()?;
    let memory = *ctx.host.memory.total_bytes.get()?;
    if file >= memory {
        return None;
    }
    let counted = m.trials.iter().all(|t| t.device.is_some());
    let evicted = files(m).all(|f| f.cached.is_some_and(|share| share <= EVICTED));
    if counted || evicted {
        return None;
    }
    let message = format!(
        "a file of {} fits into {} of memory, and nothing shows that it was not cached",
        format_size(file),
        format_size(memory)
    );
    let advice = "use a file larger than the memory, or direct I/O";
    Some(SMALL_FILE.suspect(message, advice).with("file_bytes", file).with("memory_bytes", memory))
}

#[cfg(test)]
mod tests {
    use proofmark_model::Probe;

    use super::*;
    use crate::testing::*;

    #[test]
    fn a_dropped_flag_and_pages_left_in_the_cache_are_invalid() {
        let reported = |m, direct| each_file(m, |_, f| f.direct = direct);
        DIRECT_REFUSED.expect([
            ("dropped", reported(rand_read(1), Some(false)), INVALID),
            ("not reported", reported(rand_read(1), None), NOTE),
            ("no file", each(rand_read(1), |_, t| t.file = None), NOTE),
            ("buffered as requested", reported(disk("seq_read", 1, "cold"), Some(false)), SILENT),
        ]);
        let cached = |m: &Measurement, trial: usize, share: f64| {
            each_file(m.clone(), |i, f| {
                f.direct = Some(true);
                f.cached = if i == trial { Some(share) } else { f.cached };
            })
        };
        for m in [rand_read(1), disk("seq_write", 1 << 20, "none")] {
            DIRECT_REFUSED.expect([
                ("a part", cached(&m, 1, 0.02), INVALID),
                ("all", cached(&m, 9, 1.0), INVALID),
                ("little", cached(&m, 9, 0.01), SILENT),
                ("no trial was before it", cached(&m, 0, 1.0), SILENT),
            ]);
        }
        let warm = disk("seq_read", 4096, "warm");
        DIRECT_REFUSED.expect([("a warm cache", cached(&warm, 1, 1.0), SILENT)]);
    }

    #[test]
    fn reading_data_that_was_never_written_is_invalid() {
        let once = |m, unwritten| {
            each_file(m, |i, f| f.unwritten = if i == 7 { unwritten } else { f.unwritten })
        };
        let unreported = |m| each_file(m, |_, f| f.unwritten = None);
        for m in [rand_read(1), disk("seq_read", 1 << 20, "cold"), disk("mixed", 4096, "none")] {
            UNWRITTEN_DATA.expect([
                ("all", once(m.clone(), Some(1.0)), INVALID),
                ("a part", once(m, Some(0.01)), INVALID),
            ]);
        }
        UNWRITTEN_DATA.expect([
            ("written", once(disk("rand_write", 4096, "none"), Some(0.5)), SUSPECT),
            ("appending is the work", unreported(fsync(1)), SILENT),
            ("overwritten", once(fsync(1), Some(0.5)), SUSPECT),
            ("reads, not reported", unreported(rand_read(1)), NOTE),
            ("a mix, not reported", unreported(disk("mixed", 4096, "none")), NOTE),
            ("writes, not reported", unreported(disk("seq_write", 4096, "none")), SILENT),
            ("a rest", once(rand_read(1), Some(0.0005)), SILENT),
            ("not reported once", once(rand_read(1), None), SILENT),
            ("no number", once(rand_read(1), Some(f64::NAN)), SILENT),
        ]);
    }

    #[test]
    fn zeros_are_invalid_and_text_is_suspect() {
        for (name, bits, size, expected) in [
            ("zeros", Some(0.0), 1 << 30, INVALID),
            ("text", Some(4.5), 1 << 30, SUSPECT),
            ("random data", Some(7.95), 1 << 30, SILENT),
            ("a small file", Some(6.0), 100, SILENT),
            ("not reported", None, 1 << 30, SILENT),
        ] {
            let spoil = |m| {
                each_file(m, |i, file| {
                    file.size_bytes = size;
                    file.entropy_bits = if i > 4 { bits } else { file.entropy_bits };
                })
            };
            COMPRESSIBLE_DATA.expect([
                (name, spoil(rand_read(1)), expected),
                (name, spoil(disk("seq_write", 4096, "none")), expected),
            ]);
        }
    }

    #[test]
    fn a_small_file_that_nothing_proves_cold_is_suspect() {
        let mut host = host_with_disk();
        host.memory.total_bytes = Probe::known(8 << 30, "test");
        let unproved = |cached: Option<f64>| {
            each(disk("seq_read", 4096, "cold"), |_, t| {
                t.device = None;
                t.file.as_mut().unwrap().cached = cached;
            })
        };
        SMALL_FILE.on(&host, &[]).expect([
            ("not reported", unproved(None), SUSPECT),
            ("cached", unproved(Some(1.0)), SUSPECT),
            ("evicted", unproved(Some(0.0)), SILENT),
            ("counted by the device", disk("seq_read", 4096, "cold"), SILENT),
            ("direct", rand_read(1), SILENT),
            ("written", disk("seq_write", 4096, "cold"), SILENT),
        ]);
        host.memory.total_bytes = Probe::known(512 << 20, "test");
        SMALL_FILE.on(&host, &[]).expect([("larger than the memory", unproved(None), SILENT)]);
    }
}
