//! The facts of one block device.
//!
//! Sources: Linux `Documentation/ABI/stable/sysfs-block` (size, queue/*), `block/
//! queue-sysfs.rst`, `block/writeback_cache_control.rst`; losetup(8).

use proofmark_model::BlockDevice;

use super::{BLOCK, attached, link};
use crate::root::{Root, above};
use crate::text::bracketed;

/// Unit of `size`, whatever the device's sectors are.
const SECTOR: u64 = 512;

/// A device by its name in [`BLOCK`], if there is one; what carries it is left open.
pub(super) fn look(root: &Root, name: &str, virtual_machine: bool) -> Option<BlockDevice> {
    let folder = root.real(&format!("{BLOCK}/{name}")).ok()?;
    let partition = root.exists(&format!("{folder}/partition"));
    // A partition has the queue of its disk, which is the folder above.
    let disk = if partition { above(&folder)? } else { folder.as_str() };
    let queue = |file: &str| root.line(&format!("{disk}/queue/{file}")).ok();
    let bytes = |file: &str| queue(file)?.parse::<u64>().ok();
    let transport = if partition { None } else { attached::transport(root, &folder) };
    let link = match transport {
        Some(transport) if !virtual_machine => link::look(root, &folder, transport),
        _ => None,
    };
    let kind = if partition { "partition" } else { attached::kind(name) };
    // A write-back cache is one that a loss of power empties.
    let cache = |text: &str| either(text, "write through", "write back");
    let by_kernel = queue("write_cache").and_then(|text| cache(&text));
    let by_driver = driver_cache(root, disk).and_then(|text| cache(&text));
    Some(BlockDevice {
        name: shown(name),
        number: root.line(&format!("{folder}/dev")).unwrap_or_default(),
        kind: kind.to_owned(),
        over: Vec::new(),
        model: model(root, &folder),
        size_bytes: sectors(root, &folder),
        logical_sector_bytes: bytes("logical_block_size"),
        physical_sector_bytes: bytes("physical_block_size"),
        request_bytes: bytes("max_sectors_kb").and_then(|kb| kb.checked_mul(1024)),
        rotational: queue("rotational").and_then(|text| either(&text, "0", "1")),
        volatile_cache: by_driver.filter(|has| *has).or(by_kernel),
        flushes_withheld: (by_kernel, by_driver) == (Some(false), Some(true)),
        fua: queue("fua").and_then(|text| either(&text, "0", "1")),
        scheduler: queue("scheduler").and_then(|text| chosen(&text)),
        transport: transport.map(str::to_owned),
        link,
        backing: root.line(&format!("{folder}/loop/backing_file")).ok(),
        cached_backing: root.line(&format!("{folder}/loop/dio")).is_ok_and(|dio| dio == "0"),
    })
}

/// What the driver of a disk says of its cache: virtio at the disk, SCSI at its `scsi_disk`.
fn driver_cache(root: &Root, disk: &str) -> Option<String> {
    let virtio = root.line(&format!("{disk}/cache_type")).ok();
    virtio.or_else(|| {
        let folder = format!("{disk}/device/scsi_disk");
        let address = root.names(&folder, "").ok()?.into_iter().next()?;
        root.line(&format!("{folder}/{address}/cache_type")).ok()
    })
}

/// The name as /proc/diskstats and /dev have it: sysfs writes `!` for a slash.
pub(super) fn shown(name: &str) -> String {
    name.replace('!', "/")
}

fn model(root: &Root, folder: &str) -> Option<String> {
    // MMC cards have a name instead.
    let reported = |file: &str| root.line(&format!("{folder}/device/{file}")).ok();
    reported("model").or_else(|| folder.contains("/mmc").then(|| reported("name"))?)
}

fn sectors(root: &Root, folder: &str) -> Option<u64> {
    root.number::<u64>(&format!("{folder}/size")).ok()?.checked_mul(SECTOR)
}

/// Which of two words the text is.
fn either(text: &str, no: &str, yes: &str) -> Option<bool> {
    [no, yes].contains(&text).then_some(text == yes)
}

/// `none` of `[none] mq-deadline kyber`; a device without a choice has one word.
fn chosen(text: &str) -> Option<String> {
    let only = || Some(text.trim()).filter(|t| !t.is_empty() && !t.contains([' ', '[', ']']));
    bracketed(text).or_else(only).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_the_queue() {
        assert_eq!(chosen("[none] mq-deadline kyber").as_deref(), Some("none"));
        assert_eq!(chosen("mq-deadline [bfq]\n").as_deref(), Some("bfq"));
        assert_eq!(chosen("none").as_deref(), Some("none"));
        assert_eq!(chosen("a b"), None);
        let words = ["0", "1", "2", ""].map(|text| either(text, "0", "1"));
        assert_eq!(words, [Some(false), Some(true), None, None]);
    }

    #[test]
    fn a_slash_in_a_name_is_shown() {
        assert_eq!(shown("cciss!c0d0"), "cciss/c0d0");
    }
}
