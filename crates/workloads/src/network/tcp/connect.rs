//! Connections per second. Each connection is opened, accepted, authenticated by the stream's
//! token, and answered with one byte. It ends by a reset, so that neither system keeps state that
//! the next one would meet.

use std::io::{Read, Write};
use std::net::TcpListener;
use std::time::Instant;

use proofmark_peer::Token;

use crate::network::client::ClientSide;
use crate::network::job::Target;
use crate::network::line::{Line, Patience, SILENCE, broken, waits};
use crate::network::server::{Serve, Served};
use crate::network::socket;
use crate::network::tally::Tally;
use crate::network::wire::{Report, Request, Sent};
use proofmark_engine::raw_ns;

/// The server's answer to a connection of the client.
const HELLO: u8 = b'!';

pub(in crate::network) struct ClientEnd(pub(in crate::network) Target);

impl ClientEnd {
    fn connect(&self) -> Result<(), String> {
        let connection = socket::dial(self.0.address, SILENCE).map_err(|e| broken(&e))?;
        let line = Line::new(&connection, Patience::For(SILENCE));
        line.write_all(&self.0.token.bytes())?;
        let mut hello = [0];
        line.read_exact(&mut hello)?;
        if hello != [HELLO] {
            return Err("another program answers at the server's port".to_owned());
        }
        Ok(())
    }
}

impl ClientSide for ClientEnd {
    fn run(&mut self, line: &Line, request: Request, tally: &mut Tally) -> Result<(), String> {
        let count = request.count;
        let mut before = raw_ns();
        for _ in 0..count {
            self.connect()?;
            let after = raw_ns();
            tally.latencies.record(after - before);
            before = after;
        }
        line.send(&Sent { count, ..Sent::default() })?;
        let report = tally.report(line, (count, 1))?;
        tally.add_bytes(report.bytes, count);
        tally.counted += report.blocks.min(count);
        Ok(())
    }
}

/// The server: accepts the requested number of connections that send the token. It also ends when
/// the client reports that it has opened all of them.
pub(in crate::network) struct ServerEnd {
    pub(in crate::network) listener: TcpListener,
    pub(in crate::network) token: Token,
}

impl Serve for ServerEnd {
    fn serve(&mut self, line: &Line, request: Request) -> Served {
        let client = line.stream.peer_addr().map_err(|e| broken(&e))?.ip().to_canonical();
        let (mut accepted, mut sent) = (0, None);
        while accepted < request.count && sent.is_none() {
            line.patience.check(Instant::now())?;
            match self.listener.accept() {
                Ok((connection, from)) if from.ip().to_canonical() == client => {
                    if answer(connection, self.token) {
                        accepted += 1;
                        continue;
                    }
                }
                Ok(_) => {}
                Err(e) if waits(&e) => {}
                Err(e) => return Err(broken(&e)),
            }
            // Unauthenticated peers alone must not keep this thread busy.
            sent = line.receive_now::<Sent>()?;
        }
        line.all_sent(sent)?;
        Ok(Report::count_blocks(accepted, 1))
    }
}

/// Returns true if a connection sent the token and was answered. The token must arrive in one
/// piece. Accepted connections have the listener's timeout, so silent ones block the thread only
/// briefly.
fn answer(mut connection: impl Read + Write, token: Token) -> bool {
    let mut bytes = [0; size_of::<Token>() + 1];
    let shown = connection.read(&mut bytes).is_ok_and(|n| bytes[..n] == token.bytes());
    shown && connection.write_all(&[HELLO]).is_ok()
}
