//! The core designs and the numbers that processors name them by.
//!
//! The ids are the keys of the judge's table of execution ports. Sources:
//! [L] Linux `arch/x86/include/asm/intel-family.h` and
//!     `arch/x86/kernel/cpu/amd.c` (family and model numbers);
//! [I] Intel 64 and IA-32 Optimization Reference Manual (cache sizes, features);
//! [A] AMD Software Optimization Guides for families 17h, 19h and 1Ah;
//! [M] Linux `arch/arm64/include/asm/cputype.h` (MIDR part numbers).

#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Design {
    /// Key in the table of execution ports.
    pub(crate) id: &'static str,
    pub(crate) name: &'static str,
    /// Vendor string of CPUID.
    pub(crate) vendor: &'static str,
    /// Class of designs with the same arithmetic per cycle: within one, the exact design does not
    /// matter to a ceiling.
    pub(crate) class: &'static str,
    pub(crate) l1: (u64, u64),
    /// L2 sizes of products in KiB.
    pub(crate) l2: &'static [u64],
}

const INTEL: &str = "GenuineIntel";
const AMD: &str = "AuthenticAMD";

const fn design(
    id: &'static str,
    name: &'static str,
    vendor: &'static str,
    class: &'static str,
    l1: (u64, u64),
    l2: &'static [u64],
) -> Design {
    Design { id, name, vendor, class, l1, l2 }
}

/// x86 designs, the older first. Cache sizes: [I], [A].
pub(crate) const DESIGNS: &[Design] = &[
    design("sandy_bridge", "Sandy Bridge", INTEL, "sandy_bridge", (32, 32), &[256]),
    design("ivy_bridge", "Ivy Bridge", INTEL, "sandy_bridge", (32, 32), &[256]),
    design("haswell", "Haswell", INTEL, "haswell", (32, 32), &[256]),
    design("broadwell", "Broadwell", INTEL, "haswell", (32, 32), &[256]),
    design("skylake", "Skylake", INTEL, "skylake", (32, 32), &[256]),
    design("skylake_server", "Skylake", INTEL, "skylake_server", (32, 32), &[1024]),
    design("ice_lake", "Sunny Cove", INTEL, "ice_lake", (48, 32), &[512, 1280]),
    design("ice_lake_server", "Sunny Cove", INTEL, "ice_lake_server", (48, 32), &[1280]),
    design("rocket_lake", "Cypress Cove", INTEL, "ice_lake", (48, 32), &[512]),
    design("golden_cove", "Golden Cove", INTEL, "golden_cove", (48, 32), &[1280, 2048]),
    design("golden_cove_server", "Golden Cove", INTEL, GCS, (48, 32), &[2048]),
    design("redwood_cove", "Redwood Cove", INTEL, "golden_cove", (48, 64), &[2048]),
    design("redwood_cove_server", "Redwood Cove", INTEL, GCS, (48, 64), &[2048]),
    design("lion_cove", "Lion Cove", INTEL, "lion_cove", (48, 64), &[2560, 3072]),
    design("gracemont", "Gracemont", INTEL, "gracemont", (32, 64), &[2048, 4096]),
    design("crestmont", "Crestmont", INTEL, "crestmont", (32, 64), &[2048, 4096]),
    design("zen", "Zen", AMD, "zen", (32, 64), &[512]),
    design("zen2", "Zen 2", AMD, "zen2", (32, 32), &[512]),
    design("zen3", "Zen 3", AMD, "zen3", (32, 32), &[512]),
    design("zen4", "Zen 4", AMD, "zen4", (32, 32), &[1024]),
    design("zen5", "Zen 5", AMD, "zen5", (48, 32), &[1024]),
];

/// Class of server Golden Cove and its successor.
const GCS: &str = "golden_cove_server";

/// Model numbers of one family and their design.
#[derive(Debug)]
pub(crate) struct Row {
    pub(crate) vendor: &'static str,
    pub(crate) family: u32,
    pub(crate) models: (u32, u32),
    /// First and last stepping: one model number may cover several products.
    pub(crate) steppings: (u32, u32),
    /// Id of the design; `None` for a number that hypervisors use as a placeholder.
    pub(crate) design: Option<&'static str>,
    pub(crate) product: &'static str,
}

const fn row(
    vendor: &'static str,
    family: u32,
    models: (u32, u32),
    design: &'static str,
    product: &'static str,
) -> Row {
    Row { vendor, family, models, steppings: (0, 15), design: Some(design), product }
}

const fn intel(model: u32, design: &'static str, product: &'static str) -> Row {
    row(INTEL, 6, (model, model), design, product)
}

const fn stepped(steppings: (u32, u32), product: &'static str) -> Row {
    Row { steppings, ..intel(0x55, "skylake_server", product) }
}

/// Family and model numbers: [L].
pub(crate) const ROWS: &[Row] = &[
    intel(0x2a, "sandy_bridge", "Sandy Bridge"),
    intel(0x2d, "sandy_bridge", "Sandy Bridge-EP"),
    intel(0x3a, "ivy_bridge", "Ivy Bridge"),
    intel(0x3e, "ivy_bridge", "Ivy Bridge-EP"),
    intel(0x3c, "haswell", "Haswell"),
    intel(0x3f, "haswell", "Haswell-EP"),
    intel(0x45, "haswell", "Haswell-U"),
    intel(0x46, "haswell", "Haswell with Iris Pro"),
    intel(0x3d, "broadwell", "Broadwell-U"),
    intel(0x47, "broadwell", "Broadwell with Iris Pro"),
    intel(0x4f, "broadwell", "Broadwell-EP"),
    intel(0x56, "broadwell", "Broadwell-DE"),
    intel(0x4e, "skylake", "Skylake-U"),
    intel(0x5e, "skylake", "Skylake-S"),
    intel(0x8e, "skylake", "Kaby, Whiskey or Comet Lake-U"),
    intel(0x9e, "skylake", "Kaby or Coffee Lake-S"),
    intel(0xa5, "skylake", "Comet Lake-S"),
    intel(0xa6, "skylake", "Comet Lake-U"),
    stepped((0, 4), "Skylake-SP"),
    stepped((5, 7), "Cascade Lake-SP"),
    stepped((10, 11), "Cooper Lake-SP"),
    intel(0x7d, "ice_lake", "Ice Lake"),
    intel(0x7e, "ice_lake", "Ice Lake-U"),
    intel(0x8c, "ice_lake", "Tiger Lake-U, Willow Cove"),
    intel(0x8d, "ice_lake", "Tiger Lake-H, Willow Cove"),
    intel(0x6a, "ice_lake_server", "Ice Lake-SP"),
    intel(0x6c, "ice_lake_server", "Ice Lake-D"),
    intel(0xa7, "rocket_lake", "Rocket Lake"),
    intel(0x97, "golden_cove", "Alder Lake-S"),
    intel(0x9a, "golden_cove", "Alder Lake-P"),
    intel(0xb7, "golden_cove", "Raptor Lake-S"),
    intel(0xba, "golden_cove", "Raptor Lake-P"),
    intel(0xbf, "golden_cove", "Raptor Lake refresh of Alder Lake"),
    intel(0x8f, "golden_cove_server", "Sapphire Rapids"),
    intel(0xcf, "golden_cove_server", "Emerald Rapids"),
    intel(0xaa, "redwood_cove", "Meteor Lake-P"),
    intel(0xac, "redwood_cove", "Meteor Lake-S"),
    intel(0xad, "redwood_cove_server", "Granite Rapids"),
    intel(0xae, "redwood_cove_server", "Granite Rapids-D"),
    intel(0xbd, "lion_cove", "Lunar Lake"),
    intel(0xc5, "lion_cove", "Arrow Lake-H"),
    intel(0xc6, "lion_cove", "Arrow Lake-S"),
    intel(0xbe, "gracemont", "Alder Lake-N"),
    intel(0xaf, "crestmont", "Sierra Forest"),
    intel(0xb6, "crestmont", "Grand Ridge"),
    // QEMU's `Icelake-Server` has the number of Snow Ridge (a Tremont).
    Row { design: None, ..intel(0x86, "", "Snow Ridge, or QEMU's Icelake-Server") },
    row(AMD, 0x17, (0x00, 0x2f), "zen", "Zen or Zen+"),
    row(AMD, 0x17, (0x50, 0x5f), "zen", "Zen"),
    row("HygonGenuine", 0x18, (0x00, 0x03), "zen", "Hygon Dhyana"),
    row(AMD, 0x17, (0x30, 0x3f), "zen2", "EPYC Rome or Castle Peak"),
    row(AMD, 0x17, (0x40, 0x4f), "zen2", "Zen 2"),
    row(AMD, 0x17, (0x60, 0x6f), "zen2", "Renoir or Lucienne"),
    row(AMD, 0x17, (0x70, 0x7f), "zen2", "Matisse"),
    row(AMD, 0x17, (0x90, 0x91), "zen2", "Van Gogh"),
    row(AMD, 0x17, (0xa0, 0xaf), "zen2", "Mendocino"),
    row(AMD, 0x19, (0x00, 0x0f), "zen3", "EPYC Milan or Chagall"),
    row(AMD, 0x19, (0x20, 0x5f), "zen3", "Vermeer, Rembrandt or Cezanne"),
    row(AMD, 0x19, (0x10, 0x1f), "zen4", "EPYC Genoa or Storm Peak"),
    row(AMD, 0x19, (0x60, 0x7f), "zen4", "Raphael or Phoenix"),
    row(AMD, 0x19, (0xa0, 0xaf), "zen4", "EPYC Bergamo or Siena"),
    row(AMD, 0x1a, (0x00, 0x1f), "zen5", "EPYC Turin"),
    row(AMD, 0x1a, (0x20, 0x2f), "zen5", "Strix Point"),
    row(AMD, 0x1a, (0x40, 0x4f), "zen5", "Granite Ridge"),
    row(AMD, 0x1a, (0x60, 0x7f), "zen5", "Krackan or Strix Halo"),
];

/// Ids of Intel's and AMD's designs from Skylake on.
const SINCE_SKYLAKE: &str = "skylake skylake_server ice_lake ice_lake_server rocket_lake \
    golden_cove golden_cove_server redwood_cove redwood_cove_server lion_cove gracemont crestmont \
    zen zen2 zen3 zen4 zen5";
/// Designs with 512-bit vectors, after Skylake-SP.
const SECOND_AVX512: &str = "ice_lake ice_lake_server rocket_lake golden_cove golden_cove_server \
    redwood_cove_server zen4 zen5";
/// Designs with vector forms of AES.
const VECTOR_AES: &str = "ice_lake ice_lake_server rocket_lake golden_cove golden_cove_server \
    redwood_cove redwood_cove_server lion_cove gracemont crestmont zen3 zen4 zen5";

/// Distinguishing features, by the kernel's names, and the designs that can have them: [I], [A].
pub(crate) const MARKS: &[(&str, &[&str])] = &[
    ("amx_fp16 avx10 prefetchi", &["redwood_cove_server"]),
    ("amx_tile amx_int8 amx_bf16", &["golden_cove_server redwood_cove_server"]),
    ("avx512_fp16", &["golden_cove golden_cove_server redwood_cove_server"]),
    ("avx512_vbmi2 avx512_bitalg", &[SECOND_AVX512]),
    ("avx512f", &["skylake_server", SECOND_AVX512]),
    (
        "avx_vnni",
        &["golden_cove golden_cove_server redwood_cove redwood_cove_server lion_cove gracemont \
           crestmont zen5"],
    ),
    ("avx_vnni_int8 avx_ne_convert avx_ifma", &["lion_cove crestmont"]),
    ("vaes vpclmulqdq", &[VECTOR_AES]),
    ("clflushopt", &[SINCE_SKYLAKE]),
    ("rdseed adx", &["broadwell", SINCE_SKYLAKE]),
    ("avx2 fma bmi2", &["haswell broadwell", SINCE_SKYLAKE]),
];

/// True if a list of [`MARKS`] names the design.
pub(crate) fn is_named(designs: &[&str], id: &str) -> bool {
    designs.iter().flat_map(|words| words.split(' ')).any(|word| word == id)
}

/// AArch64 designs: implementer, part, id, name. [M]
pub(crate) const PARTS: &[(u32, u32, &str, &str)] = &[
    (0x41, 0xd03, "cortex_a53", "Cortex-A53"),
    (0x41, 0xd07, "cortex_a57", "Cortex-A57"),
    (0x41, 0xd08, "cortex_a72", "Cortex-A72"),
    (0x41, 0xd0b, "cortex_a76", "Cortex-A76"),
    (0x41, 0xd0c, "neoverse_n1", "Neoverse N1"),
    (0x41, 0xd40, "neoverse_v1", "Neoverse V1"),
    (0x41, 0xd49, "neoverse_n2", "Neoverse N2"),
    (0x41, 0xd4f, "neoverse_v2", "Neoverse V2"),
    (0x41, 0xd84, "neoverse_v3", "Neoverse V3"),
    (0x41, 0xd8e, "neoverse_n3", "Neoverse N3"),
    (0x46, 0x001, "a64fx", "A64FX"),
    (0x48, 0xd01, "tsv110", "TaiShan v110 (Kunpeng 920)"),
    (0x61, 0x022, "apple_icestorm", "Apple Icestorm (M1)"),
    (0x61, 0x023, "apple_firestorm", "Apple Firestorm (M1)"),
    (0x61, 0x032, "apple_blizzard", "Apple Blizzard (M2)"),
    (0x61, 0x033, "apple_avalanche", "Apple Avalanche (M2)"),
    (0xc0, 0xac3, "ampere1", "AmpereOne"),
];

pub(crate) fn by_id(id: &str) -> Option<&'static Design> {
    DESIGNS.iter().find(|d| d.id == id)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_id_that_is_named_exists_once() {
        let ids: BTreeSet<_> = DESIGNS.iter().map(|d| d.id).collect();
        assert_eq!(ids.len(), DESIGNS.len());
        for row in ROWS {
            assert!(row.design.is_none_or(|id| ids.contains(id)), "{row:?}");
        }
        for (features, designs) in MARKS {
            let mut named = designs.iter().flat_map(|words| words.split_whitespace());
            assert!(named.all(|id| ids.contains(id)), "{features}");
        }
        assert!(DESIGNS.iter().all(|d| DESIGNS.iter().any(|o| o.class == d.class)));
    }

    #[test]
    fn no_number_is_of_two_designs() {
        for (i, a) in ROWS.iter().enumerate() {
            for b in &ROWS[i + 1..] {
                let same = a.vendor == b.vendor && a.family == b.family;
                let models = a.models.0 <= b.models.1 && b.models.0 <= a.models.1;
                let steps = a.steppings.0 <= b.steppings.1 && b.steppings.0 <= a.steppings.1;
                assert!(!(same && models && steps), "{a:?} and {b:?}");
            }
        }
        let parts: BTreeSet<_> = PARTS.iter().map(|p| (p.0, p.1)).collect();
        assert_eq!(parts.len(), PARTS.len());
    }
}
