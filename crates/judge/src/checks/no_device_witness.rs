//! `no_device_witness`: nobody but the workload says that the disk was used.

use proofmark_model::{Finding, Measurement, Severity, Trial};

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
    Some(
        Finding::new(CHECK.id, Severity::Suspect, message, advice)
            .with("trials_without", without)
            .with("trials", m.trials.len()),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{disk, each, found_on, fsync, rand_read, with_storage};

    fn says(m: Measurement) -> Option<Severity> {
        let host = with_storage(|s| s.devices.clear());
        found_on(&host, &CHECK, m, &[]).map(|f| f.severity)
    }

    #[test]
    fn a_trial_without_counters_is_suspect() {
        for m in [rand_read(1), disk("seq_read", 8, "cold"), fsync(1)] {
            assert_eq!(says(m.clone()), None);
            assert_eq!(says(each(m.clone(), |_, t| t.device = None)), Some(Severity::Suspect));
            let once = each(m, |i, t| {
                if i == 3 {
                    t.device = None;
                }
            });
            assert_eq!(says(once), Some(Severity::Suspect));
        }
        let unasked = each(rand_read(1), |_, t| t.file = None);
        assert_eq!(says(unasked), Some(Severity::Suspect));
    }

    #[test]
    fn a_warm_file_is_its_own_verification() {
        let warm = |cached: Option<f64>| {
            each(disk("seq_read", 8, "warm"), |_, t| {
                t.device = None;
                t.file.as_mut().unwrap().cached = cached;
            })
        };
        assert_eq!(says(warm(Some(1.0))), None);
        assert_eq!(says(warm(Some(0.5))), Some(Severity::Suspect));
        assert_eq!(says(warm(None)), Some(Severity::Suspect));
        let written = each(disk("seq_write", 8, "warm"), |_, t| t.device = None);
        assert_eq!(says(written), Some(Severity::Suspect));
    }
}
