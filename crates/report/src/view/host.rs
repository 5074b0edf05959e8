//! The machine as tables of facts with their sources.

use super::facts::{Fact, FactTable, quantity, ranges};
use super::num::{percent, plain};
use super::text::{and_list, clean, plural};
use super::{ends, storage};
use proofmark_model::{Cache, CacheKind, CpuQuota, Host, MemoryModule, Probe, Unit, format_size};

/// The machine.
pub fn tables(host: &Host) -> Vec<FactTable> {
    vec![
        FactTable { title: "Processor", facts: processor(host) },
        FactTable { title: "Clock and timer", facts: clocks(host) },
        FactTable { title: "Memory", facts: memory(host) },
        FactTable { title: "Storage", facts: storage::facts(host) },
        FactTable { title: "Network", facts: ends::facts(host) },
        FactTable { title: "System", facts: system(host) },
        FactTable { title: "Settings that change speed", facts: settings(host) },
        FactTable { title: "What this process may use", facts: limits(host) },
    ]
}

/// The machine in one sentence: microarchitecture, cores, clock, virtualisation.
pub fn sentence(host: &Host) -> String {
    let (cpu, limits) = (&host.cpu, &host.limits);
    if limits.usable_cpus.is_empty() && cpu.model_name.get().is_none() {
        return "Nothing is known about the machine.".to_owned();
    }
    let kind = cpu.microarchitecture.get().map_or_else(
        || "This machine's microarchitecture is not known".to_owned(),
        |m| format!("This machine's microarchitecture is {}", clean(&m.name)),
    );
    let clock = cpu.clock.measured_hz.get().map_or_else(
        || "its clock was not measured".to_owned(),
        |hz| format!("its clock was measured at {}", quantity(*hz, Unit::Hertz)),
    );
    let inside = match host.os.virtualisation.get().map(String::as_str) {
        Some("none") => "outside of any virtual machine".to_owned(),
        Some(name) => format!("inside a virtual machine ({})", clean(name)),
        None => "and whether inside a virtual machine is not known".to_owned(),
    };
    let quota = limits.cpu_quota.get().and_then(|q| q.cpus).map_or_else(String::new, |c| {
        format!(", limited by a quota to the time of {} CPUs", plain(c))
    });
    // What a hypervisor hides is not known.
    let hidden = host.findings.iter().any(|f| f.check == "host.smt_hidden");
    let cores = match hidden {
        true => " (which of them share a core is hidden)".to_owned(),
        false => format!(" on {}", plural(u64::from(limits.usable_cores), "physical core")),
    };
    format!(
        "{kind}, {clock}; the run could use {}{cores}{quota}, {inside}.",
        plural(limits.usable_cpus.len() as u64, "CPU"),
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
            format!("{} placed on cores and sockets", plural(t.len() as u64, "logical CPU"))
        }),
        Fact::probe("NUMA nodes", &cpu.numa_nodes, |nodes| {
            let parts: Vec<String> =
                nodes.iter().map(|n| format!("node {}: CPUs {}", n.id, ranges(&n.cpus))).collect();
            parts.join("; ")
        }),
    ];
    facts.extend(caches(&cpu.caches));
    facts.push(Fact::probe("ISA extensions", &cpu.isa, |isa| isa.join(" ")));
    facts
}

/// One row per cache.
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
            Fact {
                name: format!("L{} {kind} cache", c.level),
                value: format!(
                    "{}{line}{ways}; shared by CPUs {}; {} in all",
                    format_size(c.size_bytes),
                    ranges(&c.shared_by),
                    c.instances
                ),
                source: clean(probe.origin()),
                known: true,
            }
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
            format!("{} of the time", share(*v))
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
            [] => "none described".to_owned(),
            some => and_list(&alike(some)),
        }),
    ]
}

/// `2 x 16 GiB DDR5, 4800 million transfers per second of 64 bit (DIMM_A1, DIMM_B1)`:
/// modules that are alike together.
fn alike(modules: &[MemoryModule]) -> Vec<String> {
    let what = |m: &MemoryModule| {
        let transfers = m.transfers_per_s.map_or_else(String::new, |t| {
            format!(", {} million transfers per second", plain(t / 1e6))
        });
        let bits = m.data_bits.map_or_else(String::new, |b| format!(" of {b} bit"));
        format!("{} {}{transfers}{bits}", format_size(m.size_bytes), m.kind)
    };
    let mut kinds: Vec<(String, Vec<&str>)> = Vec::new();
    for m in modules {
        let what = what(m);
        match kinds.iter_mut().find(|(kind, _)| *kind == what) {
            Some((_, places)) => places.push(&m.locator),
            None => kinds.push((what, vec![&m.locator])),
        }
    }
    kinds.iter().map(|(kind, at)| format!("{} x {kind} ({})", at.len(), at.join(", "))).collect()
}

/// One row each, but one for all mitigations that the processor does not need.
fn settings(host: &Host) -> Vec<Fact> {
    const UNAFFECTED: &str = "Not affected";
    let needs_none =
        |(_, value): &(&String, &Probe<String>)| value.get().is_some_and(|v| v == UNAFFECTED);
    let (without, others): (Vec<_>, Vec<_>) = host.settings.iter().partition(needs_none);
    let mut facts: Vec<Fact> =
        others.iter().map(|(name, value)| Fact::probe(name, value, Clone::clone)).collect();
    let names = without.iter().map(|(name, _)| name.rsplit(' ').next().unwrap_or(name));
    let names: Vec<&str> = names.collect();
    if !names.is_empty() {
        facts.push(Fact::plain("not affected by", &names.join(", ")));
    }
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

/// A share in percent.
fn share(value: f64) -> String {
    percent(value).map_or_else(|| "not finite".to_owned(), |p| format!("{p} %"))
}
