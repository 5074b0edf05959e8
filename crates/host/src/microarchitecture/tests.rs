//! Tests of true, masked and ambiguous model numbers.

use proofmark_model::Severity;

use super::*;

fn who(vendor: &str, family: u32, model: u32, stepping: u32, features: &str) -> Identity {
    Identity {
        vendor: Probe::known(vendor.to_owned(), "test"),
        model_name: Probe::missing("test"),
        family: Probe::known(family, "test"),
        model: Probe::known(model, "test"),
        stepping: Probe::known(stepping, "test"),
        features: features.split_whitespace().map(str::to_owned).collect(),
        isa: Probe::missing("test"),
        midr: None,
        hybrid: false,
    }
}

fn sizes(l1d: u64, l1i: u64, l2: u64) -> CacheSizes {
    CacheSizes { l1d: Some(l1d << 10), l1i: Some(l1i << 10), l2: Some(l2 << 10) }
}

fn id(who: &Identity, caches: CacheSizes) -> Result<(String, bool), String> {
    let (probe, finding) = conclude(who, caches);
    match probe.get() {
        Some(found) => Ok((found.id.clone(), finding.is_some())),
        None => Err(probe.origin().to_owned()),
    }
}

fn intel(model: u32, features: &str) -> Identity {
    who("GenuineIntel", 6, model, 4, features)
}

fn amd(family: u32, model: u32, features: &str) -> Identity {
    who("AuthenticAMD", family, model, 1, features)
}

const NONE: CacheSizes = CacheSizes { l1d: None, l1i: None, l2: None };

#[test]
fn true_numbers_are_believed_without_a_finding() {
    for (model, features, expected) in [
        (0x2a, "sse4_2", "sandy_bridge"),
        (0x3f, "avx2 fma bmi2", "haswell"),
        (0x4f, "avx2 fma adx rdseed", "broadwell"),
        (0x9e, "avx2 adx clflushopt", "skylake"),
        (0x55, "avx512f", "skylake_server"),
        (0x6a, "avx512f avx512_vbmi2 vaes", "ice_lake_server"),
        (0x8f, "amx_tile avx512_fp16 avx_vnni", "golden_cove_server"),
        (0x97, "avx_vnni vaes", "golden_cove"),
        (0xaa, "avx_vnni vaes", "redwood_cove"),
        (0xad, "amx_fp16 amx_tile avx512_fp16", "redwood_cove_server"),
        (0xaf, "avx_vnni_int8 avx_ifma vaes", "crestmont"),
        (0xc6, "avx_vnni_int8 avx_ifma vaes", "lion_cove"),
    ] {
        let found = id(&intel(model, features), NONE);
        assert_eq!(found, Ok((expected.to_owned(), false)), "{model:x}");
    }
    for (family, model, features, expected) in [
        (0x17, 0x01, "avx2", "zen"),
        (0x17, 0x31, "avx2", "zen2"),
        (0x19, 0x01, "avx2 vaes", "zen3"),
        (0x19, 0x11, "avx512f avx512_vbmi2", "zen4"),
        (0x1a, 0x02, "avx512f avx_vnni", "zen5"),
    ] {
        let found = id(&amd(family, model, features), sizes(32, 32, 512));
        assert_eq!(found.unwrap().0, expected);
    }
}

#[test]
fn the_product_of_a_shared_number_is_shown_by_the_stepping() {
    for (stepping, product) in [(4, "Skylake-SP"), (7, "Cascade Lake-SP"), (11, "Cooper Lake-SP")] {
        let (probe, _) = conclude(&who("GenuineIntel", 6, 0x55, stepping, "avx512f"), NONE);
        assert!(probe.get().unwrap().name.contains(product), "{probe:?}");
    }
}

#[test]
fn features_that_the_named_model_cannot_have_override_it() {
    let granite = "amx_fp16 amx_tile avx512f avx512_fp16 avx512_vbmi2 avx_vnni vaes";
    let (probe, finding) = conclude(&intel(0xa7, granite), sizes(48, 64, 2048));
    let found = probe.get().unwrap();
    assert_eq!(found.id, "redwood_cove_server");
    assert_eq!(
        found.evidence,
        "CPUID features and cache sizes; the model number is masked (see host.masked_model)"
    );
    let finding = finding.unwrap();
    assert!(
        finding.message.contains("Rocket Lake") && finding.message.contains("the CPU has amx_fp16")
    );
    assert_eq!((finding.check.as_ref(), finding.severity), ("host.masked_model", Severity::Note));
    assert_eq!(finding.evidence["concluded"], "redwood_cove_server");

    // AVX10 identifies Granite Rapids if the new type of AMX is masked.
    let avx10 = "amx_tile avx512f avx512_vbmi2 avx10";
    assert_eq!(id(&intel(0x8f, avx10), NONE), Ok(("redwood_cove_server".to_owned(), true)));

    let sapphire = "amx_tile avx512f avx512_vbmi2";
    let masked = |expected: &str| Ok((expected.to_owned(), true));
    assert_eq!(id(&intel(0x55, sapphire), sizes(48, 32, 2048)), masked("golden_cove_server"));
    // Without cache sizes two designs remain that issue alike: the older one is named.
    assert_eq!(id(&intel(0x55, sapphire), NONE), masked("golden_cove_server"));
    assert_eq!(id(&amd(0x17, 0x31, "avx512f"), sizes(32, 32, 1024)), masked("zen4"));
    assert_eq!(id(&amd(0x19, 0x01, "avx512f avx_vnni"), NONE), masked("zen5"));
}

#[test]
fn a_cache_larger_than_the_named_designs_overrides_it() {
    let hidden = intel(0x8f, "avx512f avx512_vbmi2 avx512_fp16");
    // Golden Cove has no L1i of 64 KiB; a hypervisor may invent smaller caches.
    for (caches, expected, masked) in [
        (sizes(48, 64, 2048), "redwood_cove_server", true),
        (sizes(32, 32, 4096), "golden_cove_server", false),
    ] {
        assert_eq!(id(&hidden, caches), Ok((expected.to_owned(), masked)));
    }
}

#[test]
fn without_a_resolution_the_design_is_unknown_with_the_reason() {
    let unknown = |who: &Identity, caches| match conclude(who, caches) {
        (Probe::Missing { reason, .. }, Some(finding)) => (reason, finding.message),
        other => panic!("{other:?}"),
    };
    let (reason, reported) = unknown(&intel(0x9e, "avx512f avx512_vbmi2"), NONE);
    assert_eq!(reason, "several matching designs; see host.masked_model");
    assert!(
        reported.contains("avx512f") && reported.contains("Sunny Cove (Ice Lake-SP or Ice Lake-D)"),
        "{reported}"
    );
    let (reason, reported) = unknown(&intel(0xaf, "avx_vnni_int8 amx_fp16"), NONE);
    assert_eq!(reason, "no matching design; see host.masked_model");
    assert!(reported.contains("no known design"), "{reported}");
    let qemu = intel(0x86, "avx512f avx512_vbmi2 vaes");
    let (_, reported) = unknown(&qemu, sizes(48, 32, 1280));
    assert_eq!(reported.matches("Cove").count(), 3, "{reported}");
}

#[test]
fn a_virtual_cpus_number_is_resolved_by_what_it_shows() {
    let (probe, finding) = conclude(&intel(0x86, "amx_fp16"), sizes(48, 64, 2048));
    let found = probe.get().unwrap();
    assert_eq!(found.id, "redwood_cove_server");
    assert!(found.evidence.contains("is used for several designs"), "{}", found.evidence);
    assert!(finding.is_some());
}

#[test]
fn an_unknown_number_is_not_guessed() {
    let reason = id(&intel(0xfe, "amx_fp16"), NONE).unwrap_err();
    assert_eq!(reason, "the table of designs has no row for GenuineIntel family 0x6 model 0xfe");
    let mut odd = intel(0x55, "");
    odd.family = Probe::missing("not reported");
    assert_eq!(id(&odd, NONE), Err("not reported".to_owned()));
}

#[test]
fn the_small_cores_caches_do_not_contradict_a_hybrid() {
    let mut alder = intel(0x97, "avx_vnni");
    assert!(id(&alder, sizes(32, 64, 2048)).is_err(), "Gracemont and Crestmont would be left");
    alder.hybrid = true;
    assert_eq!(id(&alder, sizes(32, 64, 2048)), Ok(("golden_cove".to_owned(), false)));
}

#[test]
fn arm_cores_go_by_midr() {
    let mut arm = who("Arm", 0xd0c, 0, 0, "");
    arm.midr = Some((0x41, 0xd0c));
    assert_eq!(id(&arm, NONE), Ok(("neoverse_n1".to_owned(), false)));
    arm.midr = Some((0x41, 0xfff));
    assert!(id(&arm, NONE).unwrap_err().contains("part 0xfff"));
}
