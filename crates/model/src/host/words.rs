//! The machine in words.

use super::Host;
use crate::{clean_excerpt, counted, format_size};

/// The value of [`Os::virtualisation`] of a machine that is not virtual.
const BARE_METAL: &str = "none";

impl Host {
    /// Describes the machine in a few words: processor, CPUs, memory, and hypervisor.
    pub fn words(&self) -> String {
        const LONGEST: usize = 60;
        let short = |text: &str| clean_excerpt(text, LONGEST);
        let model = self.cpu.model_name.get().map_or("unnamed CPU", |n| n.as_str());
        let mut parts = vec![short(model)];
        if let Some(design) = self.cpu.microarchitecture.get() {
            parts[0] += &format!(" ({})", short(&design.id));
        }
        parts.extend(self.os.product.get().map(|product| short(product)));
        if !self.limits.usable_cpus.is_empty() {
            parts.push(counted(self.limits.usable_cpus.len() as f64, "CPU"));
        }
        if let Some(quota) = self.limits.cpu_quota.get().and_then(|q| q.cpus) {
            parts.push(format!("quota of {}", counted(quota, "CPU")));
        }
        let total = self.memory.total_bytes.get().copied();
        parts.extend(total.map(format_size));
        let limit = self.limits.memory_bytes.get().copied().flatten();
        let limit = limit.filter(|limit| total.is_none_or(|total| *limit < total));
        parts.extend(limit.map(|bytes| format!("memory limit of {}", format_size(bytes))));
        parts.extend(self.hypervisor().map(|name| format!("{} guest", short(name))));
        parts.join(", ")
    }

    /// Describes what identifies the machine in many runs: processor, usable CPUs, installed
    /// memory.
    pub fn same_machine_words(&self) -> String {
        let cpu = self.cpu.model_name.get().map_or("unnamed CPU", |name| name.trim());
        let cpus = Some(self.limits.usable_cpus.len()).filter(|n| *n > 0);
        let memory = self.memory.installed_bytes().map(format_size);
        let parts = [Some(cpu.to_owned()), cpus.map(|n| counted(n as f64, "CPU")), memory];
        parts.into_iter().flatten().collect::<Vec<_>>().join(", ")
    }

    /// Returns true if both are one machine, by its name and what identifies it in many runs.
    pub fn is_same_machine(&self, other: &Self) -> bool {
        let names = [self, other].map(|host| host.os.host_name.get());
        names[0].is_some()
            && names[0] == names[1]
            && self.same_machine_words() == other.same_machine_words()
    }

    /// Returns true if the machine is virtual, false if it is not, where that is known.
    pub fn is_virtual(&self) -> Option<bool> {
        self.os.virtualisation.get().map(|name| name != BARE_METAL)
    }

    /// Returns the name of the hypervisor, if the machine is known to be virtual.
    pub fn hypervisor(&self) -> Option<&str> {
        self.os.virtualisation.get().map(String::as_str).filter(|name| *name != BARE_METAL)
    }
}
