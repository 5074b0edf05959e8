//! `migration`: a pinned thread ended on another CPU than it began.

use proofmark_model::{Finding, Measurement};

use super::share::Share;
use super::{Check, Class};
use crate::Context;
use crate::words::counted;

/// Threads are pinned, so that none should move.
const THRESHOLD: f64 = 0.0;

pub(super) static CHECK: Check = Check {
    id: "migration",
    class: Class::Disturbance,
    title: "Threads moved between CPUs",
    about: "proofmark pins each thread to one CPU. If a thread ends a trial on another CPU, pinning \
         is forbidden, or another program changed the mask; its caches and clock changed too. Any \
         migration is suspect; a note if only the worst tenth of the trials has any. Check what \
         manages CPU masks on this machine.",
    examine,
    examine_reference: None,
};

fn examine(_: &Context, m: &Measurement) -> Option<Finding> {
    let share = Share::sum(&m.trials, |t| t.conditions.migrations.map(|n| n as f64), |_| 1.0)?;
    let severity = share.severity(THRESHOLD)?;
    let (times, trials) = (counted(share.amount, "time"), counted(share.trials, "trial"));
    let message =
        format!("threads moved to another CPU {times}, in {} of {trials}", share.affected);
    let advice = "check what manages CPU masks here (a container runtime, irqbalance, numad), and \
                  whether pinning is allowed";
    let finding = CHECK.finding(severity, message, advice);
    Some(finding.with("migrations", share.amount).with("trials_affected", share.affected))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::*;

    #[test]
    fn migrations_are_suspect_and_one_is_a_note() {
        let moved = |of: fn(usize) -> bool| {
            each_condition(flops(2), |i, c| c.migrations = Some(u64::from(of(i))))
        };
        CHECK.expect([("some", moved(|i| i > 6), SUSPECT), ("one", moved(|i| i == 6), NOTE)]);
    }
}
