//! Where threads meet, and how one waits for another.

use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;

/// A barrier that spins, so that all threads leave it within a cache miss of each other.
#[derive(Debug)]
pub struct Barrier {
    size: u32,
    arrived: AtomicU32,
    round: AtomicU32,
}

impl Barrier {
    /// For so many threads.
    pub fn new(size: usize) -> Self {
        let size = u32::try_from(size).unwrap_or(u32::MAX);
        Self { size, arrived: AtomicU32::new(0), round: AtomicU32::new(0) }
    }

    /// Waits until all have come.
    pub fn wait(&self) {
        self.wait_after(|| ());
    }

    /// Waits until all have come, of whom the last one does this before any goes on.
    pub fn wait_after(&self, last: impl FnOnce()) {
        let round = self.round.load(Ordering::Acquire);
        if self.arrived.fetch_add(1, Ordering::AcqRel) + 1 == self.size {
            last();
            self.arrived.store(0, Ordering::Release);
            self.round.store(round.wrapping_add(1), Ordering::Release);
            return;
        }
        wait_until(|| self.round.load(Ordering::Acquire) != round);
    }
}

/// Spins until another thread makes it so; yields after a while, since that may need this CPU.
pub fn wait_until(so: impl Fn() -> bool) {
    const SPINS: u32 = 20_000;
    let mut spins = 0;
    while !so() {
        spins += 1;
        if spins < SPINS {
            std::hint::spin_loop();
        } else {
            thread::yield_now();
        }
    }
}
