//! `oversubscribed`: more threads than CPUs.
//!
//! A note, not suspect. The published experiments run 1, 2, 4 and 8 threads on
//! whatever there is, and what they then measure is what they name: the rate of 8
//! threads on 2 CPUs. The ceiling is that of the CPUs there are, so no gain is
//! pretended, and the label is next to the number.

use proofmark_model::{Finding, Measurement};

use super::{Check, Class};
use crate::Context;
use crate::capacity::Capacity;
use crate::execution::{Execution, cpu_share};
use crate::words::counted;

/// Threads that use less than this share of the CPUs' time wait for something else, a
/// device, and seldom for their turn.
const TURNS: f64 = 0.9;

pub(super) static CHECK: Check = Check {
    id: "oversubscribed",
    class: Class::Disturbance,
    title: "More threads than usable CPUs",
    about: "Usable CPUs are those in the affinity mask and the cpuset together. More threads than \
         usable CPUs share them: a note, since the result is correct for that many threads on that \
         many CPUs, and its ceiling counts the CPUs. Do not read it as the rate of a machine with \
         more CPUs. Over loopback the server's threads count too. Threads that wait for a disk or \
         a network, and use less than 90 % of the CPU time, are not noted.",
    examine,
    examine_reference: None,
};

fn examine(ctx: &Context, m: &Measurement) -> Option<Finding> {
    let capacity = Capacity::derive(ctx.host, m).ok()?;
    if !capacity.oversubscribed() || m.trials.is_empty() {
        return None;
    }
    let execution = Execution::derive(ctx, m);
    let waits = execution.waits() || !execution.pinned;
    if waits && cpu_share(ctx.host, m).is_none_or(|s| s < TURNS) {
        return None;
    }
    let message =
        format!("{} threads share {}", capacity.threads, counted(capacity.cpus, "usable CPU"));
    let advice = "use at most as many threads as CPUs to measure the machine";
    let finding = CHECK.note(message, advice);
    Some(finding.with("threads", capacity.threads).with("usable_cpus", capacity.cpus))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::*;

    #[test]
    fn threads_that_take_turns_are_labelled_and_those_that_wait_are_not() {
        let mut h = host();
        (h.limits.usable_cpus, h.limits.usable_cores) = (vec![0], 1);
        let expected = note("2 threads share 1 usable CPU$");
        CHECK.on(&h, &[]).expect([("two", flops(2), expected)]);
        assert_eq!(judged(&h, flops(2), &[]).ceiling.unwrap().value, 64e9);
        // A trial has 0.2 CPU-seconds.
        let busy = each_condition(fsync(8), |_, c| c.own_cpu_s = Some(1.95 * 0.1));
        let using = |streams: u64, each_end: f64| {
            each_network(tcp(streams, "loopback"), |n| {
                (n.client.own_cpu_s, n.server.own_cpu_s) = (Some(each_end), Some(each_end));
            })
        };
        CHECK.expect([
            ("three", flops(3), NOTE),
            ("busy", busy, NOTE),
            ("both ends", using(4, 0.095), note("8 threads share 2 usable CPUs$")),
            ("waiting for the other end", using(4, 0.05), SILENT),
            ("one stream", using(1, 0.095), SILENT),
        ]);
    }
}
