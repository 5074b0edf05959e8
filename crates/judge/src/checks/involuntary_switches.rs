//! `involuntary_switches`: threads were taken off their CPUs against their will.

use proofmark_model::{Finding, Measurement, Severity};

use super::share::Share;
use super::{Check, found_before};
use crate::Context;
use crate::capacity::{Bound, Capacity};
use crate::execution::Execution;

/// Switches a second and CPU. Kernel threads alone (timers, read-copy-update,
/// writeback) make up to some 20; a process that competes all the time makes 100
/// and more, since the scheduler's slices are a few milliseconds long.
const THRESHOLD: f64 = 50.0;
/// Fewer than these are no rate: trials that last a tenth of a second in all meet some by
/// chance.
const LEAST: f64 = 8.0;

pub(super) struct InvoluntarySwitches;

impl Check for InvoluntarySwitches {
    fn id(&self) -> &'static str {
        "involuntary_switches"
    }

    fn title(&self) -> &'static str {
        "Threads taken off their CPUs"
    }

    fn about(&self) -> &'static str {
        "Involuntary context switches of the trial's threads, for each second and CPU. More than 50, and \
         at least 8 in all trials together, are suspect; a note where only the worst tenth of the trials \
         make it so: something else wanted the CPU, whether or not its time could be counted. Silent where the cause is known and stands in \
         another finding: threads that take turns on too few CPUs, a CPU quota, a competing process. Not \
         judged for a disk or a network, whose I/O the kernel's own threads carry on the same CPUs. Stop what else \
         runs, or give the run CPUs of its own."
    }

    fn examine(&self, ctx: &Context, m: &Measurement) -> Option<Finding> {
        let capacity = Capacity::of(ctx.host, m).ok()?;
        let explained = Execution::of(ctx, m).waits()
            || capacity.oversubscribed()
            || capacity.bound == Bound::Quota
            || found_before(m, "throttled", Severity::Note)
            || found_before(m, "other_cpu", Severity::Suspect);
        if explained {
            return None;
        }
        let share = Share::of(
            &m.trials,
            |t| t.conditions.involuntary_switches.map(|n| n as f64),
            |t| capacity.cpu_seconds(t),
        )
        .filter(|share| share.amount >= LEAST)?;
        let severity = share.severity(THRESHOLD)?;
        Some(
            Finding::new(
                self.id(),
                severity,
                format!(
                    "threads were taken off their CPUs {:.0} times a second and CPU",
                    share.all
                ),
                "stop what else runs on these CPUs, or give the run CPUs of its own",
            )
            .with("switches", share.amount)
            .with("per_cpu_second", share.all)
            .with("trials_affected", share.affected),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{each, flops, fsync, linpack, severity};

    fn switching(threads: u64, each_trial: u64) -> Measurement {
        each(flops(threads), |_, t| t.conditions.involuntary_switches = Some(each_trial))
    }

    #[test]
    fn many_switches_are_suspect() {
        assert_eq!(severity(&InvoluntarySwitches, switching(1, 15)), Some(Severity::Suspect));
    }

    #[test]
    fn housekeeping_is_silent() {
        assert_eq!(severity(&InvoluntarySwitches, switching(1, 2)), None);
        assert_eq!(severity(&InvoluntarySwitches, switching(2, 8)), None);
    }

    #[test]
    fn short_trials_meet_some_by_chance() {
        // 11.6 ms each: 5 in ten trials are 43 a second and 7 are 60.
        let meeting = |n: usize| {
            let m = linpack(1000, 1);
            each(m, |i, t| t.conditions.involuntary_switches = Some(u64::from(i < n)))
        };
        assert_eq!(severity(&InvoluntarySwitches, meeting(7)), None);
        assert_eq!(severity(&InvoluntarySwitches, meeting(9)), Some(Severity::Suspect));
    }

    #[test]
    fn known_causes_are_not_said_twice() {
        assert_eq!(severity(&InvoluntarySwitches, switching(8, 100)), None);
        let m = each(switching(1, 15), |_, t| t.conditions.other_cpu_s = Some(0.05));
        assert_eq!(severity(&InvoluntarySwitches, m), None);
        let m = each(switching(1, 15), |_, t| t.conditions.throttled_s = Some(0.05));
        assert_eq!(severity(&InvoluntarySwitches, m), None);
        let journal = each(fsync(1), |_, t| t.conditions.involuntary_switches = Some(400));
        assert_eq!(severity(&InvoluntarySwitches, journal), None);
    }
}
