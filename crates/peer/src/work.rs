//! Interface to the server's work, supplied by the owner of a [`crate::Server`].

use std::io;
use std::net::{SocketAddr, TcpStream};

use proofmark_model::Interface;
use serde_json::Value;

use crate::bounds::Bounds;

/// The two ends of a control connection, as this machine's kernel sees them. IPv4-mapped IPv6
/// addresses are converted to IPv4.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ends {
    /// This end.
    pub local: SocketAddr,
    /// The other end. The TCP handshake verified its address; on a channel, so did the key.
    pub peer: SocketAddr,
}

impl Ends {
    pub(crate) fn from_stream(stream: &TcpStream) -> io::Result<Self> {
        Ok(Self { local: plain(stream.local_addr()?), peer: plain(stream.peer_addr()?) })
    }

    /// True if both addresses are of one machine by their value, so that no wire is between them.
    /// Different addresses of one machine are not recognised here.
    pub fn one_machine(&self) -> bool {
        let (local, peer) = (self.local.ip(), self.peer.ip());
        peer.is_loopback() || peer == local
    }
}

/// Converts an IPv4-mapped IPv6 address to IPv4.
fn plain(address: SocketAddr) -> SocketAddr {
    match address.ip().to_canonical() {
        // Keep the scope of an IPv6 address.
        ip if ip == address.ip() => address,
        ip => SocketAddr::new(ip, address.port()),
    }
}

/// The server's side of jobs. A panic ends the job, never the server.
pub trait Work: Send + Sync {
    /// Returns this machine's interface to the client, if known.
    fn interface(&self, _ends: Ends) -> Option<Interface> {
        None
    }

    /// Returns the CPUs that this end may use; empty if unknown.
    fn cpus(&self) -> Vec<u32> {
        Vec::new()
    }

    /// Prepares one task per stream of `job`, at most 256, or returns the reason for the client's
    /// user.
    fn open(&self, job: &Value, ends: Ends) -> Result<Vec<Box<dyn Task>>, String>;

    /// Reads this machine's counters of network traffic; at most 60,000 bytes of JSON.
    fn counters(&self, ends: Ends) -> Value;
}

/// Server of one stream.
pub trait Task: Send {
    /// Returns what the client must know of the stream, such as a UDP port.
    fn describe_stream(&self) -> Value;

    /// Runs on a thread of its own until `data` or the session ends. The end of the session shuts
    /// `data` down; during any other wait, poll [`Bounds::ended`]. `data` is closed on return, even
    /// if a clone of it is kept.
    fn run(self: Box<Self>, data: TcpStream, bounds: &Bounds);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_machine_is_shown_by_its_addresses() {
        for (local, peer, one) in [
            ("127.0.0.1:1", "127.0.0.2:2", true),
            ("[::1]:1", "[::1]:2", true),
            ("10.0.0.1:1", "10.0.0.1:2", true),
            ("10.0.0.1:1", "10.0.0.2:1", false),
            ("[fe80::1%3]:1", "[fe80::2%3]:1", false),
        ] {
            let ends = Ends { local: local.parse().unwrap(), peer: peer.parse().unwrap() };
            assert_eq!(ends.one_machine(), one, "{ends:?}");
        }
    }

    #[test]
    fn ipv4_within_ipv6_is_ipv4() {
        let plain = |text: &str| plain(text.parse().unwrap()).to_string();
        assert_eq!(plain("[::ffff:10.0.0.2]:7"), "10.0.0.2:7");
        assert_eq!(plain("10.0.0.2:7"), "10.0.0.2:7");
        assert_eq!(plain("[fe80::1%3]:7"), "[fe80::1%3]:7");
    }
}
