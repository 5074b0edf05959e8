//! Addresses of interfaces: getifaddrs(3) on the live machine, the file `addresses` of a captured
//! one. No file of the system lists IPv4 addresses with their interfaces.

use std::net::IpAddr;

use crate::reason::{Reason, fault};

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Address {
    pub(crate) interface: String,
    pub(crate) ip: IpAddr,
}

impl Address {
    /// A name may be an address label such as `eth0:1`, on the interface `eth0`.
    fn new(name: &str, ip: IpAddr) -> Self {
        let interface = name.split(':').next().unwrap_or(name).to_owned();
        Self { interface, ip }
    }
}

/// Returns the addresses of the live machine, in this thread's network namespace.
pub(crate) fn live() -> Result<Vec<Address>, Reason> {
    let all = if_addrs::get_if_addrs().map_err(|e| fault("getifaddrs", e))?;
    Ok(all.iter().map(|a| Address::new(&a.name, a.ip())).collect())
}

pub(crate) fn parse(text: &str) -> Result<Vec<Address>, Reason> {
    let line = |line: &str| {
        let (name, ip) = line.split_once(' ')?;
        Some(Address::new(name, ip.trim().parse().ok()?))
    };
    let read = |l| line(l).ok_or_else(|| fault("/addresses", format!("invalid address '{l}'")));
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
            assert!(parse(&text).unwrap_err().contains("invalid address"), "{bad:?}");
        }
    }
}
