//! Machines composed for each kind of device at the bottom: memory and servers that
//! look like a disk are none.

use super::*;

const FUNCTION: &str = "pci0000:00/0000:00:1d.0/0000:3d:00.0";
const SCSI: &str = "host3/target3:0:0/3:0:0:0/block/sdb";

/// A machine with a file system right on the device of this folder.
fn one(folder: &str) -> Machine {
    let m = Machine::new(&on("259:0", "ext4", "/dev/x"));
    m.device(folder, "259:0");
    m
}

fn kind(folder: &str) -> StorageKind {
    one(folder).look("/srv").kind
}

#[test]
fn a_disk_of_another_machine_is_on_the_network() {
    for folder in [
        "virtual/block/nbd0".to_owned(),
        "virtual/block/rnbd0".to_owned(),
        "virtual/block/etherd!e1.0".to_owned(),
        "virtual/block/drbd0".to_owned(),
        "rbd/0/block/rbd0".to_owned(),
        "platform/host3/session1/target3:0:0/3:0:0:1/block/sdb".to_owned(),
        format!("{FUNCTION}/host3/session1/target3:0:0/3:0:0:1/block/sdb"),
        format!("{FUNCTION}/host3/rport-3:0-2/target3:0:0/3:0:0:0/block/sdb"),
        format!("platform/vhci_hcd.0/usb3/3-1/3-1:1.0/{SCSI}"),
    ] {
        assert_eq!(kind(&folder), StorageKind::Network, "{folder}");
    }
}

#[test]
fn nvme_by_the_word_of_its_controller() {
    let fabrics = "virtual/nvme-fabrics/ctl/nvme1/nvme1n1";
    for (folder, reported, expected) in [
        (NVME, "pcie", StorageKind::Block),
        (fabrics, "tcp", StorageKind::Network),
        (fabrics, "rdma", StorageKind::Network),
        (fabrics, "fc", StorageKind::Network),
        (fabrics, "loop", StorageKind::Unknown),
        (fabrics, "new", StorageKind::Unknown),
        // The word alone is enough, wherever a kernel has the controller.
        (NVME, "loop", StorageKind::Unknown),
    ] {
        let m = one(folder);
        m.put(&format!("/sys/devices/{folder}/device/transport"), reported);
        assert_eq!(m.look("/srv").kind, expected, "{reported}");
    }
    assert_eq!(kind(NVME), StorageKind::Block, "an older kernel does not tell");
    assert_eq!(kind(fabrics), StorageKind::Unknown, "no transport is told");
}

/// A partition of a namespace that several controllers lead to.
fn head() -> Machine {
    let m = Machine::new(&on("259:1", "xfs", "/dev/nvme0n1p1"));
    let head = "virtual/nvme-subsystem/nvme-subsys0/nvme0n1";
    m.device(head, "259:0").partition(&format!("{head}/nvme0n1p1"), "259:1");
    m
}

#[test]
fn a_namespace_of_several_controllers_lies_on_its_paths() {
    let m = head();
    assert_eq!(m.look("/srv").kind, StorageKind::Unknown, "no path is known");
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
    let found = m.look("/srv");
    assert_eq!((found.kind, found.devices.len()), (StorageKind::Network, 4));
    assert_eq!(found.devices[3].transport.as_deref(), Some("network"));
}

#[test]
fn what_has_no_hardware_below_it_is_not_known() {
    for folder in [
        "virtual/block/zd0",
        "virtual/block/ublkb0",
        "virtual/block/new0",
        "virtual/block/md0",
        "virtual/block/bcache0",
        "virtual/vduse/vduse0/vdpa0/virtio3/block/vdb",
        "faux/new/block/new0",
    ] {
        assert_eq!(kind(folder), StorageKind::Unknown, "{folder}");
    }
    for adapter in
        ["tcm_loop_0/tcm_loop_adapter_0", "platform/dummy_hcd.0/usb3/3-1/3-1:1.0", "faux/x"]
    {
        assert_eq!(kind(&format!("{adapter}/{SCSI}")), StorageKind::Unknown, "{adapter}");
    }
    let volume = Machine::new(&on("230:1", "ext4", "/dev/zd0p1"));
    volume.device("virtual/block/zd0", "230:0").partition("virtual/block/zd0/zd0p1", "230:1");
    assert_eq!(volume.stack("/srv"), (StorageKind::Unknown, lines(&["zd0p1 zd0", "zd0"])));
    assert_eq!(volume.look("/srv").devices[1].kind, "ZFS volume");
}

#[test]
fn memory_that_poses_as_a_disk() {
    for folder in ["pseudo_0/adapter0", "faux/pseudo_0/adapter0"] {
        assert_eq!(kind(&format!("{folder}/{SCSI}")), StorageKind::Memory, "{folder}");
    }
    assert_eq!(kind("vdpasim_blk/vdpa0/virtio3/block/vdb"), StorageKind::Memory);
    // DRAM that memmap= set aside looks like this too.
    let pmem = one("LNXSYSTM:00/ndbus0/region0/namespace0.0/block/pmem0").look("/srv");
    assert_eq!(pmem.kind, StorageKind::Unknown);
    assert_eq!(pmem.devices[0].transport.as_deref(), Some("pmem"));
}

#[test]
fn hardware_is_a_disk() {
    for folder in [
        SATA.to_owned(),
        format!("{FUNCTION}/{SCSI}"),
        format!("{FUNCTION}/virtio1/block/vda"),
        format!("{FUNCTION}/usb2/2-1/2-1:1.0/{SCSI}"),
        format!("{FUNCTION}/host3/port-3:0/end_device-3:0/target3:0:0/3:0:0:0/block/sdb"),
        "platform/soc/mmc_host/mmc0/mmc0:aaaa/block/mmcblk0".to_owned(),
        "vbd-51712/block/xvda".to_owned(),
    ] {
        assert_eq!(kind(&folder), StorageKind::Block, "{folder}");
    }
}

#[test]
fn a_replica_with_a_disk_of_its_own_lies_on_it() {
    let m = Machine::new(&on("147:0", "ext4", "/dev/drbd0"));
    m.device(SATA, "8:0").over("drbd0", "147:0", &["sda"]);
    assert_eq!(m.stack("/srv"), (StorageKind::Block, lines(&["drbd0 sda", "sda"])));
}

#[test]
fn lvm_over_a_servers_disk_is_on_the_network() {
    let m = Machine::new(&on("253:0", "xfs", "/dev/mapper/vg-srv"));
    m.device(SATA, "8:0").device("virtual/block/nbd0", "43:0");
    m.over("dm-0", "253:0", &["nbd0", "sda"]);
    let expected = ["dm-0 nbd0 sda", "nbd0", "sda"];
    assert_eq!(m.stack("/srv"), (StorageKind::Network, lines(&expected)));
}
