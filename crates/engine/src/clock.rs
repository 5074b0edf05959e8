//! The clock that trials are timed with, and what is known of its precision.

use rustix::time::{ClockId, clock_gettime};

/// Seconds on CLOCK_MONOTONIC.
#[inline]
pub fn monotonic() -> f64 {
    let t = clock_gettime(ClockId::Monotonic);
    t.tv_sec as f64 + t.tv_nsec as f64 * 1e-9
}

/// A source of time for the scheduler, so that tests can bring their own.
pub trait Clock {
    /// Seconds since some fixed moment; never goes back.
    fn now(&self) -> f64;
}

/// CLOCK_MONOTONIC.
#[derive(Debug, Clone, Copy, Default)]
pub struct Monotonic;

impl Clock for Monotonic {
    fn now(&self) -> f64 {
        monotonic()
    }
}

/// What the clock can tell apart.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Precision {
    /// Smallest step seen between two readings, in seconds.
    pub resolution_s: f64,
    /// Time that one reading takes, in seconds.
    pub overhead_s: f64,
}

/// Measures the clock in about a millisecond: the least positive difference of
/// successive readings, and the mean cost of a reading in the fastest of eight batches.
pub fn precision() -> Precision {
    const BATCH: u32 = 2000;
    // Whole nanoseconds: as f64 seconds, a long uptime would hide single nanoseconds.
    let nanos = || {
        let t = clock_gettime(ClockId::Monotonic);
        t.tv_sec * 1_000_000_000 + t.tv_nsec
    };
    let mut step = i64::MAX;
    let mut batch_ns = i64::MAX;
    for _ in 0..8 {
        let start = nanos();
        let mut last = start;
        for _ in 0..BATCH {
            let now = nanos();
            if now > last {
                step = step.min(now - last);
            }
            last = now;
        }
        batch_ns = batch_ns.min(last - start);
    }
    Precision {
        resolution_s: step as f64 * 1e-9,
        overhead_s: batch_ns as f64 * 1e-9 / f64::from(BATCH),
    }
}

/// Share of a busy thread's time, 0 to 1, that timer ticks, interrupts and the
/// hypervisor take: the sum of the gaps of a microsecond and more between
/// successive readings of the clock, over a tenth of a second. This is what a
/// loop at a core's ports still loses to the system under it.
pub fn interrupted_share() -> f64 {
    const WATCH_S: f64 = 0.1;
    const GAP_S: f64 = 1e-6;
    let start = monotonic();
    let mut last = start;
    let mut lost = 0.0;
    while last - start < WATCH_S {
        let now = monotonic();
        if now - last >= GAP_S {
            lost += now - last;
        }
        last = now;
    }
    lost / (last - start)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_clock_is_fine_enough_to_time_with() {
        let p = precision();
        assert!(p.resolution_s > 0.0 && p.resolution_s < 1e-3, "{p:?}");
        assert!(p.overhead_s > 0.0 && p.overhead_s < 1e-3, "{p:?}");
        let a = monotonic();
        assert!(monotonic() >= a);
        assert!((0.0..=1.0).contains(&interrupted_share()));
    }
}
