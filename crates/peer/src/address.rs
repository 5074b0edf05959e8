//! Address of a server.

use std::fmt;
use std::io;
use std::net::{Ipv6Addr, SocketAddr, ToSocketAddrs};
use std::str::FromStr;

use thiserror::Error;

/// Default TCP and UDP port of a server.
pub const DEFAULT_PORT: u16 = 5277;

/// Host and port of a server as users write them: `HOST[:PORT]`. The host is a name, an IPv4
/// address, or an IPv6 address, bare or in brackets (`[fe80::1%eth0]:5277`).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Address {
    /// Name or IP address, without brackets.
    pub host: String,
    /// Port; [`DEFAULT_PORT`] if none was given.
    pub port: u16,
}

/// Reason why a text is not an address.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("invalid peer address `{text}`: {why}; write HOST, HOST:PORT or [IPV6]:PORT")]
pub struct AddressError {
    text: String,
    why: &'static str,
}

impl Address {
    /// Resolves the host's name to socket addresses, in the system's order.
    pub(crate) fn resolve(&self) -> io::Result<Vec<SocketAddr>> {
        Ok((self.host.as_str(), self.port).to_socket_addrs()?.collect())
    }
}

impl FromStr for Address {
    type Err = AddressError;

    fn from_str(text: &str) -> Result<Self, AddressError> {
        let fail = |why| AddressError { text: text.to_owned(), why };
        let (host, port) = split(text).map_err(fail)?;
        let strange = |c: char| c.is_whitespace() || c.is_control() || "/[]@".contains(c);
        if host.is_empty() {
            return Err(fail("the host is missing"));
        }
        if host.contains(strange) {
            return Err(fail("it holds more than a host and a port"));
        }
        let port = match port {
            None => DEFAULT_PORT,
            // `parse` would accept a sign.
            Some(text) if text.starts_with('+') => 0,
            Some(text) => text.parse().unwrap_or(0),
        };
        if port == 0 {
            return Err(fail("a port is a number from 1 to 65535"));
        }
        Ok(Self { host: host.to_owned(), port })
    }
}

/// Splits a text into the host without brackets and the text of the port.
fn split(text: &str) -> Result<(&str, Option<&str>), &'static str> {
    if let Some(rest) = text.strip_prefix('[') {
        let (host, after) = rest.split_once(']').ok_or("the closing bracket is missing")?;
        let port = match after.strip_prefix(':') {
            None if after.is_empty() => None,
            None => return Err("only a colon and a port may follow the bracket"),
            port => port,
        };
        return is_v6(host).then_some((host, port)).ok_or("brackets are for IPv6 addresses");
    }
    match text.split_once(':') {
        None => Ok((text, None)),
        Some(_) if is_v6(text) => Ok((text, None)),
        Some((_, port)) if port.contains(':') => Err("it is not an IPv6 address"),
        Some((host, port)) => Ok((host, Some(port))),
    }
}

fn is_v6(host: &str) -> bool {
    let (address, zone) = host.split_once('%').map_or((host, None), |(a, z)| (a, Some(z)));
    address.parse::<Ipv6Addr>().is_ok() && zone != Some("")
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { host, port } = self;
        if host.contains(':') { write!(f, "[{host}]:{port}") } else { write!(f, "{host}:{port}") }
    }
}

impl From<SocketAddr> for Address {
    fn from(address: SocketAddr) -> Self {
        let host = match address {
            SocketAddr::V6(v6) if v6.scope_id() != 0 => format!("{}%{}", v6.ip(), v6.scope_id()),
            _ => address.ip().to_string(),
        };
        Self { host, port: address.port() }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn parsed(text: &str) -> (String, u16) {
        let address: Address = text.parse().unwrap();
        (address.host, address.port)
    }

    #[test]
    fn names_and_numbers_with_and_without_a_port() {
        let host = |host: &str, port| (host.to_owned(), port);
        assert_eq!(parsed("far.example"), host("far.example", 5277));
        assert_eq!(parsed("far.example:80"), host("far.example", 80));
        assert_eq!(parsed("10.0.0.2:65535"), host("10.0.0.2", 65535));
        assert_eq!(parsed("::1"), host("::1", 5277));
        assert_eq!(parsed("fe80::1%eth0"), host("fe80::1%eth0", 5277));
        assert_eq!(parsed("[::1]"), host("::1", 5277));
        assert_eq!(parsed("[fe80::1%2]:80"), host("fe80::1%2", 80));
    }

    #[test]
    fn what_is_no_address_is_refused() {
        let parts =
            ["", ":80", "a:", "a:0", "a:65536", "a:+80", "a:b:c", "[::1", "[a]:80", "[::1]80"];
        let more = ["http://a:80", "a b", "a\n", "me@a", "fe80::1%", "a]:80"];
        for text in parts.iter().chain(&more) {
            assert!(text.parse::<Address>().is_err(), "{text}");
        }
    }

    #[test]
    fn literals_resolve_to_themselves() {
        for text in ["127.0.0.1:80", "[::1]:80"] {
            let address: Address = text.parse().unwrap();
            assert_eq!(address.resolve().unwrap(), [text.parse().unwrap()]);
            assert_eq!(address.to_string(), text);
            assert_eq!(Address::from(address.resolve().unwrap()[0]), address);
        }
    }

    proptest! {
        #[test]
        fn no_text_panics_and_what_is_taken_reads_back(text in "[\\[]?[a:1%\\PC]{0,12}[\\]]?(:[0-9]{0,6})?") {
            if let Ok(address) = text.parse::<Address>() {
                prop_assert_eq!(address.to_string().parse::<Address>().unwrap(), address);
            }
        }
    }
}
