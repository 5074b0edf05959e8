//! Memory modules from the firmware's SMBIOS tables. The kernel shows these to root only, since
//! they hold serial numbers; none is read here.
//!
//! Sources: DMTF DSP0134, System Management BIOS Reference Specification 3.7.0: entry points (5.2),
//! structures (6.1), physical memory array (7.17), memory device (7.18); Linux
//! `Documentation/ABI/testing/sysfs-firmware-dmi-tables`.

mod structure;

use std::collections::BTreeMap;
use std::io;

use proofmark_model::{MemoryModule, Probe};

use crate::root::{Reason, Root, fault, probe_from, words};
use structure::{Structure, structures, version};

const TABLE: &str = "/sys/firmware/dmi/tables/DMI";
const ENTRY_POINT: &str = "/sys/firmware/dmi/tables/smbios_entry_point";

/// Maximum bytes read of a table; real ones take about 10 KiB.
const LARGEST_TABLE: u64 = 4 << 20;
/// Maximum bytes of an entry point; both kinds are shorter.
const LARGEST_ENTRY_POINT: u64 = 64;

const PHYSICAL_MEMORY_ARRAY: u8 = 16;
const MEMORY_DEVICE: u8 = 17;
/// Offsets of a memory device's name strings.
const DEVICE: usize = 0x10;
const BANK: usize = 0x11;
/// Use of a physical memory array: main memory, not video or flash.
const SYSTEM_MEMORY: u8 = 3;

/// Detects the memory modules. A hypervisor invents the table of its virtual machine, so its speeds
/// are left out.
pub(crate) fn detect(root: &Root, hypervisor: Option<&str>) -> Probe<Vec<MemoryModule>> {
    probe_from(modules(root, hypervisor))
}

fn modules(root: &Root, hypervisor: Option<&str>) -> Result<(Vec<MemoryModule>, String), Reason> {
    let table = root.bytes(TABLE, LARGEST_TABLE).map_err(|e| unreadable(&e))?;
    let structures = structures(&table).map_err(|e| fault(TABLE, e))?;
    let devices = devices(&structures);
    let populated = devices.iter().filter(|d| size(d) != Some(0)).count();
    let mut names: BTreeMap<String, usize> = BTreeMap::new();
    devices.iter().for_each(|d| *names.entry(d.string(DEVICE)).or_default() += 1);
    let alone = |d: &Structure| names.get(&d.string(DEVICE)) == Some(&1);
    let mut modules: Vec<_> = devices.iter().filter_map(|d| module(d, alone(d))).collect();
    if modules.is_empty() {
        return Err(fault(TABLE, "lists no memory module with a size"));
    }

    let mut origin = TABLE.to_owned();
    let entry_point = root.bytes(ENTRY_POINT, LARGEST_ENTRY_POINT).ok();
    if let Some((major, minor)) = entry_point.as_deref().and_then(version) {
        origin += &format!(" (SMBIOS {major}.{minor})");
    }
    if populated > modules.len() {
        origin += &format!("; {} of unknown size omitted", populated - modules.len());
    }
    if let Some(name) = hypervisor {
        modules.iter_mut().for_each(|m| m.transfers_per_s = None);
        origin += &format!("; invented by the hypervisor ({name}), so its speeds are ignored");
    } else if modules.iter().all(|m| m.transfers_per_s.is_none()) {
        origin += "; without speeds, like a table that a hypervisor invents";
    }
    Ok((modules, origin))
}

/// Returns the devices in arrays of main memory.
fn devices<'a>(structures: &'a [Structure<'a>]) -> Vec<&'a Structure<'a>> {
    let arrays = structures.iter().filter(|s| s.kind == PHYSICAL_MEMORY_ARRAY);
    let uses: BTreeMap<_, _> = arrays.map(|a| (a.word(0x02), a.byte(0x05))).collect();
    let main = |s: &&Structure| -> bool {
        let used_for = uses.get(&s.word(0x04)).copied().flatten();
        s.kind == MEMORY_DEVICE && used_for.is_none_or(|u| u == SYSTEM_MEMORY)
    };
    structures.iter().filter(main).collect()
}

fn unreadable(error: &io::Error) -> Reason {
    let what = words(error);
    fault(
        TABLE,
        match error.kind() {
            io::ErrorKind::PermissionDenied => format!("{what}; only root can read it"),
            io::ErrorKind::NotFound => {
                format!("{what}; the firmware has no such table, or a container hides it")
            }
            _ => what,
        },
    )
}

/// Returns the module in a memory device (a slot), if its size is known. `alone`: no other device
/// has its name.
fn module(s: &Structure, alone: bool) -> Option<MemoryModule> {
    let known = |width: &u16| *width != 0 && *width != u16::MAX;
    Some(MemoryModule {
        locator: locator(&s.string(DEVICE), &s.string(BANK), alone),
        kind: kind(s.byte(0x12)),
        size_bytes: size(s).filter(|bytes| *bytes > 0)?,
        // The configured speed, else the module's maximum.
        transfers_per_s: speed(s, 0x20, 0x58).or(speed(s, 0x15, 0x54)),
        data_bits: s.word(0x0a).filter(known).map(u32::from),
    })
}

/// Returns the device's name. The bank's name precedes it if it names the channel or socket, or
/// tells devices of one name apart.
fn locator(device: &str, bank: &str, alone: bool) -> String {
    let lower = bank.to_lowercase();
    let names = ["channel", "node", "cpu", "proc", "socket"].iter().any(|w| lower.contains(w));
    match (device, bank) {
        ("", "") => "unnamed".to_owned(),
        ("", bank) => bank.to_owned(),
        (device, bank) if !bank.is_empty() && (names || !alone) && !device.contains(bank) => {
            format!("{bank} {device}")
        }
        (device, _) => device.to_owned(),
    }
}

/// Returns the size in bytes; 0 for an empty slot, `None` if unknown.
fn size(s: &Structure) -> Option<u64> {
    const MIB: u64 = 1 << 20;
    match s.word(0x0c)? {
        0xffff => None,
        0x7fff => Some(u64::from(s.dword(0x1c)? & 0x7fff_ffff) * MIB),
        kib if kib & 0x8000 != 0 => Some(u64::from(kib & 0x7fff) << 10),
        mib => Some(u64::from(mib) * MIB),
    }
}

/// Reads transfers per second from a field in MT/s, or from its extended field if it is full. It is
/// the double data rate already: DDR4-2133 has 2133 here.
fn speed(s: &Structure, field: usize, extended: usize) -> Option<f64> {
    let mega = match s.word(field)? {
        0xffff => s.dword(extended)? & 0x7fff_ffff,
        short => u32::from(short),
    };
    (mega != 0).then_some(f64::from(mega) * 1e6)
}

/// Returns the name of a memory type (7.18.2).
fn kind(code: Option<u8>) -> String {
    let name = match code {
        Some(0x03) => "DRAM",
        Some(0x04) => "EDRAM",
        Some(0x05) => "VRAM",
        Some(0x06) => "SRAM",
        Some(0x07) => "RAM",
        Some(0x08) => "ROM",
        Some(0x09) => "Flash",
        Some(0x0f) => "SDRAM",
        Some(0x11) => "RDRAM",
        Some(0x12) => "DDR",
        Some(0x13) => "DDR2",
        Some(0x14) => "DDR2 FB-DIMM",
        Some(0x18) => "DDR3",
        Some(0x19) => "FBD2",
        Some(0x1a) => "DDR4",
        Some(0x1b) => "LPDDR",
        Some(0x1c) => "LPDDR2",
        Some(0x1d) => "LPDDR3",
        Some(0x1e) => "LPDDR4",
        Some(0x1f) => "logical non-volatile device",
        Some(0x20) => "HBM",
        Some(0x21) => "HBM2",
        Some(0x22) => "DDR5",
        Some(0x23) => "LPDDR5",
        Some(0x24) => "HBM3",
        Some(0x00..=0x02) | None => "unknown",
        Some(other) => return format!("type {other:#04x}"),
    };
    name.to_owned()
}

#[cfg(test)]
mod tests;
