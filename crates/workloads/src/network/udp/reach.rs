//! Before a stream's first datagram the client shows that its UDP socket is its own: it
//! sends the stream's token from there. The server sends nothing to a port from which that
//! has not come, and whatever is between the two has then seen the way from the inside.

use std::net::UdpSocket;
use std::time::{Duration, Instant};

use proofmark_peer::Token;

use crate::network::job::Target;
use crate::network::line::{Line, broken, waits};
use crate::network::wire::{Reached, Request};

/// How long the client tries: a busy machine may let neither end run for seconds.
const TRIES: Duration = Duration::from_secs(10);

/// The client: sends the token until the server says that it came.
pub(in crate::network) fn client(
    line: &Line,
    socket: &UdpSocket,
    target: Target,
) -> Result<(), String> {
    let start = Instant::now();
    while start.elapsed() < TRIES {
        // A later call reports that the port is closed; it is tried again.
        let _ = socket.send(&target.token.bytes());
        if line.receive_soon::<Reached>()?.is_some() {
            return Ok(());
        }
    }
    let address = target.address;
    Err(format!("UDP port {} of {} is not reachable", address.port(), address.ip()))
}

/// The server: waits for the token, and says that it came.
pub(in crate::network) fn server(
    line: &Line,
    socket: &UdpSocket,
    token: Token,
) -> Result<(), String> {
    let token = token.bytes();
    let mut bytes = [0; size_of::<Token>() + 1];
    loop {
        match socket.recv(&mut bytes) {
            Ok(n) if bytes[..n] == token => return line.send(&Reached { bytes: n as u64 }),
            Ok(_) => {}
            Err(e) if waits(&e) => {}
            Err(e) => return Err(broken(&e)),
        }
        line.patience.check(Instant::now())?;
        // It asks for nothing before that; but it may have gone.
        if line.receive_now::<Request>()?.is_some() {
            return Err("it asked before its datagrams came".to_owned());
        }
    }
}
