//! `small_file`: the file fits into the cache that it should defeat.

use proofmark_model::{Finding, Measurement, Severity, format_size};

use super::Check;
use crate::Context;
use crate::disk::{Cached, Way, asks, files, measured};

/// Share of the file in the page cache before a trial that is none: a page here and there.
const EVICTED: f64 = 0.01;

pub(super) struct SmallFile;

impl Check for SmallFile {
    fn id(&self) -> &'static str {
        "small_file"
    }

    fn title(&self) -> &'static str {
        "File smaller than the memory"
    }

    fn about(&self) -> &'static str {
        "Cold reads through the page cache of a file that fits into memory: nothing but the eviction \
         before each trial keeps the cache from answering. Suspect where neither the devices' \
         counters nor the file's pages show that it was evicted; a note where they do, since the \
         number is then proved by them (page_cache). Direct I/O is not judged: memory does not answer \
         it, and the size of a controller's own cache is not known. Use a file larger than the memory."
    }

    fn examine(&self, ctx: &Context, m: &Measurement) -> Option<Finding> {
        if !measured(m) || Cached::of(m) != Cached::Cold || !asks(m, Way::Read) {
            return None;
        }
        let file = files(m).map(|f| f.size_bytes).max()?;
        let memory = *ctx.host.memory.total_bytes.get()?;
        if file >= memory {
            return None;
        }
        let counted = m.trials.iter().all(|t| t.device.is_some());
        let evicted = files(m).all(|f| f.cached.is_some_and(|share| share <= EVICTED));
        let (severity, what) = if counted || evicted {
            (Severity::Note, "what shows that it was not there is counted")
        } else {
            (Severity::Suspect, "nothing shows that it was not there")
        };
        let message = format!(
            "{} of file fit into {} of memory: {what}",
            format_size(file),
            format_size(memory)
        );
        let advice = "use a file larger than the memory, or direct I/O";
        Some(
            Finding::new(self.id(), severity, message, advice)
                .with("file_bytes", file)
                .with("memory_bytes", memory),
        )
    }
}

#[cfg(test)]
mod tests {
    use proofmark_model::Probe;

    use super::*;
    use crate::testing::{disk, each, found_on, host_with_disk, rand_read};

    fn says(m: Measurement, memory: u64) -> Option<Severity> {
        let mut host = host_with_disk();
        host.memory.total_bytes = Probe::known(memory, "test");
        found_on(&host, &SmallFile, m, &[]).map(|f| f.severity)
    }

    fn unproved(cached: Option<f64>) -> Measurement {
        each(disk("seq_read", 4096, "cold"), |_, t| {
            t.device = None;
            t.file.as_mut().unwrap().cached = cached;
        })
    }

    #[test]
    fn a_small_file_that_nothing_proves_cold_is_suspect() {
        assert_eq!(says(unproved(None), 8 << 30), Some(Severity::Suspect));
        assert_eq!(says(unproved(Some(1.0)), 8 << 30), Some(Severity::Suspect));
    }

    #[test]
    fn what_proves_it_cold_leaves_a_note() {
        assert_eq!(says(unproved(Some(0.0)), 8 << 30), Some(Severity::Note));
        assert_eq!(says(disk("seq_read", 4096, "cold"), 8 << 30), Some(Severity::Note));
    }

    #[test]
    fn large_direct_and_written_files_are_silent() {
        assert_eq!(says(unproved(None), 512 << 20), None);
        assert_eq!(says(rand_read(1), 8 << 30), None);
        assert_eq!(says(disk("seq_write", 4096, "cold"), 8 << 30), None);
    }
}
