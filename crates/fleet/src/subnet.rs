//! Range of IP addresses with a common prefix.

use std::fmt;
use std::net::IpAddr;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// Subnet such as `10.1.0.0/16`: all addresses that start with the same bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub struct Subnet {
    address: IpAddr,
    bits: u8,
}

impl Subnet {
    /// True if an address belongs to the subnet.
    pub fn has(&self, address: IpAddr) -> bool {
        let all = |ip: IpAddr| match ip.to_canonical() {
            IpAddr::V4(ip) => (32_u32, u128::from(ip.to_bits())),
            IpAddr::V6(ip) => (128, ip.to_bits()),
        };
        let ((length, own), (other, seen)) = (all(self.address), all(address));
        let after = length.saturating_sub(u32::from(self.bits));
        length == other && (own ^ seen).checked_shr(after).unwrap_or(0) == 0
    }
}

impl FromStr for Subnet {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let read = || {
            let (address, bits) = text.split_once('/')?;
            let address: IpAddr = address.parse().ok()?;
            let most = if address.is_ipv4() { 32 } else { 128 };
            let bits: u8 = bits.parse().ok()?;
            (bits <= most).then_some(Self { address, bits })
        };
        read().ok_or_else(|| "expected a subnet such as 10.1.0.0/16".to_owned())
    }
}

impl TryFrom<String> for Subnet {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        text.parse()
    }
}

impl From<Subnet> for String {
    fn from(subnet: Subnet) -> Self {
        subnet.to_string()
    }
}

impl fmt::Display for Subnet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.address, self.bits)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_that_begin_alike_are_in_it() {
        for (subnet, address, is_in) in [
            ("10.1.0.0/16", "10.1.255.3", true),
            ("10.1.0.0/16", "10.2.0.3", false),
            ("10.1.0.0/16", "::ffff:10.1.0.3", true),
            ("10.1.2.3/32", "10.1.2.3", true),
            ("10.1.2.3/32", "10.1.2.2", false),
            ("0.0.0.0/0", "192.0.2.1", true),
            ("0.0.0.0/0", "2001:db8::1", false),
            ("::/0", "2001:db8::1", true),
            ("2001:db8::/32", "2001:db9::1", false),
        ] {
            let subnet: Subnet = subnet.parse().unwrap();
            assert_eq!(subnet.has(address.parse().unwrap()), is_in, "{subnet} {address}");
        }
        for wrong in ["", "10.1.0.0", "10.1.0.0/33", "10.1/16", "::/129", "a/8", "10.0.0.0/-1"] {
            assert!(wrong.parse::<Subnet>().is_err(), "{wrong}");
        }
    }
}
