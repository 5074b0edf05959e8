//! Datagrams one way. What arrives is counted by number; a request is done when all have
//! come, or when nothing more has come for a while after the last was sent.

use std::net::UdpSocket;
use std::time::{Duration, Instant};

use proofmark_model::Datagrams;
use proofmark_peer::Token;

use super::batch::{Batch, Came};
use super::window::Window;
use crate::network::far::Served;
use crate::network::line::{Line, SLICE, broken, waits};
use crate::network::near::Near;
use crate::network::shape::Shape;
use crate::network::socket::now_ns;
use crate::network::stamp::{self, LEAST, NUMBER, Wrong};
use crate::network::tally::Tally;
use crate::network::wire::{Report, Request, Sent};

/// Of so many batches that came one after the other, one is followed by a look at whether
/// the session still lasts.
const LOOK: u64 = 256;

/// One end of a stream of datagrams.
pub(in crate::network) struct End {
    socket: UdpSocket,
    block: usize,
    /// Nanoseconds from one datagram to the next, where they are paced.
    pace_ns: Option<f64>,
    lateness: Duration,
    batch: Batch,
    window: Window,
    /// What a datagram says that came before the first request; see `reach`.
    token: (u64, u64),
}

/// What a receiver got of a request.
pub(in crate::network) struct Received {
    /// Datagrams that were sent, by the word of who sent them.
    sent: u64,
    /// Since the last one that counts came, or since the start.
    quiet: Duration,
    wrong: Option<Wrong>,
}

impl End {
    /// With a connected socket whose reads end after [`Shape::lateness`] or sooner.
    pub(in crate::network) fn new(socket: UdpSocket, token: Token, shape: &Shape) -> Self {
        let block = shape.block as usize;
        let pace_ns = shape.rate_each().map(|rate| block as f64 * 8e9 / rate);
        let (lateness, batch) = (shape.lateness(), Batch::new(block));
        let token = token.bytes();
        let word = |at: usize| stamp::get(&token[at..]).unwrap_or_default();
        let token = (word(0), word(NUMBER));
        Self { socket, block, pace_ns, lateness, batch, window: Window::new(), token }
    }

    /// Sends datagrams from the number `first` on, and then says that it has.
    pub(in crate::network) fn send(
        &mut self,
        line: &Line,
        first: u64,
        count: u64,
    ) -> Result<(), String> {
        let start = now_ns();
        let (mut sent, mut calls, mut since) = (0, 0_u64, Instant::now());
        while sent < count {
            let due = self.due(line, sent, start)?.min(count - sent);
            match self.batch.send(&self.socket, (first + sent, due), now_ns) {
                Ok(n) => (sent, since) = (sent + n, Instant::now()),
                // The device's queue is full: what a plain program would lose, too, waits here.
                Err(e) if full(&e) => {
                    line.patience().check(since)?;
                    std::thread::yield_now();
                }
                Err(e) if waits(&e) => line.patience().check(since)?,
                Err(e) => return Err(broken(&e)),
            }
            calls += 1;
            if calls.is_multiple_of(LOOK) {
                line.patience().check(since)?;
            }
        }
        line.send(&Sent { count: sent })
    }

    /// Waits until the next datagram may be sent; how many may be.
    fn due(&self, line: &Line, sent: u64, start_ns: u64) -> Result<u64, String> {
        let Some(pace) = self.pace_ns else { return Ok(u64::MAX) };
        let at = (sent as f64 * pace) as u64;
        loop {
            // Nobody is silent while this end waits for its own time.
            line.patience().check(Instant::now())?;
            let now = now_ns() - start_ns;
            if now >= at {
                return Ok(((now as f64 / pace) as u64 + 1).saturating_sub(sent).max(1));
            }
            std::thread::sleep(Duration::from_nanos(at - now).min(SLICE));
        }
    }

    /// Receives what comes of the datagrams from the number `first` on.
    pub(in crate::network) fn receive(
        &mut self,
        line: &Line,
        first: u64,
        count: u64,
    ) -> Result<Received, String> {
        self.window.begin(first, count);
        let (mut last, mut calls, mut wrong) = (Instant::now(), 0_u64, None);
        let mut all_sent: Option<(u64, Instant)> = None;
        while self.window.received < count {
            let before = self.window.received;
            match self.batch.receive(&self.socket) {
                Ok(came) => {
                    let now = now_ns();
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
            line.patience().check(last)?;
            match all_sent {
                None => {
                    let sent = line.receive_now::<Sent>()?;
                    all_sent = sent.map(|sent| (sent.count, Instant::now()));
                }
                Some((_, at)) if at.max(last).elapsed() >= self.lateness => break,
                Some(_) => {}
            }
        }
        let quiet = last.elapsed();
        let sent = match all_sent {
            Some((count, _)) => count,
            None => line.receive::<Sent>()?.count,
        };
        Ok(Received { sent, quiet, wrong })
    }

    fn report(&self, received: &Received) -> Report {
        let w = &self.window;
        Report {
            blocks: w.received,
            bytes: w.received * self.block as u64,
            reordered: w.reordered,
            duplicated: w.duplicated,
            jitter_ns: w.jitter_ns() as u64,
            quiet_ns: received.quiet.as_nanos() as u64,
            ..Report::default()
        }
        .with_wrong(received.wrong)
    }
}

fn take(window: &mut Window, wrong: &mut Option<Wrong>, came: Came, block: usize, now: u64) {
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

/// The near end.
pub(in crate::network) struct NearEnd {
    end: End,
    sends: bool,
}

impl NearEnd {
    pub(in crate::network) fn new(end: End, sends: bool) -> Self {
        Self { end, sends }
    }
}

impl Near for NearEnd {
    fn run(&mut self, line: &Line, request: Request, tally: &mut Tally) -> Result<(), String> {
        let Request { first, count } = request;
        let (sent, report, idled) = if self.sends {
            self.end.send(line, first, count).map_err(|e| line.why(e))?;
            let all_sent = Instant::now();
            let report = line.report()?;
            // What is sent after the last that arrives is work, too.
            let quiet = Duration::from_nanos(report.quiet_ns);
            (count, report, quiet.min(all_sent.elapsed()))
        } else {
            let received = self.end.receive(line, first, count)?;
            line.report()?;
            (received.sent, self.end.report(&received), received.quiet)
        };
        let block = self.end.block as u64;
        tally.add_report(&report);
        tally.add_bytes(sent * block, report.bytes);
        let numbered = |n: u64| (block >= LEAST as u64).then_some(n);
        // Those of a batch came at one and the same time.
        let jitter = numbered(report.jitter_ns).filter(|_| self.end.pace_ns.is_some());
        tally.add_datagrams(Datagrams {
            sent,
            received: report.blocks,
            reordered: numbered(report.reordered),
            duplicated: numbered(report.duplicated),
            jitter_s: jitter.map(|ns| ns as f64 * 1e-9),
        });
        tally.counted = report.blocks.min(count);
        tally.idled_s = idled.as_secs_f64();
        Ok(())
    }
}

/// The far end of one request.
pub(in crate::network) fn serve(
    end: &mut End,
    line: &Line,
    receives: bool,
    request: Request,
) -> Served {
    let Request { first, count } = request;
    if receives {
        let received = end.receive(line, first, count)?;
        return Ok(end.report(&received));
    }
    end.send(line, first, count)?;
    Ok(Report { blocks: count, bytes: count * end.block as u64, ..Report::default() })
}
