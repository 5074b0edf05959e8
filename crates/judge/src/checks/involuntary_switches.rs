//! `involuntary_switches`: threads were taken off their CPUs against their will.

use proofmark_model::{Finding, Measurement, Severity};

use super::share::Share;
use super::{Check, Class, found_before};
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

pub(super) static CHECK: Check = Check {
    id: "involuntary_switches",
    class: Class::Disturbance,
    title: "Involuntary context switches",
    about: "Involuntary context switches of the trial's threads, per second per CPU. More than 50, \
         and at least 8 in total, are suspect; a note if only the worst tenth of the trials causes \
         it. Another program wanted the CPU, whether or not its time could be counted. The check \
         is silent where another finding has the cause: more threads than CPUs, a CPU quota, a \
         competing process. It does not apply to a disk or a network, whose I/O runs in kernel \
         threads on the same CPUs. Stop other programs, or reserve CPUs for the run.",
    examine,
    examine_reference: None,
};

fn examine(ctx: &Context, m: &Measurement) -> Option<Finding> {
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
            CHECK.id,
            severity,
            format!("{:.0} involuntary context switches per second per CPU", share.all),
            "stop other programs on these CPUs, or reserve CPUs for the run",
        )
        .with("switches", share.amount)
        .with("per_cpu_second", share.all)
        .with("trials_affected", share.affected),
    )
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
        assert_eq!(severity(&CHECK, switching(1, 15)), Some(Severity::Suspect));
    }

    #[test]
    fn housekeeping_is_silent() {
        assert_eq!(severity(&CHECK, switching(1, 2)), None);
        assert_eq!(severity(&CHECK, switching(2, 8)), None);
    }

    #[test]
    fn short_trials_meet_some_by_chance() {
        // 11.6 ms each: 5 in ten trials are 43 a second and 7 are 60.
        let meeting = |n: usize| {
            let m = linpack(1000, 1);
            each(m, |i, t| t.conditions.involuntary_switches = Some(u64::from(i < n)))
        };
        assert_eq!(severity(&CHECK, meeting(7)), None);
        assert_eq!(severity(&CHECK, meeting(9)), Some(Severity::Suspect));
    }

    #[test]
    fn known_causes_are_not_said_twice() {
        assert_eq!(severity(&CHECK, switching(8, 100)), None);
        let m = each(switching(1, 15), |_, t| t.conditions.other_cpu_s = Some(0.05));
        assert_eq!(severity(&CHECK, m), None);
        let m = each(switching(1, 15), |_, t| t.conditions.throttled_s = Some(0.05));
        assert_eq!(severity(&CHECK, m), None);
        let journal = each(fsync(1), |_, t| t.conditions.involuntary_switches = Some(400));
        assert_eq!(severity(&CHECK, journal), None);
    }
}
