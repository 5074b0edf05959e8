//! `small_file`: the file fits into the cache that it should defeat.

use proofmark_model::{Finding, Measurement, format_size};

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
    if !measured(m) || Cached::read(m) != Cached::Cold || !asks(m, Way::Read) {
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
    Some(CHECK.suspect(message, advice).with("file_bytes", file).with("memory_bytes", memory))
}

#[cfg(test)]
mod tests {
    use proofmark_model::Probe;

    use super::*;
    use crate::testing::*;

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
        CHECK.on(&host, &[]).expect([
            ("not reported", unproved(None), SUSPECT),
            ("cached", unproved(Some(1.0)), SUSPECT),
            ("evicted", unproved(Some(0.0)), SILENT),
            ("counted by the device", disk("seq_read", 4096, "cold"), SILENT),
            ("direct", rand_read(1), SILENT),
            ("written", disk("seq_write", 4096, "cold"), SILENT),
        ]);
        host.memory.total_bytes = Probe::known(512 << 20, "test");
        CHECK.on(&host, &[]).expect([("larger than the memory", unproved(None), SILENT)]);
    }
}
