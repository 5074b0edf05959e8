//! The network interfaces: their addresses and the files of sysfs that tell what each is.

use std::io;
use std::path::Path;

use proofmark_host::Root;

use crate::{copy, write};

const NET: &str = "/sys/class/net";
const FILES: &[&str] =
    &["device/uevent", "ifindex", "iflink", "mtu", "speed", "tun_flags", "type", "uevent"];
/// Folders whose presence tells a kind, kept as empty files.
const MARKS: &[&str] = &["bonding", "bridge", "phy80211", "wireless"];

/// Captures every interface of this network namespace.
pub(crate) fn capture(folder: &Path) -> io::Result<()> {
    if let Some(text) = Root::live().addresses_text() {
        write(folder, "/addresses", &text)?;
    }
    for name in names(NET) {
        let base = format!("{NET}/{name}");
        for file in FILES {
            copy(folder, &format!("{base}/{file}"), |text| text)?;
        }
        for mark in names(&base) {
            if MARKS.contains(&mark.as_str()) || mark.starts_with("lower_") {
                write(folder, &format!("{base}/{mark}"), "")?;
            }
        }
    }
    Ok(())
}

fn names(folder: &str) -> Vec<String> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    entries.filter_map(|e| e.file_name().into_string().ok()).collect()
}
