//! `throttled`: the cgroup's quota held the process back.

use proofmark_model::{Finding, Measurement};

use super::share::Share;
use super::{Check, Class, percent, with_known};
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
    let capacity = Capacity::derive(ctx.host, m).ok()?;
    let share = Share::sum(&m.trials, |t| t.conditions.throttled_s, |t| capacity.cpu_seconds(t))?;
    let severity = share.severity(THRESHOLD)?;
    let who = match capacity.quota {
        Some(quota) => format!("a CPU quota of {}", counted(quota, "CPU")),
        None => "a CPU quota outside of this container".to_owned(),
    };
    let message =
        format!("{who} held the process back for {} of the trials' CPU time", percent(share.all));
    let advice =
        "raise the quota (cpu.max, or cpu.cfs_quota_us) or remove it, or use fewer threads";
    let finding = CHECK
        .finding(severity, message, advice)
        .with("throttled_s", share.amount)
        .with("share", share.all)
        .with("trials_affected", share.affected)
        .with("trials", share.trials);
    Some(with_known(finding, "quota_cpus", capacity.quota))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::*;

    #[test]
    fn a_quota_that_was_reached_is_named() {
        let held_for =
            |held: fn(usize) -> f64| each_condition(flops(1), |i, c| c.throttled_s = Some(held(i)));
        let h = with_quota(host(), 0.5);
        CHECK.on(&h, &[]).expect([("reached", held_for(|_| 0.05), suspect("0.5 CPUs"))]);
        let h = with_quota(host(), 1.5);
        CHECK.on(&h, &[]).expect([("never reached", flops(1), SILENT)]);
        CHECK.expect([("one hold", held_for(|i| if i == 0 { 0.02 } else { 0.0 }), NOTE)]);
    }
}
