//! What the client may have to tell its user.

use std::io;
use std::time::Duration;

use thiserror::Error;

use crate::VERSION;

/// Why there is no session, or none any more. Each says in one line what to do.
#[derive(Debug, Error)]
pub enum PeerError {
    /// The host's name means nothing.
    #[error("{host} cannot be resolved ({source}); name the peer by its IP address")]
    Unresolved {
        /// The name.
        host: String,
        /// What the system says.
        source: io::Error,
    },
    /// Nothing listens there, or nothing gets there.
    #[error(
        "no server at {address} ({source}); start `proofmark serve` there, bound to an address \
         that this machine reaches"
    )]
    NoServer {
        /// Host and port.
        address: String,
        /// What the system says.
        source: io::Error,
    },
    /// The connection was closed before the key was proved.
    #[error(
        "{address} closed the connection without a word; the keys may differ: give this end the \
         server's key file"
    )]
    Silent {
        /// Host and port.
        address: String,
    },
    /// The connection was taken, and then there was nothing.
    #[error("{address} did not answer within {} s; is it `proofmark serve`?", waited.as_secs())]
    NoAnswer {
        /// Host and port.
        address: String,
        /// How long it was waited for.
        waited: Duration,
    },
    /// What answers does not hold the key.
    #[error("what answers at {address} is no `proofmark serve` with this key; check the address")]
    Stranger {
        /// Host and port.
        address: String,
    },
    /// An address of this machine leads to another one.
    #[error(
        "{address} leads to another machine (boot ids differ), through a forwarder: give that \
         machine's own address"
    )]
    Forwarded {
        /// Host and port.
        address: String,
    },
    /// Another run is served.
    #[error("{address} serves another run, for {seconds} s at most; try again then")]
    Busy {
        /// Host and port.
        address: String,
        /// Seconds until the other session must end.
        seconds: u64,
    },
    /// The ends do not speak the same protocol.
    #[error("{address} runs version {server}, this end {VERSION}; use the same build on both ends")]
    Version {
        /// Host and port.
        address: String,
        /// The server's.
        server: String,
    },
    /// The server knows the key and will not do it.
    #[error("{address} refused: {reason}")]
    Refused {
        /// Host and port.
        address: String,
        /// Why.
        reason: String,
    },
    /// The connection of a session broke.
    #[error(
        "the connection to {address} broke ({source}); look at the server's log, and run again"
    )]
    Broken {
        /// Host and port.
        address: String,
        /// What the system says.
        source: io::Error,
    },
    /// The server holds the key and answers something else than was asked.
    #[error("{address} answered something else than was asked; use the same build on both ends")]
    Unexpected {
        /// Host and port.
        address: String,
    },
    /// The environment variable of an invitation holds none.
    #[error("{variable} holds no invitation to a session; it is set by `proofmark run` alone")]
    NoInvitation {
        /// The variable.
        variable: &'static str,
    },
}
