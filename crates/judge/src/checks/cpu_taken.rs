//! Who took CPU time from the trials: `steal`, the hypervisor; `throttled`, the cgroup's quota;
//! `other_cpu`, another process.

use proofmark_model::{Cut, Finding, Measurement, Severity, Trial, check_id};

use super::loss::Loss;
use super::programs;
use super::quotas::others_ran_s;
use super::share::Share;
use super::weight::Weight;
use super::where_it_ran::shared_by_us;
use super::{Check, Class, Examine, found_before, percent, with_known, worst};
use crate::Context;
use crate::capacity::Capacity;
use crate::disk::{self, Way};
use crate::execution::{Execution, others};
use crate::network::over_loopback;
use crate::words::counted;

/// Less is noise of an account that goes by ticks of 10 ms: one tick in eight trials of 0.1 s.
const STOLEN: f64 = 0.01;

/// What taken CPU time weighs; nothing up to `seen`. Single operations wait for more than their own threads:
/// the trials without it show what it cost, if they are enough; else its share weighs, times its cost.
fn weighed(
    ctx: &Context,
    m: &Measurement,
    (share, seen): (&Share, f64),
    taken: impl Fn(&Trial) -> Option<f64>,
) -> Option<Severity> {
    share.severity(seen)?;
    let by_share = Weight::derive(m).taken(&share.times(cost_of_cpu_time(m)), seen)?;
    let single = ctx.work(m).cut() == Cut::Single;
    Some(Loss::shown(m, taken).filter(|_| single).unwrap_or(by_share))
}

pub(super) static STEAL: Check = Check {
    id: check_id::STEAL,
    class: Class::TAKEN_TIME,
    title: "Steal time",
    about: "Time that the hypervisor took from the trial's CPUs, over the CPU time of all trials \
         (wall time x CPUs used). More than 1 % is a note. The worst tenth of the trials is left out, \
         unless the figure is delivered, of which all count. For single operations the trials without it \
         decide, if there are at least 6; else the share is weighed times the cost that other_cpu names. \
         The kernel counts in ticks of 10 ms, so the check uses the sum over the trials, not one trial. Use \
         a host with dedicated CPUs, or repeat when the host is quiet.",
    examine: Examine::Both(steal),
};

fn steal(ctx: &Context, m: &Measurement) -> Option<Finding> {
    let capacity = Capacity::derive(ctx.host, m).ok()?;
    let share = Share::sum(&m.trials, |t| t.conditions.steal_s, |t| capacity.cpu_seconds(t))?;
    let weight = Weight::derive(m);
    let stolen = |t: &Trial| Some(t.conditions.steal_s? / capacity.cpu_seconds(t));
    let severity = weighed(ctx, m, (&share, STOLEN), stolen)?;
    let message = format!(
        "the hypervisor took {} of the trials' CPU time{}",
        percent(share.all),
        weight.ending()
    );
    let advice = "use a host with dedicated CPUs, or repeat when the host is quiet";
    let finding = STEAL.finding(severity, message, advice);
    Some(share.add_to(finding, "steal_s"))
}

/// A cgroup that is throttled at all waits for the next period, mostly tens of
/// milliseconds; below this share it was one short hold in many trials.
const HELD: f64 = 0.005;

pub(super) static THROTTLED: Check = Check {
    id: check_id::THROTTLED,
    class: Class::TAKEN_TIME,
    title: "Throttled by a CPU quota",
    about: "Time that the cgroup's CPU quota held the process back (cpu.stat, both versions of \
         cgroups), over the CPU time of all trials. More than 0.5 % is a note. The worst tenth of the \
         trials is left out, unless the figure is delivered, of which all count. If it is suspect, the \
         result is that of the quota, not of the machine, and the quota is named as the bottleneck except \
         for a disk at its limit. Raise or remove the quota, or use fewer threads.",
    examine: Examine::Both(throttled),
};

fn throttled(ctx: &Context, m: &Measurement) -> Option<Finding> {
    let capacity = Capacity::derive(ctx.host, m).ok()?;
    let share = Share::sum(&m.trials, |t| t.conditions.throttled_s, |t| capacity.cpu_seconds(t))?;
    let weight = Weight::derive(m);
    let severity = weight.taken(&share, HELD)?;
    let who = match capacity.quota {
        Some(quota) => format!("a CPU quota of {}", counted(quota, "CPU")),
        None => "a CPU quota outside of this container".to_owned(),
    };
    let message = format!(
        "{who} held the process back for {} of the trials' CPU time{}",
        percent(share.all),
        weight.ending()
    );
    let advice =
        "raise the quota (cpu.max, or cpu.cfs_quota_us) or remove it, or use fewer threads";
    let finding = THROTTLED
        .finding(severity, message, advice)
        .with("throttled_s", share.amount)
        .with("share", share.all)
        .with("trials_affected", share.affected)
        .with("trials", share.trials);
    let period_s = capacity.quota.map(|_| capacity.period_s);
    let finding = with_known(finding, "quota_period_s", period_s);
    Some(with_known(finding, "quota_cpus", capacity.quota))
}

/// CPU time that others take costs reads of a disk this multiple of its share: kernel threads that carry
/// the I/O wait too. Recorded: 20 % of the CPU time cost single reads 31 %.
const COST_OF_READS: f64 = 1.5;
/// The same of writes that are flushed at the end. Recorded: 11 % cost 37 %.
const COST_OF_WRITES: f64 = 3.0;
/// The same where two threads wait for each other: the ends of a loopback, a commit and the journal. Recorded over
/// loopback: 13 % cost 25 to 42 %, 29 % cost 38 to 58 %, 40 % cost 60 to 80 %; of commits: 15 and 30 % cost 37 %.
const COST_OF_HANDOVERS: f64 = 2.2;

fn cost_of_cpu_time(m: &Measurement) -> f64 {
    match m.subsystem.info().uses_block_devices {
        true if !disk::waits(m) => 1.0,
        true if disk::commits(m) => COST_OF_HANDOVERS,
        true if disk::asks(m, Way::Written) => COST_OF_WRITES,
        true => COST_OF_READS,
        _ if over_loopback(m) => COST_OF_HANDOVERS,
        _ => 1.0,
    }
}

/// Workload housekeeping takes a tenth of this.
const COMPETED: f64 = 0.02;
/// On many CPUs one competitor is a small share of all their time and yet holds
/// back the thread that everybody waits for; a quarter of one CPU counts as such.
const OF_ONE_CPU: f64 = 0.25;
/// Where threads take turns, only the CPUs' own account shows what others took: it
/// goes by ticks of 10 ms and holds the run's own work between the trials too; with a
/// network it holds what the kernel's own threads do for the packets. A busy competitor
/// takes a third or more even from two threads.
const ROUGH: f64 = 0.25;
/// Over loopback the account has both ends, and little else: quiet trials have 2.4 % at most, and
/// their threads wait for 6 % at most.
const OVER_LOOPBACK: f64 = 0.05;

/// Others' share of the CPU time that the threads of writes leave from which on no CPU is free. Recorded, of
/// commits: 70 % cost nothing; 97 %, by a loop for each CPU, between 6 % and 95 %, although the thread
/// itself waited for 2 %. Of other writes beside a compiler: 92 to 100 % cost 25 to 40 %.
const CROWDED: f64 = 0.9;

pub(super) static OTHER_CPU: Check = Check {
    id: check_id::OTHER_CPU,
    class: Class::TAKEN_TIME,
    title: "Competing process",
    about: "CPU time that other processes took on the trial's CPUs, over the CPU time of all trials. More \
         than 2 % of it, or a quarter of one CPU, is a note. The worst tenth of the trials is left out, \
         unless the figure is delivered, of which all count. With more threads than CPUs the account is \
         coarse, and the threshold is 25 %. For a disk, 50 us per I/O are subtracted for wake-ups, at most \
         2 %; with more threads than CPUs the check is silent, since the account includes kernel threads. \
         For a network the threshold is 25 %. Over loopback it is 5 %, and the check uses the time that all \
         CPUs were busy with neither end, if the run may use them all, or that its threads waited for a \
         CPU. The share is weighed times its measured cost: 1.5 for reads of a disk, 2.2 for commits and over \
         loopback, 3 for other writes. For single operations the trials without it decide, if there are at \
         least 6. Writes and commits are suspect if others keep all CPUs busy for more than 90 % of the \
         time. Where the system does not report throttling, a CPU quota may have taken the time too. Stop \
         the other process, or reserve CPUs for the run.",
    examine: Examine::Both(other_cpu),
};

fn other_cpu(ctx: &Context, m: &Measurement) -> Option<Finding> {
    let capacity = Capacity::derive(ctx.host, m).ok()?;
    worst([crowded(ctx, m, &capacity), took(ctx, m, &capacity)])
}

/// Others that kept all CPUs busy during writes. These wait for kernel threads, which need a free CPU.
fn crowded(ctx: &Context, m: &Measurement, capacity: &Capacity) -> Option<Finding> {
    let everywhere =
        ctx.host.cpu.logical_cpus.get().is_some_and(|n| u64::from(*n) == capacity.cpus);
    let writes = disk::measured(m) && disk::waits(m) && disk::asks(m, Way::Written);
    if !writes || capacity.oversubscribed() || !everywhere {
        return None;
    }
    let free = |t: &Trial| capacity.cpus as f64 * t.seconds - t.conditions.own_cpu_s.unwrap_or(0.0);
    let share = Share::sum(&m.trials, others_ran_s, free)?;
    let message = format!(
        "other processes kept all CPUs busy ({} of the time that this process left): writes may \
         have waited for kernel threads without a free CPU; the cost is unknown",
        percent(share.usual)
    );
    let advice =
        format!("stop other programs ({}), or reserve a CPU for the kernel", programs::who(ctx));
    let finding = || share.add_to(OTHER_CPU.suspect(message, advice), "others_ran_s");
    (share.usual > CROWDED).then(finding)
}

/// Others that took CPU time from the trial's threads.
fn took(ctx: &Context, m: &Measurement, capacity: &Capacity) -> Option<Finding> {
    let cpus = capacity.threads.min(capacity.cpus) as f64;
    let threshold = if over_loopback(m) {
        OVER_LOOPBACK
    } else if capacity.oversubscribed() || Execution::derive(ctx, m).rough_others {
        ROUGH
    } else {
        COMPETED.min(OF_ONE_CPU / cpus)
    };
    // Our own other thread is no competitor, nor is a quota.
    if found_before(m, check_id::HIDDEN_QUOTA, Severity::Suspect) {
        return None;
    }
    let taken = |t: &Trial| others(capacity, m, t).filter(|_| !shared_by_us(t));
    let share = Share::sum(&m.trials, taken, |t| capacity.cpu_seconds(t))?;
    let weight = Weight::derive(m);
    let of_trial = |t: &Trial| Some(taken(t)? / capacity.cpu_seconds(t));
    let severity = weighed(ctx, m, (&share, threshold), of_trial)?;
    // Where threads wait for each other, all lose what one loses.
    let together = !weight.removed() && ctx.work(m).cut() != Cut::Single;
    let severity = match together && share.usual * cpus > OF_ONE_CPU {
        true => Severity::Suspect,
        false => severity,
    };
    // A quota's pauses look like competition where no cpu.stat counts them.
    let may_be_quota = !capacity.oversubscribed()
        && !ctx.host.limits.has_no_cpu_quota()
        && m.trials.iter().any(|t| t.conditions.throttled_s.is_none());
    let (who, advice) = if may_be_quota {
        ("competing processes or a CPU quota", ", and check the container's CPU quota (cpu.max)")
    } else {
        ("a competing process", ", or reserve CPUs for the run")
    };
    let advice = format!("stop other programs ({}){advice}", programs::who(ctx));
    let message =
        format!("{who} took {} of the trials' CPU time{}", percent(share.all), weight.ending());
    let finding = OTHER_CPU.finding(severity, message, advice);
    Some(share.add_to(finding, "other_cpu_s"))
}

#[cfg(test)]
mod tests {
    use proofmark_model::{FigureKind, Host, Probe};

    use super::*;
    use crate::testing::*;

    /// The same with the median of complete solves put first.
    fn median_of(m: Measurement) -> Measurement {
        headed(m, FigureKind::Typical, 0.001)
    }

    #[test]
    fn stolen_time_is_suspect() {
        let stolen =
            |of: fn(usize) -> Option<f64>| each_condition(flops(1), |i, c| c.steal_s = of(i));
        let mut few = stolen(|i| Some(if i == 2 { 0.05 } else { 0.0 }));
        few.trials.truncate(3);
        STEAL.expect([
            ("all trials", stolen(|_| Some(0.003)), SUSPECT),
            ("in two trials", stolen(|i| Some(if i % 5 == 0 { 0.01 } else { 0.0 })), SUSPECT),
            ("one of few", few, SUSPECT),
            ("in ticks", stolen(|i| Some(if i % 4 == 0 { 0.01 } else { 0.0 })), SUSPECT),
            // Each trial is in all work over all time.
            ("one trial", stolen(|i| Some(if i == 2 { 0.05 } else { 0.0 })), SUSPECT),
            (
                "one trial, of a median",
                median_of(stolen(|i| Some(if i == 2 { 0.05 } else { 0.0 }))),
                NOTE,
            ),
            ("little", stolen(|_| Some(0.0005)), SILENT),
            ("not reported", stolen(|_| None), SILENT),
        ]);
    }

    #[test]
    fn a_quota_that_was_reached_is_named() {
        let held_for =
            |held: fn(usize) -> f64| each_condition(flops(1), |i, c| c.throttled_s = Some(held(i)));
        let h = with_quota(host(), 0.5);
        THROTTLED.on(&h, &[]).expect([("reached", held_for(|_| 0.05), suspect("0.5 CPUs"))]);
        let h = with_quota(host(), 1.5);
        THROTTLED.on(&h, &[]).expect([("never reached", flops(1), SILENT)]);
        let once = held_for(|i| if i == 0 { 0.02 } else { 0.0 });
        THROTTLED
            .expect([("one hold", once.clone(), SUSPECT), ("of a median", median_of(once), NOTE)]);
    }

    fn taking(m: Measurement, seconds: f64) -> Measurement {
        each_condition(m, |_, c| c.other_cpu_s = Some(seconds))
    }

    #[test]
    fn a_competitor_is_suspect_and_housekeeping_is_not() {
        let one = each_condition(flops(1), |i, c| {
            c.other_cpu_s = Some(if i == 5 { 0.06 } else { 0.0 });
        });
        OTHER_CPU.expect([
            ("a busy neighbour", taking(flops(1), 0.05), suspect("competing process")),
            ("housekeeping", taking(flops(1), 0.0005), SILENT),
            ("one trial", one.clone(), SUSPECT),
            ("one trial, of a median", median_of(one), NOTE),
            // Eight threads on two CPUs, 0.2 CPU-seconds a trial: a coarse account.
            ("threads that take turns", taking(flops(8), 0.03), SILENT),
            ("more than turns", taking(flops(8), 0.07), SUSPECT),
            // 1300 I/Os in a trial of 0.1 s.
            ("to be woken by a device", taking(rand_read(1), 0.003), SILENT),
            ("more than that", taking(rand_read(1), 0.015), NOTE),
            ("a fifth, which costs more than a quarter", taking(rand_read(1), 0.02), SUSPECT),
            ("of writes a tenth", taking(disk("rand_write", 4096, "none"), 0.017), SUSPECT),
            ("of writes less", taking(disk("rand_write", 4096, "none"), 0.008), NOTE),
            ("more than the tolerance", taking(rand_read(1), 0.06), SUSPECT),
            ("10 000 I/Os", taking(rand_read(32), 0.06), SUSPECT),
            ("threads that carry the I/O", taking(fsync(8), 0.19), SILENT),
        ]);
        let mut h = host();
        (h.limits.usable_cpus, h.limits.usable_cores) = ((0..64).collect(), 64);
        let m = taking(flops(64), 0.05);
        OTHER_CPU.on(&h, &[]).expect([("half of one CPU of 64, 0.8 % of their time", m, SUSPECT)]);
        let broken = each(rand_read(1), |_, t| t.seconds = f64::NAN);
        assert!(broken.trials.iter().all(|t| {
            others(&Capacity::derive(&host(), &broken).unwrap(), &broken, t).unwrap() >= 0.0
        }));
    }

    #[test]
    fn writes_while_no_cpu_is_free_are_suspect_although_their_thread_waits_little() {
        // Trials of 0.1 s on two CPUs, of which the thread itself uses 5 %.
        let busy = |m: Measurement, share: f64| {
            each(m, |_, t| {
                let own = 0.1 * t.seconds;
                let c = &mut t.conditions;
                (c.other_cpu_s, c.own_cpu_s) = (Some(0.0), Some(own));
                c.busy_cpu_s = Some(own + share * (2.0 * t.seconds - own));
            })
        };
        OTHER_CPU.expect([
            ("no CPU is free", busy(fsync(1), 0.97), suspect("kept all CPUs busy (97")),
            ("some are", busy(fsync(1), 0.7), SILENT),
            (
                "other writes",
                busy(disk("rand_write", 4096, "none"), 0.97),
                suspect("kept all CPUs"),
            ),
            ("no writes", busy(rand_read(1), 0.97), SILENT),
            ("its own threads", busy(fsync(8), 0.97), SILENT),
        ]);
        let mut more = host();
        more.cpu.logical_cpus = Probe::known(64, "test");
        OTHER_CPU.on(&more, &[]).expect([("others are free", busy(fsync(1), 0.97), SILENT)]);
    }

    #[test]
    fn the_other_end_of_a_loopback_is_no_competitor() {
        let busy = |s: f64| each_network(tcp(1, "loopback"), |n| n.client.busy_s = Some(s));
        let waiting = |streams: u64, here: f64, there: Option<f64>| {
            each_network(tcp(streams, "loopback"), |n| {
                (n.client.waiting_s, n.server.waiting_s) = (Some(here), there);
            })
        };
        OTHER_CPU.expect([
            // Both ends use 0.03 of the 0.2 CPU-seconds of a trial each.
            ("the other end", taking(tcp(1, "loopback"), 0.06), SILENT),
            ("hardly any", busy(0.06 + 0.009), SILENT),
            ("a tenth, which costs a fifth", busy(0.06 + 0.02), NOTE),
            ("15 %, which cost a third", busy(0.06 + 0.03), SUSPECT),
            // Each end waits for an eighth of 0.1 s.
            ("an end that waits", waiting(1, 0.0125, Some(0.0125)), SUSPECT),
            ("an end of which nothing is known", waiting(1, 0.0125, None), SUSPECT),
            ("one that waits and one that does not", waiting(1, 0.0125, Some(0.0)), NOTE),
            ("ends that wait for each other", waiting(4, 0.0125, Some(0.0125)), SILENT),
            ("a peer", taking(tcp(1, "peer"), 0.06), SUSPECT),
            ("the kernel's own threads", taking(tcp(1, "peer"), 0.02), SILENT),
        ]);
        let on = |change: fn(&mut Host), expected| {
            let mut host = host_with_network("loopback");
            change(&mut host);
            OTHER_CPU.on(&host, &[]).expect([("busy", busy(0.2), expected)]);
        };
        on(|h| h.limits.usable_cpus = vec![0], SILENT); // Busy elsewhere.
        on(|h| h.cpu.logical_cpus = Probe::known(64, "test"), SUSPECT); // On the run's own CPUs.
    }

    #[test]
    fn a_quota_that_cannot_be_read_is_not_called_a_process() {
        let mut host = host();
        let busy = each_condition(flops(1), |_, c| {
            (c.other_cpu_s, c.throttled_s) = (Some(0.05), None);
        });
        let said = |host: &Host| found_on(host, &OTHER_CPU, busy.clone(), &[]).unwrap().message;
        assert!(said(&host).starts_with("a competing process took"));
        host.limits.cgroups_to_top = false;
        assert!(said(&host).starts_with("competing processes or a CPU quota took"));
    }

    #[test]
    fn nobody_takes_more_than_there_is() {
        let busy = each_network(udp(1, "loopback"), |n| n.client.busy_s = Some(1.0));
        let finding = found_on(&host_with_network("loopback"), &OTHER_CPU, busy, &[]).unwrap();
        let share = finding.evidence["share"].as_f64().unwrap();
        assert!((0.9..=1.0).contains(&share), "0.2 CPU-seconds a trial: {share}");
    }
}
