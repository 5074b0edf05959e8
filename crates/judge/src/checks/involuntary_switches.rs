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
    let capacity = Capacity::derive(ctx.host, m).ok()?;
    let explained = Execution::derive(ctx, m).waits()
        || capacity.oversubscribed()
        || capacity.bound == Bound::Quota
        || found_before(m, "throttled", Severity::Note)
        || found_before(m, "other_cpu", Severity::Suspect);
    if explained {
        return None;
    }
    let share = Share::sum(
        &m.trials,
        |t| t.conditions.involuntary_switches.map(|n| n as f64),
        |t| capacity.cpu_seconds(t),
    )
    .filter(|share| share.amount >= LEAST)?;
    let severity = share.severity(THRESHOLD)?;
    let message = format!("{:.0} involuntary context switches per second per CPU", share.all);
    let advice = "stop other programs on these CPUs, or reserve CPUs for the run";
    let finding = CHECK.finding(severity, message, advice).with("switches", share.amount);
    Some(finding.with("per_cpu_second", share.all).with("trials_affected", share.affected))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::*;

    #[test]
    fn many_switches_are_suspect_unless_their_cause_is_known() {
        let switching = |m, n: u64| each_condition(m, |_, c| c.involuntary_switches = Some(n));
        // 11.6 ms each: 5 in ten trials are 43 a second and 7 are 60.
        let short = |n: usize| {
            each_condition(linpack(1000, 1), |i, c| c.involuntary_switches = Some(u64::from(i < n)))
        };
        let many = switching(flops(1), 15);
        let other = each_condition(many.clone(), |_, c| c.other_cpu_s = Some(0.05));
        let throttled = each_condition(many.clone(), |_, c| c.throttled_s = Some(0.05));
        CHECK.expect([
            ("many", many, SUSPECT),
            ("housekeeping", switching(flops(1), 2), SILENT),
            ("on two CPUs", switching(flops(2), 8), SILENT),
            ("by chance in short trials", short(7), SILENT),
            ("more in short trials", short(9), SUSPECT),
            ("more threads than CPUs", switching(flops(8), 100), SILENT),
            ("a competitor", other, SILENT),
            ("a quota", throttled, SILENT),
            ("the journal of a disk", switching(fsync(1), 400), SILENT),
        ]);
    }
}
