//! The kernel's command line without values that identify a machine: disks, addresses, names.

/// The name of the command line among the host's settings.
pub(super) const SETTING: &str = "kernel command line";

/// Options that change speed and whose values identify nothing (Linux
/// `admin-guide/kernel-parameters.txt`).
const OF_SPEED: [&str; 50] = [
    "amd_iommu",
    "amd_pstate",
    "audit",
    "clocksource",
    "cpufreq.default_governor",
    "cpuidle.governor",
    "cpuidle.off",
    "default_hugepagesz",
    "hugepages",
    "hugepagesz",
    "idle",
    "init_on_alloc",
    "init_on_free",
    "intel_idle.max_cstate",
    "intel_iommu",
    "intel_pstate",
    "iommu",
    "iommu.passthrough",
    "iommu.strict",
    "irqaffinity",
    "isolcpus",
    "l1tf",
    "maxcpus",
    "mds",
    "mem",
    "mitigations",
    "mmio_stale_data",
    "nmi_watchdog",
    "nohz",
    "nohz_full",
    "nr_cpus",
    "numa",
    "numa_balancing",
    "pcie_aspm",
    "preempt",
    "processor.max_cstate",
    "pti",
    "rcu_nocbs",
    "retbleed",
    "selinux",
    "skew_tick",
    "spec_rstack_overflow",
    "spec_store_bypass_disable",
    "spectre_v2",
    "spectre_v2_user",
    "srbds",
    "transparent_hugepage",
    "tsc",
    "tsx",
    "tsx_async_abort",
];

/// Returns the names of the options, with the values of those that change speed.
pub(super) fn without_names(line: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "._-".contains(c);
    let shown = |option: &str| {
        let (name, value) = option.split_once('=').map_or((option, None), |(n, v)| (n, Some(v)));
        let known = OF_SPEED.contains(&name);
        match value {
            _ if !name.chars().all(plain) => None,
            Some(_) if !known => Some(format!("{name}=...")),
            _ => Some(option.to_owned()),
        }
    };
    line.split_whitespace().filter_map(shown).collect::<Vec<_>>().join(" ")
}
