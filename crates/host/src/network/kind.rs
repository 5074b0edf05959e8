//! What an interface is, by its files in sysfs.
//!
//! Sources: Linux `include/uapi/linux/if_arp.h` (the numbers of `type`), `drivers/net`
//! and `net/8021q`, `net/bridge` (DEVTYPE of `uevent`),
//! `Documentation/ABI/testing/sysfs-class-net`.

use super::NET;
use crate::root::{Reason, Root};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Loopback,
    /// A device of hardware, or one that a hypervisor made to look like it.
    Ethernet,
    /// One end of a pair (veth), mostly that of a container.
    VirtualEthernet,
    /// A hypervisor's device, made for guests.
    Virtio,
    /// A switch in software.
    Bridge,
    /// Several that act as one, by `bonding` or `team`.
    Bond,
    /// A tagged network on another interface.
    Vlan,
    /// Packets in packets, or a program that takes them.
    Tunnel,
    /// An end of a program that uses Ethernet, such as a virtual machine's.
    Tap,
    /// A further address on another interface, with neighbours on this machine.
    Macvlan,
    Wireless,
    Infiniband,
    /// Software of some other kind.
    Virtual,
    Other,
}

impl Kind {
    /// The word of [`proofmark_model::Interface::kind`], and why packets leave by no wire whose
    /// speed the driver knows; `None` where they may.
    pub(super) fn describe(self) -> (&'static str, Option<&'static str>) {
        match self {
            Self::Loopback => ("loopback", Some("loopback has no link")),
            Self::Ethernet => ("ethernet", None),
            Self::VirtualEthernet => (
                "virtual ethernet",
                Some("a veth pair has no link; its reported speed is invented"),
            ),
            Self::Virtio => ("virtio", Some("virtio reports no link speed")),
            Self::Bridge => (
                "bridge",
                Some("packets leave through one of the bridge's ports, which one is unknown"),
            ),
            Self::Bond => ("bond", None),
            Self::Vlan => ("vlan", None),
            Self::Tunnel => ("tunnel", Some("a tunnel has no link of its own")),
            Self::Tap => ("tap", Some("the other end is a program")),
            Self::Macvlan => ("macvlan", Some("macvlan neighbours may be on this machine")),
            Self::Wireless => {
                ("wireless", Some("the rate of a radio link changes with its reception"))
            }
            Self::Infiniband => ("infiniband", None),
            Self::Virtual => ("virtual", Some("a software device has no link")),
            Self::Other => ("other", None),
        }
    }
}

const ETHER: u32 = 1;
/// ARPHRD_PPP, TUNNEL, TUNNEL6, SIT, IPGRE, IP6GRE and NONE (tun, WireGuard).
const TUNNELS: &[u32] = &[512, 768, 769, 776, 778, 823, 65534];
const LOOPBACK: u32 = 772;
const INFINIBAND: u32 = 32;
/// What drivers call themselves in `uevent`.
const BY_DEVTYPE: &[(&str, Kind)] = &[
    ("bridge", Kind::Bridge),
    ("bond", Kind::Bond),
    ("vlan", Kind::Vlan),
    ("wlan", Kind::Wireless),
    ("macvlan macvtap ipvlan ipvtap", Kind::Macvlan),
    ("vxlan geneve gretap ip6gretap erspan bareudp wireguard ppp", Kind::Tunnel),
];

pub(super) fn read(root: &Root, name: &str) -> Result<Kind, Reason> {
    let folder = format!("{NET}/{name}");
    let number: u32 = root.number(&format!("{folder}/type"))?;
    let has = |file: &str| root.exists(&format!("{folder}/{file}"));
    let named = value(root, &format!("{folder}/uevent"), "DEVTYPE");
    let is_named = |words: &str| words.split(' ').any(|word| named.as_deref() == Some(word));
    let by_name = BY_DEVTYPE.iter().find(|(words, _)| is_named(words)).map(|(_, kind)| *kind);
    Ok(match (number, by_name) {
        (LOOPBACK, _) => Kind::Loopback,
        (INFINIBAND, _) => Kind::Infiniband,
        (_, Some(kind)) => kind,
        _ if TUNNELS.contains(&number) => Kind::Tunnel,
        _ if has("bridge") => Kind::Bridge,
        _ if has("bonding") => Kind::Bond,
        _ if has("tun_flags") => Kind::Tap,
        _ if has("phy80211") || has("wireless") => Kind::Wireless,
        _ if has("device") => match driver(root, name).as_deref() {
            Some("virtio_net") => Kind::Virtio,
            _ if number == ETHER => Kind::Ethernet,
            _ => Kind::Other,
        },
        (ETHER, _) => software(root, name),
        _ => Kind::Other,
    })
}

/// A device of software that looks like Ethernet and does not say what it is.
fn software(root: &Root, name: &str) -> Kind {
    let folder = format!("{NET}/{name}");
    let number = |file: &str| root.number::<u32>(&format!("{folder}/{file}")).ok();
    let elsewhere = number("iflink") != number("ifindex");
    match lower(root, name)[..] {
        [_] if elsewhere => Kind::Macvlan,
        [_, ..] => Kind::Bond,
        // The number of a pair's other end may by chance be its own, where that is in
        // another network namespace; but no other such device has a speed.
        [] if elsewhere || number("speed").is_some() => Kind::VirtualEthernet,
        [] => Kind::Virtual,
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
