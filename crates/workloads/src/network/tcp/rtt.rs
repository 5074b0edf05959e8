//! Round trips over TCP: a block to the server and the same block back, one in flight.

use std::net::TcpStream;

use proofmark_model::TcpState;

use crate::network::client::ClientSide;
use crate::network::line::Line;
use crate::network::payload::PayloadCursor;
use crate::network::server::{Serve, Served};
use crate::network::shape::Shape;
use crate::network::socket::tcp_state;
use crate::network::stamp;
use crate::network::tally::Tally;
use crate::network::wire::{Report, Request};
use proofmark_engine::raw_ns;

pub(in crate::network) struct ClientEnd {
    poll: bool,
    out: Vec<u8>,
    moving: Option<PayloadCursor>,
    back: Vec<u8>,
    /// Segments that the server has retransmitted since the connection was opened.
    server_retransmits: u64,
}

impl ClientEnd {
    /// Creates the client of connection `index`.
    pub(in crate::network) fn new(shape: &Shape, index: usize) -> Self {
        let out = stamp::payload(shape.block as usize);
        let (back, moving) = (out.clone(), PayloadCursor::new(shape, index));
        Self { poll: shape.poll, out, moving, back, server_retransmits: 0 }
    }
}

fn read(line: &Line, block: &mut [u8], poll: bool) -> Result<(), String> {
    if poll { line.spin_exact(block) } else { line.read_exact(block) }
}

impl ClientSide for ClientEnd {
    fn run(&mut self, line: &Line, request: Request, tally: &mut Tally) -> Result<(), String> {
        let Request { first, count } = request;
        let mut before = raw_ns();
        for number in first..first + count {
            stamp::put(&mut self.out, number);
            match &mut self.moving {
                Some(moving) => {
                    let (head, rest) = self.out.split_at(stamp::NUMBER);
                    line.write_both(head, moving.next(rest.len()))?;
                }
                None => line.write_all(&self.out)?,
            }
            read(line, &mut self.back, self.poll)?;
            let after = raw_ns();
            tally.latencies.record(after - before);
            before = after;
            if let Err(wrong) = stamp::answers(&self.back, number) {
                tally.found(wrong);
            }
        }
        let bytes = self.out.len() as u64;
        let report = tally.report(line, (count, bytes))?;
        self.server_retransmits = report.retransmits;
        let all = (count + report.blocks) * bytes;
        tally.add_bytes(all, all);
        tally.counted += report.blocks.min(count);
        Ok(())
    }

    /// Adds the connection state, with the retransmissions of both ends, since both send.
    fn after(&mut self, stream: &TcpStream, tally: &mut Tally) {
        let state = tcp_state(stream);
        tally.traffic.state = state.map(|state| TcpState {
            retransmits: state.retransmits.saturating_add(self.server_retransmits),
            ..state
        });
    }
}

/// The server: returns the received blocks.
pub(in crate::network) struct ServerEnd {
    poll: bool,
    block: Vec<u8>,
}

impl ServerEnd {
    pub(in crate::network) fn new(shape: &Shape) -> Self {
        Self { poll: shape.poll, block: vec![0; shape.block as usize] }
    }
}

impl Serve for ServerEnd {
    fn serve(&mut self, line: &Line, request: Request) -> Served {
        for _ in 0..request.count {
            read(line, &mut self.block, self.poll)?;
            line.write_all(&self.block)?;
        }
        let report = Report::count_blocks(request.count, self.block.len() as u64);
        Ok(report.with_state(tcp_state(line.stream)))
    }
}
