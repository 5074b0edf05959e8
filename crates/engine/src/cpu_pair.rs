//! How far two CPUs are from each other: what it takes to pass a cache line to the other one and back,
//! and whether they are hardware threads of one core. A hypervisor may move virtual CPUs at any time
//! without notice, and all that two of them share changes then: cores, caches, the path to memory.

use std::sync::atomic::{AtomicU64, Ordering};

use proofmark_model::CpuDistance;

use crate::chain;
use crate::rounds::ticks::Ticks;

/// Passes back and forth, of which the fastest of some stretches counts: what interrupts only slows them.
const STRETCHES: u64 = 6;
const PASSES: u64 = 50;

/// Spins after which a thread goes on without the other one, which lost its CPU: up to a millisecond.
const MOST_SPINS: u32 = 1_000_000;

/// Steps of NOPs of a reading of how many a core issues, and readings of which the fastest counts.
const NOPS_STEPS: u64 = 500;
const READINGS: u32 = 5;

/// After the last pass the second thread is busy (an odd turn) and waits (an even one), as often as
/// this. The middle comparison counts: others that come or go meanwhile spoil one.
const COMPARISONS: u64 = 3;
const LAST: u64 = 2 * STRETCHES * PASSES;
const DONE: u64 = LAST + 2 * COMPARISONS;

/// Loops after which the second thread gives up, about 300 us.
const MOST_LOOPS: u32 = 3_000;
const BUSY_STEPS: u64 = 16;
const DIVISIONS: u32 = 16;

/// What the second thread says when it has given up.
const GONE: u64 = u64::MAX;

/// What two threads share for that, on a line of its own, with the one that is fetched beside it.
#[derive(Debug, Default)]
#[repr(align(128))]
pub struct CpuPair {
    turn: AtomicU64,
    /// The turn that the second thread has seen after the last pass.
    seen: AtomicU64,
}

impl CpuPair {
    /// To be called before both threads meet, while neither does.
    pub fn reset(&self) {
        self.seen.store(0, Ordering::Release);
        self.turn.store(0, Ordering::Release);
    }

    /// The part of the first thread; `None` where the other one lost its CPU meanwhile.
    pub fn look(&self) -> Option<CpuDistance> {
        let ticks = Ticks::new();
        let mut fastest = u64::MAX;
        for stretch in 0..STRETCHES {
            let from = ticks.now();
            for pass in stretch * PASSES..(stretch + 1) * PASSES {
                self.turn.store(2 * pass + 1, Ordering::Release);
                self.wait_for(2 * pass + 2)?;
            }
            fastest = fastest.min(ticks.now().saturating_sub(from));
        }
        let mut ratios = [0.0; COMPARISONS as usize];
        for (turn, ratio) in (LAST..).step_by(2).zip(&mut ratios) {
            self.turn_to(turn)?;
            let alone = issuing(ticks);
            self.turn_to(turn + 1)?;
            *ratio = alone as f64 / issuing(ticks).max(1) as f64;
        }
        self.turn_to(DONE)?;
        ratios.sort_by(f64::total_cmp);
        let [_, issue_ratio, _] = ratios;
        let pass = fastest as f64 / PASSES as f64;
        Some(CpuDistance { round_trip_s: pass / ticks.in_seconds(1.0) as f64, issue_ratio })
    }

    /// The part of the second.
    pub fn be_seen(&self) {
        self.second(MOST_LOOPS);
    }

    /// `None` where the second thread does not see it: it lost its CPU, or gave up.
    fn turn_to(&self, turn: u64) -> Option<()> {
        self.turn.store(turn, Ordering::Release);
        let seen = |_| Some(self.seen.load(Ordering::Acquire)).filter(|seen| *seen >= turn);
        (0..MOST_SPINS).find_map(seen).filter(|seen| *seen != GONE).map(|_| ())
    }

    /// The part of the second, which gives up after so many loops.
    fn second(&self, most_loops: u32) {
        for pass in 0..STRETCHES * PASSES {
            if self.wait_for(2 * pass + 1).is_none() {
                return self.seen.store(GONE, Ordering::Release);
            }
            self.turn.store(2 * pass + 2, Ordering::Release);
        }
        for _ in 0..most_loops {
            let turn = self.turn.load(Ordering::Acquire);
            self.seen.store(turn, Ordering::Release);
            match turn {
                DONE.. => return,
                turn if turn % 2 == 1 => chain::nops(BUSY_STEPS),
                // Divisions that wait for each other leave the core to its other thread; the
                // instruction for such waits does not, on AMD's Zen 4.
                _ => divide(),
            }
        }
        self.seen.store(GONE, Ordering::Release);
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

/// Ticks that some NOPs take at least.
fn issuing(ticks: Ticks) -> u64 {
    let reading = |_| {
        let from = ticks.now();
        chain::nops(NOPS_STEPS);
        ticks.now().saturating_sub(from)
    };
    (0..READINGS).map(reading).min().unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use std::thread;

    use super::*;

    /// What the first sees of a second one that gives up after so many loops; `None` also where the
    /// machine is busy.
    fn meet(most_loops: u32) -> Option<CpuDistance> {
        let pair = CpuPair::default();
        thread::scope(|scope| {
            let second = scope.spawn(|| pair.second(most_loops));
            let seen = pair.look();
            second.join().unwrap();
            seen
        })
    }

    #[test]
    fn two_threads_see_each_other_and_nobody_waits_for_ever() {
        // Where there is one CPU, they never do.
        if let Some(seen) = (0..50).find_map(|_| meet(MOST_LOOPS)) {
            assert!(seen.round_trip_s > 0.0 && seen.issue_ratio > 0.0, "{seen:?}");
        }
        let pair = CpuPair::default();
        assert_eq!(pair.look(), None);
        pair.reset();
        pair.second(MOST_LOOPS);
    }

    #[test]
    fn a_second_thread_that_gives_up_is_not_taken_for_one_on_another_core() {
        for most_loops in [0, 1, 20] {
            assert_eq!(meet(most_loops), None, "after {most_loops} loops");
        }
    }
}
