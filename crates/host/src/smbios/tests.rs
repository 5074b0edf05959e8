//! Tests on tables built byte by byte after DSP0134 7.17 and 7.18. No real table is kept: they hold
//! serial numbers.

use proptest::prelude::*;

use super::*;
use crate::testing::Machine;

/// Builds a structure from its type, handle, fields from offset 4 on, and strings.
fn structure(kind: u8, handle: u16, fields: &[u8], strings: &[&str]) -> Vec<u8> {
    let mut bytes = vec![kind, u8::try_from(fields.len() + 4).unwrap()];
    bytes.extend(handle.to_le_bytes());
    bytes.extend(fields);
    strings.iter().for_each(|s| bytes.extend(s.bytes().chain([0])));
    bytes.extend(if strings.is_empty() { &[0, 0][..] } else { &[0] });
    bytes
}

fn array(handle: u16, used_for: u8) -> Vec<u8> {
    structure(PHYSICAL_MEMORY_ARRAY, handle, &[3, used_for, 3], &[])
}

fn end() -> Vec<u8> {
    structure(END, 0xfeff, &[], &[])
}

const END: u8 = 127;

/// Memory device as a specification of this length lays it out (2.1: 0x15, 2.7: 0x22, 3.3: 0x5c).
#[derive(Clone)]
struct Dimm {
    length: usize,
    array: u16,
    data_bits: u16,
    size: u16,
    extended_size: u32,
    kind: u8,
    speed: u16,
    configured: u16,
    extended: [u32; 2],
    names: [&'static str; 2],
}

/// 8 GiB of DDR4-2400 that run at 2133 MT/s, with 8 more bits for error correction.
const DDR4: Dimm = Dimm {
    length: 0x28,
    array: 0x1000,
    data_bits: 64,
    size: 8192,
    extended_size: 0,
    kind: 0x1a,
    speed: 2400,
    configured: 2133,
    extended: [0; 2],
    names: ["DIMM_A1", "BANK 0"],
};

/// 64 GiB of DDR5-4800.
const DDR5: Dimm = Dimm {
    length: 0x5c,
    size: 0x7fff,
    extended_size: 65_536,
    kind: 0x22,
    speed: 4800,
    configured: 4800,
    ..DDR4
};

impl Dimm {
    fn bytes(&self, handle: u16) -> Vec<u8> {
        let mut whole = [0; 0x5c];
        let mut put = |at: usize, bytes: &[u8]| whole[at..at + bytes.len()].copy_from_slice(bytes);
        put(0x04, &self.array.to_le_bytes());
        put(0x08, &(self.data_bits.saturating_add(8)).to_le_bytes());
        put(0x0a, &self.data_bits.to_le_bytes());
        put(0x0c, &self.size.to_le_bytes());
        put(0x10, &[1, 2, self.kind]);
        put(0x15, &self.speed.to_le_bytes());
        put(0x1c, &self.extended_size.to_le_bytes());
        put(0x20, &self.configured.to_le_bytes());
        put(0x54, &self.extended[0].to_le_bytes());
        put(0x58, &self.extended[1].to_le_bytes());
        structure(MEMORY_DEVICE, handle, &whole[4..self.length], &self.names)
    }
}

fn table(dimms: &[Dimm]) -> Vec<u8> {
    let bios = structure(0, 0, &[1, 2, 0, 0, 3], &["Maker", "1.0", "01/01/2020"]);
    let dimms = dimms.iter().enumerate();
    let devices = dimms.flat_map(|(i, d)| d.bytes(0x1100 + u16::try_from(i).unwrap()));
    [bios, array(0x1000, SYSTEM_MEMORY)].concat().into_iter().chain(devices).chain(end()).collect()
}

/// Detects the modules of a machine with this table and entry point.
fn find(table: &[u8], entry_point: &[u8], hypervisor: Option<&str>) -> Probe<Vec<MemoryModule>> {
    let machine = Machine::new(&[]);
    machine.put(TABLE, table).put(ENTRY_POINT, entry_point);
    detect(&machine.root(), hypervisor)
}

fn found(dimms: &[Dimm]) -> Vec<MemoryModule> {
    let found = find(&table(dimms), &[], None);
    found.get().unwrap_or_else(|| panic!("{}", found.origin())).clone()
}

fn one(dimm: &Dimm) -> MemoryModule {
    found(std::slice::from_ref(dimm)).remove(0)
}

#[test]
fn two_modules_of_ddr4_2133_next_to_empty_slots() {
    let empty = Dimm { size: 0, names: ["DIMM_A2", "BANK 1"], ..DDR4 };
    let second = Dimm { names: ["DIMM_B1", "BANK 2"], ..DDR4 };
    let modules = found(&[DDR4, empty.clone(), second, empty]);
    let locators: Vec<_> = modules.iter().map(|m| m.locator.as_str()).collect();
    assert_eq!(locators, ["DIMM_A1", "DIMM_B1"]);
    for m in modules {
        assert_eq!((m.kind.as_str(), m.size_bytes), ("DDR4", 8 << 30));
        assert_eq!(m.transfers_per_s, Some(2133e6), "as configured, and not doubled");
        assert_eq!(m.data_bits, Some(64), "without those of error correction");
    }
}

#[test]
fn two_modules_of_ddr5_4800_with_the_extended_size() {
    let channels = ["P0 CHANNEL A", "P0 CHANNEL B"];
    let modules = found(&channels.map(|c| Dimm { names: ["DIMM 0", c], ..DDR5 }));
    assert_eq!(modules.len(), 2);
    assert_eq!(modules[1].locator, "P0 CHANNEL B DIMM 0");
    assert_eq!((modules[0].kind.as_str(), modules[0].size_bytes), ("DDR5", 64 << 30));
    let per_second: f64 = modules.iter().filter_map(|m| m.transfers_per_s).sum();
    assert_eq!(per_second, 2.0 * 4800e6);
}

#[test]
fn sizes_speeds_widths_and_kinds_of_every_form() {
    let size = |size, extended_size| one(&Dimm { size, extended_size, ..DDR5 }).size_bytes;
    for (found, expected, why) in [
        (size(16_384, 7), 16 << 30, "the extended size counts only where it is pointed at"),
        (size(0x8000 | 512, 0), 512 << 10, "in KiB"),
        (size(0x7fff, 0x8000_0000 | 32_768), 32 << 30, "bit 31 is reserved"),
        (size(0x7fff, 0x7fff_ffff), 0x7fff_ffff << 20, "the largest"),
    ] {
        assert_eq!(found, expected, "{why}");
    }
    let speed = |speed, configured, extended, length| {
        one(&Dimm { speed, configured, extended, length, ..DDR4 }).transfers_per_s
    };
    for (found, expected, why) in [
        (speed(3200, 0, [0; 2], 0x5c), Some(3200e6), "configured is unknown"),
        (speed(3200, 2666, [0; 2], 0x20), Some(3200e6), "before 2.7: no such field"),
        (speed(3200, 2666, [0; 2], 0x15), None, "before 2.3: no speed at all"),
        (speed(0xffff, 0xffff, [80_000, 70_000], 0x5c), Some(70e9), "3.3"),
        (speed(0xffff, 0, [80_000, 0], 0x5c), Some(80e9), "3.3, not configured"),
        (speed(0xffff, 0xffff, [80_000, 70_000], 0x54), None, "cut before the fields"),
    ] {
        assert_eq!(found, expected, "{why}");
    }
    for (data_bits, expected) in [(32, Some(32)), (0, None), (0xffff, None)] {
        assert_eq!(one(&Dimm { data_bits, ..DDR5 }).data_bits, expected);
    }
    for (kind, name) in [(0x23, "LPDDR5"), (0x18, "DDR3"), (0x02, "unknown"), (0xee, "type 0xee")] {
        assert_eq!(one(&Dimm { kind, ..DDR4 }).kind, name);
    }
}

#[test]
fn the_bank_is_reported_where_it_names_the_place() {
    for (names, expected) in [
        (&[["A1", "BANK 0"]][..], &["A1"][..]),
        (&[["D", "BANK 0"], ["D", "BANK 1"]], &["BANK 0 D", "BANK 1 D"]),
        (&[["A1", "NODE 1"]], &["NODE 1 A1"]),
        (&[["Node0_Channel0", "Node0"]], &["Node0_Channel0"]),
        (&[["Not Specified", " BANK 0 "]], &["BANK 0"]),
        (&[["Not Specified", "Unknown"]], &["unnamed"]),
        // Control sequences are removed.
        (&[["a\x1b[31mb", "x"]], &["a[31mb"]),
    ] {
        let dimms: Vec<_> = names.iter().map(|&names| Dimm { names, ..DDR4 }).collect();
        let locators: Vec<_> = found(&dimms).into_iter().map(|m| m.locator).collect();
        assert_eq!(locators, expected);
    }
}

#[test]
fn memory_that_is_not_main_memory_is_left_out() {
    const FLASH: u8 = 5;
    let flash = Dimm { array: 0x2000, kind: 0x09, ..DDR4 };
    let without = |used_for| {
        let whole =
            [array(0x1000, SYSTEM_MEMORY), DDR4.bytes(1), array(0x2000, used_for), flash.bytes(2)];
        find(&whole.concat(), &[], None).get().map_or(0, Vec::len)
    };
    assert_eq!((without(FLASH), without(SYSTEM_MEMORY)), (1, 2));
    assert_eq!(found(&[Dimm { array: 0x3000, ..DDR4 }]).len(), 1, "an array that is not there");
}

#[test]
fn a_hypervisors_modules_have_no_speed() {
    // QEMU and others report 0; EC2 reports the speed of a module that does not exist.
    let silent = Dimm { speed: 0, configured: 0, data_bits: 0xffff, kind: 0x07, ..DDR4 };
    for (dimm, name) in [(&silent, "kvm"), (&DDR4, "amazon")] {
        let found = find(&table(std::slice::from_ref(dimm)), &[], Some(name));
        assert_eq!(found.get().unwrap()[0].transfers_per_s, None);
        assert!(found.origin().contains(&format!("invented by the hypervisor ({name})")));
    }
    let found = find(&table(&[silent]), &[], None);
    assert_eq!(found.get().unwrap()[0].transfers_per_s, None);
    assert!(found.origin().contains("without speeds"), "{}", found.origin());
}

#[test]
fn the_origin_has_the_version_and_what_is_left_out() {
    let mut modern = *b"_SM3_\x00\x18\x03\x03\x00\x01\x00................";
    let found = |entry: &[u8], dimms: &[Dimm]| find(&table(dimms), entry, None).origin().to_owned();
    assert_eq!(found(&modern, &[DDR4]), format!("{TABLE} (SMBIOS 3.3)"));
    assert_eq!(found(b"_SM_\x00\x1f\x02\x07\x00\x00", &[DDR4]), format!("{TABLE} (SMBIOS 2.7)"));
    modern[3] = b'9';
    assert_eq!(found(&modern, &[DDR4]), TABLE);
    assert_eq!(found(b"_SM3_\x00\x18\x03", &[DDR4]), TABLE, "cut off");
    let unknown = Dimm { size: 0xffff, ..DDR4 };
    assert_eq!(found(&[], &[DDR4, unknown]), format!("{TABLE}; 1 of unknown size omitted"));
}

#[test]
fn what_is_not_there_has_a_reason() {
    let nothing = detect(&Machine::new(&[]).root(), None);
    assert!(nothing.origin().starts_with(&format!("{TABLE}: no such file; ")), "{nothing:?}");
    let denied = unreadable(&io::Error::from(io::ErrorKind::PermissionDenied));
    assert_eq!(denied, format!("{TABLE}: permission denied; only root can read it"));
    for empty in [end(), Vec::new(), table(&[Dimm { size: 0, ..DDR4 }])] {
        let found = find(&empty, &[], None);
        assert_eq!(found.get(), None);
        assert!(found.origin().contains("no memory module"), "{}", found.origin());
    }
}

#[test]
fn of_a_torn_table_nothing_is_taken() {
    let whole = table(&[DDR4, DDR4]);
    let cut = |bytes: usize| find(&whole[..bytes], &[], None);
    let marker = whole.len() - end().len();
    assert!(cut(marker).get().is_some(), "the end may go unmarked");
    for bytes in [1, 20, marker - 1, marker - 30, marker + 1, whole.len() - 1] {
        assert!(cut(bytes).origin().contains("is damaged at byte"), "{bytes}");
    }
    let mut short = whole.clone();
    short[1] = 3;
    assert!(find(&short, &[], None).origin().contains("at byte 0"), "shorter than its header");
    let after_the_end = [whole, vec![1, 2, 3]].concat();
    assert!(find(&after_the_end, &[], None).get().is_some(), "what follows the end is no table");
}

/// Generates tables of valid structures with random lengths and contents.
fn hostile() -> impl Strategy<Value = Vec<u8>> {
    let kind = prop_oneof![Just(MEMORY_DEVICE), Just(PHYSICAL_MEMORY_ARRAY), any::<u8>()];
    let fields = proptest::collection::vec(prop_oneof![Just(0), Just(0xff), any::<u8>()], 0..120);
    let strings = proptest::collection::vec(1..=255_u8, 0..80);
    let one = (kind, any::<u16>(), fields, strings).prop_map(|(kind, handle, fields, text)| {
        let mut bytes = structure(kind, handle, &fields, &[]);
        bytes.truncate(bytes.len() - 2);
        bytes.extend(text.into_iter().chain([0, 0]));
        bytes
    });
    proptest::collection::vec(one, 0..12).prop_map(|all| all.concat())
}

/// Parses a table from memory, as [`modules`] does from a file.
fn parse(table: &[u8]) -> Vec<MemoryModule> {
    let found = structures(table).unwrap_or_default();
    devices(&found).into_iter().filter_map(|s| module(s, true)).collect()
}

proptest! {
    #[test]
    fn no_hostile_table_panics_or_gives_a_module_without_a_size(bytes in hostile(), cut in any::<prop::sample::Index>()) {
        let _ = version(&[b"_SM3_", &bytes[..cut.index(bytes.len() + 1)]].concat());
        for part in [&bytes[..], &bytes[..cut.index(bytes.len() + 1)]] {
            for m in parse(part) {
                prop_assert!(m.size_bytes > 0 && m.transfers_per_s != Some(0.0) && m.data_bits != Some(0));
                prop_assert!(!m.locator.is_empty() && !m.locator.contains(char::is_control));
            }
        }
    }

    #[test]
    fn a_cut_is_seen_unless_it_falls_between_two_structures(cut in any::<prop::sample::Index>()) {
        let parts = [array(0x1000, SYSTEM_MEMORY), DDR4.bytes(1), DDR5.bytes(2), end()];
        let whole = parts.concat();
        let cut = cut.index(whole.len());
        let ends = (0..parts.len()).map(|n| parts[..n].concat().len());
        prop_assert_eq!(structures(&whole[..cut]).is_ok(), ends.into_iter().any(|end| end == cut));
    }
}
