//! `oversubscribed`: more threads than CPUs.
//!
//! A note, not suspect. The published experiments run 1, 2, 4 and 8 threads on
//! whatever there is, and what they then measure is what they name: the rate of 8
//! threads on 2 CPUs. The ceiling is that of the CPUs there are, so no gain is
//! pretended, and the label stands beside the number.

use proofmark_model::{Finding, Measurement, Severity};

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
    let capacity = Capacity::of(ctx.host, m).ok()?;
    if !capacity.oversubscribed() || m.trials.is_empty() {
        return None;
    }
    let execution = Execution::of(ctx, m);
    let waits = execution.waits() || !execution.pinned;
    if waits && cpu_share(ctx.host, m).is_none_or(|s| s < TURNS) {
        return None;
    }
    Some(
        Finding::new(
            CHECK.id,
            Severity::Note,
            format!("{} threads share {}", capacity.threads, counted(capacity.cpus, "usable CPU")),
            "use at most as many threads as CPUs to measure the machine",
        )
        .with("threads", capacity.threads)
        .with("usable_cpus", capacity.cpus),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{
        each, flops, found_on, fsync, host, host_with_network, judged, severity, tcp, told_so,
    };

    #[test]
    fn two_threads_on_one_cpu_are_labelled_and_have_its_ceiling() {
        let mut h = host();
        h.limits.usable_cpus = vec![0];
        h.limits.usable_cores = 1;
        let finding = found_on(&h, &CHECK, flops(2), &[]).unwrap();
        assert_eq!(finding.severity, Severity::Note);
        assert!(finding.message.ends_with("2 threads share 1 usable CPU"));
        let m = judged(&h, flops(2), &[]);
        assert_eq!(m.ceiling.unwrap().value, 64e9);
    }

    #[test]
    fn threads_that_wait_for_a_disk_take_no_turns() {
        assert_eq!(severity(&CHECK, fsync(8)), None);
        let busy = each(fsync(8), |_, t| t.conditions.own_cpu_s = Some(1.95 * t.seconds));
        assert_eq!(severity(&CHECK, busy), Some(Severity::Note));
    }

    #[test]
    fn both_ends_of_a_loopback_take_turns() {
        let using = |streams: u64, each_end: f64| {
            let m = told_so(tcp(streams, "loopback"), |n| {
                (n.client.own_cpu_s, n.server.own_cpu_s) = (Some(each_end), Some(each_end));
            });
            found_on(&host_with_network("loopback"), &CHECK, m, &[]).map(|f| f.message)
        };
        // A trial has 0.2 CPU-seconds.
        let message = using(4, 0.095).unwrap();
        assert!(message.ends_with("8 threads share 2 usable CPUs"), "{message}");
        assert!(using(4, 0.05).is_none() && using(1, 0.095).is_none());
    }

    #[test]
    fn a_thread_a_cpu_is_silent() {
        assert_eq!(severity(&CHECK, flops(2)), None);
        assert_eq!(severity(&CHECK, flops(3)), Some(Severity::Note));
    }
}
