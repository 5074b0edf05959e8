//! Checks `quota_changed`, `derived`, `hidden_quota` and `server_held`: a quota that changed, a
//! figure derived under one, an unreadable quota, and a server that lost CPU time.

use std::collections::BTreeMap;

use proofmark_model::{
    End, EndTraffic, Finding, Measurement, QuotaTrial, Severity, Trial, check_id,
};

use super::cpus_lost::shared_by_us;
use super::share::Share;
use super::weight::Weight;
use super::{Check, Class, Examine, percent, with_known};
use crate::Context;
use crate::capacity::Capacity;
use crate::network::over_loopback;
use crate::words::counted;

pub(super) static QUOTA_CHANGED: Check = Check {
    id: "quota_changed",
    class: Class::CHANGE,
    title: "The CPU quota changed",
    about: "Reads the tightest CPU quota (cpu.max) before and after each trial. If it changed, \
         delivered mixes several limits: suspect where a quota limited a trial, else a note. Leave \
         the quota alone while the run measures.",
    examine: Examine::Ours(quota_changed),
};

fn quota_changed(_: &Context, m: &Measurement) -> Option<Finding> {
    // A trial that reports no quota had none, if other trials report one.
    m.trials.iter().find(|t| t.quota.is_some())?;
    let mut trials_by_quota: BTreeMap<String, usize> = BTreeMap::new();
    for t in &m.trials {
        let q = t.quota.unwrap_or_default();
        let words = match q.has_changed() {
            true => format!("{} and then {}", q.before.words(), q.after.words()),
            false => q.before.words(),
        };
        *trials_by_quota.entry(words).or_default() += 1;
    }
    if trials_by_quota.len() < 2
        && !m.trials.iter().any(|t| t.quota.is_some_and(|q| q.has_changed()))
    {
        return None;
    }
    let parts: Vec<String> = trials_by_quota
        .iter()
        .map(|(words, n)| format!("{words} in {}", counted(*n, "trial")))
        .collect();
    let message = format!("the CPU quota changed while this was measured: {}", parts.join("; "));
    let limited = m.trials.iter().any(|t| t.quota.as_ref().is_some_and(QuotaTrial::is_limited));
    let severity = if limited { Severity::Suspect } else { Severity::Note };
    let advice = "leave the quota (cpu.max, cpu.cfs_quota_us) alone while the run measures";
    Some(QUOTA_CHANGED.finding(severity, message, advice).with("quotas", trials_by_quota.len()))
}

pub(super) static DERIVED: Check = Check {
    id: "derived",
    class: Class::Context,
    title: "The delivered figure is derived",
    about: "Under a CPU quota a round shows the delivered figure if it lasts five whole periods or \
         more. Where the time did not allow that, delivered is derived: the rate while the load \
         ran x its share of the CPU time over two periods or more. A note, since it is no \
         independent count of work. Raise --budget, or measure fewer configurations.",
    examine: Examine::Ours(derived),
};

fn derived(_: &Context, m: &Measurement) -> Option<Finding> {
    let how = m.summary.as_ref()?.delivered.derived.as_ref()?;
    let advice = "raise --budget, or measure fewer configurations";
    Some(DERIVED.note(format!("the delivered figure is derived: {how}"), advice))
}

/// Smallest share of the CPU time for which threads waited while their CPUs were idle.
const WAITED: f64 = 0.05;

/// Smallest part of the waiting time during which the CPUs were idle.
const IDLE_PART: f64 = 0.5;

pub(super) static HIDDEN_QUOTA: Check = Check {
    id: check_id::HIDDEN_QUOTA,
    class: Class::DISTURBANCE,
    title: "A CPU quota that cannot be read",
    about: "Compares how long pinned threads waited for a CPU (run delay) with how long anything \
         else ran there (/proc/stat). If they waited more than 5 % of the time, and no program \
         used most of it, the result is suspect. A quota that this container cannot see stops \
         them, or its /proc/stat does not show the other programs. /proc/stat counts in ticks of \
         10 ms, so of each trial only the wait above one tick per CPU counts. Silent where all \
         cgroups up to the top are visible and none has a quota. The rounds do not match the \
         periods of a hidden quota. Ask who runs the container for its quota, or make the cgroup \
         visible.",
    examine: Examine::Ours(hidden_quota),
};

fn hidden_quota(ctx: &Context, m: &Measurement) -> Option<Finding> {
    let capacity = Capacity::derive(ctx.host, m).ok()?;
    let is_visible = m.trials.iter().any(|t| t.quota.is_some_and(|q| q.is_limited()));
    let is_absent = ctx.host.limits.has_no_cpu_quota();
    if is_absent || capacity.oversubscribed() || is_visible || !m.subsystem.info().pins_threads {
        return None;
    }
    let idle = |t: &Trial| Some((t.conditions.other_cpu_s? - others_ran_s(t)?).max(0.0));
    let ticks_s = TICK_S * capacity.threads.min(capacity.cpus) as f64;
    let certain = |t: &Trial| Some((idle(t)? - ticks_s).max(0.0));
    let share = |amount: &dyn Fn(&Trial) -> Option<f64>| {
        Share::sum(&m.trials, amount, |t| capacity.cpu_seconds(t))
    };
    let waited = share(&|t| t.conditions.other_cpu_s)?;
    let idle = share(&|t| idle(t).filter(|_| !shared_by_us(t)))?;
    let certain = share(&|t| certain(t).filter(|_| !shared_by_us(t)))?;
    if certain.all < WAITED || idle.all < IDLE_PART * waited.all {
        return None;
    }
    let message = format!(
        "threads waited for a CPU for {} of the trials' CPU time although /proc/stat shows these CPUs idle: a CPU \
         quota that cannot be read here, or processes that this container does not show",
        percent(idle.all)
    );
    let advice = "ask who runs the container for its CPU quota, or make the cgroup visible";
    Some(idle.add_to(HIDDEN_QUOTA.suspect(message, advice), "idle_s"))
}

/// Resolution of /proc/stat, for each CPU.
pub(super) const TICK_S: f64 = 0.01;

/// CPU time of anything but the trial on its CPUs, in ticks of 10 ms.
pub(super) fn others_ran_s(t: &Trial) -> Option<f64> {
    Some((t.conditions.busy_cpu_s? - t.conditions.own_cpu_s?).max(0.0))
}

/// Seconds of one kind that the system of an end counts.
type Seconds = fn(&EndTraffic) -> Option<f64>;

/// Share of the server's time that is reported.
const LOST: f64 = 0.01;

pub(super) static SERVER_HELD: Check = Check {
    id: "server_held",
    class: Class::DISTURBANCE,
    title: "The server lost CPU time",
    about: "Applies to networks with a server on another machine. The check compares three times \
         with the trials' time: that a CPU quota throttled the server, that its threads waited for \
         a CPU, and that a hypervisor took from its CPUs. More than 1 % is a note. It is weighed over \
         all trials, as delivered counts all. Give the server a quiet machine without a CPU \
         quota.",
    examine: Examine::Ours(server_held),
};

fn server_held(_: &Context, m: &Measurement) -> Option<Finding> {
    if over_loopback(m) {
        return None; // The server uses the CPUs of this machine, which other checks cover.
    }
    let server = |t: &Trial| t.network.as_ref().map(|n| End::ServerSide.counters(n).clone());
    let causes: [(&str, Seconds); 3] = [
        ("a CPU quota throttled it", |e| e.throttled_s),
        ("its threads waited for a CPU", |e| {
            Some((e.waiting_s? - e.throttled_s.unwrap_or(0.0)).max(0.0))
        }),
        ("a hypervisor took time from its CPUs", |e| {
            Some(e.steal_s? / e.cpus.unwrap_or(1).max(1) as f64)
        }),
    ];
    let share = |seconds: Seconds| {
        Share::sum(&m.trials, |t| seconds(&server(t)?), |t| m.account_s(t).unwrap_or(t.seconds))
    };
    let all = causes.into_iter().filter_map(|(words, seconds)| Some((words, share(seconds)?)));
    let (words, worst) = all.max_by(|a, b| a.1.all.total_cmp(&b.1.all))?;
    let severity = Weight::derive(m).taken(&worst, LOST)?;
    let quota = m.trials.iter().rev().find_map(|t| server(t)?.quota);
    let limit = quota.map_or_else(String::new, |q| format!("; its quota: {}", q.words()));
    let message = format!(
        "the server: {words} for {} of the trials' time{limit}",
        percent(worst.all.min(1.0))
    );
    let advice = "give the server a quiet machine without a CPU quota";
    let finding = worst.add_to(SERVER_HELD.finding(severity, message, advice), "seconds");
    Some(with_known(finding, "server_quota_cpus", quota.and_then(|q| q.cpus)))
}

#[cfg(test)]
mod tests {
    use proofmark_model::{CpuQuota, Host};

    use super::*;
    use crate::testing::*;

    const LIMIT: CpuQuota = CpuQuota { cpus: Some(0.6), period_s: Some(0.1), burst_s: None };

    fn with_quotas(in_trial: fn(usize) -> [CpuQuota; 2]) -> Measurement {
        each(flops(1), |i, t| {
            let [before, after] = in_trial(i);
            t.quota = Some(QuotaTrial { before, after, cpus: 1.0, ..Default::default() })
                .filter(|q| q.before != CpuQuota::default() || q.has_changed());
        })
    }

    #[test]
    fn a_derived_figure_is_called_so() {
        let derived = |how: Option<&str>| {
            let mut m = flops(1);
            m.summary.as_mut().unwrap().delivered.derived = how.map(str::to_owned);
            m
        };
        let text = note("^the delivered figure is derived: the rate x 25 % ... raise --budget");
        DERIVED.expect([
            ("by a share", derived(Some("the rate x 25 %")), text),
            ("measured", derived(None), SILENT),
        ]);
    }

    #[test]
    fn a_quota_that_is_set_or_lifted_meanwhile_is_named() {
        let none = |_| [CpuQuota::default(); 2];
        let always = |_| [LIMIT; 2];
        let set = |i| if i < 4 { [CpuQuota::default(); 2] } else { [LIMIT; 2] };
        let within = |i| if i == 3 { [LIMIT, CpuQuota::default()] } else { [LIMIT; 2] };
        let wide = |i| {
            let all = CpuQuota { cpus: Some(64.0), ..LIMIT };
            if i < 4 { [CpuQuota::default(); 2] } else { [all; 2] }
        };
        let text = "0.6 CPUs in periods of 100.0 ms in 6 trials; none in 4 trials$";
        QUOTA_CHANGED.expect([
            ("none", with_quotas(none), SILENT),
            ("always", with_quotas(always), SILENT),
            ("set", with_quotas(set), suspect(text)),
            ("lifted within one", with_quotas(within), suspect("and then none in 1 trial")),
            ("it limits nothing", with_quotas(wide), NOTE),
        ]);
    }

    #[test]
    fn waiting_for_idle_cpus_is_a_quota_that_cannot_be_read() {
        let waiting = |waited: f64, others: f64| {
            each_condition(flops(1), move |_, c| {
                let own = 0.1 - waited;
                (c.own_cpu_s, c.other_cpu_s) = (Some(own), Some(waited));
                c.busy_cpu_s = Some(own + others);
            })
        };
        let inside = in_container();
        HIDDEN_QUOTA.on(&inside, &[]).expect([
            ("half of the time", waiting(0.05, 0.0), suspect("50.0 %")),
            ("a process took it", waiting(0.05, 0.05), SILENT),
            ("a process took most of it", waiting(0.05, 0.03), SILENT),
            ("little", waiting(0.003, 0.0), SILENT),
            ("a tick", waiting(0.012, 0.0), SILENT),
            ("no account", flops(1), SILENT),
        ]);
        // The kernel shows that there is none.
        HIDDEN_QUOTA.expect([("no quota", waiting(0.05, 0.0), SILENT)]);
        let ids: Vec<String> = judged(&inside, waiting(0.05, 0.0), &[])
            .findings
            .into_iter()
            .map(|f| f.check.into_owned())
            .collect();
        assert!(!ids.contains(&"other_cpu".to_owned()), "no process competed: {ids:?}");
    }

    fn in_container() -> Host {
        let mut host = host();
        host.limits.cgroups_to_top = false;
        host
    }

    /// Complete solves that are shorter than a tick: it counts all of one, or nothing.
    #[test]
    fn ticks_show_nothing_about_trials_as_short() {
        let short = |seconds: f64, waited: f64, busy: [f64; 2]| {
            each(linpack(1000, 2), move |i, t| {
                (t.seconds, t.work) = (seconds, t.value * seconds);
                let c = &mut t.conditions;
                (c.own_cpu_s, c.other_cpu_s) = (Some(2.0 * seconds - waited), Some(waited));
                c.busy_cpu_s = Some(busy[i % 2]);
            })
        };
        HIDDEN_QUOTA.on(&in_container(), &[]).expect([
            ("below a tick", short(0.004, 0.001, [0.0, 0.01]), SILENT),
            ("two ticks", short(0.02, 0.016, [0.02, 0.03]), SILENT),
            ("many ticks", short(0.3, 0.3, [0.29, 0.3]), suspect("50.")),
        ]);
    }

    #[test]
    fn a_server_under_a_quota_is_named() {
        let held = |seconds: f64| {
            each_network(tcp(1, "peer"), |n| {
                n.server.throttled_s = Some(seconds);
                n.server.waiting_s = Some(seconds);
                n.server.quota = Some(LIMIT);
            })
        };
        SERVER_HELD.expect([
            ("half of the time", held(0.05), suspect("a CPU quota throttled it")),
            ("never", held(0.0), SILENT),
            ("not reported", tcp(1, "peer"), SILENT),
        ]);
        let found = judged(&host_with_network("peer"), held(0.05), &[]).findings;
        let text = &found.iter().find(|f| f.check == SERVER_HELD.id).unwrap().message;
        assert!(text.ends_with("its quota: 0.6 CPUs in periods of 100.0 ms"), "{text}");
    }
}
