//! `unwatched`: a disturbance that this system does not report.

use proofmark_model::{Conditions, Finding, Measurement};

use super::{Check, Class};
use crate::Context;
use crate::execution::Execution;

/// Whether a trial's conditions report something.
type Reports = fn(&Conditions) -> bool;

/// What is read by pinned threads alone.
const CLOCK: &str = "the core clock";

const WATCHED: &[(&str, Reports)] = &[
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
    let nobody = |reports: Reports| !m.trials.iter().any(|t| reports(&t.conditions));
    let matters = |name: &str| Execution::derive(ctx, m).pinned || name != CLOCK;
    let watched = WATCHED.iter().filter(|(name, reports)| matters(name) && nobody(*reports));
    let mut missing: Vec<&str> = watched.map(|(name, _)| *name).collect();
    if !ctx.host.limits.cpu_stat.is_empty() && nobody(|c| c.throttled_s.is_some()) {
        missing.push("throttling");
    }
    if missing.is_empty() {
        return None;
    }
    let what = missing.join(", ");
    let message = format!("this system does not report: {what}");
    let advice = "such a disturbance would go unnoticed; check /proc and /sys as this process sees \
                  them";
    Some(CHECK.note(message, advice).with("missing", what))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::*;

    #[test]
    fn what_no_trial_reports_is_named() {
        let no_steal = |m| each_condition(m, |_, c| c.steal_s = None);
        let mut one_trial = no_steal(flops(1));
        one_trial.trials[0].conditions.steal_s = Some(0.0);
        let apart = with_param(tcp(1, "loopback"), "placement", "apart");
        CHECK.expect([
            ("steal", no_steal(flops(1)), NOTE),
            ("the clock", each_condition(flops(1), |_, c| c.clock_hz = None), NOTE),
            ("the clock of pinned streams", apart, NOTE),
            ("by one trial", one_trial, SILENT),
        ]);
        assert!(rand_read(1).trials.iter().all(|t| t.conditions.clock_hz.is_none()));
        assert_eq!(CHECK.found(no_steal(rand_read(1))).unwrap().evidence["missing"], "steal time");
    }
}
