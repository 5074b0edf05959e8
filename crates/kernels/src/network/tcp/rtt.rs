//! Round trips over TCP: a block there and the same block back, one in flight.

use std::net::TcpStream;

use crate::network::far::Served;
use crate::network::line::Line;
use crate::network::near::Near;
use crate::network::shape::Shape;
use crate::network::socket::{now_ns, tcp_state};
use crate::network::stamp;
use crate::network::tally::Tally;
use crate::network::wire::{Report, Request};

/// The near end.
pub(in crate::network) struct NearEnd {
    poll: bool,
    out: Vec<u8>,
    back: Vec<u8>,
}

impl NearEnd {
    pub(in crate::network) fn new(shape: &Shape) -> Self {
        let out = stamp::payload(shape.block as usize);
        let back = out.clone();
        Self { poll: shape.poll, out, back }
    }
}

fn read(line: &Line, block: &mut [u8], poll: bool) -> Result<(), String> {
    if poll { line.spin_exact(block) } else { line.read_exact(block) }
}

impl Near for NearEnd {
    fn run(&mut self, line: &Line, request: Request, tally: &mut Tally) -> Result<(), String> {
        let Request { first, count } = request;
        let mut before = now_ns();
        for number in first..first + count {
            stamp::put(&mut self.out, number);
            line.write_all(&self.out)?;
            read(line, &mut self.back, self.poll)?;
            let after = now_ns();
            tally.latencies.record(after - before);
            before = after;
            if let Err(wrong) = stamp::answers(&self.back, number) {
                tally.found(wrong);
            }
        }
        let report = line.report()?;
        tally.add_report(&report);
        let bytes = count * self.out.len() as u64;
        tally.add_bytes(bytes + report.bytes, bytes + report.bytes);
        tally.counted = report.blocks.min(count);
        Ok(())
    }

    fn after(&mut self, stream: &TcpStream, tally: &mut Tally) {
        tally.traffic.state = tcp_state(stream);
    }
}

/// The far end of one request: `block` is what comes and goes back.
pub(in crate::network) fn serve(
    block: &mut [u8],
    line: &Line,
    poll: bool,
    request: Request,
) -> Served {
    for _ in 0..request.count {
        read(line, block, poll)?;
        line.write_all(block)?;
    }
    let bytes = request.count * block.len() as u64;
    Ok(Report { blocks: request.count, bytes, ..Report::default() })
}
