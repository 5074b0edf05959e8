//! Mounts of this process, from /proc/self/mountinfo.
//!
//! Source: proc_pid_mountinfo(5).

use crate::root::{Reason, Root};

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Mount {
    id: u64,
    /// Number of the parent mount.
    parent: u64,
    /// Major and minor number of the file system, as its files have it: `8:1`. The major number is
    /// 0 if it is not on one block device.
    pub(crate) number: String,
    /// Mounted folder of the file system.
    pub(crate) root: String,
    pub(crate) point: String,
    /// Options of this mount; they may be stricter than those of the file system.
    pub(crate) mount_options: Vec<String>,
    pub(crate) kind: String,
    /// Device or other source.
    pub(crate) source: String,
    /// Options of the file system; for cgroup v1, its controllers.
    pub(crate) options: Vec<String>,
}

impl Mount {
    pub(crate) fn read_only(&self) -> bool {
        self.mount_options.iter().chain(&self.options).any(|o| o == "ro")
    }

    /// Returns the value of the file system's option `name=value`.
    pub(crate) fn option(&self, name: &str) -> Option<String> {
        let values = self.options.iter().filter_map(|o| o.split_once('='));
        values.filter(|(key, _)| *key == name).map(|(_, value)| unescape(value)).next()
    }
}

/// Finds the mount that holds an absolute path without links. Starts at the first mount on the path
/// and follows the mounts on it. So a mount hidden by a later one is skipped, even if its point is
/// longer.
pub(crate) fn holding<'a>(mounts: &'a [Mount], path: &str) -> Option<&'a Mount> {
    let way: Vec<&Mount> = mounts.iter().filter(|m| covers(&m.point, path)).collect();
    let nearest = |from: &dyn Fn(&Mount) -> bool| {
        way.iter().copied().filter(|m| from(m)).min_by_key(|m| m.point.len())
    };
    let mut here = nearest(&|m| way.iter().all(|other| other.id != m.parent || other.id == m.id))?;
    for _ in &way {
        match nearest(&|m| m.parent == here.id && m.id != here.id) {
            Some(next) => here = next,
            None => break,
        }
    }
    Some(here)
}

fn covers(folder: &str, path: &str) -> bool {
    let rest = path.strip_prefix(folder.trim_end_matches('/'));
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// Reads the mounts, in the order of mounting.
pub(crate) fn detect(root: &Root) -> Result<Vec<Mount>, Reason> {
    Ok(parse(&root.read("/proc/self/mountinfo")?))
}

/// Parses mounts and skips lines of another form.
pub(crate) fn parse(text: &str) -> Vec<Mount> {
    text.lines().filter_map(line).collect()
}

/// Parses a line such as `36 35 98:0 /root /point rw,noatime shared:1 - ext3 /dev/root
/// rw,errors=continue`. The number of fields before the dash varies.
fn line(line: &str) -> Option<Mount> {
    let (front, back) = line.split_once(" - ")?;
    let (mut front, mut back) = (front.split(' '), back.split(' '));
    let list = |text: &str| text.split(',').map(str::to_owned).collect();
    Some(Mount {
        id: front.next()?.parse().ok()?,
        parent: front.next()?.parse().ok()?,
        number: front.next()?.to_owned(),
        root: unescape(front.next()?),
        point: unescape(front.next()?),
        mount_options: list(front.next()?),
        kind: back.next()?.to_owned(),
        source: unescape(back.next()?),
        options: list(back.next().unwrap_or_default()),
    })
}

/// Decodes blanks and backslashes, which are written in octal, as `\040`.
fn unescape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('\\') {
        out.push_str(before);
        let code = after.get(..3).and_then(|digits| u8::from_str_radix(digits, 8).ok());
        match code {
            Some(code) if code.is_ascii() => {
                out.push(char::from(code));
                rest = &after[3..];
            }
            _ => {
                out.push('\\');
                rest = after;
            }
        }
    }
    out + rest
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn optional_fields_may_be_none_or_several() {
        let text = "33 24 0:29 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu,cpuacct\n\
                    34 24 0:30 /a\\040b /m rw shared:1 master:2 - ext4 /dev/x rw\n\
                    broken line\n";
        let found = parse(text);
        assert_eq!(found.len(), 2);
        assert_eq!(found[0].options, ["rw", "cpu", "cpuacct"]);
        assert_eq!((found[1].root.as_str(), found[1].point.as_str()), ("/a b", "/m"));
    }

    #[test]
    fn options_of_the_mount_and_of_the_file_system() {
        let line = |mount: &str, own: &str| {
            parse(&format!("9 1 0:5 / /m {mount} - overlay overlay {own}")).remove(0)
        };
        assert!(line("ro,noatime", "rw").read_only() && line("rw", "ro").read_only());
        let found = line("rw", "rw,errors=remount-ro,upperdir=/a\\040b,workdir=/w");
        assert!(!found.read_only());
        assert_eq!(found.option("upperdir").as_deref(), Some("/a b"));
        assert_eq!(found.option("lowerdir"), None);
        assert_eq!(found.number, "0:5");
    }

    #[test]
    fn the_mount_of_a_path_is_the_nearest_above_it_that_none_hides() {
        let nested = "20 1 8:1 / / rw - ext4 root rw\n21 20 8:2 / /srv rw - ext4 srv rw\n\
                      22 21 0:9 / /srv/fast rw - tmpfs fast rw\n";
        let over = "20 1 8:1 / / rw - ext4 root rw\n21 20 8:2 / /srv rw - ext4 below rw\n\
                    22 21 0:9 / /srv rw - tmpfs above rw\n";
        let above = "20 1 8:1 / / rw - ext4 root rw\n21 20 8:2 / /a/b rw - ext4 hidden rw\n\
                     22 20 8:3 / /a rw - ext4 later rw\n";
        // The root may come last: the order of lines has no meaning.
        let moved = "22 29 0:9 / /srv rw - tmpfs srv rw\n29 1 8:1 / / rw - ext4 root rw\n";
        let own_parent = "1 1 0:2 / / rw - rootfs rootfs rw\n20 1 8:1 / / rw - ext4 root rw\n";
        let changed_root = "5 4 8:2 / /srv rw - ext4 srv rw\n";
        for (text, path, source) in [
            (nested, "/", Some("root")),
            (nested, "/srv", Some("srv")),
            (nested, "/srv/a", Some("srv")),
            (nested, "/srv2", Some("root")),
            (nested, "/srv/fast/x", Some("fast")),
            (nested, "/srv/faster", Some("srv")),
            (over, "/srv/a", Some("above")),
            (above, "/a/b/c", Some("later")),
            (moved, "/srv", Some("srv")),
            (own_parent, "/x", Some("root")),
            (changed_root, "/etc", None),
            ("", "/", None),
        ] {
            let mounts = parse(text);
            let found = holding(&mounts, path).map(|m| m.source.as_str());
            assert_eq!(found, source, "{path} of {text}");
        }
    }

    #[test]
    fn escapes() {
        assert_eq!(unescape("a\\040b\\134c"), "a b\\c");
        assert_eq!(unescape("\\9"), "\\9");
        assert_eq!(unescape("end\\"), "end\\");
    }

    proptest! {
        #[test]
        fn any_tree_of_mounts_ends(mounts in proptest::collection::vec((0_u8..5, 0_u8..5, "/[ab]?(/[ab])?"), 0..8)) {
            let lines: Vec<_> = mounts.iter().map(|(id, parent, point)| {
                format!("{id} {parent} 8:1 / {point} rw - ext4 x rw")
            }).collect();
            if let Some(mount) = holding(&parse(&lines.join("\n")), "/a/b") {
                prop_assert!(covers(&mount.point, "/a/b"));
            }
        }
    }
}
