//! The conditions and the device traffic while another program runs.

use std::path::PathBuf;

use proofmark_model::{Conditions, DeviceTraffic};

use crate::conditions::{Sources, SystemCounters};
use crate::device::DeviceCounters;

/// Counters that were read before a program started.
#[derive(Debug)]
pub struct Watch {
    sources: Sources,
    system: SystemCounters,
    device: Option<DeviceCounters>,
}

impl Watch {
    /// Reads the counters of these CPUs, cpu.stat files, and block devices (named as in
    /// /proc/diskstats).
    pub fn begin(cpus: &[u32], cpu_stat: &[PathBuf], devices: &[String]) -> Self {
        let sources = Sources::new(cpus.to_vec(), cpu_stat.to_vec(), devices.to_vec());
        let system = SystemCounters::read(&sources);
        let device = DeviceCounters::read(devices);
        Self { sources, system, device }
    }

    /// Reads the counters again. The bytes that Linux attributes to this process are those of the
    /// children that it has waited for.
    pub fn end(self) -> (Conditions, Option<DeviceTraffic>) {
        let device = DeviceCounters::read(&self.sources.devices);
        let traffic = device.zip(self.device).and_then(|(later, earlier)| later.since(&earlier));
        let seen = SystemCounters::read(&self.sources).since(&self.system);
        (seen.conditions, traffic)
    }
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    #[test]
    fn what_a_child_wrote_is_counted() {
        let dir = tempfile::tempdir_in(env!("CARGO_MANIFEST_DIR")).unwrap();
        let stats = std::fs::read_to_string("/proc/diskstats").unwrap_or_default();
        let Some(device) = stats.lines().find_map(|l| l.split_ascii_whitespace().nth(2)) else {
            return; // A machine without block devices.
        };
        let watch = Watch::begin(&[0], &[], &[device.to_owned()]);
        let out = format!("of={}", dir.path().join("f").display());
        let args = ["if=/dev/urandom", "iflag=fullblock", "bs=1M", "count=4", "conv=fsync", &out];
        assert!(Command::new("dd").args(args).output().unwrap().status.success());
        let (conditions, traffic) = watch.end();
        assert!(conditions.steal_s.is_some() && conditions.clock_hz.is_none());
        if let Some(own) = traffic.unwrap().own_written_bytes {
            assert!(own >= 4 << 20, "{own}");
        }
    }
}
