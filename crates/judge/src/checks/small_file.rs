//! `small_file`: the file fits into the cache that it should defeat.

use proofmark_model::{Finding, Measurement, Severity, format_size};

use super::{Check, Class};
use crate::Context;
use crate::disk::{Cached, EVICTED, Way, asks, files, measured};

pub(super) static CHECK: Check = Check {
    id: "small_file",
    class: Class::Claim,
    title: "File smaller than the memory",
    about: "Cold reads through the page cache of a file that fits into memory. Only the eviction \
         before each trial prevents the cache from serving them. Suspect where neither the \
         devices' counters nor the file's pages show the eviction; else page_cache examines them. \
         Direct I/O is not examined: this machine's memory does not serve it. The memory of a \
         virtual disk's host or a controller's cache may, and their sizes are unknown. Use a file \
         larger than the memory.",
    examine,
    examine_reference: Some(examine),
};

fn examine(ctx: &Context, m: &Measurement) -> Option<Finding> {
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
    if counted || evicted {
        return None;
    }
    let message = format!(
        "a file of {} fits into {} of memory, and nothing shows that it was not cached",
        format_size(file),
        format_size(memory)
    );
    let advice = "use a file larger than the memory, or direct I/O";
    Some(
        Finding::new(CHECK.id, Severity::Suspect, message, advice)
            .with("file_bytes", file)
            .with("memory_bytes", memory),
    )
}

#[cfg(test)]
mod tests {
    use proofmark_model::Probe;

    use super::*;
    use crate::testing::{disk, each, found_on, host_with_disk, rand_read};

    fn says(m: Measurement, memory: u64) -> Option<Severity> {
        let mut host = host_with_disk();
        host.memory.total_bytes = Probe::known(memory, "test");
        found_on(&host, &CHECK, m, &[]).map(|f| f.severity)
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
    fn what_is_proved_cold_is_not_judged_by_its_size() {
        assert_eq!(says(unproved(Some(0.0)), 8 << 30), None);
        assert_eq!(says(disk("seq_read", 4096, "cold"), 8 << 30), None);
    }

    #[test]
    fn large_direct_and_written_files_are_silent() {
        assert_eq!(says(unproved(None), 512 << 20), None);
        assert_eq!(says(rand_read(1), 8 << 30), None);
        assert_eq!(says(disk("seq_write", 4096, "cold"), 8 << 30), None);
    }
}
