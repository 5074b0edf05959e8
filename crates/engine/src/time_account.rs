//! Divides the time of a trial's threads among its causes, from the counters of the system and the
//! threads' slices.

use std::sync::atomic::AtomicBool;
use std::sync::{Arc, OnceLock};

use proofmark_model::{Conditions, TimeAccount};
use signal_hook::consts::SIGCONT;

/// A flag that is set when the process continues after a stop. Watches from the first call on. The
/// signal that stops a process cannot be caught.
pub(crate) fn continued() -> &'static AtomicBool {
    static CONTINUED: OnceLock<Arc<AtomicBool>> = OnceLock::new();
    CONTINUED.get_or_init(|| {
        let flag = Arc::new(AtomicBool::new(false));
        // If that fails, the time is unaccounted for.
        let _ = signal_hook::flag::register(SIGCONT, Arc::clone(&flag));
        flag
    })
}

/// One thread's time in seconds.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ThreadTime {
    pub(crate) wall_s: f64,
    /// On a CPU, as the system counts it.
    pub(crate) cpu_s: f64,
    /// Runnable without a CPU, a quota's pauses included.
    pub(crate) waiting_s: f64,
    /// At work, as its slices show.
    pub(crate) worked_s: f64,
    /// Gaps of its slices.
    pub(crate) gaps_s: f64,
}

impl ThreadTime {
    fn edges_s(&self) -> f64 {
        (self.wall_s - self.worked_s - self.gaps_s).max(0.0)
    }

    /// Run delay, at most the time off the CPU: a pause while the counters are read is in only one
    /// of the two.
    fn waited_s(&self) -> f64 {
        self.waiting_s.min((self.wall_s - self.cpu_s).max(0.0))
    }
}

/// The account of these threads. `system` has the counters of the same time; `stopped` is true if
/// the process was stopped and continued meanwhile.
pub(crate) fn account_of(
    threads: &[ThreadTime],
    system: &Conditions,
    stopped: bool,
) -> TimeAccount {
    let sum = |of: fn(&ThreadTime) -> f64| threads.iter().map(of).sum::<f64>();
    let wall_s = sum(|t| t.wall_s);
    let mut waiting_s = sum(ThreadTime::waited_s);
    let mut away_s = sum(|t| (t.wall_s - t.cpu_s - t.waited_s()).max(0.0));
    let interrupted_s = sum(|t| (t.cpu_s - t.worked_s).max(0.0));
    // Systems differ in whether a throttled thread is runnable.
    let throttled_s = system.throttled_s.map(|s| take_from([&mut waiting_s, &mut away_s], s));
    let (stopped_s, unaccounted_s) = if stopped { (away_s, 0.0) } else { (0.0, away_s) };
    let held_s = throttled_s.unwrap_or(0.0);
    let others = [waiting_s, held_s, stopped_s, interrupted_s, unaccounted_s];
    TimeAccount {
        wall_s,
        working_s: (wall_s - others.iter().sum::<f64>()).max(0.0),
        waiting_s,
        throttled_s,
        stopped_s,
        stolen_s: system.steal_s,
        interrupted_s,
        unaccounted_s,
        removed_s: Some(sum(|t| t.gaps_s)),
        edges_s: sum(ThreadTime::edges_s),
    }
}

/// Seconds of a thread that never sleeps in which it was neither on a CPU nor waiting for one.
/// `held_s` are seconds that a quota and the hypervisor held it; they do not count.
pub(crate) fn stopped_s(wall_s: f64, cpu_s: f64, mut waiting_s: f64, held_s: f64) -> f64 {
    // The counters are read one after the other, and no thread is charged for interrupts. The check
    // `stopped` reports twice this share.
    let error_s = 2e-3 + 0.005 * wall_s;
    let mut away_s = (wall_s - cpu_s - waiting_s).max(0.0);
    take_from([&mut waiting_s, &mut away_s], held_s);
    if away_s > error_s { away_s } else { 0.0 }
}

/// Takes up to `seconds` from the first part, then from the second, and returns how many it took.
fn take_from(parts: [&mut f64; 2], seconds: f64) -> f64 {
    let mut left = seconds;
    for part in parts {
        let takes = left.min(*part);
        *part -= takes;
        left -= takes;
    }
    seconds - left
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One second of a thread: on a CPU, waiting for one, and at work.
    fn second(cpu_s: f64, waiting_s: f64, worked_s: f64) -> ThreadTime {
        ThreadTime { wall_s: 1.0, cpu_s, waiting_s, worked_s, gaps_s: 1.0 - worked_s }
    }

    fn account(threads: &[ThreadTime], throttled: f64, steal: f64, stopped: bool) -> TimeAccount {
        let (throttled_s, steal_s) = (Some(throttled), Some(steal));
        let system = Conditions { throttled_s, steal_s, ..Conditions::default() };
        account_of(threads, &system, stopped)
    }

    #[test]
    fn of_what_was_away_a_quota_and_the_hypervisor_had_their_part() {
        for (cpu_s, waiting_s, held_s, expected) in [
            (2.0, 0.0, 0.0, 0.0),
            (1.965, 0.0, 0.0, 0.035),
            (1.995, 0.0, 0.0, 0.0),
            (0.6, 1.0, 1.0, 0.4),
            (0.6, 0.0, 1.0, 0.4),
            (1.0, 1.0, 0.0, 0.0),
            (1.0, 0.0, 1.0, 0.0),
        ] {
            let found = stopped_s(2.0, cpu_s, waiting_s, held_s);
            assert!((found - expected).abs() < 1e-9, "{found}: {cpu_s}, {waiting_s}, {held_s}");
        }
    }

    #[test]
    fn each_cause_takes_its_part_and_all_parts_are_the_whole() {
        let near = |found: f64, expected: f64| assert!((found - expected).abs() < 1e-9, "{found}");
        for (thread, throttled, steal, stopped, expected) in [
            (second(1.0, 0.0, 1.0), 0.0, 0.0, false, [1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]),
            (second(0.7, 0.3, 0.7), 0.0, 0.0, false, [0.7, 0.3, 0.0, 0.0, 0.0, 0.0, 0.0]),
            (second(0.7, 0.3, 0.7), 0.2, 0.0, false, [0.7, 0.1, 0.2, 0.0, 0.0, 0.0, 0.0]),
            (second(0.7, 0.1, 0.7), 0.3, 0.0, false, [0.7, 0.0, 0.3, 0.0, 0.0, 0.0, 0.0]),
            (second(0.7, 0.0, 0.7), 0.0, 0.0, true, [0.7, 0.0, 0.0, 0.3, 0.0, 0.0, 0.0]),
            (second(0.7, 0.0, 0.7), 0.0, 0.0, false, [0.7, 0.0, 0.0, 0.0, 0.0, 0.0, 0.3]),
            // A thread's CPU time either contains stolen time or leaves it out.
            (second(0.7, 0.0, 0.7), 0.0, 0.2, false, [0.7, 0.0, 0.0, 0.0, 0.2, 0.0, 0.3]),
            (second(1.0, 0.0, 0.7), 0.0, 0.2, false, [0.7, 0.0, 0.0, 0.0, 0.2, 0.3, 0.0]),
            // A thread that lost its CPU while its counters were read.
            (second(0.5, 1.0, 0.5), 1.0, 0.0, false, [0.5, 0.0, 0.5, 0.0, 0.0, 0.0, 0.0]),
            // Slices longer than the system's counters, and more of each part than there was time.
            (second(0.9, 0.1, 1.2), 0.0, 0.0, false, [0.9, 0.1, 0.0, 0.0, 0.0, 0.0, 0.0]),
            (second(0.9, 0.1, 0.9), 7.0, 0.0, false, [0.9, 0.0, 0.1, 0.0, 0.0, 0.0, 0.0]),
        ] {
            let a = account(&[thread; 2], 2.0 * throttled, 2.0 * steal, stopped);
            near(a.wall_s, 2.0);
            let parts = [
                a.working_s,
                a.waiting_s,
                a.throttled_s.unwrap(),
                a.stopped_s,
                a.stolen_s.unwrap(),
                a.interrupted_s,
                a.unaccounted_s,
            ];
            parts.iter().zip(expected).for_each(|(found, expected)| near(*found, 2.0 * expected));
        }
        let unknown = account_of(&[second(0.7, 0.3, 0.7)], &Conditions::default(), false);
        assert_eq!((unknown.throttled_s, unknown.stolen_s, unknown.waiting_s), (None, None, 0.3));
    }
}
