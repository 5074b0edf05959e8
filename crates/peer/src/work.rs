//! What the server does for a session: supplied by whoever runs a [`crate::Server`].

use std::io;
use std::net::{SocketAddr, TcpStream};

use proofmark_model::Interface;
use serde_json::Value;

use crate::bounds::Bounds;

/// The two ends of a control connection, as the kernel of this machine sees them. An IPv4 address
/// that came in at an IPv6 socket is reported as the IPv4 address that it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ends {
    /// This end.
    pub local: SocketAddr,
    /// The other end: its address was verified by the TCP handshake, and on a channel by the key.
    pub peer: SocketAddr,
}

impl Ends {
    pub(crate) fn from_stream(stream: &TcpStream) -> io::Result<Self> {
        Ok(Self { local: plain(stream.local_addr()?), peer: plain(stream.peer_addr()?) })
    }

    /// Whether both are addresses of one machine, so that no wire is between them. Two
    /// addresses of one machine that differ are not known as such here.
    pub fn one_machine(&self) -> bool {
        let (local, peer) = (self.local.ip(), self.peer.ip());
        peer.is_loopback() || peer == local
    }
}

/// The address with an IPv4 address in IPv6's clothing taken out of it.
fn plain(address: SocketAddr) -> SocketAddr {
    match address.ip().to_canonical() {
        // The scope of an IPv6 address is kept.
        ip if ip == address.ip() => address,
        ip => SocketAddr::new(ip, address.port()),
    }
}

/// The server's side of jobs. A panic in it costs the job, never the server.
pub trait Work: Send + Sync {
    /// This machine's interface to the client, where that is known.
    fn interface(&self, _ends: Ends) -> Option<Interface> {
        None
    }

    /// The CPUs that this end may use; none where its system does not report.
    fn cpus(&self) -> Vec<u32> {
        Vec::new()
    }

    /// Prepares one task a stream for `job`, whose shape is between this and the client. At most
    /// 256. Else why it will not do the job, in a sentence for the user of the client.
    fn open(&self, job: &Value, ends: Ends) -> Result<Vec<Box<dyn Task>>, String>;

    /// What this machine's counters of network traffic show now; in JSON at most 60,000 bytes.
    fn counters(&self, ends: Ends) -> Value;
}

/// The server of one stream.
pub trait Task: Send {
    /// What the client must know about it, such as a UDP port.
    fn describe_stream(&self) -> Value;

    /// Does it, on a thread of its own, until `data` or the session ends. When the session ends
    /// `data` is shut down; whatever else it waits on, it must not wait on for long without asking
    /// [`Bounds::ended`]. `data` is closed when this returns, even if a clone of it is kept.
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
