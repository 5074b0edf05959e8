//! What the client may have to tell its user.

use std::io;
use std::time::Duration;

use thiserror::Error;

use crate::VERSION;

/// Why there is no session, or none any more. Each says in one line what to do.
#[derive(Debug, Error)]
pub enum PeerError {
    /// The host's name means nothing.
    #[error("cannot resolve {host} ({source}); name the peer by its IP address")]
    Unresolved {
        /// The name.
        host: String,
        /// What the system says.
        source: io::Error,
    },
    /// Nothing listens there, or nothing gets there.
    #[error(
        "no server at {address} ({source}); start `proofmark serve` there, with --bind and an \
         address that this machine can reach"
    )]
    NoServer {
        /// Host and port.
        address: String,
        /// What the system says.
        source: io::Error,
    },
    /// The connection was closed before the key was proved.
    #[error(
        "{address} closed the connection before authentication; check that both ends have the same \
         key file"
    )]
    Silent {
        /// Host and port.
        address: String,
    },
    /// The connection was taken, and then there was nothing.
    #[error("{address} did not answer within {} s; check that it runs `proofmark serve`", waited.as_secs())]
    NoAnswer {
        /// Host and port.
        address: String,
        /// How long it was waited for.
        waited: Duration,
    },
    /// What answers does not hold the key.
    #[error(
        "the program at {address} is not a `proofmark serve` with this key; check the address \
             and the key"
    )]
    Stranger {
        /// Host and port.
        address: String,
    },
    /// An address of this machine leads to another one.
    #[error(
        "{address} is a forwarder to another machine (the boot ids differ); use that machine's own \
         address"
    )]
    Forwarded {
        /// Host and port.
        address: String,
    },
    /// Another run is served.
    #[error("{address} is busy with another run, for at most {seconds} s; try again then")]
    Busy {
        /// Host and port.
        address: String,
        /// Seconds until the other session must end.
        seconds: u64,
    },
    /// The ends do not speak the same protocol.
    #[error("{address} runs version {server}, this machine {VERSION}; use the same build on both")]
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
        "the connection to {address} failed ({source}); check the server's log and repeat the run"
    )]
    Broken {
        /// Host and port.
        address: String,
        /// What the system says.
        source: io::Error,
    },
    /// The server holds the key and answers something else than was asked.
    #[error("the answer of {address} does not match the request; use the same build on both ends")]
    Unexpected {
        /// Host and port.
        address: String,
    },
    /// The environment variable of an invitation holds none.
    #[error("{variable} does not hold an invitation; only `proofmark run` sets it")]
    NoInvitation {
        /// The variable.
        variable: &'static str,
    },
}
