//! Findings about the host. All are notes: by themselves they change no verdict.

use proofmark_model::{
    BlockDevice, CacheKind, Finding, Host, Probe, Severity, StorageKind, check_id, format_size,
};

use crate::cpuid::Dump;
use crate::virtualisation;

/// Id, title, and description with action.
pub(crate) type Entry = (&'static str, &'static str, &'static str);

pub(crate) const MASKED_MODEL: Entry = (
    "host.masked_model",
    "Masked CPU model number",
    "The CPU shows features or caches that its model number excludes, or hypervisors use that \
     number for several designs. A hypervisor can write any model number but cannot add features. \
     So proofmark derives the design from the features. If several designs with different \
     execution ports remain, the design is unknown and CPU ceilings are missing. Ask the provider \
     for the real model.",
);

pub(crate) const USABLE_CPUS: Entry = (
    "host.usable_cpus",
    "Usable CPUs uncertain",
    "Threads may be pinned to the CPUs that are in the affinity mask, in the cpuset and online. \
     None of these three could be read, or they have no CPU in common, so the list is a guess. \
     Check it with `taskset -p`.",
);

const PINNING_REFUSED: Entry = (
    "host.pinning_refused",
    "Threads cannot be pinned",
    "The kernel or a container manager's seccomp filter does not let proofmark pin its threads to \
     CPUs (sched_setaffinity). Linux then chooses the CPUs, and may move a thread during a trial: \
     such results are suspect (`migration`). Allow sched_setaffinity.",
);

const HYBRID_CORES: Entry = (
    "host.hybrid_cores",
    "Cores of more than one design",
    "The machine has large and small cores. Ceilings are those of the larger design, which the \
     small cores cannot reach. Choose cores of one design with taskset.",
);

const SMT_HIDDEN: Entry = (
    check_id::SMT_HIDDEN,
    "Hardware threads hidden",
    "The virtual machine shows one hardware thread per core. It may still run two of its CPUs on \
     one physical core, or share a core with another guest. proofmark measures that in \
     each round (vCPU placement).",
);

const CLOCK_HIDDEN: Entry = (
    "host.clock_hidden",
    "Base and boost clock hidden",
    "The virtual machine reports neither a base nor a boost clock. proofmark computes ceilings \
     from the clock that it measures under each load. That clock can differ on another day.",
);

const CACHE_SHARE: Entry = (
    "host.cache_share",
    "Last-level cache shared with other guests",
    "The virtual machine reports the whole last-level cache of a processor but has only some of \
     its cores. Other guests use the cache too, so results within it depend on them. Use a working \
     set of several times the whole cache to measure memory.",
);

const HUGE_PAGES_OFF: Entry = (
    "host.huge_pages_off",
    "Transparent huge pages off",
    "Linux provides no transparent huge pages, or does not report whether it does. Memory \
     workloads then use base pages, as other programs do. Random access and latency include TLB \
     misses. To measure without them, write `madvise` to \
     /sys/kernel/mm/transparent_hugepage/enabled.",
);

const MODULES_HIDDEN: Entry = (
    "host.modules_hidden",
    "Memory modules hidden",
    "The channels and the transfer rate of the memory are unknown. A virtual machine hides its \
     host's modules; elsewhere only root can read the firmware's tables. The DRAM ceiling is then \
     the maximum of the core's design, marked as assumed. A result far below it may be all that \
     these modules can deliver. Without a hypervisor, run once as root. If you know the modules, \
     declare their rate: `--limit memory.dram=76.8GB/s` for two channels of DDR5-4800.",
);

const VIRTUAL_DISK: Entry = (
    "host.virtual_disk",
    "Virtual disk",
    "A hypervisor provides this disk and hides the device behind it: its medium, its caches, its \
     link and its other users. The host's memory may serve data that this system reads from the \
     disk, and no counter here shows it. Use files larger than the host's cache, and compare with \
     the provider's figures with `--limit disk.read=...`.",
);

const MEMORY_DISK: Entry = (
    "host.memory_disk",
    "Disk folder in memory",
    "The folder for disk workloads is in memory: on a tmpfs, a RAM disk, zram, or a loop device \
     over one of these. The results are not those of a disk. Name a folder on a disk with \
     `--disk-path`.",
);

const PROBE_FAILED: Entry = (
    "host.probe_failed",
    "Host facts unknown",
    "proofmark could not read some facts that ceilings or pinning need; each has its reason. \
     Ceilings and checks that need them report it. The other facts are valid.",
);

/// Every finding about the host: id, title, and description with action.
pub const FINDINGS: &[(&str, &str, &str)] = &[
    MASKED_MODEL,
    USABLE_CPUS,
    PINNING_REFUSED,
    HYBRID_CORES,
    SMT_HIDDEN,
    CLOCK_HIDDEN,
    CACHE_SHARE,
    HUGE_PAGES_OFF,
    MODULES_HIDDEN,
    VIRTUAL_DISK,
    MEMORY_DISK,
    PROBE_FAILED,
];

/// Maximum L3 per core of any core design (EPYC 9184X: 768 MiB for 16 cores).
const MAX_L3_PER_CORE: u64 = 48 << 20;

pub(crate) fn add(host: &mut Host, dump: Option<&Dump>, hybrid: bool) {
    let notes = [
        pinning_refused(host),
        hybrid.then(hybrid_cores),
        hidden_siblings(host),
        hidden_clock(host),
        cache_share(host, dump),
        huge_pages_off(host),
        hidden_modules(host),
        virtual_disk(host),
        memory_disk(host),
        failed_probes(host),
    ];
    host.findings.extend(notes.into_iter().flatten());
}

pub(crate) fn note(entry: &Entry, message: impl Into<String>, advice: &str) -> Finding {
    debug_assert!(FINDINGS.contains(entry), "{} is not listed", entry.0);
    Finding::new(entry.0, Severity::Note, message, advice)
}

/// Returns the hypervisor's name on a virtual machine.
fn hypervisor(host: &Host) -> Option<&str> {
    virtualisation::hypervisor(&host.os.virtualisation)
}

fn pinning_refused(host: &Host) -> Option<Finding> {
    let pinning = &host.limits.pinning;
    let message = || format!("Threads cannot be pinned to CPUs: {}.", pinning.origin());
    let advice = "Allow sched_setaffinity (a container's seccomp profile may refuse it).";
    (pinning.get() == Some(&false)).then(|| note(&PINNING_REFUSED, message(), advice))
}

fn hybrid_cores() -> Finding {
    note(
        &HYBRID_CORES,
        "The machine has cores of more than one design; ceilings are those of the larger.",
        "Choose cores of one design with taskset.",
    )
}

fn hidden_siblings(host: &Host) -> Option<Finding> {
    let name = hypervisor(host)?;
    let one = host.cpu.threads_per_core.get() == Some(&1);
    let several = host.cpu.logical_cpus.get().is_some_and(|&n| n > 1);
    (one && several).then(|| {
        note(
            &SMT_HIDDEN,
            "The virtual machine shows one hardware thread per core and hides whether two of its \
             CPUs share a physical core.",
            "See vCPU placement in the report: proofmark measures it in each round.",
        )
        .with("hypervisor", name)
    })
}

fn hidden_clock(host: &Host) -> Option<Finding> {
    let name = hypervisor(host)?;
    let clock = &host.cpu.clock;
    (clock.nominal_hz.get().is_none() && clock.boost_hz.get().is_none()).then(|| {
        note(
            &CLOCK_HIDDEN,
            "The virtual machine reports neither a base nor a boost clock; proofmark uses the \
             clock that it measures.",
            "Compare ceilings only together with the measured clock; it can differ on another day.",
        )
        .with("hypervisor", name)
    })
}

/// Notes a reported last-level cache that is too large for this machine alone.
fn cache_share(host: &Host, dump: Option<&Dump>) -> Option<Finding> {
    let name = hypervisor(host)?;
    let cores = u64::from(*host.cpu.cores.get()?);
    let cpus = *host.cpu.logical_cpus.get()?;
    let cache = host.cpu.caches.get()?.iter().max_by_key(|c| c.level)?;
    if cache.level < 3 || cache.kind == CacheKind::Instruction {
        return None;
    }
    let sharing = dump.and_then(|d| d.sharing(cache.level));
    // CPUID rounds the number of sharers up to a power of two.
    let outsiders = sharing.filter(|&n| n > cpus.next_power_of_two());
    let too_large = cache.size_bytes > MAX_L3_PER_CORE.saturating_mul(cores);
    let why = match outsiders {
        Some(n) => format!("CPUID reserves {n} CPU numbers for its sharers"),
        None if too_large => "no processor has that much per core".to_owned(),
        None => return None,
    };
    let finding = note(
        &CACHE_SHARE,
        format!(
            "The L{} cache is reported as {} for {cpus} {}, but {why}: other guests share it.",
            cache.level,
            format_size(cache.size_bytes),
            if cpus == 1 { "CPU" } else { "CPUs" },
        ),
        "To measure memory, use a working set of several times the whole cache. Expect results \
         within the cache to depend on other guests.",
    );
    Some(finding.with("hypervisor", name).with("size_bytes", cache.size_bytes).with("cpus", cpus))
}

/// Notes disabled huge pages: memory workloads request them with madvise(2), which `never` refuses.
fn huge_pages_off(host: &Host) -> Option<Finding> {
    let setting = &host.memory.transparent_huge_pages;
    const UNKNOWN: &str = "The system does not report whether transparent huge pages are on; \
                           memory workloads may use base pages.";
    let off = |word| {
        format!("Transparent huge pages are set to `{word}`; memory workloads use base pages.")
    };
    let message = match setting.get().map(String::as_str) {
        Some("always" | "madvise") => return None,
        word => word.map_or(UNKNOWN.to_owned(), off),
    };
    let advice = "Write `madvise` to /sys/kernel/mm/transparent_hugepage/enabled to measure \
                  without TLB misses.";
    Some(note(&HUGE_PAGES_OFF, message, advice).with("found", setting.origin()))
}

/// Notes unknown transfer rates of memory modules: the DRAM ceiling is then assumed.
fn hidden_modules(host: &Host) -> Option<Finding> {
    let modules = &host.memory.modules;
    if modules.get().is_some_and(|all| all.iter().any(|m| m.transfers_per_s.is_some())) {
        return None;
    }
    let (message, advice) = match hypervisor(host) {
        Some(_) => (
            "The virtual machine hides the memory modules; the DRAM ceiling is assumed.",
            "If an exact ceiling matters, ask the provider for the modules or measure on the bare \
             machine.",
        ),
        None => (
            "The transfer rate of the memory modules is unknown; the DRAM ceiling is assumed.",
            "If the firmware's tables could not be read, run once as root.",
        ),
    };
    Some(note(&MODULES_HIDDEN, message, advice).with("found", modules.origin()))
}

/// Notes a virtual disk; any disk of a virtual machine is one.
fn virtual_disk(host: &Host) -> Option<Finding> {
    let storage = host.storage.get().filter(|s| s.kind == StorageKind::Block)?;
    let shown = |d: &&BlockDevice| {
        hypervisor(host).is_some()
            || matches!(d.transport.as_deref(), Some("virtio" | "xen" | "hyperv"))
    };
    let names: Vec<&str> = storage.leaves().filter(shown).map(|d| d.name.as_str()).collect();
    let all = names.join(", ");
    let message = match names.len() {
        0 => return None,
        1 => format!("{all} is a virtual disk: the hypervisor hides the device and its caches."),
        _ => format!("{all} are virtual disks: the hypervisor hides the devices and their caches."),
    };
    let advice = "Use files larger than the host's cache, and declare the provider's figures with \
                  --limit.";
    Some(note(&VIRTUAL_DISK, message, advice).with("devices", names))
}

fn memory_disk(host: &Host) -> Option<Finding> {
    let storage = host.storage.get().filter(|s| s.kind == StorageKind::Memory)?;
    let message = format!(
        "{} is in memory ({} at {}), not on a disk.",
        storage.path, storage.file_system, storage.mount_point
    );
    let advice = "Name a folder on a disk with --disk-path.";
    let names: Vec<&str> = storage.devices.iter().map(|d| d.name.as_str()).collect();
    Some(note(&MEMORY_DISK, message, advice).with("devices", names))
}

/// Notes unknown facts that ceilings or pinning need.
fn failed_probes(host: &Host) -> Option<Finding> {
    fn gone<T>(name: &str, probe: &Probe<T>) -> Option<(String, String)> {
        probe.get().is_none().then(|| (name.to_owned(), probe.origin().to_owned()))
    }
    let all = [
        gone("cpu.microarchitecture", &host.cpu.microarchitecture),
        gone("cpu.isa", &host.cpu.isa),
        gone("cpu.topology", &host.cpu.topology),
        gone("cpu.caches", &host.cpu.caches),
        gone("memory.total_bytes", &host.memory.total_bytes),
        gone("limits.affinity", &host.limits.affinity),
        gone("limits.cpu_quota", &host.limits.cpu_quota),
        gone("limits.memory_bytes", &host.limits.memory_bytes),
    ];
    let failed: Vec<_> = all.into_iter().flatten().collect();
    let names: Vec<&str> = failed.iter().map(|(name, _)| name.as_str()).collect();
    let message = match names.len() {
        0 => return None,
        1 => format!("{} is unknown.", names[0]),
        _ => format!("{} are unknown.", names.join(", ")),
    };
    let advice = "Ceilings and checks that need them report it; the other facts are valid.";
    let finding = note(&PROBE_FAILED, message, advice);
    Some(failed.iter().fold(finding, |f, (name, reason)| f.with(name, reason.as_str())))
}

#[cfg(test)]
mod tests;
