//! How far two CPUs are from each other: what it takes to pass a cache line to the other one and back,
//! and whether they are hardware threads of one core. A hypervisor may move virtual CPUs at any time
//! without a word, and all that two of them share changes then: cores, caches, the path to memory.

use std::sync::atomic::{AtomicU64, Ordering};

use proofmark_model::CpuDistance;

use crate::chain;
use crate::rounds::ticks::Ticks;

/// Passes to and fro, of which the fastest of some stretches counts: what interrupts only slows them.
const STRETCHES: u64 = 6;
const PASSES: u64 = 50;

/// Spins after which a thread goes on without the other one, which lost its CPU: up to a millisecond.
const MOST_SPINS: u32 = 1_000_000;

/// Instructions of a reading of how many a core issues, and readings of which the fastest counts.
const NOTHING_STEPS: u64 = 500;
const READINGS: u32 = 5;

/// After the last pass the second thread waits and is busy in turn, as often as this: others that
/// begin or end meanwhile are seen by one comparison at most.
const COMPARISONS: u64 = 3;
const LAST: u64 = 2 * STRETCHES * PASSES;
const DONE: u64 = LAST + 2 * COMPARISONS;

/// It ends by itself after so many times, some 300 us.
const MOST_TIMES: u32 = 3_000;
const BUSY_STEPS: u64 = 16;
const DIVISIONS: u32 = 16;

/// What two threads share for that, on a line of its own, with the one that is fetched beside it.
#[derive(Debug, Default)]
#[repr(align(128))]
pub struct CpuPair {
    turn: AtomicU64,
}

/// What the first thread saw.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Seen {
    /// Ticks to the other CPU and back.
    pub(crate) round_trip: f64,
    /// Instructions that the first issued while the other was busy, as a share of those that it
    /// issued while that one waited.
    pub(crate) issues_beside: f64,
}

impl CpuPair {
    /// To be called before both threads meet, while neither does.
    pub fn reset(&self) {
        self.turn.store(0, Ordering::Release);
    }

    /// The part of the first thread, in seconds; `None` where the other one lost its CPU meanwhile.
    pub fn look(&self) -> Option<CpuDistance> {
        let ticks = Ticks::new();
        let Seen { round_trip, issues_beside } = self.first(ticks)?;
        Some(CpuDistance { round_trip_s: round_trip / ticks.in_seconds(1.0) as f64, issues_beside })
    }

    /// The part of the second.
    pub fn be_seen(&self) {
        self.second();
    }

    /// The part of the first thread, in ticks; `None` where the other one lost its CPU meanwhile.
    pub(crate) fn first(&self, ticks: Ticks) -> Option<Seen> {
        let mut fastest = u64::MAX;
        for stretch in 0..STRETCHES {
            let from = ticks.now();
            for pass in stretch * PASSES..(stretch + 1) * PASSES {
                self.turn.store(2 * pass + 1, Ordering::Release);
                self.wait_for(2 * pass + 2)?;
            }
            fastest = fastest.min(ticks.now().saturating_sub(from));
        }
        let comparison = |k: u64| {
            let alone = issuing(ticks);
            self.turn_to(LAST + 2 * k + 1, ticks);
            let beside = issuing(ticks);
            self.turn_to(LAST + 2 * k + 2, ticks);
            alone as f64 / beside.max(1) as f64
        };
        let issues_beside = (0..COMPARISONS).map(comparison).fold(0.0, f64::max);
        Some(Seen { round_trip: fastest as f64 / PASSES as f64, issues_beside })
    }

    /// Lasts until the other one has seen it.
    fn turn_to(&self, turn: u64, ticks: Ticks) {
        self.turn.store(turn, Ordering::Release);
        issuing(ticks);
    }

    /// The part of the second.
    pub(crate) fn second(&self) {
        for pass in 0..STRETCHES * PASSES {
            if self.wait_for(2 * pass + 1).is_none() {
                return;
            }
            self.turn.store(2 * pass + 2, Ordering::Release);
        }
        for _ in 0..MOST_TIMES {
            match self.turn.load(Ordering::Acquire) {
                DONE.. => return,
                turn if turn % 2 == 1 => chain::nothing(BUSY_STEPS),
                // Divisions that wait for each other leave the core to its other thread; the
                // instruction for such waits does not, on AMD's Zen 4.
                _ => divide(),
            }
        }
    }

    /// Spins without a pause, which would take longer than a pass.
    fn wait_for(&self, turn: u64) -> Option<()> {
        (0..MOST_SPINS).find(|_| self.turn.load(Ordering::Acquire) >= turn).map(|_| ())
    }
}

fn divide() {
    let next = |x, _| std::hint::black_box(7.0) / x;
    std::hint::black_box((0..DIVISIONS).fold(std::hint::black_box(3.0_f64), next));
}

/// Ticks that some instructions which do nothing take at least.
fn issuing(ticks: Ticks) -> u64 {
    let reading = |_| {
        let from = ticks.now();
        chain::nothing(NOTHING_STEPS);
        ticks.now().saturating_sub(from)
    };
    (0..READINGS).map(reading).min().unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use std::thread;

    use super::*;

    #[test]
    fn two_threads_see_each_other_and_one_alone_does_not_wait_for_ever() {
        let (pair, ticks) = (CpuPair::default(), Ticks::new());
        let seen = (0..50).find_map(|_| {
            pair.reset();
            thread::scope(|scope| {
                let second = scope.spawn(|| pair.second());
                let seen = pair.first(ticks);
                second.join().unwrap();
                seen
            })
        });
        // Where there is one CPU, they never do.
        if let Some(seen) = seen {
            assert!(seen.round_trip > 0.0 && seen.issues_beside > 0.0, "{seen:?}");
        }
        pair.reset();
        assert_eq!(pair.first(ticks), None);
        pair.reset();
        pair.second();
    }
}
