//! What the client may have to tell its user.

use std::io;
use std::net::SocketAddr;
use std::time::Duration;

use thiserror::Error;

use crate::VERSION;

/// Why there is no session, or none any more. Each says in one line what to do.
#[derive(Debug, Error)]
pub enum PeerError {
    /// The host's name means nothing.
    #[error("cannot resolve {0} ({1}); name the peer by its IP address")]
    Unresolved(String, #[source] io::Error),
    /// Nothing listens there, or nothing gets there.
    #[error(
        "no server at {0} ({1}); start `proofmark serve` there, with --bind and an address that \
         this machine can reach"
    )]
    NoServer(SocketAddr, #[source] io::Error),
    /// The connection was closed before the key was proved.
    #[error(
        "{0} closed the connection before authentication; check that both ends have the same key \
         file"
    )]
    Silent(SocketAddr),
    /// The connection was taken, and nothing came for so long.
    #[error("{0} did not answer within {seconds} s; check that it runs `proofmark serve`", seconds = .1.as_secs())]
    NoAnswer(SocketAddr, Duration),
    /// What answers does not hold the key.
    #[error(
        "the program at {0} is not a `proofmark serve` with this key; check the address and the key"
    )]
    NoKey(SocketAddr),
    /// An address of this machine leads to another one.
    #[error(
        "{0} is a forwarder to another machine (the boot ids differ); use that machine's own \
         address"
    )]
    Forwarded(SocketAddr),
    /// Another run is served, for so many seconds at most.
    #[error("{0} is busy with another run, for at most {1} s; try again then")]
    Busy(SocketAddr, u64),
    /// The server speaks another version of the protocol, which is named.
    #[error("{0} runs version {1}, this machine {VERSION}; use the same build on both")]
    Version(SocketAddr, String),
    /// The server knows the key and will not do it, for this reason.
    #[error("{0} refused: {1}")]
    Refused(SocketAddr, String),
    /// The connection of a session broke.
    #[error("the connection to {0} failed ({1}); check the server's log and repeat the run")]
    Broken(SocketAddr, #[source] io::Error),
    /// The server holds the key and answers something else than was asked.
    #[error("the answer of {0} does not match the request; use the same build on both ends")]
    Unexpected(SocketAddr),
    /// The environment variable of an invitation holds none.
    #[error("{0} does not hold an invitation; only `proofmark run` sets it")]
    NoInvitation(&'static str),
}
