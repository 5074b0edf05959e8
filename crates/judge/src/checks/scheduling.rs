//! Checks `oversubscribed`, `involuntary_switches` and `migration`: more threads than CPUs, threads
//! that were preempted often, or a pinned thread on another CPU.

use proofmark_model::{Finding, Measurement, Severity, check_id};

use super::share::{Share, worst_tenth};
use super::weight::Weight;
use super::{Check, Class, Examine, found_before};
use crate::Context;
use crate::capacity::{Bound, Capacity};
use crate::execution::{Execution, cpu_share};
use crate::words::counted;

/// Share of the CPUs' time below which threads wait for a device, seldom for a CPU.
const TURNS: f64 = 0.9;

pub(super) static OVERSUBSCRIBED: Check = Check {
    id: check_id::OVERSUBSCRIBED,
    class: Class::Context,
    title: "More threads than usable CPUs",
    about: "Usable CPUs are those in the affinity mask and the cpuset together. More threads than \
         usable CPUs share them: a note, since the result is correct for that many threads on that \
         many CPUs, and its ceiling counts the CPUs. Do not read it as the rate of a machine with \
         more CPUs. Over loopback the server's threads count too. Threads that wait for a disk or \
         a network, and use less than 90 % of the CPU time, are not noted.",
    examine: Examine::Ours(oversubscribed),
};

fn oversubscribed(ctx: &Context, m: &Measurement) -> Option<Finding> {
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
    let finding = OVERSUBSCRIBED.note(message, advice);
    Some(finding.with("threads", capacity.threads).with("usable_cpus", capacity.cpus))
}

/// Switches per second per CPU that are reported. Kernel threads alone (timers, read-copy-update,
/// writeback) cause up to some 20. A process that competes all the time causes 100 and more, since
/// the scheduler's slices are a few milliseconds long.
const OFTEN: f64 = 50.0;
/// Fewest switches that give a rate: short trials meet some by chance.
const FEWEST: f64 = 8.0;

/// Smallest cost of a switch in seconds where the lost time is not counted: a short slice of a
/// scheduler.
const SWITCH_S: f64 = 1e-3;

pub(super) static INVOLUNTARY_SWITCHES: Check = Check {
    id: check_id::INVOLUNTARY_SWITCHES,
    class: Class::TAKEN_TIME,
    title: "Involuntary context switches",
    about: concat!(
        "Counts involuntary context switches of the trial's threads, per second per CPU. More \
         than 50, and at least 8 in total, are a note: another program wanted the CPU, whether \
         or not its time could be counted. The CPU time that the threads lack is weighed; where \
         it is unknown, 1 ms per switch. ",
        worst_tenth!(),
        " The check is silent where another finding has the cause: more threads than CPUs, a CPU \
         quota, a competing process. It does not apply to a disk or a network, whose I/O runs \
         in kernel threads on the same CPUs. Stop other programs, or reserve CPUs for the run."
    ),
    examine: Examine::Ours(involuntary_switches),
};

fn involuntary_switches(ctx: &Context, m: &Measurement) -> Option<Finding> {
    let capacity = Capacity::derive(ctx.host, m).ok()?;
    let weight = Weight::derive(m);
    let explained = Execution::derive(ctx, m).waits()
        || capacity.oversubscribed()
        || capacity.bound == Bound::Quota
        || found_before(m, check_id::THROTTLED, Severity::Note)
        || found_before(
            m,
            check_id::OTHER_CPU,
            if weight.removed() { Severity::Note } else { Severity::Suspect },
        );
    if explained {
        return None;
    }
    let share = Share::sum(
        &m.trials,
        |t| t.conditions.involuntary_switches.map(|n| n as f64),
        |t| capacity.cpu_seconds(t),
    )
    .filter(|share| share.amount >= FEWEST)?;
    share.severity(OFTEN)?;
    let switches = weight.counted(&share);
    let severity = match switches > OFTEN {
        true => {
            let lacking = cpu_share(ctx.host, m).map(|own| 1.0 - own);
            weight.lost(lacking.unwrap_or(switches * SWITCH_S))
        }
        false => Severity::Note,
    };
    let message = format!(
        "{:.0} involuntary context switches per second per CPU{}",
        share.all,
        weight.ending()
    );
    let advice = "stop other programs on these CPUs, or reserve CPUs for the run";
    let finding =
        INVOLUNTARY_SWITCHES.finding(severity, message, advice).with("switches", share.amount);
    Some(finding.with("per_cpu_second", share.all).with("trials_affected", share.affected))
}

/// Tolerated migrations: none, since threads are pinned.
const MOVES: f64 = 0.0;

pub(super) static MIGRATION: Check = Check {
    id: "migration",
    class: Class::claim("a thread was not pinned all the time; where it ran meanwhile is unknown"),
    title: "Threads moved between CPUs",
    about: "proofmark pins each thread to one CPU. If a thread is on another CPU as a trial begins \
         or ends, pinning is forbidden, or another program changed the mask; its caches and clock \
         changed too. Any migration is suspect; a note if only the worst tenth of the trials has \
         any. Check what manages CPU masks on this machine.",
    examine: Examine::Ours(migration),
};

fn migration(ctx: &Context, m: &Measurement) -> Option<Finding> {
    if found_before(m, check_id::CPUS_LOST, Severity::Suspect) {
        return None;
    }
    let share = Share::sum(&m.trials, |t| t.conditions.migrations.map(|n| n as f64), |_| 1.0)?;
    let severity = share.severity(MOVES)?;
    let (times, trials) = (counted(share.amount, "time"), counted(share.trials, "trial"));
    let refused = ctx.host.limits.pinning.get() == Some(&false);
    let why = if refused { ": pinning is refused" } else { "" };
    let message =
        format!("threads moved to another CPU {times}, in {} of {trials}{why}", share.affected);
    let advice = if refused {
        "allow sched_setaffinity (a container's seccomp profile may refuse it)"
    } else {
        "check what manages CPU masks here (a container runtime, irqbalance, numad)"
    };
    let finding = MIGRATION.finding(severity, message, advice);
    Some(finding.with("migrations", share.amount).with("trials_affected", share.affected))
}

#[cfg(test)]
mod tests {
    use proofmark_model::Probe;

    use super::*;
    use crate::testing::*;

    #[test]
    fn threads_that_take_turns_are_labelled_and_those_that_wait_are_not() {
        let mut h = host();
        (h.limits.usable_cpus, h.limits.usable_cores) = (vec![0], 1);
        let expected = note("2 threads share 1 usable CPU$");
        OVERSUBSCRIBED.on(&h, &[]).expect([("two", flops(2), expected)]);
        assert_eq!(judged(&h, flops(2), &[]).ceiling.unwrap().value, 64e9);
        // A trial has 0.2 CPU-seconds.
        let busy = each_condition(fsync(8), |_, c| c.own_cpu_s = Some(1.95 * 0.1));
        let using = |streams: u64, each_end: f64| {
            each_network(tcp(streams, "loopback"), |n| {
                (n.client.own_cpu_s, n.server.own_cpu_s) = (Some(each_end), Some(each_end));
            })
        };
        OVERSUBSCRIBED.expect([
            ("three", flops(3), NOTE),
            ("busy", busy, NOTE),
            ("both ends", using(4, 0.095), note("8 threads share 2 usable CPUs$")),
            ("waiting for the other end", using(4, 0.05), SILENT),
            ("one stream", using(1, 0.095), SILENT),
        ]);
    }

    #[test]
    fn many_switches_are_suspect_unless_their_cause_is_known() {
        let switching = |m, n: u64| each_condition(m, |_, c| c.involuntary_switches = Some(n));
        // 11.6 ms each: 5 in ten trials are 43 a second and 7 are 60.
        let short = |n: usize| {
            each_condition(linpack(1000, 1), |i, c| c.involuntary_switches = Some(u64::from(i < n)))
        };
        let lacking = |m, own: fn(f64) -> Option<f64>| {
            each(m, |_, t| t.conditions.own_cpu_s = own(t.seconds))
        };
        let kept = switching(flops(1), 15);
        let many = lacking(kept.clone(), |s| Some(0.9 * s));
        let unknown = lacking(kept.clone(), |_| None);
        let other = each_condition(many.clone(), |_, c| c.other_cpu_s = Some(0.05));
        let throttled = each_condition(many.clone(), |_, c| c.throttled_s = Some(0.05));
        INVOLUNTARY_SWITCHES.expect([
            ("many", many, SUSPECT),
            ("no account of the CPU time", unknown, SUSPECT),
            ("nothing is lacking", kept, NOTE),
            ("housekeeping", switching(flops(1), 2), SILENT),
            ("on two CPUs", switching(flops(2), 8), SILENT),
            ("by chance in short trials", short(7), SILENT),
            ("more in short trials", lacking(short(9), |s| Some(0.9 * s)), SUSPECT),
            ("more threads than CPUs", switching(flops(8), 100), SILENT),
            ("a competitor", other, SILENT),
            ("a quota", throttled, SILENT),
            ("the journal of a disk", switching(fsync(1), 400), SILENT),
        ]);
    }

    #[test]
    fn migrations_are_suspect_and_one_is_a_note() {
        let moved = |value: fn(usize) -> bool| {
            each_condition(flops(2), |i, c| c.migrations = Some(u64::from(value(i))))
        };
        MIGRATION.expect([("some", moved(|i| i > 6), SUSPECT), ("one", moved(|i| i == 6), NOTE)]);
        let mut refusing = host();
        refusing.limits.pinning = Probe::known(false, "test");
        let expected = suspect(": pinning is refused$");
        MIGRATION.on(&refusing, &[]).expect([("refused", moved(|i| i > 6), expected)]);
    }
}
