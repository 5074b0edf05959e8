//! The distance of two CPUs: the round trip of a cache line between them, and whether they are
//! hardware threads of one core. A hypervisor may move virtual CPUs at any time without notice.
//! Then everything that two of them share changes: cores, caches, the path to memory.

use std::sync::atomic::{AtomicU64, Ordering};

use proofmark_model::CpuDistance;

use crate::chain;
use crate::rounds::ticks::Ticks;

/// Round trips per stretch, and stretches. The fastest stretch counts, because interruptions only
/// slow one.
const STRETCHES: u64 = 6;
const PASSES: u64 = 50;

/// Spins after which a thread goes on without its partner, which has lost its CPU: up to a
/// millisecond.
const MAX_SPINS: u32 = 1_000_000;

/// Steps of NOPs in a reading of the issue rate, and readings. The fastest reading counts.
const NOPS_STEPS: u64 = 500;
const READINGS: u32 = 5;

/// After the last pass the second thread alternates this often between being busy (an odd turn) and
/// waiting (an even one). The middle comparison counts: other work that comes or goes meanwhile
/// spoils one.
const COMPARISONS: u64 = 3;
const LAST: u64 = 2 * STRETCHES * PASSES;
const DONE: u64 = LAST + 2 * COMPARISONS;

/// Loops after which the second thread gives up, about 300 us.
const MAX_LOOPS: u32 = 3_000;
const BUSY_STEPS: u64 = 16;
const DIVISIONS: u32 = 16;

/// The value of `seen` when the second thread has given up.
const GONE: u64 = u64::MAX;

/// The state that two threads share. It is aligned to two cache lines, because CPUs also fetch the
/// neighbouring line.
#[derive(Debug, Default)]
#[repr(align(128))]
pub struct CpuPair {
    turn: AtomicU64,
    /// The turn that the second thread has seen after the last pass.
    seen: AtomicU64,
}

impl CpuPair {
    /// Prepares a meeting. Neither thread may be in one.
    pub fn reset(&self) {
        self.seen.store(0, Ordering::Release);
        self.turn.store(0, Ordering::Release);
    }

    /// The part of the first thread; `None` if the other one lost its CPU meanwhile.
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

    /// The part of the second thread.
    pub fn be_seen(&self) {
        self.second(MAX_LOOPS);
    }

    /// Sets the turn and waits until the second thread has seen it; `None` if that lost its CPU or
    /// gave up.
    fn turn_to(&self, turn: u64) -> Option<()> {
        self.turn.store(turn, Ordering::Release);
        let seen = |_| Some(self.seen.load(Ordering::Acquire)).filter(|seen| *seen >= turn);
        (0..MAX_SPINS).find_map(seen).filter(|seen| *seen != GONE).map(|_| ())
    }

    /// The part of the second thread, which gives up after this many loops.
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
                // Dependent divisions leave the core to its other thread. On AMD's Zen 4 the
                // instruction for such waits does not.
                _ => divide(),
            }
        }
        self.seen.store(GONE, Ordering::Release);
    }

    /// Spins without a pause instruction, which would take longer than a pass.
    fn wait_for(&self, turn: u64) -> Option<()> {
        (0..MAX_SPINS).find(|_| self.turn.load(Ordering::Acquire) >= turn).map(|_| ())
    }
}

fn divide() {
    let next = |x, _| std::hint::black_box(7.0) / x;
    std::hint::black_box((0..DIVISIONS).fold(std::hint::black_box(3.0_f64), next));
}

/// Minimum ticks for [`NOPS_STEPS`] steps of NOPs.
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

    /// The first thread's result if the second gives up after this many loops; `None` also on a
    /// busy machine.
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
        // On one CPU they never meet.
        if let Some(seen) = (0..50).find_map(|_| meet(MAX_LOOPS)) {
            assert!(seen.round_trip_s > 0.0 && seen.issue_ratio > 0.0, "{seen:?}");
        }
        let pair = CpuPair::default();
        assert_eq!(pair.look(), None);
        pair.reset();
        pair.second(MAX_LOOPS);
    }

    #[test]
    fn a_second_thread_that_gives_up_is_not_taken_for_one_on_another_core() {
        for most_loops in [0, 1, 20] {
            assert_eq!(meet(most_loops), None, "after {most_loops} loops");
        }
    }
}
