//! `unwritten_data`: parts of the file were never written.
//!
//! A read of a hole, or of an extent that was allocated and not written, is answered
//! with zeros by the file system; no device is asked.

use proofmark_model::{Finding, Measurement, Severity};

use super::{Check, Class, percent};
use crate::Context;
use crate::disk::{Way, asks, commits, files, measured};

/// Share of the file below which it is its last block, or what rounding leaves.
const THRESHOLD: f64 = 0.001;

pub(super) static CHECK: Check = Check {
    id: "unwritten_data",
    class: Class::Claim,
    title: "Holes or unwritten extents",
    about: "Share of the file that was never written: holes, and extents that are only allocated. \
         More than 0.1 % is invalid for a workload that reads, since such a read uses no device. \
         For one that only writes it is suspect: the file system's allocation was timed. Appends \
         with commits (disk.fsync) grow a file by design and are not examined. A note if the file \
         system does not report it for a file that is read. Write the whole file before the \
         measurement.",
    examine,
    examine_reference: None,
};

fn examine(_: &Context, m: &Measurement) -> Option<Finding> {
    if !measured(m) || commits(m) {
        return None;
    }
    if asks(m, Way::Read) && files(m).all(|f| f.unwritten.is_none()) {
        let message = "the file system does not report which extents were written";
        let advice =
            "use a file system that reports them (FIEMAP), or check the device's own traffic";
        return Some(CHECK.note(message, advice));
    }
    let shares = files(m).filter_map(|f| f.unwritten).filter(|share| share.is_finite());
    let worst = shares.max_by(f64::total_cmp).filter(|share| *share > THRESHOLD)?;
    let (severity, what) = if asks(m, Way::Read) {
        (Severity::Invalid, "reads of it use no device")
    } else {
        (Severity::Suspect, "its allocation was part of the timed work")
    };
    let message = format!("{} of the file was never written: {what}", percent(worst));
    let advice = "write the whole file and flush it before the measurement";
    Some(CHECK.finding(severity, message, advice).with("unwritten", worst))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::*;

    #[test]
    fn reading_what_was_never_written_is_invalid() {
        let once = |m, unwritten| {
            each_file(m, |i, f| f.unwritten = if i == 7 { unwritten } else { f.unwritten })
        };
        let untold = |m| each_file(m, |_, f| f.unwritten = None);
        for m in [rand_read(1), disk("seq_read", 1 << 20, "cold"), disk("mixed", 4096, "none")] {
            CHECK.expect([
                ("all", once(m.clone(), Some(1.0)), INVALID),
                ("a part", once(m, Some(0.01)), INVALID),
            ]);
        }
        CHECK.expect([
            ("written", once(disk("rand_write", 4096, "none"), Some(0.5)), SUSPECT),
            ("appending is the work", once(fsync(1), Some(0.5)), SILENT),
            ("reads, not reported", untold(rand_read(1)), NOTE),
            ("a mix, not reported", untold(disk("mixed", 4096, "none")), NOTE),
            ("writes, not reported", untold(disk("seq_write", 4096, "none")), SILENT),
            ("a rest", once(rand_read(1), Some(0.0005)), SILENT),
            ("not reported once", once(rand_read(1), None), SILENT),
            ("no number", once(rand_read(1), Some(f64::NAN)), SILENT),
        ]);
    }
}
