//! What a job's options say of where its bytes went, where that is no disk.

use super::json::Asked;

/// Folders that are in memory on every Linux.
const IN_MEMORY: &[&str] = &["/dev/shm", "/run/shm"];

/// Devices that hold no data: what they read is made, what they write is dropped.
const HOLDS_NOTHING: &[&str] =
    &["/dev/zero", "/dev/null", "/dev/full", "/dev/random", "/dev/urandom"];

/// Beginnings of the names of block devices that are memory, or hold nothing.
const NO_DISKS: &[&str] = &["/dev/ram", "/dev/zram", "/dev/nullb"];

/// Why these options name no disk, if they do.
pub(super) fn no_disk(options: Asked<'_>) -> Option<String> {
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
        let no_disk = NO_DISKS.iter().any(|start| path.starts_with(start));
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
