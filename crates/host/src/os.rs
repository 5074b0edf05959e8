//! Kernel, distribution, and the machine's host and product name.
//!
//! Sources: proc(5); os-release(5); sysfs-class-dmi-id.

use proofmark_model::Probe;

use crate::root::{Root, fault, probe};

const HOST_NAME: &str = "/proc/sys/kernel/hostname";
const VENDOR: &str = "/sys/class/dmi/id/sys_vendor";
const PRODUCT: &str = "/sys/class/dmi/id/product_name";
const OSTYPE: &str = "/proc/sys/kernel/ostype";
const OSRELEASE: &str = "/proc/sys/kernel/osrelease";

pub(crate) fn kernel(root: &Root) -> Probe<String> {
    let name = |kind| Ok(format!("{kind} {}", root.line(OSRELEASE)?));
    probe(root.line(OSTYPE).and_then(name), OSRELEASE)
}

/// Reads the host name.
pub(crate) fn host_name(root: &Root) -> Probe<String> {
    probe(root.line(HOST_NAME), HOST_NAME)
}

/// Reads the firmware's vendor and product: at some providers the instance type. Serial numbers and
/// UUIDs next to them are not read.
pub(crate) fn product(root: &Root) -> Probe<String> {
    let named = |text: &String| {
        let text = text.to_lowercase();
        !["", "none", "default string", "to be filled by o.e.m.", "system product name"]
            .contains(&text.as_str())
    };
    let both = root.line(PRODUCT).map(|product| {
        let vendor = root.line(VENDOR).ok().filter(|vendor| !product.starts_with(vendor.as_str()));
        let parts: Vec<String> = vendor.into_iter().chain([product]).filter(named).collect();
        parts.join(" ")
    });
    let both = both.and_then(|name| match name.as_str() {
        "" => Err(fault(PRODUCT, "no name")),
        _ => Ok(name),
    });
    probe(both, PRODUCT)
}

/// Reads the name of the distribution; in a container, that of its image.
pub(crate) fn distribution(root: &Root) -> Probe<String> {
    let mut last = "not examined".to_owned();
    for path in ["/etc/os-release", "/usr/lib/os-release"] {
        match root.read(path).map(|text| pretty_name(&text)) {
            Ok(Some(name)) => return Probe::known(name, path),
            Ok(None) => last = fault(path, "no PRETTY_NAME"),
            Err(reason) => last = reason,
        }
    }
    Probe::missing(last)
}

fn pretty_name(text: &str) -> Option<String> {
    let value = text.lines().find_map(|l| l.trim().strip_prefix("PRETTY_NAME="))?;
    let value = value.trim().trim_matches(['"', '\'']).trim();
    (!value.is_empty()).then(|| value.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_pretty_name_is_without_quotes() {
        let text = "NAME=\"Debian\"\nPRETTY_NAME=\"Debian GNU/Linux 12 (bookworm)\"\n";
        assert_eq!(pretty_name(text).unwrap(), "Debian GNU/Linux 12 (bookworm)");
        assert_eq!(pretty_name("PRETTY_NAME=Plain\n").unwrap(), "Plain");
        assert_eq!(pretty_name("PRETTY_NAME=\"\"\nNAME=x\n"), None);
    }
}
