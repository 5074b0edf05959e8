//! `unwatched`: a disturbance that this system does not tell of.

use proofmark_model::{Conditions, Finding, Measurement, Severity};

use super::{Check, Class};
use crate::Context;
use crate::execution::Execution;

/// Whether a trial's conditions tell of something.
type Told = fn(&Conditions) -> bool;

/// What is read by pinned threads alone.
const CLOCK: &str = "the core clock";

/// What is watched.
const WATCHED: &[(&str, Told)] = &[
    (CLOCK, |c| c.clock_hz.is_some()),
    ("steal time", |c| c.steal_s.is_some()),
    ("other processes' CPU time", |c| c.other_cpu_s.is_some()),
    ("context switches", |c| c.involuntary_switches.is_some()),
    ("page faults", |c| c.minor_faults.is_some() && c.major_faults.is_some()),
    ("swapping", |c| c.swapped_pages.is_some()),
];

pub(super) static CHECK: Check = Check {
    id: "unwatched",
    class: Class::Context,
    title: "Disturbances that could not be observed",
    about: "The checks use figures that the kernel reports, and not every system reports all of them: \
         core clock, steal, other processes' CPU time, context switches, page faults, swapping, \
         and throttling in a cgroup. A note lists the figures that no trial has, since the checks \
         that need them are silent. The clock is not needed for a disk or a network.",
    examine,
    examine_reference: None,
};

fn examine(ctx: &Context, m: &Measurement) -> Option<Finding> {
    if m.trials.is_empty() {
        return None;
    }
    let nobody = |told: Told| !m.trials.iter().any(|t| told(&t.conditions));
    let matters = |name: &str| Execution::of(ctx, m).pinned || name != CLOCK;
    let watched = WATCHED.iter().filter(|(name, told)| matters(name) && nobody(*told));
    let mut missing: Vec<&str> = watched.map(|(name, _)| *name).collect();
    if !ctx.host.limits.cpu_stat.is_empty() && nobody(|c| c.throttled_s.is_some()) {
        missing.push("throttling");
    }
    if missing.is_empty() {
        return None;
    }
    let what = missing.join(", ");
    Some(
        Finding::new(
            CHECK.id,
            Severity::Note,
            format!("this system does not report: {what}"),
            "such a disturbance would go unnoticed; check /proc and /sys as this process sees \
             them",
        )
        .with("missing", what),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{each, flops, found_on, host_with_disk, rand_read, severity};

    #[test]
    fn what_no_trial_tells_of_is_named() {
        let m = each(flops(1), |_, t| t.conditions.steal_s = None);
        assert_eq!(severity(&CHECK, m), Some(Severity::Note));
        let m = each(flops(1), |_, t| t.conditions.clock_hz = None);
        assert_eq!(severity(&CHECK, m), Some(Severity::Note));
    }

    #[test]
    fn beside_a_disk_the_clock_does_not_matter() {
        let h = host_with_disk();
        assert!(rand_read(1).trials.iter().all(|t| t.conditions.clock_hz.is_none()));
        assert!(found_on(&h, &CHECK, rand_read(1), &[]).is_none());
        let m = each(rand_read(1), |_, t| t.conditions.steal_s = None);
        assert_eq!(found_on(&h, &CHECK, m, &[]).unwrap().evidence["missing"], "steal time");
    }

    #[test]
    fn what_one_trial_tells_of_is_watched() {
        assert_eq!(severity(&CHECK, flops(1)), None);
        let m = each(flops(1), |i, t| {
            if i > 0 {
                t.conditions.steal_s = None;
            }
        });
        assert_eq!(severity(&CHECK, m), None);
    }
}
