//! Attachment of a device, from the sysfs folders above it, and the storage kind that it implies
//! for a device without lower devices.
//!
//! Sources: Linux `drivers/ata`, `drivers/scsi`, `drivers/nvme`, `drivers/block`,
//! `drivers/target/loopback`, `drivers/vdpa/vdpa_sim` and `drivers/usb` (names of devices);
//! `Documentation/driver-api/libata.rst`, `scsi/`, `driver-api/usb/`, `usb/usbip_protocol.rst`,
//! `admin-guide/kernel-parameters.rst` (memmap).

use proofmark_model::StorageKind;

use super::file_system::last;
use crate::root::Root;

/// Transport of a device in memory.
const MEMORY: &str = "memory";
/// Transport of a device on a network.
const NETWORK: &str = "network";

/// Returns the storage kind of a device without lower devices, from its name, its real folder in
/// sysfs and its [`transport`].
pub(super) fn holder(name: &str, folder: &str, transport: Option<&str>) -> StorageKind {
    match transport {
        Some(MEMORY) => return StorageKind::Memory,
        // A Fibre Channel array is a server with its own cache.
        Some(NETWORK | "iscsi" | "fc") => return StorageKind::Network,
        // Persistent memory looks like a range of DRAM reserved by memmap=. The others pass I/O on
        // to something on this machine, usually a file or memory, and do not report it.
        Some("pmem" | "nvme loop" | "tcm_loop" | "dummy_hcd") => return StorageKind::Unknown,
        _ => {}
    }
    match kind(name) {
        // It has no local disk, so its peer does the I/O.
        "DRBD" => StorageKind::Network,
        "disk" if has_hardware(folder) => StorageKind::Block,
        // A device, or a program behind it, that generates its data.
        _ => StorageKind::Unknown,
    }
}

/// True if the kernel has the device below a hardware device. The head of an NVMe namespace with
/// several controllers is not, but it is above its paths.
fn has_hardware(folder: &str) -> bool {
    const NONE: &[&str] = &["/sys/devices/virtual/", "/sys/devices/faux/"];
    !NONE.iter().any(|begin| folder.starts_with(begin))
}

/// Returns the attachment of a device with this real folder in sysfs: `sata`, `nvme`, `usb`, `sas`,
/// `scsi` and so on. `None` for devices without one, such as RAID, and unknown ones. An emulated
/// device is recognised by a folder above its bus.
pub(super) fn transport(root: &Root, folder: &str) -> Option<&'static str> {
    let name = last(folder)?;
    let is_scsi = || folder.split('/').any(|s| numbered(s, "host")).then_some("scsi");
    let found = by_name(&name)
        .or_else(|| folder.split('/').find_map(emulated))
        .or_else(|| folder.rsplit('/').find_map(by_segment));
    let bus = found.or_else(is_scsi)?;
    let over = root.line(&format!("{folder}/device/transport"));
    Some(match over.as_deref() {
        Ok("tcp" | "rdma" | "fc") if bus == "nvme" => NETWORK,
        Ok("loop") if bus == "nvme" => "nvme loop",
        _ => bus,
    })
}

/// Returns the kind of a whole device, from its name.
pub(super) fn kind(name: &str) -> &'static str {
    const KINDS: &[(&str, &str)] = &[
        ("dm-", "device mapper"),
        ("md", "RAID"),
        ("loop", "loop"),
        ("zram", "zram"),
        ("ram", "RAM disk"),
        ("nullb", "RAM disk"),
        ("bcache", "bcache"),
        ("drbd", "DRBD"),
        ("zd", "ZFS volume"),
        ("ublkb", "ublk"),
    ];
    // Matches `md127`, but also `md_name` and `md_d0`.
    let fits = |begin: &str| match name.strip_prefix(begin) {
        Some(rest) => rest.starts_with(|c: char| c.is_ascii_digit() || c == '_'),
        None => false,
    };
    KINDS.iter().find(|(begin, _)| fits(begin)).map_or("disk", |(_, kind)| kind)
}

/// Returns the transport of devices without a bus.
fn by_name(name: &str) -> Option<&'static str> {
    if matches!(kind(name), "zram" | "RAM disk") {
        return Some(MEMORY);
    }
    // The last of these is ATA over Ethernet.
    if ["nbd", "rbd", "rnbd", "etherd!e"].iter().any(|begin| numbered(name, begin)) {
        return Some(NETWORK);
    }
    ["nvme", "pmem"].into_iter().find(|begin| numbered(name, begin))
}

/// Returns the transport of an emulated device, from a folder on its path.
fn emulated(segment: &str) -> Option<&'static str> {
    const BEGINS: &[(&str, &str)] = &[
        // RAM that emulates a disk (scsi_debug, the simulator of vDPA).
        ("pseudo_", MEMORY),
        ("vdpasim_blk", MEMORY),
        // A SCSI target of this machine; a USB gadget of this machine; a USB device of another one.
        ("tcm_loop_", "tcm_loop"),
        ("dummy_hcd", "dummy_hcd"),
        ("vhci_hcd", NETWORK),
    ];
    BEGINS.iter().find(|(begin, _)| segment.starts_with(begin)).map(|(_, transport)| *transport)
}

/// Returns the transport that a folder on the path implies; the nearest counts.
fn by_segment(segment: &str) -> Option<&'static str> {
    const NUMBERED: &[(&str, &str)] = &[
        ("virtio", "virtio"),
        ("ata", "sata"),
        ("end_device-", "sas"),
        ("rport-", "fc"),
        ("session", "iscsi"),
        ("usb", "usb"),
        ("vbd-", "xen"),
        ("mmc", "mmc"),
    ];
    if segment.starts_with("VMBUS:") || segment.starts_with("MSFT1000:") {
        return Some("hyperv");
    }
    NUMBERED.iter().find(|(begin, _)| numbered(segment, begin)).map(|(_, transport)| *transport)
}

/// True if the name is this prefix and a number.
fn numbered(name: &str, begin: &str) -> bool {
    name.strip_prefix(begin).is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_by_name() {
        for (name, expected) in
            [("sda", "disk"), ("md127", "RAID"), ("md_home", "RAID"), ("mdisk", "disk")]
        {
            assert_eq!(kind(name), expected, "{name}");
        }
    }
}
