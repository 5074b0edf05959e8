//! The core's clock and issue width (NOPs per cycle) under a load, read between its parts.
//!
//! A core lowers its clock for dense wide vectors, more so with many loads, and raises it some
//! microseconds after the last one. Measured on one Granite Rapids: 3.4 GHz under 512-bit
//! multiply-adds alone. With the loads of a matrix product: 3.1 GHz from the L1 cache, 2.9 from L2.
//! From 1 to 80 us after them: 3.6 GHz, with a halt of 1.5 us between. So a chain of dependent
//! instructions runs in the first half microsecond after a part of the load. One part earlier it
//! runs once, untimed, so that its code is in the cache.

use std::sync::atomic::{AtomicBool, Ordering};

use crate::chain::{self, Chain};
use crate::clock::{nanos, precision};
use proofmark_model::median;

/// Cycles of the short and the long run of a reading. The cost of reading the time cancels in their
/// difference, if the short run is longer than what overlaps with that cost.
const CYCLES: [u64; 2] = [192, 1152];

/// Steps of NOPs, short and long, after the next part: together a quarter of a microsecond.
const NOPS: [u64; 2] = [16, 96];

/// Minimum time between readings: a millisecond, or a thousandth of the run if that is longer.
const APART_NS: i64 = 1_000_000;
const APART_SHARE: i64 = 1000;

/// Parts between two reads of the time.
const PARTS: u32 = 16;

/// Capacity for readings: a run of a day has fewer.
const MAX_READINGS: usize = 1 << 14;

/// Minimum number of readings for a clock.
const MIN_READINGS: usize = 3;

/// Maximum cost of reading a clock that is to time some hundred nanoseconds, in seconds.
const OVERHEAD_S: f64 = 100e-9;

/// Maximum step of such a clock, as a multiple of what a reading takes. A coarser one ticks too
/// rarely.
const STEP: f64 = 1.5;

/// Credible ratios to the plain clock: no core halves its clock for wide vectors, or raises it.
pub(crate) const BELIEVED: std::ops::Range<f64> = 0.5..1.05;

#[derive(Debug, Clone, Copy, PartialEq)]
struct Sample {
    hz: f64,
    seconds: f64,
}

/// The action after the next part.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Next {
    /// Read the time.
    Look,
    Clock,
    Nops,
}

/// One thread's readings of its core's clock in one run of its load.
#[derive(Debug)]
pub struct ClockSamples {
    start: i64,
    last: i64,
    /// Parts until the next action.
    parts: u32,
    next: Next,
    fine: bool,
    samples: Vec<Sample>,
    /// Steps of NOPs per second.
    nops: Vec<f64>,
}

impl Default for ClockSamples {
    /// No readings. Allocates 384 KiB.
    fn default() -> Self {
        // One bad moment must not decide for the whole process.
        static FINE: AtomicBool = AtomicBool::new(false);
        let fine = FINE.load(Ordering::Relaxed) || is_fine();
        FINE.store(fine, Ordering::Relaxed);
        // Written to, so that no page is allocated while a load is timed.
        let mut samples = vec![Sample { hz: 1.0, seconds: 1.0 }; MAX_READINGS];
        samples.clear();
        let mut nops = vec![1.0; MAX_READINGS];
        nops.clear();
        Self { start: 0, last: 0, parts: 1, next: Next::Look, fine, samples, nops }
    }
}

impl ClockSamples {
    /// Removes the readings, at the start of a run.
    pub fn begin(&mut self) {
        self.samples.clear();
        self.nops.clear();
        (self.parts, self.next) = (1, Next::Look);
        self.start = nanos();
        self.last = self.start;
    }

    /// Reads the clock if that is due: one to two microseconds per millisecond, without allocating.
    /// Call it after each part of the load, of some microseconds or more.
    #[inline]
    pub fn tick(&mut self) {
        self.parts -= 1;
        if self.parts == 0 {
            self.look();
        }
    }

    #[cold]
    fn look(&mut self) {
        (self.parts, self.next) = match self.next {
            Next::Look if self.is_due() => {
                std::hint::black_box(clock_now([1, 1]));
                chain::nops(1);
                (1, Next::Clock)
            }
            Next::Look => (PARTS, Next::Look),
            Next::Clock => {
                let hz = clock_now(CYCLES.map(|cycles| Chain::First.steps(cycles)));
                let now = nanos();
                if let Some(hz) = hz {
                    self.samples.push(Sample { hz, seconds: (now - self.last) as f64 * 1e-9 });
                }
                self.last = now;
                (1, Next::Nops)
            }
            Next::Nops => {
                self.nops.extend(per_second(NOPS, chain::nops));
                (PARTS, Next::Look)
            }
        };
    }

    fn is_due(&self) -> bool {
        let now = nanos();
        let apart = APART_NS.max((now - self.start) / APART_SHARE);
        let due = self.samples.is_empty() || now - self.last >= apart;
        due && self.fine && self.samples.len() < MAX_READINGS
    }

    /// Samples with these readings, each with the seconds since the one before.
    #[cfg(test)]
    pub(crate) fn from_readings(readings: &[(f64, f64)]) -> Self {
        let samples = readings.iter().map(|(hz, seconds)| Sample { hz: *hz, seconds: *seconds });
        Self { samples: samples.collect(), ..Self::default() }
    }

    /// NOPs per cycle that the core issued, from the medians of both readings; `None` if there are
    /// few.
    pub fn issue_width(&self) -> Option<f64> {
        let hz: Vec<f64> = self.samples.iter().map(|s| s.hz).collect();
        let steps_s = median(&self.nops).filter(|_| self.nops.len() >= MIN_READINGS)?;
        Some(steps_s * chain::PER_STEP as f64 / median(&hz)?)
    }

    /// The mean clock of the run, weighted by time, and its standard deviation as a fraction of it.
    /// Readings far from the plain clock do not count. Of three neighbours the middle one counts,
    /// since an interrupted reading is alone. `None` if few are left.
    pub fn mean(&self, plain: f64) -> Option<(f64, f64)> {
        let believed: Vec<Sample> =
            self.samples.iter().filter(|s| BELIEVED.contains(&(s.hz / plain))).copied().collect();
        if believed.len() < MIN_READINGS.max(self.samples.len().div_ceil(2)) {
            return None;
        }
        let (mut seconds, mut cycles, mut squares) = (0.0, 0.0, 0.0);
        for (i, s) in believed.iter().enumerate() {
            let from = i.saturating_sub(1).min(believed.len() - MIN_READINGS);
            let near: Vec<f64> =
                believed.iter().skip(from).take(MIN_READINGS).map(|s| s.hz).collect();
            let hz = median(&near)?;
            seconds += s.seconds;
            cycles += hz * s.seconds;
            squares += hz * hz * s.seconds;
        }
        let mean = cycles / seconds;
        let deviation = (squares / seconds - mean * mean).max(0.0).sqrt();
        mean.is_finite().then_some((mean, deviation / mean))
    }
}

/// True if the system's clock can time some hundred nanoseconds.
fn is_fine() -> bool {
    let p = precision();
    let resolved = p.resolution_s.is_some_and(|r| r <= STEP * p.overhead_s);
    resolved && p.overhead_s <= OVERHEAD_S
}

/// The current clock of the calling thread's core, by chains of these steps.
#[inline(never)] // Its code is in the cache when it is called again.
fn clock_now(steps: [u64; 2]) -> Option<f64> {
    let run = |steps| {
        std::hint::black_box(Chain::First.run(1, steps));
    };
    run(1); // Into the L1 cache.
    Some(per_second(steps, run)? * Chain::First.cycles() as f64)
}

/// Steps per second, from the difference of a short and a long run. The cost of reading the time
/// cancels.
fn per_second([short, long]: [u64; 2], run: impl Fn(u64)) -> Option<f64> {
    let start = nanos();
    run(short);
    let between = nanos();
    run(long);
    let end = nanos();
    let nanos = (end - between) - (between - start);
    (nanos > 0).then(|| (long - short) as f64 * 1e9 / nanos as f64)
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use proofmark_testing::{DEADLINE, skip, wait_until};

    use super::*;

    fn mean(readings: &[(f64, f64)]) -> Option<(f64, f64)> {
        ClockSamples::from_readings(readings).mean(3.6e9)
    }

    #[test]
    fn the_mean_is_over_time() {
        let of = |s| mean(&[(2.9e9, 1.0), (2.9e9, 1.0), (3.1e9, s), (3.1e9, s)]).unwrap();
        let (hz, deviation) = of(1.0);
        assert!((hz - 3.0e9).abs() < 1.0, "{hz}");
        assert!((deviation - 0.1 / 3.0).abs() < 1e-6, "{deviation}");
        assert!((of(4.0).0 - 3.06e9).abs() < 1.0, "{}", of(4.0).0);
        assert_eq!(mean(&[(2.9e9, 1.0); 2]), None, "too few");
    }

    #[test]
    fn what_was_interrupted_does_not_count_and_a_clock_that_changed_does() {
        // One reading of a lower clock, and one that no core has.
        let steady = [(3e9, 1.0), (3e9, 1.0), (2e9, 1.0), (3e9, 1.0), (3e10, 1.0), (3e9, 1.0)];
        assert!((mean(&steady).unwrap().0 - 3e9).abs() < 1.0);
        let changed: Vec<_> = (0..8).map(|i| (if i < 4 { 3.6e9 } else { 1.9e9 }, 1.0)).collect();
        assert!((mean(&changed).unwrap().0 - 2.75e9).abs() < 1.0);
        // Most readings fell into halts: no clock is known.
        assert_eq!(mean(&[(0.5e9, 1.0), (0.5e9, 1.0), (0.5e9, 1.0), (3e9, 1.0), (3e9, 1.0)]), None);
    }

    #[test]
    fn readings_are_a_millisecond_apart_and_tell_the_clock() {
        let mut clock = ClockSamples::default();
        if !clock.fine {
            return skip("no fine clock");
        }
        let plain_hz = || crate::chain::read_clock(200e-6, 50).hz();
        // A clock may step between readings, and other work may disturb any of them.
        wait_until("a clock and an issue width that a core can have", || {
            let plain = plain_hz();
            clock.begin();
            let begun = Instant::now();
            while clock.samples.len() < 10 {
                assert!(begun.elapsed() < DEADLINE, "{:?}", clock.samples);
                std::hint::black_box(Chain::First.run(1, 33));
                clock.tick();
            }
            let apart = clock.samples.iter().skip(1).all(|s| s.seconds >= APART_NS as f64 * 1e-9);
            assert!(apart, "{:?}", clock.samples);
            let share = clock.mean(plain).map(|(hz, _)| hz / plain);
            let is_one = share.is_some_and(|share| (0.7..1.05).contains(&share));
            let has_width = clock.issue_width().is_some_and(|w| (0.5..16.0).contains(&w));
            if is_one && has_width {
                Ok(())
            } else {
                Err(format!("{share:?} of {plain}: {clock:?}"))
            }
        });
        clock.begin();
        assert_eq!((clock.mean(plain_hz()), clock.issue_width()), (None, None));
    }
}
