//! Description of this machine for the other end.

use proofmark_model::ServerEnd;
use rustix::system::uname;
use rustix::time::{ClockId, clock_gettime};

use crate::VERSION;

/// Describes this machine as a server. Equal boot ids at both ends mean one kernel. The processor
/// is `None` if /proc/cpuinfo has no name, as on many AArch64 machines; likewise the boot id. The
/// [`crate::Work`] fills in the CPUs.
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

/// Returns CLOCK_MONOTONIC_RAW in nanoseconds: never set, and the same for all processes on one
/// kernel.
pub fn raw_ns() -> u64 {
    let now = clock_gettime(ClockId::MonotonicRaw);
    now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64
}

/// Returns the kernel's random id of this boot, if /proc has it.
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
