//! Block devices under a file system, from its own down. A partition is over its disk, RAID and
//! device mapper over their parts, a loop device over its file's file system.
//!
//! The paths of a multipath device are at the bottom, next to each other. Each I/O takes one of
//! them, so their counters add up to the disk's I/O.
//!
//! Sources: Linux `Documentation/ABI/stable/sysfs-block` (partition, slaves),
//! `admin-guide/blockdev/` (loop, zram, ramdisk, null_blk), losetup(8),
//! `admin-guide/nvme-multipath.rst`.

use proofmark_model::{BlockDevice, StorageKind};

use super::file_system::{self, last};
use super::{BLOCK, attached, device};
use crate::mounts::{self, Mount};
use crate::root::{Root, above};
use crate::text::is_number;

/// Maximum depth of stacked loop devices and overlays.
const MAX_DEPTH: usize = 8;

pub(super) struct Stack<'a> {
    root: &'a Root,
    mounts: &'a [Mount],
    virtual_machine: bool,
    kinds: Vec<StorageKind>,
    devices: Vec<BlockDevice>,
}

impl<'a> Stack<'a> {
    pub(super) fn new(root: &'a Root, mounts: &'a [Mount], virtual_machine: bool) -> Self {
        Self { root, mounts, virtual_machine, kinds: Vec::new(), devices: Vec::new() }
    }

    /// Returns one storage kind for all devices, and the devices. If a part is in memory, the kind
    /// is memory: its results are not a disk's. The same holds for servers and unknown parts.
    pub(super) fn found(self) -> (StorageKind, Vec<BlockDevice>) {
        use StorageKind::{Block, Layered, Memory, Network, Unknown};
        let has = |kind: &&StorageKind| self.kinds.contains(kind);
        let kind = *[Memory, Network, Unknown, Layered, Block].iter().find(has).unwrap_or(&Unknown);
        (kind, self.devices)
    }

    /// Adds the devices under a file system and returns their names.
    pub(super) fn file_system(&mut self, mount: &Mount, depth: usize) -> Vec<String> {
        if depth > MAX_DEPTH {
            return self.ends_in(StorageKind::Unknown);
        }
        if let Some(upper) = file_system::upper(self.root, mount) {
            return self.holding(&upper, depth + 1, StorageKind::Layered);
        }
        if let Some(kind) = file_system::kind(&mount.kind) {
            return self.ends_in(kind);
        }
        let devices = file_system::devices(self.root, mount);
        if devices.is_empty() {
            self.kinds.push(StorageKind::Unknown);
        }
        for device in &devices {
            self.device(device, depth);
        }
        devices
    }

    /// Adds the file system that holds a path; `otherwise` is the kind if none is known.
    fn holding(&mut self, path: &str, depth: usize, otherwise: StorageKind) -> Vec<String> {
        match mounts::holding(self.mounts, path) {
            Some(mount) => self.file_system(mount, depth),
            None => self.ends_in(otherwise),
        }
    }

    /// Ends the search with a storage kind.
    fn ends_in(&mut self, kind: StorageKind) -> Vec<String> {
        self.kinds.push(kind);
        Vec::new()
    }

    /// Adds a device and all below it, each once.
    fn device(&mut self, name: &str, depth: usize) {
        let shown = device::shown(name);
        if self.devices.iter().any(|d| d.name == shown) {
            return;
        }
        let Some(found) = device::detect(self.root, name, self.virtual_machine) else {
            self.kinds.push(StorageKind::Unknown);
            return;
        };
        let backing = found.backing.clone();
        let transport = found.transport.clone();
        let at = self.devices.len();
        self.devices.push(found);
        let mut lower = match backing {
            Some(file) => self.file(&file, depth),
            None => self.below(name, transport.as_deref(), depth),
        };
        lower.retain(|l| l != name);
        self.devices[at].over = lower.iter().map(|l| device::shown(l)).collect();
    }

    /// Adds the devices below one that is no loop device.
    fn below(&mut self, name: &str, transport: Option<&str>, depth: usize) -> Vec<String> {
        let lower = parts(self.root, name);
        for part in &lower {
            self.device(part, depth);
        }
        if lower.is_empty() {
            let folder = self.root.real(&format!("{BLOCK}/{name}")).unwrap_or_default();
            self.kinds.push(attached::holder(name, &folder, transport));
        }
        lower
    }

    /// Adds what is below a loop device: the file system of its file, or the block device that the
    /// file is. The kernel marks deleted files, and also gives paths of other mount namespaces, so
    /// the folder must exist.
    fn file(&mut self, file: &str, depth: usize) -> Vec<String> {
        let path = file.strip_suffix(" (deleted)").unwrap_or(file);
        if let Some(device) = file_system::device_of(self.root, path) {
            self.device(&device, depth + 1);
            return vec![device];
        }
        match above(path).filter(|folder| self.root.exists(folder)) {
            Some(folder) => self.holding(folder, depth + 1, StorageKind::Unknown),
            None => self.ends_in(StorageKind::Unknown),
        }
    }
}

/// Returns the sorted devices directly below a partition, a RAID, a device-mapper device, or an
/// NVMe namespace with several controllers.
fn parts(root: &Root, name: &str) -> Vec<String> {
    let folder = format!("{BLOCK}/{name}");
    if root.exists(&format!("{folder}/partition")) {
        let disk = root.real(&folder).ok().and_then(|real| last(above(&real)?));
        return disk.into_iter().collect();
    }
    let lower = root.names(&format!("{folder}/slaves"), "").unwrap_or_default();
    if lower.is_empty() { paths(root, name) } else { lower }
}

/// Returns the paths `nvme0c1n1` of a namespace `nvme0n1`, if any.
fn paths(root: &Root, name: &str) -> Vec<String> {
    let Some((subsystem, namespace)) = namespace(name) else { return Vec::new() };
    let begin = format!("{subsystem}c");
    let mut paths = root.names(BLOCK, &begin).unwrap_or_default();
    paths.retain(|path| {
        let rest = path.strip_prefix(&begin).and_then(|r| r.strip_suffix(namespace));
        rest.and_then(|r| r.strip_suffix('n')).is_some_and(is_number)
    });
    paths
}

/// Splits `nvme0n1` into `nvme0` and `1`.
fn namespace(name: &str) -> Option<(&str, &str)> {
    let (subsystem, namespace) = name.rsplit_once('n')?;
    let instance = subsystem.strip_prefix("nvme")?;
    (is_number(instance) && is_number(namespace)).then_some((subsystem, namespace))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_namespaces() {
        assert_eq!(namespace("nvme0n1"), Some(("nvme0", "1")));
        assert_eq!(namespace("nvme12n3"), Some(("nvme12", "3")));
        for other in ["nvme0c1n1", "nvme0n1p1", "nvme0", "nvmen1", "sda", "nvme0n"] {
            assert_eq!(namespace(other), None, "{other}");
        }
    }
}
