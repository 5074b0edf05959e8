//! The machine as tables of facts with their sources.

use super::facts::{Fact, FactTable, quantity, ranges};
use super::grouping::grouped;
use super::num::{percentage, plain};
use super::storage;
use super::text::{and_list, clean, counted, enclosed, joined};
use proofmark_model::{
    Cache, CacheKind, CpuQuota, Host, Interface, MemoryModule, NetworkPath, NumaNode, Probe,
    ServerEnd, Unit, check_id, format_size,
};

/// Source of the facts about the server.
const SERVER: &str = "reported by the server";
/// Reason why a fact about the server is unknown.
const NOT_REPORTED: &str = "not reported by the server";

/// All facts about the machine.
pub fn host_tables(host: &Host) -> Vec<FactTable> {
    let tables = [
        ("Processor", processor(host)),
        ("Clock and timer", clocks(host)),
        ("Memory", memory(host)),
        ("Storage", storage::facts(host)),
        ("Network", network(host)),
        ("System", system(host)),
        ("Settings that change speed", settings(host)),
        ("Limits of this process", limits(host)),
    ];
    tables.into_iter().map(|(title, facts)| FactTable { title, facts }).collect()
}

/// The machine in two sentences: microarchitecture and clock, then CPUs and virtualisation.
pub fn sentence(host: &Host) -> String {
    let (cpu, limits) = (&host.cpu, &host.limits);
    if limits.usable_cpus.is_empty() && cpu.model_name.get().is_none() {
        return "Nothing is known about the machine.".to_owned();
    }
    let kind = cpu.microarchitecture.get().map_or_else(
        || "The microarchitecture is not known".to_owned(),
        |m| format!("The microarchitecture is {}", clean(&m.name)),
    );
    let clock = cpu.clock.measured_hz.get().map_or_else(
        || "the clock was not measured".to_owned(),
        |hz| format!("the measured clock is {}", quantity(*hz, Unit::Hertz)),
    );
    let inside = match host.os.virtualisation.get().map(String::as_str) {
        Some("none") => ", not in a virtual machine".to_owned(),
        Some(name) => format!(", in a virtual machine ({})", clean(name)),
        None => "; whether in a virtual machine is not known".to_owned(),
    };
    let quota = limits.cpu_quota.get().and_then(|q| q.cpus).map_or_else(String::new, |c| {
        format!(", limited by a quota to the time of {} CPUs", plain(c))
    });
    // Where a hypervisor hides the cores, their number is unknown.
    let hidden = host.findings.iter().any(|f| f.check == check_id::SMT_HIDDEN);
    let cores = match hidden {
        true => " (the hypervisor hides which share a core)".to_owned(),
        false => format!(" on {}", counted(u64::from(limits.usable_cores), "physical core")),
    };
    format!(
        "{kind}, {clock}. The run could use {}{cores}{quota}{inside}.",
        counted(limits.usable_cpus.len() as u64, "CPU"),
    )
}

fn processor(host: &Host) -> Vec<Fact> {
    let cpu = &host.cpu;
    let mut facts = vec![
        Fact::probe("model name", &cpu.model_name, Clone::clone),
        Fact::probe("vendor", &cpu.vendor, Clone::clone),
        Fact::plain("architecture", &cpu.arch),
        Fact::probe("family", &cpu.family, ToString::to_string),
        Fact::probe("model", &cpu.model, ToString::to_string),
        Fact::probe("stepping", &cpu.stepping, ToString::to_string),
        Fact::probe("microarchitecture", &cpu.microarchitecture, |m| {
            format!("{} ({})", m.name, m.evidence)
        }),
        Fact::probe("sockets", &cpu.sockets, ToString::to_string),
        Fact::probe("physical cores", &cpu.cores, ToString::to_string),
        Fact::probe("logical CPUs", &cpu.logical_cpus, ToString::to_string),
        Fact::probe("threads per core", &cpu.threads_per_core, ToString::to_string),
        Fact::probe("topology", &cpu.topology, |t| {
            format!("{} placed on cores and sockets", counted(t.len() as u64, "logical CPU"))
        }),
        Fact::probe("NUMA nodes", &cpu.numa_nodes, |nodes| {
            let node = |n: &NumaNode| format!("node {}: CPUs {}", n.id, ranges(&n.cpus));
            joined(nodes.iter().map(node), "; ")
        }),
    ];
    facts.extend(caches(&cpu.caches));
    facts.push(Fact::probe("ISA extensions", &cpu.isa, |isa| isa.join(" ")));
    facts
}

fn caches(probe: &Probe<Vec<Cache>>) -> Vec<Fact> {
    let Some(caches) = probe.get() else {
        return vec![Fact::probe("caches", probe, |_| String::new())];
    };
    caches
        .iter()
        .map(|c| {
            let kind = match c.kind {
                CacheKind::Data => "data",
                CacheKind::Instruction => "instruction",
                CacheKind::Unified => "unified",
            };
            let ways = c.ways.map_or_else(String::new, |w| format!(", {w} ways"));
            let line = c.line_bytes.map_or_else(String::new, |b| format!(", {b} B lines"));
            let (size, cpus) = (format_size(c.size_bytes), ranges(&c.shared_by));
            let value =
                format!("{size}{line}{ways}; shared by CPUs {cpus}; {} in all", c.instances);
            Fact::new(&format!("L{} {kind} cache", c.level), Some(&value), probe.origin())
        })
        .collect()
}

fn clocks(host: &Host) -> Vec<Fact> {
    let hz = |v: &f64| quantity(*v, Unit::Hertz);
    let s = |v: &f64| quantity(*v, Unit::Second);
    let (clock, timer) = (&host.cpu.clock, &host.timer);
    vec![
        Fact::probe("measured clock", &clock.measured_hz, hz),
        Fact::probe("nominal clock", &clock.nominal_hz, hz),
        Fact::probe("boost clock", &clock.boost_hz, hz),
        Fact::probe("time-stamp counter", &clock.tsc_hz, hz),
        Fact::probe("clock source", &timer.clock_source, Clone::clone),
        Fact::probe("timer resolution", &timer.resolution_s, s),
        Fact::probe("timer overhead", &timer.overhead_s, s),
        Fact::probe("interrupted", &timer.interrupted_share, |v| {
            format!("{} of the time, by interrupts or other programs", share(*v))
        }),
    ]
}

fn memory(host: &Host) -> Vec<Fact> {
    let size = |v: &u64| format_size(*v);
    let m = &host.memory;
    vec![
        Fact::probe("total", &m.total_bytes, size),
        Fact::probe("available", &m.available_bytes, size),
        Fact::probe("swap", &m.swap_total_bytes, size),
        Fact::probe("transparent huge pages", &m.transparent_huge_pages, Clone::clone),
        Fact::probe("modules", &m.modules, |modules| match modules.as_slice() {
            [] => "none reported".to_owned(),
            some => and_list(alike(some)),
        }),
    ]
}

/// `2 x 16 GiB DDR5, 4800 million transfers per second of 64 bit (DIMM_A1, DIMM_B1)`: equal modules
/// are grouped.
fn alike(modules: &[MemoryModule]) -> Vec<String> {
    let what = |m: &MemoryModule| {
        let transfers = m.transfers_per_s.map_or_else(String::new, |t| {
            format!(", {} million transfers per second", plain(t / 1e6))
        });
        let bits = m.data_bits.map_or_else(String::new, |b| format!(" of {b} bit"));
        format!("{} {}{transfers}{bits}", format_size(m.size_bytes), m.kind)
    };
    let kinds = grouped(modules.iter().map(|m| (what(m), &m.locator)));
    let kinds = kinds.into_iter();
    kinds.map(|(kind, at)| format!("{} x {kind} ({})", at.len(), joined(at, ", "))).collect()
}

/// The path, the server, and both interfaces.
fn network(host: &Host) -> Vec<Fact> {
    let probe = &host.network;
    let mut facts = vec![Fact::probe("path", probe, |n| match n.path {
        NetworkPath::Loopback => "loopback: both ends run on this machine".to_owned(),
        NetworkPath::Peer => format!("to {} ({})", n.server.name, n.address),
    })];
    let Some(n) = probe.get() else { return facts };
    let ServerEnd { cpu, os, cpus, version, .. } = &n.server;
    let peer = n.path == NetworkPath::Peer;
    // Over loopback, the server's machine is this one.
    if peer {
        let cpu_source = if cpu.is_some() { SERVER } else { NOT_REPORTED };
        facts.push(Fact::new("server processor", cpu.as_deref(), cpu_source));
        facts.push(Fact::new("server system", Some(os), SERVER));
    }
    facts.push(Fact::new("server CPUs", Some(&ranges(cpus)), SERVER));
    facts.push(Fact::new("server program", Some(&format!("proofmark {version}")), SERVER));
    let origin = n.interface.origin();
    facts.extend(interface("interface", n.interface.get(), origin, origin));
    if peer {
        facts.extend(interface(
            "server interface",
            n.server_interface.as_ref(),
            SERVER,
            NOT_REPORTED,
        ));
    }
    if let Some(bytes) = n.copy_bytes_per_s {
        let copies = format!("{} per CPU", quantity(bytes, Unit::BytePerSecond));
        facts.push(Fact::new("copy rate", Some(&copies), "measured within one CPU's cache"));
    }
    facts
}

/// `eth0: virtio, MTU 1500 B, driver virtio_net` and its line rate, or why they are unknown.
fn interface(name: &str, interface: Option<&Interface>, source: &str, why: &str) -> Vec<Fact> {
    let Some(i) = interface else { return vec![Fact::new(name, None, why)] };
    let driver = enclosed(", driver ", i.driver.as_deref().unwrap_or_default(), "");
    let what = format!("{}: {}, MTU {} B{driver}", i.name, i.kind, i.mtu);
    let rate = i.bits_per_s.map(|bits| quantity(bits, Unit::BitPerSecond));
    let rate_source = if rate.is_some() { source } else { why };
    let rate_name = format!("{name} line rate");
    vec![Fact::new(name, Some(&what), source), Fact::new(&rate_name, rate.as_deref(), rate_source)]
}

/// One row per setting, but one for all vulnerabilities that do not affect the processor.
fn settings(host: &Host) -> Vec<Fact> {
    const UNAFFECTED: &str = "Not affected";
    let needs_none =
        |(_, value): &(&String, &Probe<String>)| value.get().is_some_and(|v| v == UNAFFECTED);
    let (without, others): (Vec<_>, Vec<_>) = host.settings.iter().partition(needs_none);
    let mut facts: Vec<Fact> =
        others.iter().map(|(name, value)| Fact::probe(name, value, Clone::clone)).collect();
    let names = without.iter().map(|(name, _)| name.rsplit(' ').next().unwrap_or(name));
    let names = joined(names, ", ");
    facts.extend((!names.is_empty()).then(|| Fact::plain("not affected by", &names)));
    facts
}

fn system(host: &Host) -> Vec<Fact> {
    let os = &host.os;
    vec![
        Fact::probe("kernel", &os.kernel, Clone::clone),
        Fact::probe("distribution", &os.distribution, Clone::clone),
        Fact::probe("virtualisation", &os.virtualisation, Clone::clone),
        Fact::probe("container", &os.container, Clone::clone),
        Fact::probe("load average", &host.load.average, |[a, b, c]| {
            format!("{a:.2}, {b:.2}, {c:.2} over 1, 5, 15 min")
        }),
        Fact::probe("steal since boot", &host.load.steal_since_boot, |v| share(*v)),
    ]
}

fn limits(host: &Host) -> Vec<Fact> {
    let l = &host.limits;
    let mut facts = vec![
        Fact::plain("usable CPUs", &ranges(&l.usable_cpus)),
        Fact::plain("usable physical cores", &l.usable_cores.to_string()),
        Fact::probe("affinity mask", &l.affinity, |v| ranges(v)),
        Fact::probe("cpuset", &l.cpuset, |v| ranges(v)),
        Fact::probe("CPU quota", &l.cpu_quota, CpuQuota::words),
        Fact::probe("memory limit", &l.memory_bytes, |v| {
            v.map_or_else(|| "none".to_owned(), format_size)
        }),
        Fact::probe("memory used of the limit", &l.memory_used_bytes, |v| format_size(*v)),
    ];
    facts.extend(storage::limits(host));
    facts
}

fn share(value: f64) -> String {
    percentage(value).unwrap_or_else(|| "not finite".to_owned())
}
