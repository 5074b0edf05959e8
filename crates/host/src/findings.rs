//! What a reader should know about the host itself. All are notes: they disturb
//! no number by themselves.

use proofmark_model::{
    BlockDevice, CacheKind, Finding, Host, Probe, Severity, StorageKind, format_size,
};

use crate::cpuid::Dump;
use crate::virtualisation;

/// Id, title, and what it means with what to do about it.
pub(crate) type Entry = (&'static str, &'static str, &'static str);

pub(crate) const MASKED_MODEL: Entry = (
    "host.masked_model",
    "Masked CPU model number",
    "The CPU shows features or caches that the design of its model number cannot have, or the \
     number is one that hypervisors give to several designs. A hypervisor can write any number but \
     cannot add features, so the design is concluded from what was seen; where several designs \
     are left that differ in their execution ports, it stays unknown and CPU ceilings are missing. \
     Ask the provider for the real model if it matters.",
);

pub(crate) const USABLE_CPUS: Entry = (
    "host.usable_cpus",
    "Usable CPUs in doubt",
    "The CPUs that threads may be pinned to are those in the affinity mask, the cpuset and the \
     list of online CPUs together. None of the three could be read, or they have no CPU in common, \
     so the list is a guess. Check it with `taskset -p`.",
);

const HYBRID_CORES: Entry = (
    "host.hybrid_cores",
    "Cores of more than one design",
    "The machine mixes large and small cores. Ceilings are those of the larger design, which the \
     small cores cannot reach. Choose cores of one design with taskset.",
);

const SMT_HIDDEN: Entry = (
    "host.smt_hidden",
    "Hardware threads hidden",
    "A virtual machine that shows one hardware thread a core may still run two of its CPUs on one \
     physical core, or share a core with another guest. If rates do not scale from one thread to \
     all, the CPUs may be siblings of one core.",
);

const CLOCK_HIDDEN: Entry = (
    "host.clock_hidden",
    "Base and boost clock hidden",
    "The virtual machine reports neither a base nor a boost clock. Ceilings rest on the clock that \
     is measured under each load, which may differ on another day.",
);

const CACHE_SHARE: Entry = (
    "host.cache_share",
    "Last-level cache shared with other guests",
    "The virtual machine reports the whole last-level cache of a processor of which it has only \
     some cores. Other guests use it too: results within that cache depend on them, and a working \
     set for memory must be several times the whole cache.",
);

const HUGE_PAGES_OFF: Entry = (
    "host.huge_pages_off",
    "Transparent huge pages off",
    "The kernel gives no transparent huge pages, or does not tell whether it does. The memory \
     kernels then run on small pages, as programs here do too: random access and latency include \
     the misses of the TLB. To measure without them, write `madvise` to \
     /sys/kernel/mm/transparent_hugepage/enabled.",
);

const MODULES_HIDDEN: Entry = (
    "host.modules_hidden",
    "Memory modules hidden",
    "Channels and transfer rate of the memory are not known: a virtual machine hides its host's \
     modules, and elsewhere the firmware's tables can be read by root only. The ceiling of DRAM is \
     then the most that the core's design can have, marked as assumed, and a result far below it \
     may be all that these modules give. On a machine without a hypervisor run it as root once.",
);

const VIRTUAL_DISK: Entry = (
    "host.virtual_disk",
    "Virtual disk",
    "The disk is one that a hypervisor shows. What its host has behind it is hidden: whether it \
     turns, what its caches hold and lose, how fast the link is, and who else uses it. Data that \
     this system reads from its disk may come out of the host's memory, and no counter here tells. \
     Take files larger than what the host may cache, and hold the results against the provider's \
     figures with `--limit disk.read=...`.",
);

const MEMORY_DISK: Entry = (
    "host.memory_disk",
    "Folder in memory",
    "The folder for the disk kernels is in memory: on a tmpfs, a RAM disk, zram, or a loop device \
     over one of these. What is measured there is no disk. Name a folder on a disk with \
     `--disk-path`.",
);

const PROBE_FAILED: Entry = (
    "host.probe_failed",
    "Facts that could not be read",
    "Something that ceilings or pinning need could not be read on this machine; the reason of each \
     stands with it. Ceilings and checks that need it say so; the other facts stand.",
);

/// Every finding about the host: id, title, and what it means with what to do
/// about it. All are notes.
pub const FINDINGS: &[(&str, &str, &str)] = &[
    MASKED_MODEL,
    USABLE_CPUS,
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

/// No core design has a last-level cache with more than this for each core
/// (EPYC 9184X: 768 MiB for 16 cores).
const MOST_L3_A_CORE: u64 = 48 << 20;

/// Adds what follows from the facts together.
pub(crate) fn add(host: &mut Host, dump: Option<&Dump>, hybrid: bool) {
    let notes = [
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

/// A finding of [`FINDINGS`].
pub(crate) fn note(entry: &Entry, message: impl Into<String>, advice: &str) -> Finding {
    Finding::new(entry.0, Severity::Note, message, advice)
}

/// The hypervisor's name, if this is a virtual machine.
fn hypervisor(host: &Host) -> Option<&str> {
    virtualisation::hypervisor(&host.os.virtualisation)
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
            "The virtual machine shows one hardware thread a core; whether two of its CPUs share \
             a physical core is hidden.",
            "If rates do not scale from one thread to all, CPUs may be siblings of one core.",
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
            "The virtual machine reports neither a base nor a boost clock; only the measured \
             clock is known.",
            "Read ceilings with the measured clock; it may differ on another day.",
        )
        .with("hypervisor", name)
    })
}

/// The last-level cache is reported larger than this machine can have to itself.
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
    let too_large = cache.size_bytes > MOST_L3_A_CORE.saturating_mul(cores);
    let why = match outsiders {
        Some(n) => format!("CPUID sets {n} CPU numbers aside for its sharers"),
        None if too_large => "no processor has this much for each core".to_owned(),
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
        "Take a working set of several times the whole cache for memory, and expect cache \
         results to depend on the neighbours.",
    );
    Some(finding.with("hypervisor", name).with("size_bytes", cache.size_bytes).with("cpus", cpus))
}

/// Memory kernels ask for huge pages with madvise(2), which `never` refuses.
fn huge_pages_off(host: &Host) -> Option<Finding> {
    let setting = &host.memory.transparent_huge_pages;
    let message = match setting.get().map(String::as_str) {
        Some("always" | "madvise") => return None,
        Some(word) => format!(
            "Transparent huge pages are set to `{word}`; memory kernels run on small pages."
        ),
        None => "Whether there are transparent huge pages is not known; memory kernels may run on \
                 small pages."
            .to_owned(),
    };
    let advice = "Write `madvise` to /sys/kernel/mm/transparent_hugepage/enabled to measure \
                  without the misses of the TLB.";
    Some(note(&HUGE_PAGES_OFF, message, advice).with("found", setting.origin()))
}

/// No module's transfer rate is known, so that the ceiling of DRAM is assumed.
fn hidden_modules(host: &Host) -> Option<Finding> {
    let modules = &host.memory.modules;
    if modules.get().is_some_and(|all| all.iter().any(|m| m.transfers_per_s.is_some())) {
        return None;
    }
    let (message, advice) = match hypervisor(host) {
        Some(_) => (
            "The virtual machine hides the memory modules; the ceiling of DRAM is assumed.",
            "Ask the provider for the modules, or measure on the bare machine, if it matters.",
        ),
        None => (
            "The memory modules' transfer rate is not known; the ceiling of DRAM is assumed.",
            "If the firmware's tables could not be read, run it as root once: they are for root.",
        ),
    };
    Some(note(&MODULES_HIDDEN, message, advice).with("found", modules.origin()))
}

/// The folder is on a disk that a hypervisor shows; any disk of a virtual machine is one.
fn virtual_disk(host: &Host) -> Option<Finding> {
    let storage = host.storage.get().filter(|s| s.kind == StorageKind::Block)?;
    let shown = |d: &&BlockDevice| {
        hypervisor(host).is_some()
            || matches!(d.transport.as_deref(), Some("virtio" | "xen" | "hyperv"))
    };
    let names: Vec<&str> = storage.leaves().filter(shown).map(|d| d.name.as_str()).collect();
    let message = match names.as_slice() {
        [] => return None,
        [one] => {
            format!("{one} is a virtual disk: the device and the caches behind it are hidden.")
        }
        several => format!(
            "{} are virtual disks: the devices and the caches behind them are hidden.",
            several.join(", ")
        ),
    };
    let advice = "Use files larger than the host's cache, and declare the provider's figures \
                  with --limit.";
    Some(note(&VIRTUAL_DISK, message, advice).with("devices", names))
}

fn memory_disk(host: &Host) -> Option<Finding> {
    let storage = host.storage.get().filter(|s| s.kind == StorageKind::Memory)?;
    let message = format!(
        "{} is in memory ({} at {}): what is measured there is no disk.",
        storage.path, storage.file_system, storage.mount_point
    );
    let advice = "Name a folder on a disk with --disk-path.";
    let names: Vec<&str> = storage.devices.iter().map(|d| d.name.as_str()).collect();
    Some(note(&MEMORY_DISK, message, advice).with("devices", names))
}

/// Facts that ceilings or pinning need and that are not known.
fn failed_probes(host: &Host) -> Option<Finding> {
    fn gone<T>(name: &str, probe: &Probe<T>) -> Option<(String, String)> {
        probe.get().is_none().then(|| (name.to_owned(), probe.origin().to_owned()))
    }
    let failed: Vec<_> = [
        gone("cpu.microarchitecture", &host.cpu.microarchitecture),
        gone("cpu.isa", &host.cpu.isa),
        gone("cpu.topology", &host.cpu.topology),
        gone("cpu.caches", &host.cpu.caches),
        gone("memory.total_bytes", &host.memory.total_bytes),
        gone("limits.affinity", &host.limits.affinity),
        gone("limits.cpu_quota", &host.limits.cpu_quota),
        gone("limits.memory_bytes", &host.limits.memory_bytes),
    ]
    .into_iter()
    .flatten()
    .collect();
    let names: Vec<&str> = failed.iter().map(|(name, _)| name.as_str()).collect();
    let message = match names.as_slice() {
        [] => return None,
        [one] => format!("{one} is not known."),
        several => format!("{} are not known.", several.join(", ")),
    };
    let advice = "Ceilings and checks that need them say so; the other facts stand.";
    let finding = note(&PROBE_FAILED, message, advice);
    Some(failed.iter().fold(finding, |f, (name, reason)| f.with(name, reason.as_str())))
}

#[cfg(test)]
mod tests;
