//! `other_cpu`: another process ran on the trial's CPUs.

use proofmark_model::{Finding, Measurement};

use super::share::Share;
use super::{Check, percent};
use crate::Context;
use crate::capacity::Capacity;

/// The target interval: kernel housekeeping takes a tenth of this.
const THRESHOLD: f64 = 0.02;
/// On many CPUs one competitor is a small share of all their time and yet holds
/// back the thread that everybody waits for; a quarter of one CPU counts as such.
const THRESHOLD_OF_ONE_CPU: f64 = 0.25;
/// Where threads take turns, only the CPUs' own account tells what others took: it
/// goes by ticks of 10 ms and holds the run's own work between the trials too. A
/// busy competitor takes a third or more even from two threads.
const THRESHOLD_OVERSUBSCRIBED: f64 = 0.25;

pub(super) struct OtherCpu;

impl Check for OtherCpu {
    fn id(&self) -> &'static str {
        "other_cpu"
    }

    fn title(&self) -> &'static str {
        "Competing process"
    }

    fn about(&self) -> &'static str {
        "CPU time that other processes took on the trial's CPUs, over the CPU time of all trials. \
         More than 2 % of it, or than a quarter of one CPU, is suspect; a note where that is so only \
         with the worst tenth of the trials counted. With more threads than CPUs the account is \
         coarse, and the threshold is 25 %. Stop the other process, or give the run CPUs of its own."
    }

    fn examine(&self, ctx: &Context, m: &Measurement) -> Option<Finding> {
        let capacity = Capacity::of(ctx.host, m).ok()?;
        let cpus = capacity.threads.min(capacity.cpus) as f64;
        let threshold = if capacity.oversubscribed() {
            THRESHOLD_OVERSUBSCRIBED
        } else {
            THRESHOLD.min(THRESHOLD_OF_ONE_CPU / cpus)
        };
        let share =
            Share::of(&m.trials, |t| t.conditions.other_cpu_s, |t| capacity.cpu_seconds(t))?;
        let severity = share.severity(threshold)?;
        let finding = Finding::new(
            self.id(),
            severity,
            format!("a competing process took {} of the trials' CPU time", percent(share.all)),
            "stop what else runs (top shows it), or give the run CPUs of its own",
        );
        Some(share.told(finding, "other_cpu_s"))
    }
}

#[cfg(test)]
mod tests {
    use proofmark_model::Severity;

    use super::*;
    use crate::testing::{each, flops, found, found_on, host, severity};

    fn taking(threads: u64, seconds: f64) -> Measurement {
        each(flops(threads), |_, t| t.conditions.other_cpu_s = Some(seconds))
    }

    #[test]
    fn a_busy_neighbour_is_suspect_and_named() {
        let (severity, message) = found(&OtherCpu, taking(1, 0.05)).unwrap();
        assert_eq!(severity, Severity::Suspect);
        assert!(message.contains("competing process"));
    }

    #[test]
    fn housekeeping_is_silent_and_one_trial_a_note() {
        assert_eq!(severity(&OtherCpu, taking(1, 0.0005)), None);
        let one = each(flops(1), |i, t| {
            t.conditions.other_cpu_s = Some(if i == 5 { 0.06 } else { 0.0 });
        });
        assert_eq!(severity(&OtherCpu, one), Some(Severity::Note));
    }

    #[test]
    fn one_competitor_on_many_cpus_is_seen() {
        let mut h = host();
        h.limits.usable_cpus = (0..64).collect();
        h.limits.usable_cores = 64;
        // Half of one CPU of 64 is 0.8 % of their time.
        let finding = found_on(&h, &OtherCpu, taking(64, 0.05), &[]).unwrap();
        assert_eq!(finding.severity, Severity::Suspect);
    }

    #[test]
    fn threads_that_take_turns_are_no_competitor() {
        // Eight threads on two CPUs, 0.2 CPU-seconds a trial: a coarse account.
        assert_eq!(severity(&OtherCpu, taking(8, 0.03)), None);
        assert_eq!(severity(&OtherCpu, taking(8, 0.07)), Some(Severity::Suspect));
    }
}
