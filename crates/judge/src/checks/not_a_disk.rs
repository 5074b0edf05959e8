//! `not_a_disk`: the folder's data lie in memory, on a server, or nobody knows where.

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
    Finding::new(CHECK.id, severity, message, advice).with("file_system", "overlay")
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
    let says = |severity, what: &str| Finding::new(CHECK.id, severity, what, advice);
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
    use crate::testing::{disk, found_on, host, host_with_disk, rand_read, stream, with_storage};

    fn on(kind: StorageKind, devices: bool, m: Measurement) -> Option<Severity> {
        let host = with_storage(|s| {
            s.kind = kind;
            if !devices {
                s.devices.clear();
            }
        });
        found_on(&host, &CHECK, m, &[]).map(|f| f.severity)
    }

    #[test]
    fn memory_is_no_disk_whatever_it_calls_itself() {
        for m in [rand_read(1), disk("seq_write", 1 << 20, "none"), disk("seq_read", 8, "warm")] {
            for devices in [true, false] {
                let severity = on(StorageKind::Memory, devices, m.clone());
                assert_eq!(severity, Some(Severity::Invalid));
            }
        }
    }

    #[test]
    fn what_is_not_known_or_far_away_is_suspect() {
        for kind in [StorageKind::Network, StorageKind::Layered, StorageKind::Unknown] {
            for devices in [true, false] {
                let severity = on(kind, devices, rand_read(1));
                assert_eq!(severity, Some(Severity::Suspect), "{kind:?}");
            }
        }
        let finding = found_on(&host(), &CHECK, rand_read(1), &[]).unwrap();
        assert_eq!(finding.severity, Severity::Suspect);
        assert!(finding.message.contains("not part of the test"), "{}", finding.message);
    }

    #[test]
    fn an_overlay_is_told_and_one_without_flushes_is_suspect() {
        let overlay = |options: &str| {
            let host = with_storage(|s| {
                s.file_system = "overlay".to_owned();
                s.mount_options = options.to_owned();
            });
            found_on(&host, &CHECK, rand_read(1), &[]).map(|f| f.severity)
        };
        assert_eq!(overlay("rw,relatime,upperdir=/volatile"), Some(Severity::Note));
        assert_eq!(overlay("rw,relatime,upperdir=/up,volatile"), Some(Severity::Suspect));
    }

    #[test]
    fn a_disk_and_other_subsystems_are_silent() {
        assert!(found_on(&host_with_disk(), &CHECK, rand_read(1), &[]).is_none());
        assert!(found_on(&host(), &CHECK, stream("read", 1), &[]).is_none());
    }
}
