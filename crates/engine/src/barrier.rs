//! A barrier for threads, and a wait for a condition.

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
    /// A barrier for this many threads.
    pub fn new(size: usize) -> Self {
        let size = u32::try_from(size).unwrap_or(u32::MAX);
        Self { size, arrived: AtomicU32::new(0), round: AtomicU32::new(0) }
    }

    /// Waits until all threads have arrived.
    pub fn wait(&self) {
        self.wait_after(|| ());
    }

    /// Waits until all threads have arrived. The last one calls `last` before any goes on.
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

/// Spins until `so` returns true. Yields after a while, since the thread that makes it true may
/// need this CPU.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_to_come_does_it_once_before_any_goes_on() {
        const THREADS: u32 = 4;
        let (barrier, done) = (Barrier::new(THREADS as usize), AtomicU32::new(0));
        let wrong = AtomicU32::new(0);
        thread::scope(|scope| {
            for _ in 0..THREADS {
                scope.spawn(|| {
                    for round in 1..=200 {
                        barrier.wait_after(|| {
                            thread::sleep(std::time::Duration::from_micros(50));
                            done.fetch_add(1, Ordering::Relaxed);
                        });
                        // No assertion here: a panic would leave the others waiting at the barrier.
                        let is_wrong = done.load(Ordering::Relaxed) != round;
                        wrong.fetch_add(is_wrong.into(), Ordering::Relaxed);
                    }
                });
            }
        });
        assert_eq!(wrong.into_inner(), 0);
    }
}
