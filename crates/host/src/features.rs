//! Instruction set extensions: their CPUID bits and the names that reports print. The names are
//! those of /proc/cpuinfo, except for four with a more common name (`pni` is sse3, `abm` lzcnt,
//! `asimd` neon, `atomics` lse).
//!
//! Sources: Intel SDM volume 2A (CPUID leaves 1, 7 and 0x80000001); AMD64 APM volume 3, appendix E;
//! Linux arm64 ELF hwcaps documentation.

use std::collections::BTreeSet;

use crate::cpuid::Dump;
use crate::cpuid::Register::{self, Eax, Ebx, Ecx, Edx};

/// Feature bit: leaf, subleaf, register, bit, name.
type Bit = (u32, u32, Register, u32, &'static str);

/// Bits of the extensions that workloads or the microarchitecture table use.
const BITS: &[Bit] = &[
    (0x1, 0, Edx, 25, "sse"),
    (0x1, 0, Edx, 26, "sse2"),
    (0x1, 0, Ecx, 0, "sse3"),
    (0x1, 0, Ecx, 1, "pclmulqdq"),
    (0x1, 0, Ecx, 9, "ssse3"),
    (0x1, 0, Ecx, 12, "fma"),
    (0x1, 0, Ecx, 13, "cx16"),
    (0x1, 0, Ecx, 19, "sse4_1"),
    (0x1, 0, Ecx, 20, "sse4_2"),
    (0x1, 0, Ecx, 22, "movbe"),
    (0x1, 0, Ecx, 23, "popcnt"),
    (0x1, 0, Ecx, 25, "aes"),
    (0x1, 0, Ecx, 28, "avx"),
    (0x1, 0, Ecx, 29, "f16c"),
    (0x1, 0, Ecx, 30, "rdrand"),
    (0x7, 0, Ebx, 3, "bmi1"),
    (0x7, 0, Ebx, 5, "avx2"),
    (0x7, 0, Ebx, 8, "bmi2"),
    (0x7, 0, Ebx, 16, "avx512f"),
    (0x7, 0, Ebx, 17, "avx512dq"),
    (0x7, 0, Ebx, 18, "rdseed"),
    (0x7, 0, Ebx, 19, "adx"),
    (0x7, 0, Ebx, 21, "avx512ifma"),
    (0x7, 0, Ebx, 23, "clflushopt"),
    (0x7, 0, Ebx, 24, "clwb"),
    (0x7, 0, Ebx, 28, "avx512cd"),
    (0x7, 0, Ebx, 29, "sha_ni"),
    (0x7, 0, Ebx, 30, "avx512bw"),
    (0x7, 0, Ebx, 31, "avx512vl"),
    (0x7, 0, Ecx, 1, "avx512vbmi"),
    (0x7, 0, Ecx, 6, "avx512_vbmi2"),
    (0x7, 0, Ecx, 8, "gfni"),
    (0x7, 0, Ecx, 9, "vaes"),
    (0x7, 0, Ecx, 10, "vpclmulqdq"),
    (0x7, 0, Ecx, 11, "avx512_vnni"),
    (0x7, 0, Ecx, 12, "avx512_bitalg"),
    (0x7, 0, Ecx, 14, "avx512_vpopcntdq"),
    (0x7, 0, Ecx, 27, "movdiri"),
    (0x7, 0, Ecx, 28, "movdir64b"),
    (0x7, 0, Edx, 8, "avx512_vp2intersect"),
    (0x7, 0, Edx, 22, "amx_bf16"),
    (0x7, 0, Edx, 23, "avx512_fp16"),
    (0x7, 0, Edx, 24, "amx_tile"),
    (0x7, 0, Edx, 25, "amx_int8"),
    (0x7, 1, Eax, 4, "avx_vnni"),
    (0x7, 1, Eax, 5, "avx512_bf16"),
    (0x7, 1, Eax, 21, "amx_fp16"),
    (0x7, 1, Eax, 23, "avx_ifma"),
    (0x7, 1, Edx, 4, "avx_vnni_int8"),
    (0x7, 1, Edx, 5, "avx_ne_convert"),
    (0x7, 1, Edx, 14, "prefetchi"),
    (0x7, 1, Edx, 19, "avx10"),
    (0x8000_0001, 0, Ecx, 5, "lzcnt"),
    (0x8000_0001, 0, Ecx, 6, "sse4a"),
    (0x8000_0001, 0, Ecx, 11, "xop"),
    (0x8000_0001, 0, Ecx, 16, "fma4"),
];

/// Extensions of AArch64, by the kernel's names.
const ARM: &[&str] = &[
    "aes", "asimd", "asimddp", "asimdfhm", "asimdhp", "asimdrdm", "atomics", "bf16", "crc32",
    "fcma", "fp", "fphp", "i8mm", "jscvt", "lrcpc", "pmull", "sha1", "sha2", "sha3", "sha512",
    "sme", "sme2", "sve", "sve2", "svebf16", "svei8mm",
];

/// Returns the extensions that CPUID reports.
pub(crate) fn reported(dump: &Dump) -> BTreeSet<String> {
    let claimed =
        BITS.iter().filter(|(leaf, sub, register, bit, _)| dump.bit(*leaf, *sub, *register, *bit));
    claimed.map(|(.., name)| (*name).to_owned()).collect()
}

/// Returns the extensions among the kernel's flags by their usual names, sorted.
pub(crate) fn extensions<'a>(flags: impl Iterator<Item = &'a str>) -> Vec<String> {
    let known = |name: &str| BITS.iter().any(|(.., n)| *n == name) || ARM.contains(&name);
    let found: BTreeSet<&str> = flags
        .map(|flag| match flag {
            "pni" => "sse3",
            "abm" => "lzcnt",
            other => other,
        })
        .filter(|name| known(name))
        .map(|name| match name {
            "asimd" => "neon",
            "atomics" => "lse",
            other => other,
        })
        .collect();
    found.into_iter().map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_bit_and_no_name_is_there_twice() {
        let bits: BTreeSet<_> =
            BITS.iter().map(|(l, s, r, b, _)| (l, s, format!("{r:?}"), b)).collect();
        let names: BTreeSet<_> = BITS.iter().map(|(.., name)| name).collect();
        assert_eq!((bits.len(), names.len()), (BITS.len(), BITS.len()));
    }

    #[test]
    fn bits_are_read_from_their_register() {
        let text = "0x00000000 0x00: eax=0x7 ebx=0x0 ecx=0x0 edx=0x0\n\
                    0x00000001 0x00: eax=0x0 ebx=0x0 ecx=0x00001000 edx=0x04000000\n\
                    0x00000007 0x01: eax=0x00200000 ebx=0x0 ecx=0x0 edx=0x0\n";
        let found: Vec<_> = reported(&Dump::parse(text).unwrap()).into_iter().collect();
        assert_eq!(found, ["amx_fp16", "fma", "sse2"]);
    }

    #[test]
    fn names_are_the_usual_ones() {
        let flags = "fpu vme pni abm avx2 asimd atomics hypervisor";
        let names = extensions(flags.split_whitespace());
        assert_eq!(names, ["avx2", "lse", "lzcnt", "neon", "sse3"]);
    }

    #[test]
    #[cfg(target_arch = "x86_64")]
    fn cpuid_claims_what_the_standard_library_detects() {
        let claimed = reported(&Dump::read().unwrap());
        assert!(claimed.contains("sse2"), "every x86-64 processor has SSE2");
        assert!(!std::is_x86_feature_detected!("avx2") || claimed.contains("avx2"));
        assert!(!std::is_x86_feature_detected!("fma") || claimed.contains("fma"));
        assert!(!std::is_x86_feature_detected!("avx512f") || claimed.contains("avx512f"));
    }
}
