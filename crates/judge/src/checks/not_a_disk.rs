//! `not_a_disk`: the folder's data are in memory, on a server, or nobody knows where.

use proofmark_model::{Finding, Measurement, Severity, Storage, StorageKind};

use super::{Check, Class};
use crate::Context;
use crate::disk::measured;

/// An overlay whose writes go to a disk that is known.
fn overlay(storage: &Storage) -> Finding {
    let path = &storage.path;
    let volatile = storage.mount_options.split(',').any(|option| option == "volatile");
    let (severity, message) = if volatile {
        let what = format!("{path} is on an overlay that ignores flushes (mounted volatile)");
        (Severity::Suspect, what)
    } else {
        let what = format!(
            "{path} is on an overlay: writes go to the disk of its upper folder, but reads may \
             come from lower ones, and copying up adds work"
        );
        (Severity::Note, what)
    };
    let advice = "choose a folder that is not on an overlay, such as a volume (--disk-path)";
    CHECK.finding(severity, message, advice).with("file_system", "overlay")
}

pub(super) static CHECK: Check = Check {
    id: "not_a_disk",
    class: Class::Claim,
    title: "Folder not on a disk",
    about: "Which device holds the measured folder. Memory (tmpfs, a RAM disk, zram, a loop device \
         over one of these) is invalid: the result is that of memory. A network file system is \
         suspect: the rate is that of the network and of the server's cache. Another file system \
         over unknown devices (overlay, FUSE) is suspect, and so is an unknown device. An overlay \
         over a known disk is a note, since reads may come from other folders and copying up adds \
         work. It is suspect if mounted volatile, since it then ignores flushes. Choose another \
         folder with --disk-path.",
    examine,
    examine_reference: None,
};

fn examine(ctx: &Context, m: &Measurement) -> Option<Finding> {
    if !measured(m) {
        return None;
    }
    let advice = "choose a folder on a disk of this machine (--disk-path)";
    let says = |severity, what: &str| CHECK.finding(severity, what, advice);
    let Some(storage) = ctx.host.storage.get() else {
        let why = ctx.host.storage.origin();
        let what = format!("the device of the folder is unknown ({why})");
        return Some(says(Severity::Suspect, &what));
    };
    let (path, fs) = (&storage.path, &storage.file_system);
    let (severity, what) = match storage.kind {
        StorageKind::Block if fs == "overlay" => {
            return Some(overlay(storage).with("path", path.as_str()));
        }
        StorageKind::Block => return None,
        StorageKind::Memory => {
            (Severity::Invalid, format!("{path} ({fs}) is in memory: no disk was measured"))
        }
        StorageKind::Network => (
            Severity::Suspect,
            format!("{path} ({fs}) is on a server: the rate is that of the network and the server"),
        ),
        StorageKind::Layered => (
            Severity::Suspect,
            format!("{path} ({fs}) is on another file system, whose device is unknown"),
        ),
        StorageKind::Unknown => {
            (Severity::Suspect, format!("the device of {path} ({fs}) is unknown"))
        }
    };
    Some(says(severity, &what).with("file_system", fs.as_str()).with("path", path.as_str()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::*;

    #[test]
    fn what_is_no_disk_is_named() {
        for (kind, expected) in [
            (StorageKind::Memory, INVALID),
            (StorageKind::Network, SUSPECT),
            (StorageKind::Layered, SUSPECT),
            (StorageKind::Unknown, SUSPECT),
        ] {
            let bare = with_storage(|s| {
                s.kind = kind;
                s.devices.clear();
            });
            for host in [bare, with_storage(|s| s.kind = kind)] {
                CHECK.on(&host, &[]).expect([
                    ("read", rand_read(1), expected),
                    ("written", disk("seq_write", 1 << 20, "none"), expected),
                    ("warm", disk("seq_read", 8, "warm"), expected),
                ]);
            }
        }
        CHECK.on(&host(), &[]).expect([
            ("unknown", rand_read(1), suspect("not part of the test")),
            ("memory", stream("read", 1), SILENT),
        ]);
    }

    #[test]
    fn an_overlay_is_told_and_one_without_flushes_is_suspect() {
        for (options, expected) in [
            ("rw,relatime,upperdir=/volatile", NOTE),
            ("rw,relatime,upperdir=/up,volatile", SUSPECT),
        ] {
            let host = with_storage(|s| {
                s.file_system = "overlay".to_owned();
                s.mount_options = options.to_owned();
            });
            CHECK.on(&host, &[]).expect([(options, rand_read(1), expected)]);
        }
    }
}
