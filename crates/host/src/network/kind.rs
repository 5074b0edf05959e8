//! Kind of an interface, from its files in sysfs.
//!
//! Sources: Linux `include/uapi/linux/if_arp.h` (the numbers of `type`), `drivers/net` and
//! `net/8021q`, `net/bridge` (DEVTYPE of `uevent`), `Documentation/ABI/testing/sysfs-class-net`.

use super::NET;
use crate::root::{Reason, Root};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Kind {
    /// Word for [`proofmark_model::Interface::kind`].
    pub(super) word: &'static str,
    /// Reason why no wire with a known speed carries the packets; `None` if one may.
    pub(super) no_wire: Option<&'static str>,
}

/// Creates a kind whose packets may use a wire.
const fn wired(word: &'static str) -> Kind {
    Kind { word, no_wire: None }
}

const fn without(word: &'static str, why: &'static str) -> Kind {
    Kind { word, no_wire: Some(why) }
}

impl Kind {
    const LOOPBACK: Self = without("loopback", "loopback has no link");
    /// A hardware device, or a hypervisor's imitation of one.
    const ETHERNET: Self = wired("ethernet");
    /// One end of a veth pair, usually of a container.
    const VIRTUAL_ETHERNET: Self =
        without("virtual ethernet", "a veth pair has no link; its reported speed is invented");
    /// A hypervisor's device for guests.
    const VIRTIO: Self = without("virtio", "virtio reports no link speed");
    /// A software switch.
    const BRIDGE: Self =
        without("bridge", "packets leave through one of the bridge's ports, which one is unknown");
    /// Several interfaces combined by `bonding` or `team`.
    pub(super) const BOND: Self = wired("bond");
    /// A tagged network on another interface.
    pub(super) const VLAN: Self = wired("vlan");
    /// Encapsulation, or a program that receives the packets.
    const TUNNEL: Self = without("tunnel", "a tunnel has no link of its own");
    /// Ethernet interface of a program, such as a virtual machine.
    const TAP: Self = without("tap", "the other end is a program");
    /// An additional address on another interface, with neighbours on this machine.
    const MACVLAN: Self = without("macvlan", "macvlan neighbours may be on this machine");
    const WIRELESS: Self =
        without("wireless", "the rate of a radio link changes with its reception");
    const INFINIBAND: Self = wired("infiniband");
    /// Another software device.
    const VIRTUAL: Self = without("virtual", "a software device has no link");
    const OTHER: Self = wired("other");
}

const ETHER: u32 = 1;
/// Interface types of tunnels: ARPHRD_PPP, TUNNEL, TUNNEL6, SIT, IPGRE, IP6GRE and NONE (tun,
/// WireGuard).
const TUNNELS: &[u32] = &[512, 768, 769, 776, 778, 823, 65534];
const LOOPBACK: u32 = 772;
const INFINIBAND: u32 = 32;
/// Kinds by the driver's DEVTYPE in `uevent`.
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

/// Returns the kind of a software device that looks like Ethernet and names no kind.
fn software(root: &Root, name: &str) -> Kind {
    let folder = format!("{NET}/{name}");
    let number = |file: &str| root.number::<u32>(&format!("{folder}/{file}")).ok();
    let elsewhere = number("iflink") != number("ifindex");
    match lower(root, name)[..] {
        [_] if elsewhere => Kind::MACVLAN,
        [_, ..] => Kind::BOND,
        // In another network namespace, the peer's number may equal its own by chance; but no other
        // such device has a speed.
        [] if elsewhere || number("speed").is_some() => Kind::VIRTUAL_ETHERNET,
        [] => Kind::VIRTUAL,
    }
}

/// Returns the sorted names of the interfaces below this one.
pub(super) fn lower(root: &Root, name: &str) -> Vec<String> {
    let files = root.names(&format!("{NET}/{name}"), "lower_").unwrap_or_default();
    files.iter().filter_map(|f| f.strip_prefix("lower_")).map(str::to_owned).collect()
}

pub(super) fn driver(root: &Root, name: &str) -> Option<String> {
    value(root, &format!("{NET}/{name}/device/uevent"), "DRIVER")
}

/// Returns a value of a `uevent` file, which has one `KEY=value` per line.
fn value(root: &Root, path: &str, key: &str) -> Option<String> {
    let text = root.read(path).ok()?;
    let values = text.lines().filter_map(|l| l.split_once('='));
    values.filter(|(k, _)| *k == key).map(|(_, v)| v.trim().to_owned()).find(|v| !v.is_empty())
}
