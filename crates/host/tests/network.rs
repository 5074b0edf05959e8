//! Tests of the interface to a peer, on the machines of `fixtures` and on the live one.

use std::net::IpAddr;
use std::path::Path;

use proofmark_host::Root;
use proofmark_host::network::{interface_between, interface_to};
use proofmark_model::Probe;

fn ip(text: &str) -> IpAddr {
    text.parse().unwrap_or_else(|e| panic!("{text}: {e}"))
}

#[test]
fn interfaces_as_real_kernels_report_them() {
    const GUEST: &str = "granite_rapids_guest";
    const SERVER: &str = "skylake_two_sockets";
    const NIC: (&str, &str, u64, Option<f64>, Option<&str>) =
        ("ens1f0np0", "ethernet", 9000, Some(25e9), Some("mlx5_core"));
    const ETH0: (&str, &str, u64, Option<f64>, Option<&str>) =
        ("eth0", "virtio", 1400, None, Some("virtio_net"));
    const VIRTIO: &str = "; no line rate: virtio reports no link speed";
    // Name, kind, MTU, line rate and driver, and the end of the source.
    for (machine, local, expected, origin) in [
        (GUEST, "127.0.0.1", ("lo", "loopback", 65_536, None, None), "loopback has no link"),
        (GUEST, "192.0.2.2", ETH0, VIRTIO),
        (GUEST, "fd00::2", ETH0, VIRTIO),
        (SERVER, "198.51.100.7", NIC, "getifaddrs, /sys/class/net/ens1f0np0"),
        (SERVER, "2001:db8::7", NIC, "getifaddrs, /sys/class/net/ens1f0np0"),
        (SERVER, "203.0.113.7", ("bond0", "bond", 1500, Some(20e9), None), "/bond0"),
        (SERVER, "192.0.2.7", ("bond0.30", "vlan", 1500, Some(20e9), None), "/bond0.30"),
        // Invented speeds are no line rates.
        (SERVER, "192.0.2.129", ("br0", "bridge", 1500, None, None), "which one is unknown"),
        (
            "zen4_container_cgroup_v2",
            "172.17.0.2",
            ("eth0", "virtual ethernet", 1500, None, None),
            "its reported speed is invented",
        ),
        (
            "zen3_guest",
            "192.0.2.66",
            ("enp7s0", "ethernet", 1500, None, Some("e1000e")),
            "the hypervisor invents the reported speed",
        ),
    ] {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(machine);
        let probe = interface_to(&Root::fixture(folder), ip(local));
        let i = probe.get().unwrap_or_else(|| panic!("{machine} {local}: {probe:?}"));
        let facts = (i.name.as_str(), i.kind.as_str(), i.mtu, i.bits_per_s, i.driver.as_deref());
        assert_eq!(facts, expected, "{machine} {local}");
        assert!(probe.origin().ends_with(origin), "{machine} {local}: {}", probe.origin());
    }
}

#[test]
fn every_live_address_has_an_interface_that_sysfs_knows() {
    let root = Root::live();
    let addresses = root.addresses_text().unwrap();
    for line in addresses.lines() {
        let (name, address) = line.split_once(' ').unwrap();
        if !Path::new("/sys/class/net").join(name).exists() {
            proofmark_testing::skip(format!("{name} is not in /sys/class/net"));
            continue;
        }
        match interface_to(&root, ip(address)) {
            Probe::Known { value, .. } => assert_eq!(value.name, name),
            Probe::Missing { reason, .. } => assert!(reason.contains(" of "), "{line}: {reason}"),
        }
    }
    if !Path::new("/sys/class/net/lo/mtu").exists() {
        return proofmark_testing::skip("no /sys/class/net here");
    }
    let probe = interface_between(&root, ip("127.0.0.1"), ip("127.0.0.1"));
    let lo = probe.get().unwrap_or_else(|| panic!("{probe:?}"));
    assert_eq!((lo.kind.as_str(), lo.bits_per_s), ("loopback", None));
    assert!(addresses.lines().any(|l| l == format!("{} 127.0.0.1", lo.name)), "{addresses}");
}
