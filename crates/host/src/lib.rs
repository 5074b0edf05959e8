//! Detection of the machine's facts, as a [`Host`].
//!
//! Each probe has its own file. A failed probe leaves its reason in place of the value. All probes
//! read through [`Root`], so the same code runs on the live machine and on captured ones.
//!
//! ```
//! let host = proofmark_host::detect(&proofmark_host::Root::live(), "/");
//! assert!(!host.limits.usable_cpus.is_empty());
//! ```

mod addresses;
mod caches;
mod cards;
mod cgroup;
mod clock;
mod container;
mod cpuid;
mod environment;
mod features;
mod findings;
mod identity;
mod limits;
mod load;
#[cfg(test)]
mod many_cpus;
mod memory;
mod microarchitecture;
mod mounts;
pub mod network;
mod numa;
mod os;
mod process_limits;
mod reason;
mod root;
mod route;
mod settings;
mod smbios;
mod storage;
mod system_state;
#[cfg(test)]
mod testing;
mod text;
mod timer;
mod topology;
mod virtualisation;

use proofmark_model::{Cpu, Host, Os};

pub use findings::FINDINGS;
pub use limits::cpu_stat;
pub use load::CpuTicks;
pub use root::Root;
pub use system_state::system_state;

/// Iterates over the ids of every core design that [`detect`] can name.
pub fn designs() -> impl Iterator<Item = &'static str> {
    microarchitecture::ids()
}

/// Detects the machine and the storage under the folder `disk_path` (absolute; may hold links and
/// `..`). Takes milliseconds and never fails as a whole. If the folder is unusable (missing, a
/// file, read-only, without write permission), [`Host::storage`] has the reason and the action.
/// Creates no file; to probe io_uring it sets up one ring of one entry and closes it.
///
/// Measured values are left to the caller: [`proofmark_model::Clock::measured_hz`], and the
/// resolution and overhead in [`proofmark_model::Timer`].
pub fn detect(root: &Root, disk_path: &str) -> Host {
    let cpuid = root.cpuid();
    let who = identity::detect(root, cpuid.as_ref());
    let topology = topology::detect(root);
    let caches = caches::detect(root, &topology.online);
    let online = topology.online.get().cloned().unwrap_or_default();
    let first = topology.online.get().and_then(|cpus| cpus.first().copied()).unwrap_or(0);
    let (design, masked) = microarchitecture::conclude(&who, caches::sizes(&caches));
    let mut findings: Vec<_> = masked.into_iter().collect();
    let limits = limits::detect(root, &topology, &mut findings);
    let hybrid = who.hybrid;
    let virtualisation = virtualisation::detect(root, cpuid.as_ref());
    let hypervisor = virtualisation::hypervisor(&virtualisation);
    let mut host = Host {
        cpu: Cpu {
            arch: root.arch(),
            vendor: who.vendor,
            model_name: who.model_name,
            family: who.family,
            model: who.model,
            stepping: who.stepping,
            microarchitecture: design,
            isa: who.isa,
            sockets: topology.sockets(),
            cores: topology.cores(),
            logical_cpus: topology.logical_cpus(),
            threads_per_core: topology.threads_per_core(),
            topology: topology.cpus,
            numa_nodes: numa::detect(root),
            caches,
            clock: clock::detect(root, cpuid.as_ref(), first),
        },
        memory: memory::detect(root, hypervisor),
        storage: storage::detect(root, disk_path, hypervisor.is_some()),
        network: proofmark_model::Probe::missing("no network is measured"),
        os: Os {
            host_name: os::host_name(root),
            product: os::product(root),
            kernel: os::kernel(root),
            distribution: os::distribution(root),
            virtualisation,
            container: container::detect(root),
        },
        limits,
        settings: settings::detect(root, &online),
        timer: timer::detect(root),
        load: load::detect(root),
        findings,
    };
    findings::add(&mut host, cpuid.as_ref().ok(), hybrid);
    host
}
