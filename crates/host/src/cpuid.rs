//! CPUID, read once and kept, so that the same code decodes the live processor and a captured dump.
//! Reading it once is also cheaper: under a hypervisor each CPUID traps.
//!
//! Sources: Intel Software Developer's Manual, volume 2A, CPUID; AMD64 Architecture Programmer's
//! Manual, volume 3, appendix E. The `raw-cpuid` crate decodes the common leaves.

use std::collections::BTreeMap;

use raw_cpuid::{CpuId, CpuIdResult};

use crate::reason::Reason;
use crate::text::hexadecimal;

/// Leaves read from the live processor, with their number of subleaves.
#[cfg(target_arch = "x86_64")]
const LEAVES: &[(&[u32], u32)] = &[
    (&[0x0, 0x1, 0x15, 0x16, 0x1a, 0x24], 1),
    (&[0xd], 2),
    (&[0x7, 0xb], 3),
    (&[0x1f], 4),
    (&[0x4, 0x8000_001d], 8),
    (&[0x4000_0000, 0x4000_0001, 0x4000_0010], 1),
    (&[0x8000_0000, 0x8000_0001, 0x8000_0002, 0x8000_0003, 0x8000_0004], 1),
    (&[0x8000_0008, 0x8000_001e], 1),
];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Register {
    Eax,
    Ebx,
    Ecx,
    Edx,
}

#[derive(Debug, Clone, Default)]
pub(crate) struct Dump {
    leaves: BTreeMap<(u32, u32), CpuIdResult>,
}

impl Dump {
    /// Reads CPUID of the processor that runs this thread.
    #[cfg(target_arch = "x86_64")]
    pub(crate) fn read() -> Result<Self, Reason> {
        use raw_cpuid::native_cpuid::cpuid_count;

        let last_basic = cpuid_count(0, 0).eax;
        let last_extended = cpuid_count(0x8000_0000, 0).eax;
        let hypervisor = cpuid_count(1, 0).ecx & (1 << 31) != 0;
        let last_hypervisor = if hypervisor { cpuid_count(0x4000_0000, 0).eax } else { 0 };
        let mut leaves = BTreeMap::new();
        let all = LEAVES.iter().flat_map(|(leaves, n)| leaves.iter().map(move |leaf| (*leaf, *n)));
        for (leaf, subleaves) in all {
            let last = match leaf {
                0x8000_0000.. => last_extended,
                // KVM may report 0 as the last leaf, meaning 0x40000001.
                0x4000_0000 | 0x4000_0001 if hypervisor => u32::MAX,
                0x4000_0000.. => last_hypervisor,
                _ => last_basic,
            };
            if leaf <= last {
                leaves.extend((0..subleaves).map(|s| ((leaf, s), cpuid_count(leaf, s))));
            }
        }
        Ok(Self { leaves })
    }

    #[cfg(not(target_arch = "x86_64"))]
    pub(crate) fn read() -> Result<Self, Reason> {
        Err("CPUID is an instruction of x86 processors".to_owned())
    }

    /// Parses a dump in the format of `cpuid -1 -r`: `   0x00000004 0x02: eax=0x0c004143
    /// ebx=0x03c0003f ecx=0x000007ff edx=0x00000000`. Skips other lines; fails without leaf 0.
    pub(crate) fn parse(text: &str) -> Result<Self, Reason> {
        let leaves: BTreeMap<_, _> = text.lines().filter_map(parse_line).collect();
        if leaves.contains_key(&(0, 0)) {
            Ok(Self { leaves })
        } else {
            Err("the CPUID dump has no leaf 0".to_owned())
        }
    }

    /// Returns the dump in the format that [`Dump::parse`] reads.
    pub(crate) fn to_text(&self) -> String {
        let line = |(&(leaf, sub), r): (&(u32, u32), &CpuIdResult)| {
            format!(
                "   {leaf:#010x} {sub:#04x}: eax={:#010x} ebx={:#010x} ecx={:#010x} edx={:#010x}\n",
                r.eax, r.ebx, r.ecx, r.edx
            )
        };
        self.leaves.iter().map(line).collect()
    }

    /// Returns a leaf's registers; zeros if the processor lacks it.
    pub(crate) fn leaf(&self, leaf: u32, subleaf: u32) -> CpuIdResult {
        let none = CpuIdResult { eax: 0, ebx: 0, ecx: 0, edx: 0 };
        self.leaves.get(&(leaf, subleaf)).copied().unwrap_or(none)
    }

    pub(crate) fn bit(&self, leaf: u32, subleaf: u32, register: Register, bit: u32) -> bool {
        let r = self.leaf(leaf, subleaf);
        let value = match register {
            Register::Eax => r.eax,
            Register::Ebx => r.ebx,
            Register::Ecx => r.ecx,
            Register::Edx => r.edx,
        };
        value >> bit & 1 == 1
    }

    pub(crate) fn decoded(&self) -> CpuId<impl raw_cpuid::CpuIdReader> {
        CpuId::with_cpuid_fn(|leaf, subleaf| self.leaf(leaf, subleaf))
    }

    /// Returns the hypervisor's 12-character signature, if there is one.
    pub(crate) fn hypervisor(&self) -> Option<String> {
        if !self.bit(1, 0, Register::Ecx, 31) {
            return None;
        }
        let r = self.leaf(0x4000_0000, 0);
        let bytes: Vec<u8> = [r.ebx, r.ecx, r.edx].iter().flat_map(|v| v.to_le_bytes()).collect();
        Some(String::from_utf8_lossy(&bytes).trim_matches(['\0', ' ']).to_owned())
    }

    /// Returns the logical CPU numbers reserved for the sharers of a cache of this level (leaf 4 or
    /// 0x8000001d, EAX bits 25 to 14).
    pub(crate) fn sharing(&self, level: u32) -> Option<u32> {
        [0x4, 0x8000_001d].iter().find_map(|&leaf| {
            (0..8).map(|s| self.leaf(leaf, s)).find_map(|r| {
                let found = r.eax & 0x1f != 0 && r.eax >> 5 & 7 == level;
                found.then(|| (r.eax >> 14 & 0xfff) + 1)
            })
        })
    }
}

/// Parses a line of a dump into leaf, subleaf and registers.
fn parse_line(line: &str) -> Option<((u32, u32), CpuIdResult)> {
    let (place, registers) = line.split_once(':')?;
    let mut place = place.split_whitespace();
    let (leaf, subleaf) = (hexadecimal(place.next()?)?, hexadecimal(place.next()?)?);
    let register =
        |name: &str| registers.split_whitespace().find_map(|r| hexadecimal(r.strip_prefix(name)?));
    let result = CpuIdResult {
        eax: register("eax=")?,
        ebx: register("ebx=")?,
        ecx: register("ecx=")?,
        edx: register("edx=")?,
    };
    Some(((leaf, subleaf), result))
}

#[cfg(test)]
mod tests {
    use super::*;

    const LINE: &str =
        "   0x00000000 0x00: eax=0x00000024 ebx=0x756e6547 ecx=0x6c65746e edx=0x49656e69\n";

    #[test]
    fn a_dump_comes_back() {
        let text =
            format!("CPU 0:\n{LINE}   0x00000004 0x03: eax=0x00004163 ebx=0x1 ecx=0x2 edx=0x0\n");
        let dump = Dump::parse(&text).unwrap();
        assert_eq!(dump.leaf(0, 0).eax, 0x24);
        assert_eq!(dump.leaf(4, 3).ecx, 2);
        assert_eq!(dump.leaf(9, 9).eax, 0, "a leaf that is not there is zero");
        assert_eq!(dump.sharing(3), Some(2));
        assert_eq!(dump.sharing(2), None);
        assert_eq!(Dump::parse(&dump.to_text()).unwrap().to_text(), dump.to_text());
    }

    #[test]
    fn a_dump_without_leaf_0_is_refused() {
        assert!(Dump::parse("").is_err());
        assert!(Dump::parse(&LINE.replace("0x00000000 ", "0x00000001 ")).is_err());
        assert!(Dump::parse(&LINE.replace("edx=", "")).is_err());
    }

    #[test]
    fn the_hypervisor_counts_only_with_its_bit() {
        let leaf = "0x40000000 0x00: eax=0x40000001 ebx=0x4b4d564b ecx=0x564b4d56 edx=0x0000004d\n";
        let off = "0x00000001 0x00: eax=0x0 ebx=0x0 ecx=0x0 edx=0x0\n";
        let on = "0x00000001 0x00: eax=0x0 ebx=0x0 ecx=0x80000000 edx=0x0\n";
        let hypervisor_of =
            |one: &str| Dump::parse(&format!("{LINE}{leaf}{one}")).unwrap().hypervisor();
        assert_eq!(hypervisor_of(on).as_deref(), Some("KVMKVMKVM"));
        assert_eq!(hypervisor_of(off), None);
    }
}
