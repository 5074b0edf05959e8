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
        return Some(Finding::new(CHECK.id, Severity::Note, message, advice));
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
    Some(Finding::new(CHECK.id, severity, message, advice).with("unwritten", worst))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{disk, each, found_on, fsync, host_with_disk, rand_read};

    fn says(m: Measurement, unwritten: Option<f64>) -> Option<Severity> {
        let m = each(m, |i, t| {
            if i == 7 {
                t.file.as_mut().unwrap().unwritten = unwritten;
            }
        });
        found_on(&host_with_disk(), &CHECK, m, &[]).map(|f| f.severity)
    }

    #[test]
    fn reading_what_was_never_written_is_invalid() {
        for m in [rand_read(1), disk("seq_read", 1 << 20, "cold"), disk("mixed", 4096, "none")] {
            assert_eq!(says(m.clone(), Some(1.0)), Some(Severity::Invalid));
            assert_eq!(says(m, Some(0.01)), Some(Severity::Invalid));
        }
    }

    #[test]
    fn writing_there_is_suspect_and_appending_is_the_work() {
        let written = disk("rand_write", 4096, "none");
        assert_eq!(says(written, Some(0.5)), Some(Severity::Suspect));
        assert_eq!(says(fsync(1), Some(0.5)), None);
    }

    #[test]
    fn a_file_system_that_does_not_tell_is_a_note_for_reads() {
        let untold = |m: Measurement| {
            let m = each(m, |_, t| t.file.as_mut().unwrap().unwritten = None);
            found_on(&host_with_disk(), &CHECK, m, &[]).map(|f| f.severity)
        };
        assert_eq!(untold(rand_read(1)), Some(Severity::Note));
        assert_eq!(untold(disk("mixed", 4096, "none")), Some(Severity::Note));
        assert_eq!(untold(disk("seq_write", 4096, "none")), None);
    }

    #[test]
    fn a_rest_and_what_is_not_told_are_silent() {
        assert_eq!(says(rand_read(1), Some(0.0005)), None);
        assert_eq!(says(rand_read(1), None), None);
        assert_eq!(says(rand_read(1), Some(f64::NAN)), None);
    }
}
