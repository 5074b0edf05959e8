//! Network interface that packets to a peer leave by: its local address, its kind and its line
//! rate.
//!
//! Sources: getifaddrs(3), sysfs(5), Linux `Documentation/ABI/testing/sysfs-class-net`.

mod kind;
mod rate;

use std::net::{IpAddr, Ipv4Addr};

use proofmark_model::{Interface, Probe};

use crate::root::{Reason, Root, probe_from};
use crate::{addresses, virtualisation};

/// Folder of the interfaces of this network namespace.
const NET: &str = "/sys/class/net";

/// Finds the interface with a local address. Without a line rate, the probe's source has the
/// reason.
///
/// Packets between two addresses of one machine use the loopback interface instead: see
/// [`interface_between`].
pub fn interface_to(root: &Root, local: IpAddr) -> Probe<Interface> {
    probe_from(interface_with(root, local).and_then(|name| detect(root, &name)))
}

/// Finds the interface for packets from the local address `local` to `far`. This is the loopback
/// interface if `far` is local too, else the one that has `local`.
pub fn interface_between(root: &Root, local: IpAddr, far: IpAddr) -> Probe<Interface> {
    match is_local(root, far) {
        Ok(true) => interface_to(root, Ipv4Addr::LOCALHOST.into()),
        Ok(false) => interface_to(root, local),
        Err(reason) => Probe::missing(reason),
    }
}

/// True if an address belongs to this machine, in this network namespace.
fn is_local(root: &Root, address: IpAddr) -> Result<bool, Reason> {
    let address = address.to_canonical();
    Ok(address.is_loopback() || root.addresses()?.iter().any(|a| a.ip == address))
}

/// Returns the name of the only interface with an address.
fn interface_with(root: &Root, address: IpAddr) -> Result<String, Reason> {
    // A dual-stack socket reports an IPv4 address as ::ffff:192.0.2.1.
    let address = address.to_canonical();
    let all = root.addresses()?;
    let mut names: Vec<&str> =
        all.iter().filter(|a| a.ip == address).map(|a| a.interface.as_str()).collect();
    if names.is_empty() && address.is_loopback() {
        // If one address of 127.0.0.0/8 is local, all are.
        names = all.iter().filter(|a| a.ip.is_loopback()).map(|a| a.interface.as_str()).collect();
    }
    names.sort_unstable();
    names.dedup();
    match names[..] {
        [] => Err(format!("no interface of this machine has the address {address}")),
        [name] => Ok(name.to_owned()),
        [first, second, ..] => Err(format!(
            "{first} and {second} both have the address {address}; the one that sends is unknown"
        )),
    }
}

/// Returns the addresses by which other machines may reach this one, in this thread's network
/// namespace.
pub fn own_addresses() -> Result<Vec<IpAddr>, String> {
    let is_local = |ip: IpAddr| match ip {
        IpAddr::V4(ip) => ip.is_link_local(),
        IpAddr::V6(ip) => ip.is_unicast_link_local(),
    };
    let leads_here = |ip: &IpAddr| !ip.is_loopback() && !ip.is_unspecified() && !is_local(*ip);
    Ok(addresses::live()?.into_iter().map(|a| a.ip).filter(leads_here).collect())
}

/// Describes an interface and its sources, with the reason for a missing line rate.
fn detect(root: &Root, name: &str) -> Result<(Interface, String), Reason> {
    let folder = format!("{NET}/{name}");
    let mtu = root.number(&format!("{folder}/mtu"))?;
    let driver = kind::driver(root, name);
    let kind = kind::read(root, name)?;
    let rate = rate::detect(root, name, kind, in_virtual_machine(root));
    let none = rate.as_ref().err().map(|why| format!("; no line rate: {why}"));
    let interface = Interface {
        name: name.to_owned(),
        kind: kind.word.to_owned(),
        mtu,
        bits_per_s: rate.ok(),
        driver,
    };
    Ok((interface, format!("getifaddrs, {folder}{}", none.unwrap_or_default())))
}

fn in_virtual_machine(root: &Root) -> bool {
    let cpuid = root.cpuid();
    virtualisation::hypervisor(&virtualisation::detect(root, cpuid.as_ref())).is_some()
}

#[cfg(test)]
mod tests;
