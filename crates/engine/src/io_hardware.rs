//! Bytes that the machine's disks and network interfaces moved, for all programs.
//!
//! Sources: Linux `Documentation/ABI/stable/sysfs-block` and
//! `Documentation/ABI/testing/sysfs-class-net` (`device` links to hardware, `lower_*` to the
//! interfaces that an interface is made of). `hidden` devices are the paths to an NVMe namespace.
//! Their counters add up to the traffic of the disk.

use std::fs;
use std::path::Path;

use crate::device::bytes_of_disk;
use crate::net_dev::{bytes_of_interface, text_of};

/// Parts of the paths of paravirtual devices in /sys: virtio, Xen's disks and interfaces, Hyper-V.
const PARAVIRTUAL: &[&str] = &["/virtio", "/vbd-", "/vif-", "/VMBUS"];

/// The hardware devices. Bytes of a RAID, a bond or a VLAN are counted at the devices below it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct IoHardware {
    disks: Vec<Device>,
    interfaces: Vec<Device>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Device {
    name: String,
    /// True if the host of this guest moves its bytes.
    paravirtual: bool,
}

/// Bytes of each device since the machine started, in both directions; `None` if it is not listed.
/// The flag is true for paravirtual devices.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct IoCounters(Vec<(Option<u64>, bool)>);

/// Bytes between two readings.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct IoBytes {
    pub(crate) all: u64,
    pub(crate) paravirtual: u64,
}

impl IoHardware {
    /// Finds the hardware of the machine whose files are below `root`.
    pub(crate) fn find(root: &Path) -> Self {
        let [blocks, nets] = ["sys/block", "sys/class/net"].map(|folder| root.join(folder));
        let all = names(&blocks);
        let disk = |name: &String| {
            let is_path = |path: &String| namespace_of(path).as_deref() == Some(name);
            !all.iter().any(is_path)
        };
        let interface =
            |name: &String| !names(&nets.join(name)).iter().any(|file| file.starts_with("lower_"));
        let disks = all.iter().filter(|name| disk(name));
        let disks = disks.filter_map(|name| device(&blocks, name)).collect();
        let interfaces = names(&nets).into_iter().filter(interface);
        Self { disks, interfaces: interfaces.filter_map(|name| device(&nets, &name)).collect() }
    }

    pub(crate) fn read(&self) -> IoCounters {
        let (disks, interfaces) = (text_of("/proc/diskstats"), text_of("/proc/net/dev"));
        let disks = self.disks.iter().map(|d| (bytes_of_disk(&disks, &d.name), d.paravirtual));
        let interface = |d: &Device| (bytes_of_interface(&interfaces, &d.name), d.paravirtual);
        IoCounters(disks.chain(self.interfaces.iter().map(interface)).collect())
    }
}

impl IoCounters {
    /// Bytes moved since `earlier` by the devices that both readings list. `None` without such a
    /// device, or if a counter went back.
    pub(crate) fn since(&self, earlier: &Self) -> Option<IoBytes> {
        let mut sum: Option<IoBytes> = None;
        for ((later, paravirtual), (earlier, _)) in self.0.iter().zip(&earlier.0) {
            let (Some(later), Some(earlier)) = (later, earlier) else { continue };
            let moved = later.checked_sub(*earlier)?;
            let so_far = sum.unwrap_or_default();
            let copied = if *paravirtual { moved } else { 0 };
            sum = Some(IoBytes {
                all: so_far.all.saturating_add(moved),
                paravirtual: so_far.paravirtual.saturating_add(copied),
            });
        }
        sum
    }
}

/// The device of that name, if it is hardware.
fn device(folder: &Path, name: &str) -> Option<Device> {
    let path = fs::canonicalize(folder.join(name).join("device")).ok()?;
    let path = path.to_string_lossy().into_owned();
    let paravirtual = PARAVIRTUAL.iter().any(|part| path.contains(part));
    Some(Device { name: name.to_owned(), paravirtual })
}

/// The disk of an NVMe path: `nvme0n1` for `nvme0c1n1`.
fn namespace_of(path: &str) -> Option<String> {
    let (controller, rest) = path.strip_prefix("nvme")?.split_once('c')?;
    let (_, namespace) = rest.split_once('n')?;
    Some(format!("nvme{controller}n{namespace}"))
}

/// The entries of a folder, in order.
fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut names: Vec<String> =
        entries.filter_map(|entry| entry.file_name().into_string().ok()).collect();
    names.sort();
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_byte_is_counted_once_where_it_enters_or_leaves() {
        let dir = tempfile::tempdir().unwrap();
        let root = fs::canonicalize(dir.path()).unwrap();
        let add = |place: &str, device: Option<&str>, files: &[&str]| {
            let folder = root.join("sys").join(place);
            fs::create_dir_all(&folder).unwrap();
            if let Some(device) = device {
                let hardware = root.join("sys/devices").join(device);
                fs::create_dir_all(&hardware).unwrap();
                std::os::unix::fs::symlink(hardware, folder.join("device")).unwrap();
            }
            for file in files {
                fs::write(folder.join(file), "1\n").unwrap();
            }
        };
        add("block/vda", Some("pci0000:00/0000:00:02.0/virtio1"), &[]);
        add("block/nvme0n1", Some("pci0000:00/nvme/nvme0"), &[]);
        add("block/nvme1n1", Some("virtual/nvme-subsystem/nvme-subsys1"), &[]);
        add("block/nvme1c2n1", Some("pci0000:00/nvme/nvme2"), &["hidden"]);
        add("block/md0", None, &[]);
        // An interface of the host that a guest sees twice, as in some clouds, and a bond of it.
        add("class/net/enP1", Some("pci0001:00/0001:00:02.0"), &["upper_eth0"]);
        add("class/net/eth0", Some("ACPI0004:00/VMBUS:00/f8615163"), &["lower_enP1"]);
        add("class/net/eth1", Some("vif-1"), &[]);
        add("class/net/bond0", None, &["lower_enP1"]);
        add("class/net/lo", None, &[]);
        let found = IoHardware::find(&root);
        let named = |devices: &[Device]| -> Vec<(String, bool)> {
            devices.iter().map(|d| (d.name.clone(), d.paravirtual)).collect()
        };
        let expected = |all: &[(&str, bool)]| -> Vec<(String, bool)> {
            all.iter().map(|(name, paravirtual)| ((*name).to_owned(), *paravirtual)).collect()
        };
        let disks = [("nvme0n1", false), ("nvme1c2n1", false), ("vda", true)];
        assert_eq!(named(&found.disks), expected(&disks));
        assert_eq!(named(&found.interfaces), expected(&[("enP1", false), ("eth1", true)]));
    }

    #[test]
    fn what_comes_and_goes_counts_nothing_and_what_goes_back_is_unknown() {
        let counters = |all: [Option<u64>; 3]| IoCounters(all.map(|bytes| (bytes, true)).to_vec());
        let earlier = counters([Some(100), Some(1000), None]);
        let all = |later| counters(later).since(&earlier).map(|bytes| bytes.all);
        assert_eq!(all([Some(150), Some(1000), Some(1 << 40)]), Some(50), "the third came");
        assert_eq!(all([Some(150), None, None]), Some(50), "the second went");
        assert_eq!(all([Some(150), Some(0), None]), None, "the second began again");
        assert_eq!(IoCounters::default().since(&IoCounters::default()), None);
        let both = IoCounters(vec![(Some(5), false), (Some(7), true)]);
        let zero = IoCounters(vec![(Some(0), false), (Some(0), true)]);
        assert_eq!(both.since(&zero), Some(IoBytes { all: 12, paravirtual: 7 }));
    }

    #[test]
    fn what_is_written_to_a_disk_is_counted() {
        let hardware = IoHardware::find(Path::new("/"));
        let dir = tempfile::tempdir_in(env!("CARGO_MANIFEST_DIR")).unwrap();
        let device = rustix::fs::stat(dir.path()).unwrap().st_dev;
        if hardware.disks.is_empty() || rustix::fs::major(device) == 0 {
            return; // The checkout is on no disk of this machine.
        }
        let before = hardware.read();
        let written = 8 << 20;
        let file = fs::File::create(dir.path().join("f")).unwrap();
        std::io::Write::write_all(&mut &file, &vec![7; written]).unwrap();
        file.sync_all().unwrap();
        let moved = hardware.read().since(&before).unwrap().all;
        assert!(moved >= written as u64, "{moved} of {hardware:?}");
    }
}
