//! What lies under the folder for the disk workloads: the links and files of sysfs that
//! lead from its file system down to the hardware.

use std::io;
use std::path::{Path, PathBuf};

use proofmark_host::Root;
use proofmark_model::BlockDevice;

use crate::{copy, names, write};

const DEVICE_FILES: &[&str] = &[
    "dev",
    "device/model",
    "device/name",
    "device/transport",
    "dm/name",
    "loop/backing_file",
    "partition",
    "queue/logical_block_size",
    "queue/max_sectors_kb",
    "queue/physical_block_size",
    "queue/rotational",
    "queue/scheduler",
    "queue/write_cache",
    "size",
];
/// Files of the folders above a device that tell its link.
const LINK_FILES: &[&str] = &["current_link_speed", "current_link_width", "speed"];

/// Captures what is under `path`, an absolute folder; nothing where it cannot be used.
/// Gives the folders whose mounts belong to it: its own, and those of the files behind
/// loop devices. Where an overlay keeps what is written to it is not captured.
pub(crate) fn capture(folder: &Path, path: &str) -> io::Result<Vec<PathBuf>> {
    let mut folders = vec![PathBuf::from(path)];
    let host = proofmark_host::look(&Root::live(), path);
    let Some(storage) = host.storage.get() else {
        eprintln!("no storage: {}", host.storage.origin());
        return Ok(folders);
    };
    write(folder, "/space", &format!("{} {}\n", storage.total_bytes, storage.free_bytes))?;
    for device in &storage.devices {
        capture_device(folder, device)?;
        // The folder of the file has to be there, and git keeps no empty one.
        if let Some(inside) = device.backing.as_deref().and_then(|file| Path::new(file).parent()) {
            write(folder, &format!("{}/.captured", inside.display()), "")?;
            folders.push(inside.to_owned());
        }
    }
    Ok(folders)
}

fn capture_device(folder: &Path, device: &BlockDevice) -> io::Result<()> {
    let class = format!("/sys/class/block/{}", device.name.replace('/', "!"));
    link(folder, &class)?;
    link(folder, &format!("/sys/dev/block/{}", device.number))?;
    let real = std::fs::canonicalize(&class)?;
    let Some(real) = real.to_str() else { return Ok(()) };
    for file in DEVICE_FILES {
        copy(folder, &format!("{real}/{file}"))?;
    }
    for name in names(&format!("{real}/slaves")) {
        write(folder, &format!("{real}/slaves/{name}"), "")?;
    }
    capture_link(folder, real)
}

fn capture_link(folder: &Path, real: &str) -> io::Result<()> {
    for above in Path::new(real).ancestors().skip(1).filter_map(Path::to_str) {
        for file in LINK_FILES {
            copy(folder, &format!("{above}/{file}"))?;
        }
        let name = above.rsplit('/').next().unwrap_or_default();
        if let Some(port) = name.strip_prefix("ata") {
            copy(folder, &format!("/sys/class/ata_link/link{port}/sata_spd"))?;
        }
        if name.starts_with("port-") {
            for phy in names(above).into_iter().filter(|n| n.starts_with("phy-")) {
                write(folder, &format!("{above}/{phy}"), "")?;
                let rate = format!("/sys/class/sas_phy/{phy}/negotiated_linkrate");
                copy(folder, &rate)?;
            }
        }
    }
    Ok(())
}

/// Copies a link of sysfs as it is: they are relative.
fn link(folder: &Path, path: &str) -> io::Result<()> {
    let to = folder.join(path.trim_start_matches('/'));
    if let Some(parent) = to.parent() {
        std::fs::create_dir_all(parent)?;
    }
    match std::os::unix::fs::symlink(std::fs::read_link(path)?, to) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => Err(error),
        _ => Ok(()),
    }
}
