//! How a device is attached, by the folders of sysfs above its own, and what that says
//! of a device that no other carries.
//!
//! Sources: Linux `drivers/ata`, `drivers/scsi`, `drivers/nvme`, `drivers/block`,
//! `drivers/target/loopback`, `drivers/vdpa/vdpa_sim` and `drivers/usb`, whose device
//! names these are; `Documentation/driver-api/libata.rst`, `scsi/`, `driver-api/usb/`,
//! `usb/usbip_protocol.rst`, `admin-guide/kernel-parameters.rst` (memmap).

use proofmark_model::StorageKind;

use super::file_system::last;
use crate::root::Root;

/// The transport of a device that is memory.
const MEMORY: &str = "memory";
/// The transport of a device whose data come over a network.
const NETWORK: &str = "network";

/// What holds the data of a device that no other carries, by its name, its real folder
/// in sysfs and its [`transport`].
pub(super) fn holder(name: &str, folder: &str, transport: Option<&str>) -> StorageKind {
    match transport {
        Some(MEMORY) => return StorageKind::Memory,
        // A disk array on Fibre Channel is a server with a cache of its own.
        Some(NETWORK | "iscsi" | "fc") => return StorageKind::Network,
        // Persistent memory or memory that poses as it: a range of DRAM that memmap= set aside
        // looks the same. The others pass on what this machine holds, mostly a file or memory, and
        // do not report which.
        Some("pmem" | "nvme loop" | "tcm_loop" | "dummy_hcd") => return StorageKind::Unknown,
        _ => {}
    }
    match kind(name) {
        // Its own disk is missing, so that its peer does the I/O.
        "DRBD" => StorageKind::Network,
        "disk" if has_hardware(folder) => StorageKind::Block,
        // A device that makes its data up, or a program that does.
        _ => StorageKind::Unknown,
    }
}

/// Whether the kernel has the device below one of hardware. The head of an NVMe
/// namespace with several controllers has not, but it is on top of its paths.
fn has_hardware(folder: &str) -> bool {
    const NONE: &[&str] = &["/sys/devices/virtual/", "/sys/devices/faux/"];
    !NONE.iter().any(|begin| folder.starts_with(begin))
}

/// How a device with this real folder in sysfs is attached: `sata`, `nvme`, `usb`,
/// `sas`, `scsi` and so on; `None` for what has no attachment, as a RAID, and what is
/// not known. What poses as hardware is known by a folder further up than its bus.
pub(super) fn transport(root: &Root, folder: &str) -> Option<&'static str> {
    let name = last(folder)?;
    let is_scsi = || folder.split('/').any(|s| numbered(s, "host")).then_some("scsi");
    let found = by_name(&name)
        .or_else(|| folder.split('/').find_map(poses))
        .or_else(|| folder.rsplit('/').find_map(by_segment));
    let bus = found.or_else(is_scsi)?;
    let over = root.line(&format!("{folder}/device/transport"));
    Some(match over.as_deref() {
        Ok("tcp" | "rdma" | "fc") if bus == "nvme" => NETWORK,
        Ok("loop") if bus == "nvme" => "nvme loop",
        _ => bus,
    })
}

/// What a whole device is, by its name.
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
    // `md127`, but also `md_name` and `md_d0`.
    let fits = |begin: &str| match name.strip_prefix(begin) {
        Some(rest) => rest.starts_with(|c: char| c.is_ascii_digit() || c == '_'),
        None => false,
    };
    KINDS.iter().find(|(begin, _)| fits(begin)).map_or("disk", |(_, kind)| kind)
}

/// Devices without a bus.
fn by_name(name: &str) -> Option<&'static str> {
    if matches!(kind(name), "zram" | "RAM disk") {
        return Some(MEMORY);
    }
    // Of these the last is ATA over Ethernet.
    if ["nbd", "rbd", "rnbd", "etherd!e"].iter().any(|begin| numbered(name, begin)) {
        return Some(NETWORK);
    }
    ["nvme", "pmem"].into_iter().find(|begin| numbered(name, begin))
}

/// What a folder on the way says of a device that poses as one on a bus.
fn poses(segment: &str) -> Option<&'static str> {
    const BEGINS: &[(&str, &str)] = &[
        // RAM that plays a disk (scsi_debug, the simulator of vDPA).
        ("pseudo_", MEMORY),
        ("vdpasim_blk", MEMORY),
        // A SCSI target of this machine; a USB gadget of it; a USB device of another one.
        ("tcm_loop_", "tcm_loop"),
        ("dummy_hcd", "dummy_hcd"),
        ("vhci_hcd", NETWORK),
    ];
    BEGINS.iter().find(|(begin, _)| segment.starts_with(begin)).map(|(_, transport)| *transport)
}

/// What a folder on the way says. The nearest that says something counts.
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

/// Whether the name is these letters and then a number.
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
