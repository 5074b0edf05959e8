//! What a client may know of a server before it asks for a session.

use proofmark_model::{Interface, ServerEnd};

use crate::VERSION;
use crate::address::Address;
use crate::call::{other, reach};
use crate::error::PeerError;
use crate::key::Key;
use crate::message::{Limits, ToClient, ToServer, excerpt};
use crate::this_host::{boot_id, raw_ns};
use crate::work::Ends;

/// A server that holds the key and has no session, as it reported when it was asked.
#[derive(Debug, Clone, PartialEq)]
pub struct Overview {
    /// Its machine, as it reports it.
    pub server: ServerEnd,
    /// Its interface to this end, where it reports it.
    pub server_interface: Option<Interface>,
    /// The most that it grants a session.
    pub limits: Limits,
    /// The two ends of the connection on which it was asked; the client is `local`.
    pub ends: Ends,
    /// The raw clock here before it was asked, there when it answered, and here after that.
    pub clocks_ns: [u64; 3],
}

impl Overview {
    /// Asks for it. [`PeerError::Forwarded`] if an address of this machine leads to another: what
    /// was measured there would pass for this one's loopback.
    pub fn fetch(address: &Address, key: &Key) -> Result<Self, PeerError> {
        let asked_ns = raw_ns();
        match reach(address, key, &ToServer::Look { version: VERSION.to_owned() })? {
            (to, channel, ToClient::Overview { host, interface, limits, raw_ns: there_ns }) => {
                let ends = Ends::from_stream(channel.stream());
                let ends = ends.map_err(|source| PeerError::Broken(to, source))?;
                if forwarded(ends, boot_id().as_deref(), host.boot_id.as_deref()) {
                    return Err(PeerError::Forwarded(to));
                }
                let server_interface = interface.map(|i| shown_interface(*i));
                let clocks_ns = [asked_ns, there_ns, raw_ns()];
                Ok(Self { server: shown(*host), server_interface, limits, ends, clocks_ns })
            }
            (to, _, answer) => Err(other(to, answer)),
        }
    }
}

/// Whether an address of this machine leads to another: both boot ids are known, and differ.
fn forwarded(ends: Ends, here: Option<&str>, there: Option<&str>) -> bool {
    ends.one_machine() && here.zip(there).is_some_and(|(here, there)| here != there)
}

/// A machine whose words can be shown.
fn shown(server: ServerEnd) -> ServerEnd {
    let text = |text: String| excerpt(&text);
    ServerEnd {
        name: text(server.name),
        boot_id: server.boot_id.map(text),
        cpu: server.cpu.map(text),
        os: text(server.os),
        version: text(server.version),
        ..server
    }
}

/// An interface whose words can be shown.
fn shown_interface(server: Interface) -> Interface {
    let text = |text: String| excerpt(&text);
    Interface {
        name: text(server.name),
        kind: text(server.kind),
        driver: server.driver.map(text),
        ..server
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_forwarder_is_known_by_two_boot_ids_at_one_machine() {
        let ends = |peer: &str| Ends {
            local: "127.0.0.1:1".parse().unwrap(),
            peer: peer.parse().unwrap(),
        };
        for (peer, here, there, is) in [
            ("127.0.0.1:2", Some("a"), Some("b"), true),
            ("127.0.0.1:2", Some("a"), Some("a"), false),
            ("127.0.0.1:2", None, Some("b"), false),
            ("127.0.0.1:2", Some("a"), None, false),
            ("10.0.0.2:2", Some("a"), Some("b"), false),
        ] {
            assert_eq!(forwarded(ends(peer), here, there), is, "{peer} {here:?} {there:?}");
        }
    }
}
