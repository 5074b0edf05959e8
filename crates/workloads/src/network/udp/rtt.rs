//! Round trips over UDP: a datagram to the server and the same back, one in flight. A datagram that
//! does not come back counts as lost and has no latency.

use std::net::UdpSocket;
use std::time::{Duration, Instant};

use proofmark_model::Datagrams;

use crate::network::client::ClientSide;
use crate::network::line::{Line, broken, waits};
use crate::network::payload::PayloadCursor;
use crate::network::server::{Serve, Served};
use crate::network::shape::Shape;
use crate::network::socket;
use crate::network::stamp;
use crate::network::tally::Tally;
use crate::network::wire::{Report, Request, Sent};
use proofmark_engine::raw_ns;

/// Time after which a missing answer counts as lost.
pub(in crate::network) const LOST_AFTER: Duration = Duration::from_millis(200);

/// Number of empty reads after which a spinning end checks for other events.
const SPINS: u32 = 1 << 10;

pub(in crate::network) struct ClientEnd {
    socket: UdpSocket,
    poll: bool,
    out: Vec<u8>,
    moving: Option<PayloadCursor>,
    back: Vec<u8>,
}

impl ClientEnd {
    /// Creates a client on a connected socket whose reads end within [`LOST_AFTER`].
    pub(in crate::network) fn new(socket: UdpSocket, shape: &Shape, index: usize) -> Self {
        let out = stamp::payload(shape.block as usize);
        let (back, moving) = (vec![0; out.len() + 1], PayloadCursor::new(shape, index));
        Self { socket, poll: shape.poll, out, moving, back }
    }

    /// Sends a datagram and waits for its answer. `before` is its start. Returns false if it is
    /// lost.
    fn round_trip(&mut self, number: u64, before: u64) -> Result<bool, String> {
        if let Some(moving) = &mut self.moving {
            let rest = &mut self.out[stamp::NUMBER..];
            rest.copy_from_slice(moving.next(rest.len()));
        }
        stamp::put(&mut self.out, number);
        self.socket.send(&self.out).map_err(|e| broken(&e))?;
        let mut spins = 0_u32;
        loop {
            match receive(&self.socket, &mut self.back, self.poll) {
                Ok(n) if n == self.out.len() && stamp::answers(&self.back[..n], number).is_ok() => {
                    return Ok(true);
                }
                // A late answer to a lost datagram, or a second answer.
                Ok(_) => {}
                Err(e) if waits(&e) => {
                    spins = spins.wrapping_add(1);
                    if self.poll && !spins.is_multiple_of(SPINS) {
                        continue;
                    }
                    std::thread::yield_now();
                }
                Err(e) => return Err(broken(&e)),
            }
            if raw_ns() - before >= LOST_AFTER.as_nanos() as u64 {
                return Ok(false);
            }
        }
    }
}

fn receive(socket: &UdpSocket, bytes: &mut [u8], poll: bool) -> std::io::Result<usize> {
    if poll { socket::receive_now(socket, bytes, false) } else { socket.recv(bytes) }
}

impl ClientSide for ClientEnd {
    fn run(&mut self, line: &Line, request: Request, tally: &mut Tally) -> Result<(), String> {
        let Request { first, count } = request;
        let (mut before, mut last, mut answered) = (raw_ns(), None, 0);
        for number in first..first + count {
            if self.round_trip(number, before)? {
                let after = raw_ns();
                tally.latencies.record(after - before);
                (before, last, answered) = (after, None, answered + 1);
            } else {
                line.patience.check(*last.get_or_insert_with(Instant::now))?;
                before = raw_ns();
            }
        }
        line.send(&Sent { count, ..Sent::default() })?;
        let bytes = self.out.len() as u64;
        let report = tally.report(line, (count, bytes))?;
        tally.add_bytes((count + report.blocks) * bytes, (report.blocks + answered) * bytes);
        let (sent, received) = (count, answered);
        tally.add_datagrams(Datagrams { sent, received, ..Datagrams::default() });
        tally.counted += answered.min(report.blocks);
        Ok(())
    }
}

/// The server: returns each datagram once. It ignores duplicates, late datagrams and those outside
/// the request.
pub(in crate::network) struct ServerEnd {
    socket: UdpSocket,
    poll: bool,
    /// Buffer with one byte more than a datagram, to detect longer ones.
    block: Vec<u8>,
}

impl ServerEnd {
    pub(in crate::network) fn new(socket: UdpSocket, shape: &Shape) -> Self {
        Self { socket, poll: shape.poll, block: vec![0; shape.block as usize + 1] }
    }
}

impl Serve for ServerEnd {
    fn serve(&mut self, line: &Line, request: Request) -> Served {
        let (mut next, end) = (request.first, request.first + request.count);
        let length = self.block.len() - 1;
        let (mut answered, mut turns, mut sent) = (0, 0_u32, None);
        while next < end && sent.is_none() {
            let in_vain = match receive(&self.socket, &mut self.block, self.poll) {
                Ok(n) => {
                    let due = |number: &u64| n == length && *number < end;
                    let number = stamp::ahead(&self.block[..length], next).filter(due);
                    if let Some(number) = number {
                        self.socket.send(&self.block[..n]).map_err(|e| broken(&e))?;
                        (next, answered) = (number + 1, answered + 1);
                    }
                    number.is_none()
                }
                Err(e) if waits(&e) => !self.poll,
                Err(e) => return Err(broken(&e)),
            };
            if in_vain || turns.is_multiple_of(SPINS) {
                line.patience.check(Instant::now())?;
                sent = line.receive_now::<Sent>()?;
                std::thread::yield_now();
            }
            turns = turns.wrapping_add(1);
        }
        line.all_sent(sent)?;
        Ok(Report::count_blocks(answered, length as u64))
    }
}
