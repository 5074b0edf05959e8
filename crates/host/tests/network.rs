//! The interface that packets to a peer leave by, on the machines of `fixtures` and on
//! the one that runs the tests.

use std::net::{IpAddr, SocketAddr};
use std::path::Path;

use proofmark_host::Root;
use proofmark_host::network::{interface_between, interface_to, local_address_to};
use proofmark_model::{Interface, Probe};

fn ip(text: &str) -> IpAddr {
    text.parse().unwrap_or_else(|e| panic!("{text}: {e}"))
}

fn found(machine: &str, local: &str) -> Probe<Interface> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(machine);
    interface_to(&Root::fixture(folder), ip(local))
}

/// Name, kind, MTU, line rate and driver.
fn facts(machine: &str, local: &str) -> (String, String, u64, Option<f64>, Option<String>) {
    let probe = found(machine, local);
    let i = probe.get().unwrap_or_else(|| panic!("{machine} {local}: {probe:?}")).clone();
    (i.name, i.kind, i.mtu, i.bits_per_s, i.driver)
}

fn expected(
    name: &str,
    kind: &str,
    mtu: u64,
    bits_per_s: Option<f64>,
    driver: Option<&str>,
) -> (String, String, u64, Option<f64>, Option<String>) {
    (name.to_owned(), kind.to_owned(), mtu, bits_per_s, driver.map(str::to_owned))
}

#[test]
fn a_guest_with_virtio_as_a_real_kernel_tells_it() {
    let machine = "granite_rapids_guest";
    assert_eq!(facts(machine, "127.0.0.1"), expected("lo", "loopback", 65_536, None, None));
    for local in ["192.0.2.2", "fd00::2"] {
        let eth0 = expected("eth0", "virtio", 1400, None, Some("virtio_net"));
        assert_eq!(facts(machine, local), eth0);
    }
    let origin = found(machine, "192.0.2.2").origin().to_owned();
    assert!(origin.ends_with("no line rate: virtio reports no link speed"), "{origin}");
}

#[test]
fn a_server_with_wires() {
    let machine = "skylake_two_sockets";
    let nic = expected("ens1f0np0", "ethernet", 9000, Some(25e9), Some("mlx5_core"));
    for local in ["198.51.100.7", "2001:db8::7"] {
        assert_eq!(facts(machine, local), nic);
    }
    assert_eq!(found(machine, "198.51.100.7").origin(), "getifaddrs, /sys/class/net/ens1f0np0");
    let bond = expected("bond0", "bond", 1500, Some(20e9), None);
    assert_eq!(facts(machine, "203.0.113.7"), bond);
    let vlan = expected("bond0.30", "vlan", 1500, Some(20e9), None);
    assert_eq!(facts(machine, "192.0.2.7"), vlan);
    let bridge = expected("br0", "bridge", 1500, None, None);
    assert_eq!(facts(machine, "192.0.2.129"), bridge, "10000 is its port's made-up speed");
}

#[test]
fn speeds_that_are_made_up_are_no_line_rates() {
    let veth = expected("eth0", "virtual ethernet", 1500, None, None);
    assert_eq!(facts("zen4_container_cgroup_v2", "172.17.0.2"), veth);
    let emulated = expected("enp7s0", "ethernet", 1500, None, Some("e1000e"));
    assert_eq!(facts("zen3_guest", "192.0.2.66"), emulated);
    let origin = found("zen3_guest", "192.0.2.66").origin().to_owned();
    assert!(origin.contains("hypervisor invents"), "{origin}");
}

#[test]
fn the_live_machine() {
    let far: SocketAddr = "127.0.0.1:9".parse().unwrap();
    let local = local_address_to(far).unwrap();
    assert_eq!(local, far.ip(), "a machine speaks to itself from the address it speaks to");
    let probe = interface_between(&Root::live(), local, far.ip());
    if !Path::new("/sys/class/net/lo/mtu").exists() {
        eprintln!("skipped: no /sys/class/net here");
        return;
    }
    let lo = probe.get().unwrap_or_else(|| panic!("{probe:?}"));
    assert_eq!((lo.kind.as_str(), lo.bits_per_s), ("loopback", None));
    let live = Root::live().addresses_text().unwrap();
    assert!(live.lines().any(|l| l == format!("{} 127.0.0.1", lo.name)), "{live}");
    match local_address_to("[::1]:9".parse().unwrap()) {
        Ok(v6) => assert_eq!(v6, ip("::1")),
        Err(error) => eprintln!("skipped: IPv6: {error}"),
    }
}

#[test]
fn every_live_address_has_an_interface_that_sysfs_knows() {
    let root = Root::live();
    for line in root.addresses_text().unwrap().lines() {
        let (name, address) = line.split_once(' ').unwrap();
        if !Path::new("/sys/class/net").join(name).exists() {
            eprintln!("skipped: {name} is not in /sys/class/net");
            continue;
        }
        match interface_to(&root, ip(address)) {
            Probe::Known { value, .. } => assert_eq!(value.name, name),
            Probe::Missing { reason, .. } => assert!(reason.contains(" of "), "{line}: {reason}"),
        }
    }
}
