//! The whole look on machines captured or composed (`fixtures/README.md` says
//! which), kept as snapshots; and on the machine that runs the tests.

use std::path::{Path, PathBuf};

use proofmark_host::{Root, look};
use proofmark_model::{Host, StorageKind};

fn folder(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(name)
}

fn machine(name: &str) -> Host {
    look(&Root::fixture(folder(name)), "/srv")
}

fn checks(host: &Host) -> Vec<&str> {
    host.findings.iter().map(|f| f.check.as_ref()).collect()
}

fn design(host: &Host) -> &str {
    host.cpu.microarchitecture.get().map_or("unknown", |m| &m.id)
}

#[test]
fn every_fixture_has_its_snapshot() {
    let mut names: Vec<String> = std::fs::read_dir(folder(""))
        .unwrap()
        .map(|e| e.unwrap())
        .filter(|e| e.path().is_dir())
        .map(|e| e.file_name().into_string().unwrap())
        .collect();
    names.sort();
    assert!(names.len() >= 7, "{names:?}");
    for name in names {
        insta::assert_json_snapshot!(name.clone(), machine(&name));
    }
}

#[test]
fn a_masked_granite_rapids_is_known_by_what_it_has() {
    let host = machine("granite_rapids_guest");
    assert_eq!((host.cpu.family.get(), host.cpu.model.get()), (Some(&6), Some(&0xa7)));
    assert_eq!(design(&host), "redwood_cove_server");
    assert_eq!(
        checks(&host),
        [
            "host.masked_model",
            "host.smt_hidden",
            "host.clock_hidden",
            "host.cache_share",
            "host.modules_hidden",
            "host.virtual_disk"
        ]
    );
    assert_eq!(host.cpu.clock.tsc_hz.get(), Some(&2.6e9));
    assert_eq!(host.os.container.get().unwrap(), "none", "/.dockerenv on a disk is a left-over");
}

#[test]
fn a_quota_and_a_mask_as_a_real_kernel_tells_them() {
    let host = machine("granite_rapids_quota");
    assert_eq!(host.limits.cpu_quota.get().and_then(|q| q.cpus), Some(0.5));
    assert_eq!(host.limits.affinity.get(), Some(&vec![1]));
    assert_eq!((&host.limits.usable_cpus, host.limits.usable_cores), (&vec![1], 1));
    assert!(host.limits.cpu_stat[0].ends_with("cpu/job/cpu.stat"), "{:?}", host.limits.cpu_stat);
    assert_eq!(host.cpu.logical_cpus.get(), Some(&2));
}

#[test]
fn two_sockets_with_siblings() {
    let host = machine("skylake_two_sockets");
    assert_eq!(design(&host), "skylake_server");
    let counts = (host.cpu.sockets.get(), host.cpu.cores.get(), host.cpu.logical_cpus.get());
    assert_eq!(counts, (Some(&2), Some(&8), Some(&16)));
    assert_eq!(host.cpu.threads_per_core.get(), Some(&2));
    assert_eq!(host.cpu.numa_nodes.get().unwrap()[1].cpus, [4, 5, 6, 7, 12, 13, 14, 15]);
    let instances: Vec<_> = host.cpu.caches.get().unwrap().iter().map(|c| c.instances).collect();
    assert_eq!(instances, [8, 8, 8, 2]);
    assert_eq!(host.limits.usable_cpus, (0..16).collect::<Vec<_>>());
    assert_eq!(host.limits.usable_cores, 8);
    assert_eq!(host.cpu.clock.nominal_hz.get(), Some(&3.6e9));
    assert_eq!(host.os.virtualisation.get().unwrap(), "none");
    assert_eq!(checks(&host), ["host.modules_hidden"], "the tables of firmware are not captured");
    assert!(host.findings[0].advice.contains("as root"), "{:?}", host.findings);
}

#[test]
fn containers_with_a_quota_on_both_kinds_of_cgroup() {
    let v2 = machine("zen4_container_cgroup_v2");
    assert_eq!(v2.limits.cpu_quota.get().unwrap().cpus, Some(1.5));
    assert_eq!(v2.limits.memory_bytes.get(), Some(&Some(2 << 30)));
    // anon, shmem, sock, and the kernel's memory less the slabs that shrink.
    let held = 167_772_160 + 4_194_304 + 65_536 + (41_943_040 - 31_457_280);
    assert_eq!(v2.limits.memory_used_bytes.get(), Some(&held));
    assert_eq!(v2.limits.usable_cpus, [0, 1, 2], "the cpuset leaves CPU 3 out");
    assert_eq!(v2.limits.cpu_stat, ["/sys/fs/cgroup/cpu.stat"]);
    assert_eq!(v2.os.container.get().unwrap(), "docker");
    assert_eq!(design(&v2), "zen4");

    let v1 = machine("broadwell_container_cgroup_v1");
    assert_eq!(v1.limits.cpu_quota.get().unwrap().cpus, Some(0.5));
    assert_eq!(v1.limits.memory_bytes.get(), Some(&Some(512 << 20)));
    assert_eq!(v1.limits.memory_used_bytes.get(), Some(&(60 << 20)));
    assert_eq!((v1.limits.usable_cpus.as_slice(), v1.limits.usable_cores), (&[0, 1, 2, 3][..], 2));
    assert_eq!(v1.os.virtualisation.get().unwrap(), "xen");
    assert_eq!(v1.cpu.clock.nominal_hz.get(), Some(&2.3e9), "from the brand string");
    assert_eq!(design(&v1), "broadwell");
}

#[test]
fn an_aarch64_server() {
    let host = machine("graviton2");
    assert_eq!((host.cpu.arch.as_str(), design(&host)), ("aarch64", "neoverse_n1"));
    assert!(host.cpu.isa.get().unwrap().contains(&"neon".to_owned()));
    assert_eq!(host.cpu.clock.tsc_hz.get(), Some(&121_875_000.0));
    assert_eq!(host.os.virtualisation.get().unwrap(), "amazon");
    assert_eq!(host.cpu.stepping.origin().split(": ").last(), Some("r3p1"));
}

#[test]
fn a_zen_3_guest() {
    let host = machine("zen3_guest");
    assert_eq!(design(&host), "zen3");
    assert!(checks(&host).contains(&"host.cache_share"), "CPUID sets 16 CPUs aside for the L3");
    assert!(!checks(&host).contains(&"host.masked_model"));
}

#[test]
fn what_lies_under_the_folder() {
    let leaf = |host: &Host| host.storage.get().unwrap().leaves().next().cloned().unwrap();
    let server = machine("skylake_two_sockets");
    let disk = leaf(&server);
    assert_eq!((disk.name.as_str(), disk.transport.as_deref()), ("sdb", Some("sata")));
    assert_eq!(disk.link.map(|l| l.bytes_per_s), Some(600e6));
    let limit = &server.limits.io.get().unwrap()[0];
    assert_eq!((limit.device.as_str(), limit.read_bytes_per_s), ("8:16", Some(104_857_600.0)));

    let guest = machine("graviton2");
    let disk = leaf(&guest);
    assert_eq!((disk.name.as_str(), disk.transport.as_deref()), ("nvme0n1", Some("nvme")));
    assert_eq!(disk.link, None, "a guest's link is its hypervisor's word");
    for name in ["granite_rapids_guest", "graviton2", "zen3_guest"] {
        assert!(checks(&machine(name)).contains(&"host.virtual_disk"), "{name}");
    }

    let container = machine("zen4_container_cgroup_v2");
    let storage = container.storage.get().unwrap();
    assert_eq!((storage.kind, storage.devices.len()), (StorageKind::Layered, 0));
    assert!(!checks(&container).contains(&"host.virtual_disk"));
}

#[test]
fn an_empty_machine_has_a_reason_for_everything() {
    let nothing = tempfile::tempdir().unwrap();
    let host = look(&Root::fixture(nothing.path()), "/srv");
    assert_eq!(
        checks(&host),
        ["host.usable_cpus", "host.huge_pages_off", "host.modules_hidden", "host.probe_failed"]
    );
    assert_eq!((host.limits.usable_cpus.as_slice(), host.limits.usable_cores), (&[0][..], 1));
    let json = serde_json::to_value(&host).unwrap();
    reasons(&json);
}

/// Every null of the JSON stands beside a reason that says something, or, where
/// the known value is that there is none, beside its source.
fn reasons(value: &serde_json::Value) {
    match value {
        serde_json::Value::Object(map) => {
            if map.get("value").is_some_and(serde_json::Value::is_null) {
                let reason = map.get("reason").or(map.get("source")).and_then(|r| r.as_str());
                assert!(reason.is_some_and(|r| r.len() > 5), "{map:?}");
            }
            map.values().for_each(reasons);
        }
        serde_json::Value::Array(list) => list.iter().for_each(reasons),
        _ => {}
    }
}

#[test]
fn the_live_machine() {
    let host = look(&Root::live(), "/");
    assert!(!host.limits.usable_cpus.is_empty());
    assert!(host.limits.usable_cores >= 1);
    assert!(host.limits.usable_cores as usize <= host.limits.usable_cpus.len());
    assert_eq!(host.cpu.arch, std::env::consts::ARCH);
    if cfg!(target_arch = "x86_64") {
        assert!(host.cpu.vendor.get().is_some());
        assert!(host.cpu.isa.get().unwrap().iter().any(|name| name == "sse2"));
    }
    // What was taken down and read again is the same machine.
    if let Some(text) = Root::live().cpuid_text() {
        let again = tempfile::tempdir().unwrap();
        std::fs::write(again.path().join("arch"), "x86_64").unwrap();
        std::fs::write(again.path().join("cpuid.txt"), text).unwrap();
        let copy = look(&Root::fixture(again.path()), "/srv");
        assert_eq!(copy.cpu.vendor, host.cpu.vendor);
        assert_eq!(copy.cpu.model_name, host.cpu.model_name);
        assert_eq!(copy.cpu.model, host.cpu.model);
    }
    reasons(&serde_json::to_value(&host).unwrap());
}

#[test]
fn a_live_io_uring_that_is_refused_says_why() {
    let host = look(&Root::live(), "/");
    let reported = host.limits.io_uring.get().expect("it is tried on the live machine");
    assert_eq!(host.limits.io_uring.origin() == "io_uring_setup", *reported);
}
