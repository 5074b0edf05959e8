//! Facts of one block device.
//!
//! Sources: Linux `Documentation/ABI/stable/sysfs-block` (size, queue/*), `block/queue-sysfs.rst`,
//! `block/writeback_cache_control.rst`; losetup(8).

use proofmark_model::BlockDevice;

use super::{BLOCK, attached, link};
use crate::root::{Root, above};
use crate::text::bracketed;

/// Unit of `size`, for any sector size of the device.
const SECTOR: u64 = 512;

/// Detects a device by its name in [`BLOCK`], without the devices below it.
pub(super) fn detect(root: &Root, name: &str, virtual_machine: bool) -> Option<BlockDevice> {
    let folder = root.real(&format!("{BLOCK}/{name}")).ok()?;
    let partition = root.exists(&format!("{folder}/partition"));
    // A partition uses its disk's queue, in the folder above.
    let disk = if partition { above(&folder)? } else { folder.as_str() };
    let queue = |file: &str| root.line(&format!("{disk}/queue/{file}")).ok();
    let bytes = |file: &str| queue(file)?.parse::<u64>().ok();
    let transport = if partition { None } else { attached::transport(root, &folder) };
    let link = match transport {
        Some(transport) if !virtual_machine => link::detect(root, &folder, transport),
        _ => None,
    };
    let kind = if partition { "partition" } else { attached::kind(name) };
    // A write-back cache loses its data without power.
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

/// Returns the driver's cache type: virtio has it at the disk, SCSI at its `scsi_disk`.
fn driver_cache(root: &Root, disk: &str) -> Option<String> {
    let virtio = root.line(&format!("{disk}/cache_type")).ok();
    virtio.or_else(|| {
        let folder = format!("{disk}/device/scsi_disk");
        let address = root.names(&folder, "").ok()?.into_iter().next()?;
        root.line(&format!("{folder}/{address}/cache_type")).ok()
    })
}

/// Returns the name as in /proc/diskstats and /dev: sysfs writes `!` for a slash.
pub(super) fn shown(name: &str) -> String {
    name.replace('!', "/")
}

fn model(root: &Root, folder: &str) -> Option<String> {
    // MMC cards have `name` instead of `model`.
    let reported = |file: &str| root.line(&format!("{folder}/device/{file}")).ok();
    reported("model").or_else(|| folder.contains("/mmc").then(|| reported("name"))?)
}

fn sectors(root: &Root, folder: &str) -> Option<u64> {
    root.number::<u64>(&format!("{folder}/size")).ok()?.checked_mul(SECTOR)
}

/// Returns which of two words the text is.
fn either(text: &str, no: &str, yes: &str) -> Option<bool> {
    [no, yes].contains(&text).then_some(text == yes)
}

/// Returns the selected word of `[none] mq-deadline kyber`; a device without a choice has one word.
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
