//! Network cards and firmware: machines of one model that differ in them may differ in results.
//!
//! Sources: Linux `Documentation/ABI/testing/sysfs-class-net`, `sysfs-bus-pci`, `sysfs-class-infiniband`
//! (`fw_ver`), `sysfs-firmware-dmi-tables` and `drivers/firmware/dmi-id.c`.

use std::collections::BTreeMap;

use crate::root::{Reason, Root, fault};

const NET: &str = "/sys/class/net";
const DMI: &str = "/sys/class/dmi/id";

/// Returns each kind of network card with its number: `2 mlx5_core 15b3:1017, firmware 16.35`.
pub(crate) fn network_cards(root: &Root) -> Result<(String, &'static str), Reason> {
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    for name in root.names(NET, "")? {
        // An interface without a device is none of a card.
        if let Ok(text) = root.read(&format!("{NET}/{name}/device/uevent")) {
            *counts.entry(card(root, &name, &text)).or_default() += 1;
        }
    }
    let all: Vec<String> = counts.into_iter().map(|(card, n)| format!("{n} {card}")).collect();
    match all.is_empty() {
        true => Err(fault(NET, "no interface has a device")),
        false => Ok((all.join("; "), NET)),
    }
}

/// Describes the card of an interface: driver, ids and firmware, as far as they are known.
fn card(root: &Root, name: &str, uevent: &str) -> String {
    let device = format!("{NET}/{name}/device");
    let driver = uevent.lines().find_map(|line| line.strip_prefix("DRIVER="));
    let id = |file: &str| {
        let id = root.line(&format!("{device}/{file}")).ok()?;
        Some(id.trim_start_matches("0x").to_owned())
    };
    let ids = id("vendor").zip(id("device")).map(|(vendor, device)| format!("{vendor}:{device}"));
    let of_infiniband = format!("{device}/infiniband");
    let ports = root.names(&of_infiniband, "").unwrap_or_default();
    let firmware = ports.first().and_then(|port| {
        let version = root.line(&format!("{of_infiniband}/{port}/fw_ver")).ok()?;
        Some(format!("firmware {version}"))
    });
    let model = [driver.map(str::to_owned), ids].into_iter().flatten().collect::<Vec<_>>();
    let model = if model.is_empty() { "unknown card".to_owned() } else { model.join(" ") };
    [Some(model), firmware].into_iter().flatten().collect::<Vec<_>>().join(", ")
}

/// Returns vendor, version and date of the firmware (BIOS or UEFI).
pub(crate) fn firmware(root: &Root) -> Result<(String, &'static str), Reason> {
    let line = |name: &str| root.line(&format!("{DMI}/{name}"));
    let version = line("bios_version")?;
    let parts = [line("bios_vendor").ok(), Some(version), line("bios_date").ok()];
    let parts = parts.into_iter().flatten().filter(|part| !part.is_empty());
    Ok((parts.collect::<Vec<_>>().join(" "), DMI))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Machine;

    #[test]
    fn cards_are_counted_by_kind_and_firmware() {
        let net = |name: &str, file: &str| format!("{NET}/{name}/device/{file}");
        let mut files = vec![(format!("{NET}/lo/mtu"), "65536\n".to_owned())];
        for (name, port, version) in
            [("a", "mlx5_0", "16.35"), ("b", "mlx5_1", "16.35"), ("c", "mlx5_2", "16.31")]
        {
            files.push((net(name, "uevent"), "DRIVER=mlx5_core\n".to_owned()));
            files.push((net(name, "vendor"), "0x15b3\n".to_owned()));
            files.push((net(name, "device"), "0x1017\n".to_owned()));
            files.push((net(name, &format!("infiniband/{port}/fw_ver")), format!("{version}\n")));
        }
        files.push((net("v", "uevent"), "DRIVER=virtio_net\n".to_owned()));
        let files: Vec<(&str, &str)> =
            files.iter().map(|(a, b)| (a.as_str(), b.as_str())).collect();
        let machine = Machine::new(&files);
        let expected = "1 mlx5_core 15b3:1017, firmware 16.31; 2 mlx5_core 15b3:1017, firmware \
                        16.35; 1 virtio_net";
        assert_eq!(network_cards(&machine.root()).unwrap().0, expected);
        assert!(firmware(&machine.root()).is_err());
        let machine = Machine::new(&[
            ("/sys/class/dmi/id/bios_vendor", "Maker\n"),
            ("/sys/class/dmi/id/bios_version", "2.1\n"),
        ]);
        assert_eq!(firmware(&machine.root()).unwrap().0, "Maker 2.1");
        assert!(network_cards(&machine.root()).is_err());
    }
}
