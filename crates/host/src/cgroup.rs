//! Folders of this process's cgroup and its parents, up to the visible top. Supports cgroup v1, v2,
//! both at once (hybrid), and containers that see only part of the tree.
//!
//! Sources: cgroups(7), cgroup_namespaces(7), Linux `Documentation/admin-guide/cgroup-v2.rst` and
//! `cgroup-v1/cgroups.rst` (release_agent).

use crate::mounts::{self, Mount};
use crate::root::{Reason, Root, above, below, fault};

/// Maximum depth of cgroups that is searched.
const MAX_DEPTH: usize = 64;

/// Version of the cgroup interface.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Version {
    /// One hierarchy for each controller.
    V1,
    /// The unified hierarchy.
    V2,
}

/// Cgroup hierarchy of a controller, as this process sees it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Hierarchy {
    pub(crate) version: Version,
    /// Existing folders from this process's cgroup up to the mount point.
    pub(crate) folders: Vec<String>,
    /// True if the mount seems to show the hierarchy from its real top. In a container, limits
    /// above its own cgroup are not visible.
    pub(crate) from_top: bool,
}

/// Finds the hierarchy with a controller's files (`cpu`, `memory`, `cpuset`).
pub(crate) fn find_hierarchy(root: &Root, controller: &str) -> Result<Hierarchy, Reason> {
    let text = root.read("/proc/self/cgroup")?;
    let mounts = mounts::detect(root)?;
    let (version, path) = membership(&text, controller)
        .ok_or_else(|| fault("/proc/self/cgroup", format!("no cgroup for {controller}")))?;
    let fits = |m: &&Mount| match version {
        Version::V1 => m.kind == "cgroup" && m.options.iter().any(|o| o == controller),
        Version::V2 => m.kind == "cgroup2",
    };
    let folders = |m: &Mount| -> Vec<String> {
        let mut own = climb(&folder(m, &path), &m.point);
        own.retain(|f| root.exists(f));
        own
    };
    // A hierarchy may be mounted several times: prefer the mount that shows this process's own
    // cgroup.
    let best = mounts
        .iter()
        .filter(fits)
        .map(|m| (m, folders(m)))
        .max_by_key(|(m, f)| (f.first() == Some(&folder(m, &path)), m.root == "/", f.len()));
    match best {
        Some((mount, folders)) if !folders.is_empty() => {
            let from_top =
                mount.root == "/" && !path.contains("/..") && is_top(root, mount, version);
            Ok(Hierarchy { version, folders, from_top })
        }
        Some((mount, _)) => Err(fault(&mount.point, "the cgroup cannot be read")),
        None => Err(format!("no cgroup file system is mounted for {controller}")),
    }
}

/// True if the mount point seems to be the top of the hierarchy. A cgroup namespace shows its own
/// top as `/`, but only the real one has the release agent of cgroup v1, and lacks these files of
/// v2.
fn is_top(root: &Root, mount: &Mount, version: Version) -> bool {
    const NOT_AT_TOP: [&str; 3] = ["cgroup.events", "cpu.max", "memory.max"];
    let exists = |file: &str| root.exists(&below(&mount.point, file));
    match version {
        Version::V1 => exists("release_agent"),
        Version::V2 => !NOT_AT_TOP.into_iter().any(exists),
    }
}

/// Returns the version and path of this process's cgroup: in the controller's v1 hierarchy, else in
/// the unified one.
fn membership(text: &str, controller: &str) -> Option<(Version, String)> {
    let lines = text.lines().filter_map(|line| {
        let mut parts = line.splitn(3, ':');
        Some((parts.next()?, parts.next()?, parts.next()?))
    });
    let mut unified = None;
    for (hierarchy, controllers, path) in lines {
        if controllers.split(',').any(|c| c == controller) {
            return Some((Version::V1, path.to_owned()));
        }
        if hierarchy == "0" && controllers.is_empty() {
            unified = Some((Version::V2, path.to_owned()));
        }
    }
    unified
}

/// Returns the folder of a cgroup below a mount. If the path is outside the mount (another cgroup
/// namespace), this process sees the mount point.
fn folder(mount: &Mount, path: &str) -> String {
    let leads_up = |text: &str| text.split('/').any(|p| p == "..");
    let rest = match mount.root.as_str() {
        "/" => Some(path),
        root => path.strip_prefix(root).filter(|r| r.is_empty() || r.starts_with('/')),
    };
    match rest.map(|r| r.trim_matches('/')) {
        Some(name) if !name.is_empty() && !leads_up(path) && !leads_up(&mount.root) => {
            below(&mount.point, name)
        }
        _ => mount.point.clone(),
    }
}

fn climb(from: &str, top: &str) -> Vec<String> {
    let mut folders = vec![from.to_owned()];
    let mut here = from;
    while here != top && folders.len() < MAX_DEPTH {
        match above(here) {
            Some(next) if next.starts_with(top) => {
                folders.push(next.to_owned());
                here = next;
            }
            _ => break,
        }
    }
    folders
}

#[cfg(test)]
mod tests {
    use super::*;

    const HYBRID: &str = "3:cpuset:/\n2:cpu,cpuacct:/a/b\n1:name=systemd:/x\n0::/u\n";

    fn mount(root: &str, point: &str) -> Mount {
        let line = format!("1 2 0:3 {root} {point} rw - cgroup cgroup rw,cpu,cpuacct");
        mounts::parse(&line).remove(0)
    }

    #[test]
    fn a_v1_hierarchy_goes_before_the_unified_one() {
        assert_eq!(membership(HYBRID, "cpu"), Some((Version::V1, "/a/b".to_owned())));
        assert_eq!(membership(HYBRID, "memory"), Some((Version::V2, "/u".to_owned())));
        assert_eq!(membership("1:name=systemd:/x\n", "memory"), None);
        let odd = membership("0::/with:colon\n", "cpu");
        assert_eq!(odd, Some((Version::V2, "/with:colon".to_owned())));
    }

    #[test]
    fn the_folder_is_the_path_below_the_mounts_root() {
        let whole = mount("/", "/sys/fs/cgroup/cpu");
        assert_eq!(folder(&whole, "/a/b"), "/sys/fs/cgroup/cpu/a/b");
        assert_eq!(folder(&whole, "/"), "/sys/fs/cgroup/cpu");
        let part = mount("/docker/12", "/cg");
        assert_eq!(folder(&part, "/docker/12"), "/cg");
        assert_eq!(folder(&part, "/docker/12/x"), "/cg/x");
        assert_eq!(folder(&part, "/docker/123"), "/cg", "another cgroup of the same beginning");
        assert_eq!(folder(&part, "/"), "/cg", "a namespaced root");
        assert_eq!(folder(&whole, "/../b"), "/sys/fs/cgroup/cpu", "outside of the namespace");
    }

    #[test]
    fn all_folders_up_to_the_mount_point() {
        assert_eq!(climb("/cg/a/b", "/cg"), ["/cg/a/b", "/cg/a", "/cg"]);
        assert_eq!(climb("/cg", "/cg"), ["/cg"]);
        assert_eq!(climb("/elsewhere", "/cg"), ["/elsewhere"]);
    }
}
