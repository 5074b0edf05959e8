//! The machine that this end runs on, as it reports it to the other.

use proofmark_model::ServerEnd;
use rustix::system::uname;
use rustix::time::{ClockId, clock_gettime};

use crate::VERSION;

/// This machine, as a server describes itself. A client compares: equal boot ids mean one kernel. The
/// processor is `None` where /proc/cpuinfo does not name it, as on many AArch64 machines; the boot
/// id where /proc does not report it. The CPUs are left to who supplies the [`crate::Work`].
pub fn this_host() -> ServerEnd {
    let uname = uname();
    let (system, release) = (uname.sysname(), uname.release());
    ServerEnd {
        name: uname.nodename().to_string_lossy().into_owned(),
        boot_id: boot_id(),
        cpu: read("/proc/cpuinfo").and_then(|t| model_name(&t)),
        cpus: Vec::new(),
        os: format!("{} {}", system.to_string_lossy(), release.to_string_lossy()),
        version: VERSION.to_owned(),
    }
}

/// Nanoseconds on CLOCK_MONOTONIC_RAW, which nobody sets: the same for all who run on one kernel.
pub fn raw_ns() -> u64 {
    let now = clock_gettime(ClockId::MonotonicRaw);
    now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64
}

/// The kernel's random id of this boot, where /proc has it.
pub fn boot_id() -> Option<String> {
    read("/proc/sys/kernel/random/boot_id").map(|text| text.trim().to_owned())
}

fn read(path: &str) -> Option<String> {
    std::fs::read_to_string(path).ok()
}

fn model_name(cpuinfo: &str) -> Option<String> {
    let line = cpuinfo.lines().find_map(|l| l.strip_prefix("model name"))?;
    let name = line.split_once(':')?.1.trim();
    (!name.is_empty()).then(|| name.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_processor_is_named_or_missing() {
        let text = "processor\t: 0\nmodel name\t: AMD EPYC 7763\nmodel name\t: other\n";
        assert_eq!(model_name(text).unwrap(), "AMD EPYC 7763");
        assert_eq!(model_name("processor\t: 0\nBogoMIPS\t: 48.00\n"), None);
        assert_eq!(model_name("model name\t: \n"), None);
    }
}
