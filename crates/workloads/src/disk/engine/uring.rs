//! The engine with many I/Os in flight, by io_uring(7): one ring per thread, and at most one system
//! call per I/O. The file and the buffers are registered where the system allows it.
//!
//! Source: Linux io_uring_setup(2), io_uring_enter(2), io_uring_register(2).

#![allow(unsafe_code)] // The kernel writes into buffers that are registered with the ring.

use std::io;
use std::mem::ManuallyDrop;
use std::os::fd::{AsRawFd, OwnedFd};

use io_uring::squeue::Entry;
use io_uring::types::{Fd, Fixed};
use io_uring::{IoUring, opcode};
use proofmark_engine::{Refusal, raw_ns};

use super::super::buffers::Buffers;
use super::{Io, Source, failure};

/// Bytes of I/Os that are submitted before the next I/O is prepared. Replacing all completed I/Os
/// by one submission would idle a fast device. At depth 32 a virtual disk reached 0.85 times the 4
/// KiB rate, and 0.97 times with four I/Os per submission.
const EARLY: usize = 4 << 10;

pub(in super::super) struct Uring {
    ring: IoUring,
    /// Dropped only when nothing is in flight.
    buffers: ManuallyDrop<Buffers>,
    file: OwnedFd,
    /// True if the file is registered with the ring, as number 0.
    fixed_file: bool,
    /// True if the buffers are registered with the ring, by slot.
    fixed_buffers: bool,
    block: usize,
    slots: Vec<Slot>,
    /// Slots without an I/O.
    free: Vec<usize>,
    /// Slots filled since the last submission.
    fresh: Vec<usize>,
    /// I/Os that were begun and have not completed.
    in_flight: usize,
}

/// An I/O and its time of submission in nanoseconds.
#[derive(Clone, Copy, Default)]
struct Slot {
    io: Io,
    start: u64,
}

/// Creates a ring for `depth` I/Os of this thread. The kernel processes completions when the thread
/// asks for them, and interrupts no CPU. Linux before 6.1 lacks some of these flags.
fn ring(depth: u32) -> Result<IoUring, Refusal> {
    IoUring::builder()
        .setup_single_issuer()
        .setup_coop_taskrun()
        .setup_defer_taskrun()
        .build(depth)
        .or_else(|_| IoUring::builder().setup_coop_taskrun().build(depth))
        .or_else(|_| IoUring::new(depth))
        .map_err(|e| Refusal(format!("the system refuses io_uring: {e}")))
}

impl Uring {
    pub(super) fn new(file: OwnedFd, block: usize, depth: usize) -> Result<Self, Refusal> {
        let ring = ring(depth as u32)?;
        let buffers = Buffers::new(depth, block)?;
        let vector = |slot| libc::iovec { iov_base: buffers.address(slot).cast(), iov_len: block };
        let vectors: Vec<_> = (0..depth).map(vector).collect();
        // SAFETY: the buffers live until nothing is in flight.
        let fixed_buffers = unsafe { ring.submitter().register_buffers(&vectors) }.is_ok();
        let fixed_file = ring.submitter().register_files(&[file.as_raw_fd()]).is_ok();
        Ok(Self {
            ring,
            buffers: ManuallyDrop::new(buffers),
            file,
            fixed_file,
            fixed_buffers,
            block,
            slots: vec![Slot::default(); depth],
            free: (0..depth).rev().collect(),
            fresh: Vec::with_capacity(depth),
            in_flight: 0,
        })
    }

    pub(super) fn run(&mut self, count: u64, source: &mut impl Source) -> Result<(), String> {
        if self.in_flight > 0 {
            return Err("the ring has failed before".to_owned());
        }
        let mut left = count;
        let mut outcome = Ok(());
        self.refill(&mut left, 0, source)?;
        while self.in_flight > 0 {
            self.enter(1)?;
            let come = self.ring.completion().len();
            for waiting in (0..come).rev() {
                let Some(completion) = self.ring.completion().next() else { break };
                let slot = completion.user_data() as usize;
                if let Some(reason) = self.end(slot, completion.result(), source) {
                    left = 0;
                    outcome = outcome.and(Err(reason));
                }
                self.refill(&mut left, waiting, source)?;
            }
        }
        outcome
    }

    /// Begins I/Os in all free slots, at most `left`. It submits some early if other I/Os, or
    /// `waiting` unprocessed completions, would delay the next call.
    fn refill(
        &mut self,
        left: &mut u64,
        waiting: usize,
        source: &mut impl Source,
    ) -> Result<(), String> {
        while *left > 0 && self.begin(source) {
            *left -= 1;
            let delayed = waiting > 0 || *left > 0 && !self.free.is_empty();
            if delayed && self.fresh.len() * self.block >= EARLY {
                self.enter(0)?;
            }
        }
        Ok(())
    }

    /// Takes an I/O from the source for a free slot, if there is one, and puts it into the ring.
    fn begin(&mut self, source: &mut impl Source) -> bool {
        let Some(slot) = self.free.pop() else { return false };
        let io = source.next(slot, self.buffers.slot(slot));
        self.slots[slot] = Slot { io, start: 0 };
        self.in_flight += 1;
        self.push(slot);
        true
    }

    /// Puts a slot's I/O into the ring, which has as many entries as there are slots.
    fn push(&mut self, slot: usize) {
        let entry = self.entry(slot);
        // SAFETY: the file stays open and the buffer in place until the I/O has completed, which
        // `drop` ensures. Nothing accesses the buffer before.
        let pushed = unsafe { self.ring.submission().push(&entry) };
        assert!(pushed.is_ok(), "a ring has as many entries as slots");
        self.fresh.push(slot);
    }

    fn entry(&self, slot: usize) -> Entry {
        let Io { write, offset, .. } = self.slots[slot].io;
        let (buffer, length) = (self.buffers.address(slot), self.block as u32);
        macro_rules! entry {
            ($code:ident $(, $number:expr)*) => {
                if self.fixed_file {
                    opcode::$code::new(Fixed(0), buffer, length $(, $number)*).offset(offset).build()
                } else {
                    let file = Fd(self.file.as_raw_fd());
                    opcode::$code::new(file, buffer, length $(, $number)*).offset(offset).build()
                }
            };
        }
        let entry = match (write, self.fixed_buffers) {
            (false, true) => entry!(ReadFixed, slot as u16),
            (false, false) => entry!(Read),
            (true, true) => entry!(WriteFixed, slot as u16),
            (true, false) => entry!(Write),
        };
        entry.user_data(slot as u64)
    }

    /// Submits the entries of the ring and waits for this many completions.
    fn enter(&mut self, want: usize) -> Result<(), String> {
        // An I/O that is submitted again keeps its start.
        let due = |slot: &Slot| slot.io.timed && slot.start == 0;
        if self.fresh.iter().any(|i| due(&self.slots[*i])) {
            let now = raw_ns();
            for i in &self.fresh {
                let slot = &mut self.slots[*i];
                slot.start = if due(slot) { now } else { slot.start };
            }
        }
        self.fresh.clear();
        loop {
            return match self.ring.submit_and_wait(want) {
                Ok(_) => Ok(()),
                Err(e) => match e.raw_os_error() {
                    Some(libc::EINTR) => continue,
                    // The caller first takes the completed I/Os. The next call submits the rest.
                    Some(libc::EAGAIN | libc::EBUSY) => {
                        std::thread::yield_now();
                        Ok(())
                    }
                    _ => Err(format!("io_uring_enter failed: {e}")),
                },
            };
        }
    }

    /// Processes a completion, and returns the reason if the I/O failed. The thread sees it here, not
    /// when the call returned: until then it was busy with the completions before, and a new I/O in
    /// its place had to wait. One clock reading per call would leave out that time, an eighth of the
    /// latency at depth 32.
    fn end(&mut self, slot: usize, result: i32, source: &mut impl Source) -> Option<String> {
        if [-libc::EINTR, -libc::EAGAIN].contains(&result) {
            self.push(slot);
            return None;
        }
        let Slot { io, start } = self.slots[slot];
        let took = io.timed.then(|| raw_ns().saturating_sub(start));
        self.in_flight -= 1;
        self.free.push(slot);
        let result = usize::try_from(result).map_err(|_| io::Error::from_raw_os_error(-result));
        let failed = failure(io, self.block, result);
        if failed.is_none() {
            source.done(io, self.buffers.slot(slot), took);
        }
        failed
    }
}

#[cfg(test)]
impl Uring {
    /// Returns the ring as on a system that refuses to register files and buffers.
    pub(super) fn unregistered(self) -> Self {
        let mut uring = self;
        let submitter = uring.ring.submitter();
        submitter.unregister_files().unwrap();
        submitter.unregister_buffers().unwrap();
        (uring.fixed_file, uring.fixed_buffers) = (false, false);
        uring
    }
}

impl Drop for Uring {
    fn drop(&mut self) {
        // Only an error of the ring or a panic can leave I/Os in flight here.
        while self.in_flight > 0 {
            if self.enter(1).is_err() {
                return; // The kernel may still write into the buffers, so they are leaked.
            }
            self.in_flight -= self.ring.completion().count().min(self.in_flight);
        }
        // SAFETY: nothing is in flight, and nothing uses the buffers after this.
        unsafe { ManuallyDrop::drop(&mut self.buffers) }
    }
}
