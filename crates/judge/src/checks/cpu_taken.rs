//! Checks `steal`, `throttled` and `other_cpu`: CPU time that the hypervisor, a CPU quota or
//! another process took from the trials.

use proofmark_model::{CpuQuota, Cut, Finding, Measurement, Severity, Trial, check_id};

use super::cost::cost_of_cpu_time;
use super::cpus_lost::shared_by_us;
use super::loss::Loss;
use super::programs;
use super::quotas::{TICK_S, others_ran_s};
use super::share::{Share, worst_tenth};
use super::weight::Weight;
use super::{Check, Class, Examine, found_before, percent, with_known, worst};
use crate::Context;
use crate::capacity::Capacity;
use crate::disk::{self, Way};
use crate::execution::{Execution, others};
use crate::network::over_loopback;
use crate::statistics::median_over;
use crate::words::counted;

/// Share of stolen time that is noise: the account has ticks of 10 ms, and this is one tick in
/// eight trials of 0.1 s.
const STOLEN: f64 = 0.01;

/// Weighs the share of taken CPU time; `None` up to `seen`. Single operations wait for more than
/// their own threads. If enough trials lost nothing, they show the cost, else the share times its
/// measured cost does.
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
    about: concat!(
        "Compares the time that the hypervisor took from the trial's CPUs with the CPU time of \
         all trials (wall time x CPUs used). More than 1 % is a note. ",
        worst_tenth!(),
        " For single operations the trials without it decide, if there are at least 6; else the \
         share is weighed times the cost that other_cpu names. The kernel counts in ticks of 10 \
         ms, so the check uses the sum over the trials, and one tick in all shows nothing. Use \
         a host with dedicated CPUs, or repeat when the host is quiet."
    ),
    examine: Examine::Both(steal),
};

fn steal(ctx: &Context, m: &Measurement) -> Option<Finding> {
    let capacity = Capacity::derive(ctx.host, m).ok()?;
    let share = Share::sum(&m.trials, |t| t.conditions.steal_s, |t| capacity.cpu_seconds(t))?;
    if share.amount <= TICK_S {
        return None; // The tick may have begun before short trials.
    }
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

/// Share of throttled time up to which a quota stopped the process once in many trials. A throttled
/// cgroup waits for the next period, mostly tens of milliseconds.
const THROTTLED_ONCE: f64 = 0.005;

/// Returns true if the trials are long enough for a known quota to decide the rate: the figure is then
/// that under the limit.
fn is_under_limit(m: &Measurement, capacity: &Capacity) -> bool {
    let seconds = median_over(&m.trials, |t| Some(t.seconds));
    let least = CpuQuota::PERIODS * capacity.period_s;
    capacity.quota.is_some() && seconds.is_some_and(|s| s >= least)
}

pub(super) static THROTTLED: Check = Check {
    id: check_id::THROTTLED,
    class: Class::TAKEN_TIME,
    title: "Throttled by a CPU quota",
    about: concat!(
        "Compares the time that the cgroup's CPU quota throttled the process (cpu.stat, both \
         versions of cgroups) with the CPU time of all trials. More than 0.5 % is a note. ",
        worst_tenth!(),
        " It is a note, too, where the figure is that under the quota: the quota is known, and a trial \
         of the delivered figure lasts five periods or longer. Shorter trials may be those of a rested \
         quota. The quota is the bottleneck of a delivered figure, except for a disk at its limit. \
         Compare with machines under the same quota, raise or remove it, or use fewer threads."
    ),
    examine: Examine::Both(throttled),
};

fn throttled(ctx: &Context, m: &Measurement) -> Option<Finding> {
    let capacity = Capacity::derive(ctx.host, m).ok()?;
    let share = Share::sum(&m.trials, |t| t.conditions.throttled_s, |t| capacity.cpu_seconds(t))?;
    let weight = Weight::derive(m);
    let (severity, ending) = match weight.taken(&share, THROTTLED_ONCE)? {
        Severity::Suspect if is_under_limit(m, &capacity) => {
            (Severity::Note, "; the figure is that under the quota")
        }
        severity => (severity, weight.ending()),
    };
    let who = match capacity.quota {
        Some(quota) => format!("a CPU quota of {}", counted(quota, "CPU")),
        None if ctx.host.limits.has_no_cpu_quota() => {
            "a CPU quota that was set during the run".to_owned()
        }
        None => "a CPU quota outside of this container".to_owned(),
    };
    let message = format!(
        "{who} throttled the process for {} of the trials' CPU time{}",
        percent(share.all),
        ending
    );
    let advice = "compare it with machines under the same quota; else raise the quota (cpu.max, or \
                  cpu.cfs_quota_us) or remove it, or use fewer threads";
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

/// Share of CPU time from which another process competes. The housekeeping of a workload takes a
/// tenth of this.
const COMPETED: f64 = 0.02;
/// Share of one CPU from which another process competes. On many CPUs it is a small share of all
/// their time, but slows the thread that all others wait for.
const OF_ONE_CPU: f64 = 0.25;
/// Threshold where threads take turns, and only the CPUs' account shows what others took. That
/// account has ticks of 10 ms. It includes the run's own work between the trials, and with a
/// network the kernel threads that handle packets. A busy competitor takes a third or more even
/// from two threads.
const ROUGH: f64 = 0.25;
/// Threshold over loopback, where the account has both ends and little else. In quiet trials it has
/// 2.4 % at most, and their threads wait for 6 % at most.
const OVER_LOOPBACK: f64 = 0.05;

/// Share of the CPU time left by writing threads that others use when no CPU is free. Recorded for
/// commits: 70 % cost nothing. A loop for each CPU (97 %) cost between 6 % and 95 %, although the
/// thread itself waited for 2 %. Recorded for other writes, with a compiler: 92 to 100 % cost 25 to
/// 40 %.
const CROWDED: f64 = 0.9;

pub(super) static OTHER_CPU: Check = Check {
    id: check_id::OTHER_CPU,
    class: Class::TAKEN_TIME,
    title: "Competing process",
    about: concat!(
        "Compares the CPU time that other processes took on the trial's CPUs with the CPU time \
         of all trials. More than 2 % of it, or a quarter of one CPU, is a note. ",
        worst_tenth!(),
        " With more threads than CPUs the account is rough, and the threshold is 25 %. For a \
         disk, 50 us per I/O are subtracted for wake-ups, at most 2 %; with more threads than \
         CPUs the check is silent, since the account includes kernel threads. For a network the \
         threshold is 25 %. Over loopback it is 5 %. There the check uses the time that all \
         CPUs were busy with neither end, if the run may use them all, or the threads' wait for \
         a CPU. The share is weighed times its measured cost: 1.5 for reads of a disk, 2.2 for \
         commits and over loopback, 3 for other writes. For single operations the trials \
         without it decide, if there are at least 6. Writes and commits are suspect if others \
         keep all CPUs busy for more than 90 % of the time. Where the system does not report \
         throttling, a CPU quota may have taken the time too. Stop the other process, or \
         reserve CPUs for the run."
    ),
    examine: Examine::Both(other_cpu),
};

fn other_cpu(ctx: &Context, m: &Measurement) -> Option<Finding> {
    let capacity = Capacity::derive(ctx.host, m).ok()?;
    worst([crowded(ctx, m, &capacity), took(ctx, m, &capacity)])
}

/// Reports others that kept all CPUs busy during writes, which wait for kernel threads that need a
/// free CPU.
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
    let advice = format!(
        "stop other programs ({}), or reserve a CPU for the kernel",
        programs::cpu_users(ctx)
    );
    let finding = || share.add_to(OTHER_CPU.suspect(message, advice), "others_ran_s");
    (share.usual > CROWDED).then(finding)
}

/// Reports others that took CPU time from the trial's threads.
fn took(ctx: &Context, m: &Measurement, capacity: &Capacity) -> Option<Finding> {
    let cpus = capacity.threads.min(capacity.cpus) as f64;
    let threshold = if over_loopback(m) {
        OVER_LOOPBACK
    } else if capacity.oversubscribed() || Execution::derive(ctx, m).rough_others {
        ROUGH
    } else {
        COMPETED.min(OF_ONE_CPU / cpus)
    };
    // A second thread of our own is no competitor, and neither is a quota.
    if found_before(m, check_id::HIDDEN_QUOTA, Severity::Suspect) {
        return None;
    }
    let taken = |t: &Trial| others(capacity, m, t).filter(|_| !shared_by_us(t));
    let share = Share::sum(&m.trials, taken, |t| capacity.cpu_seconds(t))?;
    let weight = Weight::derive(m);
    let of_trial = |t: &Trial| Some(taken(t)? / capacity.cpu_seconds(t));
    let severity = weighed(ctx, m, (&share, threshold), of_trial)?;
    // If threads wait for each other, all of them lose the time that one loses.
    let together = !weight.removed() && ctx.work(m).cut() != Cut::Single;
    let severity = match together && weight.counted(&share) * cpus > OF_ONE_CPU {
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
    let advice = format!("stop other programs ({}){advice}", programs::cpu_users(ctx));
    let message =
        format!("{who} took {} of the trials' CPU time{}", percent(share.all), weight.ending());
    let finding = OTHER_CPU.finding(severity, message, advice);
    Some(share.add_to(finding, "other_cpu_s"))
}

#[cfg(test)]
mod tests;
