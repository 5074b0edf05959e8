//! Processor identity: vendor, family, model, stepping, name and features. Read from CPUID on x86,
//! and from the kernel's copy of MIDR_EL1 in /proc/cpuinfo on AArch64.
//!
//! Sources: Intel SDM volume 2A, CPUID; Arm Architecture Reference Manual, MIDR_EL1; the kernel's
//! documentation of arm64 CPU feature registers.

use std::collections::BTreeSet;

use proofmark_model::Probe;

use crate::cpuid::Dump;
use crate::features;
use crate::root::{Reason, Root, probe};
use crate::text::{field, hexadecimal};

/// Bytes read of /proc/cpuinfo: its first blocks identify the processor.
const CPUINFO_HEAD: u64 = 16 << 10;
const CPUINFO: &str = "/proc/cpuinfo";
const NO_PART: &str = "no MIDR_EL1 in /sys and no 'CPU part' in /proc/cpuinfo";

#[derive(Debug, Clone)]
pub(crate) struct Identity {
    /// CPUID's vendor string, or the implementer's name.
    pub(crate) vendor: Probe<String>,
    pub(crate) model_name: Probe<String>,
    /// Display family, or the part number of MIDR.
    pub(crate) family: Probe<u32>,
    pub(crate) model: Probe<u32>,
    pub(crate) stepping: Probe<u32>,
    /// Features that the processor reports, by the kernel's names.
    pub(crate) features: BTreeSet<String>,
    pub(crate) isa: Probe<Vec<String>>,
    /// Implementer and part, on AArch64.
    pub(crate) midr: Option<(u32, u32)>,
    /// True if the machine has cores of two designs.
    pub(crate) hybrid: bool,
}

pub(crate) fn detect(root: &Root, cpuid: Result<&Dump, &Reason>) -> Identity {
    let cpuinfo = root.head(CPUINFO, CPUINFO_HEAD);
    if root.arch() == "aarch64" {
        return arm(root, cpuinfo);
    }
    match cpuid {
        Ok(dump) => from_cpuid(dump, isa(cpuinfo.as_deref(), dump)),
        Err(reason) => nothing(reason),
    }
}

fn nothing(reason: &str) -> Identity {
    let (text, number) = (Probe::missing(reason.to_owned()), Probe::missing(reason.to_owned()));
    Identity {
        vendor: text.clone(),
        model_name: text,
        family: number.clone(),
        model: number.clone(),
        stepping: number,
        features: BTreeSet::new(),
        isa: Probe::missing(reason.to_owned()),
        midr: None,
        hybrid: false,
    }
}

fn from_cpuid(dump: &Dump, isa: Probe<Vec<String>>) -> Identity {
    let decoded = dump.decoded();
    let vendor = decoded.get_vendor_info().map(|v| v.as_str().to_owned());
    let brand = decoded.get_processor_brand_string().map(|b| b.as_str().to_owned());
    let signature = dump.leaf(1, 0).eax;
    let (family, model, stepping) = numbers(signature);
    let number = |value: u32| match signature {
        0 => Probe::missing("CPUID has no leaf 0x1"),
        _ => Probe::known(value, "CPUID leaf 0x1"),
    };
    Identity {
        vendor: known_or(vendor, "CPUID leaf 0x0", "CPUID names no vendor"),
        model_name: known_or(
            brand,
            "CPUID leaves 0x80000002 to 0x80000004",
            "CPUID has no brand string",
        ),
        family: number(family),
        model: number(model),
        stepping: number(stepping),
        features: features::reported(dump),
        isa,
        midr: None,
        hybrid: dump.bit(7, 0, crate::cpuid::Register::Edx, 15),
    }
}

/// Decodes family, model and stepping from EAX of leaf 1. The `raw-cpuid` crate's sum overflows on
/// values that a broken hypervisor may give.
fn numbers(signature: u32) -> (u32, u32, u32) {
    let bits = |from: u32, mask: u32| signature >> from & mask;
    let base = bits(8, 0xf);
    let family = if base == 0xf { base + bits(20, 0xff) } else { base };
    let high = if base == 0x6 || base == 0xf { bits(16, 0xf) << 4 } else { 0 };
    (family, high + bits(4, 0xf), bits(0, 0xf))
}

fn known_or(text: Option<String>, source: &'static str, reason: &'static str) -> Probe<String> {
    probe(text.filter(|text| !text.is_empty()).ok_or_else(|| reason.to_owned()), source)
}

/// Returns the extensions that programs may use on x86. The kernel's list comes first, because it
/// leaves out disabled ones.
fn isa(cpuinfo: Result<&str, &Reason>, dump: &Dump) -> Probe<Vec<String>> {
    match cpuinfo.ok().and_then(|text| field(text, "flags")) {
        Some(flags) => Probe::known(features::extensions(flags.split_whitespace()), CPUINFO),
        None => Probe::known(
            features::extensions(features::reported(dump).iter().map(String::as_str)),
            "CPUID (without checking what the kernel enables)",
        ),
    }
}

fn arm(root: &Root, cpuinfo: Result<String, Reason>) -> Identity {
    let text = match cpuinfo {
        Ok(text) => text,
        Err(reason) => return nothing(&reason),
    };
    let number = |key: &str| field(&text, key).and_then(hexadecimal);
    let (register, source) = midr(root, &text);
    let numbers = number("CPU variant").zip(number("CPU revision"));
    let given = numbers.map_or("neither".to_owned(), |(v, r)| format!("r{v}p{r}"));
    let missing = |what: &str| {
        format!("AArch64 has no {what}; /proc/cpuinfo gives variant and revision: {given}")
    };
    let list = field(&text, "Features").map(|f| features::extensions(f.split_whitespace()));
    Identity {
        vendor: match register.map(|(code, _)| (code, implementer_name(code))) {
            Some((_, Some(name))) => Probe::known(name.to_owned(), source),
            Some((code, None)) => Probe::missing(format!("no name for implementer {code:#04x}")),
            None => Probe::missing(NO_PART),
        },
        model_name: known_or(
            field(&text, "model name").map(str::to_owned),
            CPUINFO,
            "AArch64 processors have no brand string",
        ),
        family: probe(register.map(|(_, part)| part).ok_or_else(|| NO_PART.to_owned()), source),
        model: Probe::missing(missing("model number")),
        stepping: Probe::missing(missing("stepping")),
        features: BTreeSet::new(),
        isa: probe(list.ok_or_else(|| format!("{CPUINFO} has no 'Features'")), CPUINFO),
        midr: register,
        hybrid: several_parts(&text),
    }
}

/// Returns the implementer and part of the first CPU.
fn midr(root: &Root, cpuinfo: &str) -> (Option<(u32, u32)>, &'static str) {
    const REGISTER: &str = "/sys/devices/system/cpu/cpu0/regs/identification/midr_el1";
    let register = root.line(REGISTER).ok();
    let value = register.and_then(|l| u64::from_str_radix(l.trim_start_matches("0x"), 16).ok());
    if let Some(value) = value {
        let bits = |from: u32, mask: u64| u32::try_from(value >> from & mask).unwrap_or_default();
        return (Some((bits(24, 0xff), bits(4, 0xfff))), REGISTER);
    }
    let number = |key: &str| field(cpuinfo, key).and_then(hexadecimal);
    (number("CPU implementer").zip(number("CPU part")), CPUINFO)
}

/// True if /proc/cpuinfo lists cores of several part numbers (big.LITTLE).
fn several_parts(cpuinfo: &str) -> bool {
    let parts = cpuinfo.lines().filter_map(|l| l.strip_prefix("CPU part"));
    parts.map(str::trim).collect::<BTreeSet<_>>().len() > 1
}

/// Returns the company of an implementer code (Arm ARM, MIDR_EL1.Implementer).
fn implementer_name(code: u32) -> Option<&'static str> {
    Some(match code {
        0x41 => "Arm",
        0x42 => "Broadcom",
        0x43 => "Cavium",
        0x46 => "Fujitsu",
        0x48 => "HiSilicon",
        0x4e => "NVIDIA",
        0x50 => "Applied Micro",
        0x51 => "Qualcomm",
        0x61 => "Apple",
        0x6d => "Microsoft",
        0xc0 => "Ampere",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::testing::Machine;

    const PI: &str = "processor\t: 0\nBogoMIPS\t: 108.00\nFeatures\t: fp asimd evtstrm crc32\n\
                      CPU implementer\t: 0x41\nCPU architecture: 8\nCPU variant\t: 0x0\n\
                      CPU part\t: 0xd08\nCPU revision\t: 3\n";

    const ARM: (&str, &str) = ("/arch", "aarch64");

    fn found(files: &[(&str, &str)]) -> Identity {
        detect(&Machine::new(files).root(), Err(&"no CPUID".to_owned()))
    }

    #[test]
    fn an_arm_core_is_known_by_its_part() {
        let who = found(&[ARM, (CPUINFO, PI)]);
        assert_eq!(who.midr, Some((0x41, 0xd08)));
        assert_eq!(who.vendor.get().unwrap(), "Arm");
        assert_eq!(who.isa.get().unwrap(), &["crc32", "fp", "neon"]);
        assert!(who.stepping.origin().ends_with("r0p3"));
        assert!(!who.hybrid);
    }

    #[test]
    fn the_register_in_sys_is_believed_before_cpuinfo() {
        let register = "/sys/devices/system/cpu/cpu0/regs/identification/midr_el1";
        let who = found(&[ARM, (CPUINFO, PI), (register, "0x00000000413fd0c1\n")]);
        assert_eq!(who.midr, Some((0x41, 0xd0c)));
    }

    #[test]
    fn family_and_model_are_the_display_ones() {
        assert_eq!(numbers(0x000a_0671), (6, 0xa7, 1));
        assert_eq!(numbers(0x00a0_0f11), (0x19, 0x01, 1));
        assert_eq!(numbers(0x0005_0654), (6, 0x55, 4));
        assert_eq!(numbers(0x0000_0543), (5, 4, 3));
        assert_eq!(numbers(u32::MAX), (0x10e, 0xff, 0xf));
    }

    #[test]
    fn two_parts_are_a_hybrid_machine() {
        assert!(several_parts("CPU part\t: 0xd03\n\nCPU part\t: 0xd09\n"));
        assert!(!several_parts("CPU part\t: 0xd03\n\nCPU part\t: 0xd03\n"));
    }

    proptest! {
        #[test]
        fn no_registers_panic(words in proptest::collection::vec((0_u32..0x20, 0_u32..3, any::<[u32; 4]>()), 0..40), high in any::<[u32; 16]>()) {
            let mut text = "0x00000000 0x00: eax=0x20 ebx=0xff ecx=0xffffffff edx=0x1\n".to_owned();
            for (leaf, sub, [a, b, c, d]) in words {
                text += &format!("{leaf:#010x} {sub:#04x}: eax={a:#x} ebx={b:#x} ecx={c:#x} edx={d:#x}\n");
            }
            for (i, leaf) in [0x8000_0000_u32, 0x8000_0002, 0x4000_0000, 0x4000_0010].iter().enumerate() {
                let r = &high[i * 4..i * 4 + 4];
                text += &format!("{leaf:#010x} 0x00: eax={:#x} ebx={:#x} ecx={:#x} edx={:#x}\n", r[0], r[1], r[2], r[3]);
            }
            let dump = Dump::parse(&text).unwrap();
            let _ = from_cpuid(&dump, Probe::missing(""));
            let _ = (dump.hypervisor(), dump.sharing(3));
        }
    }
}
