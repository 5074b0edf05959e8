//! Storage kind of a file system: block devices, memory, a server, or another file system.
//!
//! Sources: Linux `Documentation/filesystems/` (overlayfs.rst, tmpfs.rst, 9p.rst, virtiofs.rst,
//! fuse.rst, btrfs.rst); proc_pid_mountinfo(5).

use proofmark_model::StorageKind;

use super::BLOCK;
use crate::mounts::Mount;
use crate::root::{Root, below};

/// Storage kinds by the kernel's file system names. FUSE file systems are programs: unlisted ones
/// are assumed to be on another file system.
const KINDS: &[(StorageKind, &str)] = &[
    (StorageKind::Memory, "tmpfs ramfs devtmpfs hugetlbfs rootfs"),
    (
        StorageKind::Network,
        "nfs nfs4 cifs smb3 smbfs 9p afs ceph coda orangefs lustre gpfs beegfs fuse.sshfs \
         fuse.glusterfs fuse.ceph-fuse fuse.s3fs fuse.gcsfuse fuse.juicefs fuse.rclone",
    ),
    (StorageKind::Layered, "overlay aufs ecryptfs virtiofs vboxsf fuse.vmhgfs-fuse fuse"),
    (StorageKind::Unknown, "zfs"),
];

/// Returns the kind that the name implies; `None` if it depends on the devices.
pub(super) fn kind(name: &str) -> Option<StorageKind> {
    let listed = KINDS.iter().find(|(_, names)| names.split(' ').any(|listed| listed == name));
    listed
        .map(|(kind, _)| *kind)
        .or_else(|| name.starts_with("fuse.").then_some(StorageKind::Layered))
}

/// Returns an overlay's upper folder, which holds what is written. A container sees its host's
/// path, but usually not the folder: then there is none.
pub(super) fn upper(root: &Root, mount: &Mount) -> Option<String> {
    let folder = (mount.kind == "overlay").then(|| mount.option("upperdir"))??;
    (folder.starts_with('/') && root.exists(&folder)).then_some(folder)
}

/// Returns the names in [`BLOCK`] of the devices under a file system; empty if unknown.
pub(super) fn devices(root: &Root, mount: &Mount) -> Vec<String> {
    if !mount.number.starts_with("0:") {
        return by_number(root, &mount.number).into_iter().collect();
    }
    // A file system of several devices has its own number. Its source is one of them, or lists all
    // (bcachefs).
    let sources = mount.source.split(':').filter(|s| s.starts_with("/dev/"));
    let named: Vec<String> = sources.filter_map(|s| by_path(root, s)).collect();
    match (mount.kind.as_str(), named.as_slice()) {
        ("btrfs", [one]) => siblings(root, one).unwrap_or(named),
        _ => named,
    }
}

/// Returns the block device of a device node.
pub(super) fn device_of(root: &Root, path: &str) -> Option<String> {
    let number = root.block_number(path);
    number.and_then(|number| by_number(root, &number)).or_else(|| by_path(root, path))
}

fn by_number(root: &Root, number: &str) -> Option<String> {
    last(&root.real(&format!("/sys/dev/block/{number}")).ok()?)
}

fn by_path(root: &Root, path: &str) -> Option<String> {
    let real = root.real(path).unwrap_or_else(|_| path.to_owned());
    let is_there = |name: &String| root.exists(&below(BLOCK, name));
    let direct = |path: &str| Some(path.strip_prefix("/dev/")?.replace('/', "!")).filter(is_there);
    direct(&real).or_else(|| mapped(root, path.strip_prefix("/dev/mapper/")?))
}

/// Finds a device-mapper device by name, if /dev does not have it.
fn mapped(root: &Root, name: &str) -> Option<String> {
    let called = |d: &String| root.line(&format!("{BLOCK}/{d}/dm/name")).is_ok_and(|n| n == name);
    root.names(BLOCK, "dm-").ok()?.into_iter().find(called)
}

/// Returns all devices of the btrfs that includes this one.
fn siblings(root: &Root, device: &str) -> Option<Vec<String>> {
    const ALL: &str = "/sys/fs/btrfs";
    let folders = root.names(ALL, "").ok()?.into_iter().map(|id| format!("{ALL}/{id}/devices"));
    folders
        .filter_map(|folder| root.names(&folder, "").ok())
        .find(|names| names.iter().any(|n| n == device))
}

pub(super) fn last(path: &str) -> Option<String> {
    path.rsplit('/').next().filter(|name| !name.is_empty()).map(str::to_owned)
}
