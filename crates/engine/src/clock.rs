//! The clock that times trials, its precision, and the system's other clocks.
//!
//! It is CLOCK_MONOTONIC_RAW. A privileged user can change the rate of CLOCK_MONOTONIC
//! (adjtimex(2)). With ticks of 9 ms instead of 10, all rates by it are 11 % too high.

use std::sync::OnceLock;

use proofmark_model::Clocks;
use rustix::time::{ClockId, clock_gettime};

/// Seconds on CLOCK_MONOTONIC_RAW.
#[inline]
pub fn raw_seconds() -> f64 {
    seconds_on(ClockId::MonotonicRaw)
}

#[inline]
pub(crate) fn seconds_on(clock: ClockId) -> f64 {
    let t = clock_gettime(clock);
    t.tv_sec as f64 + t.tv_nsec as f64 * 1e-9
}

/// Whole nanoseconds on CLOCK_MONOTONIC_RAW. Seconds as `f64` lose single nanoseconds after a long
/// uptime.
#[inline]
pub(crate) fn nanos() -> i64 {
    nanos_on(ClockId::MonotonicRaw)
}

/// Whole nanoseconds on CLOCK_MONOTONIC_RAW, unsigned as in timestamps.
#[inline]
pub fn raw_ns() -> u64 {
    nanos().cast_unsigned()
}

#[inline]
fn nanos_on(clock: ClockId) -> i64 {
    let t = clock_gettime(clock);
    t.tv_sec * 1_000_000_000 + t.tv_nsec
}

/// One moment on the system's clocks.
#[derive(Debug, Clone, Copy)]
pub struct ClocksMoment {
    raw: i64,
    others: [i64; 3],
}

impl ClocksMoment {
    /// Reads all clocks. Of 20 readings it takes the one that two readings of CLOCK_MONOTONIC_RAW
    /// enclose most closely.
    pub fn now() -> Self {
        let reading = |_| {
            let before = nanos();
            let others = [ClockId::Monotonic, ClockId::Boottime, ClockId::Realtime].map(nanos_on);
            let took = nanos() - before;
            (took, Self { raw: before + took / 2, others })
        };
        let readings = (0..20).map(reading);
        readings.min_by_key(|(took, _)| *took).map_or_else(|| unreachable!(), |(_, moment)| moment)
    }

    /// Time from `then` to this moment, by each clock.
    pub fn since(self, then: Self) -> Clocks {
        let seconds = |now: i64, then: i64| (now - then) as f64 * 1e-9;
        let [monotonic_s, boottime_s, realtime_s] =
            [0, 1, 2].map(|i| seconds(self.others[i], then.others[i]));
        Clocks { raw_s: seconds(self.raw, then.raw), monotonic_s, boottime_s, realtime_s }
    }
}

/// A source of time for the scheduler, which tests replace.
pub trait Clock {
    /// Seconds since some fixed moment; never goes back.
    fn now(&self) -> f64;
}

/// The clock CLOCK_MONOTONIC_RAW.
#[derive(Debug, Clone, Copy, Default)]
pub struct RawClock;

impl Clock for RawClock {
    fn now(&self) -> f64 {
        raw_seconds()
    }
}

/// The resolution of the clock.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Precision {
    /// Smallest step seen between two readings, in seconds; `None` if the clock did not move.
    pub resolution_s: Option<f64>,
    /// Time that one reading takes, in seconds.
    pub overhead_s: f64,
}

/// Measures the clock in about a millisecond: the minimum positive difference of successive
/// readings, and the mean cost of a reading. The fastest of eight batches counts.
pub fn precision() -> Precision {
    const BATCH: u32 = 2000;
    let mut step: Option<i64> = None;
    let mut batch_ns = i64::MAX;
    for _ in 0..8 {
        let start = nanos();
        let mut last = start;
        for _ in 0..BATCH {
            let now = nanos();
            if now > last {
                step = Some(step.map_or(now - last, |s| s.min(now - last)));
            }
            last = now;
        }
        batch_ns = batch_ns.min(last - start);
    }
    Precision {
        resolution_s: step.map(|s| s as f64 * 1e-9),
        overhead_s: batch_ns as f64 * 1e-9 / f64::from(BATCH),
    }
}

/// Time that one reading of the clock takes, in seconds; measured once per process.
pub(crate) fn overhead_s() -> f64 {
    static OVERHEAD: OnceLock<f64> = OnceLock::new();
    *OVERHEAD.get_or_init(|| precision().overhead_s)
}

/// Fraction of a busy thread's time that timer ticks, interrupts, the hypervisor and other work on
/// its CPU take. It sums the gaps between successive readings of the clock that are much longer
/// than a reading. The median of ten windows of 10 ms counts. A loop that saturates a core's ports
/// still loses this fraction.
pub fn interrupted_share() -> f64 {
    const WINDOWS: usize = 10;
    const WINDOW_S: f64 = 0.01;
    let gap = (10.0 * overhead_s()).max(1e-6);
    let mut shares = [0.0; WINDOWS];
    for share in &mut shares {
        let start = raw_seconds();
        let mut last = start;
        let mut lost = 0.0;
        while last - start < WINDOW_S {
            let now = raw_seconds();
            if now - last >= gap {
                lost += now - last;
            }
            last = now;
        }
        *share = lost / (last - start);
    }
    shares.sort_by(f64::total_cmp);
    shares[WINDOWS / 2]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_clock_is_fine_enough_to_time_with() {
        let p = precision();
        assert!(p.resolution_s.is_some_and(|r| r > 0.0 && r < 1e-3), "{p:?}");
        assert!(p.overhead_s > 0.0 && p.overhead_s < 1e-3, "{p:?}");
        let (a, then) = (raw_seconds(), ClocksMoment::now());
        assert!(raw_seconds() >= a);
        std::thread::sleep(std::time::Duration::from_millis(20));
        let took = ClocksMoment::now().since(then);
        // Time services slew a clock by at most 500 ppm.
        for other_s in [took.monotonic_s, took.boottime_s] {
            assert!(took.raw_s >= 0.018 && (other_s / took.raw_s - 1.0).abs() < 0.01, "{took:?}");
        }
        assert!((0.0..=1.0).contains(&interrupted_share()));
    }
}
