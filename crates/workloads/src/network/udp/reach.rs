//! Authentication of the client's UDP socket. Before a stream's first datagram the client sends the
//! stream's token from its socket. The server sends nothing to a port from which the token has not
//! arrived. The token also opens the way through firewalls and address translators between the
//! ends.

use std::net::UdpSocket;
use std::time::{Duration, Instant};

use proofmark_peer::Token;

use crate::network::job::Target;
use crate::network::line::{Line, broken, waits};
use crate::network::wire::{Reached, Request};

/// Time for which the client tries. A busy machine may not run either end for seconds.
const TRIES: Duration = Duration::from_secs(10);

/// Runs the client: sends the token until the server reports that it arrived.
pub(in crate::network) fn client(
    line: &Line,
    socket: &UdpSocket,
    target: Target,
) -> Result<(), String> {
    let start = Instant::now();
    while start.elapsed() < TRIES {
        // The error of a closed port comes with a later call, so errors are ignored here.
        let _ = socket.send(&target.token.bytes());
        if line.receive_soon::<Reached>()?.is_some() {
            return Ok(());
        }
    }
    let address = target.address;
    Err(format!("UDP port {} of {} is not reachable", address.port(), address.ip()))
}

/// Runs the server: waits for the token, and reports that it arrived.
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
        // The client sends no request before that, but it may have closed the connection.
        if line.receive_now::<Request>()?.is_some() {
            return Err("the client sent a request before its UDP token arrived".to_owned());
        }
    }
}
