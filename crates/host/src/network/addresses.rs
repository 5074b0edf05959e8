//! Which interface has which address: getifaddrs(3) on the live machine, of a captured
//! one the file `addresses` with an interface and an address a line. No file of the
//! system lists IPv4 addresses with their interfaces.
#![allow(unsafe_code)] // getifaddrs has no safe wrapper here.

use std::ffi::CStr;
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use crate::root::Reason;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Address {
    pub(crate) interface: String,
    pub(crate) ip: IpAddr,
}

impl Address {
    /// The name may be the label of an address, `eth0:1`, on the interface `eth0`.
    fn new(name: &str, ip: IpAddr) -> Self {
        let interface = name.split(':').next().unwrap_or(name).to_owned();
        Self { interface, ip }
    }
}

/// Addresses of the live machine, in the network namespace of this thread.
pub(crate) fn live() -> Result<Vec<Address>, Reason> {
    let list = List::get().map_err(|e| Reason::at("getifaddrs", e))?;
    let mut all = Vec::new();
    let mut next = list.0;
    while !next.is_null() {
        // SAFETY: not null, and of a list that is freed only when `list` goes.
        let entry = unsafe { &*next };
        if let Some(address) = address(entry) {
            all.push(address);
        }
        next = entry.ifa_next;
    }
    Ok(all)
}

/// What getifaddrs gave, given back at the end.
struct List(*mut libc::ifaddrs);

impl List {
    fn get() -> io::Result<Self> {
        let mut head = std::ptr::null_mut();
        // SAFETY: the pointer is to a live pointer of this frame, which is written.
        match unsafe { libc::getifaddrs(&raw mut head) } {
            0 => Ok(Self(head)),
            _ => Err(io::Error::last_os_error()),
        }
    }
}

impl Drop for List {
    fn drop(&mut self) {
        // SAFETY: getifaddrs gave it, and it is freed once.
        unsafe { libc::freeifaddrs(self.0) };
    }
}

/// The address of an entry; `None` where it is none of IP.
fn address(entry: &libc::ifaddrs) -> Option<Address> {
    if entry.ifa_addr.is_null() {
        return None;
    }
    // SAFETY: not null, and every kind of address begins with its family.
    let family = i32::from(unsafe { (*entry.ifa_addr).sa_family });
    let ip: IpAddr = match family {
        libc::AF_INET => {
            // SAFETY: an address of this family is a `sockaddr_in`.
            let v4 = unsafe { entry.ifa_addr.cast::<libc::sockaddr_in>().read_unaligned() };
            Ipv4Addr::from(u32::from_be(v4.sin_addr.s_addr)).into()
        }
        libc::AF_INET6 => {
            // SAFETY: an address of this family is a `sockaddr_in6`.
            let v6 = unsafe { entry.ifa_addr.cast::<libc::sockaddr_in6>().read_unaligned() };
            Ipv6Addr::from(v6.sin6_addr.s6_addr).into()
        }
        _ => return None,
    };
    // SAFETY: getifaddrs names every entry, with a zero at the end.
    let name = unsafe { CStr::from_ptr(entry.ifa_name) };
    Some(Address::new(name.to_str().ok()?, ip))
}

pub(crate) fn parse(text: &str) -> Result<Vec<Address>, Reason> {
    let line = |line: &str| {
        let (name, ip) = line.split_once(' ')?;
        Some(Address::new(name, ip.trim().parse().ok()?))
    };
    let read =
        |l| line(l).ok_or_else(|| Reason::at("/addresses", format!("invalid address '{l}'")));
    text.lines().map(read).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_a_captured_machine() {
        let found = parse("lo 127.0.0.1\neth0:1 192.0.2.2\neth0 fd00::2\n").unwrap();
        let names: Vec<_> = found.iter().map(|a| a.interface.as_str()).collect();
        assert_eq!(names, ["lo", "eth0", "eth0"], "a label is not the interface's name");
        assert_eq!(found[2].ip, "fd00::2".parse::<IpAddr>().unwrap());
        for bad in ["lo", "lo ", "lo 127.0.0", "lo 1.2.3.4/8", ""] {
            let text = format!("lo ::1\n{bad}\n");
            assert!(parse(&text).unwrap_err().0.contains("invalid address"), "{bad:?}");
        }
    }

    #[test]
    fn the_live_machine_has_the_address_that_a_socket_of_it_has() {
        let socket = std::net::UdpSocket::bind("127.0.0.1:0").unwrap();
        let own = socket.local_addr().unwrap().ip();
        let all = live().unwrap();
        assert!(all.iter().any(|a| a.ip == own), "{all:?}");
        assert!(all.iter().all(|a| !a.interface.contains(':')), "{all:?}");
    }
}
