//! Hypervisor of the machine: CPUID's hypervisor leaf on x86, the kernel's and the firmware's
//! report elsewhere.
//!
//! Sources: Linux `Documentation/virt/kvm/x86/cpuid.rst`, Microsoft's Hypervisor Top Level
//! Functional Specification (leaf 0x40000000); systemd-detect-virt(1) for the names that firmware
//! tables use.

use proofmark_model::Probe;

use crate::cpuid::Dump;
use crate::root::{Reason, Root};

const DMI: &str = "/sys/class/dmi/id";

/// Detects the hypervisor; `none` on bare metal.
pub(crate) fn detect(root: &Root, cpuid: Result<&Dump, &Reason>) -> Probe<String> {
    if let Ok(dump) = cpuid {
        return match dump.hypervisor() {
            Some(signature) => Probe::known(by_signature(&signature), "CPUID leaf 0x40000000"),
            None => Probe::known("none".to_owned(), "CPUID leaf 0x1"),
        };
    }
    const TYPE: &str = "/sys/hypervisor/type";
    if let Ok(kind) = root.line(TYPE) {
        return Probe::known(kind, TYPE);
    }
    const TREE: &str = "/proc/device-tree/hypervisor/compatible";
    if let Ok(kind) = root.line(TREE) {
        return Probe::known(by_device_tree(&kind), TREE);
    }
    let word = |name: &str| root.line(&format!("{DMI}/{name}"));
    match (word("sys_vendor"), word("product_name")) {
        (Ok(vendor), product) => {
            let product = product.unwrap_or_default();
            Probe::known(by_firmware(&vendor, &product), format!("{DMI}: {vendor} {product}"))
        }
        (Err(reason), _) => Probe::missing(format!(
            "no CPUID, /sys/hypervisor or device tree reports a hypervisor; {reason}"
        )),
    }
}

/// Returns the hypervisor's name on a known virtual machine.
pub(crate) fn hypervisor(found: &Probe<String>) -> Option<&str> {
    found.get().map(String::as_str).filter(|name| *name != "none")
}

fn by_signature(signature: &str) -> String {
    let name = match signature {
        "KVMKVMKVM" | "Linux KVM Hv" => "kvm",
        "Microsoft Hv" => "hyperv",
        "VMwareVMware" => "vmware",
        "XenVMMXenVMM" => "xen",
        "TCGTCGTCGTCG" => "qemu",
        "VBoxVBoxVBox" => "virtualbox",
        "bhyve bhyve" => "bhyve",
        "prl hyperv" => "parallels",
        "ACRNACRNACRN" => "acrn",
        "" => "unknown",
        other => return format!("unknown ({other})"),
    };
    name.to_owned()
}

fn by_device_tree(compatible: &str) -> String {
    match compatible.trim_matches('\0') {
        "linux,kvm" => "kvm".to_owned(),
        text if text.starts_with("xen") => "xen".to_owned(),
        other => format!("unknown ({})", other.replace('\0', " ")),
    }
}

/// Returns the name by the firmware's vendor and product; `none` for vendors of real machines.
fn by_firmware(vendor: &str, product: &str) -> String {
    let name = match (vendor, product) {
        ("Amazon EC2", p) if p.contains(".metal") => "none",
        ("Amazon EC2", _) => "amazon",
        ("Google", p) if p.contains("Compute Engine") => "google",
        ("Microsoft Corporation", "Virtual Machine") => "hyperv",
        (_, p) if p.contains("KVM") => "kvm",
        ("QEMU", _) => "qemu",
        (v, _) if v.starts_with("VMware") => "vmware",
        (_, "VirtualBox") => "virtualbox",
        ("Xen", _) => "xen",
        ("Parallels", _) => "parallels",
        (v, p) if v.starts_with("Apple") && p.contains("Virtual") => "apple",
        ("Alibaba Cloud" | "OpenStack Foundation" | "DigitalOcean" | "Hetzner", _) => "kvm",
        _ => "none",
    };
    name.to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signatures_have_names_and_strange_ones_are_shown() {
        assert_eq!(by_signature("KVMKVMKVM"), "kvm");
        assert_eq!(by_signature("Microsoft Hv"), "hyperv");
        assert_eq!(by_signature("SomethingNew"), "unknown (SomethingNew)");
        assert_eq!(by_signature(""), "unknown");
    }

    #[test]
    fn firmware_tells_metal_from_virtual() {
        assert_eq!(by_firmware("Amazon EC2", "c6g.metal"), "none");
        assert_eq!(by_firmware("Amazon EC2", "c6g.large"), "amazon");
        assert_eq!(by_firmware("QEMU", "KVM Virtual Machine"), "kvm");
        assert_eq!(by_firmware("GIGABYTE", "R272-P30-JG"), "none");
        assert_eq!(by_device_tree("linux,kvm\0"), "kvm");
    }

    #[test]
    fn without_any_word_it_is_unknown() {
        let nothing = crate::testing::Machine::new(&[]);
        let found = detect(&nothing.root(), Err(&"x".to_owned()));
        assert!(found.get().is_none());
        assert!(found.origin().contains("sys_vendor: no such file"), "{found:?}");
    }
}
