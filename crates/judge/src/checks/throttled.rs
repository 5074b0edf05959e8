//! `throttled`: the cgroup's quota held the process back.

use proofmark_model::{Finding, Measurement};

use super::share::Share;
use super::{Check, Class, percent};
use crate::Context;
use crate::capacity::Capacity;
use crate::words::counted;

/// A cgroup that is throttled at all waits for the next period, mostly tens of
/// milliseconds; below this share it was one short hold in many trials.
const THRESHOLD: f64 = 0.005;

pub(super) static CHECK: Check = Check {
    id: "throttled",
    class: Class::Disturbance,
    title: "Throttled by a CPU quota",
    about: "Time that the cgroup's CPU quota held the process back (cpu.stat, both versions of \
         cgroups), over the CPU time of all trials. More than 0.5 % is suspect, and the quota is \
         named as the bottleneck except for a disk at its limit: the result is that of the quota, \
         not of the machine. A note if only the worst tenth of the trials exceeds it. Raise or \
         remove the quota, or use fewer threads.",
    examine,
    examine_reference: Some(examine),
};

fn examine(ctx: &Context, m: &Measurement) -> Option<Finding> {
    let capacity = Capacity::of(ctx.host, m).ok()?;
    let share = Share::of(&m.trials, |t| t.conditions.throttled_s, |t| capacity.cpu_seconds(t))?;
    let severity = share.severity(THRESHOLD)?;
    let who = match capacity.quota {
        Some(quota) => format!("a CPU quota of {}", counted(quota, "CPU")),
        None => "a CPU quota outside of this container".to_owned(),
    };
    let mut finding = Finding::new(
        CHECK.id,
        severity,
        format!("{who} held the process back for {} of the trials' CPU time", percent(share.all)),
        "raise the quota (cpu.max, or cpu.cfs_quota_us) or remove it, or use fewer threads",
    )
    .with("throttled_s", share.amount)
    .with("share", share.all)
    .with("trials_affected", share.affected)
    .with("trials", share.trials);
    if let Some(quota) = capacity.quota {
        finding = finding.with("quota_cpus", quota);
    }
    Some(finding)
}

#[cfg(test)]
mod tests {
    use proofmark_model::{CpuQuota, Probe, Severity};

    use super::*;
    use crate::testing::{each, flops, found_on, host, severity};

    #[test]
    fn a_quota_of_half_a_cpu_is_named() {
        let mut h = host();
        h.limits.cpu_quota = Probe::known(CpuQuota { cpus: Some(0.5) }, "cpu.max");
        let m = each(flops(1), |_, t| t.conditions.throttled_s = Some(0.05));
        let finding = found_on(&h, &CHECK, m, &[]).unwrap();
        assert_eq!(finding.severity, Severity::Suspect);
        assert!(finding.message.contains("0.5 CPUs"), "{}", finding.message);
    }

    #[test]
    fn a_quota_that_was_never_reached_is_silent() {
        let mut h = host();
        h.limits.cpu_quota = Probe::known(CpuQuota { cpus: Some(1.5) }, "cpu.max");
        assert!(found_on(&h, &CHECK, flops(1), &[]).is_none());
    }

    #[test]
    fn one_hold_in_many_trials_is_a_note() {
        let m = each(flops(1), |i, t| {
            t.conditions.throttled_s = Some(if i == 0 { 0.02 } else { 0.0 });
        });
        assert_eq!(severity(&CHECK, m), Some(Severity::Note));
    }
}
