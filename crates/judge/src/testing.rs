//! A healthy machine and healthy results on it, which tests change.
//!
//! The machine: a KVM guest with two cores of Golden Cove at 4 GHz and without SMT.

use proofmark_model::testing::{self, cache};
use proofmark_model::{
    Cache, Conditions, CpuQuota, Figure, FigureKind, Finding, Host, Measurement, Microarchitecture,
    OtherPrograms, Param, Params, Policy, Probe, Role, Round, Run, Severity, Trial, Verification,
    WorkloadSpec,
};

use crate::checks::Check;
use crate::raw::raw_of;
use crate::{Context, quota};

mod cpu;
mod disk;
mod expect;
mod memory;
mod network;
mod random;
mod reference;

pub(crate) use cpu::{clock, dgemm, flops, iops, linpack, mix};
pub(crate) use disk::{
    disk, each_device, each_file, fsync, healthy_disk, host_with_disk, io_limit, rand_read,
    with_storage,
};
pub(crate) use expect::{
    Expected, INVALID, NOTE, SILENT, SUSPECT, expect_bottleneck, expect_words, invalid, not_run,
    note, suspect, usual_host,
};
pub(crate) use memory::{blocks, latency, stream, sweep};
pub(crate) use network::{
    each_network, healthy_network, host_with_network, round_trips, set_interface, tcp, udp,
    with_network,
};
pub(crate) use proofmark_model::testing::block_device;
pub(crate) use random::{normal, wild, xorshift};
pub(crate) use reference::{tool_of, tool_trials};

fn known<T>(value: T) -> Probe<T> {
    Probe::known(value, "test")
}

/// Statistics of trials with these values.
pub(crate) fn summary(values: &[f64]) -> Option<proofmark_model::Summary> {
    proofmark_model::Summary::from_values(values)
}

/// The machine with another core design.
pub(crate) fn with_design(mut host: Host, id: &str) -> Host {
    let (id, name, evidence) = (id.to_owned(), id.to_owned(), "test".to_owned());
    host.cpu.microarchitecture = known(Microarchitecture { id, name, evidence });
    host
}

/// The machine under a quota of that many CPUs.
pub(crate) fn with_quota(mut host: Host, cpus: f64) -> Host {
    host.limits.cpu_quota =
        Probe::known(CpuQuota { cpus: Some(cpus), ..CpuQuota::default() }, "cpu.max");
    host
}

/// The machine with limits that the user declares.
pub(crate) fn with_declared(mut host: Host, limits: &[(&str, f64)]) -> Host {
    host.limits.declared = limits.iter().map(|(n, v)| ((*n).to_owned(), *v)).collect();
    host
}

/// The machine without a hypervisor.
pub(crate) fn bare(mut host: Host) -> Host {
    host.os.virtualisation = known("none".to_owned());
    host
}

/// The healthy machine.
pub(crate) fn host() -> Host {
    let mut host = Host::unknown("not part of the test");
    host.cpu.vendor = known("GenuineIntel".to_owned());
    (host.cpu.family, host.cpu.model, host.cpu.stepping) = (known(6), known(143), known(8));
    host.cpu.isa = known(vec!["avx2".to_owned(), "avx512f".to_owned(), "fma".to_owned()]);
    (host.cpu.sockets, host.cpu.cores) = (known(1), known(2));
    (host.cpu.logical_cpus, host.cpu.threads_per_core) = (known(2), known(1));
    host.cpu.clock.nominal_hz = known(2.6e9);
    host.cpu.clock.boost_hz = known(4.2e9);
    host.cpu.clock.measured_hz = known(4e9);
    host.os.virtualisation = known("kvm".to_owned());
    host.os.container = known("none".to_owned());
    (host.limits.affinity, host.limits.cpuset) = (known(vec![0, 1]), known(vec![0, 1]));
    host.limits.cpu_quota = known(CpuQuota::default());
    host.limits.cgroups_to_top = true;
    (host.limits.usable_cpus, host.limits.usable_cores) = (vec![0, 1], 2);
    host.timer.clock_source = known("tsc".to_owned());
    (host.timer.resolution_s, host.timer.overhead_s) = (known(2e-8), known(2e-8));
    host.timer.interrupted_share = known(0.009);
    with_design(host, "golden_cove_server")
}

/// The policy of the trials.
pub(crate) fn policy() -> Policy {
    Policy { min_trials: 3, max_trials: 30, ..Policy::default() }
}

/// A workload's declaration; an unknown workload has one without ceilings and role.
pub(crate) fn spec(workload: &str) -> WorkloadSpec {
    let found = proofmark_workloads::find(workload).map(|w| w.spec().clone());
    found.unwrap_or_else(|| WorkloadSpec {
        id: workload.to_owned().into(),
        ceilings: Vec::new().into(),
        role: Role::NONE,
        ..spec("cpu.flops")
    })
}

/// A context of these parts; the other workloads are declared as they are.
pub(crate) fn context<'a>(
    host: &'a Host,
    spec: &WorkloadSpec,
    policy: &'a Policy,
    others: &'a [Measurement],
) -> Context<'a> {
    let declared = proofmark_workloads::ALL.iter().map(|w| w.spec().clone());
    let specs = declared.chain([spec.clone()]).map(|s| (s.id.to_string(), s));
    // Leaked: it lives for the rest of the test.
    let specs = Box::leak(Box::new(specs.collect()));
    Context { host, specs, policy, others, programs: OtherPrograms::default(), imported: false }
}

/// The context of a result on that machine, without others.
pub(crate) fn context_on(host: &Host) -> Context<'_> {
    context(host, &spec("cpu.flops"), Box::leak(Box::new(policy())), &[])
}

/// The conditions of a quiet trial of that duration.
fn quiet(seconds: f64) -> Conditions {
    Conditions {
        clock_hz: Some(4e9),
        clock_spread: Some(0.002),
        clock_disagreement: Some(0.001),
        steal_s: Some(0.0),
        throttled_s: Some(0.0),
        other_cpu_s: Some(0.0),
        own_cpu_s: Some(seconds),
        involuntary_switches: Some(0),
        migrations: Some(0),
        minor_faults: Some(0),
        major_faults: Some(0),
        swapped_pages: Some(0),
        ..Conditions::default()
    }
}

/// Ten values around `centre`, 0.2 % apart from end to end, without order.
pub(crate) fn around(centre: f64) -> Vec<f64> {
    [3.0, -4.0, 1.0, 5.0, -2.0, 2.0, -5.0, 4.0, -1.0, -3.0]
        .iter()
        .map(|step| centre * (1.0 + step * 2e-4))
        .collect()
}

/// A result with these values.
pub(crate) fn measurement(workload: &str, params: Params, values: &[f64]) -> Measurement {
    let m = testing::measurement(&spec(workload), params, values);
    let m = each(m, |_, t| t.conditions = quiet(t.seconds));
    verified(m, "checked arithmetic", 1.0)
}

/// The result with all its work verified, in that many bytes per unit of work.
fn verified(m: Measurement, kind: &str, bytes: f64) -> Measurement {
    let claimed: f64 = m.trials.iter().map(|t| t.work * bytes).sum();
    let (kind, note) = (kind.to_owned(), String::new());
    Measurement { verification: Some(Verification { kind, claimed, counted: claimed, note }), ..m }
}

/// Changes the conditions to those of threads that are not pinned, with that CPU time.
fn unpin(conditions: &mut Conditions, own_cpu_s: f64) {
    conditions.own_cpu_s = Some(own_cpu_s);
    conditions.clock_hz = None;
    conditions.clock_spread = None;
    conditions.clock_disagreement = None;
}

/// The machine with caches of 48 KiB and 2 MiB per core and 32 MiB for both.
pub(crate) fn host_with_caches() -> Host {
    let mut host = host();
    host.cpu.caches = known(vec![
        cache(1, 48 << 10, &[0], 2),
        cache(2, 2 << 20, &[0], 2),
        cache(3, 32 << 20, &[0, 1], 1),
    ]);
    host
}

/// A run with these results on that machine.
pub(crate) fn run(host: Host, measurements: Vec<Measurement>) -> Run {
    let specs = proofmark_workloads::ALL.iter().map(|w| w.spec());
    let workloads = specs.map(|s| (s.id.to_string(), s.clone())).collect();
    let mut run = Run { host, workloads, ..testing::run(measurements) };
    run.plan.policy = policy();
    run
}

/// Changes every trial.
pub(crate) fn each(mut m: Measurement, spoil: impl Fn(usize, &mut Trial)) -> Measurement {
    for (i, t) in m.trials.iter_mut().enumerate() {
        spoil(i, t);
    }
    m
}

/// Changes the conditions of every trial.
pub(crate) fn each_condition(
    m: Measurement,
    spoil: impl Fn(usize, &mut Conditions),
) -> Measurement {
    each(m, |i, t| spoil(i, &mut t.conditions))
}

/// The result with a finding of that check, which makes it suspect.
pub(crate) fn suspected(mut m: Measurement, check: &'static str) -> Measurement {
    m.findings.push(Finding::new(check, Severity::Suspect, "", ""));
    m
}

/// The machine with other caches.
pub(crate) fn with_caches(change: impl FnOnce(&mut Vec<Cache>)) -> Host {
    let mut host = host_with_caches();
    let mut caches = host.cpu.caches.get().unwrap().clone();
    change(&mut caches);
    host.cpu.caches = known(caches);
    host
}

/// The result with another value of a parameter.
pub(crate) fn with_param(mut m: Measurement, name: &str, value: impl Into<Param>) -> Measurement {
    m.params = m.params.with_named(name, value);
    m
}

/// Gives the trials new values and the summary with them.
pub(crate) fn with_values(mut m: Measurement, values: &[f64]) -> Measurement {
    m.trials = measurement(&m.workload, Params::default(), values).trials;
    m.summary = summary(values);
    m
}

/// The result with values around another rate, in the same time.
pub(crate) fn at_rate(m: Measurement, rate: f64) -> Measurement {
    let values = around(rate);
    let m = each(m, |i, t| {
        t.value = values[i];
        t.work = t.value * t.seconds;
    });
    disk::timed(Measurement { summary: summary(&values), ..m })
}

/// The result with all work over all time as its delivered figure.
pub(crate) fn with_delivered(mut m: Measurement) -> Measurement {
    let sum = |of: fn(&Trial) -> f64| m.trials.iter().map(of).sum::<f64>();
    let rate = sum(|t| t.work) / sum(|t| t.seconds);
    m.summary.as_mut().unwrap().delivered.value = Some(m.unit.rate(rate));
    m
}

/// The judged result.
pub(crate) fn judged(host: &Host, m: Measurement, others: &[Measurement]) -> Measurement {
    let policy = policy();
    judged_in(&context(host, &spec(&m.workload), &policy, others), m)
}

/// The same, with that declaration and policy; the others stay as they are.
pub(crate) fn judged_in(ctx: &Context, m: Measurement) -> Measurement {
    let mut all = ctx.others.to_vec();
    let raw = raw_of(&run(ctx.host.clone(), vec![m.clone()])).measurements.swap_remove(0);
    let m = Measurement {
        verification: m.verification.clone(),
        cpu_placements: m.cpu_placements.clone(),
        references: m.references.clone(),
        ..raw.unjudged(m.summary.clone())
    };
    let last = all.len();
    all.push(Measurement { summary: quota::as_recorded(ctx.host, &m), ..m });
    ctx.examine(&mut all, last);
    ctx.conclude(&mut all, last);
    all.swap_remove(last)
}

/// The finding of one check in the judged result.
pub(crate) fn found_on(
    host: &Host,
    check: &Check,
    m: Measurement,
    others: &[Measurement],
) -> Option<Finding> {
    judged(host, m, others).findings.into_iter().find(|f| f.check == check.id)
}

/// The result with that headline figure, whose interval reaches `half` to either side.
pub fn headed(mut m: Measurement, kind: FigureKind, half: f64) -> Measurement {
    let s = m.summary.as_mut().unwrap();
    let value = s.trials.median;
    let ci95 = Some([value * (1.0 - half), value * (1.0 + half)]);
    let figure = Figure { value: Some(value), ci95, ..Figure::default() };
    s.headline = kind;
    match kind {
        FigureKind::Attainable => s.attainable = figure,
        FigureKind::Typical => s.typical = figure,
        FigureKind::Delivered => s.delivered = figure,
    }
    m
}

/// The same result with rounds of windows.
pub fn in_windows(m: Measurement) -> Measurement {
    each(m, |_, t| {
        t.rounds = vec![Round { seconds: t.seconds, delivered: t.value, ..Round::default() }];
    })
}
