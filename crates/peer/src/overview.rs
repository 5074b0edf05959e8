//! Description of a server, available without a session.

use proofmark_model::{Interface, ServerEnd};

use crate::VERSION;
use crate::address::Address;
use crate::call::{connect_first, unexpected_answer};
use crate::error::PeerError;
use crate::key::Key;
use crate::message::{Limits, ToClient, ToServer, excerpt};
use crate::this_host::{boot_id, raw_ns};
use crate::work::Ends;

/// Description of an authenticated server.
#[derive(Debug, Clone, PartialEq)]
pub struct Overview {
    /// The server's machine, as it reports it.
    pub server: ServerEnd,
    /// The server's interface to this end, if it reports one.
    pub server_interface: Option<Interface>,
    /// Maximum limits of a session.
    pub limits: Limits,
    /// The two ends of the connection; the client is `local`.
    pub ends: Ends,
    /// Raw clocks: here before the request, there at the answer, here after it.
    pub clocks_ns: [u64; 3],
}

impl Overview {
    /// Requests the description.
    ///
    /// # Errors
    ///
    /// [`PeerError::Forwarded`] if an address of this machine leads to another one: its results
    /// would pass for loopback.
    pub fn fetch(address: &Address, key: &Key) -> Result<Self, PeerError> {
        let asked_ns = raw_ns();
        match connect_first(address, key, &ToServer::Look { version: VERSION.to_owned() })? {
            (to, channel, ToClient::Overview { host, interface, limits, raw_ns: there_ns }) => {
                let ends = Ends::from_stream(channel.stream());
                let ends = ends.map_err(|source| PeerError::Broken(to, source))?;
                if forwarded(ends, boot_id().as_deref(), host.boot_id.as_deref()) {
                    return Err(PeerError::Forwarded(to));
                }
                let server_interface = interface.map(|i| sanitized_interface(*i));
                let clocks_ns = [asked_ns, there_ns, raw_ns()];
                Ok(Self { server: sanitized(*host), server_interface, limits, ends, clocks_ns })
            }
            (to, _, answer) => Err(unexpected_answer(to, answer)),
        }
    }
}

/// True if an address of this machine leads to another: both boot ids are known and differ.
fn forwarded(ends: Ends, here: Option<&str>, there: Option<&str>) -> bool {
    ends.one_machine() && here.zip(there).is_some_and(|(here, there)| here != there)
}

/// Makes the texts of a machine safe to print.
fn sanitized(server: ServerEnd) -> ServerEnd {
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

/// Makes the texts of an interface safe to print.
fn sanitized_interface(server: Interface) -> Interface {
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
