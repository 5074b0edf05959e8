//! What a job's options say of where its bytes went, where that is no disk.

use proofmark_model::{Finding, Severity, check_id};

use super::json::{Asked, Disk};
use crate::Malformed;

/// Folders that are in memory on every Linux.
const IN_MEMORY: &[&str] = &["/dev/shm", "/run/shm"];

/// Devices that hold no data: what they read is made, what they write is dropped.
const HOLDS_NOTHING: &[&str] =
    &["/dev/zero", "/dev/null", "/dev/full", "/dev/random", "/dev/urandom"];

/// Beginnings of the names of block devices that are memory, or hold nothing.
const NO_DISKS: &[&str] = &["ram", "zram", "nullb"];

/// The beginning of the names of devices that are files: what holds those is not reported.
const FILES: &str = "loop";

/// Whether a device is no disk.
fn is_memory(name: &str) -> bool {
    NO_DISKS.iter().any(|start| name.starts_with(start))
}

/// Whether what a device counts is of a disk.
pub(super) fn is_disk(disk: &Disk) -> bool {
    !is_memory(&disk.name) && !disk.name.starts_with(FILES)
}

/// The devices at the bottom, of whose counters the others are sums.
pub(super) fn at_bottom(disks: &[Disk]) -> impl Iterator<Item = &Disk> {
    disks.iter().filter(|disk| disk.aggr_read_ios.is_none())
}

/// What is said where the options name no disk, or where all devices that were used are memory.
pub(super) fn not_a_disk(options: Option<Asked<'_>>, disks: &[Disk]) -> Option<Finding> {
    let mut used = at_bottom(disks).peekable();
    let first = used.peek().map(|disk| Malformed::excerpt(&disk.name));
    let memory = first.filter(|_| used.all(|disk| is_memory(&disk.name)));
    let by_device = || memory.map(|name| format!("the device {name} is in memory, not on a disk"));
    let why = options.and_then(no_disk).or_else(by_device)?;
    let advice = "run fio on a file or device of the disk";
    Some(Finding::new(check_id::NOT_A_DISK, Severity::Invalid, why, advice))
}

/// Why these options name no disk, if they do.
fn no_disk(options: Asked<'_>) -> Option<String> {
    if let Some(engine) = options.get("ioengine").filter(|engine| *engine == "null") {
        return Some(format!("ioengine={engine} does no I/O"));
    }
    let named = ["filename", "directory"].into_iter().filter_map(|name| options.get(name));
    // A colon parts several files.
    let mut paths = named.flat_map(|value| value.split(':'));
    paths.find_map(|path| {
        let path = path.trim_end_matches('/');
        if HOLDS_NOTHING.contains(&path) {
            return Some(format!("{path} holds no data"));
        }
        let within = |folder: &&str| {
            path.strip_prefix(*folder).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        };
        let in_memory = IN_MEMORY.iter().any(within);
        let no_disk = path.strip_prefix("/dev/").is_some_and(is_memory);
        (in_memory || no_disk).then(|| format!("{path} is in memory, not on a disk"))
    })
}

#[cfg(test)]
mod tests {
    use super::super::json::Options;
    use super::*;

    #[test]
    fn what_is_no_disk_is_told_by_its_name() {
        for (name, value, says) in [
            ("ioengine", "null", Some("does no I/O")),
            ("ioengine", "psync", None),
            ("filename", "/dev/zero", Some("/dev/zero holds no data")),
            ("filename", "/data/a:/dev/null", Some("/dev/null holds no data")),
            ("filename", "/dev/shm/x", Some("/dev/shm/x is in memory")),
            ("filename", "/dev/shmoo", None),
            ("directory", "/dev/shm/", Some("in memory")),
            ("filename", "/dev/ram0", Some("in memory")),
            ("filename", "/dev/nvme0n1", None),
            ("filename", "/tmp/f", None),
        ] {
            let options = Options::from([(name.to_owned(), value.to_owned())]);
            let found = no_disk(Asked::find(Some(&options), &Options::new()).unwrap());
            match says {
                Some(says) => assert!(found.is_some_and(|f| f.contains(says)), "{value}"),
                None => assert_eq!(found, None, "{value}"),
            }
        }
    }
}
