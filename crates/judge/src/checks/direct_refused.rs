//! `direct_refused`: direct I/O was asked for, and the file was not open for it.

use proofmark_model::{Finding, Measurement, Severity};

use super::Check;
use crate::Context;
use crate::disk::{files, measured};

pub(super) struct DirectRefused;

impl Check for DirectRefused {
    fn id(&self) -> &'static str {
        "direct_refused"
    }

    fn title(&self) -> &'static str {
        "Direct I/O refused"
    }

    fn about(&self) -> &'static str {
        "Whether a file that was to be used past the page cache was open for direct I/O, as the kernel \
         says afterwards. Not so is invalid: some file systems drop the flag without a word, and the \
         page cache answered. A note where the kernel does not tell; the device's own traffic still \
         does (page_cache). Use another file system, or measure buffered I/O under its own name."
    }

    fn examine(&self, _: &Context, m: &Measurement) -> Option<Finding> {
        if !measured(m) || m.params.text("direct") != Some("on") {
            return None;
        }
        let advice =
            "use another file system, or measure buffered I/O (direct=off) under that name";
        if files(m).any(|f| f.direct == Some(false)) {
            let message = "direct I/O was asked for, and the file was open for buffered I/O";
            return Some(Finding::new(self.id(), Severity::Invalid, message, advice));
        }
        if files(m).any(|f| f.direct == Some(true)) {
            return None;
        }
        let message = "this system does not tell whether direct I/O was direct";
        Some(Finding::new(self.id(), Severity::Note, message, advice))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{disk, each, found_on, host_with_disk, rand_read};

    fn says(m: Measurement, direct: Option<bool>) -> Option<Severity> {
        let m = each(m, |_, t| t.file.as_mut().unwrap().direct = direct);
        found_on(&host_with_disk(), &DirectRefused, m, &[]).map(|f| f.severity)
    }

    #[test]
    fn a_flag_that_was_dropped_is_invalid() {
        assert_eq!(says(rand_read(1), Some(false)), Some(Severity::Invalid));
        assert_eq!(says(rand_read(1), None), Some(Severity::Note));
        let silent = each(rand_read(1), |_, t| t.file = None);
        let found = found_on(&host_with_disk(), &DirectRefused, silent, &[]);
        assert_eq!(found.map(|f| f.severity), Some(Severity::Note));
    }

    #[test]
    fn direct_and_what_was_asked_buffered_are_silent() {
        assert_eq!(says(rand_read(1), Some(true)), None);
        assert_eq!(says(disk("seq_read", 1, "cold"), Some(false)), None);
    }
}
