use proofmark_model::{Host, Probe, Trial};

use super::*;
use crate::testing::*;

fn declaring(limits: &[(&str, f64)]) -> Host {
    with_declared(host_with_disk(), limits)
}

/// A machine whose cgroup limits the disk.
fn limited(set: impl FnOnce(&mut IoLimit)) -> Host {
    limited_on(host_with_disk(), "254:0", set)
}

fn limited_on(mut host: Host, device: &str, set: impl FnOnce(&mut IoLimit)) -> Host {
    let mut limit = io_limit(device);
    set(&mut limit);
    host.limits.io = Probe::known(vec![limit], "test");
    host
}

/// 50 MB/s of reads.
fn slow_reads(limit: &mut IoLimit) {
    limit.read_bytes_per_s = Some(50e6);
}

fn writes(block: u64, cache: &str) -> Measurement {
    disk("seq_write", block, cache)
}

#[test]
fn the_text_names_every_limit_of_a_disk() {
    let words: Vec<&str> =
        RULE.about.split(|c: char| !(c.is_alphanumeric() || "._".contains(c))).collect();
    for name in Limit::ALL.map(Limit::name).iter().filter(|n| n.starts_with("disk.")) {
        assert!(words.contains(name), "{name}");
    }
}

#[test]
fn the_tightest_of_the_declared_limits_counts() {
    let host = declaring(&[("disk.read", 160e6), ("disk.read_iops", 3000.0)]);
    RULE.on(&host, &[]).expect([
        ("small blocks", rand_read(32), Ok(3000.0 * 4096.0)),
        ("large blocks", disk("seq_read", 1 << 20, "none"), Ok(160e6)),
        ("writes", writes(1 << 20, "none"), Err("disk.read does not apply")),
    ]);
    let c = RULE.on(&host, &[]).derive(&rand_read(32)).unwrap();
    assert_eq!(c.formula, "disk.read_iops x io_bytes");
    assert_eq!(c.inputs[0].source, Provenance::Declared);
    let host = declaring(&[("disk.write_iops", 5000.0), ("disk.write", 8.192e6)]);
    RULE.on(&host, &[]).expect([("commits", fsync(1), Ok(2000.0))]);
    assert_eq!(RULE.on(&host, &[]).derive(&fsync(1)).unwrap().unit, "op/s");
}

#[test]
fn a_mix_is_bound_by_each_direction() {
    let mixed = || disk("mixed", 4096, "none");
    let reads = read_share(&mixed()).unwrap();
    let host = declaring(&[("disk.read", 70e6), ("disk.write", 70e6)]);
    RULE.on(&host, &[]).expect([("bytes", mixed(), Ok(70e6 / reads))]);
    let host = declaring(&[("disk.write_iops", 300.0)]);
    let copy = disk("read_write", 4096, "none");
    let half = 1.0 - read_share(&copy).unwrap();
    assert!((half - 0.5).abs() < 1e-6);
    RULE.on(&host, &[]).expect([
        ("I/Os", mixed(), Ok(300.0 * 4096.0 / (1.0 - reads))),
        ("a copy", copy, Ok(300.0 * 4096.0 / half)),
    ]);
}

#[test]
fn a_cgroup_counts_where_every_byte_passes_it() {
    let c = RULE.on(&limited(slow_reads), &[]).derive(&rand_read(1)).unwrap();
    assert_eq!((c.value, c.inputs[0].source), (50e6, Provenance::Reported));
    let array = with_storage(|s| {
        let mut top = block_device("md0", "9:0");
        top.over = vec!["vda".to_owned(), "vdb".to_owned()];
        s.devices.extend([block_device("vdb", "254:16"), top]);
    });
    for (name, host, device, expected) in [
        ("another device", host_with_disk(), "8:0", Err("no limit")),
        ("one of two that share the bytes", array.clone(), "254:0", Err("no limit")),
        ("both", array, "9:0", Ok(50e6)),
    ] {
        let host = limited_on(host, device, slow_reads);
        RULE.on(&host, &[]).expect([(name, rand_read(1), expected)]);
    }
}

#[test]
fn merged_blocks_are_one_io_for_a_provider() {
    let deep = |depth: u64| with_param(disk("seq_read", 4096, "none"), "queue_depth", depth);
    RULE.on(&declaring(&[("disk.read_iops", 1000.0)]), &[]).expect([
        ("alone", deep(1), Ok(4.096e6)),
        ("merged", deep(8), Ok(1000.0 * 1_048_576.0)),
        ("buffered", disk("seq_read", 8, "cold"), Err("the kernel chooses the size")),
        // Each block is on a page of its own.
        ("in random order", disk("rand_read", 8, "cold"), Ok(8000.0)),
    ]);
    let host = limited(|limit| limit.reads_per_s = Some(1000.0));
    RULE.on(&host, &[]).expect([("a cgroup counts before merging", deep(8), Ok(4.096e6))]);
    let host = limited(|limit| limit.writes_per_s = Some(500.0));
    RULE.on(&host, &[]).expect([("commits", fsync(1), Ok(500.0))]);
}

#[test]
fn work_that_a_limit_does_not_bound_has_no_ceiling() {
    let host = limited(|limit| {
        (limit.read_bytes_per_s, limit.write_bytes_per_s) = (Some(50e6), Some(50e6));
    });
    RULE.on(&host, &[]).expect([
        ("a warm cache", disk("seq_read", 4096, "warm"), Err("warm")),
        ("buffered writes", writes(4096, "cold"), Err("written back later")),
    ]);
    let unknown = Err("--limit ... not part of the test");
    RULE.on(&host_with_disk(), &[]).expect([("no limit", rand_read(1), unknown)]);
    let declared = declaring(&[("disk.write", 50e6)]);
    RULE.on(&declared, &[]).expect([("a provider's limit", writes(4096, "cold"), Ok(50e6))]);
}

#[test]
fn a_trial_may_find_a_slice_unspent() {
    let lasting = |s: f64| each(rand_read(1), |_, t| t.seconds = s);
    let at = |host: &Host, s: f64| RULE.on(host, &[]).derive(&lasting(s)).unwrap().uncertainty;
    let host = limited(slow_reads);
    assert_eq!([at(&host, 0.1), at(&host, 1.0), at(&host, 100.0)], [1.0, 0.1, 0.01]);
    let host = declaring(&[("disk.read", 160e6)]);
    assert_eq!([at(&host, 0.1), at(&host, 100.0)], [0.05, 0.05], "a promise");
}

/// Random reads at that rate, all of them from the device, in trials of five seconds.
fn reading(rate: f64) -> Measurement {
    let long = each(rand_read(32), |_, t| t.seconds = 5.0);
    each(at_rate(long, rate), |_, t| {
        let (device, file) = (t.device.as_mut().unwrap(), t.file.as_mut().unwrap());
        (file.asked_read_bytes, device.read_bytes) = (t.work as u64, t.work as u64);
        device.own_read_bytes = Some(t.work as u64);
    })
}

#[test]
fn near_it_the_limit_is_the_bottleneck_and_far_above_the_number_is_suspect() {
    let declared = declaring(&[("disk.read_iops", 3000.0)]);
    let limit = "^declared limit disk.read_iops$ ... 3.000 kop/s";
    expect_bottleneck(&declared, reading(3010.0 * 4096.0), &[], limit);
    let cgroup = "^cgroup I/O limit$ ... io.max";
    expect_bottleneck(&limited(slow_reads), reading(49.9e6), &[], cgroup);
    let check = crate::checks::find("above_limit").unwrap();
    let above = suspect(
        "^the result is 113.3 % of the declared limit: it allows bursts, a cache served a part, or it is not enforced$",
    );
    check.on(&declared, &[]).expect([
        ("at it", reading(3010.0 * 4096.0), SILENT),
        ("above", reading(3400.0 * 4096.0), above),
    ]);
    let changed = suspect("of the cgroup's limit: it changed during the run");
    check.on(&limited(slow_reads), &[]).expect([("lifted", reading(117e6), changed)]);
    // The report shows the figure, and no check calls it impossible.
    let m = judged(&limited(slow_reads), reading(117e6), &[]);
    assert_eq!(m.verdict, proofmark_model::Verdict::Suspect, "{:?}", m.findings);
}

#[test]
fn a_load_at_its_disk_limit_loses_nothing_with_the_cpu() {
    let host = limited(slow_reads);
    let bottleneck = |share: f64, spoil: fn(&mut Trial)| {
        let m = each(reading(share * 50e6), |_, t| spoil(t));
        judged(&host, m, &[]).bottleneck.unwrap().resource
    };
    let stolen = |t: &mut Trial| t.conditions.steal_s = Some(2.0);
    let swapped = |t: &mut Trial| t.conditions.swapped_pages = Some(1 << 20);
    assert_eq!(bottleneck(0.99, stolen), "cgroup I/O limit", "uncertainty 2 %");
    assert_eq!(bottleneck(0.91, stolen), "steal time", "the rest may be the CPU's");
    assert_eq!(bottleneck(0.5, stolen), "steal time");
    assert_eq!(bottleneck(0.99, swapped), "memory (swapping)", "a device's time too");
}
