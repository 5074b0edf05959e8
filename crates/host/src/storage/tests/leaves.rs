//! Tests on devices at the bottom: memory and servers that look like a disk are not disks.

use super::*;

const FUNCTION: &str = "pci0000:00/0000:00:1d.0/0000:3d:00.0";
const SCSI: &str = "host3/target3:0:0/3:0:0:0/block/sdb";

/// Creates a machine with a file system directly on the device of this folder.
fn one(folder: &str) -> Machine {
    let m = machine(&on("259:0", "ext4", "/dev/x"));
    m.device(folder, "259:0");
    m
}

#[test]
fn a_folder_shows_the_transport_and_what_holds_the_data() {
    use StorageKind::{Block, Memory, Network, Unknown};
    let on_bus = |bus: &str| format!("{bus}/{SCSI}");
    let pci = |bus: &str| format!("{FUNCTION}/{bus}/{SCSI}");
    for (folder, transport, kind) in [
        // Disks of this machine.
        (SATA.to_owned(), Some("sata"), Block),
        (NVME.to_owned(), Some("nvme"), Block),
        (pci("usb2/2-1/2-1:1.0"), Some("usb"), Block),
        (format!("{FUNCTION}/virtio1/block/vda"), Some("virtio"), Block),
        (pci("virtio2"), Some("virtio"), Block),
        (on_bus(FUNCTION), Some("scsi"), Block),
        (pci("host3/port-3:0/end_device-3:0"), Some("sas"), Block),
        ("platform/soc/mmc_host/mmc0/mmc0:aaaa/block/mmcblk0".to_owned(), Some("mmc"), Block),
        ("vbd-51712/block/xvda".to_owned(), Some("xen"), Block),
        (on_bus("LNXSYSTM:00/LNXSYBUS:00/VMBUS:01/f8b3"), Some("hyperv"), Block),
        // Disks of another machine.
        (on_bus("platform/host3/session1"), Some("iscsi"), Network),
        (pci("host3/session1"), Some("iscsi"), Network),
        (pci("host3/rport-3:0-2"), Some("fc"), Network),
        ("virtual/block/nbd0".to_owned(), Some("network"), Network),
        ("virtual/block/rnbd0".to_owned(), Some("network"), Network),
        ("virtual/block/etherd!e1.0".to_owned(), Some("network"), Network),
        ("rbd/0/block/rbd0".to_owned(), Some("network"), Network),
        (on_bus("platform/vhci_hcd.0/usb3/3-1/3-1:1.0"), Some("network"), Network),
        ("virtual/block/drbd0".to_owned(), None, Network),
        // Memory that looks like a disk.
        (on_bus("pseudo_0/adapter0"), Some("memory"), Memory),
        (on_bus("faux/pseudo_0/adapter0"), Some("memory"), Memory),
        ("vdpasim_blk/vdpa0/virtio3/block/vdb".to_owned(), Some("memory"), Memory),
        ("virtual/block/zram0".to_owned(), Some("memory"), Memory),
        ("virtual/block/ram3".to_owned(), Some("memory"), Memory),
        ("virtual/block/nullb0".to_owned(), Some("memory"), Memory),
        // DRAM reserved by memmap= looks the same.
        ("LNXSYSTM:00/ndbus0/region0/namespace0.0/block/pmem0".to_owned(), Some("pmem"), Unknown),
        // Devices without hardware below, or that pass I/O on to something unknown.
        (on_bus("platform/dummy_hcd.0/usb3/3-1/3-1:1.0"), Some("dummy_hcd"), Unknown),
        (on_bus("tcm_loop_0/tcm_loop_adapter_0"), Some("tcm_loop"), Unknown),
        (on_bus("faux/x"), Some("scsi"), Unknown),
        ("virtual/block/zd0".to_owned(), None, Unknown),
        ("virtual/block/ublkb0".to_owned(), None, Unknown),
        ("virtual/block/new0".to_owned(), None, Unknown),
        ("virtual/block/md0".to_owned(), None, Unknown),
        ("virtual/block/bcache0".to_owned(), None, Unknown),
        ("virtual/block/dm-0".to_owned(), None, Unknown),
        ("virtual/vduse/vduse0/vdpa0/virtio3/block/vdb".to_owned(), Some("virtio"), Unknown),
        ("faux/new/block/new0".to_owned(), None, Unknown),
    ] {
        let found = one(&folder).detect("/srv");
        assert_eq!(found.devices[0].transport.as_deref(), transport, "{folder}");
        assert_eq!(found.kind, kind, "{folder}");
    }
    let volume = machine(&on("230:1", "ext4", "/dev/zd0p1"));
    volume.device("virtual/block/zd0", "230:0").partition("virtual/block/zd0/zd0p1", "230:1");
    assert_eq!(volume.stack("/srv"), (Unknown, lines(&["zd0p1 zd0", "zd0"])));
    assert_eq!(volume.detect("/srv").devices[1].kind, "ZFS volume");
}

#[test]
fn nvme_by_the_word_of_its_controller() {
    let fabrics = "virtual/nvme-fabrics/ctl/nvme1/nvme1n1";
    for (folder, reported, transport, kind) in [
        (NVME, Some("pcie"), "nvme", StorageKind::Block),
        (NVME, None, "nvme", StorageKind::Block),
        (fabrics, Some("tcp"), "network", StorageKind::Network),
        (fabrics, Some("rdma"), "network", StorageKind::Network),
        (fabrics, Some("fc"), "network", StorageKind::Network),
        (fabrics, Some("loop"), "nvme loop", StorageKind::Unknown),
        (fabrics, Some("new"), "nvme", StorageKind::Unknown),
        (fabrics, None, "nvme", StorageKind::Unknown),
        // The word is sufficient, wherever a kernel has the controller.
        (NVME, Some("loop"), "nvme loop", StorageKind::Unknown),
    ] {
        let m = one(folder);
        let file = format!("/sys/devices/{folder}/device/transport");
        if let Some(word) = reported {
            m.put(&file, word);
        }
        let found = m.detect("/srv");
        let found = (found.devices[0].transport.as_deref(), found.kind);
        assert_eq!(found, (Some(transport), kind), "{folder} {reported:?}");
    }
}

/// Creates a partition of a namespace with several controllers.
fn head() -> Machine {
    let m = machine(&on("259:1", "xfs", "/dev/nvme0n1p1"));
    let head = "virtual/nvme-subsystem/nvme-subsys0/nvme0n1";
    m.device(head, "259:0").partition(&format!("{head}/nvme0n1p1"), "259:1");
    m
}

#[test]
fn a_namespace_of_several_controllers_lies_on_its_paths() {
    let m = head();
    assert_eq!(m.detect("/srv").kind, StorageKind::Unknown, "no path is known");
    m.device(&format!("{FUNCTION}/nvme/nvme0/nvme0c0n1"), "259:2")
        .device(&format!("{FUNCTION}/nvme/nvme1/nvme0c1n1"), "259:3")
        .device(&format!("{FUNCTION}/nvme/nvme0/nvme0c0n2"), "259:4")
        .device("virtual/nvme-fabrics/ctl/nvme2/nvme2n1", "259:5");
    let expected = ["nvme0n1p1 nvme0n1", "nvme0n1 nvme0c0n1 nvme0c1n1", "nvme0c0n1", "nvme0c1n1"];
    assert_eq!(m.stack("/srv"), (StorageKind::Block, lines(&expected)));
}

#[test]
fn one_path_over_the_network_makes_it_the_networks() {
    let far = "virtual/nvme-fabrics/ctl/nvme1/nvme0c1n1";
    let m = head();
    m.device(&format!("{FUNCTION}/nvme/nvme0/nvme0c0n1"), "259:2").device(far, "259:3");
    m.put(&format!("/sys/devices/{far}/device/transport"), "tcp\n");
    let found = m.detect("/srv");
    assert_eq!((found.kind, found.devices.len()), (StorageKind::Network, 4));
    assert_eq!(found.devices[3].transport.as_deref(), Some("network"));
}
