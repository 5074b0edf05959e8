use proofmark_model::{Host, Probe, Severity, Trial};

use super::*;
use crate::testing::{
    at_rate, block_device, context, disk, each, fsync, host_with_disk, judged, policy, rand_read,
    spec, with_storage,
};

fn declaring(limits: &[(&str, f64)]) -> Host {
    let mut host = host_with_disk();
    host.limits.declared = limits.iter().map(|(n, v)| ((*n).to_owned(), *v)).collect();
    host
}

fn cgroup(device: &str) -> IoLimit {
    IoLimit {
        device: device.to_owned(),
        read_bytes_per_s: None,
        write_bytes_per_s: None,
        reads_per_s: None,
        writes_per_s: None,
        source: "/sys/fs/cgroup/io.max".to_owned(),
    }
}

fn limited(mut host: Host, limit: IoLimit) -> Host {
    host.limits.io = Probe::known(vec![limit], "test");
    host
}

fn on(host: &Host, m: &Measurement) -> Result<Ceiling, String> {
    let (spec, policy) = (spec(&m.workload), policy());
    DiskLimit.derive(&context(host, &spec, &policy, &[]), m)
}

fn value(host: &Host, m: &Measurement) -> f64 {
    on(host, m).unwrap().value
}

#[test]
fn the_text_names_every_limit_of_a_disk() {
    let about = DiskLimit.about();
    let words: Vec<&str> =
        about.split(|c: char| !(c.is_alphanumeric() || "._".contains(c))).collect();
    for name in Limit::ALL.map(Limit::name).iter().filter(|n| n.starts_with("disk.")) {
        assert!(words.contains(name), "{name}");
    }
}

#[test]
fn the_tightest_of_the_declared_limits_counts() {
    let host = declaring(&[("disk.read", 160e6), ("disk.read_iops", 3000.0)]);
    assert_eq!(value(&host, &rand_read(32)), 3000.0 * 4096.0);
    assert_eq!(value(&host, &disk("seq_read", 1 << 20, "none")), 160e6);
    let c = on(&host, &rand_read(32)).unwrap();
    assert_eq!(c.formula, "disk.read_iops x io_bytes");
    assert_eq!(c.inputs[0].source, Provenance::Declared);
    let why = on(&host, &disk("seq_write", 1 << 20, "none")).unwrap_err();
    assert!(why.contains("disk.read does not apply"), "{why}");
}

#[test]
fn a_mix_is_held_by_each_direction() {
    let mixed = disk("mixed", 4096, "none");
    let reads = read_share(&mixed).unwrap();
    let host = declaring(&[("disk.read", 70e6), ("disk.write", 70e6)]);
    assert!((value(&host, &mixed) - 70e6 / reads).abs() < 1.0);
    let host = declaring(&[("disk.write_iops", 300.0)]);
    assert!((value(&host, &mixed) - 300.0 * 4096.0 / (1.0 - reads)).abs() < 1.0);
    let copy = value(&host, &disk("read_write", 4096, "none"));
    assert!((copy - 2.0 * 300.0 * 4096.0).abs() < 1.0, "{copy}");
}

#[test]
fn a_cgroup_counts_where_every_byte_passes_it() {
    let limit = IoLimit { read_bytes_per_s: Some(50e6), ..cgroup("254:0") };
    let c = on(&limited(host_with_disk(), limit.clone()), &rand_read(1)).unwrap();
    assert_eq!((c.value, c.inputs[0].source), (50e6, Provenance::Reported));
    let elsewhere = IoLimit { device: "8:0".to_owned(), ..limit.clone() };
    assert!(on(&limited(host_with_disk(), elsewhere), &rand_read(1)).is_err());
    let array = |number: &str| {
        let host = with_storage(|s| {
            let mut top = block_device("md0", "9:0");
            top.over = vec!["vda".to_owned(), "vdb".to_owned()];
            s.devices.extend([block_device("vdb", "254:16"), top]);
        });
        limited(host, IoLimit { device: number.to_owned(), ..limit.clone() })
    };
    assert!(on(&array("254:0"), &rand_read(1)).is_err(), "one of two that share the bytes");
    assert_eq!(value(&array("9:0"), &rand_read(1)), 50e6);
}

#[test]
fn merged_blocks_are_one_io_for_a_provider() {
    let deep = |depth: u64| {
        let mut m = disk("seq_read", 4096, "none");
        m.params = m.params.with("queue_depth", depth);
        m
    };
    let host = declaring(&[("disk.read_iops", 1000.0)]);
    assert_eq!(value(&host, &deep(1)), 4.096e6);
    assert_eq!(value(&host, &deep(8)), 1000.0 * 1_048_576.0);
    let limit = IoLimit { reads_per_s: Some(1000.0), ..cgroup("254:0") };
    assert_eq!(value(&limited(host_with_disk(), limit), &deep(8)), 4.096e6);
    let why = on(&host, &disk("seq_read", 8, "cold")).unwrap_err();
    assert!(why.contains("the kernel chooses the size"), "{why}");
    let random = disk("rand_read", 8, "cold");
    assert_eq!(value(&host, &random), 8000.0, "each meets a page of its own");
}

#[test]
fn commits_are_ios() {
    let host = declaring(&[("disk.write_iops", 5000.0), ("disk.write", 8.192e6)]);
    let c = on(&host, &fsync(1)).unwrap();
    assert_eq!((c.value, c.unit.as_str()), (2000.0, "op/s"));
    let limit = IoLimit { writes_per_s: Some(500.0), ..cgroup("254:0") };
    assert_eq!(value(&limited(host_with_disk(), limit), &fsync(1)), 500.0);
}

#[test]
fn what_a_limit_does_not_hold_has_none() {
    let both =
        IoLimit { write_bytes_per_s: Some(50e6), read_bytes_per_s: Some(50e6), ..cgroup("254:0") };
    let host = limited(host_with_disk(), both);
    let why = |m: &Measurement| on(&host, m).unwrap_err();
    assert!(why(&disk("seq_read", 4096, "warm")).contains("warm"));
    assert!(why(&disk("seq_write", 4096, "cold")).contains("written back later"));
    let unknown = on(&host_with_disk(), &rand_read(1)).unwrap_err();
    assert!(unknown.contains("--limit") && unknown.contains("not part of the test"));
    let declared = declaring(&[("disk.write", 50e6)]);
    assert_eq!(value(&declared, &disk("seq_write", 4096, "cold")), 50e6);
}

#[test]
fn a_trial_may_find_a_slice_unspent() {
    let lasting = |s: f64| each(rand_read(1), |_, t| t.seconds = s);
    let of = |host: &Host, s: f64| on(host, &lasting(s)).unwrap().uncertainty;
    let limit = IoLimit { read_bytes_per_s: Some(50e6), ..cgroup("254:0") };
    let host = limited(host_with_disk(), limit);
    assert_eq!([of(&host, 0.1), of(&host, 1.0), of(&host, 100.0)], [1.0, 0.1, 0.01]);
    let host = declaring(&[("disk.read", 160e6)]);
    assert_eq!([of(&host, 0.1), of(&host, 100.0)], [0.05, 0.05], "a promise");
}

/// Random reads at that rate, all of them from the device, in trials of five seconds, after
/// `spoil`.
fn reading(host: &Host, rate: f64, spoil: impl Fn(&mut Trial)) -> Measurement {
    let long = each(rand_read(32), |_, t| t.seconds = 5.0);
    let m = each(at_rate(long, rate), |_, t| {
        let (device, file) = (t.device.as_mut().unwrap(), t.file.as_mut().unwrap());
        (file.asked_read_bytes, device.read_bytes) = (t.work as u64, t.work as u64);
        device.own_read_bytes = Some(t.work as u64);
        spoil(t);
    });
    judged(host, m, &[])
}

#[test]
fn near_it_the_limit_is_the_bottleneck_and_far_above_the_number_is_invalid() {
    let at = |host: &Host, rate: f64| reading(host, rate, |_| {});
    let declared = declaring(&[("disk.read_iops", 3000.0)]);
    let bottleneck = at(&declared, 3010.0 * 4096.0).bottleneck.unwrap();
    assert_eq!(bottleneck.resource, "declared limit disk.read_iops");
    assert!(bottleneck.evidence.contains("3.000 kop/s"), "{}", bottleneck.evidence);
    let limit = IoLimit { read_bytes_per_s: Some(50e6), ..cgroup("254:0") };
    let bottleneck = at(&limited(host_with_disk(), limit), 49.9e6).bottleneck.unwrap();
    assert_eq!(bottleneck.resource, "cgroup I/O limit");
    assert!(bottleneck.evidence.contains("io.max"), "{}", bottleneck.evidence);
    let above = at(&declared, 3400.0 * 4096.0);
    let beyond = above.findings.iter().find(|f| f.check == "above_ceiling").unwrap();
    assert_eq!(beyond.severity, Severity::Invalid);
}

#[test]
fn who_waits_for_a_disk_at_its_limit_loses_nothing_with_the_cpu() {
    let limit = IoLimit { read_bytes_per_s: Some(50e6), ..cgroup("254:0") };
    let host = limited(host_with_disk(), limit);
    let bottleneck = |share: f64, spoil: fn(&mut Trial)| {
        reading(&host, share * 50e6, spoil).bottleneck.unwrap().resource
    };
    let stolen = |t: &mut Trial| t.conditions.steal_s = Some(0.5);
    let swapped = |t: &mut Trial| t.conditions.swapped_pages = Some(1 << 20);
    assert_eq!(bottleneck(0.99, stolen), "cgroup I/O limit", "sure to 2 %");
    assert_eq!(bottleneck(0.91, stolen), "steal time", "what is missing may be the CPU's");
    assert_eq!(bottleneck(0.5, stolen), "steal time");
    assert_eq!(bottleneck(0.99, swapped), "memory (swapping)", "a device's time too");
}
