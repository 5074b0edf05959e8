//! Blocks over TCP in one direction. The receiver counts them, and a request is done when the
//! client has the count.

use std::net::TcpStream;

use crate::network::client::ClientSide;
use crate::network::line::Line;
use crate::network::payload::PayloadCursor;
use crate::network::server::{Serve, Served};
use crate::network::shape::Shape;
use crate::network::socket;
use crate::network::stamp::{self, Wrong};
use crate::network::tally::Tally;
use crate::network::wire::{Report, Request};

/// Bytes of one read: some blocks of the usual size. Copied data are still in a core's own cache
/// when the next read overwrites them.
const READ: usize = 256 << 10;

/// Minimum bytes of a block for which a receiver waits until the block is complete. Waking it for
/// less costs both ends more than it gains.
const WHOLE: usize = 4 << 10;

/// One end of a stream, with its send or receive buffer.
pub(in crate::network) struct End {
    block: usize,
    sends: bool,
    no_delay: bool,
    buffer: Vec<u8>,
    moving: Option<PayloadCursor>,
}

impl End {
    /// Creates one end of connection `index`.
    pub(in crate::network) fn new(shape: &Shape, sends: bool, index: usize) -> Self {
        let block = shape.block as usize;
        let moving = sends.then(|| PayloadCursor::new(shape, index)).flatten();
        let buffer = stamp::payload(if sends { block } else { block.max(READ) });
        Self { block, sends, no_delay: shape.no_delay, buffer, moving }
    }

    /// Sends blocks from number `first` on.
    fn send(&mut self, line: &Line, first: u64, count: u64) -> Result<(), String> {
        let delay = |on: bool| line.stream.set_nodelay(!on).map_err(|e| e.to_string());
        delay(!self.no_delay)?;
        for number in first..first + count {
            if let Some(moving) = &mut self.moving {
                let rest = moving.next(self.block - stamp::NUMBER);
                line.write_both(&number.to_le_bytes(), rest)?;
                continue;
            }
            if self.block >= stamp::MIN_NUMBERED {
                stamp::put(&mut self.buffer, number);
            }
            line.write_all(&self.buffer)?;
        }
        // The last piece must not wait for an acknowledgement of the previous one.
        delay(false)
    }

    /// Receives blocks from number `first` on. Returns their bytes, and the first block with a
    /// wrong number.
    fn receive(
        &mut self,
        line: &Line,
        first: u64,
        count: u64,
    ) -> Result<(u64, Option<Wrong>), String> {
        let total = count * self.block as u64;
        let water = self.block.min(READ) as u64;
        let wait_for = |bytes| socket::set_low_water(line.stream, bytes);
        let mut waits_for_more = self.block >= WHOLE && total >= water && wait_for(water).is_ok();
        let (mut bytes, mut wrong) = (0, None);
        while bytes < total {
            if waits_for_more && total - bytes < water {
                waits_for_more = false;
                wait_for(1).map_err(|e| e.to_string())?;
            }
            let most = self.buffer.len().min((total - bytes) as usize);
            let n = line.read(&mut self.buffer[..most])?;
            if wrong.is_none() {
                wrong = stamp::check(&self.buffer[..n], bytes, self.block, first).err();
            }
            bytes += n as u64;
        }
        if waits_for_more {
            wait_for(1).map_err(|e| e.to_string())?;
        }
        Ok((bytes, wrong))
    }
}

impl ClientSide for End {
    fn run(&mut self, line: &Line, request: Request, tally: &mut Tally) -> Result<(), String> {
        let Request { first, count } = request;
        let block = self.block as u64;
        if self.sends {
            self.send(line, first, count).map_err(|e| line.refusal_or(e))?;
            let report = tally.report(line, (count, block))?;
            tally.add_bytes(count * block, report.bytes);
            tally.counted += report.bytes / block;
        } else {
            let (bytes, wrong) = self.receive(line, first, count)?;
            wrong.into_iter().for_each(|wrong| tally.found(wrong));
            let report = tally.report(line, (count, block))?;
            tally.add_bytes(report.bytes, bytes);
            tally.counted += bytes / block;
            tally.traffic.state = Some(report.state());
        }
        Ok(())
    }

    fn after(&mut self, stream: &TcpStream, tally: &mut Tally) {
        if self.sends {
            tally.traffic.state = socket::tcp_state(stream);
        }
    }
}

impl Serve for End {
    fn serve(&mut self, line: &Line, request: Request) -> Served {
        let Request { first, count } = request;
        if self.sends {
            self.send(line, first, count)?;
            let report = Report::count_blocks(count, self.block as u64);
            return Ok(report.with_state(socket::tcp_state(line.stream)));
        }
        let (bytes, wrong) = self.receive(line, first, count)?;
        let blocks = bytes / self.block as u64;
        Ok(Report { blocks, bytes, ..Report::default() }.with_wrong(wrong))
    }
}
