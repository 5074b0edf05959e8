//! Looks at the machine and fills [`Host`].
//!
//! One file per probe. A probe that fails leaves its reason in place of the value. All read through
//! [`Root`], so that the same code runs on the live machine and on folders captured of others.
//!
//! ```
//! let host = proofmark_host::look(&proofmark_host::Root::live(), "/");
//! assert!(!host.limits.usable_cpus.is_empty());
//! ```

mod addresses;
mod caches;
mod cgroup;
mod clock;
mod container;
mod cpuid;
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
mod reason;
mod root;
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

/// Ids of every core design that [`look`] can name, each once.
pub fn designs() -> impl Iterator<Item = &'static str> {
    microarchitecture::ids()
}

/// Looks at the machine, and at what is under the folder `disk_path` (absolute; may hold links and
/// `..`). Takes milliseconds, and never fails as a whole. If the folder cannot be used (missing, a
/// file, read-only, not this user's to write in), [`Host::storage`] says so and what to do. It
/// makes no file anywhere; of io_uring it sets up one ring of one entry and closes it.
///
/// Left for others to fill, because they must be measured: [`proofmark_model::Clock::measured_hz`],
/// and the resolution and overhead in [`proofmark_model::Timer`].
pub fn look(root: &Root, disk_path: &str) -> Host {
    let cpuid = root.cpuid();
    let who = identity::look(root, cpuid.as_ref());
    let topology = topology::look(root);
    let caches = caches::look(root, &topology.online);
    let online = topology.online.get().cloned().unwrap_or_default();
    let first = topology.online.get().and_then(|cpus| cpus.first().copied()).unwrap_or(0);
    let (design, masked) = microarchitecture::conclude(&who, caches::sizes(&caches));
    let mut findings: Vec<_> = masked.into_iter().collect();
    let limits = limits::look(root, &topology, &mut findings);
    let hybrid = who.hybrid;
    let virtualisation = virtualisation::look(root, cpuid.as_ref());
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
            numa_nodes: numa::look(root),
            caches,
            clock: clock::look(root, cpuid.as_ref(), first),
        },
        memory: memory::look(root, hypervisor),
        storage: storage::look(root, disk_path, hypervisor.is_some()),
        network: proofmark_model::Probe::missing("no network is measured"),
        os: Os {
            host_name: os::host_name(root),
            product: os::product(root),
            kernel: os::kernel(root),
            distribution: os::distribution(root),
            virtualisation,
            container: container::look(root),
        },
        limits,
        settings: settings::look(root, &online),
        timer: timer::look(root),
        load: load::look(root),
        findings,
    };
    findings::add(&mut host, cpuid.as_ref().ok(), hybrid);
    host
}
