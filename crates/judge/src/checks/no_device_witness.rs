//! `no_device_witness`: nobody but the workload says that the disk was used.

use proofmark_model::{Finding, Measurement, Trial};

use super::{Check, Class};
use crate::Context;
use crate::disk::{measured, waits};
use crate::words::counted;

/// Share of the file in the page cache from which on a warm number needs no device.
const WARM: f64 = 0.95;

pub(super) static CHECK: Check = Check {
    id: "no_device_witness",
    class: Class::Claim,
    title: "No device counters",
    about: "Whether the trials have the counters of the block devices and the requested bytes of the \
         file. A trial without them is suspect: nothing independent shows that its bytes came from \
         or reached a disk. Reads from a warm cache need no device if at least 95 % of the file \
         was cached. Check why /proc/diskstats does not list the folder's device, or choose \
         another folder.",
    examine,
    examine_reference: None,
};

fn examine(ctx: &Context, m: &Measurement) -> Option<Finding> {
    if !measured(m) {
        return None;
    }
    let silent = |t: &&Trial| t.device.is_none() || t.file.is_none();
    let without = m.trials.iter().filter(silent).count();
    let in_memory = m
        .trials
        .iter()
        .all(|t| t.file.as_ref().and_then(|f| f.cached).is_some_and(|share| share >= WARM));
    let warm = !waits(m) && in_memory;
    if without == 0 || warm {
        return None;
    }
    let why = match ctx.host.storage.get() {
        None => "the device of the folder is unknown",
        Some(s) if s.devices.is_empty() => "the folder has no known block device",
        Some(_) => "the devices, or the file, did not report",
    };
    let message =
        format!("{without} of {} have no device counters: {why}", counted(m.trials.len(), "trial"));
    let advice = "check why /proc/diskstats does not list the folder's device, or choose \
                  another folder (--disk-path)";
    let finding = CHECK.suspect(message, advice);
    Some(finding.with("trials_without", without).with("trials", m.trials.len()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::*;

    #[test]
    fn a_trial_without_counters_is_suspect_unless_its_file_is_warm() {
        let host = with_storage(|s| s.devices.clear());
        let check = CHECK.on(&host, &[]);
        for m in [rand_read(1), disk("seq_read", 8, "cold"), fsync(1)] {
            let once = each(m.clone(), |i, t| t.device = t.device.take().filter(|_| i != 3));
            let never = each(m.clone(), |_, t| t.device = None);
            check.expect([("all", m, SILENT), ("one", once, SUSPECT), ("none", never, SUSPECT)]);
        }
        let warm = |cached: Option<f64>| {
            each(disk("seq_read", 8, "warm"), |_, t| {
                t.device = None;
                t.file.as_mut().unwrap().cached = cached;
            })
        };
        let written = each(disk("seq_write", 8, "warm"), |_, t| t.device = None);
        check.expect([
            ("nobody knows what was asked", each(rand_read(1), |_, t| t.file = None), SUSPECT),
            ("a warm file", warm(Some(1.0)), SILENT),
            ("half of it", warm(Some(0.5)), SUSPECT),
            ("not reported", warm(None), SUSPECT),
            ("warm writes", written, SUSPECT),
        ]);
    }
}
