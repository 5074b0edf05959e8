//! What a reader should know about the host itself. All are notes: they disturb
//! no number by themselves.

use proofmark_model::{CacheKind, Finding, Host, Probe, Severity, format_size};

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
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    /// The ids in quotes in a text.
    fn quoted(text: &str) -> BTreeSet<&str> {
        text.split('"').filter(|part| part.starts_with("host.")).collect()
    }

    /// The crate's code, file by file, without its tests.
    fn sources(folder: &std::path::Path, found: &mut Vec<(String, String)>) {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                sources(&path, found);
            } else if path.file_name().is_some_and(|name| name != "tests.rs") {
                let text = std::fs::read_to_string(&path).unwrap();
                let code = text.split("#[cfg(test)]").next().unwrap_or_default().to_owned();
                found.push((path.display().to_string(), code));
            }
        }
    }

    fn two_sockets() -> Host {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/skylake_two_sockets");
        crate::look(&crate::Root::fixture(folder), "/srv")
    }

    #[test]
    fn huge_pages_that_are_off_or_unknown() {
        let mut host = two_sockets();
        let mut told = |setting: Probe<String>| {
            host.memory.transparent_huge_pages = setting;
            huge_pages_off(&host).map(|f| f.message)
        };
        for on in ["always", "madvise"] {
            assert_eq!(told(Probe::known(on.to_owned(), "test")), None);
        }
        let off = told(Probe::known("never".to_owned(), "test")).unwrap();
        assert!(off.contains("set to `never`"), "{off}");
        assert!(told(Probe::missing("test")).unwrap().contains("is not known"));
    }

    #[test]
    fn modules_whose_speed_nobody_tells() {
        let mut host = two_sockets();
        let mut modules = vec![proofmark_model::MemoryModule {
            locator: "A1".to_owned(),
            kind: "DDR4".to_owned(),
            size_bytes: 1 << 30,
            transfers_per_s: Some(2666e6),
            data_bits: Some(64),
        }];
        host.memory.modules = Probe::known(modules.clone(), "test");
        assert_eq!(hidden_modules(&host), None);
        modules[0].transfers_per_s = None;
        host.memory.modules = Probe::known(modules, "test");
        assert!(hidden_modules(&host).unwrap().message.contains("is not known"));
        host.os.virtualisation = Probe::known("kvm".to_owned(), "test");
        assert!(hidden_modules(&host).unwrap().message.contains("virtual machine hides"));
        host.memory.modules = Probe::missing("test");
        assert!(hidden_modules(&host).is_some());
    }

    #[test]
    fn every_finding_is_listed_once_and_explained() {
        let ids: BTreeSet<_> = FINDINGS.iter().map(|f| f.0).collect();
        assert_eq!(ids.len(), FINDINGS.len());
        for (id, title, about) in FINDINGS {
            assert!(id.starts_with("host.") && !title.ends_with('.'), "{id}: {title}");
            assert!(about.len() > 80 && about.ends_with('.') && !about.contains("  "), "{about}");
        }
    }

    #[test]
    fn no_code_names_or_makes_another() {
        let mut files = Vec::new();
        sources(&std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("src"), &mut files);
        let listed: BTreeSet<_> = FINDINGS.iter().map(|f| f.0).collect();
        let mut named = BTreeSet::new();
        for (path, code) in &files {
            named.extend(quoted(code));
            // All findings are made by `note`, from an entry of the list.
            let made = code.matches("Finding::new(").count();
            assert_eq!(made, usize::from(path.ends_with("src/findings.rs")), "{path}");
        }
        assert_eq!(named, listed);
    }
}
