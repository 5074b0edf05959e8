//! What a reader should know about the host itself. All are notes: they disturb
//! no number by themselves.

use proofmark_model::{CacheKind, Finding, Host, Probe, Severity, format_size};

use crate::cpuid::Dump;

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
        failed_probes(host),
    ];
    host.findings.extend(notes.into_iter().flatten());
}

fn note(check: &'static str, message: impl Into<String>, advice: &str) -> Finding {
    Finding::new(check, Severity::Note, message, advice)
}

/// The hypervisor's name, if this is a virtual machine.
fn hypervisor(host: &Host) -> Option<&str> {
    host.os.virtualisation.get().map(String::as_str).filter(|name| *name != "none")
}

fn hybrid_cores() -> Finding {
    note(
        "host.hybrid_cores",
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
            "host.smt_hidden",
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
            "host.clock_hidden",
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
        "host.cache_share",
        format!(
            "The L{} cache is reported as {} for {cpus} CPUs, but {why}: other guests share it.",
            cache.level,
            format_size(cache.size_bytes)
        ),
        "Take a working set of several times the whole cache for memory, and expect cache \
         results to depend on the neighbours.",
    );
    Some(finding.with("hypervisor", name).with("size_bytes", cache.size_bytes).with("cpus", cpus))
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
    let finding = note("host.probe_failed", message, advice);
    Some(failed.iter().fold(finding, |f, (name, reason)| f.with(name, reason.as_str())))
}
