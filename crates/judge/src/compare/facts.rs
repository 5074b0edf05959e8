//! Facts that differ between the machines, programs and plans of two runs.

use std::collections::BTreeSet;

use proofmark_model::{
    CpuQuota, Difference, FactId, FactScope, Host, Measurement, NetworkPath, Probe, Run, Unit,
    clean_excerpt, format_quantity, format_size,
};

use crate::words::counted;

/// Most characters of a value.
const LONGEST: usize = 120;

/// A fact that differs, and the parts of the machine whose results it may change.
#[derive(Debug)]
pub(super) struct Fact {
    pub(super) difference: Difference,
    pub(super) scope: FactScope,
}

impl Fact {
    /// Returns true if it may change a result.
    pub(super) fn touches(&self, m: &Measurement) -> bool {
        m.subsystem.info().facts.contains(&self.scope)
    }
}

const ALL: FactScope = FactScope::Machine;
pub(super) const COMPUTING: FactScope = FactScope::Cores;
const MEMORY: FactScope = FactScope::Memory;
const DISK: FactScope = FactScope::Storage;
const NETWORK: FactScope = FactScope::Network;
pub(super) const NONE: FactScope = FactScope::Nothing;

/// The facts that differ, the most important first.
pub(super) fn differences(a: &Run, b: &Run) -> Vec<Fact> {
    let mut facts = differing(entries(a), entries(b));
    facts.extend(settings(&a.host, &b.host));
    facts
}

/// The limits, CPUs and clock source of a machine that changed between two readings. Settings do
/// not count: some systems move interrupts every few seconds.
pub fn changes(before: &Host, after: &Host) -> Vec<Difference> {
    let facts = |host| [limits(host), machine_facts(host)].concat();
    differing(facts(before), facts(after)).into_iter().map(|fact| fact.difference).collect()
}

fn differing(a: Vec<Entry>, b: Vec<Entry>) -> Vec<Fact> {
    let both = a.into_iter().zip(b).filter(|(x, y)| x.1 != y.1);
    both.map(|((what, a, scope), (_, b, _))| Fact {
        difference: Difference { what: what.as_str().to_owned(), a, b },
        scope,
    })
    .collect()
}

/// The settings that both report and that differ.
fn settings(a: &Host, b: &Host) -> Vec<Fact> {
    let differs = |name: &String| {
        let value = |host: &'_ Host| Some(host.settings.get(name)?.get()?.clone());
        let (what, a, b) = (name.clone(), value(a)?, value(b)?);
        let [short_a, short_b] = around_the_difference(&a, &b);
        let difference = Difference { what, a: short_a, b: short_b };
        (a != b).then_some(Fact { difference, scope: scope_of_setting(name) })
    };
    a.settings.keys().filter_map(differs).collect()
}

/// The parts of the machine whose results a setting may change. A limit of a process ends work, and
/// slows none. Environment variables change other programs.
pub(crate) fn scope_of_setting(name: &str) -> FactScope {
    match FactId::named(name) {
        Some(FactId::Mtu | FactId::TcpReceive | FactId::TcpSend | FactId::NetworkCards) => NETWORK,
        Some(
            FactId::OpenFiles
            | FactId::Processes
            | FactId::AddressSpace
            | FactId::LockedMemory
            | FactId::Environment,
        ) => NONE,
        _ => ALL,
    }
}

/// Shortens long texts to the part around the first character in which they differ.
fn around_the_difference(a: &str, b: &str) -> [String; 2] {
    const BEFORE: usize = 20;
    let same = a.chars().zip(b.chars()).take_while(|(a, b)| a == b).count();
    let long = a.chars().count().max(b.chars().count()) > LONGEST;
    let from = if long { same.saturating_sub(BEFORE) } else { 0 };
    let dots = if from > 0 { "..." } else { "" };
    [a, b].map(|text| short(&format!("{dots}{}", text.chars().skip(from).collect::<String>())))
}

/// A fact: its id, its value, and the parts of the machine whose results it may change. Both runs
/// have the same ids in one order.
pub(crate) type Entry = (FactId, String, FactScope);

fn short(text: &str) -> String {
    clean_excerpt(text, LONGEST)
}

fn known<T>(probe: &Probe<T>, show: impl FnOnce(&T) -> String) -> String {
    probe.get().map_or_else(|| "unknown".to_owned(), |v| short(&show(v)))
}

fn text(probe: &Probe<String>) -> String {
    known(probe, String::clone)
}

fn some(value: Option<String>) -> String {
    value.map_or_else(|| "unknown".to_owned(), |v| short(&v))
}

pub(crate) fn entries(run: &Run) -> Vec<Entry> {
    let host = &run.host;
    [limits(host), machine_facts(host), disk(host), network(host), program(run)].concat()
}

fn limits(host: &Host) -> Vec<Entry> {
    let cpus = &host.limits.usable_cpus;
    let list = if cpus.is_empty() { "unknown".to_owned() } else { list(cpus) };
    let limit =
        known(&host.limits.memory_bytes, |l| l.map_or_else(|| "none".to_owned(), format_size));
    vec![
        (FactId::CpuQuota, known(&host.limits.cpu_quota, CpuQuota::words), ALL),
        (FactId::UsableCpus, list, ALL),
        (FactId::MemoryLimit, limit, NONE),
    ]
}

/// Formats a list of CPUs: `0-3,8`, or their number if there are very many ranges.
pub(super) fn list(cpus: &[u32]) -> String {
    let sorted: BTreeSet<u32> = cpus.iter().copied().collect();
    let mut ranges: Vec<[u32; 2]> = Vec::new();
    for cpu in sorted {
        match ranges.last_mut() {
            Some([_, last]) if last.checked_add(1) == Some(cpu) => *last = cpu,
            _ => ranges.push([cpu, cpu]),
        }
    }
    if ranges.len() > 12 {
        return counted(cpus.len() as u64, "CPU");
    }
    let texts = ranges.iter().map(|[from, to]| match to - from {
        0 => from.to_string(),
        _ => format!("{from}-{to}"),
    });
    texts.collect::<Vec<_>>().join(",")
}

fn machine_facts(host: &Host) -> Vec<Entry> {
    let (cpu, os) = (&host.cpu, &host.os);
    let size = |p: &Probe<u64>| known(p, |b| format_size(*b));
    let sockets = known(&cpu.sockets, |n| n.to_string());
    vec![
        (FactId::Cpu, text(&cpu.model_name), ALL),
        (FactId::CoreDesign, known(&cpu.microarchitecture, |m| m.name.clone()), ALL),
        (FactId::CpuStepping, known(&cpu.stepping, u32::to_string), COMPUTING),
        (FactId::Sockets, sockets, COMPUTING),
        (FactId::Cores, known(&cpu.cores, u32::to_string), COMPUTING),
        (FactId::ThreadsPerCore, known(&cpu.threads_per_core, u32::to_string), COMPUTING),
        (FactId::ClockSource, text(&host.timer.clock_source), ALL),
        (FactId::Virtualisation, text(&os.virtualisation), ALL),
        (FactId::Container, text(&os.container), ALL),
        (FactId::Kernel, text(&os.kernel), ALL),
        (FactId::Distribution, text(&os.distribution), NONE),
        (FactId::Memory, size(&host.memory.total_bytes), MEMORY),
        (FactId::HugePages, text(&host.memory.transparent_huge_pages), MEMORY),
    ]
}

fn disk(host: &Host) -> Vec<Entry> {
    let storage = host.storage.get();
    let devices = storage.map(|s| {
        let leaf = |d: &proofmark_model::BlockDevice| {
            let model = d.model.as_deref().unwrap_or("model unknown");
            let size = d.size_bytes.map_or_else(String::new, |b| format!(", {}", format_size(b)));
            format!("{} ({model}{size})", d.name)
        };
        s.leaves().map(leaf).collect::<Vec<_>>().join(", ")
    });
    let schedulers = storage.map(|s| {
        let all = s.leaves().map(|d| d.scheduler.as_deref().unwrap_or("unknown"));
        all.collect::<Vec<_>>().join(", ")
    });
    let limits = known(&host.limits.io, |all| match all.len() {
        0 => "none".to_owned(),
        _ => all.iter().map(io_limit).collect::<Vec<_>>().join("; "),
    });
    let system = storage.map(|s| format!("{} on {}", s.file_system, s.mount_point));
    vec![
        (FactId::Disk, some(devices), DISK),
        (FactId::FileSystem, some(system), DISK),
        (FactId::MountOptions, some(storage.map(|s| s.mount_options.clone())), DISK),
        (FactId::IoScheduler, some(schedulers), DISK),
        (FactId::IoLimits, limits, DISK),
    ]
}

fn io_limit(limit: &proofmark_model::IoLimit) -> String {
    let rate = |v: Option<f64>, what: &str, unit| {
        v.filter(|v| v.is_finite()).map(|v| format!("{what} {}", format_quantity(v, unit)))
    };
    let parts = [
        rate(limit.read_bytes_per_s, "read", Unit::BytePerSecond),
        rate(limit.write_bytes_per_s, "write", Unit::BytePerSecond),
        rate(limit.reads_per_s, "reads", Unit::OpPerSecond),
        rate(limit.writes_per_s, "writes", Unit::OpPerSecond),
    ];
    format!("{}: {}", limit.device, parts.into_iter().flatten().collect::<Vec<_>>().join(", "))
}

fn network(host: &Host) -> Vec<Entry> {
    let network = host.network.get();
    let server = network.map(|n| match n.path {
        NetworkPath::Loopback => "this machine".to_owned(),
        NetworkPath::Peer => format!("{} ({})", n.server.name, n.server.os),
    });
    let interface = network.map(|n| {
        known(&n.interface, |i| {
            let driver = i.driver.as_deref().unwrap_or("driver unknown");
            format!("{} ({driver})", i.name)
        })
    });
    vec![
        (FactId::Server, some(server), NETWORK),
        (FactId::NetworkInterface, some(interface), NETWORK),
    ]
}

fn program(run: &Run) -> Vec<Entry> {
    let policy = &run.plan.policy;
    let trials = if policy.min_trials == policy.max_trials {
        policy.min_trials.to_string()
    } else {
        format!("{} to {}", policy.min_trials, policy.max_trials)
    };
    let measured = run.imported.as_deref().map_or_else(|| "proofmark".to_owned(), short);
    vec![
        (FactId::MeasuredBy, measured, ALL),
        (FactId::Program, short(&run.tool.version), ALL),
        (FactId::Commit, short(run.tool.commit.as_deref().unwrap_or("unknown")), ALL),
        (FactId::Build, short(&run.tool.build), ALL),
        (FactId::Profile, short(&run.plan.profile), NONE),
        (FactId::Trials, trials, NONE),
    ]
}
