//! Errors of the client.

use std::io;
use std::net::SocketAddr;
use std::time::Duration;

use thiserror::Error;

use crate::VERSION;

/// Reason why there is no session, or no longer one. Each message has the cause and the action in
/// one line.
#[derive(Debug, Error)]
pub enum PeerError {
    /// The host name cannot be resolved.
    #[error("cannot resolve {0} ({1}); name the peer by its IP address")]
    Unresolved(String, #[source] io::Error),
    /// Connections to the address fail.
    #[error(
        "no server at {0} ({1}); start `proofmark serve` there, with --bind and an address that \
         this machine can reach"
    )]
    NoServer(SocketAddr, #[source] io::Error),
    /// The server closed the connection before authentication.
    #[error(
        "{0} closed the connection before authentication; check that both ends have the same key \
         file"
    )]
    Silent(SocketAddr),
    /// The server accepted the connection and did not answer in time.
    #[error("{0} did not answer within {seconds} s; check that it runs `proofmark serve`", seconds = .1.as_secs())]
    NoAnswer(SocketAddr, Duration),
    /// The program at the address does not hold the key.
    #[error(
        "the program at {0} is not a `proofmark serve` with this key; check the address and the key"
    )]
    NoKey(SocketAddr),
    /// An address of this machine forwards to another machine.
    #[error(
        "{0} is a forwarder to another machine (the boot ids differ); use that machine's own \
         address"
    )]
    Forwarded(SocketAddr),
    /// Another run is in progress, for at most so many seconds.
    #[error("{0} is busy with another run, for at most {1} s; try again then")]
    Busy(SocketAddr, u64),
    /// The server uses this other version of the protocol.
    #[error("{0} runs version {1}, this machine {VERSION}; use the same build on both")]
    Version(SocketAddr, String),
    /// The server authenticated the client and refuses, for this reason.
    #[error("{0} refused: {1}")]
    Refused(SocketAddr, String),
    /// The connection of a session failed.
    #[error("the connection to {0} failed ({1}); check the server's log and repeat the run")]
    Broken(SocketAddr, #[source] io::Error),
    /// The server's answer does not match the request.
    #[error("the answer of {0} does not match the request; use the same build on both ends")]
    Unexpected(SocketAddr),
    /// The environment variable holds no invitation.
    #[error("{0} does not hold an invitation; only `proofmark run` sets it")]
    NoInvitation(&'static str),
}
