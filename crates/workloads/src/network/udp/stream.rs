//! Datagrams in one direction. The receiver counts them by number. A request is done when all have
//! arrived, or when nothing more has arrived for a while after the last was sent.

use std::net::UdpSocket;
use std::time::{Duration, Instant};

use proofmark_model::Datagrams;
use proofmark_peer::Token;
use rustix::net::sockopt::socket_recv_buffer_size;

use super::batch::{Arrival, Batch};
use super::pace::{Next, Pace};
use super::window::Window;
use crate::network::client::ClientSide;
use crate::network::line::{Line, SLICE, broken, waits};
use crate::network::payload::PayloadCursor;
use crate::network::server::{Serve, Served};
use crate::network::shape::Shape;
use crate::network::stamp::{self, MIN_NUMBERED, NUMBER, Wrong};
use crate::network::tally::Tally;
use crate::network::wire::{Report, Request, Sent};
use proofmark_engine::raw_ns;

/// Number of consecutive batches after which it checks whether the session still lasts.
const LOOK: u64 = 256;

/// Sleep of a receiver of unpaced datagrams when it has received all that were there. The system
/// extends it to about 60 us. Without it the receiver would sleep before nearly every datagram, and
/// waking it is a sixth of the sender's work. Over loopback with 65,507 B the nap gained 8 %, and
/// spinning instead cost 20 %.
const NAP: Duration = Duration::from_micros(5);
/// Bytes of receive buffer, as the system counts them, that hold the datagrams of a nap.
const NAP_NEEDS: usize = 4 << 20;

/// Datagrams per batch from which on they arrived so close together that jitter is unknown.
const ONE_BY_ONE: f64 = 1.25;

/// One end of a stream of datagrams.
pub(in crate::network) struct End {
    socket: UdpSocket,
    block: usize,
    sends: bool,
    /// Sleep of the receiver when no datagram is there.
    nap: Option<Duration>,
    /// Due times of the datagrams, if they are paced.
    pace: Option<Pace>,
    lateness: Duration,
    batch: Batch,
    window: Window,
    /// Head of a datagram with the token, which may arrive before the first request. See `reach`.
    token: (u64, u64),
}

struct Received {
    /// The sender's message that it has sent all.
    sent: Sent,
    /// Time since the last counted datagram arrived, or since the start.
    quiet: Duration,
    wrong: Option<Wrong>,
    /// Average datagrams per clock reading.
    batch: f64,
}

impl End {
    /// Creates an end on a connected socket whose reads end within [`Shape::lateness`].
    pub(in crate::network) fn new(
        socket: UdpSocket,
        token: Token,
        shape: &Shape,
        (index, sends): (usize, bool),
    ) -> Self {
        let block = shape.block as usize;
        let pace = shape.rate_each().map(|rate| Pace::new(block, rate));
        let moving = sends.then(|| PayloadCursor::new(shape, index)).flatten();
        let (lateness, batch) = (shape.lateness(), Batch::new(block, moving));
        let token = token.bytes();
        let word = |at: usize| stamp::get(&token[at..]).unwrap_or_default();
        let token = (word(0), word(NUMBER));
        let room = socket_recv_buffer_size(&socket).is_ok_and(|bytes| bytes >= NAP_NEEDS);
        let nap = (pace.is_none() && room).then_some(NAP);
        let window = Window::new();
        Self { socket, block, sends, nap, pace, lateness, batch, window, token }
    }

    /// Sends datagrams from number `first` on, then reports that it has. Returns the time that it
    /// took. Paced datagrams take their intervals, including that of the last one.
    fn send(&mut self, line: &Line, first: u64, count: u64) -> Result<Duration, String> {
        let start = raw_ns();
        let (mut sent, mut calls, mut since) = (0, 0_u64, Instant::now());
        while sent < count {
            let due = self.due(line, sent, start)?.min(count - sent);
            match self.batch.send(&self.socket, (first + sent, due), raw_ns) {
                Ok(n) => (sent, since) = (sent + n, Instant::now()),
                // The queue of the device is full. Datagrams that a simple program would lose wait
                // here.
                Err(e) if full(&e) => {
                    line.patience.check(since)?;
                    std::thread::yield_now();
                }
                Err(e) if waits(&e) => line.patience.check(since)?,
                Err(e) => return Err(broken(&e)),
            }
            calls += 1;
            if calls.is_multiple_of(LOOK) {
                line.patience.check(since)?;
            }
        }
        let mut took_ns = raw_ns() - start;
        if let Some(pace) = self.pace {
            took_ns = pace.took_ns(sent, took_ns);
            self.due(line, sent, start)?;
        }
        line.send(&Sent { count: sent, took_ns })?;
        Ok(Duration::from_nanos(took_ns))
    }

    /// Waits until the datagram after `sent` others is due, and returns how many may be sent.
    fn due(&self, line: &Line, sent: u64, start_ns: u64) -> Result<u64, String> {
        let Some(pace) = self.pace else { return Ok(u64::MAX) };
        loop {
            // The wait for a due time is no silence of the other end.
            line.patience.check(Instant::now())?;
            let now = raw_ns() - start_ns;
            match pace.next(sent, now) {
                Next::Send(count) => return Ok(count),
                Next::Wait(at) => {
                    std::thread::sleep(Duration::from_nanos(at - now).min(SLICE));
                }
            }
        }
    }

    /// Receives the datagrams of a request, from number `first` on.
    fn receive(&mut self, line: &Line, first: u64, count: u64) -> Result<Received, String> {
        self.window.begin(first, count);
        let (mut last, mut calls, mut wrong) = (Instant::now(), 0_u64, None);
        let mut all_sent: Option<(Sent, Instant)> = None;
        while self.window.received < count {
            let before = self.window.received;
            match self.batch.receive(&self.socket, self.nap) {
                Ok(came) => {
                    let now = raw_ns();
                    for came in came.filter(|came| came.head != Some(self.token)) {
                        take(&mut self.window, &mut wrong, came, self.block, now);
                    }
                }
                Err(e) if waits(&e) => {}
                Err(e) => return Err(broken(&e)),
            }
            if self.window.received > before {
                last = Instant::now();
                calls += 1;
                if !calls.is_multiple_of(LOOK) {
                    continue;
                }
            }
            line.patience.check(last)?;
            match all_sent {
                None => {
                    let sent = line.receive_now::<Sent>()?;
                    all_sent = sent.map(|sent| (sent, Instant::now()));
                }
                Some((_, at)) if at.max(last).elapsed() >= self.lateness => break,
                Some(_) => {}
            }
        }
        let quiet = last.elapsed();
        let sent = line.all_sent(all_sent.map(|(sent, _)| sent))?;
        let batch = self.window.received as f64 / calls.max(1) as f64;
        Ok(Received { sent, quiet, wrong, batch })
    }

    fn report(&self, received: &Received) -> Report {
        let w = &self.window;
        // The datagrams of a batch have one arrival time.
        let jitter_ns = if received.batch < ONE_BY_ONE { w.jitter_ns() as u64 } else { 0 };
        Report {
            reordered: w.reordered,
            duplicated: w.duplicated,
            jitter_ns,
            quiet_ns: received.quiet.as_nanos() as u64,
            ..Report::count_blocks(w.received, self.block as u64)
        }
        .with_wrong(received.wrong)
    }
}

fn take(window: &mut Window, wrong: &mut Option<Wrong>, came: Arrival, block: usize, now: u64) {
    match came.head {
        _ if came.bytes != block => {
            wrong.get_or_insert(Wrong { due: block as u64, found: came.bytes as u64 });
        }
        Some((number, sent)) => window.take(number, sent, now),
        None => window.take_any(),
    }
}

fn full(error: &std::io::Error) -> bool {
    error.raw_os_error() == Some(libc::ENOBUFS)
}

impl ClientSide for End {
    fn run(&mut self, line: &Line, request: Request, tally: &mut Tally) -> Result<(), String> {
        let Request { first, count } = request;
        let (block, start) = (self.block as u64, Instant::now());
        // Datagrams sent after the last one that arrives are work too.
        let (report, quiet, worked) = if self.sends {
            let worked = self.send(line, first, count).map_err(|e| line.refusal_or(e))?;
            let report = tally.report(line, (count, block))?;
            (report, Duration::from_nanos(report.quiet_ns), worked)
        } else {
            let received = self.receive(line, first, count)?;
            let sent = received.sent;
            if sent.count != count {
                return Err(format!("the server sent {} of {count} datagrams", sent.count));
            }
            tally.report(line, (count, block))?;
            (self.report(&received), received.quiet, Duration::from_nanos(sent.took_ns))
        };
        tally.add_bytes(count * block, report.bytes);
        let numbered = |n: u64| (block >= MIN_NUMBERED as u64).then_some(n);
        let jitter = numbered(report.jitter_ns).filter(|ns| *ns > 0 && self.pace.is_some());
        tally.add_datagrams(Datagrams {
            sent: count,
            received: report.blocks,
            reordered: numbered(report.reordered),
            duplicated: numbered(report.duplicated),
            jitter_s: jitter.map(|ns| ns as f64 * 1e-9),
            counted_lost: None,
        });
        tally.counted += report.blocks;
        tally.idled_s = quiet.min(start.elapsed().saturating_sub(worked)).as_secs_f64();
        Ok(())
    }
}

impl Serve for End {
    fn serve(&mut self, line: &Line, request: Request) -> Served {
        let Request { first, count } = request;
        if self.sends {
            self.send(line, first, count)?;
            return Ok(Report::count_blocks(count, self.block as u64));
        }
        let received = self.receive(line, first, count)?;
        Ok(self.report(&received))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::network::shape::Kind;
    use crate::params::testing::params;

    #[test]
    fn jitter_is_that_of_datagrams_that_came_one_by_one() {
        let params = params("block_size=100 streams=1 path=loopback");
        let shape = Shape::from_params(Kind::UdpStream, &params).unwrap();
        let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
        let mut end = End::new(socket, Token::random().unwrap(), &shape, (0, false));
        end.window.begin(0, 10);
        end.window.take(0, 100, 105);
        end.window.take(1, 200, 365);
        let jitter_ns = |batch: f64| {
            let (sent, quiet) = (Sent { count: 2, took_ns: 0 }, Duration::ZERO);
            end.report(&Received { sent, quiet, wrong: None, batch }).jitter_ns
        };
        assert_eq!((jitter_ns(1.0), jitter_ns(2.0)), (10, 0));
    }
}
