//! What an interface is, by its files in sysfs.
//!
//! Sources: Linux `include/uapi/linux/if_arp.h` (the numbers of `type`), `drivers/net` and
//! `net/8021q`, `net/bridge` (DEVTYPE of `uevent`), `Documentation/ABI/testing/sysfs-class-net`.

use super::NET;
use crate::root::{Reason, Root};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Kind {
    /// That of [`proofmark_model::Interface::kind`].
    pub(super) word: &'static str,
    /// Why packets leave by no wire whose speed the driver knows; `None` where they may.
    pub(super) no_wire: Option<&'static str>,
}

/// A kind whose packets may leave by a wire.
const fn wired(word: &'static str) -> Kind {
    Kind { word, no_wire: None }
}

const fn without(word: &'static str, why: &'static str) -> Kind {
    Kind { word, no_wire: Some(why) }
}

impl Kind {
    const LOOPBACK: Self = without("loopback", "loopback has no link");
    /// A device of hardware, or one that a hypervisor made to look like it.
    const ETHERNET: Self = wired("ethernet");
    /// One end of a pair (veth), mostly that of a container.
    const VIRTUAL_ETHERNET: Self =
        without("virtual ethernet", "a veth pair has no link; its reported speed is invented");
    /// A hypervisor's device, made for guests.
    const VIRTIO: Self = without("virtio", "virtio reports no link speed");
    /// A switch in software.
    const BRIDGE: Self =
        without("bridge", "packets leave through one of the bridge's ports, which one is unknown");
    /// Several that act as one, by `bonding` or `team`.
    pub(super) const BOND: Self = wired("bond");
    /// A tagged network on another interface.
    pub(super) const VLAN: Self = wired("vlan");
    /// Packets in packets, or a program that takes them.
    const TUNNEL: Self = without("tunnel", "a tunnel has no link of its own");
    /// An end of a program that uses Ethernet, such as a virtual machine's.
    const TAP: Self = without("tap", "the other end is a program");
    /// A further address on another interface, with neighbours on this machine.
    const MACVLAN: Self = without("macvlan", "macvlan neighbours may be on this machine");
    const WIRELESS: Self =
        without("wireless", "the rate of a radio link changes with its reception");
    const INFINIBAND: Self = wired("infiniband");
    /// Software of some other kind.
    const VIRTUAL: Self = without("virtual", "a software device has no link");
    const OTHER: Self = wired("other");
}

const ETHER: u32 = 1;
/// ARPHRD_PPP, TUNNEL, TUNNEL6, SIT, IPGRE, IP6GRE and NONE (tun, WireGuard).
const TUNNELS: &[u32] = &[512, 768, 769, 776, 778, 823, 65534];
const LOOPBACK: u32 = 772;
const INFINIBAND: u32 = 32;
/// What drivers call themselves in `uevent`.
const BY_DEVTYPE: &[(&str, Kind)] = &[
    ("bridge", Kind::BRIDGE),
    ("bond", Kind::BOND),
    ("vlan", Kind::VLAN),
    ("wlan", Kind::WIRELESS),
    ("macvlan macvtap ipvlan ipvtap", Kind::MACVLAN),
    ("vxlan geneve gretap ip6gretap erspan bareudp wireguard ppp", Kind::TUNNEL),
];

pub(super) fn read(root: &Root, name: &str) -> Result<Kind, Reason> {
    let folder = format!("{NET}/{name}");
    let number: u32 = root.number(&format!("{folder}/type"))?;
    let has = |file: &str| root.exists(&format!("{folder}/{file}"));
    let named = value(root, &format!("{folder}/uevent"), "DEVTYPE");
    let is_named = |words: &str| words.split(' ').any(|word| named.as_deref() == Some(word));
    let by_name = BY_DEVTYPE.iter().find(|(words, _)| is_named(words)).map(|(_, kind)| *kind);
    Ok(match (number, by_name) {
        (LOOPBACK, _) => Kind::LOOPBACK,
        (INFINIBAND, _) => Kind::INFINIBAND,
        (_, Some(kind)) => kind,
        _ if TUNNELS.contains(&number) => Kind::TUNNEL,
        _ if has("bridge") => Kind::BRIDGE,
        _ if has("bonding") => Kind::BOND,
        _ if has("tun_flags") => Kind::TAP,
        _ if has("phy80211") || has("wireless") => Kind::WIRELESS,
        _ if has("device") => match driver(root, name).as_deref() {
            Some("virtio_net") => Kind::VIRTIO,
            _ if number == ETHER => Kind::ETHERNET,
            _ => Kind::OTHER,
        },
        (ETHER, _) => software(root, name),
        _ => Kind::OTHER,
    })
}

/// A device of software that looks like Ethernet and does not say what it is.
fn software(root: &Root, name: &str) -> Kind {
    let folder = format!("{NET}/{name}");
    let number = |file: &str| root.number::<u32>(&format!("{folder}/{file}")).ok();
    let elsewhere = number("iflink") != number("ifindex");
    match lower(root, name)[..] {
        [_] if elsewhere => Kind::MACVLAN,
        [_, ..] => Kind::BOND,
        // The number of a pair's other end may by chance be its own, where that is in
        // another network namespace; but no other such device has a speed.
        [] if elsewhere || number("speed").is_some() => Kind::VIRTUAL_ETHERNET,
        [] => Kind::VIRTUAL,
    }
}

/// Names of the interfaces that carry this one, sorted.
pub(super) fn lower(root: &Root, name: &str) -> Vec<String> {
    let files = root.names(&format!("{NET}/{name}"), "lower_").unwrap_or_default();
    files.iter().filter_map(|f| f.strip_prefix("lower_")).map(str::to_owned).collect()
}

pub(super) fn driver(root: &Root, name: &str) -> Option<String> {
    value(root, &format!("{NET}/{name}/device/uevent"), "DRIVER")
}

/// A value of a `uevent` file, which has `KEY=value` a line.
fn value(root: &Root, path: &str, key: &str) -> Option<String> {
    let text = root.read(path).ok()?;
    let values = text.lines().filter_map(|l| l.split_once('='));
    values.filter(|(k, _)| *k == key).map(|(_, v)| v.trim().to_owned()).find(|v| !v.is_empty())
}
