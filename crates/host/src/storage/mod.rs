//! Storage under a folder: its mount, its file system, and the block devices down to the lowest.
//!
//! Sources: proc_pid_mountinfo(5), statvfs(3), sysfs(5), Linux
//! `Documentation/ABI/stable/sysfs-block`.

mod attached;
mod device;
mod file_system;
mod link;
mod stack;

use proofmark_model::{Probe, Storage};

use crate::mounts::{self, Mount};
use crate::root::{Reason, Root, fault, probe};
use stack::Stack;

/// Folder of the kernel's block devices, including partitions.
const BLOCK: &str = "/sys/class/block";

/// Detects the storage under an absolute folder. On a `virtual_machine` links are left out: the
/// hypervisor invents them.
pub(crate) fn detect(root: &Root, path: &str, virtual_machine: bool) -> Probe<Storage> {
    let found = find(root, path, virtual_machine);
    probe(found, "/proc/self/mountinfo, statvfs and /sys/class/block")
}

fn find(root: &Root, path: &str, virtual_machine: bool) -> Result<Storage, Reason> {
    let path = root.folder(path).map_err(other_folder)?;
    let mounts = mounts::detect(root)?;
    let mount = mounts::holding(&mounts, &path)
        .ok_or_else(|| fault("/proc/self/mountinfo", format!("no mount contains {path}")))?;
    writable(root, mount, &path).map_err(other_folder)?;
    let (total_bytes, free_bytes) = root.space(&path)?;
    let mut stack = Stack::new(root, &mounts, virtual_machine);
    stack.file_system(mount, 0);
    let (kind, devices) = stack.found();
    Ok(Storage {
        path,
        file_system: mount.kind.clone(),
        kind,
        mount_point: mount.point.clone(),
        mount_options: options(mount),
        total_bytes,
        free_bytes,
        devices,
    })
}

fn other_folder(reason: Reason) -> Reason {
    format!("{reason}; choose another folder with --disk-path")
}

fn writable(root: &Root, mount: &Mount, path: &str) -> Result<(), Reason> {
    if mount.read_only() {
        let (source, point) = (&mount.source, &mount.point);
        return Err(format!("{path} is on a read-only file system ({source} at {point})"));
    }
    root.writable(path)
}

/// Returns the mount's options, then the file system's that differ.
fn options(mount: &Mount) -> String {
    let own = mount.options.iter().filter(|o| !mount.mount_options.contains(o));
    let all: Vec<&str> = mount.mount_options.iter().chain(own).map(String::as_str).collect();
    all.join(",")
}

#[cfg(test)]
mod tests;
