//! `other_cpu`: another process ran on the trial's CPUs.

use proofmark_model::{Finding, Measurement, Trial};

use super::share::Share;
use super::{Check, Class, percent};
use crate::Context;
use crate::capacity::Capacity;
use crate::execution::{Execution, others};

/// The target interval: workload housekeeping takes a tenth of this.
const THRESHOLD: f64 = 0.02;
/// On many CPUs one competitor is a small share of all their time and yet holds
/// back the thread that everybody waits for; a quarter of one CPU counts as such.
const THRESHOLD_OF_ONE_CPU: f64 = 0.25;
/// Where threads take turns, only the CPUs' own account tells what others took: it
/// goes by ticks of 10 ms and holds the run's own work between the trials too; beside a
/// network it holds what the kernel's own threads do for the packets. A busy competitor
/// takes a third or more even from two threads.
const THRESHOLD_ROUGH: f64 = 0.25;

pub(super) static CHECK: Check = Check {
    id: "other_cpu",
    class: Class::Disturbance,
    title: "Competing process",
    about: "CPU time that other processes took on the trial's CPUs, over the CPU time of all trials. \
         More than 2 % of it, or a quarter of one CPU, is suspect; a note if only the worst tenth \
         of the trials exceeds it. With more threads than CPUs the account is coarse, and the \
         threshold is 25 %. For a disk, 50 us per I/O are subtracted for wake-ups, at most 10 %; \
         with more threads than CPUs the check is silent, since the account includes kernel \
         threads. For a network the threshold is 25 %; over loopback the check uses the time that \
         all CPUs were busy with neither end, if the run may use them all. Stop the other process, \
         or reserve CPUs for the run.",
    examine,
    examine_reference: Some(examine),
};

fn examine(ctx: &Context, m: &Measurement) -> Option<Finding> {
    let capacity = Capacity::of(ctx.host, m).ok()?;
    let cpus = capacity.threads.min(capacity.cpus) as f64;
    let threshold = if capacity.oversubscribed() || Execution::of(ctx, m).rough_others {
        THRESHOLD_ROUGH
    } else {
        THRESHOLD.min(THRESHOLD_OF_ONE_CPU / cpus)
    };
    let taken = |t: &Trial| others(&capacity, m, t);
    let share = Share::of(&m.trials, taken, |t| capacity.cpu_seconds(t))?;
    let severity = share.severity(threshold)?;
    let finding = Finding::new(
        CHECK.id,
        severity,
        format!("a competing process took {} of the trials' CPU time", percent(share.all)),
        "stop other programs (top lists them), or reserve CPUs for the run",
    );
    Some(share.told(finding, "other_cpu_s"))
}

#[cfg(test)]
mod tests {
    use proofmark_model::Severity;

    use super::*;
    use crate::testing::{
        each, flops, found, found_on, fsync, host, rand_read, severity, tcp, told_so, udp,
    };

    #[test]
    fn the_other_end_of_a_loopback_is_no_competitor() {
        let on = |path: &str, m: Measurement| {
            let host = crate::testing::host_with_network(path);
            found_on(&host, &CHECK, m, &[]).map(|f| f.severity)
        };
        let waits = |m| each(m, |_, t| t.conditions.other_cpu_s = Some(0.06));
        // Both ends use 0.03 of the 0.2 CPU-seconds of a trial each.
        assert_eq!(on("loopback", waits(tcp(1, "loopback"))), None);
        let beside = |s: f64| {
            on("loopback", told_so(tcp(1, "loopback"), |n| n.client.busy_s = Some(0.06 + s)))
        };
        assert_eq!([beside(0.045), beside(0.055)], [None, Some(Severity::Suspect)]);
        assert_eq!(on("peer", waits(tcp(1, "peer"))), Some(Severity::Suspect));
        let some = each(tcp(1, "peer"), |_, t| t.conditions.other_cpu_s = Some(0.02));
        assert_eq!(on("peer", some), None, "the kernel's own threads");
        let mut narrow = crate::testing::host_with_network("loopback");
        narrow.limits.usable_cpus = vec![0];
        let busy = told_so(tcp(1, "loopback"), |n| n.client.busy_s = Some(0.2));
        assert!(found_on(&narrow, &CHECK, busy, &[]).is_none(), "busy elsewhere");
        let mut large = crate::testing::host_with_network("loopback");
        large.cpu.logical_cpus = proofmark_model::Probe::known(64, "test");
        let busy = told_so(tcp(1, "loopback"), |n| n.client.busy_s = Some(0.2));
        assert!(found_on(&large, &CHECK, busy, &[]).is_some(), "busy on the run's own CPUs");
    }

    #[test]
    fn nobody_takes_more_than_there_is() {
        let host = crate::testing::host_with_network("loopback");
        let busy = told_so(udp(1, "loopback"), |n| n.client.busy_s = Some(1.0));
        let finding = found_on(&host, &CHECK, busy, &[]).unwrap();
        let share = finding.evidence["share"].as_f64().unwrap();
        assert!((0.9..=1.0).contains(&share), "0.2 CPU-seconds a trial: {share}");
    }

    fn taking(threads: u64, seconds: f64) -> Measurement {
        each(flops(threads), |_, t| t.conditions.other_cpu_s = Some(seconds))
    }

    #[test]
    fn a_busy_neighbour_is_suspect_and_named() {
        let (severity, message) = found(&CHECK, taking(1, 0.05)).unwrap();
        assert_eq!(severity, Severity::Suspect);
        assert!(message.contains("competing process"));
    }

    #[test]
    fn to_be_woken_by_a_device_is_no_competitor() {
        let waiting = |m: Measurement, seconds: f64| {
            severity(&CHECK, each(m, |_, t| t.conditions.other_cpu_s = Some(seconds)))
        };
        // 1300 I/Os in a trial of 0.1 s.
        assert_eq!(waiting(rand_read(1), 0.005), None);
        assert_eq!(waiting(rand_read(1), 0.02), Some(Severity::Suspect));
        assert_eq!(waiting(rand_read(32), 0.02), Some(Severity::Suspect), "10 000 I/Os");
        assert_eq!(waiting(fsync(8), 0.19), None, "threads that carry the I/O");
        let broken = each(rand_read(1), |_, t| t.seconds = f64::NAN);
        assert!(broken.trials.iter().all(|t| {
            others(&Capacity::of(&host(), &broken).unwrap(), &broken, t).unwrap() >= 0.0
        }));
    }

    #[test]
    fn housekeeping_is_silent_and_one_trial_a_note() {
        assert_eq!(severity(&CHECK, taking(1, 0.0005)), None);
        let one = each(flops(1), |i, t| {
            t.conditions.other_cpu_s = Some(if i == 5 { 0.06 } else { 0.0 });
        });
        assert_eq!(severity(&CHECK, one), Some(Severity::Note));
    }

    #[test]
    fn one_competitor_on_many_cpus_is_seen() {
        let mut h = host();
        h.limits.usable_cpus = (0..64).collect();
        h.limits.usable_cores = 64;
        // Half of one CPU of 64 is 0.8 % of their time.
        let finding = found_on(&h, &CHECK, taking(64, 0.05), &[]).unwrap();
        assert_eq!(finding.severity, Severity::Suspect);
    }

    #[test]
    fn threads_that_take_turns_are_no_competitor() {
        // Eight threads on two CPUs, 0.2 CPU-seconds a trial: a coarse account.
        assert_eq!(severity(&CHECK, taking(8, 0.03)), None);
        assert_eq!(severity(&CHECK, taking(8, 0.07)), Some(Severity::Suspect));
    }
}
