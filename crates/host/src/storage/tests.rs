//! Tests on composed machines, with each arrangement of file systems and devices.

use proofmark_model::{BlockDevice, StorageKind};

use super::*;
use crate::testing::Machine;

mod leaves;

/// Creates a machine with these mounts and a megabyte of space, half of it free.
pub(super) fn machine(mountinfo: &str) -> Machine {
    Machine::new(&[("/proc/self/mountinfo", mountinfo), ("/space", "1000000 500000\n")])
}

impl Machine {
    fn folder(&self, path: &str) -> &Self {
        std::fs::create_dir_all(self.at(path)).unwrap();
        self
    }

    /// Adds a device and its folder below /sys/devices, linked as in sysfs.
    fn device(&self, folder: &str, number: &str) -> &Self {
        let real = format!("/sys/devices/{folder}");
        let name = folder.rsplit('/').next().unwrap();
        self.put(&format!("{real}/dev"), number).put(&format!("{real}/size"), "2048\n");
        for link in [format!("/sys/class/block/{name}"), format!("/sys/dev/block/{number}")] {
            std::os::unix::fs::symlink(format!("../../devices/{folder}"), self.at(&link)).unwrap();
        }
        self
    }

    fn partition(&self, folder: &str, number: &str) -> &Self {
        self.device(folder, number).put(&format!("/sys/devices/{folder}/partition"), "1\n")
    }

    /// Adds a software device over others.
    fn over(&self, name: &str, number: &str, lower: &[&str]) -> &Self {
        self.device(&format!("virtual/block/{name}"), number);
        for name_below in lower {
            self.put(&format!("/sys/devices/virtual/block/{name}/slaves/{name_below}"), "");
        }
        self
    }

    fn looped(&self, name: &str, number: &str, file: &str) -> &Self {
        let path = format!("/sys/devices/virtual/block/{name}/loop/backing_file");
        self.device(&format!("virtual/block/{name}"), number).put(&path, file)
    }

    fn detect(&self, path: &str) -> Storage {
        detect(&self.root(), path, false).get().unwrap().clone()
    }

    /// Returns the kind, and each device with those below it.
    fn stack(&self, path: &str) -> (StorageKind, Vec<String>) {
        let storage = self.detect(path);
        let line = |d: &BlockDevice| format!("{} {}", d.name, d.over.join(" ")).trim().to_owned();
        (storage.kind, storage.devices.iter().map(line).collect())
    }
}

fn on(number: &str, kind: &str, source: &str) -> String {
    format!("20 1 {number} / / rw,relatime - {kind} {source} rw\n")
}

fn lines(of: &[&str]) -> Vec<String> {
    of.iter().map(|&line| line.to_owned()).collect()
}

const SATA: &str = "pci0000:00/0000:00:1f.2/ata1/host0/target0:0:0/0:0:0:0/block/sda";
const SECOND: &str = "pci0000:00/0000:00:1f.2/ata2/host1/target1:0:0/1:0:0:0/block/sdb";
const NVME: &str = "pci0000:00/0000:00:1d.0/0000:3d:00.0/nvme/nvme0/nvme0n1";

/// Creates a SATA disk with a mounted partition.
fn sata() -> Machine {
    let m = machine(&on("8:1", "ext4", "/dev/sda1"));
    m.device(SATA, "8:0").partition(&format!("{SATA}/sda1"), "8:1");
    for (file, text) in [
        ("queue/logical_block_size", "512\n"),
        ("queue/physical_block_size", "4096\n"),
        ("queue/max_sectors_kb", "1280\n"),
        ("queue/rotational", "1\n"),
        ("queue/write_cache", "write back\n"),
        ("queue/fua", "1\n"),
        ("queue/scheduler", "none [mq-deadline]\n"),
        ("device/model", "WDC WD10EZEX-08W\n"),
    ] {
        m.put(&format!("/sys/devices/{SATA}/{file}"), text);
    }
    m.put("/sys/class/ata_link/link1/sata_spd", "6.0 Gbps\n");
    m
}

#[test]
fn a_partition_has_the_queue_of_its_disk_and_the_disk_the_link() {
    let found = sata().detect("/srv");
    assert_eq!(found.kind, StorageKind::Block);
    assert_eq!((found.total_bytes, found.free_bytes), (1_000_000, 500_000));
    assert_eq!((found.file_system.as_str(), found.mount_point.as_str()), ("ext4", "/"));
    assert_eq!(found.mount_options, "rw,relatime");
    assert_eq!(found.sector_bytes(), Some(512));
    let [partition, disk] = found.devices.as_slice() else { panic!("{:?}", found.devices) };
    assert_eq!((partition.kind.as_str(), partition.number.as_str()), ("partition", "8:1"));
    assert_eq!(partition.over, ["sda"]);
    assert_eq!((partition.link.as_ref(), partition.transport.as_ref()), (None, None));
    assert_eq!((disk.kind.as_str(), disk.transport.as_deref()), ("disk", Some("sata")));
    assert_eq!(disk.model.as_deref(), Some("WDC WD10EZEX-08W"));
    assert_eq!(disk.link.as_ref().map(|l| l.bytes_per_s), Some(600e6));
    for device in [partition, disk] {
        assert_eq!(device.size_bytes, Some(1 << 20));
        let sectors = (device.logical_sector_bytes, device.physical_sector_bytes);
        assert_eq!(sectors, (Some(512), Some(4096)));
        assert_eq!((device.request_bytes, device.rotational), (Some(1280 << 10), Some(true)));
        assert_eq!((device.volatile_cache, device.fua), (Some(true), Some(true)));
        assert_eq!(device.scheduler.as_deref(), Some("mq-deadline"));
    }
    assert_eq!(found.leaves().map(|d| d.name.as_str()).collect::<Vec<_>>(), ["sda"]);
}

#[test]
fn a_hypervisors_word_for_a_link_is_left_out() {
    let m = sata();
    let found = detect(&m.root(), "/srv", true);
    let disk = &found.get().unwrap().devices[1];
    assert_eq!((disk.transport.as_deref(), disk.link.as_ref()), (Some("sata"), None));
}

#[test]
fn facts_that_are_not_reported_are_none() {
    let m = machine(&on("8:0", "ext4", "/dev/sda"));
    m.device(SATA, "8:0").put(&format!("/sys/devices/{SATA}/size"), "many\n");
    let disk = m.detect("/srv").devices.remove(0);
    assert_eq!((disk.size_bytes, disk.rotational), (None, None));
    assert_eq!((disk.volatile_cache, disk.fua), (None, None));
    assert_eq!((disk.model, disk.link, disk.scheduler), (None, None, None));
    assert_eq!(disk.request_bytes, None);
}

#[test]
fn devices_over_devices() {
    use StorageKind::{Block, Memory, Network, Unknown};
    type Over = (&'static str, &'static str, &'static [&'static str]);
    // Number of the mounted device; devices, each with its number, over others; expected devices.
    let cases: [(&str, &[Over], StorageKind, &[&str]); 7] = [
        (
            "253:0",
            &[("dm-0", "253:0", &["sdb", "sda2", "sda1"])],
            Block,
            &["dm-0 sda1 sda2 sdb", "sda1 sda", "sda", "sda2 sda", "sdb"],
        ),
        (
            "253:1",
            &[("md0", "9:0", &["sda", "sdb"]), ("dm-1", "253:1", &["md0"])],
            Block,
            &["dm-1 md0", "md0 sda sdb", "sda", "sdb"],
        ),
        // A replica with its own disk; a server's disk; RAM in a mirror.
        ("147:0", &[("drbd0", "147:0", &["sda"])], Block, &["drbd0 sda", "sda"]),
        (
            "253:0",
            &[("dm-0", "253:0", &["nbd0", "sda"])],
            Network,
            &["dm-0 nbd0 sda", "nbd0", "sda"],
        ),
        (
            "9:0",
            &[("ram0", "1:0", &[]), ("md0", "9:0", &["ram0", "sda"])],
            Memory,
            &["md0 ram0 sda", "ram0", "sda"],
        ),
        // A mapping without devices; a device over itself.
        ("253:0", &[("dm-0", "253:0", &[])], Unknown, &["dm-0"]),
        (
            "253:0",
            &[("dm-0", "253:0", &["dm-0", "dm-1"]), ("dm-1", "253:1", &["dm-0"])],
            Unknown,
            &["dm-0 dm-1", "dm-1 dm-0"],
        ),
    ];
    for (number, over, kind, expected) in cases {
        let m = machine(&on(number, "ext4", "/dev/mapper/x"));
        m.device(SATA, "8:0").device(SECOND, "8:16").device("virtual/block/nbd0", "43:0");
        m.partition(&format!("{SATA}/sda1"), "8:1").partition(&format!("{SATA}/sda2"), "8:2");
        for (name, number, lower) in over {
            m.over(name, number, lower);
        }
        assert_eq!(m.stack("/srv"), (kind, lines(expected)), "{over:?}");
    }
}

#[test]
fn a_loop_device_lies_on_the_file_system_of_its_file() {
    let mounts =
        format!("{}21 20 7:0 / /srv rw - ext4 /dev/loop0 rw\n", on("8:0", "ext4", "/dev/sda"));
    for file in ["/images/disk.img", "/images/disk.img (deleted)"] {
        let m = machine(&mounts);
        m.device(SATA, "8:0").looped("loop0", "7:0", file).folder("/images");
        assert_eq!(m.stack("/srv"), (StorageKind::Block, lines(&["loop0 sda", "sda"])), "{file}");
        let device = m.detect("/srv").devices.remove(0);
        assert_eq!((device.kind.as_str(), device.backing.as_deref()), ("loop", Some(file)));
    }
    let m = machine(&mounts);
    m.device(SATA, "8:0").looped("loop0", "7:0", "/dev/sda").folder("/dev");
    let below = (StorageKind::Block, lines(&["loop0 sda", "sda"]));
    assert_eq!(m.stack("/srv"), below, "a block device, whose node is in a devtmpfs");
    let m = machine(&mounts);
    m.device(SATA, "8:0").looped("loop0", "7:0", "/elsewhere/disk.img");
    let unseen = m.stack("/srv");
    assert_eq!(unseen, (StorageKind::Unknown, lines(&["loop0"])), "a file of another namespace");
}

#[test]
fn memory_anywhere_below_makes_it_memory() {
    let tmpfs = "21 20 0:23 / /dev/shm rw - tmpfs tmpfs rw\n";
    let on_loop = "22 20 7:0 / /srv rw - ext4 /dev/loop0 rw\n";
    let m = machine(&format!("{}{tmpfs}{on_loop}", on("8:0", "ext4", "/dev/sda")));
    m.device(SATA, "8:0").looped("loop0", "7:0", "/dev/shm/disk.img").folder("/dev/shm");
    assert_eq!(m.stack("/srv"), (StorageKind::Memory, lines(&["loop0"])));
    assert_eq!(m.stack("/dev/shm/x"), (StorageKind::Memory, Vec::new()));
    assert_eq!(m.stack("/home").0, StorageKind::Block);
}

#[test]
fn an_overlay_lies_where_it_writes_to() {
    let overlay =
        "22 20 0:50 / /srv rw - overlay overlay rw,lowerdir=/l,upperdir=/data/up,workdir=/w\n";
    let m = machine(&format!("{}{overlay}", on("8:0", "ext4", "/dev/sda")));
    m.device(SATA, "8:0");
    assert_eq!(m.stack("/srv"), (StorageKind::Layered, Vec::new()), "its folder cannot be seen");
    m.folder("/data/up");
    let seen = m.detect("/srv");
    assert_eq!((seen.kind, seen.devices[0].name.as_str()), (StorageKind::Block, "sda"));
    // The disk's file system is ext4, but I/O passes through the overlay.
    assert_eq!((seen.file_system.as_str(), seen.mount_point.as_str()), ("overlay", "/srv"));

    let container = on("0:50", "overlay", "overlay").replace(" rw\n", " rw,upperdir=/var/up\n");
    let m = machine(&container);
    m.folder("/var/up");
    assert_eq!(m.stack("/srv").0, StorageKind::Unknown, "a folder of that name on itself");
}

#[test]
fn btrfs_lies_on_all_its_devices() {
    let m = machine(&on("0:35", "btrfs", "/dev/mapper/crypt"));
    m.device(SECOND, "8:16").device(SATA, "8:0");
    m.over("dm-0", "253:0", &["sda"]).put("/sys/devices/virtual/block/dm-0/dm/name", "crypt\n");
    let alone = m.stack("/srv");
    assert_eq!(alone, (StorageKind::Block, lines(&["dm-0 sda", "sda"])), "without /sys/fs/btrfs");
    m.put("/sys/fs/btrfs/features/raid56", "").put("/sys/fs/btrfs/0a-1/devices/nvme9n1", "");
    m.put("/sys/fs/btrfs/1b-2/devices/dm-0", "").put("/sys/fs/btrfs/1b-2/devices/sdb", "");
    assert_eq!(m.stack("/srv"), (StorageKind::Block, lines(&["dm-0 sda", "sda", "sdb"])));

    let unseen = machine(&on("0:35", "btrfs", "/dev/root"));
    assert_eq!(unseen.stack("/srv"), (StorageKind::Unknown, Vec::new()));
}

#[test]
fn other_file_systems_by_their_source_or_name() {
    let m = machine(&on("0:40", "bcachefs", "/dev/sda:/dev/sdb"));
    m.device(SATA, "8:0").device(SECOND, "8:16");
    assert_eq!(m.stack("/srv"), (StorageKind::Block, lines(&["sda", "sdb"])));
    for (kind, source, expected) in [
        ("nfs4", "server:/export", StorageKind::Network),
        ("9p", "share", StorageKind::Network),
        ("virtiofs", "share", StorageKind::Layered),
        ("fuse.mergerfs", "a:b", StorageKind::Layered),
        ("zfs", "pool/srv", StorageKind::Unknown),
        ("newfs", "x", StorageKind::Unknown),
        // The device does not exist.
        ("fuseblk", "x", StorageKind::Unknown),
    ] {
        let m = machine(&on("0:41", kind, source));
        assert_eq!(m.stack("/srv"), (expected, Vec::new()), "{kind}");
    }
    let gone = machine(&on("8:0", "ext4", "/dev/sda"));
    assert_eq!(gone.stack("/srv").0, StorageKind::Unknown, "a container without /sys");
}

#[test]
fn what_cannot_be_used_says_what_to_do() {
    let read_only = machine("20 1 8:17 / / ro - ext4 /dev/sdb1 rw\n");
    let unknown = sata();
    std::fs::remove_file(unknown.at("/space")).unwrap();
    const OTHER: &str = "; choose another folder with --disk-path";
    for (root, path, reason, other) in [
        (read_only.root(), "/srv", "/srv is on a read-only file system (/dev/sdb1 at /)", OTHER),
        (machine("").root(), "/srv", "/proc/self/mountinfo: no mount contains /srv", ""),
        (unknown.root(), "/srv", "/space: no such file", ""),
        (Root::live(), "/no/such/folder", "folder /no/such/folder does not exist", OTHER),
        (Root::live(), "/proc/self/mountinfo", "/proc/self/mountinfo is not a folder", OTHER),
    ] {
        let found = detect(&root, path, false);
        assert_eq!((found.get(), found.origin()), (None, format!("{reason}{other}").as_str()));
    }
}

#[test]
fn the_live_machine_is_looked_at_as_it_is() {
    let program = std::env::current_exe().unwrap();
    let folder = tempfile::tempdir_in(program.parent().unwrap()).unwrap();
    let inside = folder.path().join("..").join(folder.path().file_name().unwrap());
    let found = detect(&Root::live(), inside.to_str().unwrap(), false);
    let storage = found.get().unwrap_or_else(|| panic!("{}", found.origin()));
    assert!(storage.path.ends_with(folder.path().file_name().unwrap().to_str().unwrap()));
    assert!(!storage.path.contains(".."));
    assert!(storage.free_bytes <= storage.total_bytes);
    if storage.kind != StorageKind::Block {
        proofmark_testing::skip(format!(
            "the source is on {}, {:?}",
            storage.file_system, storage.kind
        ));
        return;
    }
    // The kernel's list of counters has every detected device by this name.
    let counters = std::fs::read_to_string("/proc/diskstats").unwrap();
    for device in &storage.devices {
        let listed = counters.lines().any(|l| l.split_whitespace().nth(2) == Some(&device.name));
        assert!(listed, "{device:?}");
    }
    assert!(storage.leaves().count() >= 1);
}
