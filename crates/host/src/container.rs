//! Container manager around this process; `none` outside of containers. Each manager leaves another
//! trace. A trace that an image can carry out of its container (`/.dockerenv`) does not count on a
//! disk's root file system.
//!
//! Sources: systemd's Container Interface (the `container` variable and `/run/systemd/container`);
//! podman-run(1) (`/run/.containerenv`); the cgroup paths of Docker, containerd, LXC and the
//! kubelet.

use proofmark_model::Probe;

use crate::mounts::{self, Mount};
use crate::root::Root;

pub(crate) fn detect(root: &Root) -> Probe<String> {
    let mounts = mounts::detect(root).unwrap_or_default();
    if root.exists("/run/.containerenv") {
        return Probe::known("podman".to_owned(), "/run/.containerenv");
    }
    if let Ok(name) = root.line("/run/systemd/container") {
        return Probe::known(name, "/run/systemd/container");
    }
    if let Some(name) = root.read("/proc/1/environ").ok().and_then(|text| variable(&text)) {
        return Probe::known(name, "/proc/1/environ");
    }
    if let Some(name) = root.read("/proc/self/cgroup").ok().and_then(|text| by_path(&text)) {
        return Probe::known(name.to_owned(), "/proc/self/cgroup");
    }
    if root.exists("/var/run/secrets/kubernetes.io") {
        return Probe::known("kubernetes".to_owned(), "/var/run/secrets/kubernetes.io");
    }
    let marked = root.exists("/.dockerenv");
    match mounts.iter().rev().find(|m| m.point == "/") {
        Some(top) if on_disk(top) && marked => Probe::known(
            "none".to_owned(),
            format!("the root file system is the disk {}; /.dockerenv is left over", top.source),
        ),
        _ if marked => Probe::known("docker".to_owned(), "/.dockerenv"),
        Some(top) if top.kind == "overlay" => Probe::missing(
            "the root file system is an overlay, but nothing names a container manager",
        ),
        Some(_) => Probe::known("none".to_owned(), "no trace of a container manager"),
        None => Probe::missing("/proc/self/mountinfo lists no root file system"),
    }
}

/// True if the root file system is on a disk, as outside of containers.
fn on_disk(top: &Mount) -> bool {
    top.root == "/" && top.source.starts_with("/dev/") && !top.source.contains("docker")
}

fn variable(environ: &str) -> Option<String> {
    let value = environ.split('\0').find_map(|v| v.strip_prefix("container="))?;
    (!value.is_empty()).then(|| value.to_owned())
}

/// Returns the manager that uses this kind of cgroup path.
fn by_path(cgroup: &str) -> Option<&'static str> {
    const PATHS: &[(&str, &str)] = &[
        ("/kubepods", "kubernetes"),
        ("/docker/", "docker"),
        ("/docker-", "docker"),
        ("/libpod-", "podman"),
        ("/lxc/", "lxc"),
        ("/lxc.payload", "lxc"),
        ("/cri-containerd", "containerd"),
    ];
    PATHS.iter().find(|(part, _)| cgroup.contains(part)).map(|(_, name)| *name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Machine;

    fn found(files: &[(&str, &str)]) -> Probe<String> {
        detect(&Machine::new(files).root())
    }

    const DISK: (&str, &str) = ("/proc/self/mountinfo", "27 1 254:0 / / rw - ext4 /dev/vda rw\n");
    const OVERLAY: (&str, &str) =
        ("/proc/self/mountinfo", "27 1 0:52 / / rw - overlay overlay rw,lowerdir=x\n");

    #[test]
    fn each_manager_is_known_by_its_trace() {
        for (file, text, name) in [
            ("/run/.containerenv", "", "podman"),
            ("/run/systemd/container", "systemd-nspawn\n", "systemd-nspawn"),
            ("/proc/1/environ", "A=b\0container=lxc\0", "lxc"),
            ("/proc/self/cgroup", "4:memory:/docker/0123\n", "docker"),
            ("/proc/self/cgroup", "0::/kubepods.slice/x\n", "kubernetes"),
            ("/.dockerenv", "", "docker"),
        ] {
            assert_eq!(found(&[OVERLAY, (file, text)]).get().unwrap(), name, "{file}");
        }
    }

    #[test]
    fn a_left_over_mark_on_a_disk_is_no_container() {
        let found = found(&[DISK, ("/.dockerenv", "")]);
        assert_eq!(found.get().unwrap(), "none");
        assert!(found.origin().contains("/dev/vda"));
    }

    #[test]
    fn without_a_trace_it_is_none_or_unknown() {
        assert_eq!(found(&[DISK]).get().unwrap(), "none");
        assert!(found(&[OVERLAY]).get().is_none());
        assert!(found(&[]).get().is_none());
    }
}
