//! Tests on composed interfaces of each kind, with their sysfs files.

use super::*;
use crate::testing::Machine;

/// Creates a bare-metal machine (no hypervisor bit in CPUID leaf 1) with addresses.
fn bare(addresses: &str) -> Machine {
    const CPUID: &str = "   0x00000001 0x00: eax=0x00050654 ebx=0x0 ecx=0x0 edx=0x0\n";
    Machine::new(&[("/arch", "x86_64"), ("/cpuid.txt", CPUID), ("/addresses", addresses)])
}

/// Adds an interface with `type` (ARPHRD_*), `mtu` and these files.
fn interface(m: &Machine, name: &str, number: u32, files: &[(&str, &str)]) {
    let number = number.to_string();
    for (file, text) in [("type", number.as_str()), ("mtu", "1500\n")].iter().chain(files) {
        m.put(&format!("{NET}/{name}/{file}"), text);
    }
}

/// Returns the kind, the line rate and the reason for a missing rate.
fn reported(number: u32, files: &[(&str, &str)]) -> (String, Option<f64>, String) {
    let machine = bare("x0 192.0.2.1\n");
    interface(&machine, "x0", number, files);
    let probe = interface_to(&machine.root(), "192.0.2.1".parse().unwrap());
    let found = probe.get().unwrap_or_else(|| panic!("{probe:?}"));
    let why = probe.origin().split_once("; no line rate: ").map_or("", |(_, why)| why);
    (found.kind.clone(), found.bits_per_s, why.to_owned())
}

#[test]
fn every_kind_by_its_files() {
    const PAIR: [(&str, &str); 2] = [("ifindex", "3\n"), ("iflink", "2\n")];
    const ALONE: [(&str, &str); 2] = [("ifindex", "3\n"), ("iflink", "3\n")];
    let with = |more: &[(&'static str, &'static str)], base: [(&'static str, &'static str); 2]| {
        [&base[..], more].concat()
    };
    let typed = |name: &'static str| with(&[("uevent", name)], ALONE);
    let cases = [
        ("loopback", 772, ALONE.to_vec()),
        ("ethernet", 1, with(&[("device/uevent", "DRIVER=igb\n")], ALONE)),
        ("ethernet", 1, with(&[("device/vendor", "0x8086\n")], ALONE)),
        ("virtio", 1, with(&[("device/uevent", "DRIVER=virtio_net\n")], ALONE)),
        ("virtual ethernet", 1, with(&[("speed", "10000\n")], PAIR)),
        ("virtual ethernet", 1, with(&[("speed", "10000\n")], ALONE)),
        ("virtual", 1, ALONE.to_vec()),
        ("bridge", 1, typed("DEVTYPE=bridge\nINTERFACE=x0\n")),
        ("bridge", 1, with(&[("bridge/stp_state", "0\n")], ALONE)),
        ("bond", 1, typed("DEVTYPE=bond\n")),
        ("bond", 1, with(&[("bonding/mode", "802.3ad 4\n")], ALONE)),
        ("bond", 1, with(&[("lower_a", ""), ("lower_b", "")], ALONE)),
        ("vlan", 1, with(&[("uevent", "DEVTYPE=vlan\n"), ("lower_a", "")], PAIR)),
        ("macvlan", 1, with(&[("lower_a", "")], PAIR)),
        ("tunnel", 1, typed("DEVTYPE=vxlan\n")),
        ("tunnel", 65534, with(&[("uevent", "DEVTYPE=wireguard\n")], ALONE)),
        ("tunnel", 65534, with(&[("tun_flags", "0x1801\n")], ALONE)),
        ("tunnel", 778, PAIR.to_vec()),
        ("tap", 1, with(&[("tun_flags", "0x1802\n")], ALONE)),
        ("wireless", 1, with(&[("uevent", "DEVTYPE=wlan\n"), ("device/x", "")], ALONE)),
        ("wireless", 1, with(&[("phy80211/index", "0\n"), ("device/x", "")], ALONE)),
        ("infiniband", 32, with(&[("device/uevent", "DRIVER=mlx5_core\n")], ALONE)),
        ("other", 519, with(&[("device/uevent", "DRIVER=qmi_wwan\n")], ALONE)),
    ];
    for (kind, number, files) in cases {
        let (found, rate, why) = reported(number, &files);
        assert_eq!((found.as_str(), rate), (kind, None), "{number} {files:?}");
        assert!(why.len() > 5, "{kind}: {why}");
    }
}

#[test]
fn a_wire_has_the_rate_that_its_driver_tells() {
    let driven = |speed| reported(1, &[("device/uevent", "DRIVER=ixgbe\n"), ("speed", speed)]);
    assert_eq!(driven("100\n").1, Some(100e6));
    assert_eq!(driven("400000\n"), ("ethernet".to_owned(), Some(400e9), String::new()));
    for bad in ["-1\n", "0\n", "65535\n", "4294967295\n", "fast\n", ""] {
        assert_eq!(driven(bad).1, None, "{bad}");
        assert_eq!(driven(bad).2, "the driver reports no speed");
    }
}

/// Creates a bond over two interfaces with these drivers.
fn bond(of: [&str; 2]) -> Probe<Interface> {
    let m = bare("bond0 192.0.2.1\n");
    let files =
        [("uevent", "DEVTYPE=bond\n"), ("speed", "20000\n"), ("lower_a", ""), ("lower_b", "")];
    interface(&m, "bond0", 1, &files);
    for (name, driver) in ["a", "b"].into_iter().zip(of) {
        let uevent = format!("DRIVER={driver}\n");
        interface(&m, name, 1, &[("device/uevent", &uevent), ("speed", "10000\n")]);
    }
    interface_to(&m.root(), "192.0.2.1".parse().unwrap())
}

#[test]
fn a_bond_is_believed_if_all_its_members_have_wires() {
    assert_eq!(bond(["ixgbe", "ixgbe"]).get().unwrap().bits_per_s, Some(20e9));
    let half = bond(["ixgbe", "virtio_net"]);
    assert_eq!(half.get().unwrap().bits_per_s, None);
    assert!(half.origin().ends_with("over b: virtio reports no link speed"), "{half:?}");
}

#[test]
fn what_lies_on_itself_ends() {
    let m = bare("x0 192.0.2.1\n");
    interface(&m, "x0", 1, &[("uevent", "DEVTYPE=vlan\n"), ("lower_x0", ""), ("speed", "1000\n")]);
    let found = interface_to(&m.root(), "192.0.2.1".parse().unwrap());
    assert_eq!(found.get().unwrap().bits_per_s, None);
    assert!(found.origin().ends_with("the underlying interfaces form a loop"), "{found:?}");
}

#[test]
fn an_address_is_one_interface_s_or_the_reason_says_why_not() {
    let m = bare("lo 127.0.0.1\na 192.0.2.1\nb 192.0.2.1\nb 192.0.2.2\nc 192.0.2.3\n");
    interface(&m, "lo", 772, &[]);
    interface(&m, "b", 1, &[("device/uevent", "DRIVER=ixgbe\n")]);
    let to = |ip: &str| interface_to(&m.root(), ip.parse().unwrap());
    let name = |probe: &Probe<Interface>| probe.get().map(|i| i.name.clone());
    assert_eq!(name(&to("192.0.2.2")).as_deref(), Some("b"));
    assert_eq!(name(&to("::ffff:192.0.2.2")).as_deref(), Some("b"), "IPv4 over a socket of IPv6");
    assert_eq!(name(&to("127.8.9.1")).as_deref(), Some("lo"), "all of 127.0.0.0/8");
    assert!(
        to("192.0.2.1").origin().contains("a and b both have the address"),
        "{:?}",
        to("192.0.2.1")
    );
    assert!(to("192.0.2.9").origin().contains("no interface"), "{:?}", to("192.0.2.9"));
    assert_eq!(to("192.0.2.3").origin(), "/sys/class/net/c/mtu: no such file");
    assert!(to("::1").get().is_some(), "loopback is local in both versions");

    let between = |a: &str, b: &str| {
        name(&interface_between(&m.root(), a.parse().unwrap(), b.parse().unwrap()))
    };
    assert_eq!(between("192.0.2.2", "198.51.100.1").as_deref(), Some("b"));
    for own in ["192.0.2.2", "192.0.2.1", "::ffff:192.0.2.3", "127.0.0.1"] {
        assert_eq!(between("192.0.2.2", own).as_deref(), Some("lo"), "{own} is this machine");
    }
}
