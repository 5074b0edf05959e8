//! What all disks and network cards of the machine moved to and from its memory, for whomever.
//!
//! Sources: Linux `Documentation/ABI/stable/sysfs-block` and `Documentation/ABI/testing/sysfs-class-net`
//! (`device` links what stands for hardware, `lower_*` to what an interface is made of; `hidden` paths of
//! a disk whose I/O is counted again at the disk).

use std::fs;
use std::path::Path;

use crate::device::bytes_moved;
use crate::traffic::{bytes_of_interface, text_of};

/// Names of what moves bytes by itself; what is made of others moves none of its own.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Movers {
    disks: Vec<String>,
    cards: Vec<String>,
}

impl Movers {
    /// Those of the machine whose files are below `root`.
    pub(crate) fn find(root: &Path) -> Self {
        let disks = names(&root.join("sys/block"), |disk| {
            let hidden = fs::read_to_string(disk.join("hidden"));
            disk.join("device").exists() && !hidden.is_ok_and(|text| text.trim() == "1")
        });
        let cards = names(&root.join("sys/class/net"), |card| {
            let lower = names(card, |_| true).iter().any(|file| file.starts_with("lower_"));
            card.join("device").exists() && !lower
        });
        Self { disks, cards }
    }

    /// Bytes since the machine started, in both directions; `None` where no counter is to be read.
    pub(crate) fn bytes(&self) -> Option<u64> {
        let (disks, cards) = (text_of("/proc/diskstats"), text_of("/proc/net/dev"));
        let disks = self.disks.iter().map(|name| bytes_moved(&disks, name));
        let cards = self.cards.iter().map(|name| bytes_of_interface(&cards, name));
        disks.chain(cards).flatten().reduce(u64::saturating_add)
    }
}

/// The entries of a folder for which this holds, in order.
fn names(folder: &Path, holds: impl Fn(&Path) -> bool) -> Vec<String> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let kept = entries.filter(|entry| holds(&entry.path()));
    let mut names: Vec<String> =
        kept.filter_map(|entry| entry.file_name().into_string().ok()).collect();
    names.sort();
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_byte_is_counted_once_where_it_enters_or_leaves() {
        let dir = tempfile::tempdir().unwrap();
        let of = |place: &str, files: &[&str]| {
            fs::create_dir_all(dir.path().join(place)).unwrap();
            for file in files {
                fs::write(dir.path().join(place).join(file), "1\n").unwrap();
            }
        };
        for (disk, files) in
            [("nvme0n1", vec!["device"]), ("nvme0c0n1", vec!["device", "hidden"]), ("md0", vec![])]
        {
            of(&format!("sys/block/{disk}"), &files);
        }
        // A card of the host that a guest sees twice, as some clouds have it; a bond of it.
        for (card, files) in [
            ("enP1", vec!["device", "upper_eth0"]),
            ("eth0", vec!["device", "lower_enP1"]),
            ("bond0", vec!["lower_enP1"]),
            ("lo", vec![]),
        ] {
            of(&format!("sys/class/net/{card}"), &files);
        }
        let found = Movers::find(dir.path());
        let [disks, cards] = [["nvme0n1"], ["enP1"]].map(|names| names.map(str::to_owned).to_vec());
        assert_eq!(found, Movers { disks, cards });
        assert_eq!(Movers::default().bytes(), None);
    }

    #[test]
    fn what_is_written_to_a_disk_is_counted() {
        let movers = Movers::find(Path::new("/"));
        let dir = tempfile::tempdir_in(env!("CARGO_MANIFEST_DIR")).unwrap();
        let Some(before) = movers.bytes() else { return }; // A machine without disks and cards.
        let written = 8 << 20;
        let file = fs::File::create(dir.path().join("f")).unwrap();
        std::io::Write::write_all(&mut &file, &vec![7; written]).unwrap();
        file.sync_all().unwrap();
        let grown = movers.bytes().unwrap() - before;
        assert!(grown >= written as u64 || movers.disks.is_empty(), "{grown} of {movers:?}");
    }
}
