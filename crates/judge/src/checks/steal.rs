//! `steal`: the hypervisor gave the CPU to somebody else.

use proofmark_model::{Finding, Measurement};

use super::share::Share;
use super::{Check, Class, percent};
use crate::Context;
use crate::capacity::Capacity;

/// Half of the target interval: less than this cannot move the median out of it.
const THRESHOLD: f64 = 0.01;

pub(super) static CHECK: Check = Check {
    id: "steal",
    class: Class::Disturbance,
    title: "Steal time",
    about: "Time that the hypervisor took from the trial's CPUs, over the CPU time of all trials \
         (wall time x CPUs used). More than 1 % is suspect; a note if only the worst tenth of the \
         trials exceeds it. The kernel counts in ticks of 10 ms, so the check uses the sum over \
         the trials, not one trial. Use a host with dedicated CPUs, or repeat when the host is \
         quiet.",
    examine,
    examine_reference: Some(examine),
};

fn examine(ctx: &Context, m: &Measurement) -> Option<Finding> {
    let capacity = Capacity::derive(ctx.host, m).ok()?;
    let share = Share::sum(&m.trials, |t| t.conditions.steal_s, |t| capacity.cpu_seconds(t))?;
    let severity = share.severity(THRESHOLD)?;
    let message = format!("the hypervisor took {} of the trials' CPU time", percent(share.all));
    let advice = "use a host with dedicated CPUs, or repeat when the host is quiet";
    let finding = CHECK.finding(severity, message, advice);
    Some(share.add_to(finding, "steal_s"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::*;

    #[test]
    fn stolen_time_is_suspect() {
        let stolen =
            |of: fn(usize) -> Option<f64>| each_condition(flops(1), |i, c| c.steal_s = of(i));
        let mut few = stolen(|i| Some(if i == 2 { 0.05 } else { 0.0 }));
        few.trials.truncate(3);
        CHECK.expect([
            ("all trials", stolen(|_| Some(0.003)), SUSPECT),
            ("in two trials", stolen(|i| Some(if i % 5 == 0 { 0.01 } else { 0.0 })), SUSPECT),
            ("one of few", few, SUSPECT),
            ("in ticks", stolen(|i| Some(if i % 4 == 0 { 0.01 } else { 0.0 })), SUSPECT),
            ("one trial", stolen(|i| Some(if i == 2 { 0.05 } else { 0.0 })), NOTE),
            ("little", stolen(|_| Some(0.0005)), SILENT),
            ("not reported", stolen(|_| None), SILENT),
        ]);
    }
}
